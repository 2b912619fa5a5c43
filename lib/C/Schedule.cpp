//===- Schedule.cpp - schedules, in C -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline-c/Schedule.h"

#include "Support.h"
#include "veeline/Base/Text.h"
#include "veeline/Schedule/Formats/CommunicationCells.h"
#include "veeline/Schedule/Formats/Formats.h"
#include "veeline/Schedule/Generators.h"
#include "veeline/Schedule/Loop.h"
#include "veeline/Schedule/Offload.h"
#include "veeline/Schedule/ProblemOptions.h"
#include "veeline/Schedule/Text.h"

#include <algorithm>
#include <memory>

using namespace veeline;
using namespace veeline::schedule;
using namespace veeline::c;

namespace {
/// What a VeelineSchedule points at.
struct Order {
  Problem problem;
  Schedule schedule;
};
} // namespace

static Problem *unwrap(VeelineProblem problem) {
  return static_cast<Problem *>(problem.ptr);
}

static const Order *unwrap(VeelineSchedule schedule) {
  return static_cast<const Order *>(schedule.ptr);
}

static const Simulation *unwrap(VeelineSimulation simulation) {
  return static_cast<const Simulation *>(simulation.ptr);
}

static VeelineCode codeOf(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::InvalidProblem:
    return VeelineInvalid;
  case ErrorKind::UnknownSchedule:
    return VeelineUnknownSchedule;
  case ErrorKind::NotApplicable:
    return VeelineNotApplicable;
  case ErrorKind::OutOfMemory:
    return VeelineOverMemoryLimit;
  default:
    return VeelineWrongSchedule;
  }
}

static VeelineStatus toStatus(const Error &error) {
  return failure(codeOf(error.kind), error.str());
}

static VeelineStatus invalidArgument(const std::string &message) {
  return failure(VeelineInvalid, message);
}

static VeelineStatus noIndex(const char *what, std::int64_t index,
                             std::size_t count) {
  return invalidArgument("there is no " + std::string(what) + " " +
                         std::to_string(index) + "; they are 0 to " +
                         std::to_string(static_cast<std::int64_t>(count) - 1));
}

static bool isBelow(std::int64_t index, std::size_t count) {
  return index >= 0 && static_cast<std::size_t>(index) < count;
}

