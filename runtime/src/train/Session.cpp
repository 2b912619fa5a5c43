//===- Session.cpp - a program with parameters and data -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LossWeights.h"

#include "ElementAccess.h"
#include "veeline/Base/Shards.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <sstream>
#include <tuple>

using namespace veeline;
using namespace veeline::train;
using artifact::Parameter;
using artifact::RankParam;

int64_t train::byteSizeOf(const Parameter &param) {
  return artifact::bytesOf(param.type, param.shape);
}

//===----------------------------------------------------------------------===//
// Session: parameters
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<Session>>
Session::create(Run &run, const std::string &programName,
                const SessionOptions &options, int64_t stepsInFlight) {
  std::unique_ptr<Session> session(new Session(run, options));
  VEELINE_TRY_VALUE(session->description, run.findProgram(programName));
  SessionOptions sessionOptions = options;
  sessionOptions.stepsInFlight = static_cast<int32_t>(stepsInFlight);
  if (Status status = session->load(sessionOptions); !status.ok())
    return Status::error("cannot load '" + run.options.artifact +
                         "': " + status.message());
  session->stepsInFlight =
      std::min<int64_t>(stepsInFlight, session->loaded->maxStepsInFlight());
  session->firstMicrobatch =
      session->stepMicrobatches() * session->loaded->firstReplica();
  VEELINE_TRY(session->initialize());
  return session;
}

/// Loads the program on the target for which the artifact is made.
Status Session::load(const SessionOptions &options) {
  if (run.metadata().target == "cuda" && !description->weighs) {
    cuda::CudaOptions cudaOptions = run.options.cuda;
    cudaOptions.network = options.network;
    cudaOptions.loadOthers = options.loadOthers;
    cudaOptions.timelineEvents = options.timelineEvents;
    cudaOptions.poison = options.poison;
    cudaOptions.stepsInFlight = options.stepsInFlight;
    cudaOptions.traceTensors = options.traceTensors;
    cudaOptions.checkMessages = options.checkMessages;
    cudaOptions.timeoutSeconds = run.options.timeoutSeconds;
    cudaOptions.stallSeconds = run.options.stallSeconds;
    cudaOptions.localRank = run.localRank();
    VEELINE_TRY_VALUE(
        std::unique_ptr<cuda::CudaExecutor> created,
        cuda::CudaExecutor::create(run.artifact, *description, cudaOptions));
    onDevice = created.get();
    run.say(created->remark());
    loaded = std::move(created);
    return Status::success();
  }
  VEELINE_TRY_VALUE(
      std::unique_ptr<host::HostExecutor> created,
      host::HostExecutor::create(run.artifact, *description, options));
  onHost = created.get();
  loaded = std::move(created);
  return Status::success();
}

int64_t Session::bytesOf(size_t param) const {
  return byteSizeOf(run.metadata().params[param]);
}

/// Opens the weights of microbatches if steps of this session need them.
Status Session::openLossWeights() {
  if (run.metadata().lossWeight == 0 || description->forwardOnly ||
      run.lossWeights)
    return Status::success();
  VEELINE_TRY_VALUE(run.lossWeights, LossWeights::create(run));
  return Status::success();
}

Status Session::initialize() {
  const artifact::Metadata &metadata = run.metadata();
  VEELINE_TRY(openLossWeights());
  if (!isFed) {
    for (size_t i = 0; i < metadata.params.size(); ++i)
      VEELINE_TRY(setValue(i, run.initialValue(i)));
    VEELINE_TRY(initializeState());
  }
  inputs.resize(static_cast<size_t>(stepsInMemory()));
  for (Inputs &step : inputs) {
    for (size_t i = 0; i < metadata.batches.size(); ++i) {
      step.batches.emplace_back(inputData.batchBytes(i) * numMicrobatches());
      step.pointers.push_back(step.batches.back().data());
    }
    for (size_t i = 0; i < metadata.buffers.size(); ++i) {
      const artifact::Buffer &buffer = metadata.buffers[i];
      if (buffer.lossScale)
        step.lossScale = AlignedBytes(artifact::byteSize(buffer.type));
      step.pointers.push_back(buffer.lossScale ? step.lossScale.data()
                                               : inputData.buffer(i));
    }
    if (metadata.lengths.empty())
      continue;
    step.lengths.resize(static_cast<size_t>(numMicrobatches()));
    step.pointers.push_back(step.lengths.data());
  }
  return Status::success();
}

