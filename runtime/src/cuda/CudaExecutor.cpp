//===- CudaExecutor.cpp - ranks on GPUs -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaExecutor.h"

#include "Rehearsal.h"

#include "veeline/Base/Check.h"

#include <algorithm>
#include <cmath>

using namespace veeline;
using namespace veeline::cuda;

// GCC 12 wrongly warns that a destroying delete matches no new.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

/// The time that NCCL may take to close idle communicators, and that threads
/// may take to notice that their step has ended.
static constexpr double leaveSeconds = 2;

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

CudaExecutor::CudaExecutor(const artifact::Artifact &artifact,
                           const artifact::Program &program,
                           const CudaOptions &options)
    : ThreadedProgram(artifact, program, options.network,
                      checksEnabled || options.checkMessages),
      watch(group, fault, options.stallSeconds, options.timeoutSeconds),
      stepsInFlight(
          options.poison || options.traceTensors ? 1 : options.stepsInFlight) {}

void CudaExecutor::abortRanks() {
  for (std::unique_ptr<DeviceChannel> &channel : deviceChannels)
    if (channel)
      channel->abort();
  for (CudaWorker *worker : local)
    worker->rank.abort();
}

Expected<std::unique_ptr<CudaExecutor>>
CudaExecutor::create(const artifact::Artifact &artifact,
                     const artifact::Program &program,
                     const CudaOptions &options) {
  if (artifact.metadata.target != "cuda")
    return Status::error("its target is " + artifact.metadata.target +
                         ", and this is for cuda; compile the model again");
  std::unique_ptr<CudaExecutor> executor(
      new CudaExecutor(artifact, program, options));
  if (Status status = executor->prepare(options); !status.ok())
    return Status::error("program '" + program.name + "': " + status.message());
  return executor;
}

Status CudaExecutor::prepare(const CudaOptions &options) {
  Status status = meetOthers(prepareLocal(options));
  isBetweenSteps = status.ok();
  return status;
}

