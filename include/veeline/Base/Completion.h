//===- Completion.h - shell completion of command lines ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parser that reads the options also completes them. A shell runs the
// command line with the word `completionRequest` in front of its arguments. The
// output has one line for each candidate for the last word: the candidate, a
// tab, and its help text. No command runs. A command that does not know the
// request takes it for an unknown subcommand.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_COMPLETION_H
#define VEELINE_BASE_COMPLETION_H

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Validator;
} // namespace CLI

namespace veeline::commandline {

inline constexpr std::string_view completionRequest = "__complete";

/// Whether a shell asks for completions instead of running the command.
bool isCompleting(int argc, const char *const *argv);

/// A candidate, and its help text, which is empty for values.
struct Candidate {
  std::string word;
  std::string description;
};

/// The candidates for the last of `words`, the arguments of `app`: names of
/// subcommands and options, or the known values of the option before it. None
/// if that option takes a file name or arbitrary values.
std::vector<Candidate> complete(CLI::App &app, std::vector<std::string> words);

/// A validator that accepts every value, and makes completion offer `values`.
/// It is for options that also take other values, or that are checked
/// elsewhere.
CLI::Validator offer(const std::vector<std::string> &values);

/// The shells that have a script: bash, fish and zsh.
const std::vector<std::string> &completedShells();

/// The script that such a shell evaluates to complete `veeline`; empty for any
/// other shell.
std::string_view completionScript(std::string_view shell);

} // namespace veeline::commandline

#endif // VEELINE_BASE_COMPLETION_H
