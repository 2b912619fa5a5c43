//===- CommandLine.h - what all command lines share -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain C++ that catches what the parser throws; users need not.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_COMMANDLINE_H
#define VEELINE_BASE_COMMANDLINE_H

#include <optional>
#include <string>

namespace CLI {
class App;
} // namespace CLI

namespace veeline::commandline {

/// The exit status of a command line that is not understood.
inline constexpr int usageError = 2;

/// "veeline: error: `message`" to stderr.
void printError(const std::string &message);

/// The same, and how to get help on `app` or the subcommand of it that was
/// named. Returns usageError.
int failUsage(CLI::App &app, const std::string &message);

/// While one lives, messages of `printError` and `failUsage` are kept instead
/// of printed. One at a time.
class ErrorCapture {
public:
  ErrorCapture();
  ~ErrorCapture();
  ErrorCapture(const ErrorCapture &) = delete;
  /// The first one; empty where there was none.
  std::string message;
};

/// Parses; nothing to go on, else the status to exit with after help, the
/// version or what a shell asks for (Completion.h) was printed, or an error
/// with the nearest known name.
std::optional<int> parse(CLI::App &app, int argc, const char *const *argv);

/// For options that take a file: what is wrong with an empty name, which
/// would read as the option left out; or empty.
std::string checkFileName(const std::string &name);

} // namespace veeline::commandline

#endif // VEELINE_BASE_COMMANDLINE_H
