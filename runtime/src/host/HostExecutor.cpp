//===- HostExecutor.cpp - ranks as threads --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostExecutor.h"

#include "Coefficients.h"

#include "veeline/Library/Convolution.h"
#include "veeline/Library/Gemm.h"
#include "veeline/Library/OneThread.h"

#include "veeline/Base/Check.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

using namespace veeline;
using namespace veeline::engine;
using namespace veeline::host;

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

/// With traced tensors and late work, only one step may be in flight: gradients
/// are printed while accumulators have those of the step, before the next step
/// begins.
static int32_t stepsInFlightOf(const artifact::Program &program,
                               const HostOptions &options) {
  return options.traceTensors && program.hasLate() ? 1 : options.stepsInFlight;
}

HostExecutor::HostExecutor(const artifact::Artifact &artifact,
                           const artifact::Program &program,
                           const HostOptions &options)
    : ThreadedProgram(artifact, program, options.network,
                      checksEnabled || options.checkMessages),
      announce(options.announce),
      stepsInFlight(stepsInFlightOf(program, options)) {
  runsLateAtOnce = stepsInFlight == 1;
}

void HostExecutor::abortRanks() {
  for (HostWorker *worker : local)
    for (auto &pieces : worker->rank.reductions)
      for (std::unique_ptr<Reduction> &piece : pieces)
        piece->abort();
  normsKnown.setBits(faultBit);
  judged.setBits(1);
}

Expected<std::unique_ptr<HostExecutor>>
HostExecutor::create(const artifact::Artifact &artifact,
                     const artifact::Program &program,
                     const HostOptions &options) {
  if (artifact.metadata.target != "host" && !program.weighs)
    return Status::error("its target is " + artifact.metadata.target +
                         ", this program runs code for the host; compile the "
                         "model again, for the target host");
  std::unique_ptr<HostExecutor> executor(
      new HostExecutor(artifact, program, options));
  if (Status status = executor->prepare(options); !status.ok())
    return Status::error("program '" + program.name + "': " + status.message());
  return executor;
}

int64_t HostExecutor::maxMessageBytes() const {
  int64_t bytes = 1;
  for (const artifact::Channel &channel : program.channels)
    bytes = std::max(bytes, channel.messageBytes);
  return bytes;
}

Status HostExecutor::prepare(const HostOptions &options) {
  for (size_t i = 0; i < program.channels.size(); ++i)
    addChannel(static_cast<int32_t>(i));
  return meetOthers(prepareLocal(options));
}

/// Adds this process's end of a channel, or null if both ends are in other
/// processes.
void HostExecutor::addChannel(int32_t index) {
  const artifact::Channel &channel = program.channels[index];
  std::unique_ptr<Channel> &end = channels.emplace_back();
  if (!network)
    end = std::make_unique<ThreadChannel>(group, index, channel,
                                          hasSpare(channel));
  else if (leadsElsewhere(channel))
    end = network->connect(group, index, channel);
}

int64_t HostExecutor::spareBytes() const {
  int64_t bytes = 0;
  for (const artifact::Channel &channel : program.channels)
    bytes += hasSpare(channel) ? channel.messageBytes : 0;
  return bytes;
}

Status HostExecutor::prepareLocal(const HostOptions &options) {
  for (int32_t i = 0; i < static_cast<int32_t>(workers.size()); ++i) {
    if (network && i != network->rank())
      continue;
    if (Status status = prepareWorker(i, options); !status.ok())
      return Status::error("rank " + std::to_string(i) + ": " +
                           status.message());
  }
  for (HostWorker *worker : local)
    addReductions(*worker);
  return prepareCalls();
}

/// Adds the reductions of a rank. Called once all arenas of this process exist.
void HostExecutor::addReductions(HostWorker &worker) {
  veeline_rank &rank = worker.rank;
  int32_t stage = program.placeOf(static_cast<size_t>(rank.index)).stage;
  std::vector<int32_t> members = program.ranksOf(stage);
  const std::vector<artifact::Reduction> &table = rank.description->reductions;
  int32_t number = 0;
  for (int32_t i = 0; i < static_cast<int32_t>(table.size()); ++i) {
    auto &pieces = rank.reductions.emplace_back();
    for (int32_t k = 0; k < static_cast<int32_t>(table[i].pieces.size()); ++k) {
      const artifact::ReducedPiece &piece = table[i].pieces[k];
      if (network) {
        pieces.push_back(network->join(group, i, number++, piece, members,
                                       worker.arena.data()));
        continue;
      }
      std::shared_ptr<SharedSum> &sum = sums[{stage, i, k}];
      if (!sum) {
        std::vector<char *> accumulators;
        accumulators.reserve(members.size());
        for (int32_t member : members)
          accumulators.push_back(workers[member]->arena.data() + piece.offset);
        sum = std::make_shared<SharedSum>(group, group.indexOf(i), piece,
                                          std::move(accumulators));
      }
      pieces.push_back(std::make_unique<ThreadReduction>(sum));
    }
  }
}