int64_t Session::batchBytes() const {
  int64_t bytes = 0;
  for (size_t i = 0; i < run.metadata().batches.size(); ++i)
    bytes += stepsInMemory() * inputData.batchBytes(i) * numMicrobatches();
  return bytes;
}

int64_t Session::bufferBytes() const {
  int64_t bytes = 0;
  for (const artifact::Buffer &buffer : run.metadata().buffers)
    bytes += artifact::bytesOf(buffer.type, buffer.shape);
  return bytes;
}

Status Session::setValue(size_t index, const std::vector<char> &bytes) {
  for (size_t rank = 0; rank < description->ranks.size(); ++rank)
    for (const RankParam &entry : description->ranks[rank].params)
      if (static_cast<size_t>(entry.param) == index) {
        std::vector<int64_t> places = entry.versionOffsets;
        places.push_back(entry.valueOffset);
        for (int64_t place : places)
          VEELINE_TRY(loaded->write(static_cast<int32_t>(rank), place,
                                    bytes.data(),
                                    static_cast<int64_t>(bytes.size())));
      }
  return Status::success();
}

Status Session::copyParameters(const Session &other) {
  const std::vector<artifact::Rank> &theirs = other.description->ranks;
  std::vector<char> bytes;
  for (size_t i = 0; i < description->ranks.size(); ++i) {
    auto rank = static_cast<int32_t>(i);
    if (!loaded->isLocal(rank))
      continue;
    for (const RankParam &entry : description->ranks[i].params) {
      auto found = i < theirs.size()
                       ? std::ranges::find(theirs[i].params, entry.param,
                                           &RankParam::param)
                       : std::vector<RankParam>::const_iterator();
      if (i >= theirs.size() || found == theirs[i].params.end())
        return Status::error("rank " + std::to_string(i) + " of program '" +
                             other.description->name +
                             "' does not have the parameters of that rank of "
                             "program '" +
                             description->name + "'");
      bytes.resize(
          static_cast<size_t>(bytesOf(static_cast<size_t>(entry.param))));
      auto size = static_cast<int64_t>(bytes.size());
      VEELINE_TRY(
          other.loaded->read(rank, found->valueOffset, bytes.data(), size));
      VEELINE_TRY(loaded->write(rank, entry.valueOffset, bytes.data(), size));
    }
  }
  return Status::success();
}

void Session::copyFromArena(int32_t rank, int64_t offset,
                            std::vector<char> &bytes) const {
  copyFromArena(rank, offset, bytes.data(), static_cast<int64_t>(bytes.size()));
}

void Session::copyFromArena(int32_t rank, int64_t offset, char *target,
                            int64_t bytes) const {
  Status status = loaded->read(rank, offset, target, bytes);
  if (readFailure.ok())
    readFailure = status;
}

/// The ranks that update the parameter, in the order of Program::ranksOf.
std::vector<int32_t> Session::homesOf(size_t param) const {
  for (int32_t stage = 0; stage < description->stages; ++stage) {
    std::vector<int32_t> ranks = description->ranksOf(stage);
    for (const RankParam &entry :
         description->ranks[static_cast<size_t>(ranks[0])].params)
      if (static_cast<size_t>(entry.param) == param && entry.isHome)
        return ranks;
  }
  return {};
}

std::vector<char> Session::value(size_t index, size_t copy) const {
  std::vector<char> bytes(static_cast<size_t>(bytesOf(index)));
  std::vector<int32_t> homes = homesOf(index);
  if (copy >= homes.size() || !loaded->isLocal(homes[copy]))
    return bytes;
  for (const RankParam &entry :
       description->ranks[static_cast<size_t>(homes[copy])].params)
    if (static_cast<size_t>(entry.param) == index && entry.isHome)
      copyFromArena(homes[copy], entry.valueOffset, bytes);
  return bytes;
}

std::vector<Session::Gradient>
Session::collectGradients(bool ofAllRanks) const {
  std::vector<Gradient> all;
  for (int32_t stage = 0; stage < description->stages; ++stage) {
    std::vector<int32_t> ranks = description->ranksOf(stage);
    ranks.resize(ofAllRanks ? ranks.size() : 1);
    for (int32_t rank : ranks)
      for (const RankParam &entry :
           description->ranks[static_cast<size_t>(rank)].params)
        for (const artifact::Accumulator &gradient : entry.gradients)
          all.push_back({static_cast<size_t>(entry.param), gradient.chunk, rank,
                         gradient.offset});
  }
  std::sort(all.begin(), all.end(), [](const Gradient &a, const Gradient &b) {
    return std::tuple(a.param, a.chunk, a.rank) <
           std::tuple(b.param, b.chunk, b.rank);
  });
  return all;
}

