//===- CudaExecutor.cpp - ranks on GPUs -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaExecutor.h"

#include "BlockedSignals.h"

#include "veeline/Support/Check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <pthread.h>
#include <system_error>

using namespace veeline;
using namespace veeline::cuda;

/// How long a thread that waits for a step sleeps at most before it looks
/// again; only a bound for a system call.
static constexpr int64_t sleepMilliseconds = 60'000;

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

CudaExecutor::CudaExecutor(const artifact::Artifact &artifact,
                           const artifact::Program &program)
    : artifact(artifact), program(program),
      group(program, /*isWhole=*/true, /*checksMessages=*/checksEnabled),
      fault([this] {
        for (std::unique_ptr<DeviceChannel> &channel : deviceChannels)
          if (channel)
            channel->abort();
        for (std::unique_ptr<host::Channel> &channel : lengthChannels)
          if (channel)
            channel->abort();
        for (std::unique_ptr<Worker> &worker : workers)
          worker->rank.abortReductions();
      }) {}

Expected<std::unique_ptr<CudaExecutor>>
CudaExecutor::create(const artifact::Artifact &artifact,
                     const artifact::Program &program,
                     const CudaOptions &options) {
  if (artifact.metadata.target != "cuda")
    return Status::error("its target is " + artifact.metadata.target +
                         ", and this is for cuda; compile the model again");
  std::unique_ptr<CudaExecutor> executor(new CudaExecutor(artifact, program));
  if (Status status = executor->prepare(options); !status.ok())
    return Status::error("program '" + program.name + "': " + status.message());
  return executor;
}

Status CudaExecutor::prepare(const CudaOptions &options) {
  VEELINE_TRY(loadLibraries(options));
  VEELINE_TRY(openDevices(options));
  VEELINE_TRY(addChannels());
  results.resize(artifact.metadata.results.size() *
                 static_cast<size_t>(artifact.metadata.microbatches) *
                 static_cast<size_t>(program.replicas));
  for (int32_t i = 0; i < static_cast<int32_t>(workers.size()); ++i) {
    Status status = findStep(i, options);
    if (status.ok())
      status = prepareRank(i);
    if (!status.ok())
      return Status::error("rank " + std::to_string(i) + ": " +
                           status.message());
  }
  VEELINE_TRY(addReductions());
  isCapturable = canBeCaptured(options);
  return startThreads();
}

Status CudaExecutor::loadLibraries(const CudaOptions &options) {
  Expected<Driver> newDriver = Driver::load(options.driver);
  if (!newDriver.ok())
    return newDriver.status();
  driver = *newDriver;
  Expected<BlasLt> newBlas = BlasLt::load(options.blasLt);
  if (!newBlas.ok())
    return newBlas.status();
  blas = *newBlas;
  return Status::success();
}

/// All of them, and their code, before anything is allocated.
Status CudaExecutor::openDevices(const CudaOptions &options) {
  if (!options.devices.empty() && options.devices.size() < program.ranks.size())
    return Status::error("there are " + std::to_string(program.ranks.size()) +
                         " ranks, and --device names GPUs for " +
                         std::to_string(options.devices.size()) + " of them");
  std::map<int32_t, std::shared_ptr<Device>> devices;
  for (size_t rank = 0; rank < program.ranks.size(); ++rank) {
    int32_t ordinal = options.devices.empty() ? 0 : options.devices[rank];
    std::shared_ptr<Device> &device = devices[ordinal];
    if (!device) {
      Expected<std::shared_ptr<Device>> opened = Device::open(driver, ordinal);
      if (!opened.ok())
        return opened.status();
      VEELINE_TRY((*opened)->loadKernels(artifact));
      device = std::move(*opened);
    }
    workers.push_back(std::make_unique<Worker>());
    workers.back()->device = device;
  }
  return Status::success();
}

Status CudaExecutor::addChannels() {
  for (size_t i = 0; i < program.channels.size(); ++i) {
    const artifact::Channel &channel = program.channels[i];
    auto index = static_cast<int32_t>(i);
    deviceChannels.emplace_back();
    lengthChannels.emplace_back();
    if (channel.kind == artifact::ChannelKind::shape) {
      lengthChannels[i] =
          std::make_unique<host::HostChannel>(group, index, channel);
      continue;
    }
    const Device &from = *workers[channel.fromRank]->device;
    if (workers[channel.toRank]->device.get() != &from)
      return Status::error("ranks " + std::to_string(channel.fromRank) +
                           " and " + std::to_string(channel.toRank) +
                           " exchange messages, and are threads on two GPUs; "
                           "ranks of one process share one");
    deviceChannels[i] = std::make_unique<DeviceChannel>(group, index, channel);
    VEELINE_TRY(from.makeCurrent());
    VEELINE_TRY(deviceChannels[i]->prepare(from));
  }
  return Status::success();
}

