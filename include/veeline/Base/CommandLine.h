//===- CommandLine.h - shared parts of command lines ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain C++. The parser throws; these functions catch what it throws, so
// callers need not.
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

/// The exit status for a command line that cannot be parsed.
inline constexpr int usageError = 2;

/// "veeline: error: `message`" to stderr.
void printError(const std::string &message);
/// "veeline: remark: `message`" to stderr.
void printRemark(const std::string &message);

/// Prints the message, and how to get help on `app` or on its subcommand if one
/// was named. Returns usageError.
int failUsage(CLI::App &app, const std::string &message);

/// While it exists, it collects the messages of this thread's `printError` and
/// `failUsage` instead of printing them. A thread may have one at a time.
class ErrorCapture {
public:
  ErrorCapture();
  ~ErrorCapture();
  ErrorCapture(const ErrorCapture &) = delete;
  /// The first message; empty if there was none.
  std::string message;
};

/// Parses the arguments. Returns none if the program is to continue. Otherwise
/// help, the version, completions (Completion.h) or an error has been printed,
/// and the result is the exit status. An error about an unknown name suggests
/// the nearest known one.
std::optional<int> parse(CLI::App &app, int argc, const char *const *argv);

/// An option of a command line, without the dashes.
struct OptionName {
  std::string name;
  bool isFlag = false;
  bool isList = false; ///< Takes several values, separated by commas.
  /// May be given several times, as NAME=VALUE. `listOptions` cannot tell and
  /// leaves it false.
  bool isMap = false;
};

/// All options of `app` except --help.
std::vector<OptionName> listOptions(const CLI::App &app);

/// Checks the value of an option that takes a file. Returns the error for an
/// empty name, which would otherwise count as if the option were not given;
/// empty if there is none.
std::string checkFileName(const std::string &name);

} // namespace veeline::commandline

#endif // VEELINE_BASE_COMMANDLINE_H
