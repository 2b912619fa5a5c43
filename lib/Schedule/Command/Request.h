//===- Request.h - what a command line asks for -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_COMMAND_REQUEST_H
#define VEELINE_LIB_SCHEDULE_COMMAND_REQUEST_H

#include "Model.h"
#include "veeline/Schedule/Formats.h"
#include "veeline/Schedule/Generators.h"
#include "veeline/Schedule/Text.h"

namespace veeline::schedule {

/// The options as the command line gives them.
struct CommandOptions {
  bool list = false;
  std::string schedule, compare, against;
  std::optional<int> stages, chunksPerStage, microbatches;
  std::string cost, chunkCost, activation, costFile, from;
  std::optional<double> transfer;
  std::string memoryLimit, messageBytes, layerBytes;
  std::optional<double> layers;
  std::optional<double> overlap;
  bool overlapBlocks = false, contention = false;
  std::string transfers = "buffered";
  std::string objective = "makespan";
  double timeBudget = GeneratorOptions().searchSeconds;
  std::uint64_t seed = GeneratorOptions().seed;
  std::string view = "timeline", color = "auto";
  int width = TextOptions().width;
  bool explain = false, memoryCurves = false;
  std::vector<std::string> outputs;
};

/// A problem for one schedule, which comes from a generator or from a file.
struct Task {
  std::string name;
  Problem problem;
  std::optional<Schedule> imported = std::nullopt;
  /// Of one message on each edge of the problem; empty where nobody knows.
  std::vector<std::int64_t> edgeBytes = {};
  UpdateSemantics semantics = UpdateSemantics::Synchronous;
};

/// A solved task.
struct Answer {
  Task task;
  Solution solution;
  /// What generating and verifying took.
  double seconds;
};

/// What the formulas of recomputation need.
struct LayerSizes {
  /// Of a stage.
  double layers;
  /// What a layer keeps of one microbatch, and the input of a stage.
  double layerBytes, boundaryBytes;
};

/// Makes tasks of names, all for one model.
class Request {
public:
  /// Checks the options and reads the files that they name. The errors are
  /// those of usage.
  static Expected<Request> get(const CommandOptions &options);

  /// The task of a schedule by name, or of "file:PATH".
  Expected<Task> task(const std::string &name) const;
  /// Solves a task. Here the errors are that there is no solution.
  Expected<Answer> solve(Task task) const;

  /// From here on every schedule gets the same model, cut into at most
  /// `chunksPerStage` chunks a stage.
  Status fixModel(int chunksPerStage);

  /// The name that was asked for, or that of the compiled model's schedule.
  const std::string &schedule() const { return name; }
  int stages() const { return costs.stages; }
  int microbatches() const { return costs.microbatches; }
  std::optional<int> chunksPerStage() const { return costs.chunksPerStage; }
  bool hasModel() const { return model.has_value(); }
  GeneratorOptions generator = {};
  /// How the answers are simulated. Schedules are made for the default.
  SimulationOptions simulation = {};
  /// Of one message, where the model does not say; none: not known.
  std::optional<std::int64_t> messageBytes;
  std::optional<LayerSizes> layers;

private:
  Status readSizes(const CommandOptions &options);
  Status readCosts(const CommandOptions &options);
  Status readLayers(const CommandOptions &options);
  Status readModel(const CommandOptions &options);
  Expected<int> chooseChunksPerStage(const Generator &generator) const;
  Expected<Placement> choosePlacement(const Generator &wanted) const;
  Expected<Model> modelFor(int stages, int chunksPerStage) const;
  Status setLimits(Problem &problem) const;
  Expected<Task> importedTask(const std::string &path) const;
  Expected<Task> makeTask(std::string name, Placement placement,
                          int microbatches) const;

  std::string name;
  ProblemOptions costs;
  bool hasStages = false, hasMicrobatches = false, hasCosts = false;
  std::optional<Model> model;
  std::string memoryLimit;
  std::optional<double> overlap;
};

/// "sequential, gpipe, ...".
std::string knownSchedules();

/// Messages between stages and their bytes in one step; no bytes where nobody
/// knows.
struct Traffic {
  std::int64_t messages = 0;
  std::optional<std::int64_t> bytes;
};
Traffic trafficOf(const Task &task, std::optional<std::int64_t> messageBytes);

/// How many versions of its weights the worst stage keeps; empty for a schedule
/// from a file, whose name says nothing.
std::string weightVersionsOf(const Answer &answer);
/// "synchronous" and so on; for tables.
const char *toString(UpdateSemantics semantics);

/// A table of all schedules that `list` names ("all" or names with commas), one
/// row each, with the reason where there is no schedule. Errors: a name that
/// nobody knows.
Expected<std::string> compare(Request &request, const std::string &list);

/// What is known about a schedule in closed form beside what was simulated.
std::string explain(const Answer &answer, const Request &request);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_COMMAND_REQUEST_H
