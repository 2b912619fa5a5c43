//===- Completion.h - what a shell offers for a command line ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options are completed by the parser that reads them: a shell runs the command
// line with a word in front of its arguments, `completionRequest`, and gets a
// line for each word that could stand where the last one does. No command runs:
// to one that knows no such word it is an unknown subcommand.
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

/// Whether a shell asks, in place of running the command.
bool isCompleting(int argc, const char *const *argv);

/// What the last of `words`, the arguments of `app`, could be: names of
/// subcommands and options, or the values that the option before it is known
/// to take. None where that is the name of a file, or anything.
std::vector<std::string> complete(CLI::App &app,
                                  std::vector<std::string> words);

/// A check that every value passes, whose `values` completion offers: of an
/// option that takes others, too, or is checked elsewhere.
CLI::Validator offer(const std::vector<std::string> &values);

/// What makes bash complete `veeline`, to be evaluated there.
std::string completionScript();

} // namespace veeline::commandline

#endif // VEELINE_BASE_COMPLETION_H
