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

/// How long NCCL may take to close communicators that are idle, and threads to
/// see that their step has ended.
static constexpr double leaveSeconds = 2;

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

CudaExecutor::CudaExecutor(const artifact::Artifact &artifact,
                           const artifact::Program &program,
                           const CudaOptions &options)
    : ThreadedProgram(artifact, program, options.network,
                      checksEnabled || options.checkMessages),
      watch(group, fault, options.stallSeconds, options.timeoutSeconds) {}

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
    if (status.ok())
      status = prepareRank(*worker, options);
    if (status.ok() && network)
      VEELINE_TRY(rehearse(worker->rank, worker->step));
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
  if (worker.rank.require(worker.current))
    issueStep(worker);
  flushChannels(worker.rank);
  leaveStep(worker);
  if (mode == Mode::eager)
    worker.rank.isInStep.store(false, std::memory_order_release);
}

void CudaExecutor::issueStep(CudaWorker &worker) {
  CudaRank &rank = worker.rank;
  if (mode == Mode::capture)
    return worker.step(&rank, rank.memory().data(), rank.inputPlaces());
  if (rank.require(beginStep(worker)))
    worker.step(&rank, rank.memory().data(), rank.inputPlaces());
  if (!rank.failed)
    (void)rank.require(rank.endStep());
  // Also after a fault: what was issued reads what others may write.
  Status ended = rank.synchronize();
  rank.addTimes();
  if (!rank.failed && rank.require(ended)) {
    rank.readReports();
    rank.inspectStep();
  }
}

Status CudaExecutor::beginStep(CudaWorker &worker) {
  size_t slot = newestSlot();
  return worker.rank.beginStep(worker.inFlight[slot].inputs.pointers.data(),
                               inFlight[slot].settings, mode == Mode::replay);
}

