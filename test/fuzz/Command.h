//===- Command.h - a program in a process of its own ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_FUZZ_COMMAND_H
#define VEELINE_TEST_FUZZ_COMMAND_H

#include <string>
#include <utility>
#include <vector>

namespace veeline::fuzz {

/// A program, as somebody would call it from a shell.
struct Command {
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;

  /// As one would type it, with the program's name alone.
  std::string text() const;
};

struct CommandResult {
  int exitCode = 0;
  /// What ended it before it had an exit code; empty: nothing did.
  std::string death;
  std::string output; ///< And what it said of errors.

  bool succeeded() const { return death.empty() && exitCode == 0; }
};

/// Runs `command` in `directory`. It ends after `seconds` at the latest.
CommandResult runCommand(const Command &command, const std::string &directory,
                         unsigned seconds);

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_COMMAND_H
