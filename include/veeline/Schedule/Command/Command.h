//===- Command.h - the `veeline schedule` subcommand ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_COMMAND_COMMAND_H
#define VEELINE_SCHEDULE_COMMAND_COMMAND_H

#include <functional>
#include <ostream>

namespace CLI {
class App;
} // namespace CLI

namespace veeline::schedule {

/// Exit codes, the same for every veeline subcommand.
enum ExitCode : int {
  ExitSuccess = 0,
  /// The request is valid but has no solution, for example under a memory
  /// limit, or a file cannot be read.
  ExitFailure = 1,
  /// The request is invalid: bad option, unknown schedule.
  ExitUsage = 2,
};

/// Registers the subcommand `schedule` with its options on `app`. If the
/// arguments name it, the returned function runs it and returns the exit code.
/// The function is valid as long as `app`, and does not throw.
std::function<int(std::ostream &out, std::ostream &err)>
addScheduleCommand(CLI::App &app);

/// Runs the subcommand alone. `argv[0]` is its name. Never throws.
int scheduleMain(int argc, const char *const *argv, std::ostream &out,
                 std::ostream &err);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_COMMAND_COMMAND_H
