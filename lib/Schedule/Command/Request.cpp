//===- Request.cpp - the request of a command line ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Request.h"

#include "veeline/Base/Clock.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Base/Text.h"
#include "veeline/Schedule/Asynchronous.h"
#include "veeline/Schedule/Loop.h"
#include "veeline/Schedule/Offload.h"
#include "veeline/Schedule/Recompute.h"
#include "veeline/Schedule/Widths.h"

#include <algorithm>
#include <chrono>
#include <cmath>

using namespace veeline;
using namespace veeline::schedule;

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

static bool takes(const Generator &generator, int v) {
  return v >= generator.minChunksPerStage &&
         (generator.maxChunksPerStage == 0 || v <= generator.maxChunksPerStage);
}

/// The maximal number of operations in a step with which `auto` also tries
/// placements with more than the fewest chunks.
static constexpr std::int64_t mostOperationsToChoose = 1'000'000;

/// Returns the number of chunks per stage for a schedule.
///
/// Without a model, this is the user's number, or else the least that the
/// schedule supports. With a model, it is also the user's number; a shared
/// model is already cut to it. If the user has not given one, it is the
/// greatest number that the schedule supports and that results from merging
/// neighbours of the model.
Expected<int> Request::chooseChunksPerStage(const Generator &generator) const {
  if (!model) {
    int least = generator.minChunksPerStage;
    if (placementKind && *placementKind != PlacementKind::Linear &&
        takes(generator, 2))
      least = std::max(least, 2);
    return costs.chunksPerStage.value_or(least);
  }
  int chunks = model->chunks.size();
  if (chunks % costs.stages != 0)
    return usage("the model has " + counted(chunks, "chunk") +
                 ", which is no multiple of the " +
                 counted(costs.stages, "stage"));
  if (costs.chunksPerStage && !isShared) {
    if (Status status = checkCut(*costs.chunksPerStage); !status)
      return status.takeError();
    return *costs.chunksPerStage;
  }
  for (int v = chunks / costs.stages; v > 0; --v)
    if (takes(generator, v) && (chunks / costs.stages) % v == 0)
      return v;
  int least = generator.minChunksPerStage, last = generator.maxChunksPerStage;
  return Error{ErrorKind::NotApplicable,
               "schedule " + std::string(generator.name) + " takes " +
                   std::to_string(least) +
                   (last == 0       ? " or more"
                    : last != least ? " to " + std::to_string(last)
                                    : "") +
                   (last == 1 ? " chunk" : " chunks") + " per stage; the " +
                   std::to_string(chunks) + " of the model make " +
                   std::to_string(chunks / costs.stages) + " for each of the " +
                   counted(costs.stages, "stage")};
}

/// Checks that the model can be merged to `chunksPerStage` chunks a stage.
Status Request::checkCut(int chunksPerStage) const {
  std::int64_t chunks = model->chunks.size();
  std::int64_t count = static_cast<std::int64_t>(costs.stages) * chunksPerStage;
  if (chunks % count == 0)
    return Status::success();
  return usage("--chunks-per-stage: the " + counted(chunks, "chunk") +
               " of the model cannot be put together to " +
               counted(costs.stages, "stage") + " of " +
               counted(chunksPerStage, "chunk"));
}

Expected<Model> Request::modelFor(int stages, int chunksPerStage) const {
  int count = stages * chunksPerStage;
  if (model && model->chunks.size() % count == 0)
    return merged(*model, count);
  if (model && !isAnyCut)
    return usage("the " + counted(model->chunks.size(), "chunk") +
                 " of the model cannot be put together to " +
                 std::to_string(count));
  ProblemOptions options = costs;
  options.stages = stages;
  Expected<Model> uniform = uniformModel(options, count);
  if (uniform)
    if (Status status = setTransfers(*uniform, transfers); !status)
      return status.takeError();
  return uniform;
}