Status CudaExecutor::prepareLocal(const CudaOptions &options) {
  VEELINE_TRY(loadLibraries(options));
  VEELINE_TRY(openDevices(options));
  for (const auto &[ordinal, entry] : devices)
    VEELINE_TRY(allocateArenas(entry));
  VEELINE_TRY(addChannels());
  for (CudaWorker *worker : local) {
    Status status = findStep(*worker, options.steps);
    if (!options.lateFunctions.empty())
      worker->lateFunctions = options.lateFunctions[worker->rank.index];
    if (status.ok())
      status = prepareRank(*worker, options);
    if (status.ok() && network)
      VEELINE_TRY(
          rehearse(worker->rank, {worker->step, worker->lateFunctions.firstStep,
                                  worker->lateFunctions.late}));
    if (status.ok() && network && options.loadOthers)
      VEELINE_TRY(options.loadOthers());
    if (status.ok() && network)
      status = connect(options);
    if (!status.ok())
      return Status::error("rank " + std::to_string(worker->rank.index) + ": " +
                           status.message());
  }
  noteMissing();
  if (!network)
    VEELINE_TRY(addReductions());
  isCapturable = canBeCaptured(options);
  isMeasured = options.poison;
  for (auto &[ordinal, entry] : devices)
    if (isMeasured)
      entry.device->book().open(network ? MemoryBook::messages
                                        : MemoryBook::rest);
  return startThreads();
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

void CudaExecutor::runThread(CudaWorker &worker) {
  nameThread(worker);
  worker.current = worker.device->makeCurrent();
  runSteps(worker);
}

void CudaExecutor::runStep(CudaWorker &worker) {
  CudaRank &rank = worker.rank;
  rank.inputsBefore = rank.inputPlacesBefore();
  if (rank.require(worker.current)) {
    if (mode == Mode::capture)
      functionOf(worker)(&rank, rank.memory().data(), rank.inputPlaces());
    else
      issueStep(worker);
  }
  uint32_t number = worker.numEnded;
  flushChannels(rank);
  leaveStep(worker);
  if (mode != Mode::eager)
    return;
  reachSteps(worker, number);
  settleSteps(worker, number);
  if (!reachStep(worker, [&] { return isNextBegun(worker); }))
    return;
  // The late work of the step has not been issued.
  if (!worker.hasLate())
    settleSteps(worker, number + 1);
  rank.isInStep.store(false, std::memory_order_release);
}

/// The function of the step that the rank runs now: the first one has no late
/// work of a step before it.
veeline_step_fn CudaExecutor::functionOf(const CudaWorker &worker) {
  bool isFirst = worker.hasLate() && !owesLate(worker);
  return isFirst ? worker.lateFunctions.firstStep : worker.step;
}

void CudaExecutor::issueStep(CudaWorker &worker) {
  CudaRank &rank = worker.rank;
  size_t slot = slotOf(worker);
  if (rank.require(beginStep(worker, slot, /*isReplayed=*/false)))
    functionOf(worker)(&rank, rank.memory().data(), rank.inputPlaces());
  if (!rank.failed && rank.require(rank.endStep()))
    (void)rank.require(rank.readBack(slot));
}

void CudaExecutor::runLate(CudaWorker &worker) {
  CudaRank &rank = worker.rank;
  rank.inputsBefore = rank.inputPlacesBefore();
  uint32_t number = worker.numEnded;
  // Marks of a graph that is still running would be taken for those of the late
  // work.
  if (mode != Mode::eager)
    reachSteps(worker, number);
  if (rank.require(rank.beginLate()))
    worker.lateFunctions.late(&rank, rank.memory().data(),
                              rank.inputPlacesBefore());
  bool isOver =
      !rank.failed && rank.require(rank.endStep()) && rank.awaitIssued();
  reachSteps(worker, number);
  if (!isOver)
    worker.inFlight[(number - 1) % engine::maxInFlight].failed = true;
  settleStep(worker, /*isLateOver=*/true);
}

void CudaExecutor::reachSteps(CudaWorker &worker, uint32_t count) {
  while (static_cast<int32_t>(worker.numReached - count) < 0)
    (void)reachStep(worker);
}

void CudaExecutor::settleSteps(CudaWorker &worker, uint32_t count) {
  while (static_cast<int32_t>(worker.numSettled - count) < 0)
    settleStep(worker, /*isLateOver=*/!worker.hasLate());
}

/// Waits until the device has run the next step of the rank, except its late
/// work. Returns false if `isEnough` returned true before.
bool CudaExecutor::reachStep(CudaWorker &worker,
                             const std::function<bool()> &isEnough) {
  CudaRank &rank = worker.rank;
  uint32_t number = worker.numReached;
  size_t slot = number % engine::maxInFlight;
  engine::RankStep &step = worker.inFlight[slot];
  // After a failed step, no step is whole.
  step.failed = step.failed || worker.hasFailedStep;
  engine::StepInFlight &all = inFlight[slot];
  // The rank may have issued the next step. A fault belongs to this step.
  int64_t issued = rank.step;
  if (!step.failed) {
    Expected<bool> isOver = rank.awaitStep(slot, isEnough);
    if (isOver.ok() && !*isOver)
      return false;
    rank.step = all.settings.step;
    step.failed = !rank.require(isOver.status());
  }
  if (!step.failed) {
    auto replica = program.placeOf(static_cast<size_t>(rank.index)).replica;
    rank.readReports(slot, all.settings,
                     all.results.data() + replica * rank.microbatches);
    for (size_t i = 0; i < rank.shares.size(); ++i)
      rank.readNorms(slot, i, &step.squaredNorms[rank.normPlaces[i]]);
    if (program.clipSync == artifact::ClipSync::barrier)
      step.clip = rank.takeClip(slot);
    bool hadFailed = rank.failed;
    rank.inspectStep(slot);
    step.failed = rank.failed && !hadFailed;
  }
  if (!step.failed)
    rank.step = issued;
  // Operations that were issued read memory that others may write.
  if (step.failed)
    rank.drain();
  worker.hasFailedStep = step.failed;
  worker.numReached.store(number + 1);
  done.add(1);
  return true;
}

/// Waits for the late work of the oldest step that is not settled, which runs
/// in the step after it. Does not wait if `isLateOver`, for example because
/// nothing is late.
void CudaExecutor::settleStep(CudaWorker &worker, bool isLateOver) {
  CudaRank &rank = worker.rank;
  uint32_t number = worker.numSettled;
  engine::RankStep &step = worker.inFlight[number % engine::maxInFlight];
  size_t next = (number + 1) % engine::maxInFlight;
  if (!step.failed && !isLateOver) {
    const StepSettings &settings = inFlight[next].settings;
    // After a fault, operations issued for the next step may still have run the
    // late work; not after messages are given up.
    if (worker.inFlight[next].failed && !network)
      rank.drain();
    int64_t issued = rank.step;
    if (!worker.inFlight[next].failed) {
      Status isOver = rank.awaitLate(next, settings);
      rank.step = inFlight[number % engine::maxInFlight].settings.step;
      step.failed = !rank.require(isOver);
    } else {
      step.failed = !rank.isLateOver(settings);
    }
    if (!step.failed)
      rank.step = issued;
  }
  if (!step.failed) {
    // The updates of all other microbatches were in time.
    bool isStashed = program.asynchronous == artifact::Asynchronous::stashed;
    for (size_t i : rank.lateUpdates) {
      double *numbers = &step.squaredNorms[rank.normPlaces[i]];
      double inTime = isStashed ? *numbers : 0;
      rank.readLateNorms(i, numbers);
      *numbers += inTime;
    }
    rank.inspectGradients(step.squaredNorms);
  } else if (!worker.hasFailedStep) {
    rank.drain();
  }
  worker.hasFailedStep = worker.hasFailedStep || step.failed;
  worker.numSettled.store(number + 1);
  done.add(1);
}

/// Passes over a step after a fault. What was issued before the fault may still
/// have run, unless late work is left.
void CudaExecutor::passOver(CudaWorker &worker, uint32_t count) {
  if (worker.hasLate())
    worker.inFlight[count % engine::maxInFlight].failed =
        worker.inFlight[count % engine::maxInFlight].failed ||
        worker.numSettled == count - 2;
  reachSteps(worker, count);
  while (static_cast<int32_t>(worker.numSettled - count) < 0)
    settleStep(worker, /*isLateOver=*/true);
  worker.rank.isInStep.store(false, std::memory_order_release);
}

Status CudaExecutor::beginStep(CudaWorker &worker, size_t slot,
                               bool isReplayed) {
  return worker.rank.beginStep(
      slot, worker.inFlight[slot].inputs.pointers.data(),
      inFlight[slot].settings,
      /*followsUnknown=*/worker.numReached != worker.numEnded, isReplayed);
}

/// Whether messages are late. If these always run alone, outside of the graph,
/// the numbers of messages differ from turn to turn.
static bool hasLateMessages(const artifact::Program &program) {
  return std::ranges::any_of(program.ranks, [](const artifact::Rank &rank) {
    return std::ranges::any_of(rank.ops, [](const artifact::Op &op) {
      return op.late && (op.kind == artifact::OpKind::send ||
                         op.kind == artifact::OpKind::recv);
    });
  });
}

/// Whether steps can be captured. A graph needs steps that are always equal,
/// and all on one device.
bool CudaExecutor::canBeCaptured(const CudaOptions &options) const {
  bool isOne = !options.isEager && !options.traceTensors &&
               options.timelineEvents == 0 &&
               artifact.metadata.lengths.empty() &&
               !(stepsInFlight == 1 && hasLateMessages(program));
  // NCCL requires that both ends of a message are captured, or neither is.
  for (const artifact::Rank &rank : program.ranks)
    isOne = isOne && !rank.readsBack;
  for (const CudaWorker *worker : local)
    isOne = isOne && worker->device == local.front()->device;
  return isOne;
}

std::vector<CudaRank *> CudaExecutor::allRanks() const {
  std::vector<CudaRank *> ranks;
  ranks.reserve(local.size());
  for (CudaWorker *worker : local)
    ranks.push_back(&worker->rank);
  return ranks;
}

Status CudaExecutor::keepTimes(CudaWorker &worker, const CudaOptions &options) {
  if (options.timelineEvents == 0)
    return Status::success();
  for (auto &[ordinal, entry] : devices)
    if (entry.device == worker.device) {
      if (!entry.origin)
        VEELINE_TRY(entry.origin.emplace().prepare(*entry.device));
      return worker.rank.keepTimes(*entry.origin, options.timelineEvents);
    }
  return Status::success();
}

/// Called after the newest step is counted, and before it begins.
Status CudaExecutor::noteOrigins() {
  bool isIdle = numBegun == numFinished + 1;
  for (auto &[ordinal, entry] : devices) {
    if (!entry.origin)
      continue;
    for (CudaWorker *worker : local)
      if (worker->device == entry.device) {
        VEELINE_TRY(entry.device->makeCurrent());
        VEELINE_TRY(
            entry.origin->note(numBegun, worker->rank.computeStream(), isIdle));
        break;
      }
  }
  return Status::success();
}

/// Adds the times of the oldest step, which has ended.
void CudaExecutor::addTimes() {
  uint32_t number = numFinished + 1;
  size_t slot = oldestSlot();
  if (watch.isStuck())
    return;
  for (auto &[ordinal, entry] : devices)
    if (entry.origin && entry.device->makeCurrent().ok())
      entry.origin->settle(number);
  for (CudaWorker *worker : local)
    worker->rank.addTimes(slot, number, inFlight[slot].settings.step);
}

/// Copies to the device come before the graph, and are not part of it.
Status CudaExecutor::beginCaptured(size_t slot) {
  VEELINE_TRY(local.front()->device->makeCurrent());
  for (CudaWorker *worker : local) {
    enterStep(*worker, slot);
    worker->inFlight[slot].failed = false;
    VEELINE_TRY(beginStep(*worker, slot, mode == Mode::replay));
  }
  if (mode == Mode::replay)
    return launchCaptured(slot);
  graph = std::make_unique<StepGraph>(*local.front()->device);
  return graph->begin(allRanks());
}

Status CudaExecutor::launchCaptured(size_t slot) {
  VEELINE_TRY(graph->launch(allRanks()));
  for (CudaWorker *worker : local)
    VEELINE_TRY(worker->rank.readBack(slot));
  return Status::success();
}

/// Ends the capture of the newest step, and begins to replay what was captured.
void CudaExecutor::endCapture() {
  waitForThreads([&] { return haveEnded(numBegun); });
  mode = Mode::replay;
  isReplaying.store(true, std::memory_order_relaxed);
  Status status = fault.status();
  // If there is no graph, the capture could not begin.
  if (graph && !watch.isStuck()) {
    Status captured = local.front()->device->makeCurrent();
    if (captured.ok())
      captured = graph->end(allRanks(), status);
    if (status.ok())
      status = captured;
    for (CudaWorker *worker : local)
      worker->rank.keepForGraph(newestSlot());
    if (status.ok())
      status = launchCaptured(newestSlot());
  }
  // Ranks raise faults of messages themselves.
  if (status.ok())
    status = fault.status();
  if (status.ok())
    return;
  fault.raise(status.message(), inFlight[newestSlot()].settings.step);
  for (CudaWorker *worker : local)
    worker->inFlight[newestSlot()].failed = true;
}

/// Waits for progress of threads until `isDone` returns true. The driver may
/// block a thread that is far ahead of its device, forever if the device hangs.
/// So after a stall, threads have `leaveSeconds` more.
template <typename Condition>
void CudaExecutor::waitForThreads(Condition isDone) {
  int64_t stalledSince = 0;
  for (uint32_t seen = done.load(); !isDone() && !hasLeftThreads;
       seen = done.load()) {
    done.sleepWhile(seen,
                    network ? sleepMilliseconds : watch.sleepMilliseconds());
    if (network || !watch.hasStalled())
      continue;
    int64_t now = nanoseconds();
    if (stalledSince == 0)
      stalledSince = now;
    hasLeftThreads = double(now - stalledSince) > leaveSeconds * 1e9;
  }
}

bool CudaExecutor::haveAll(std::atomic<uint32_t> CudaWorker::*number,
                           uint32_t count) const {
  return std::all_of(local.begin(), local.end(), [&](const CudaWorker *worker) {
    return static_cast<int32_t>((worker->*number).load() - count) >= 0;
  });
}

/// Waits until all ranks of this process have settled `count` steps. Threads
/// wait for the device themselves while they issue steps, or run late work
/// alone.
void CudaExecutor::waitUntilSettled(uint32_t count) {
  // If the device is stuck, the driver may not return from any call.
  if (mode != Mode::eager && !watch.isStuck()) {
    if (Status status = local.front()->device->makeCurrent(); !status.ok())
      fault.raise(status.message());
    for (CudaWorker *worker : local) {
      if (worker->hasLate() && count == numBegun && hasAskedForLate)
        continue;
      worker->rank.isInStep = true;
      reachSteps(*worker, count);
      settleSteps(*worker, count);
      worker->rank.isInStep = !network;
    }
  }
  waitForThreads([&] { return haveAll(&CudaWorker::numSettled, count); });
}

/// Makes threads count the newest step, which was replayed.
void CudaExecutor::countReplayed() {
  for (CudaWorker *worker : local) {
    worker->numWhole.store(worker->hasLate() ? numBegun - 1 : numBegun);
    worker->numEnded.store(numBegun);
  }
  startStep();
}

/// NCCL requires that all ranks abort, so the others are told about the fault
/// first. NCCL does not release a communicator that is in a graph, so the graph
/// is destroyed, after its end if it is running.
void CudaExecutor::prepareAbort() {
  network->announce(localStatus().message());
  if (graph)
    graph->destroy();
}

/// Closes the communicators. After a fault, other processes may have ended. If
/// one has just ended between steps, that is not a fault.
void CudaExecutor::leave() {
  if (isBetweenSteps && !network->knownFailure())
    (void)communicators->close(leaveSeconds).ok();
  (void)communicators->abort();
}

void CudaExecutor::stop() {
  abandonSteps("the run has ended");
  leaveNetwork();
  releaseThreads();
  if (hasAbandonedWork())
    return;
  joinThreads();
  // A device's resources have to be freed while it is current. Errors are
  // ignored, because there is nobody to report them to. The graph is freed
  // first, because NCCL does not release a communicator that is in one.
  if (graph || communicators)
    (void)local.front()->device->makeCurrent().ok();
  graph.reset();
  if (communicators)
    leave();
}

/// Work that may never end is not waited for. The executor is then leaked,
/// because the GPU may still use all of it. So may a thread that the driver
/// blocks, if it continues.
void CudaExecutor::operator delete(CudaExecutor *executor,
                                   std::destroying_delete_t) {
  executor->stop();
  if (hasAbandonedWork())
    return;
  executor->~CudaExecutor();
  ::operator delete(executor);
}

CudaExecutor::~CudaExecutor() {
  for (CudaWorker *worker : local) {
    (void)worker->device->makeCurrent().ok();
    for (size_t i = 0; i < deviceChannels.size(); ++i)
      if (program.channels[i].fromRank == worker->rank.index)
        deviceChannels[i].reset();
    workers[worker->rank.index].reset();
  }
  for (auto &[ordinal, entry] : devices) {
    if (entry.origin)
      (void)entry.device->makeCurrent().ok();
    entry.origin.reset();
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Whether the next step is the one that repeats. After late work has run
/// alone, it is a first step; all are if no step ever follows another directly.
bool CudaExecutor::isRepeated() const {
  return !program.hasLate() || stepsInFlight == 1 || isStepUnderWay();
}

CudaExecutor::Mode CudaExecutor::nextMode() const {
  return !isCapturable || !isRepeated() || numRepeated == 0 ? Mode::eager
         : numRepeated == 1                                 ? Mode::capture
                                                            : Mode::replay;
}

Status CudaExecutor::begin(const void *const *newInputs,
                           const StepSettings &newSettings) {
  VEELINE_TRY(checkRunning());
  VEELINE_CHECK(static_cast<int32_t>(numBegun - numFinished) < stepsInFlight,
                "more steps are begun than may be in flight");
  isBetweenSteps = false;
  watch.beginStep();
  Mode next = nextMode();
  // Threads leave the device to the caller. A capture begins when nothing else
  // is under way. It also ends here, because other processes may wait for what
  // the step sends.
  if (mode == Mode::eager && next != Mode::eager)
    waitForThreads([&] {
      return haveAll(&CudaWorker::numReached, numBegun) && haveEnded(numBegun);
    });
  if (mode != next)
    mode = next;
  hasAskedForLate = false;
  numRepeated += isRepeated();
  prepareStep(newInputs, newSettings);
  size_t slot = newestSlot();
  // After a fault, no thread runs the step, and no graph is launched.
  Status begun = fault.status();
  if (begun.ok())
    begun = noteOrigins();
  if (begun.ok() && mode != Mode::eager)
    begun = beginCaptured(slot);
  // Ranks raise faults of messages themselves.
  if (begun.ok() && mode != Mode::eager)
    begun = fault.status();
  if (!begun.ok()) {
    fault.raise(begun.message(), newSettings.step);
    for (CudaWorker *worker : local)
      worker->inFlight[slot].failed = true;
  }
  if (mode == Mode::replay)
    countReplayed();
  // While nobody waits for it, a process reports no progress of its device.
  if (mode == Mode::replay && network)
    local.front()->rank.isInStep = false;
  if (mode != Mode::replay)
    startStep();
  if (mode == Mode::capture)
    endCapture();
  return Status::success();
}

void CudaExecutor::endSteps() {
  if (program.hasLate() && mode == Mode::eager)
    startLate();
  // No late work runs any more.
  if (mode != Mode::eager && isStepUnderWay())
    for (CudaWorker *worker : local)
      if (worker->hasLate() && worker->numSettled != numBegun)
        worker->inFlight[newestSlot()].failed = true;
  waitUntilSettled(numBegun);
  for (; isStepUnderWay(); ++numFinished)
    addTimes();
  for (CudaWorker *worker : local)
    worker->rank.isInStep.store(false, std::memory_order_release);
}

Status CudaExecutor::finish(StepResult &result) {
  if (!isStepUnderWay())
    return fault.status().ok() ? Status::error("no step is under way")
                               : announcedStatus();
  size_t slot = oldestSlot();
  // A fault of the next step does not concern this one.
  bool isLast = numBegun == numFinished + 1;
  if (program.hasLate() && isLast) {
    hasAskedForLate = true;
    startLate();
  }
  waitUntilSettled(numFinished + 1);
  // The next step begins on this thread, and may be a graph.
  if (program.hasLate() && isLast)
    waitForThreads(
        [&] { return haveAll(&CudaWorker::numWhole, numFinished + 1); });
  if (watch.isStuck() || hasFailed(slot) ||
      (!network && isLast && !fault.status().ok()))
    return stopAfterFault();
  addTimes();
  if (++numFinished == numBegun)
    endQueue();
  if (isMeasured && numFinished <= 2)
    lookAtMemory();
  return shareResults(slot, result);
}

/// The last step that was begun has ended.
void CudaExecutor::endQueue() {
  for (CudaWorker *worker : local)
    worker->rank.isInStep.store(false, std::memory_order_release);
  for (std::unique_ptr<DeviceChannel> &channel : deviceChannels)
    VEELINE_CHECK(!channel || channel->isIdle(),
                  "a step ended with messages under way");
  VEELINE_CHECK(!transport || transport->isIdle(),
                "a step ended with messages under way");
  isBetweenSteps = true;
}

/// Called after the first step, which loads what is needed, and after the
/// second, which is the first one with a graph.
void CudaExecutor::lookAtMemory() {
  for (auto &[ordinal, entry] : devices) {
    MemoryBook &book = entry.device->book();
    if (Status current = entry.device->makeCurrent(); !current.ok())
      continue;
    book.look(mode != Mode::eager           ? MemoryBook::graphs
              : network && numFinished == 1 ? MemoryBook::messages
                                            : MemoryBook::rest);
    book.close();
  }
}
