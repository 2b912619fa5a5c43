//===- CommandLine.h - what all command lines share -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain C++. The parser's exceptions are caught here; callers need not.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_COMMANDLINE_H
#define VEELINE_BASE_COMMANDLINE_H

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace veeline::commandline {

/// The exit status of a command line that is not understood.
inline constexpr int usageError = 2;

/// "veeline: error: `message`" to stderr.
void printError(const std::string &message);

/// Prints the message, and how to get help on `app` or on the subcommand of it
/// that was named. Returns usageError.
int failUsage(CLI::App &app, const std::string &message);

/// While an ErrorCapture exists, it keeps the messages of this thread's
/// `printError` and `failUsage`, which are then not printed. A thread may have
/// one at a time.
class ErrorCapture {
public:
  ErrorCapture();
  ~ErrorCapture();
  ErrorCapture(const ErrorCapture &) = delete;
  /// The first message; empty if there was none.
  std::string message;
};

/// Parses the arguments. Returns none if the program is to go on, else its exit
/// status: it printed help, the version, completions (Completion.h), or an
/// error with the nearest known name.
std::optional<int> parse(CLI::App &app, int argc, const char *const *argv);

/// An option as it stands on a command line, without the dashes.
struct OptionName {
  std::string name;
  bool isFlag = false;
  bool isList = false; ///< Takes several values, separated by commas.
  /// Given several times, as NAME=VALUE. `listOptions` does not know which.
  bool isMap = false;
};

/// All options of `app` but --help.
std::vector<OptionName> listOptions(const CLI::App &app);

/// A check of options that take a file: the error for an empty name, which
/// would read as if the option were left out. Else empty.
std::string checkFileName(const std::string &name);

} // namespace veeline::commandline

#endif // VEELINE_BASE_COMMANDLINE_H