/// Parses one limit, in memory units.
static Expected<std::int64_t> parseLimit(std::string_view text,
                                         const MemoryUnit &unit) {
  Expected<std::int64_t> bytes = parseBytes(text);
  if (unit.name != "activations") {
    if (bytes && *bytes > maxMemory)
      return usage("expected at most 1048576TiB, found '" + std::string(text) +
                   "'");
    return bytes;
  }
  // Limits do not need a finer resolution than this, and nobody has more
  // memory.
  constexpr double least = 1e-6, most = 1e9;
  std::optional<double> value = parseNumber(text);
  if (value && (*value == 0 || (*value >= least && *value <= most)))
    return std::llround(*value * activationUnit);
  std::string found = ", found '" + std::string(text) + "'";
  if (value)
    return usage("expected 0, or activation units from " + shortNumber(least) +
                 " to " + exactNumber(most) + found);
  return usage(
      "expected activation units" + found +
      (bytes ? "; bytes go with --from, whose costs are in bytes" : ""));
}

Expected<std::vector<std::int64_t>>
veeline::schedule::parseLimits(const std::string &option,
                               const std::string &text,
                               const MemoryUnit &unit) {
  std::vector<std::int64_t> limits;
  for (std::string_view part : splitAt(text, ',')) {
    Expected<std::int64_t> limit = parseLimit(part, unit);
    if (!limit)
      return usage(option + ": " + limit.error().message);
    limits.push_back(*limit);
  }
  return limits;
}

/// Sets one limit for all stages, or one for each.
Status Request::setLimits(Problem &problem) const {
  if (limitOfAll)
    problem.memoryLimits.assign(problem.stages(), *limitOfAll);
  if (memoryLimit.empty())
    return Status::success();
  Expected<std::vector<std::int64_t>> limits =
      parseLimits("--memory-limit", memoryLimit, problem.memoryUnit);
  if (!limits)
    return limits.takeError();
  if (limits->size() == 1)
    limits->resize(problem.stages(), limits->front());
  if (limits->size() != static_cast<std::size_t>(problem.stages()))
    return usage("--memory-limit: expected one limit or one for each of the " +
                 counted(problem.stages(), "stage") + ", found " +
                 std::to_string(limits->size()));
  problem.memoryLimits = std::move(*limits);
  return Status::success();
}

/// Returns "activation unit" for activations; else the unit's name.
static std::string singular(const MemoryUnit &unit) {
  return unit.name == "activations" ? "activation unit" : unit.name;
}

/// Parses the time of a copy of one memory unit. Costs of a compiled model are
/// in microseconds and bytes.
static Expected<double> parseOffload(const std::string &text,
                                     const MemoryUnit &unit, bool isCompiled) {
  if (isCompiled) {
    Expected<double> bandwidth = parseBandwidth(text);
    if (!bandwidth)
      return usage("--offload: " + bandwidth.error().message);
    return 1e-3 / *bandwidth;
  }
  std::optional<double> time = parseNumber(text);
  if (time && *time >= 0 && *time <= maxTime)
    return *time / static_cast<double>(unit.size);
  return usage("--offload: expected the time of a copy of one " +
               singular(unit) + ", from 0 to " + shortNumber(maxTime) +
               (text.ends_with("/s")
                    ? " (a bandwidth goes with the costs of --from)"
                    : "") +
               ", found '" + text + "'");
}

/// Sets what chunks can offload, and the time of that.
Status Request::setOffload(Problem &problem) const {
  if (offload.empty())
    return Status::success();
  Expected<double> time =
      parseOffload(offload, problem.memoryUnit, !compiledStages.empty());
  if (!time)
    return time.takeError();
  schedule::setOffload(problem, *time, offloadShare);
  return Status::success();
}

Request Request::withLimit(std::int64_t limit) const {
  Request request = *this;
  request.limitOfAll = limit;
  return request;
}

MemoryUnit Request::memoryUnit() const {
  return model ? model->unit : MemoryUnit{activationUnit, "activations"};
}

Expected<Task> Request::makeTask(std::string name, Placement placement,
                                 int microbatches) const {
  Expected<Model> cut =
      modelFor(placement.stages(), placement.chunksPerStage());
  if (!cut)
    return cut.takeError();
  Task task{std::move(name),
            Problem{std::move(placement), microbatches, std::move(cut->chunks),
                    std::move(cut->edges)}};
  task.problem.memoryUnit = std::move(cut->unit);
  task.edgeBytes = std::move(cut->edgeBytes);
  task.problem.tied = std::move(cut->tied);
  task.problem.widths = stageReplicas();
  return task;
}