std::vector<char> Session::read(const Gradient &gradient) const {
  std::vector<char> bytes(static_cast<size_t>(bytesOf(gradient.param)));
  if (const RankParam &entry = entryOf(gradient); !entry.scattered)
    copyFromArena(gradient.rank, gradient.offset, bytes);
  else
    readShares(gradient, entry, bytes);
  return bytes;
}

const RankParam &Session::entryOf(const Gradient &gradient) const {
  const std::vector<RankParam> &params =
      description->ranks[static_cast<size_t>(gradient.rank)].params;
  return *std::find_if(params.begin(), params.end(), [&](const RankParam &one) {
    return static_cast<size_t>(one.param) == gradient.param;
  });
}

/// Reads the shares of a gradient, each from a rank of the stage that has it.
void Session::readShares(const Gradient &gradient, const RankParam &entry,
                         std::vector<char> &bytes) const {
  const Parameter &param = run.metadata().params[gradient.param];
  int64_t elements = artifact::numElements(param.shape);
  int64_t size = artifact::byteSize(param.type);
  auto rank = static_cast<size_t>(gradient.rank);
  std::vector<int32_t> members =
      description->ranksOf(description->placeOf(rank).stage);
  auto copyFrom = [&](int32_t k) {
    Shard share = entry.division(elements).reduced(k);
    copyFromArena(members[static_cast<size_t>(k)],
                  gradient.offset + share.first * size,
                  bytes.data() + share.first * size, share.count * size);
  };
  for (int32_t k = 0; k < entry.shards; ++k)
    copyFrom(k);
  copyFrom(description->memberOf(rank));
}

/// Writes the value to `bytes` in the first process; the other processes send
/// theirs.
Status Session::gatherValue(size_t param, char *bytes) const {
  std::vector<int32_t> homes = homesOf(param);
  int32_t home = homes.empty() ? -1 : homes[0];
  std::string mine;
  if (home < 0 || loaded->isLocal(home)) {
    std::vector<char> content = value(param);
    VEELINE_TRY(readStatus());
    mine.assign(content.begin(), content.end());
  }
  if (run.network) {
    VEELINE_TRY_VALUE(auto all, run.network->gather(std::move(mine)));
    if (!run.isFirst())
      return Status::success();
    mine = std::move(all[static_cast<size_t>(std::max(home, 0))]);
  }
  std::copy(mine.begin(), mine.end(), bytes);
  return Status::success();
}

/// Calls `visit` with each microbatch of the step that a rank runs, and with
/// its place in the rank's arena. Does nothing if the rank does not have the
/// result.
void Session::forEachOutput(
    size_t rank, size_t result,
    const std::function<void(int64_t microbatch, int64_t offset)> &visit)
    const {
  for (const artifact::Output &output : description->ranks[rank].outputs) {
    if (static_cast<size_t>(output.result) != result)
      continue;
    artifact::Program::Place place = description->placeOf(rank);
    int64_t bytes = bytesOfOutput(result);
    for (int64_t k = place.member; k < stepMicrobatches();
         k += description->widthOf(place.stage))
      visit(place.replica * stepMicrobatches() + k, output.offset + k * bytes);
  }
}

int64_t Session::bytesOfOutput(size_t result) const {
  const artifact::Result &output = run.metadata().results[result];
  return artifact::bytesOf(output.type, output.shape);
}

Status Session::gatherOutput(size_t result, char *bytes) const {
  int64_t size = bytesOfOutput(result);
  std::string mine;
  Status status = Status::success();
  for (size_t rank = 0; rank < description->ranks.size(); ++rank)
    if (loaded->isLocal(static_cast<int32_t>(rank)))
      forEachOutput(rank, result, [&](int64_t microbatch, int64_t offset) {
        // Of several processes, only the first one has memory for the whole.
        char *place = nullptr;
        if (run.network) {
          mine.resize(mine.size() + static_cast<size_t>(size));
          place = mine.data() + mine.size() - size;
        } else {
          place = bytes + microbatch * size;
        }
        if (status.ok())
          status =
              loaded->read(static_cast<int32_t>(rank), offset, place, size);
      });
  VEELINE_TRY(status);
  if (!run.network)
    return Status::success();
  VEELINE_TRY_VALUE(auto all, run.network->gather(std::move(mine)));
  for (size_t rank = 0; run.isFirst() && rank < all.size(); ++rank) {
    const char *next = all[rank].data();
    forEachOutput(rank, result, [&](int64_t microbatch, int64_t) {
      std::copy_n(next, size, bytes + microbatch * size);
      next += size;
    });
  }
  return Status::success();
}

