//===- HostExecutor.cpp - ranks as threads --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostExecutor.h"

#include "BlockedSignals.h"
#include "Convolution.h"
#include "Gemm.h"
#include "OneThread.h"
#include "ProcessRank.h"

#include "veeline/Support/Check.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <pthread.h>
#include <system_error>
#include <unistd.h>

using namespace veeline;
using namespace veeline::engine;
using namespace veeline::host;

/// How long a thread that waits for a step sleeps at most before it looks
/// again; only a bound for a system call.
static constexpr int64_t sleepMilliseconds = 60'000;

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

HostExecutor::HostExecutor(const artifact::Artifact &artifact,
                           const artifact::Program &program,
                           const HostOptions &options)
    : artifact(artifact), program(program), network(options.network),
      group(program, /*isWhole=*/!options.network,
            checksEnabled || options.checkMessages),
      fault([this] {
        for (std::unique_ptr<Channel> &channel : channels)
          if (channel)
            channel->abort();
        for (Worker *worker : local)
          for (auto &pieces : worker->rank.reductions)
            for (std::unique_ptr<Reduction> &piece : pieces)
              piece->abort();
      }),
      announce(options.announce) {}

Expected<std::unique_ptr<HostExecutor>>
HostExecutor::create(const artifact::Artifact &artifact,
                     const artifact::Program &program,
                     const HostOptions &options) {
  if (artifact.metadata.target != "host")
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
  const artifact::Metadata &metadata = artifact.metadata;
  results.resize(metadata.results.size() *
                 static_cast<size_t>(metadata.microbatches) *
                 static_cast<size_t>(program.replicas));
  for (size_t i = 0; i < program.channels.size(); ++i)
    addChannel(static_cast<int32_t>(i));
  workers.resize(program.ranks.size());
  firstReplicaRanks = firstRanks(program);
  Status status = prepareLocal(options);
  if (!network)
    return status;
  // No process sends before all can receive.
  if (!status.ok())
    network->announce(status.message());
  else if (auto all = network->exchange(""); !all.ok())
    status = all.status();
  if (status.ok())
    network->watch(this);
  return status;
}

/// Null where it leads from another process to another one.
void HostExecutor::addChannel(int32_t index) {
  const artifact::Channel &channel = program.channels[index];
  std::unique_ptr<Channel> &end = channels.emplace_back();
  if (!network)
    end = std::make_unique<HostChannel>(group, index, channel);
  else if ((channel.fromRank == network->rank()) !=
           (channel.toRank == network->rank()))
    end = network->connect(group, index, channel);
}

Status HostExecutor::prepareLocal(const HostOptions &options) {
  for (int32_t i = 0; i < static_cast<int32_t>(workers.size()); ++i) {
    if (network && i != network->rank())
      continue;
    if (Status status = prepareWorker(i, options); !status.ok())
      return Status::error("rank " + std::to_string(i) + ": " +
                           status.message());
  }
  for (Worker *worker : local)
    addReductions(*worker);
  return startThreads();
}

/// Once all arenas of this process are there.
void HostExecutor::addReductions(Worker &worker) {
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
        for (int32_t member : members)
          accumulators.push_back(workers[member]->arena.data() + piece.offset);
        sum = std::make_shared<SharedSum>(group, group.indexOf(i), piece,
                                          std::move(accumulators));
      }
      pieces.push_back(std::make_unique<HostReduction>(sum));
    }
  }
}

static std::vector<ParamUpdate> makeUpdates(const artifact::Metadata &metadata,
                                            const artifact::Rank &rank) {
  std::vector<ParamUpdate> updates;
  for (const artifact::RankParam &entry : rank.params) {
    const artifact::Parameter &param = metadata.params[entry.param];
    updates.push_back({metadata.optimizer, param.type,
                       artifact::numElements(param.shape),
                       param.shape.size() >= 2});
  }
  return updates;
}

