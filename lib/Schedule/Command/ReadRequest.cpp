//===- ReadRequest.cpp - the options of a request -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Request.h"
#include "veeline/Base/Numbers.h"

#include <algorithm>

using namespace veeline;
using namespace veeline::schedule;

namespace {
/// What the values of an option are, and their range.
struct Range {
  const char *what;
  double least, most;
};
} // namespace

static constexpr Range times{"times", 0, maxTime};
static constexpr Range activations{"activation units", -1e9, 1e9};

/// Parses the value of an option if it was given.
template <typename T>
static Status parseInto(const std::string &text, const std::string &option,
                        const Range &range, T &values) {
  if (text.empty())
    return Status::success();
  Expected<OpValues> parsed = parseOpValues(text);
  if (!parsed)
    return usage(option + ": " + parsed.error().message);
  for (double value : {parsed->forward, parsed->backwardInput,
                       parsed->backwardWeight, parsed->recompute.value_or(0)})
    if (value < range.least || value > range.most)
      return usage(option + ": expected " + range.what + " from " +
                   exactNumber(range.least) + " to " + exactNumber(range.most) +
                   ", found " + exactNumber(value));
  values = *parsed;
  return Status::success();
}

/// Parses a number of bytes if the option was given.
static Status parseInto(const std::string &text, const char *option,
                        std::optional<std::int64_t> &bytes) {
  if (text.empty())
    return Status::success();
  Expected<std::int64_t> parsed = parseBytes(text);
  if (!parsed)
    return usage(std::string(option) + ": " + parsed.error().message);
  // With this limit, the sum over all messages of a step does not overflow.
  constexpr std::int64_t most = std::int64_t(1) << 36;
  if (*parsed > most)
    return usage(std::string(option) + ": expected at most 64GiB, found '" +
                 text + "'");
  bytes = *parsed;
  return Status::success();
}

Status Request::readNames(const CommandOptions &options) {
  if (options.compare.empty()) {
    if (!options.schedule.empty())
      wanted = {options.schedule};
    if (wanted.empty())
      return usage("--schedule is missing; known schedules are " +
                   knownSchedules() + ", and file:PATH");
    wanted.insert(wanted.end(), options.against.begin(), options.against.end());
    for (const std::string &name : wanted)
      if (!scheduleFilePath(name) &&
          (name == "all" || name.find(',') != name.npos))
        return usage("expected one schedule, found '" + name +
                     "'; several go with --compare");
    return checkOptions(options, wanted);
  }
  Expected<std::vector<std::string>> names = comparedNames(options.compare);
  if (!names)
    return names.takeError();
  wanted = std::move(*names);
  return checkOptions(options, wanted);
}

Status Request::readSizes(const CommandOptions &options) {
  bool isFile = options.compare.empty() && scheduleFilePath(wanted.front());
  hasStages = hasStages || options.stages;
  hasMicrobatches = hasMicrobatches || options.microbatches;
  if (!hasStages && !isFile)
    return usage("--stages is missing");
  if (!hasMicrobatches && !isFile)
    return usage("--microbatches is missing");
  costs.stages = options.stages.value_or(costs.stages);
  costs.microbatches = options.microbatches.value_or(costs.microbatches);
  costs.chunksPerStage = options.chunksPerStage;
  given = options.given;
  if (!options.placement.empty()) {
    if (isFile)
      return usage("--placement is for schedules by name; '" + wanted.front() +
                   "' says itself where its chunks are");
    Expected<PlacementKind> kind = parsePlacementKind(options.placement);
    if (!kind)
      return usage("--placement: " + kind.error().message);
    placementKind = *kind;
  }
  return Status::success();
}

Status Request::readCosts(const CommandOptions &options) {
  for (Status status :
       {parseInto(options.cost, "--cost", times, costs.cost),
        parseInto(options.chunkCost, "--chunk-cost", times, costs.chunkCost),
        parseInto(options.activation, "--activation", activations,
                  costs.activation),
        parseInto(options.messageBytes, "--message-bytes", messageBytes)})
    if (!status)
      return status;
  if (!options.transfer.empty()) {
    Expected<std::vector<EdgeTransfer>> parsed =
        parseTransfers(options.transfer);
    if (!parsed)
      return parsed.takeError();
    transfers = std::move(*parsed);
  }
  hasTimes = !options.cost.empty() || !options.chunkCost.empty() ||
             !options.costFile.empty();
  hasCosts =
      hasTimes || !options.activation.empty() || !options.transfer.empty();
  return readLayers(options);
}

