//===- DocumentationTest.cpp - docs/schedules.md shows what is printed ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Command.h"

#include "gtest/gtest.h"

#include <fstream>
#include <sstream>
#include <vector>

using namespace veeline::schedule;

/// What `veeline schedule` prints for the arguments in `line`.
static std::string outputOf(const std::string &line) {
  std::vector<std::string> words{"veeline schedule"};
  std::istringstream stream(line);
  for (std::string word; stream >> word;)
    words.push_back(word);
  std::vector<const char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(word.c_str());
  std::ostringstream out, err;
  EXPECT_EQ(scheduleMain(arguments.size(), arguments.data(), out, err), 0)
      << err.str();
  return out.str();
}

// Every console block is a command, and the beginning of what it prints.
TEST(Documentation, ConsoleBlocks) {
  std::ifstream file(SCHEDULE_DOCUMENTATION);
  ASSERT_TRUE(file);
  const std::string prompt = "$ veeline schedule ";
  int blocks = 0;
  for (std::string line; std::getline(file, line);) {
    if (line != "```console")
      continue;
    ASSERT_TRUE(std::getline(file, line));
    ASSERT_EQ(line.substr(0, prompt.size()), prompt);
    std::string output = outputOf(line.substr(prompt.size())), shown;
    while (std::getline(file, line) && line != "```")
      shown += line + "\n";
    EXPECT_EQ(output.substr(0, shown.size()), shown);
    ++blocks;
  }
  EXPECT_GE(blocks, 6);
}
