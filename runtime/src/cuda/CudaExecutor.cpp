//===- CudaExecutor.cpp - ranks on GPUs -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaExecutor.h"

#include "BlockedSignals.h"
#include "ProcessRank.h"
#include "Rehearsal.h"

#include "veeline/Support/Check.h"

#include <algorithm>
#include <cmath>
#include <pthread.h>
#include <system_error>
#include <unistd.h>

using namespace veeline;
using namespace veeline::cuda;

// GCC 12 takes a destroying delete for one that matches no new.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

/// How long a thread that waits for a step sleeps at most before it looks
/// again; only a bound for a system call.
static constexpr int64_t sleepMilliseconds = 60'000;

/// How long NCCL may take to end what is over anyway, and threads to see that
/// their step is.
static constexpr double leaveSeconds = 2;

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

CudaExecutor::CudaExecutor(const artifact::Artifact &artifact,
                           const artifact::Program &program,
                           const CudaOptions &options)
    : artifact(artifact), program(program), network(options.network),
      group(program, /*isWhole=*/!options.network,
            checksEnabled || options.checkMessages),
      fault([this] {
        for (std::unique_ptr<DeviceChannel> &channel : deviceChannels)
          if (channel)
            channel->abort();
        for (std::unique_ptr<engine::Channel> &channel : lengthChannels)
          if (channel)
            channel->abort();
        for (Worker *worker : local)
          worker->rank.abort();
      }),
      watch(group, fault, options.stallSeconds, options.timeoutSeconds) {}

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
  Status status = prepareLocal(options);
  if (!network)
    return status;
  // No process sends before all can receive.
  if (!status.ok())
    network->announce(status.message());
  else if (auto all = network->exchange(""); !all.ok())
    status = all.status();
  isBetweenSteps = status.ok();
  if (status.ok())
    network->watch(this);
  return status;
}

