//===- DocumentationTest.cpp - documents show what is printed -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestUtilities.h"
#include "veeline/Schedule/Command/Command.h"

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

/// Whether the output is what is shown. A line "..." stands for any lines, also
/// at the end.
static void expectShown(const std::string &output,
                        const std::vector<std::string> &shown) {
  std::size_t from = 0;
  bool isNext = true;
  for (const std::string &line : shown) {
    if (line == "...") {
      isNext = false;
      continue;
    }
    std::size_t at = isNext ? from : output.find("\n" + line + "\n", from);
    ASSERT_NE(at, std::string::npos) << line;
    at += isNext ? 0 : 1;
    EXPECT_EQ(output.substr(at, line.size() + 1), line + "\n");
    from = at + line.size() + 1;
    isNext = true;
  }
  if (isNext)
    EXPECT_EQ(output.substr(from), "") << "is left out without '...'";
}

/// Every console block is a command, and what it prints.
static int checkBlocks(const char *path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  const std::string prompt = "$ veeline schedule ";
  int blocks = 0;
  for (std::string line; std::getline(file, line);) {
    if (line != "```console")
      continue;
    std::getline(file, line);
    EXPECT_EQ(line.substr(0, prompt.size()), prompt);
    std::string output = outputOf(line.substr(prompt.size()));
    std::vector<std::string> shown;
    for (std::string next; std::getline(file, next) && next != "```";)
      shown.push_back(next);
    // What is found in a time, a sanitizer changes.
    if (!searchesAreSlow || line.find("--time-budget") == std::string::npos)
      expectShown(output, shown);
    ++blocks;
  }
  return blocks;
}

TEST(Documentation, Schedules) {
  EXPECT_GE(checkBlocks(SCHEDULE_DOCUMENTATION), 6);
}

TEST(Documentation, Problems) {
  EXPECT_GE(checkBlocks(PROBLEM_DOCUMENTATION), 2);
}

TEST(Documentation, Analysis) {
  EXPECT_GE(checkBlocks(ANALYSIS_DOCUMENTATION), 2);
}

TEST(Documentation, Loops) { EXPECT_GE(checkBlocks(LOOP_DOCUMENTATION), 1); }
