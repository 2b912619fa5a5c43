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
#include "veeline/Schedule/Command/Command.h"
#include "veeline/Schedule/Formats/Formats.h"

#include <map>
#include <memory>

namespace veeline::schedule {

/// A problem for one schedule, which comes from a generator or from a file.
struct Task {
  std::string name;
  Problem problem;
  std::optional<Schedule> imported = std::nullopt;
  /// The bytes of one message on each edge of the problem; empty if they are
  /// not known.
  std::vector<std::int64_t> edgeBytes = {};
  UpdateSemantics semantics = UpdateSemantics::Synchronous;
  /// The schedule that was found while the schedule itself chose the placement.
  std::optional<Schedule> found = std::nullopt;
  /// Whether the placement is that of the compiled model.
  bool keepsPlacement = false;
};

/// A solved task.
struct Answer {
  Task task;
  Solution solution;
  /// The wall-clock time of generating and verifying, and the processor time,
  /// which does not depend on other programs.
  double seconds, processorSeconds;
};

/// The sizes that the formulas of recomputation need.
struct LayerSizes {
  /// The layers of a stage.
  double layers;
  /// What a layer keeps of one microbatch, and the input of a stage, in bytes.
  double layerBytes, boundaryBytes;
};

/// Makes tasks from names, all for one model.
class Request {
public:
  /// Checks the options and reads the files that they name. For an error, sets
  /// `code`: what is wrong is the command line, or what is in a file.
  static Expected<Request> get(const CommandOptions &options, ExitCode &code);

  /// Returns the task of a schedule by name, or of "file:PATH".
  Expected<Task> task(const std::string &name) const;
  /// Solves a task. The errors say that there is no solution.
  Expected<Answer> solve(Task task) const;

  /// From now on every schedule gets the same model. It is cut into at most as
  /// many chunks a stage as the user says (by default 2, or as many as there
  /// are).
  Status shareModel();

  /// Returns the same request with this limit for all stages.
  Request withLimit(std::int64_t limit) const;

  /// The requested schedules: one (or that of the compiled model) and those
  /// that it is compared against, or those of --compare.
  const std::vector<std::string> &names() const { return wanted; }
  int stages() const { return costs.stages; }
  int microbatches() const { return costs.microbatches; }
  /// The number of ranks of each stage; empty if each has one.
  std::vector<int> stageReplicas() const;
  /// The unit in which memory is printed.
  MemoryUnit memoryUnit() const;
  GeneratorOptions generator = {};
  /// How the answers are simulated. Schedules are made for the default.
  SimulationOptions simulation = {};
  /// The size of one message, used if the model does not determine it; none if
  /// it is not known.
  std::optional<std::int64_t> messageBytes;
  std::optional<LayerSizes> layers;
  /// Warnings that are printed before any answer.
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
  Status readOrders(const CommandOptions &options);
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
  /// The orders among them that are files, by path.
  std::map<std::string, std::shared_ptr<const ImportedSchedule>> orders;
  /// Whether an error is about the content of a file.
  bool isFileWrong = false;
  ProblemOptions costs;
  /// The number of ranks of each stage, according to the command line or the
  /// compiled model. Empty if each has one or if they are not given.
  std::vector<int> widths;
  /// The transfers of all edges of the chain, or of each.
  std::vector<EdgeTransfer> transfers{{0, 0}};
  /// Whether the command line or the compiled model specifies these numbers.
  bool hasStages = false, hasMicrobatches = false;
  std::set<std::string> given;
  /// Whether the command line has any costs, and whether it has those of
  /// operations.
  bool hasCosts = false, hasTimes = false;
  std::optional<Model> model;
  /// The stage of each chunk of the compiled model.
  std::vector<int> compiledStages;
  std::optional<PlacementKind> placementKind;
  /// `isShared`: all schedules get the same model. `isAnyCut`: the model
  /// consists of equal chunks that make up stages of known cost, so that any
  /// cut of it is known.
  bool isShared = false, isAnyCut = false;
  /// Limits as the command line has them, or the same limit for all stages.
  std::string memoryLimit;
  std::optional<std::int64_t> limitOfAll;
  std::optional<double> overlap;
  /// As the command line has it.
  std::string offload;
  std::optional<double> offloadShare;
};

/// Parses memory limits with commas, such as "4,5.5", or "1GiB,2GiB" if `unit`
/// is one of bytes. Errors name the option.
Expected<std::vector<std::int64_t>> parseLimits(const std::string &option,
                                                const std::string &text,
                                                const MemoryUnit &unit);

/// Messages between stages and their bytes in one step; no bytes if they are
/// not known.
struct Traffic {
  std::int64_t messages = 0;
  std::optional<std::int64_t> bytes;
};
Traffic trafficOf(const Task &task, std::optional<std::int64_t> messageBytes);

/// The number of weight versions that the worst stage keeps. Empty for a
/// schedule from a file, whose name does not determine it.
std::string weightVersionsOf(const Answer &answer);
/// Returns "synchronous" and so on, for tables.
const char *toString(UpdateSemantics semantics);

/// A table for readers.
struct Report {
  std::string text;
  /// Whether any row has a schedule, instead of the reason why there is none.
  bool hasSchedule = false;
};

/// Returns a table of all schedules of the request, one row each, or JSON.
Expected<Report> compare(Request &request, bool asJson);
/// Returns the member "stage_replicas" of JSON, to follow another one; empty if
/// each stage has one rank.
std::string ranksMember(const std::vector<int> &widths);

/// The one schedule of the request for several limits.
struct Dial {
  std::string name;
  MemoryUnit unit;
  Objective objective;
  std::vector<std::int64_t> limits;
  std::vector<Expected<Solution>> solutions;
};
/// Solves the request for several limits. `list` is "all" or limits with
/// commas.
Expected<Dial> turnDial(const Request &request, const std::string &list);
Report toReport(const Dial &dial, const Request &request);
/// Whether the table of a dial can be a file of this format: text, or one of
/// those below.
bool isDialFormat(Format format);
std::string toCsv(const Dial &dial);
std::string toJson(const Dial &dial, const Request &request);

/// Messages that are right under the rules of a library.
struct ProvenMessages {
  std::int64_t count = 0;
  std::string by;    ///< The strategy that places them; empty: cells in a file.
  std::string rules; ///< "nccl"

  /// A line for readers, and an object of JSON.
  std::string toText() const;
  std::string toJson() const;
};

/// Proves that the messages of a schedule are right for the options. The error
/// says what is wrong.
Expected<ProvenMessages> proveCommunication(const Answer &answer,
                                            const CommandOptions &options);

/// Returns the closed forms of a schedule beside the simulated figures, and an
/// explanation of its time. Errors are those of `explain` in Explain.h.
Expected<std::string> explain(const Answer &answer, const Request &request);
/// The same as an object of JSON, without the closed forms.
Expected<std::string> explainAsJson(const Answer &answer,
                                    const Request &request);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_COMMAND_REQUEST_H