/// Whether chunk 0 has a W for each microbatch, and no B.
static bool lacksFirstInput(const Schedule &schedule) {
  bool hasWeight = false;
  for (const std::vector<Op> &ops : schedule.stages)
    for (const Op &op : ops) {
      if (op.chunk != 0)
        continue;
      if (op.kind == OpKind::BackwardInput || op.kind == OpKind::Backward)
        return false;
      hasWeight |= op.kind == OpKind::BackwardWeight;
    }
  return hasWeight;
}

/// Checks that the command line fits a schedule from a file.
Status Request::checkFile(const std::string &path,
                          const ImportedSchedule &file) const {
  auto misfit = [&](int found, const char *one, const std::string &option,
                    int wanted) {
    std::string known = given.contains(option)
                            ? option + " says " + std::to_string(wanted)
                            : "the compiled model has " +
                                  std::to_string(wanted) + "; add " + option +
                                  " " + std::to_string(found);
    return usage("'" + path + "' has " + counted(found, one) + ", but " +
                 known);
  };
  int stages = file.placement.stages(), v = file.placement.chunksPerStage();
  if (hasStages && stages != costs.stages)
    return misfit(stages, "stage", "--stages", costs.stages);
  if (hasMicrobatches && file.microbatches != costs.microbatches)
    return misfit(file.microbatches, "microbatch", "--microbatches",
                  costs.microbatches);
  if (!isShared && v != costs.chunksPerStage.value_or(v))
    return usage("'" + path + "' has " + counted(v, "chunk") +
                 " per stage, but --chunks-per-stage says " +
                 std::to_string(*costs.chunksPerStage));
  if (file.problem && hasCosts && !hasTimes && !model)
    return usage("'" + path +
                 "' has costs; --transfer and --activation go with --cost, "
                 "--chunk-cost or --cost-file, which replace all of them");
  bool hasBlocks = std::any_of(
      file.schedule.overlapped.begin(), file.schedule.overlapped.end(),
      [](const std::vector<int> &steps) { return !steps.empty(); });
  if (overlap && !hasBlocks && !generator.overlapBlocks && !isShared)
    return usage("--overlap is about blocks that run together; '" + path +
                 "' has none, such as (0F3;7B1)OVERLAP_F_B, so leave "
                 "--overlap out; dualpipe-v with --overlap-blocks writes some "
                 "from 2p microbatches on");
  return Status::success();
}

/// Whether the schedule has late backwards, so that its steps cannot wait for
/// updates.
static bool hasLateBackwards(const Schedule &schedule) {
  for (const std::vector<Op> &ops : schedule.stages)
    for (const Op &op : ops)
      if (op.late && op.kind == OpKind::Backward)
        return true;
  return false;
}

Expected<Task> Request::importedTask(const std::string &path) const {
  ImportedSchedule file = *orders.at(path);
  if (Status status = checkFile(path, file); !status)
    return status.takeError();
  std::string name = "file:" + path;
  Expected<Task> task = file.problem && !hasCosts && !model
                            ? Task{name, std::move(*file.problem)}
                            : makeTask(name, file.placement, file.microbatches);
  if (!task)
    return task;
  if (Status status = setWidths(*task, file, path); !status)
    return status.takeError();
  bool hasOffloads = !file.schedule.offloads.empty();
  bool hasOwnCosts = file.problem && !hasCosts && !model;
  if (hasOffloads && (!hasOwnCosts || !offload.empty())) {
    file.schedule.offloads.clear();
    if (offload.empty())
      file.schedule.warnings.emplace_back(
          "what the file offloads is left out, since it is for the file's own "
          "costs; --offload plans it for others");
  }
  if (lacksFirstInput(file.schedule))
    task->problem.chunks[0] = task->problem.chunks[0].withoutBackwardInput();
  if (Expected<const Generator *> known = findGenerator(file.schedule.name))
    task->semantics = (*known)->semantics;
  else if (hasLateBackwards(file.schedule))
    task->semantics = UpdateSemantics::DoubleBuffered;
  task->imported = std::move(file.schedule);
  if (model)
    task->imported = withoutMissing(task->problem, std::move(*task->imported));
  if (file.widths.empty() && !task->problem.widths.empty())
    task->imported = spreadOverRanks(task->problem, *task->imported);
  return task;
}

