//===- JsonLineTest.cpp - a JSON object on one line -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonLine.h"

#include <cmath>
#include <gtest/gtest.h>

using veeline::train::JsonLine;

TEST(JsonLine, Numbers) {
  JsonLine line(10);
  line.begin("step");
  line.add("a", int64_t(-3));
  line.add("b", 0.1);
  line.add("c", std::nan(""));
  line.add("d", -HUGE_VAL);
  line.beginObject("e");
  line.endObject();
  line.beginObject("f");
  line.add("g", 1e300);
  line.add("h", 5.0);
  line.endObject();
  EXPECT_EQ(line.end(), "{\"event\":\"step\",\"a\":-3,\"b\":0.1,\"c\":null,"
                        "\"d\":null,\"e\":{},\"f\":{\"g\":1e+300,\"h\":5}}\n");
  line.begin("end");
  EXPECT_EQ(line.end(), "{\"event\":\"end\"}\n");
}

static std::string written(std::string_view text) {
  JsonLine line(10);
  line.begin("x");
  line.add("t", text);
  std::string all = line.end();
  constexpr size_t before = sizeof("{\"event\":\"x\",\"t\":\"") - 1;
  return all.substr(before, all.size() - before - sizeof("\"}\n") + 1);
}

TEST(JsonLine, Strings) {
  EXPECT_EQ(written("a\"b\\c\n\x01"), "a\\\"b\\\\c\\u000a\\u0001");
  EXPECT_EQ(written("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f"),
            "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f");
  // No UTF-8: alone, cut, too long, a surrogate, beyond the last character.
  EXPECT_EQ(written("\xff"), "\\ufffd");
  EXPECT_EQ(written("\xe2\x82"), "\\ufffd\\ufffd");
  EXPECT_EQ(written("\xc0\x80"), "\\ufffd\\ufffd");
  EXPECT_EQ(written("\xed\xa0\x80"), "\\ufffd\\ufffd\\ufffd");
  EXPECT_EQ(written("\xf4\x90\x80\x80"), "\\ufffd\\ufffd\\ufffd\\ufffd");
}