/// A graph needs steps that are always the same, and all on one device.
bool CudaExecutor::canBeCaptured(const CudaOptions &options) const {
  bool isOne = !options.isEager && !options.traceTensors &&
               options.timelineEvents == 0 && artifact.metadata.lengths.empty();
  for (const CudaWorker *worker : local)
    isOne = isOne && !worker->rank.description->readsBack &&
            worker->device == local.front()->device;
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

/// Called while all streams are idle.
Status CudaExecutor::setOrigins() {
  for (auto &[ordinal, entry] : devices) {
    if (!entry.origin)
      continue;
    for (CudaWorker *worker : local)
      if (worker->device == entry.device) {
        VEELINE_TRY(entry.device->makeCurrent());
        VEELINE_TRY(entry.origin->set(worker->rank.computeStream()));
        break;
      }
  }
  return Status::success();
}

/// Copies to the device come before the graph, and are no part of it.
Status CudaExecutor::beginCaptured() {
  VEELINE_TRY(local.front()->device->makeCurrent());
  for (CudaWorker *worker : local)
    VEELINE_TRY(beginStep(*worker));
  if (mode == Mode::replay)
    return graph->launch(allRanks());
  graph = std::make_unique<StepGraph>(*local.front()->device);
  return graph->begin(allRanks());
}

Status CudaExecutor::finishCaptured() {
  VEELINE_TRY(local.front()->device->makeCurrent());
  if (mode == Mode::capture) {
    Status captured = graph->end(allRanks(), fault.status());
    VEELINE_TRY(fault.status());
    VEELINE_TRY(captured);
    VEELINE_TRY(graph->launch(allRanks()));
  }
  for (CudaWorker *worker : local)
    VEELINE_TRY(worker->rank.synchronize());
  for (CudaWorker *worker : local) {
    worker->rank.readReports();
    worker->rank.inspectStep();
  }
  return Status::success();
}

/// Waits until all threads are done with the step. The driver may block a
/// thread that is far ahead of its device, for ever if the device hangs. So
/// after a stall threads get `leaveSeconds` more.
void CudaExecutor::waitUntilDone() {
  int64_t stalledSince = 0;
  uint32_t numStarted = started.load() / oneStep;
  for (uint32_t seen = done.load(); !haveEnded(numStarted);
       seen = done.load()) {
    done.sleepWhile(seen,
                    network ? sleepMilliseconds : watch.sleepMilliseconds());
    if (network || !watch.hasStalled())
      continue;
    int64_t now = nanoseconds();
    if (stalledSince == 0)
      stalledSince = now;
    if (double(now - stalledSince) > leaveSeconds * 1e9)
      return;
  }
}

/// NCCL wants all ranks to abort, so the others hear of the fault first. It
/// does not release a communicator that is in a graph, so the graph is
/// destroyed; if it is running, once it is over.
void CudaExecutor::prepareAbort() {
  network->announce(localStatus().message());
  if (graph)
    graph->destroy();
}

/// Takes leave of the others, which may be gone after a fault. A process that
/// has just ended, between steps, is no fault.
void CudaExecutor::leave() {
  if (isBetweenSteps && !network->knownFailure())
    (void)communicators->close(leaveSeconds).ok();
  (void)communicators->abort();
}

void CudaExecutor::stop() {
  leaveNetwork();
  releaseThreads();
  if (hasAbandonedWork())
    return;
  joinThreads();
  // A device's resources are freed where it is current. Errors are ignored:
  // nobody is left to report them to. The graph goes first, since NCCL does not
  // release a communicator that is in one.
  if (graph || communicators)
    (void)local.front()->device->makeCurrent().ok();
  graph.reset();
  if (communicators)
    leave();
}

/// Work that may never end is not waited for. The executor is leaked then: the
/// GPU may still use all of it, and so may a thread that the driver blocks,
/// once it goes on.
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

Status CudaExecutor::begin(const void *const *newInputs,
                           const StepSettings &newSettings) {
  VEELINE_TRY(checkRunning());
  isBetweenSteps = false;
  watch.beginStep();
  prepareStep(newInputs, newSettings);
  for (CudaWorker *worker : local) {
    enterStep(*worker, newestSlot());
    if (worker->rank.deviceTimeline)
      worker->rank.deviceTimeline->setStep(
          static_cast<int32_t>(newSettings.step));
  }
  mode = !isCapturable || stepsDone == 0 ? Mode::eager
         : stepsDone == 1                ? Mode::capture
                                         : Mode::replay;
  ++stepsDone;
  if (Status status = setOrigins(); !status.ok()) {
    fault.raise(status.message());
    return status;
  }
  isReplaying.store(mode == Mode::replay, std::memory_order_relaxed);
  if (mode != Mode::eager)
    if (Status status = beginCaptured(); !status.ok()) {
      fault.raise(status.message());
      return status;
    }
  if (mode != Mode::replay)
    startStep();
  return Status::success();
}

Status CudaExecutor::shareResults(StepResult &result) {
  const CudaRank &rank = local.front()->rank;
  std::vector<double> squares;
  squares.reserve(rank.description->params.size());
  for (size_t i = 0; i < rank.description->params.size(); ++i)
    squares.push_back(rank.squaredNorm(i));
  return engine::shareStep(*network, program, inFlight[newestSlot()].results,
                           squares, result);
}

Status CudaExecutor::finish(StepResult &result) {
  waitUntilDone();
  if (mode != Mode::eager && !watch.isStuck())
    if (Status status = finishCaptured(); !status.ok())
      fault.raise(status.message());
  for (CudaWorker *worker : local)
    worker->rank.isInStep.store(false, std::memory_order_release);
  numFinished = numBegun;
  VEELINE_TRY(announcedStatus());
  for (std::unique_ptr<DeviceChannel> &channel : deviceChannels)
    VEELINE_CHECK(!channel || channel->isIdle(),
                  "a step ended with messages under way");
  VEELINE_CHECK(!transport || transport->isIdle(),
                "a step ended with messages under way");
  isBetweenSteps = true;
  if (isMeasured && stepsDone <= 2)
    lookAtMemory();
  if (network)
    return shareResults(result);
  result.results = inFlight[newestSlot()].results;
  result.gradientNorm = std::sqrt(
      engine::addSquares(engine::homesOf(program), [&](size_t rank, size_t i) {
        return workers[rank]->rank.squaredNorm(i);
      }));
  return Status::success();
}

/// Called after the first step, which loads what is needed, and after the
/// second, the first one of a graph.
void CudaExecutor::lookAtMemory() {
  for (auto &[ordinal, entry] : devices) {
    MemoryBook &book = entry.device->book();
    if (Status current = entry.device->makeCurrent(); !current.ok())
      continue;
    book.look(mode != Mode::eager         ? MemoryBook::graphs
              : network && stepsDone == 1 ? MemoryBook::messages
                                          : MemoryBook::rest);
    book.close();
  }
}

//===----------------------------------------------------------------------===//
// A process among others
//===----------------------------------------------------------------------===//

engine::Pulse CudaExecutor::pulse() const {
  const CudaWorker &worker = *local.front();
  engine::Pulse pulse =
      engine::pulseOf(worker.rank, worker.thread, worker.threadNumber);
  // A rank that waits for its device counts as computing.
  pulse.isRunnable = pulse.isRunnable || transport->isDeviceAwaited() ||
                     isReplaying.load(std::memory_order_relaxed);
  return pulse;
}

Expected<DeviceUse> CudaExecutor::memoryOf(int32_t rank) const {
  Device &device = *workers[rank]->device;
  DeviceUse use;
  if (Status status = workers[rank]->rank.inspectArena(use); !status.ok())
    return Status::error("rank " + std::to_string(rank) + ": " +
                         status.message());
  use.device = device.name();
  auto first =
      std::find_if(local.begin(), local.end(), [&](CudaWorker *worker) {
        return worker->device.get() == &device;
      });
  use.firstRank = (*first)->rank.index;
  MemoryBook &book = device.book();
  book.look(MemoryBook::rest);
  VEELINE_TRY(book.status());
  use.context = book.bytes(MemoryBook::context);
  use.arenas = book.bytes(MemoryBook::arenas);
  use.code = book.bytes(MemoryBook::kernels);
  use.libraries = book.bytes(MemoryBook::libraries);
  use.messages = book.bytes(MemoryBook::messages);
  use.graphs = book.bytes(MemoryBook::graphs);
  use.rest = book.bytes(MemoryBook::rest);
  use.most = book.most();
  return use;
}

std::vector<std::vector<engine::Event>>
CudaExecutor::timeline(int32_t steps) const {
  std::vector<std::vector<engine::Event>> ranks;
  for (const CudaWorker *worker : local)
    if (worker->rank.deviceTimeline)
      ranks.push_back(worker->rank.deviceTimeline->lastEvents(steps));
  return ranks;
}

//===----------------------------------------------------------------------===//
// Access to arenas
//===----------------------------------------------------------------------===//

Status CudaExecutor::write(int32_t rank, int64_t offset, const void *source,
                           int64_t bytes) {
  // Each process writes what is its own.
  if (!isLocal(rank))
    return Status::success();
  CudaRank &target = workers[rank]->rank;
  VEELINE_TRY(target.gpu().makeCurrent());
  VEELINE_TRY(
      VEELINE_CALL(driver, cuMemcpyHtoDAsync_v2,
                   target.memory().address() + static_cast<uint64_t>(offset),
                   source, static_cast<size_t>(bytes), target.computeStream()));
  return VEELINE_CALL(driver, cuStreamSynchronize, target.computeStream());
}

Status CudaExecutor::read(int32_t rank, int64_t offset, void *target,
                          int64_t bytes) {
  CudaRank &source = workers[rank]->rank;
  VEELINE_TRY(source.gpu().makeCurrent());
  VEELINE_TRY(
      VEELINE_CALL(driver, cuMemcpyDtoHAsync_v2, target,
                   source.memory().address() + static_cast<uint64_t>(offset),
                   static_cast<size_t>(bytes), source.computeStream()));
  return VEELINE_CALL(driver, cuStreamSynchronize, source.computeStream());
}
