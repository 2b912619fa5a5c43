//===- CommandLine.h - what the subcommands share --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TOOLS_VEELINE_COMMANDLINE_H
#define VEELINE_TOOLS_VEELINE_COMMANDLINE_H

#include "veeline/Base/CommandLine.h"

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace veeline::driver {

/// From here on a signal that ends the process deletes its temporary files.
void catchInterrupts();

/// Adds `train` to `app`; the result runs it with what was parsed.
std::function<int(char **argv)> addTrainCommand(CLI::App &app);

/// The same for `eval`.
std::function<int(char **argv)> addEvalCommand(CLI::App &app);

/// `--check-memory` needs the allocation counter in front of malloc, which only
/// a fresh process can have: starts this one again with it, once.
void restartWithAllocationCounter(char **argv);

/// What to check of a training before it is started.
enum class TrainCheck {
  files,           ///< Files that are read.
  filesAndResults, ///< Also files that this process writes.
  artifact         ///< Whether the options fit the artifact.
};
/// What is wrong with a command line of `train` that parses; empty: nothing.
std::string checkTrain(const std::vector<const char *> &arguments,
                       TrainCheck check);

/// Adds `run` to `app`; the result runs the job that was named.
std::function<int()> addRunCommand(CLI::App &app);

/// Adds `export` to `app`; the result does what was parsed.
std::function<int()> addExportCommand(CLI::App &app);

/// Adds `timeline` to `app`; the result does what was parsed.
std::function<int()> addTimelineCommand(CLI::App &app);

/// Loads the compiler's library and returns its function `symbol`; null after a
/// message. `command` is the subcommand that needs it.
void *loadCompiler(const std::string &command, const char *symbol);

/// Loads the compiler's library and runs `compile`, `inspect` or `doctor` in
/// it. `argv[0]` is the subcommand's name.
int runCompiler(int argc, const char *const *argv);

/// Parses the command line. If `finished`, the process should exit with the
/// status that is returned: help was printed, or an error with the nearest
/// known name.
int parse(CLI::App &app, int argc, char **argv, bool &finished);

/// A command as a shell takes it.
std::string quoted(const std::vector<std::string> &arguments);

/// The directory of this program's libraries: ../lib from where it lies.
std::string libraryDirectory();

} // namespace veeline::driver

#endif // VEELINE_TOOLS_VEELINE_COMMANDLINE_H