Status CudaExecutor::prepareLocal(const CudaOptions &options) {
  workers.resize(program.ranks.size());
  VEELINE_TRY(loadLibraries(options));
  VEELINE_TRY(openDevices(options));
  for (const auto &[ordinal, entry] : devices)
    VEELINE_TRY(allocateArenas(entry));
  VEELINE_TRY(addChannels());
  results.resize(artifact.metadata.results.size() *
                 static_cast<size_t>(artifact.metadata.microbatches) *
                 static_cast<size_t>(program.replicas));
  for (Worker *worker : local) {
    int32_t rank = worker->rank.index;
    Status status = findStep(rank, options);
    if (status.ok())
      status = prepareRank(rank, options);
    if (status.ok() && network)
      VEELINE_TRY(rehearse(worker->rank, worker->step));
    if (status.ok() && network)
      status = connect(options);
    if (!status.ok())
      return Status::error("rank " + std::to_string(rank) + ": " +
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

Status CudaExecutor::startThreads() {
  for (Worker *worker : local) {
    BlockedSignals blocked;
    try {
      worker->thread =
          std::thread([this, &worker = *worker] { runWorker(worker); });
    } catch (const std::system_error &error) {
      return Status::error(std::string("cannot start a thread: ") +
                           error.what());
    }
  }
  return Status::success();
}

void CudaExecutor::runWorker(Worker &worker) {
  std::string name = "veeline-rank" + std::to_string(worker.rank.index);
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
  worker.threadNumber = ::gettid();
  Status current = worker.device->makeCurrent();
  for (uint32_t step = 0;;) {
    uint32_t seen = started.load();
    if (seen == step) {
      started.sleepWhile(seen, sleepMilliseconds);
      continue;
    }
    step = seen;
    if (stopping)
      return;
    if (worker.rank.require(current))
      runStep(worker);
    for (engine::Channel *channel : worker.rank.channels)
      if (channel && !worker.rank.failed)
        channel->flush(worker.rank);
    group.endStep(worker.rank.index);
    if (mode == Mode::eager)
      worker.rank.isInStep.store(false, std::memory_order_release);
    done.add(1);
  }
}

void CudaExecutor::runStep(Worker &worker) {
  CudaRank &rank = worker.rank;
  if (mode == Mode::capture)
    return worker.step(&rank, rank.memory().data(), rank.inputPlaces());
  if (rank.require(rank.beginStep(worker.inputs.data(), settings, false)))
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

/// What a step does must be the same each time, and all of one device.
bool CudaExecutor::canBeCaptured(const CudaOptions &options) const {
  bool isOne = !options.isEager && !options.traceTensors &&
               options.timelineEvents == 0 && artifact.metadata.lengths.empty();
  for (const Worker *worker : local)
    isOne = isOne && !worker->rank.description->readsBack &&
            worker->device == local.front()->device;
  return isOne;
}

std::vector<CudaRank *> CudaExecutor::allRanks() const {
  std::vector<CudaRank *> ranks;
  for (Worker *worker : local)
    ranks.push_back(&worker->rank);
  return ranks;
}

Status CudaExecutor::keepTimes(Worker &worker, const CudaOptions &options) {
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

/// While no stream has anything to do.
Status CudaExecutor::setOrigins() {
  for (auto &[ordinal, entry] : devices) {
    if (!entry.origin)
      continue;
    for (Worker *worker : local)
      if (worker->device == entry.device) {
        VEELINE_TRY(entry.device->makeCurrent());
        VEELINE_TRY(entry.origin->set(worker->rank.computeStream()));
        break;
      }
  }
  return Status::success();
}

/// What is copied to the device goes before the graph, not into it.
Status CudaExecutor::beginCaptured() {
  VEELINE_TRY(local.front()->device->makeCurrent());
  for (Worker *worker : local)
    VEELINE_TRY(worker->rank.beginStep(worker->inputs.data(), settings,
                                       mode == Mode::replay));
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
  for (Worker *worker : local)
    VEELINE_TRY(worker->rank.synchronize());
  for (Worker *worker : local) {
    worker->rank.readReports();
    worker->rank.inspectStep();
  }
  return Status::success();
}

/// A thread that issues more than its device takes may be held by the driver,
/// for ever where the device never ends: after a stall it is given some time.
void CudaExecutor::waitUntilDone() {
  int64_t stalledSince = 0;
  for (uint32_t seen = done.load(); seen != doneTarget; seen = done.load()) {
    done.sleepWhile(seen,
                    network ? sleepMilliseconds : watch.sleepMilliseconds());
    if (network || !watch.hasStalled())
      continue;
    int64_t now = engine::nanoseconds();
    if (stalledSince == 0)
      stalledSince = now;
    if (double(now - stalledSince) > leaveSeconds * 1e9)
      return;
  }
}

/// NCCL wants all ranks to abort, so the others hear of the fault first. Nor
/// does it let go of a communicator that is in a graph; one that runs is
/// destroyed once it is over.
void CudaExecutor::prepareAbort() {
  network->announce(localStatus().message());
  if (graph)
    graph->destroy();
}

/// After a fault the others may not be there to take leave of. That one of them
/// has ended its part is none, between steps.
void CudaExecutor::leave() {
  if (isBetweenSteps && !network->knownFailure())
    (void)communicators->close(leaveSeconds).ok();
  (void)communicators->abort();
}

void CudaExecutor::stop() {
  if (network) {
    network->watch(nullptr);
    network->disconnect();
  }
  stopping = true;
  started.add(1);
  if (hasAbandonedWork())
    return;
  for (Worker *worker : local)
    if (worker->thread.joinable())
      worker->thread.join();
  // What a device has is freed where it is current. Nobody is left to be told
  // what fails. Of a communicator that is in a graph NCCL does not let go.
  if (graph || communicators)
    (void)local.front()->device->makeCurrent().ok();
  graph.reset();
  if (communicators)
    leave();
}

/// What may never end is not waited for. A GPU may still use all of it then,
/// and so may a thread that the driver holds, once it is let go.
void CudaExecutor::operator delete(CudaExecutor *executor,
                                   std::destroying_delete_t) {
  executor->stop();
  if (hasAbandonedWork())
    return;
  executor->~CudaExecutor();
  ::operator delete(executor);
}

CudaExecutor::~CudaExecutor() {
  for (Worker *worker : local) {
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
  if (Status status = fault.status(); !status.ok())
    return network ? Status::error(status.message() + "; rank " +
                                   std::to_string(network->rank()) +
                                   " is before the step")
                   : status;
  settings = newSettings;
  isBetweenSteps = false;
  watch.beginStep();
  std::fill(results.begin(), results.end(), network ? engine::notReported : 0);
  for (Worker *worker : local) {
    selectInputs(*this, artifact.metadata, newInputs, worker->rank,
                 worker->inputs);
    CudaRank &rank = worker->rank;
    if (rank.deviceTimeline)
      rank.deviceTimeline->setStep(static_cast<int32_t>(settings.step));
    std::fill(rank.versions.begin(), rank.versions.end(), -1);
    rank.lastOp.store(-1, std::memory_order_relaxed);
    rank.isInStep.store(true, std::memory_order_release);
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
  if (mode == Mode::replay)
    return Status::success();
  group.beginStep();
  doneTarget += static_cast<uint32_t>(local.size());
  started.add(1);
  return Status::success();
}

/// The first fault, and where the rank of this process was when it saw it.
Status CudaExecutor::localStatus() {
  Status status = fault.status();
  if (status.ok() || !network)
    return status;
  std::string place = stoppedAt(network->rank());
  if (status.message().find(place) != std::string::npos)
    return status;
  return Status::error(status.message() + "; " + place);
}

Status CudaExecutor::shareResults(StepResult &result) {
  const CudaRank &rank = local.front()->rank;
  std::vector<double> squares;
  for (size_t i = 0; i < rank.description->params.size(); ++i)
    squares.push_back(rank.squaredNorm(i));
  return engine::shareStep(*network, program, results, squares, result);
}

Status CudaExecutor::finish(StepResult &result) {
  waitUntilDone();
  if (mode != Mode::eager && !watch.isStuck())
    if (Status status = finishCaptured(); !status.ok())
      fault.raise(status.message());
  for (Worker *worker : local)
    worker->rank.isInStep.store(false, std::memory_order_release);
  if (Status status = localStatus(); !status.ok()) {
    if (network)
      network->announce(status.message());
    return status;
  }
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
  result.results = results;
  result.gradientNorm = std::sqrt(engine::addSquares(
      program, engine::firstRanks(program), [&](size_t rank, size_t i) {
        return workers[rank]->rank.squaredNorm(i);
      }));
  return Status::success();
}

/// After the first step, which loads what is loaded, and after the first one of
/// a graph.
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

std::string CudaExecutor::stoppedAt(int32_t rank) const {
  const CudaRank &stopped = workers[rank]->rank;
  // What it could not do itself, the fault says.
  if (stopped.failed && stopped.awaited < 0)
    return "";
  ShortText text;
  group.describe(text, stopped);
  return std::string(text.view());
}

//===----------------------------------------------------------------------===//
// A process among others
//===----------------------------------------------------------------------===//

engine::Pulse CudaExecutor::pulse() const {
  const Worker &worker = *local.front();
  engine::Pulse pulse =
      engine::pulseOf(worker.rank, worker.thread, worker.threadNumber);
  // Who waits for the device computes by it.
  pulse.isRunnable = pulse.isRunnable || transport->isDeviceAwaited() ||
                     isReplaying.load(std::memory_order_relaxed);
  return pulse;
}

void CudaExecutor::describePlace(ShortText &text) const {
  group.describe(text, local.front()->rank);
}

void CudaExecutor::describe(ShortText &text) const {
  text << "step " << settings.step << ": ";
  if (const char *failure = network->knownFailure())
    text << failure << "; ";
  describePlace(text);
}

Expected<DeviceUse> CudaExecutor::memoryOf(int32_t rank) const {
  Device &device = *workers[rank]->device;
  DeviceUse use;
  if (Status status = workers[rank]->rank.inspectArena(use); !status.ok())
    return Status::error("rank " + std::to_string(rank) + ": " +
                         status.message());
  use.device = device.name();
  auto first = std::find_if(local.begin(), local.end(), [&](Worker *worker) {
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
  for (const Worker *worker : local)
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
