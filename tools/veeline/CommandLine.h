//===- CommandLine.h - shared code of the subcommands -----------*- C++ -*-===//
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

namespace veeline::compiler {
struct DoctorCommand;
} // namespace veeline::compiler

namespace veeline::driver {

/// Makes signals that end the process delete its temporary files.
void catchInterrupts();

/// Adds `train` to `app`. The result runs it with the parsed options.
std::function<int(char **argv)> addTrainCommand(CLI::App &app);

/// Adds `eval` to `app`. The result runs it with the parsed options.
std::function<int(char **argv)> addEvalCommand(CLI::App &app);

/// Restarts this process, once, with the allocation counter for
/// `--check-memory`. The counter has to be loaded before malloc, which is
/// possible only at the start of a process.
void restartWithAllocationCounter(char **argv);

/// What to check of a training before it is started.
enum class TrainCheck {
  files,           ///< Files that are read.
  filesAndResults, ///< Also files that this process writes.
  artifact         ///< Whether the options fit the artifact.
};
/// Checks a command line of `train` that can be parsed. Returns what is wrong,
/// or an empty string.
std::string checkTrain(const std::vector<const char *> &arguments,
                       TrainCheck check);

/// Adds `run` to `app`. The result runs the job that the user named.
std::function<int()> addRunCommand(CLI::App &app);

/// Adds `export` to `app`. The result runs it with the parsed options.
std::function<int()> addExportCommand(CLI::App &app);

/// Adds `timeline` to `app`. The result runs it with the parsed options.
std::function<int()> addTimelineCommand(CLI::App &app);

/// Loads the compiler's library and returns its function `symbol`, or null
/// after a message. `command` is the subcommand that needs it.
void *loadCompiler(const std::string &command, const char *symbol);

/// Prints what `veeline doctor` can say without the compiler, which cannot be
/// loaded because of `compilerProblem`.
void describeMachine(const compiler::DoctorCommand &command,
                     const std::string &compilerProblem);

/// Loads the compiler's library and runs `compile`, `inspect` or `doctor` in
/// it. `argv[0]` is the name of the subcommand. Without the library, help and
/// most of `doctor` still work.
int runCompiler(int argc, const char *const *argv);

/// Parses the command line. If it sets `finished`, help was printed, or an
/// error with the nearest known name, and the process should exit with the
/// returned status.
int parse(CLI::App &app, int argc, char **argv, bool &finished);

/// A command, quoted for a shell.
std::string quoted(const std::vector<std::string> &arguments);

/// The directory of this program's libraries: ../lib, relative to the program.
std::string libraryDirectory();

} // namespace veeline::driver

#endif // VEELINE_TOOLS_VEELINE_COMMANDLINE_H