/// Whether nothing determines the number of chunks.
bool Request::choosesChunks() const {
  return !costs.chunksPerStage && (!model || isAnyCut);
}

/// Whether a placement is the one that the user named, if any.
bool Request::fitsPlacement(const Placement &placement) const {
  if (!placementKind)
    return true;
  Expected<Placement> named = Placement::get(*placementKind, placement.stages(),
                                             placement.chunksPerStage());
  return named && placement == *named;
}

Status Request::checkPlacement(std::string_view name,
                               const Placement &placement) const {
  if (fitsPlacement(placement))
    return Status::success();
  return Error{ErrorKind::NotApplicable,
               "schedule " + std::string(name) + " is made for placement " +
                   toString(placement.kind()) + ", but --placement says " +
                   toString(*placementKind) +
                   "; auto and sequential take every placement"};
}

/// Returns the placement of a schedule that has no choice.
Expected<Placement> Request::placementOf(const Generator &wanted) const {
  Expected<int> v = chooseChunksPerStage(wanted);
  if (!v)
    return v.takeError();
  if (placementKind && wanted.anyPlacement)
    return Placement::get(*placementKind, costs.stages, *v);
  return placementFor(wanted.name, costs.stages, *v);
}

/// Returns the placements that a row of a table could have.
std::vector<Placement> Request::placementsOfAll() const {
  std::vector<Placement> result;
  for (const Generator &generator : generators())
    if (Expected<Placement> placement = placementOf(generator))
      result.push_back(std::move(*placement));
  return result;
}

/// Returns the placement of the compiled model, as long as the numbers of
/// stages and chunks are its own.
std::optional<Placement> Request::compiledPlacement() const {
  if (compiledStages.empty() || isShared || placementKind)
    return std::nullopt;
  Expected<Placement> placement =
      Placement::fromList(costs.stages, compiledStages);
  if (!placement ||
      placement->chunksPerStage() !=
          costs.chunksPerStage.value_or(placement->chunksPerStage()))
    return std::nullopt;
  return placement->named();
}

/// Returns the placements among which `auto` chooses: fewest chunks first, all
/// different. In a table, they include those of the other rows, so that none of
/// these can be better.
Expected<std::vector<Placement>>
Request::placementsFor(const Generator &wanted, bool &keepsPlacement) const {
  if (std::optional<Placement> compiled = compiledPlacement()) {
    keepsPlacement = true;
    return std::vector<Placement>{std::move(*compiled)};
  }
  std::vector<Placement> all;
  if (choosesChunks()) {
    all = autoPlacements(costs.stages, 0);
  } else {
    Expected<int> v = chooseChunksPerStage(wanted);
    if (!v)
      return v.takeError();
    if (placementKind == PlacementKind::Linear && isShared)
      v = 1;
    if (placementKind)
      if (Expected<Placement> named =
              Placement::get(*placementKind, costs.stages, *v);
          !named)
        return named.takeError();
    for (PlacementKind kind : {PlacementKind::Linear, PlacementKind::V,
                               PlacementKind::Wave, PlacementKind::Interleaved})
      if (Expected<Placement> placement =
              Placement::get(kind, costs.stages, *v))
        all.push_back(std::move(*placement));
  }
  if (isShared)
    for (Placement &placement : placementsOfAll())
      all.push_back(std::move(placement));
  std::stable_sort(all.begin(), all.end(),
                   [](const Placement &a, const Placement &b) {
                     return a.chunksPerStage() < b.chunksPerStage();
                   });
  std::vector<Placement> result;
  for (Placement &placement : all) {
    bool isKnown =
        std::find(result.begin(), result.end(), placement) != result.end();
    if (!isKnown && fitsPlacement(placement))
      result.push_back(std::move(placement));
  }
  // A single evaluation of such a long step takes longer than most budgets.
  auto isLong = [&](const Placement &placement) {
    return std::int64_t(3) * placement.chunks() * costs.microbatches >
           mostOperationsToChoose;
  };
  while (!isShared && result.size() > 1 && isLong(result.back()))
    result.pop_back();
  if (result.empty())
    return usage("--placement: no cut of the model has placement " +
                 std::string(toString(*placementKind)));
  return result;
}