static VeelineStatus checkCapacity(std::size_t needed, std::size_t capacity) {
  return needed <= capacity
             ? success()
             : invalidArgument("the array has room for " +
                               std::to_string(capacity) + " elements, " +
                               std::to_string(needed) + " are written");
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// The names of generators do not end with a zero byte, so they are copied
/// once.
static const std::vector<std::string> &namesOfSchedules() {
  static const std::vector<std::string> names = scheduleNames();
  return names;
}

size_t veelineNumSchedules(void) { return generators().size(); }

const char *veelineScheduleNameAt(size_t index) {
  const char *name = nullptr;
  veelineStatusDestroy(guarded([&] {
    if (index < namesOfSchedules().size())
      name = namesOfSchedules()[index].c_str();
    return success();
  }));
  return name;
}

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

static OpValues toValues(const VeelineCosts &costs) {
  return {costs.forward, costs.backwardInput, costs.backwardWeight};
}

VeelineProblemOptions veelineProblemOptionsGet(const char *schedule,
                                               int32_t stages,
                                               int32_t microbatches) {
  return {schedule,   stages, 0,  microbatches, {1, 1, 1}, 0,
          {1, 0, -1}, -1,     -1, -1,           0};
}

VeelineStatus veelineProblemCreate(const VeelineProblemOptions *given,
                                   VeelineProblem *problem) {
  return guarded([&] {
    VEELINE_NEEDS({{"options", given}, {"problem", problem}});
    VEELINE_NEEDS({{"options->schedule", given->schedule}});
    ProblemOptions options;
    options.schedule = given->schedule;
    options.stages = given->stages;
    if (given->chunksPerStage != 0)
      options.chunksPerStage = given->chunksPerStage;
    options.microbatches = given->microbatches;
    options.cost = toValues(given->cost);
    options.transfer = given->transfer;
    options.activation = toValues(given->activation);
    if (!(given->recompute < 0)) {
      options.cost.recompute = given->recompute;
      options.activation.recompute = given->recomputeActivation;
    }
    if (!(given->memoryLimit < 0))
      options.memoryLimit = given->memoryLimit;
    Expected<Problem> made = makeProblem(options);
    if (!made)
      return toStatus(made.error());
    if (!(given->offloadTime < 0))
      setOffload(*made, given->offloadTime / activationUnit);
    made->updates = (*findGenerator(given->schedule))->semantics;
    problem->ptr = new Problem(std::move(*made));
    return success();
  });
}

void veelineProblemDestroy(VeelineProblem problem) { delete unwrap(problem); }

int32_t veelineProblemNumStages(VeelineProblem problem) {
  return unwrap(problem)->stages();
}

int32_t veelineProblemNumMicrobatches(VeelineProblem problem) {
  return unwrap(problem)->microbatches;
}

int32_t veelineProblemNumChunks(VeelineProblem problem) {
  return unwrap(problem)->numChunks();
}

int32_t veelineProblemStageOfChunk(VeelineProblem problem, int32_t chunk) {
  const Placement &placement = unwrap(problem)->placement;
  bool isThere = chunk >= 0 && chunk < placement.chunks();
  return isThere ? placement.stageOf(chunk) : -1;
}

VeelineStatus veelineProblemGetChunk(VeelineProblem problem, int32_t chunk,
                                     VeelineChunk *values) {
  return guarded([&] {
    VEELINE_NEEDS({{"values", values}});
    const std::vector<Chunk> &chunks = unwrap(problem)->chunks;
    if (!isBelow(chunk, chunks.size()))
      return noIndex("chunk", chunk, chunks.size());
    const Chunk &found = chunks[static_cast<std::size_t>(chunk)];
    *values = {found.forward,
               found.backwardInput,
               found.backwardWeight,
               found.backwardShared,
               found.forwardMemory,
               found.backwardInputMemory,
               found.backwardWeightMemory,
               found.hasBackwardInput,
               found.offloadMemory,
               found.offloadTime,
               found.hasRecompute,
               found.recompute,
               found.recomputeMemory};
    return success();
  });
}

VeelineStatus veelineProblemSetChunk(VeelineProblem problem, int32_t chunk,
                                     const VeelineChunk *values) {
  return guarded([&] {
    VEELINE_NEEDS({{"values", values}});
    std::vector<Chunk> &chunks = unwrap(problem)->chunks;
    if (!isBelow(chunk, chunks.size()))
      return noIndex("chunk", chunk, chunks.size());
    Chunk &target = chunks[static_cast<std::size_t>(chunk)];
    target.forward = values->forward;
    target.backwardInput = values->backwardInput;
    target.backwardWeight = values->backwardWeight;
    target.backwardShared = values->backwardShared;
    target.forwardMemory = values->forwardMemory;
    target.backwardInputMemory = values->backwardInputMemory;
    target.backwardWeightMemory = values->backwardWeightMemory;
    target.hasBackwardInput = values->hasBackwardInput;
    target.offloadMemory = values->offloadMemory;
    target.offloadTime = values->offloadTime;
    target.hasRecompute = values->hasRecompute;
    target.recompute = values->recompute;
    target.recomputeMemory = values->recomputeMemory;
    return success();
  });
}

VeelineStatus veelineProblemSetEdges(VeelineProblem problem,
                                     const VeelineEdge *edges, size_t count) {
  return guarded([&] {
    VEELINE_NEEDS({{"edges", asArray(edges, count)}});
    std::vector<Edge> made;
    made.reserve(count);
    for (const VeelineEdge *edge = edges; edge != edges + count; ++edge)
      made.push_back({edge->from, edge->to, edge->forwardTransfer,
                      edge->backwardTransfer, edge->carriesGradient});
    unwrap(problem)->edges = std::move(made);
    return success();
  });
}

VeelineStatus veelineProblemSetMemoryLimits(VeelineProblem problem,
                                            const int64_t *limits,
                                            size_t count) {
  return guarded([&] {
    VEELINE_NEEDS({{"limits", asArray(limits, count)}});
    unwrap(problem)->memoryLimits = std::vector(limits, limits + count);
    return success();
  });
}

VeelineStatus veelineProblemSetMemoryUnit(VeelineProblem problem, int64_t size,
                                          const char *name) {
  return guarded([&] {
    VEELINE_NEEDS({{"name", name}});
    unwrap(problem)->memoryUnit = {size, name};
    return success();
  });
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

VeelineGenerateOptions veelineGenerateOptionsGet(void) {
  GeneratorOptions defaults;
  return {VeelineObjectiveDefault, defaults.overlapBlocks,
          defaults.searchSeconds, defaults.seed, defaults.offload};
}

static Expected<Objective> objectiveOf(VeelineObjective objective,
                                       const Generator &generator) {
  switch (objective) {
  case VeelineObjectiveDefault:
    return generator.slips ? Objective::Period : Objective::Makespan;
  case VeelineObjectiveMakespan:
    return Objective::Makespan;
  case VeelineObjectiveSpan:
    return Objective::Span;
  case VeelineObjectivePeriod:
    return Objective::Period;
  }
  return invalid("there is no objective " +
                 std::to_string(static_cast<int>(objective)));
}

/// Generates the schedule of this name. The problem waits for updates if and
/// only if the generator does.
static Expected<Order> makeOrder(const Problem &given, const char *name,
                                 const VeelineGenerateOptions &options) {
  Expected<const Generator *> generator = findGenerator(name);
  if (!generator)
    return generator.takeError();
  if (!(options.searchSeconds >= 0))
    return invalid("searchSeconds is " + std::to_string(options.searchSeconds) +
                   ", not a time");
  Expected<Objective> objective = objectiveOf(options.objective, **generator);
  if (!objective)
    return objective.takeError();
  GeneratorOptions ofGenerator;
  ofGenerator.objective = *objective;
  ofGenerator.overlapBlocks = options.overlapBlocks;
  ofGenerator.searchSeconds = options.searchSeconds;
  ofGenerator.seed = options.seed;
  ofGenerator.offload = options.offload;
  Problem problem = given;
  problem.updates = (*generator)->semantics;
  Expected<Schedule> schedule = generate(name, problem, ofGenerator);
  if (!schedule)
    return schedule.takeError();
  return Order{std::move(problem), std::move(*schedule)};
}

VeelineStatus veelineScheduleGenerate(VeelineProblem problem, const char *name,
                                      const VeelineGenerateOptions *options,
                                      VeelineSchedule *schedule) {
  return guarded([&] {
    VEELINE_NEEDS(
        {{"problem", problem.ptr}, {"name", name}, {"schedule", schedule}});
    Expected<Order> order =
        makeOrder(*unwrap(problem), name,
                  options ? *options : veelineGenerateOptionsGet());
    if (!order)
      return toStatus(order.error());
    schedule->ptr = new Order(std::move(*order));
    return success();
  });
}

/// A problem with costs of 1, for an order without costs.
static Problem unitProblem(const ImportedSchedule &imported) {
  Chunk chunk;
  chunk.forward = chunk.backwardInput = chunk.backwardWeight = 1;
  chunk.forwardMemory = activationUnit;
  chunk.backwardWeightMemory = -activationUnit;
  Problem problem =
      uniformProblem(imported.placement, imported.microbatches, chunk, 0);
  problem.memoryUnit = {activationUnit, "activations"};
  problem.widths = imported.widths;
  return problem;
}

static Expected<Order> readOrder(bool isJson, std::string_view text,
                                 const std::string &file,
                                 const Problem *given) {
  Expected<ImportedSchedule> imported =
      isJson ? readJson(text, file) : readCsv(text, file);
  if (!imported)
    return imported.takeError();
  if (given && (given->placement != imported->placement ||
                given->microbatches != imported->microbatches ||
                given->widths != imported->widths))
    return invalid(
        "'" + file + "' has " + counted(imported->placement.stages(), "stage") +
        ", " + counted(imported->placement.chunks(), "chunk") + " and " +
        counted(imported->microbatches, "microbatch") + ", the problem has " +
        counted(given->stages(), "stage") + ", " +
        counted(given->numChunks(), "chunk") + " and " +
        counted(given->microbatches, "microbatch") +
        ", or its chunks are on other stages, or stages have other ranks");
  Problem problem = given               ? *given
                    : imported->problem ? std::move(*imported->problem)
                                        : unitProblem(*imported);
  Schedule schedule = withoutMissing(problem, std::move(imported->schedule));
  return Order{std::move(problem), std::move(schedule)};
}

VeelineStatus veelineScheduleRead(const char *format, const char *text,
                                  size_t length, const char *file,
                                  VeelineProblem problem,
                                  VeelineSchedule *schedule) {
  return guarded([&] {
    VEELINE_NEEDS({{"format", format},
                   {"text", text},
                   {"file", file},
                   {"schedule", schedule}});
    std::string_view name = format;
    if (name != "csv" && name != "json")
      return invalidArgument("a schedule is read from 'csv' or 'json', not '" +
                             std::string(name) + "'");
    Expected<Order> order =
        readOrder(name == "json", {text, length}, file, unwrap(problem));
    if (!order)
      return toStatus(order.error());
    schedule->ptr = new Order(std::move(*order));
    return success();
  });
}

void veelineScheduleDestroy(VeelineSchedule schedule) {
  delete unwrap(schedule);
}

const char *veelineScheduleName(VeelineSchedule schedule) {
  return unwrap(schedule)->schedule.name.c_str();
}

VeelineStatus veelineScheduleCopyProblem(VeelineSchedule schedule,
                                         VeelineProblem *problem) {
  return guarded([&] {
    VEELINE_NEEDS({{"problem", problem}});
    problem->ptr = new Problem(unwrap(schedule)->problem);
    return success();
  });
}

const char *veelineScheduleWarning(VeelineSchedule schedule, size_t index) {
  const std::vector<std::string> &warnings =
      unwrap(schedule)->schedule.warnings;
  return index < warnings.size() ? warnings[index].c_str() : nullptr;
}

int32_t veelineScheduleNumRanks(VeelineSchedule schedule) {
  return static_cast<int32_t>(unwrap(schedule)->schedule.stages.size());
}

size_t veelineScheduleNumOps(VeelineSchedule schedule, int32_t rank) {
  const std::vector<std::vector<Op>> &stages =
      unwrap(schedule)->schedule.stages;
  return isBelow(rank, stages.size())
             ? stages[static_cast<std::size_t>(rank)].size()
             : 0;
}

VeelineStatus veelineScheduleGetOps(VeelineSchedule schedule, int32_t rank,
                                    VeelineOp *ops, size_t capacity) {
  return guarded([&] {
    VEELINE_NEEDS({{"ops", asArray(ops, capacity)}});
    const std::vector<std::vector<Op>> &stages =
        unwrap(schedule)->schedule.stages;
    if (!isBelow(rank, stages.size()))
      return noIndex("rank", rank, stages.size());
    const std::vector<Op> &row = stages[static_cast<std::size_t>(rank)];
    VeelineStatus status = checkCapacity(row.size(), capacity);
    if (status.code != VeelineOk)
      return status;
    std::transform(row.begin(), row.end(), ops, [](const Op &op) {
      return VeelineOp{static_cast<VeelineOpKind>(op.kind), op.chunk,
                       op.microbatch, op.late};
    });
    return success();
  });
}

size_t veelineScheduleNumOffloads(VeelineSchedule schedule, int32_t rank) {
  const std::vector<std::vector<Offload>> &offloads =
      unwrap(schedule)->schedule.offloads;
  return isBelow(rank, offloads.size())
             ? offloads[static_cast<std::size_t>(rank)].size()
             : 0;
}

VeelineStatus veelineScheduleGetOffloads(VeelineSchedule schedule, int32_t rank,
                                         VeelineOffload *offloads,
                                         size_t capacity) {
  return guarded([&] {
    VEELINE_NEEDS({{"offloads", asArray(offloads, capacity)}});
    const Schedule &found = unwrap(schedule)->schedule;
    if (!isBelow(rank, found.stages.size()))
      return noIndex("rank", rank, found.stages.size());
    if (found.offloads.empty())
      return success();
    const std::vector<Offload> &row =
        found.offloads[static_cast<std::size_t>(rank)];
    VeelineStatus status = checkCapacity(row.size(), capacity);
    if (status.code != VeelineOk)
      return status;
    std::transform(row.begin(), row.end(), offloads, [](const Offload &it) {
      return VeelineOffload{it.chunk, it.microbatch, it.leaves, it.returns};
    });
    return success();
  });
}

VeelineStatus veelineScheduleVerify(VeelineSchedule schedule) {
  return guarded([&] {
    const Order &order = *unwrap(schedule);
    Status status = check(order.problem);
    if (status)
      status = verify(order.problem, order.schedule);
    return status ? success() : toStatus(status.error());
  });
}

/// A cyclic schedule is drawn as a few steps.
static Solution picture(const Solution &solution) {
  Expected<Solution> steps = drawn(solution);
  if (steps)
    return std::move(*steps);
  return solution;
}

static Expected<std::string> toText(const Solution &solution,
                                    std::string_view format) {
  if (format == "svg")
    return toSvg(picture(solution));
  if (format == "html")
    return toHtml(std::array{picture(solution)});
  if (format == "csv")
    return toCsv(solution.problem, solution.schedule);
  if (format == "comms.csv")
    return communication::toCommunicationCsv(solution.problem,
                                             solution.schedule);
  if (format == "json")
    return toJson(solution);
  if (format == "trace")
    return toChromeTrace(picture(solution));
  if (format == "text")
    return toText(solution.problem, solution.schedule, solution.simulation);
  return invalid(
      "there is no format '" + std::string(format) +
      "'; there are svg, html, csv, comms.csv, json, trace and text");
}

VeelineStatus veelineScheduleToText(VeelineSchedule schedule,
                                    const char *format, VeelineString *text) {
  return guarded([&] {
    VEELINE_NEEDS({{"format", format}, {"text", text}});
    const Order &order = *unwrap(schedule);
    if (Status checked = check(order.problem); !checked)
      return toStatus(checked.error());
    Expected<Solution> solution = solve(order.problem, order.schedule);
    if (!solution)
      return toStatus(solution.error());
    Expected<std::string> made = toText(*solution, format);
    return made ? give(*made, text) : toStatus(made.error());
  });
}

//===----------------------------------------------------------------------===//
// Predictions
//===----------------------------------------------------------------------===//

VeelineStatus veelineScheduleSimulate(VeelineSchedule schedule,
                                      const VeelineSimulateOptions *given,
                                      VeelineSimulation *simulation) {
  return guarded([&] {
    VEELINE_NEEDS({{"simulation", simulation}});
    SimulationOptions options;
    if (given) {
      options.transfers =
          given->rendezvous ? Transfers::Rendezvous : Transfers::Buffered;
      options.contention = given->contention;
    }
    const Order &order = *unwrap(schedule);
    if (Status checked = check(order.problem); !checked)
      return toStatus(checked.error());
    Expected<Simulation> made =
        simulate(order.problem, order.schedule, options);
    if (!made)
      return toStatus(made.error());
    simulation->ptr = new Simulation(std::move(*made));
    return success();
  });
}

void veelineSimulationDestroy(VeelineSimulation simulation) {
  delete unwrap(simulation);
}

VeelinePrediction veelineSimulationGet(VeelineSimulation simulation) {
  const Simulation &known = *unwrap(simulation);
  return {known.makespan,       known.longestSpan(), known.period,
          known.bubbleMakespan, known.bubbleSpan,    known.bubbleSteady,
          known.peakMemory()};
}

VeelineStatus veelineSimulationGetRank(VeelineSimulation simulation,
                                       int32_t rank,
                                       VeelineRankPrediction *prediction) {
  return guarded([&] {
    VEELINE_NEEDS({{"prediction", prediction}});
    const std::vector<StageStatistics> &stages = unwrap(simulation)->stages;
    if (!isBelow(rank, stages.size()))
      return noIndex("rank", rank, stages.size());
    const StageStatistics &stage = stages[static_cast<std::size_t>(rank)];
    *prediction = {stage.busy, stage.firstStart, stage.lastEnd,
                   stage.peakMemory};
    return success();
  });
}

VeelineStatus veelineSimulationGetTimes(VeelineSimulation simulation,
                                        int32_t rank, double *starts,
                                        double *ends, int64_t *memory,
                                        size_t capacity) {
  return guarded([&] {
    const Simulation &known = *unwrap(simulation);
    if (!isBelow(rank, known.start.size()))
      return noIndex("rank", rank, known.start.size());
    auto row = static_cast<std::size_t>(rank);
    VeelineStatus status = checkCapacity(known.start[row].size(), capacity);
    if (status.code != VeelineOk)
      return status;
    if (starts)
      std::copy(known.start[row].begin(), known.start[row].end(), starts);
    if (ends)
      std::copy(known.end[row].begin(), known.end[row].end(), ends);
    if (memory)
      std::copy(known.memory[row].begin(), known.memory[row].end(), memory);
    return success();
  });
}