Status CudaExecutor::findStep(int32_t index, const CudaOptions &options) {
  Worker &worker = *workers[index];
  if (!options.steps.empty()) {
    worker.step = options.steps[index];
    return Status::success();
  }
  const artifact::Rank &description = program.ranks[index];
  VEELINE_TRY(worker.object.load(artifact.objects[description.object]));
  Expected<veeline_step_fn> step =
      worker.object.findStep(description.stepSymbol);
  if (!step.ok())
    return step.status();
  worker.step = *step;
  return Status::success();
}

Status CudaExecutor::prepareRank(int32_t index) {
  const artifact::Metadata &metadata = artifact.metadata;
  Worker &worker = *workers[index];
  CudaRank &rank = worker.rank;
  rank.index = index;
  rank.program = &program;
  rank.description = &program.ranks[index];
  rank.fault = &fault;
  int32_t replica = program.placeOf(static_cast<size_t>(index)).replica;
  size_t numChannels =
      program.channels.size() / static_cast<size_t>(program.replicas);
  rank.firstChannel = replica * static_cast<int32_t>(numChannels);
  std::vector<DeviceChannel *> channels;
  for (size_t i = 0; i < numChannels; ++i) {
    size_t number = static_cast<size_t>(rank.firstChannel) + i;
    rank.channels.push_back(lengthChannels[number].get());
    channels.push_back(deviceChannels[number].get());
  }
  // Nothing of a GPU writes there.
  rank.discard.resize(1);
  rank.settings = &settings;
  rank.microbatches = metadata.microbatches;
  rank.allMicrobatches = metadata.microbatches * program.replicas;
  rank.lengths = &metadata.lengths;
  if (!metadata.lengths.empty())
    rank.versions.resize(static_cast<size_t>(metadata.microbatches));
  rank.results = results.data() + replica * metadata.microbatches;
  rank.resultTypes = &metadata.results;
  worker.inputs.resize(metadata.batches.size() + metadata.buffers.size());
  VEELINE_TRY(worker.device->makeCurrent());
  return rank.prepare(artifact, worker.device, blas, std::move(channels));
}

/// What the ranks of a stage share of a piece, once all their arenas are there.
Expected<std::shared_ptr<DeviceReduction>>
CudaExecutor::makeReduction(int32_t stage, int32_t index, size_t piece) {
  std::vector<int32_t> members = program.ranksOf(stage);
  const artifact::Reduction &reduction =
      program.ranks[members[0]].reductions[index];
  const Device &device = *workers[members[0]]->device;
  std::vector<api::DevicePointer> accumulators;
  for (int32_t rank : members) {
    if (workers[rank]->device.get() != &device)
      return Status::error("ranks " + std::to_string(members[0]) + " and " +
                           std::to_string(rank) +
                           " add up gradients, and are threads on two GPUs; "
                           "ranks of one process share one");
    accumulators.push_back(
        workers[rank]->rank.memory().address() +
        static_cast<uint64_t>(reduction.pieces[piece].offset));
  }
  auto shared = std::make_shared<DeviceReduction>(
      group, group.indexOf(index), reduction.stream, reduction.pieces[piece],
      std::move(accumulators));
  VEELINE_TRY(device.makeCurrent());
  VEELINE_TRY(shared->prepare(device));
  return shared;
}

