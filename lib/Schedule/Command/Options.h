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

/// The options as the command line has them. No text that was given is empty.
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
  /// Whether to print the content of a .json file.
  bool json = false;

  /// The names of all options that were given, such as "--stages" or "-o".
  std::set<std::string> given;
  bool has(const std::string &name) const { return given.contains(name); }
};

/// Adds the options to `command`, which parses them into `options`.
void addOptions(CLI::App &command, CommandOptions &options);
/// Notes which options `command` has parsed.
void noteGiven(const CLI::App &command, CommandOptions &options);

/// An error in the use of the command line.
Error usage(std::string message);

/// Checks that every given option applies to the request. An option that would
/// be ignored is an error (InvalidProblem).
Status checkOptions(const CommandOptions &options);
/// Does the same for options that only some schedules use. `names` are the
/// requested schedules. Fails also if one of them is unknown.
Status checkOptions(const CommandOptions &options,
                    const std::vector<std::string> &names);

/// Returns the schedules of "a,b,c", or all schedules.
Expected<std::vector<std::string>> comparedNames(const std::string &list);
/// Returns "sequential, gpipe, ...".
std::string knownSchedules();

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_COMMAND_OPTIONS_H