Expected<AutoChoice> Request::choosePlacement(const Generator &wanted,
                                              bool &keepsPlacement) const {
  if (wanted.name != "auto") {
    Expected<Placement> placement = placementOf(wanted);
    if (!placement)
      return placement.takeError();
    if (Status status = checkPlacement(wanted.name, *placement); !status)
      return status.takeError();
    return AutoChoice{std::move(*placement), {}};
  }
  // If costs are per chunk, fewer chunks would make a smaller model.
  if (choosesChunks() && costs.chunkCost)
    return usage("--chunk-cost says what one chunk costs, but " +
                 std::string(wanted.name) +
                 " chooses how many a stage has; add --chunks-per-stage, or "
                 "give --cost, that of a whole stage");
  if (choosesChunks() && transfers.size() > 1)
    return usage("--transfer has a time for each edge, but " +
                 std::string(wanted.name) +
                 " chooses how many chunks a stage has; add "
                 "--chunks-per-stage");
  Expected<std::vector<Placement>> candidates =
      placementsFor(wanted, keepsPlacement);
  if (!candidates)
    return candidates.takeError();
  if (candidates->size() == 1)
    return AutoChoice{std::move(candidates->front()), {}};
  GeneratorOptions half = generator;
  half.searchSeconds /= 2;
  auto make = [&](const Placement &placement) -> Expected<Problem> {
    Expected<Task> task = makeTask("auto", placement, costs.microbatches);
    if (!task)
      return task.takeError();
    for (auto set : {&Request::setLimits, &Request::setOffload})
      if (Status status = (this->*set)(task->problem); !status)
        return status.takeError();
    task->problem.overlap = overlap.value_or(task->problem.overlap);
    return std::move(task->problem);
  };
  return autoAmong(std::move(*candidates), make, half);
}

Expected<Task> Request::task(const std::string &wanted) const {
  auto make = [&]() -> Expected<Task> {
    if (std::optional<std::string> path = scheduleFilePath(wanted))
      return importedTask(*path);
    Expected<const Generator *> generator = findGenerator(wanted);
    if (!generator)
      return generator.takeError();
    bool keepsPlacement = false;
    Expected<AutoChoice> choice = choosePlacement(**generator, keepsPlacement);
    if (!choice)
      return choice.takeError();
    Expected<Task> task =
        makeTask(wanted, std::move(choice->placement), costs.microbatches);
    if (!task)
      return task;
    task->semantics = (*generator)->semantics;
    task->keepsPlacement = keepsPlacement;
    if (!choice->schedule.stages.empty())
      task->found = std::move(choice->schedule);
    return task;
  };
  Expected<Task> task = make();
  if (!task)
    return task;
  for (auto set : {&Request::setLimits, &Request::setOffload})
    if (Status status = (this->*set)(task->problem); !status)
      return status.takeError();
  task->problem.overlap = overlap.value_or(task->problem.overlap);
  // For stages of several ranks there are only windows, as in files without
  // late operations.
  if (task->problem.widths.empty() &&
      (!task->imported || isCyclic(*task->imported)))
    task->problem.updates = task->semantics;
  if (Status status = check(task->problem); !status)
    return status.takeError();
  return task;
}

Status Request::shareModel() {
  isShared = true;
  int v = costs.chunksPerStage.value_or(2);
  if (model && !costs.chunksPerStage)
    return Status::success();
  if (model) {
    if (Status status = checkCut(v); !status)
      return status;
    model = merged(*model, costs.stages * v);
    return Status::success();
  }
  // This fails if there are too many chunks.
  Expected<Placement> placement = placementFor("sequential", costs.stages, v);
  if (!placement)
    return placement.takeError();
  Expected<Model> shared = modelFor(costs.stages, v);
  if (!shared)
    return shared.takeError();
  isAnyCut = !costs.chunkCost && transfers.size() == 1;
  model = std::move(*shared);
  return Status::success();
}