Status Session::save(const std::string &path, int64_t steps) const {
  if (!run.isFirst()) {
    for (size_t i = 0; i < run.metadata().params.size(); ++i)
      VEELINE_TRY(gatherValue(i, nullptr));
    return Status::success();
  }
  std::vector<data::SafeTensorsEntry> entries;
  for (const Parameter &param : run.metadata().params)
    entries.push_back({param.name, param.type, param.shape});
  return data::writeSafeTensors(
      path, entries, data::notesOfParameters(run.metadata().model, steps),
      [&](size_t i, char *bytes) { return gatherValue(i, bytes); });
}

Expected<std::vector<std::vector<engine::Event>>>
Session::timeline(int32_t steps) const {
  std::vector<std::vector<engine::Event>> ranks = loaded->timeline(steps);
  if (!run.network)
    return ranks;
  static_assert(std::is_trivially_copyable_v<engine::Event>);
  const std::vector<engine::Event> &own = ranks.front();
  VEELINE_TRY_VALUE(auto all, run.network->gather(std::string(
                                  reinterpret_cast<const char *>(own.data()),
                                  own.size() * sizeof(engine::Event))));
  ranks.clear();
  for (const std::string &bytes : all) {
    std::vector<engine::Event> &events =
        ranks.emplace_back(bytes.size() / sizeof(engine::Event));
    std::memcpy(events.data(), bytes.data(),
                events.size() * sizeof(engine::Event));
  }
  return ranks;
}

/// The numbers about its GPU that a process sends to the first one.
static std::array<int64_t *, 12> numbersOf(cuda::DeviceUse &use) {
  return {&use.context,   &use.arenas,     &use.code,   &use.libraries,
          &use.messages,  &use.graphs,     &use.rest,   &use.most,
          &use.highWater, &use.strayLines, &use.pinned, &use.offloaded};
}

Expected<std::vector<cuda::DeviceUse>> Session::deviceMemory() const {
  std::vector<cuda::DeviceUse> ranks(description->ranks.size());
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    if (loaded->isLocal(static_cast<int32_t>(rank))) {
      VEELINE_TRY_VALUE(ranks[rank],
                        onDevice->memoryOf(static_cast<int32_t>(rank)));
    }
  if (!run.network)
    return ranks;
  cuda::DeviceUse &own = ranks[static_cast<size_t>(run.network->rank())];
  std::string text;
  for (const int64_t *number : numbersOf(own))
    text += std::to_string(*number) + " ";
  VEELINE_TRY_VALUE(auto all, run.network->gather(text + own.device));
  for (size_t rank = 0; rank < all.size(); ++rank) {
    std::istringstream reader(all[rank]);
    cuda::DeviceUse &use = ranks[rank];
    for (int64_t *number : numbersOf(use))
      reader >> *number;
    use.firstRank = static_cast<int32_t>(rank);
    std::getline(reader >> std::ws, use.device);
  }
  return ranks;
}

Status Session::writeFlightRecord(const std::string &prefix,
                                  const std::string &failure) const {
  std::vector<std::vector<engine::Event>> events =
      loaded->timeline(flightSteps);
  Status first = Status::success();
  for (int32_t rank = 0, next = 0; next < static_cast<int32_t>(events.size());
       ++rank) {
    if (!loaded->isLocal(rank))
      continue;
    // The lanes of a trace are ranks. Those of other ranks stay empty.
    std::vector<std::vector<engine::Event>> lanes(description->ranks.size());
    lanes[rank] = events[next++];
    std::string text = engine::toText(*description, rank, lanes[rank]);
    if (std::string place = loaded->stoppedAt(rank); !place.empty())
      text += place + "\n";
    text += failure + "\n";
    std::string name = flightRecordName(prefix, rank);
    for (const Status &status :
         {writeFileAtomically(name + ".txt", text),
          writeFileAtomically(
              name + ".trace.json",
              engine::toChromeTrace(run.metadata(), *description, lanes))})
      if (first.ok() && !status.ok())
        first = status;
  }
  return first;
}

