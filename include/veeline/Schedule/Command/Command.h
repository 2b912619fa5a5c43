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

/// Exit codes, as of every veeline subcommand.
enum ExitCode : int {
  ExitSuccess = 0,
  /// The request was understood and has no solution (a memory limit, say).
  ExitFailure = 1,
  /// The request was not understood: bad option, unknown schedule.
  ExitUsage = 2,
};

/// Registers the subcommand `schedule` with its options on `app`. When the
/// arguments name it, the returned function runs it and gives the exit code;
/// it stays valid as long as `app`. Nothing in it throws.
std::function<int(std::ostream &out, std::ostream &err)>
addScheduleCommand(CLI::App &app);

/// The subcommand by itself: `argv[0]` is its name. Never throws.
int scheduleMain(int argc, const char *const *argv, std::ostream &out,
                 std::ostream &err);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_COMMAND_COMMAND_H