/// Adds the R that the problem has, and the order lacks, to an order from a
/// file.
static Expected<Schedule>
recomputed(const Problem &problem, const Schedule &order, Objective objective) {
  Problem ordered = asOrdered(problem, order);
  ordered.memoryLimits.clear();
  if (Status status = verify(ordered, order); !status)
    return status.takeError();
  return addRecompute(problem, order, objective);
}

/// Adds offloads to an order from a file.
static Expected<Schedule> offloaded(Problem problem, const Schedule &order,
                                    Objective objective) {
  std::vector<std::int64_t> limits = std::move(problem.memoryLimits);
  problem.memoryLimits.clear();
  if (Status status = verify(problem, order); !status)
    return status.takeError();
  problem.memoryLimits = std::move(limits);
  Expected<Schedule> schedule = addOffloads(problem, order, objective);
  if (schedule)
    warnOfNoOffloads(problem, *schedule, objective);
  return schedule;
}

Expected<Answer> Request::solve(Task task) const {
  auto begin = std::chrono::steady_clock::now();
  // Only this thread generates.
  std::int64_t processorBegin = processorNanoseconds();
  Expected<Schedule> schedule =
      task.imported ? *task.imported
                    : generate(task.name, task.problem, generator);
  if (task.imported && lacksRecompute(task.problem, *task.imported)) {
    schedule = recomputed(task.problem, *task.imported, generator.objective);
    if (!schedule)
      return schedule.takeError();
    task.imported = *schedule;
  }
  if (task.imported && generator.offload && task.imported->offloads.empty())
    schedule = offloaded(task.problem, *task.imported, generator.objective);
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - begin;
  double processor = 1e-9 * (processorNanoseconds() - processorBegin);
  if (!schedule)
    return schedule.takeError();
  // A schedule from a file is not verified yet.
  if (task.imported)
    if (Status status = verify(task.problem, *schedule); !status)
      return withLeastOfAny(task.problem, status.takeError());
  Expected<Simulation> predicted =
      simulate(task.problem, *schedule, simulation);
  if (!predicted)
    return predicted.takeError();
  Objective objective = generator.objective;
  if (task.found)
    if (Expected<Simulation> before =
            simulate(task.problem, *task.found, simulation);
        before && before->value(objective) < predicted->value(objective)) {
      schedule = std::move(*task.found);
      predicted = std::move(*before);
    }
  Solution solution{task.problem, std::move(*schedule), std::move(*predicted)};
  return Answer{std::move(task), std::move(solution), elapsed.count(),
                processor};
}

//===----------------------------------------------------------------------===//
// Figures
//===----------------------------------------------------------------------===//

Traffic veeline::schedule::trafficOf(const Task &task,
                                     std::optional<std::int64_t> messageBytes) {
  const Problem &problem = task.problem;
  Traffic traffic;
  std::int64_t bytes = 0;
  bool isKnown = messageBytes || !task.edgeBytes.empty();
  for (std::size_t i = 0; i < problem.edges.size(); ++i) {
    const Edge &edge = problem.edges[i];
    if (problem.placement.stageOf(edge.from) ==
        problem.placement.stageOf(edge.to))
      continue;
    std::int64_t messages = static_cast<std::int64_t>(problem.microbatches) *
                            (edge.carriesGradient ? 2 : 1);
    traffic.messages += messages;
    if (isKnown)
      bytes += messages * (messageBytes ? *messageBytes : task.edgeBytes[i]);
  }
  if (isKnown)
    traffic.bytes = bytes;
  return traffic;
}

std::string veeline::schedule::weightVersionsOf(const Answer &answer) {
  Expected<std::vector<int>> versions =
      weightVersions(answer.solution.problem, answer.solution.schedule);
  // An order from a file whose name is unknown is assumed to be synchronous.
  if (!versions)
    return "1";
  return std::to_string(*std::max_element(versions->begin(), versions->end()));
}

const char *veeline::schedule::toString(UpdateSemantics semantics) {
  switch (semantics) {
  case UpdateSemantics::Synchronous:
    return "synchronous";
  case UpdateSemantics::WeightStashing:
    return "each microbatch, stashed weights";
  case UpdateSemantics::DoubleBuffered:
    return "each group, two versions";
  }
  return "?";
}
