//===- Options.h - the options of `veeline schedule` ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_COMMAND_OPTIONS_H
#define VEELINE_LIB_SCHEDULE_COMMAND_OPTIONS_H

#include "veeline/Schedule/Generators.h"
#include "veeline/Schedule/Text.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace veeline::schedule {

/// The options as the command line gives them. No text is empty that was given.
struct CommandOptions {
  bool list = false;
  std::string schedule, compare, memoryDial;
  std::vector<std::string> against;
  std::optional<int> stages, chunksPerStage, microbatches;
  std::string stageReplicas;
  std::string cost, chunkCost, activation, costFile, from;
  std::string placement;
  std::string transfer, memoryLimit, offload, messageBytes, layerBytes;
  std::optional<double> layers;
  std::optional<double> overlap, offloadShare;
  bool overlapBlocks = false, contention = false;
  std::string transfers = "buffered";
  std::string objective = "makespan";
  double timeBudget = GeneratorOptions().searchSeconds;
  std::uint64_t seed = GeneratorOptions().seed;
  std::string view = "timeline", color = "auto";
  int width = TextOptions().width;
  bool explain = false, memoryCurves = false;
  std::string verifyCommunication, communication = "overlap";
  std::vector<std::string> outputs;
  /// Print what a .json file would have.
  bool json = false;

  /// The names of all options that were given: "--stages", "-o".
  std::set<std::string> given;
  bool has(const std::string &name) const { return given.contains(name); }
};

/// Adds the options to `command`, which parses them into `options`.
void addOptions(CLI::App &command, CommandOptions &options);
/// Notes which options `command` has parsed.
void noteGiven(const CLI::App &command, CommandOptions &options);

/// An error of whoever wrote the command line.
Error usage(std::string message);

/// Is every option that was given about what is asked for? An option that would
/// be ignored is an error (InvalidProblem).
Status checkOptions(const CommandOptions &options);
/// The same for those that only some schedules look at. `names` are the
/// schedules that are asked for; the error may be that nobody knows one.
Status checkOptions(const CommandOptions &options,
                    const std::vector<std::string> &names);

/// The schedules of "a,b,c", or all of them.
Expected<std::vector<std::string>> comparedNames(const std::string &list);
/// "sequential, gpipe, ...".
std::string knownSchedules();

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_COMMAND_OPTIONS_H
