//===- Request.h - the request of a command line ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_COMMAND_REQUEST_H
#define VEELINE_LIB_SCHEDULE_COMMAND_REQUEST_H

#include "Model.h"
#include "Options.h"
#include "veeline/Schedule/Auto.h"
#include "veeline/Schedule/Formats/Formats.h"

namespace veeline::schedule {

/// A problem for one schedule, which comes from a generator or from a file.
struct Task {
  std::string name;
  Problem problem;
  std::optional<Schedule> imported = std::nullopt;
  /// Bytes of one message on each edge of the problem; empty where nobody
  /// knows.
  std::vector<std::int64_t> edgeBytes = {};
  UpdateSemantics semantics = UpdateSemantics::Synchronous;
  /// Where the schedule itself chose the placement: what it found as it did.
  std::optional<Schedule> found = std::nullopt;
  /// Whether the placement is that of the compiled model.
  bool keepsPlacement = false;
};

/// A solved task.
struct Answer {
  Task task;
  Solution solution;
  /// Wall-clock time of generating and verifying, and processor time: only the
  /// former is longer when other programs run.
  double seconds, processorSeconds;
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

  /// From here on every schedule gets the same model, cut into at most as many
  /// chunks a stage as the user says (by default 2, or as many as there are).
  Status shareModel();

  /// The same with this limit for all stages.
  Request withLimit(std::int64_t limit) const;

  /// The schedules that are asked for: the one (or that of the compiled model)
  /// and those against it, or those to compare.
  const std::vector<std::string> &names() const { return wanted; }
  int stages() const { return costs.stages; }
  int microbatches() const { return costs.microbatches; }
  /// Ranks of each stage; empty where each has one.
  std::vector<int> stageReplicas() const;
  /// How to print memory.
  MemoryUnit memoryUnit() const;
  GeneratorOptions generator = {};
  /// How the answers are simulated. Schedules are made for the default.
  SimulationOptions simulation = {};
  /// Of one message, where the model does not say; none: not known.
  std::optional<std::int64_t> messageBytes;
  std::optional<LayerSizes> layers;
  /// What the user should know before any answer.
  std::vector<std::string> warnings;

private:
  Status readNames(const CommandOptions &options);
  Status readSizes(const CommandOptions &options);
  Status readWidths(const CommandOptions &options);
  Status readCosts(const CommandOptions &options);
  Status readLayers(const CommandOptions &options);
  /// Whether all schedules are made for steps that follow each other.
  bool isOfLoops() const;
  Status readModel(const CommandOptions &options);
  Status readChunks(const CommandOptions &options);
  Status checkCut(int chunksPerStage) const;
  Expected<int> chooseChunksPerStage(const Generator &generator) const;
  Expected<Placement> placementOf(const Generator &wanted) const;
  Status checkPlacement(std::string_view name,
                        const Placement &placement) const;
  bool fitsPlacement(const Placement &placement) const;
  std::vector<Placement> placementsOfAll() const;
  std::optional<Placement> compiledPlacement() const;
  Expected<std::vector<Placement>> placementsFor(const Generator &wanted,
                                                 bool &keepsPlacement) const;
  Expected<AutoChoice> choosePlacement(const Generator &wanted,
                                       bool &keepsPlacement) const;
  Expected<Model> modelFor(int stages, int chunksPerStage) const;
  bool choosesChunks() const;
  Status setLimits(Problem &problem) const;
  Status setOffload(Problem &problem) const;
  Status checkFile(const std::string &path, const ImportedSchedule &file) const;
  Status setWidths(Task &task, const ImportedSchedule &file,
                   const std::string &path) const;
  Expected<Task> importedTask(const std::string &path) const;
  Expected<Task> makeTask(std::string name, Placement placement,
                          int microbatches) const;

  std::vector<std::string> wanted;
  ProblemOptions costs;
  /// Ranks of each stage, by the command line or the compiled model; empty
  /// where each has one or nobody says.
  std::vector<int> widths;
  /// Of all edges of the chain, or of each.
  std::vector<EdgeTransfer> transfers{{0, 0}};
  /// Whether the command line or the compiled model says them.
  bool hasStages = false, hasMicrobatches = false;
  std::set<std::string> given;
  /// Whether the command line has any costs, and whether it has those of
  /// operations.
  bool hasCosts = false, hasTimes = false;
  std::optional<Model> model;
  /// Where the chunks of the compiled model are.
  std::vector<int> compiledStages;
  std::optional<PlacementKind> placementKind;
  /// `isShared`: all schedules get the one model. `isAnyCut`: its chunks are
  /// equal and make up stages of known cost, so that any cut of it is known.
  bool isShared = false, isAnyCut = false;
  /// Limits as the command line has them, or the same one for all stages.
  std::string memoryLimit;
  std::optional<std::int64_t> limitOfAll;
  std::optional<double> overlap;
  /// As the command line has them.
  std::string offload;
  std::optional<double> offloadShare;
};

/// Memory limits with commas, as "4,5.5", or "1GiB,2GiB" where `unit` is one of
/// bytes. Errors name the option.
Expected<std::vector<std::int64_t>> parseLimits(const std::string &option,
                                                const std::string &text,
                                                const MemoryUnit &unit);

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

/// A table for readers.
struct Report {
  std::string text;
  /// Whether any row is a schedule, not the reason why there is none.
  bool hasSchedule = false;
};

/// All schedules of the request, one row each; or as JSON.
Expected<Report> compare(Request &request, bool asJson);
/// The member "stage_replicas" of JSON, after another one; empty where each
/// stage has one rank.
std::string ranksMember(const std::vector<int> &widths);

/// The one schedule of the request for several limits.
struct Dial {
  std::string name;
  MemoryUnit unit;
  Objective objective;
  std::vector<std::int64_t> limits;
  std::vector<Expected<Solution>> solutions;
};
/// `list` is "all" or limits with commas.
Expected<Dial> turnDial(const Request &request, const std::string &list);
Report toReport(const Dial &dial, const Request &request);
/// Whether the table of a dial can be a file of this format: text, or one of
/// those below.
bool isDialFormat(Format format);
std::string toCsv(const Dial &dial);
std::string toJson(const Dial &dial, const Request &request);

/// Proves that the messages of a schedule are right, as the options have them.
/// Returns a line that says so; the error says what is wrong.
Expected<std::string> proveCommunication(const Answer &answer,
                                         const CommandOptions &options);

/// What is known about a schedule in closed form beside what was simulated, and
/// why it takes its time. Errors as of the `explain` of Explain.h.
Expected<std::string> explain(const Answer &answer, const Request &request);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_COMMAND_REQUEST_H
