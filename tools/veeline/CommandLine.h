//===- CommandLine.h - what the subcommands share --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TOOLS_VEELINE_COMMANDLINE_H
#define VEELINE_TOOLS_VEELINE_COMMANDLINE_H

#include <functional>
#include <string>

namespace CLI {
class App;
} // namespace CLI

namespace veeline::driver {

/// From here on a signal that ends the process deletes its temporary files.
void catchInterrupts();

/// Adds `train` to `app`; the result runs it with what was parsed.
std::function<int(char **argv)> addTrainCommand(CLI::App &app);

/// Runs `compile` or `inspect` in the compiler's library, which is loaded now.
/// `argv[0]` is the subcommand's name.
int runCompiler(int argc, const char *const *argv);

/// Parses; 0 to go on, else the status to exit with after help was printed
/// (reported as `finished`) or an error with the nearest known name.
int parse(CLI::App &app, int argc, char **argv, bool &finished);

/// The directory of this program's libraries: ../lib from where it lies.
std::string libraryDirectory();

} // namespace veeline::driver

#endif // VEELINE_TOOLS_VEELINE_COMMANDLINE_H