static std::vector<ParamUpdate> makeUpdates(const artifact::Metadata &metadata,
                                            const HostRank &rank) {
  std::vector<ParamUpdate> updates;
  const std::vector<artifact::RankParam> &params = rank.description->params;
  updates.reserve(params.size());
  for (size_t i = 0; i < params.size(); ++i) {
    updates.push_back(updateOf(metadata, static_cast<size_t>(params[i].param)));
    const HostRank::Share &share = rank.shares[i];
    // The state of a whole parameter has the shape of that.
    if (params[i].shards > 1 &&
        (params[i].owner < 0 || share.elements.count == 0))
      updates.back().share = share.elements;
    if (params[i].scattered) {
      updates.back().ownParts = share.normParts;
      updates.back().squaresOfParts.resize(
          static_cast<size_t>(share.normParts.count));
    }
  }
  return updates;
}

Status HostExecutor::prepareWorker(int32_t index, const HostOptions &options) {
  const artifact::Metadata &metadata = artifact.metadata;
  HostWorker &worker = addWorker(index);
  VEELINE_TRY(worker.arena.allocate(program.ranks[index].arenaBytes));
  VEELINE_TRY(worker.hostArena.allocate(program.ranks[index].hostBytes));
  if (options.poison) {
    worker.arena.poison();
    worker.hostArena.poison();
  }
  VEELINE_TRY(findStep(worker, options.steps));
  if (!options.lateFunctions.empty())
    worker.lateFunctions = options.lateFunctions[index];
  VEELINE_CHECK(worker.hasLate() == program.ranks[index].hasLate(),
                "steps of which some work is late come with what is late");
  describeRank(worker);
  HostRank &rank = worker.rank;
  rank.arena = &worker.arena;
  rank.hostArena = &worker.hostArena;
  rank.discard.resize(static_cast<size_t>(maxMessageBytes()));
  rank.updates = makeUpdates(metadata, rank);
  rank.whenNormsKnown = [this, &worker] {
    setWithNorms(worker, worker.numEnded);
  };
  rank.whenWhole = [this, &worker] { setWhole(worker, worker.numEnded); };
  rank.awaitClip = [this, &worker](Clip &clip) {
    return awaitClip(worker, clip);
  };
  if (options.timelineEvents)
    rank.timeline = std::make_unique<Timeline>(options.timelineEvents);
  if (options.traceTensors)
    rank.trace = std::make_unique<TensorTrace>(rank, metadata);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

static Status prepareCallsOf(HostRank &rank) {
  int64_t workspace = rank.description->updateWorkspace;
  for (ParamUpdate &update : rank.updates)
    VEELINE_TRY(prepare(
        update, workspace < 0 ? nullptr : rank.arena->data() + workspace));
  VEELINE_TRY(library::prepareGemms(rank.description->gemms, rank.gemms));
  return library::prepareConvolutions(rank.description->convolutions,
                                      rank.convolutions);
}

/// The library generates code here, and may run out of memory.
static Status prepareCallsWithin(HostRank &rank) {
  try {
    return prepareCallsOf(rank);
  } catch (const std::bad_alloc &) {
    return Status::error("rank " + std::to_string(rank.index) +
                         ": there is not enough memory to prepare its matrix "
                         "products and convolutions");
  }
}

/// Prepares the calls on the threads that will make them.
Status HostExecutor::prepareCalls() {
  Status status = startThreads();
  waitUntil([&] {
    return std::all_of(
        local.begin(), local.end(), [](const HostWorker *worker) {
          return worker->isPrepared || !worker->thread.joinable();
        });
  });
  for (HostWorker *worker : local)
    if (status.ok() && !worker->prepared.ok())
      status = worker->prepared;
  return status;
}

void HostExecutor::runThread(HostWorker &worker) {
  // Use one OpenMP thread: more would change the bits of matrix products, and
  // take cores from other ranks.
  OneThread oneThread;
  nameThread(worker);
  enter(Activity::loading);
  worker.prepared = prepareCallsWithin(worker.rank);
  enter(Activity::waiting);
  worker.isPrepared = true;
  done.add(1);
  runSteps(worker);
}

void HostExecutor::beginTurn(HostWorker &worker) {
  // From the end of its last step, this rank has been idle.
  if (worker.rank.timeline && worker.stepEnd > 0 && !worker.hasIdleTail)
    worker.rank.timeline->addIdle(worker.stepEnd, nanoseconds());
  worker.hasIdleTail = false;
  enter(Activity::step);
}

void HostExecutor::endTurn(HostWorker &worker, bool isWhole) {
  // The training loop may be waiting for other processes to end an earlier
  // step, and these for messages that a failed rank does not progress any more.
  // So announce the failure.
  if (worker.rank.failed && network)
    network->announce(localStatus().message());
  if (worker.rank.trace && !worker.rank.failed && isWhole)
    printGradients(worker);
  // A message for late work may still be under way.
  if (isWhole || program.asynchronous == artifact::Asynchronous::none)
    checkIdle(worker);
  enter(Activity::waiting);
  worker.stepEnd = nanoseconds();
}

void HostExecutor::runStep(HostWorker &worker) {
  HostRank &rank = worker.rank;
  RankStep &step = worker.inFlight[slotOf(worker)];
  beginTurn(worker);
  bool isFirst = worker.hasLate() && !owesLate(worker);
  (isFirst ? worker.lateFunctions.firstStep : worker.step)(
      &rank, worker.arena.data(), step.inputs.pointers.data());
  if (rank.isVoid && !rank.failed)
    beginAnew(worker);
  // If the next step has begun, the rank progresses its messages there.
  if (!isNextBegun(worker))
    flushChannels(rank);
  for (size_t i = 0; i < rank.updates.size(); ++i)
    rank.noteNorm(i, step.squaredNorms.data());
  if (program.clipSync == artifact::ClipSync::barrier)
    step.clip = rank.clip;
  endTurn(worker, /*isWhole=*/!worker.hasLate());
  if (rank.lateUpdates.empty())
    setWithNorms(worker, worker.numEnded + 1);
  leaveStep(worker);
  rank.isInStep.store(false, std::memory_order_release);
}

/// Called on the rank's thread, in the step after the one that it asks about.
/// Messages of other processes may need progress meanwhile.
bool HostExecutor::awaitClip(HostWorker &worker, Clip &clip) {
  uint32_t number = worker.numEnded.load(std::memory_order_relaxed);
  auto isKnown = [number](uint32_t seen) {
    return static_cast<int32_t>((seen & ~1U) - 2 * number) >= 0;
  };
  // If ranks are threads, this wait is included in the search for deadlocks.
  if (!network && !awaitNorms(worker.rank, number))
    return false;
  worker.rank.await(Group::endOfAll);
  int64_t begin = nanoseconds();
  for (uint32_t seen = judged.load(); !isKnown(seen); seen = judged.load()) {
    if (!fault.status().ok())
      return false;
    worker.rank.progress();
    judged.sleepWhile(seen, network ? 1 : sleepMilliseconds);
  }
  worker.rank.await(-1);
  if (worker.rank.timeline)
    worker.rank.timeline->addIdle(begin, nanoseconds());
  clip = inFlight[(number - 1) % maxInFlight].clip;
  return true;
}

/// Called after a void turn, in which the updates of the step before were
/// repeated.
void HostExecutor::beginAnew(HostWorker &worker) {
  worker.rank.isVoid = false;
  if (worker.rank.timeline)
    worker.rank.timeline->voidTurn();
  setWhole(worker, worker.numEnded);
  worker.lateFunctions.firstStep(
      &worker.rank, worker.arena.data(),
      worker.inFlight[slotOf(worker)].inputs.pointers.data());
}

void HostExecutor::runLate(HostWorker &worker) {
  beginTurn(worker);
  worker.lateFunctions.late(&worker.rank, worker.arena.data(),
                            worker.rank.inputsBefore);
  worker.rank.isVoid = false;
  flushChannels(worker.rank);
  endTurn(worker, /*isWhole=*/true);
}

void HostExecutor::checkIdle(const HostWorker &worker) const {
  const HostRank &rank = worker.rank;
  if (rank.failed || !fault.status().ok())
    return;
  [[maybe_unused]] auto isMine = [&](size_t channel) {
    return program.channels[channel].toRank == rank.index ||
           program.channels[channel].fromRank == rank.index;
  };
  for (size_t i = 0; i < channels.size(); ++i)
    VEELINE_CHECK(!channels[i] || !isMine(i) || channels[i]->isIdle(rank),
                  "a step ended with messages under way");
  for (const auto &pieces : rank.reductions)
    for (const auto &piece : pieces)
      VEELINE_CHECK(piece->isIdle(),
                    "a step ended with gradients of replicas under way");
}

void HostExecutor::printGradients(const HostWorker &worker) {
  worker.rank.trace->printGradients(
      [&](int64_t offset, int64_t) { return worker.arena.data() + offset; },
      [&](size_t i) { return worker.rank.updates[i].squaredGradientNorm; });
}

template <typename Condition> void HostExecutor::waitUntil(Condition isDone) {
  for (uint32_t seen = done.load(); !isDone(); seen = done.load())
    done.sleepWhile(seen, sleepMilliseconds);
}

HostExecutor::~HostExecutor() {
  abandonSteps("the run has ended");
  leaveNetwork();
  releaseThreads();
  joinThreads();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Status HostExecutor::begin(const void *const *newInputs,
                           const StepSettings &newSettings) {
  VEELINE_TRY(checkRunning());
  VEELINE_CHECK(static_cast<int32_t>(numBegun - numFinished) < stepsInFlight,
                "more steps are begun than may be in flight");
  prepareStep(newInputs, newSettings);
  startStep();
  return Status::success();
}

/// Adds the time between the end of each rank's step and that of the last rank
/// as idle. Called while no step is under way.
void HostExecutor::addIdleTails() {
  int64_t last = 0;
  for (HostWorker *worker : local)
    last = std::max(last, worker->stepEnd);
  for (HostWorker *worker : local)
    if (worker->rank.timeline && !std::exchange(worker->hasIdleTail, true) &&
        worker->stepEnd < last)
      worker->rank.timeline->addIdle(worker->stepEnd, last);
}

Pulse HostExecutor::pulse() const {
  const HostWorker &worker = *local.front();
  return pulseOf(worker.rank, worker.thread, worker.threadNumber);
}

void HostExecutor::endSteps() {
  waitUntil([&] {
    return haveEnded(numBegun) && (!runsLateAtOnce || areWhole(numBegun));
  });
  numFinished = numBegun;
  addIdleTails();
}

/// Tells the ranks what clipping requires for a step, once it has ended on all
/// of them.
Status HostExecutor::judge(size_t slot, StepResult &result) {
  VEELINE_TRY(shareResults(slot, result));
  result.clip = inFlight[slot].clip =
      clipOf(inFlight[slot].settings, result.gradientNorm);
  judged.add(2);
  return Status::success();
}

/// Late work of the oldest step runs with the next step or, if none has begun,
/// alone.
void HostExecutor::startLateIfAlone() {
  if (numBegun == numFinished + 1 && !runsLateAtOnce)
    startLate();
}

/// Waits until the norms of the oldest step are known. If updates are late, so
/// are norms.
void HostExecutor::settleNorms() {
  if (haveNorms(numFinished + 1))
    return;
  startLateIfAlone();
  waitUntil([&] { return haveNorms(numFinished + 1); });
}

/// Waits until the late work of the oldest step has run.
void HostExecutor::settleStep() {
  if (!program.hasLate())
    return;
  startLateIfAlone();
  waitUntil([&] { return areWhole(numFinished + 1); });
}

/// Meets all processes. No process may go on, and perhaps end, while ranks of
/// others do not know yet what the norm requires: they would take its end for a
/// fault. Repeated updates need messages, too. If another step is under way, it
/// ends with a meeting of its own.
Status HostExecutor::meetAfterLate() {
  bool isAlone = numBegun == numFinished + 1 || runsLateAtOnce;
  if (!network || !isAlone)
    return Status::success();
  auto all = network->exchange("");
  return all.ok() ? Status::success() : all.status();
}

Status HostExecutor::finish(StepResult &result) {
  if (!isStepUnderWay())
    return fault.status().ok() ? Status::error("no step is under way")
                               : announcedStatus();
  size_t slot = oldestSlot();
  waitUntil([&] { return haveEnded(numFinished + 1); });
  bool isOptimistic = program.clipSync == artifact::ClipSync::optimistic;
  if (isOptimistic)
    settleNorms();
  bool isJudged = isOptimistic && !hasFailed(slot);
  if (isJudged)
    VEELINE_TRY(judge(slot, result));
  settleStep();
  // A fault of the next step does not concern this one.
  bool isLast = numBegun == numFinished + 1;
  if (hasFailed(slot) || (!network && isLast && !fault.status().ok()))
    return stopAfterFault();
  if (isJudged)
    VEELINE_TRY(meetAfterLate());
  if (++numFinished == numBegun)
    addIdleTails();
  return isOptimistic ? Status::success() : shareResults(slot, result);
}

//===----------------------------------------------------------------------===//
// Access to arenas
//===----------------------------------------------------------------------===//

Status HostExecutor::write(int32_t rank, int64_t offset, const void *source,
                           int64_t bytes) {
  // Each process writes only to its own ranks.
  if (isLocal(rank))
    std::memcpy(workers[rank]->arena.data() + offset, source,
                static_cast<size_t>(bytes));
  return Status::success();
}

Status HostExecutor::read(int32_t rank, int64_t offset, void *target,
                          int64_t bytes) {
  std::memcpy(target, workers[rank]->arena.data() + offset,
              static_cast<size_t>(bytes));
  return Status::success();
}

std::vector<std::vector<Event>> HostExecutor::timeline(int32_t steps) const {
  std::vector<std::vector<Event>> ranks;
  for (const HostWorker *worker : local)
    if (worker->rank.timeline)
      ranks.push_back(worker->rank.timeline->lastEvents(steps));
  return ranks;
}