Status HostExecutor::prepareWorker(int32_t index, const HostOptions &options) {
  const artifact::Metadata &metadata = artifact.metadata;
  const artifact::Rank &description = program.ranks[index];
  workers[index] = std::make_unique<Worker>();
  Worker &worker = *local.emplace_back(workers[index].get());
  if (Status status = worker.arena.allocate(description.arenaBytes);
      !status.ok())
    return status;
  if (options.poison)
    worker.arena.poison();

  if (!options.steps.empty()) {
    worker.step = options.steps[index];
  } else {
    if (Status status =
            worker.object.load(artifact.objects[description.object]);
        !status.ok())
      return status;
    Expected<veeline_step_fn> step =
        worker.object.findStep(description.stepSymbol);
    if (!step.ok())
      return step.status();
    worker.step = *step;
  }

  HostRank &rank = worker.rank;
  rank.index = index;
  rank.program = &program;
  rank.description = &description;
  rank.fault = &fault;
  rank.network = network;
  rank.arena = &worker.arena;
  int32_t replica = program.placeOf(static_cast<size_t>(index)).replica;
  size_t numChannels = channels.size() / static_cast<size_t>(program.replicas);
  rank.firstChannel = replica * static_cast<int32_t>(numChannels);
  for (size_t i = 0; i < numChannels; ++i)
    rank.channels.push_back(
        channels[static_cast<size_t>(rank.firstChannel) + i].get());
  rank.discard.resize(static_cast<size_t>(maxMessageBytes()));
  rank.updates = makeUpdates(metadata, description);
  rank.settings = &settings;
  rank.microbatches = metadata.microbatches;
  rank.lengths = &metadata.lengths;
  if (!metadata.lengths.empty())
    rank.versions.resize(static_cast<size_t>(metadata.microbatches));
  rank.allMicrobatches = metadata.microbatches * program.replicas;
  rank.results = results.data() + replica * metadata.microbatches;
  worker.inputs.resize(metadata.batches.size() + metadata.buffers.size());
  rank.resultTypes = &metadata.results;
  if (options.timelineEvents)
    rank.timeline = std::make_unique<Timeline>(options.timelineEvents);
  if (options.traceTensors)
    rank.trace = std::make_unique<TensorTrace>(rank, metadata);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Status HostExecutor::startThreads() {
  Status status = Status::success();
  for (Worker *worker : local) {
    BlockedSignals blocked;
    try {
      worker->thread =
          std::thread([this, &worker = *worker] { runWorker(worker); });
    } catch (const std::system_error &error) {
      status =
          Status::error(std::string("cannot start a thread: ") + error.what());
      break;
    }
    ++doneTarget;
  }
  waitUntilDone();
  for (Worker *worker : local)
    if (status.ok() && !worker->prepared.ok())
      status = worker->prepared;
  return status;
}

static Status prepareCallsOf(HostRank &rank) {
  if (Status status = prepareGemms(rank.description->gemms, rank.gemms);
      !status.ok())
    return status;
  return prepareConvolutions(rank.description->convolutions, rank.convolutions);
}

/// The library makes code here, for which there may be no memory.
static Status prepareCalls(HostRank &rank) {
  try {
    return prepareCallsOf(rank);
  } catch (const std::bad_alloc &) {
    return Status::error("rank " + std::to_string(rank.index) +
                         ": there is not enough memory to prepare its matrix "
                         "products and convolutions");
  }
}

void HostExecutor::runWorker(Worker &worker) {
  // One OpenMP thread: more would change the bits of matrix products, and take
  // the cores of other ranks.
  OneThread oneThread;
  std::string name = "veeline-rank" + std::to_string(worker.rank.index);
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
  auto enter = [this](Activity activity) {
    if (announce)
      announce(activity);
  };
  worker.threadNumber = ::gettid();
  enter(Activity::loading);
  worker.prepared = prepareCalls(worker.rank);
  enter(Activity::waiting);
  done.add(1);
  for (uint32_t step = 0;;) {
    uint32_t seen = started.load();
    if (seen == step) {
      started.sleepWhile(seen, sleepMilliseconds);
      continue;
    }
    step = seen;
    if (stopping)
      return;
    enter(Activity::step);
    worker.step(&worker.rank, worker.arena.data(), worker.inputs.data());
    for (Channel *channel : worker.rank.channels)
      if (channel && !worker.rank.failed)
        channel->flush(worker.rank);
    if (worker.rank.trace && !worker.rank.failed)
      printGradients(worker);
    enter(Activity::waiting);
    group.endStep(worker.rank.index);
    worker.rank.isInStep.store(false, std::memory_order_release);
    worker.stepEnd = nanoseconds();
    done.add(1);
  }
}

void HostExecutor::printGradients(const Worker &worker) {
  worker.rank.trace->printGradients(
      [&](int64_t offset, int64_t) { return worker.arena.data() + offset; },
      [&](size_t i) { return worker.rank.updates[i].squaredGradientNorm; });
}

void HostExecutor::waitUntilDone() {
  for (uint32_t seen = done.load(); seen != doneTarget; seen = done.load())
    done.sleepWhile(seen, sleepMilliseconds);
}

HostExecutor::~HostExecutor() {
  if (network) {
    network->watch(nullptr);
    network->disconnect();
  }
  stopping = true;
  started.add(1);
  for (Worker *worker : local)
    if (worker->thread.joinable())
      worker->thread.join();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Status HostExecutor::begin(const void *const *newInputs,
                           const StepSettings &newSettings) {
  if (Status status = fault.status(); !status.ok())
    return network ? Status::error(status.message() + "; rank " +
                                   std::to_string(network->rank()) +
                                   " is before the step")
                   : status;
  for (Worker *worker : local)
    selectInputs(*this, artifact.metadata, newInputs, worker->rank,
                 worker->inputs);
  settings = newSettings;
  std::fill(results.begin(), results.end(), notReported);
  for (Worker *worker : local) {
    veeline_rank &rank = worker->rank;
    if (rank.timeline)
      rank.timeline->setStep(static_cast<int32_t>(settings.step));
    std::fill(rank.versions.begin(), rank.versions.end(), -1);
    rank.lastOp.store(-1, std::memory_order_relaxed);
    rank.isInStep.store(true, std::memory_order_release);
  }
  group.beginStep();
  doneTarget += static_cast<uint32_t>(local.size());
  started.add(1);
  return Status::success();
}

/// A rank waits from the end of its step to that of the last rank.
void HostExecutor::addIdleTails() {
  int64_t last = 0;
  for (Worker *worker : local)
    last = std::max(last, worker->stepEnd);
  for (Worker *worker : local)
    if (worker->rank.timeline && worker->stepEnd < last)
      worker->rank.timeline->addIdle(worker->stepEnd, last);
}

/// The first fault, and where the ranks of this process were when they saw it.
Status HostExecutor::localStatus() {
  Status status = fault.status();
  if (status.ok() || !network)
    return status;
  std::string text = status.message();
  for (const Worker *worker : local)
    if (std::string place = stoppedAt(worker->rank.index);
        text.find(place) == std::string::npos)
      text += "; " + place;
  return Status::error(text);
}

std::string HostExecutor::stoppedAt(int32_t rank) const {
  const veeline_rank &stopped = workers[rank]->rank;
  // What it could not do itself, the fault says.
  if (stopped.failed && stopped.awaited < 0)
    return "";
  ShortText text;
  group.describe(text, stopped);
  return std::string(text.view());
}

void HostExecutor::describePlace(ShortText &text) const {
  group.describe(text, local.front()->rank);
}

Pulse HostExecutor::pulse() const {
  const Worker &worker = *local.front();
  return pulseOf(worker.rank, worker.thread, worker.threadNumber);
}

void HostExecutor::describe(ShortText &text) const {
  const char *known = network->knownFailure();
  std::string_view failure = known ? known : "";
  ShortText place;
  describePlace(place);
  text << "step " << settings.step << ": " << failure;
  if (failure.find(place.view()) == std::string_view::npos)
    text << (failure.empty() ? "" : "; ") << place.view();
}

Status HostExecutor::finish(StepResult &result) {
  waitUntilDone();
  addIdleTails();
  if (Status status = localStatus(); !status.ok()) {
    if (network)
      network->announce(status.message());
    return status;
  }
  for (std::unique_ptr<Channel> &channel : channels)
    VEELINE_CHECK(!channel || channel->isIdle(),
                  "a step ended with messages under way");
  for (Worker *worker : local)
    for (const auto &pieces : worker->rank.reductions)
      for (const std::unique_ptr<Reduction> &piece : pieces)
        VEELINE_CHECK(piece->isIdle(),
                      "a step ended with gradients of replicas under way");
  if (network) {
    std::vector<double> squares;
    for (const ParamUpdate &update : local.front()->rank.updates)
      squares.push_back(update.squaredGradientNorm);
    return shareStep(*network, program, results, squares, result);
  }
  result.results = results;
  result.gradientNorm = std::sqrt(
      addSquares(program, firstReplicaRanks, [&](size_t rank, size_t i) {
        return workers[rank]->rank.updates[i].squaredGradientNorm;
      }));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Access to arenas
//===----------------------------------------------------------------------===//

Status HostExecutor::write(int32_t rank, int64_t offset, const void *source,
                           int64_t bytes) {
  // Each process writes what is its own.
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
  for (const Worker *worker : local)
    if (worker->rank.timeline)
      ranks.push_back(worker->rank.timeline->lastEvents(steps));
  return ranks;
}