Status CudaExecutor::addReductions() {
  for (int32_t stage = 0; stage < program.stages; ++stage) {
    std::vector<int32_t> members = program.ranksOf(stage);
    const std::vector<artifact::Reduction> &table =
        program.ranks[members[0]].reductions;
    std::vector<std::vector<std::shared_ptr<DeviceReduction>>> reductions(
        table.size());
    for (size_t i = 0; i < table.size(); ++i)
      for (size_t piece = 0; piece < table[i].pieces.size(); ++piece) {
        auto shared = makeReduction(stage, static_cast<int32_t>(i), piece);
        if (!shared.ok())
          return shared.status();
        reductions[i].push_back(std::move(*shared));
      }
    for (size_t member = 0; member < members.size(); ++member)
      workers[members[member]]->rank.setReductions(reductions, member);
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Status CudaExecutor::startThreads() {
  for (std::unique_ptr<Worker> &worker : workers) {
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
    group.endStep(worker.rank.index);
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
  if (!rank.failed && rank.require(ended))
    rank.readReports();
}

/// What a step does must be the same each time, and all of one device.
bool CudaExecutor::canBeCaptured(const CudaOptions &options) const {
  bool isOne = !options.isEager && artifact.metadata.lengths.empty();
  for (const std::unique_ptr<Worker> &worker : workers)
    isOne = isOne && !worker->rank.description->readsBack &&
            worker->device == workers[0]->device;
  return isOne;
}

std::vector<CudaRank *> CudaExecutor::allRanks() const {
  std::vector<CudaRank *> ranks;
  for (const std::unique_ptr<Worker> &worker : workers)
    ranks.push_back(&worker->rank);
  return ranks;
}

/// What is copied to the device goes before the graph, not into it.
Status CudaExecutor::beginCaptured() {
  VEELINE_TRY(workers[0]->device->makeCurrent());
  for (std::unique_ptr<Worker> &worker : workers)
    VEELINE_TRY(worker->rank.beginStep(worker->inputs.data(), settings,
                                       mode == Mode::replay));
  if (mode == Mode::replay)
    return graph->launch(allRanks());
  graph = std::make_unique<StepGraph>(*workers[0]->device);
  return graph->begin(allRanks());
}

Status CudaExecutor::finishCaptured() {
  VEELINE_TRY(workers[0]->device->makeCurrent());
  if (mode == Mode::capture) {
    Status captured = graph->end(allRanks(), fault.status());
    VEELINE_TRY(fault.status());
    VEELINE_TRY(captured);
    VEELINE_TRY(graph->launch(allRanks()));
  }
  for (std::unique_ptr<Worker> &worker : workers)
    VEELINE_TRY(worker->rank.synchronize());
  for (std::unique_ptr<Worker> &worker : workers)
    worker->rank.readReports();
  return Status::success();
}

void CudaExecutor::waitUntilDone() {
  for (uint32_t seen = done.load(); seen != doneTarget; seen = done.load())
    done.sleepWhile(seen, sleepMilliseconds);
}

CudaExecutor::~CudaExecutor() {
  stopping = true;
  started.add(1);
  for (std::unique_ptr<Worker> &worker : workers)
    if (worker->thread.joinable())
      worker->thread.join();
  // What a device has is freed where it is current. Nobody is left to be told
  // what fails.
  if (graph)
    (void)workers[0]->device->makeCurrent().ok();
  graph.reset();
  for (std::unique_ptr<Worker> &worker : workers) {
    (void)worker->device->makeCurrent().ok();
    for (size_t i = 0; i < deviceChannels.size(); ++i)
      if (program.channels[i].fromRank == worker->rank.index)
        deviceChannels[i].reset();
    worker.reset();
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Status CudaExecutor::begin(const void *const *newInputs,
                           const StepSettings &newSettings) {
  VEELINE_TRY(fault.status());
  settings = newSettings;
  std::fill(results.begin(), results.end(), 0);
  for (std::unique_ptr<Worker> &worker : workers) {
    selectInputs(*this, artifact.metadata, newInputs, worker->rank,
                 worker->inputs);
    CudaRank &rank = worker->rank;
    std::fill(rank.versions.begin(), rank.versions.end(), -1);
    rank.lastOp.store(-1, std::memory_order_relaxed);
    rank.isInStep.store(true, std::memory_order_release);
  }
  mode = !isCapturable || stepsDone == 0 ? Mode::eager
         : stepsDone == 1                ? Mode::capture
                                         : Mode::replay;
  ++stepsDone;
  if (mode != Mode::eager)
    if (Status status = beginCaptured(); !status.ok()) {
      fault.raise(status.message());
      return status;
    }
  if (mode == Mode::replay)
    return Status::success();
  group.beginStep();
  doneTarget += static_cast<uint32_t>(workers.size());
  started.add(1);
  return Status::success();
}

Status CudaExecutor::finish(StepResult &result) {
  waitUntilDone();
  if (mode != Mode::eager)
    if (Status status = finishCaptured(); !status.ok())
      fault.raise(status.message());
  VEELINE_TRY(fault.status());
  for (std::unique_ptr<DeviceChannel> &channel : deviceChannels)
    VEELINE_CHECK(!channel || channel->isIdle(),
                  "a step ended with messages under way");
  result.results = results;
  double squares = 0;
  // In the order of stages: the bits of the sum depend on it.
  for (int32_t stage = 0; stage < program.stages; ++stage) {
    const CudaRank &rank = workers[program.ranksOf(stage)[0]]->rank;
    for (size_t i = 0; i < rank.description->params.size(); ++i)
      if (rank.description->params[i].isHome)
        squares += rank.squaredNorm(i);
  }
  result.gradientNorm = std::sqrt(squares);
  return Status::success();
}

std::string CudaExecutor::stoppedAt(int32_t rank) const {
  const CudaRank &stopped = workers[rank]->rank;
  if (stopped.failed && stopped.awaited < 0)
    return "";
  ShortText text;
  group.describe(text, stopped);
  return std::string(text.view());
}

//===----------------------------------------------------------------------===//
// Access to arenas
//===----------------------------------------------------------------------===//

Status CudaExecutor::write(int32_t rank, int64_t offset, const void *source,
                           int64_t bytes) {
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