//===----------------------------------------------------------------------===//
// Session: steps
//===----------------------------------------------------------------------===//

/// If the program only runs forwards, losses are not weighted.
Status Session::fillLossWeights(int64_t step, const artifact::Batch &batch,
                                char *target) {
  std::span<const double> weights;
  if (!description->forwardOnly) {
    VEELINE_TRY_VALUE(weights, run.lossWeights->ofStep(step));
  }
  for (int64_t i = 0; i < numMicrobatches(); ++i) {
    double weight =
        weights.empty() ? 1 : weights[static_cast<size_t>(firstMicrobatch + i)];
    if (batch.type == artifact::DataType::f64)
      artifact::storeElement<double>(target, static_cast<size_t>(i), weight);
    else
      artifact::storeElement<float>(target, static_cast<size_t>(i),
                                    static_cast<float>(weight));
  }
  return Status::success();
}

Status Session::prepareInputs(int64_t step) {
  Inputs &target = inputsOf(step);
  preparedStep = 0;
  for (size_t i = 0; i < target.batches.size(); ++i) {
    const artifact::Batch &batch = run.metadata().batches[i];
    char *place = target.batches[i].data();
    if (batch.lossWeight)
      VEELINE_TRY(fillLossWeights(step, batch, place));
    else
      VEELINE_TRY(
          inputData.fill(i, step, firstMicrobatch, numMicrobatches(), place));
  }
  if (!target.lengths.empty())
    inputData.fillLengths(step, firstMicrobatch, numMicrobatches(),
                          target.lengths.data());
  preparedStep = step;
  return Status::success();
}

void Session::setFirstMicrobatch(int64_t first) {
  firstMicrobatch = first;
  preparedStep = 0;
}

/// Writes `scale` to the buffer by which the loss is multiplied.
void Session::writeLossScale(double scale, Inputs &target) const {
  for (const artifact::Buffer &buffer : run.metadata().buffers) {
    if (!buffer.lossScale)
      continue;
    char *place = target.lossScale.data();
    if (buffer.type == artifact::DataType::f64)
      artifact::storeElement<double>(place, 0, scale);
    else
      artifact::storeElement<float>(place, 0, static_cast<float>(scale));
  }
}

Status Session::begin(int64_t step, const StepSettings &settings) {
  if (preparedStep != step) {
    readAhead(step);
    VEELINE_TRY(prepareInputs(step));
  }
  writeLossScale(settings.lossScale, inputsOf(step));
  VEELINE_TRY(loaded->begin(inputsOf(step).pointers.data(), settings));
  ++numUnderWay;
  if (step < numSteps && !inputData.isFed())
    readNext(step + 1);
  return Status::success();
}

/// Asks the system to read the data of a step and of the next ones. Each
/// evaluation begins again with step 1.
void Session::readAhead(int64_t step) {
  readAheadUntil = std::clamp(readAheadUntil, step - 1, step + stepsReadAhead);
  while (readAheadUntil < std::min(step + stepsReadAhead, numSteps))
    inputData.readAhead(++readAheadUntil, firstMicrobatch, numMicrobatches());
}

/// Reads the data of a step while other steps run. If this fails, it is
/// repeated when the step begins.
void Session::readNext(int64_t step) {
  int64_t begin = nanoseconds();
  readAhead(step);
  (void)prepareInputs(step);
  // Otherwise the next step could not have begun earlier.
  if (numUnderWay < stepsInFlight || loaded->mayHaveEnded())
    waitedForData += nanoseconds() - begin;
}

Status Session::finish(StepResult &result) {
  --numUnderWay;
  return loaded->finish(result);
}

Status Session::step(int64_t step, const StepSettings &settings,
                     StepResult &result) {
  VEELINE_TRY(begin(step, settings));
  return finish(result);
}

Status train::writeTimeline(const Run &run, const Session &session) {
  auto events = session.timeline(run.options.timelineSteps);
  if (!events.ok() || !run.isFirst())
    return events.ok() ? Status::success() : events.status();
  return writeFileAtomically(run.options.timeline,
                             engine::timelineFor(run.options.timeline,
                                                 run.metadata(),
                                                 session.program(), *events));
}