/// The input of a stage is a message.
Status Request::readLayers(const CommandOptions &options) {
  if (!options.layers && options.layerBytes.empty())
    return Status::success();
  if (!options.layers || options.layerBytes.empty() || !messageBytes)
    return usage("--layers, --layer-bytes and --message-bytes go together");
  std::optional<std::int64_t> bytes;
  if (Status status = parseInto(options.layerBytes, "--layer-bytes", bytes);
      !status)
    return status;
  layers = {*options.layers, static_cast<double>(*bytes),
            static_cast<double>(*messageBytes)};
  return Status::success();
}

/// Only costs are taken from an artifact, because its offloads were made for
/// its own limits.
static std::string offloadsLeftOut(const std::string &path,
                                   const CompiledModel &compiled) {
  return "'" + path + "' offloads activations, and this is without; --offload" +
         (compiled.offload.empty() ? ", with the bandwidth of copies,"
                                   : " " + compiled.offload) +
         " plans that here, too";
}

Status Request::readModel(const CommandOptions &options) {
  if (options.from.empty())
    return Status::success();
  Expected<CompiledModel> compiled = readCompiledModel(options.from);
  if (!compiled) {
    isFileWrong = true;
    return compiled.takeError();
  }
  if (compiled->isOffloading && options.offload.empty())
    warnings.push_back(offloadsLeftOut(options.from, *compiled));
  wanted = {compiled->schedule};
  costs.stages = compiled->stages;
  costs.microbatches = compiled->microbatches;
  hasStages = hasMicrobatches = true;
  model = std::move(compiled->model);
  compiledStages = std::move(compiled->stageOfChunk);
  widths = std::move(compiled->widths);
  return Status::success();
}

Status Request::readOrders(const CommandOptions & /*options*/) {
  for (const std::string &name : wanted) {
    std::optional<std::string> path = scheduleFilePath(name);
    if (!path || orders.contains(*path))
      continue;
    Expected<ImportedSchedule> order = readScheduleFile(*path);
    if (!order) {
      isFileWrong = true;
      return order.takeError();
    }
    orders[*path] = std::make_shared<const ImportedSchedule>(std::move(*order));
  }
  return Status::success();
}

Expected<Request> Request::get(const CommandOptions &options, ExitCode &code) {
  Request request;
  request.memoryLimit = options.memoryLimit;
  request.overlap = options.overlap;
  request.offload = options.offload;
  request.offloadShare = options.offloadShare;
  request.generator = {*parseObjective(options.objective),
                       options.overlapBlocks, options.timeBudget, options.seed};
  request.generator.offload = !options.offload.empty();
  request.simulation = {options.transfers == "rendezvous"
                            ? Transfers::Rendezvous
                            : Transfers::Buffered,
                        options.contention};
  request.generator.simulation = request.simulation;
  for (auto read :
       {&Request::readModel, &Request::readNames, &Request::readSizes,
        &Request::readWidths, &Request::readCosts, &Request::readOrders,
        &Request::readChunks})
    if (Status status = (request.*read)(options); !status) {
      code = request.isFileWrong ? ExitFailure : ExitUsage;
      return status.takeError();
    }
  if (!options.has("--objective") && request.isOfLoops() &&
      request.simulation == SimulationOptions())
    request.generator.objective = Objective::Period;
  return request;
}

bool Request::isOfLoops() const {
  return std::all_of(wanted.begin(), wanted.end(), [](const std::string &name) {
    Expected<const Generator *> known = findGenerator(name);
    return known && (*known)->slips;
  });
}

Status Request::readChunks(const CommandOptions &options) {
  if (options.costFile.empty())
    return Status::success();
  // Without --stages, there is an order from a file (readSizes).
  if (!hasStages)
    costs.stages =
        orders.at(*scheduleFilePath(wanted.front()))->placement.stages();
  Expected<CostFile> file = readCostFile(options.costFile, costs);
  if (!file) {
    isFileWrong = true;
    return file.takeError();
  }
  if (file->hasAllMemory && !options.activation.empty())
    return usage("--activation is for lines that do not say their memory; all "
                 "of '" +
                 options.costFile + "' do");
  model = std::move(file->model);
  return setTransfers(*model, transfers);
}
