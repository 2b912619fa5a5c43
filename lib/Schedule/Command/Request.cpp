//===- Request.cpp - what a command line asks for -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Request.h"

#include "veeline/Schedule/Asynchronous.h"
#include "veeline/Schedule/Auto.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

using namespace veeline::schedule;

static Error usage(std::string message) {
  return Error{ErrorKind::InvalidProblem, std::move(message)};
}

std::string veeline::schedule::knownSchedules() {
  std::string names;
  for (const Generator &generator : generators()) {
    names += names.empty() ? "" : ", ";
    names += generator.name;
  }
  return names;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// Parses the value of an option if it was given.
template <typename T>
static Status parseInto(const std::string &text, const char *option,
                        T &values) {
  if (text.empty())
    return Status::success();
  Expected<OpValues> parsed = parseOpValues(text);
  if (!parsed)
    return usage(std::string(option) + ": " + parsed.error().message);
  values = *parsed;
  return Status::success();
}

Status Request::readSizes(const CommandOptions &options) {
  bool isFile = scheduleFilePath(name) && options.compare.empty();
  if (name.empty() && options.compare.empty())
    return usage("--schedule is missing; known schedules are " +
                 knownSchedules() + ", and file:PATH");
  hasStages = hasStages || options.stages;
  hasMicrobatches = hasMicrobatches || options.microbatches;
  if (!hasStages && !isFile)
    return usage("--stages is missing");
  if (!hasMicrobatches && !isFile)
    return usage("--microbatches is missing");
  costs.stages = options.stages.value_or(costs.stages);
  costs.microbatches = options.microbatches.value_or(costs.microbatches);
  costs.chunksPerStage = options.chunksPerStage;
  if (hasStages && costs.stages < 1)
    return usage("a placement needs at least 1 stage, not " +
                 std::to_string(costs.stages));
  return Status::success();
}

Status Request::readCosts(const CommandOptions &options) {
  for (Status status :
       {parseInto(options.cost, "--cost", costs.cost),
        parseInto(options.chunkCost, "--chunk-cost", costs.chunkCost),
        parseInto(options.activation, "--activation", costs.activation)})
    if (!status)
      return status;
  costs.transfer = options.transfer.value_or(0);
  hasCosts = !options.cost.empty() || !options.chunkCost.empty() ||
             !options.activation.empty() || options.transfer ||
             !options.costFile.empty();
  if (options.messageBytes.empty())
    return readLayers(options);
  Expected<std::int64_t> bytes = parseBytes(options.messageBytes);
  if (!bytes)
    return usage("--message-bytes: " + bytes.error().message);
  messageBytes = *bytes;
  return readLayers(options);
}

/// The input of a stage is a message.
Status Request::readLayers(const CommandOptions &options) {
  if (!options.layers && options.layerBytes.empty())
    return Status::success();
  if (!options.layers || options.layerBytes.empty() || !messageBytes)
    return usage("--layers, --layer-bytes and --message-bytes go together");
  Expected<std::int64_t> bytes = parseBytes(options.layerBytes);
  if (!bytes)
    return usage("--layer-bytes: " + bytes.error().message);
  layers = {*options.layers, static_cast<double>(*bytes),
            static_cast<double>(*messageBytes)};
  return Status::success();
}

Status Request::readModel(const CommandOptions &options) {
  if (options.from.empty())
    return Status::success();
  Expected<CompiledModel> compiled = readCompiledModel(options.from);
  if (!compiled)
    return compiled.takeError();
  if (name.empty())
    name = compiled->schedule;
  costs.stages = compiled->stages;
  costs.microbatches = compiled->microbatches;
  hasStages = hasMicrobatches = true;
  model = std::move(compiled->model);
  return Status::success();
}

Expected<Request> Request::get(const CommandOptions &options) {
  Request request;
  request.name = options.schedule;
  request.memoryLimit = options.memoryLimit;
  request.overlap = options.overlap;
  request.generator = {options.objective == "span" ? Objective::Span
                                                   : Objective::Makespan,
                       options.overlapBlocks, options.timeBudget, options.seed};
  request.simulation = {options.transfers == "rendezvous"
                            ? Transfers::Rendezvous
                            : Transfers::Buffered,
                        options.contention};
  if (Status status = request.readModel(options); !status)
    return status.takeError();
  if (Status status = request.readSizes(options); !status)
    return status.takeError();
  if (Status status = request.readCosts(options); !status)
    return status.takeError();
  if (options.costFile.empty())
    return request;
  if (!request.hasStages)
    return usage("--cost-file needs --stages");
  Expected<Model> model = readCostFile(options.costFile, request.costs);
  if (!model)
    return model.takeError();
  request.model = std::move(*model);
  return request;
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

static bool takes(const Generator &generator, int v) {
  return v >= generator.minChunksPerStage &&
         (generator.maxChunksPerStage == 0 || v <= generator.maxChunksPerStage);
}

/// What the user says; else as many as the model has and the schedule takes,
/// where neighbours may be merged; else the least that the schedule takes.
Expected<int> Request::chooseChunksPerStage(const Generator &generator) const {
  if (!model)
    return costs.chunksPerStage.value_or(generator.minChunksPerStage);
  int chunks = model->chunks.size();
  if (chunks % costs.stages != 0)
    return usage("the model has " + counted(chunks, "chunk") +
                 ", which is no multiple of the " +
                 counted(costs.stages, "stage"));
  int most =
      std::min(chunks / costs.stages, costs.chunksPerStage.value_or(chunks));
  for (int v = most; v > 0; --v)
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

Expected<Model> Request::modelFor(int stages, int chunksPerStage) const {
  int count = stages * chunksPerStage;
  if (model && model->chunks.size() % count == 0)
    return merged(*model, count);
  if (model)
    return usage("the " + counted(model->chunks.size(), "chunk") +
                 " of the model cannot be put together to " +
                 std::to_string(count));
  ProblemOptions options = costs;
  options.stages = stages;
  return uniformModel(options, count);
}

/// One limit, in the unit of the problem.
static Expected<std::int64_t> parseLimit(std::string_view text,
                                         const MemoryUnit &unit) {
  if (unit.name != "activations") {
    Expected<std::int64_t> bytes = parseBytes(text);
    if (!bytes)
      return usage("--memory-limit: " + bytes.error().message);
    return bytes;
  }
  double value;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() ||
      !(std::abs(value * activationUnit) < 9e18))
    return usage("--memory-limit: expected activation units, found '" +
                 std::string(text) +
                 "'; bytes go with --from, whose costs are in bytes");
  return std::llround(value * activationUnit);
}

/// One limit for all stages, or one for each.
Status Request::setLimits(Problem &problem) const {
  if (memoryLimit.empty())
    return Status::success();
  problem.memoryLimits.clear();
  for (std::string_view rest = memoryLimit;;) {
    std::size_t comma = rest.find(',');
    Expected<std::int64_t> limit =
        parseLimit(rest.substr(0, comma), problem.memoryUnit);
    if (!limit)
      return limit.takeError();
    problem.memoryLimits.push_back(*limit);
    if (comma == rest.npos)
      break;
    rest.remove_prefix(comma + 1);
  }
  std::size_t count = problem.memoryLimits.size();
  if (count == 1)
    problem.memoryLimits.assign(problem.stages(), problem.memoryLimits[0]);
  else if (count != static_cast<std::size_t>(problem.stages()))
    return usage("--memory-limit: expected one limit or one for each of the " +
                 counted(problem.stages(), "stage") + ", found " +
                 std::to_string(count));
  return Status::success();
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

Expected<Task> Request::importedTask(const std::string &path) const {
  Expected<ImportedSchedule> file = readScheduleFile(path);
  if (!file)
    return file.takeError();
  int stages = file->placement.stages();
  if (hasStages && stages != costs.stages)
    return usage("'" + path + "' has " + counted(stages, "stage") +
                 ", but --stages says " + std::to_string(costs.stages));
  if (hasMicrobatches && file->microbatches != costs.microbatches)
    return usage(
        "'" + path + "' has " + counted(file->microbatches, "microbatch") +
        ", but --microbatches says " + std::to_string(costs.microbatches));
  std::string name = "file:" + path;
  Expected<Task> task =
      file->problem && !hasCosts && !model
          ? Task{name, std::move(*file->problem)}
          : makeTask(name, file->placement, file->microbatches);
  if (!task)
    return task;
  if (lacksFirstInput(file->schedule))
    task->problem.chunks[0] = task->problem.chunks[0].withoutBackwardInput();
  if (Expected<const Generator *> known = findGenerator(file->schedule.name))
    task->semantics = (*known)->semantics;
  task->imported = std::move(file->schedule);
  if (model)
    task->imported =
        withoutMissingInputs(task->problem, std::move(*task->imported));
  return task;
}

/// The placement of a schedule; `auto` chooses where the user says nothing.
Expected<Placement> Request::choosePlacement(const Generator &wanted) const {
  if (wanted.name == "auto" && !model && !costs.chunksPerStage) {
    GeneratorOptions half = generator;
    half.searchSeconds /= 2;
    auto make = [&](const Placement &placement) -> Expected<Problem> {
      Expected<Task> task = makeTask("auto", placement, costs.microbatches);
      if (!task)
        return task.takeError();
      if (Status status = setLimits(task->problem); !status)
        return status.takeError();
      return std::move(task->problem);
    };
    return autoPlacement(costs.stages, 0, make, half);
  }
  Expected<int> v = chooseChunksPerStage(wanted);
  if (!v)
    return v.takeError();
  return placementFor(wanted.name, costs.stages, *v);
}

Expected<Task> Request::task(const std::string &wanted) const {
  auto make = [&]() -> Expected<Task> {
    if (std::optional<std::string> path = scheduleFilePath(wanted))
      return importedTask(*path);
    Expected<const Generator *> generator = findGenerator(wanted);
    if (!generator)
      return generator.takeError();
    Expected<Placement> placement = choosePlacement(**generator);
    if (!placement)
      return placement.takeError();
    Expected<Task> task =
        makeTask(wanted, std::move(*placement), costs.microbatches);
    if (task)
      task->semantics = (*generator)->semantics;
    return task;
  };
  Expected<Task> task = make();
  if (!task)
    return task;
  if (Status status = setLimits(task->problem); !status)
    return status.takeError();
  task->problem.overlap = overlap.value_or(task->problem.overlap);
  if (Status status = check(task->problem); !status)
    return status.takeError();
  return task;
}

Status Request::fixModel(int chunksPerStage) {
  if (model)
    return Status::success();
  if (static_cast<std::int64_t>(costs.stages) * chunksPerStage >
      Placement::maxChunks)
    return usage(counted(costs.stages, "stage") + " with " +
                 counted(chunksPerStage, "chunk") + " each are more than " +
                 std::to_string(Placement::maxChunks) + " chunks");
  Expected<Model> fixed = modelFor(costs.stages, chunksPerStage);
  if (!fixed)
    return fixed.takeError();
  model = std::move(*fixed);
  return Status::success();
}

Expected<Answer> Request::solve(Task task) const {
  auto begin = std::chrono::steady_clock::now();
  Expected<Schedule> schedule =
      task.imported ? *task.imported
                    : generate(task.name, task.problem, generator);
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - begin;
  if (!schedule)
    return schedule.takeError();
  // What comes from elsewhere is not verified yet.
  if (task.imported)
    if (Status status = verify(task.problem, *schedule); !status)
      return withLeastOfAny(task.problem, status.takeError());
  Expected<Simulation> predicted =
      simulate(task.problem, *schedule, simulation);
  if (!predicted)
    return predicted.takeError();
  Solution solution{task.problem, std::move(*schedule), std::move(*predicted)};
  return Answer{std::move(task), std::move(solution), elapsed.count()};
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
  // An order from a file that has no name of ours is taken for synchronous.
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
