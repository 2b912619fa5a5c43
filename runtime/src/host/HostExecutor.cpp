//===- HostExecutor.cpp - ranks as threads --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostExecutor.h"

#include "veeline/Support/Check.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <omp.h>
#include <pthread.h>
#include <system_error>

using namespace veeline;
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
    : artifact(artifact), program(program), group(program), fault([this] {
        for (std::unique_ptr<Channel> &channel : channels)
          channel->abort();
      }),
      announce(options.announce) {}

Expected<std::unique_ptr<HostExecutor>>
HostExecutor::create(const artifact::Artifact &artifact,
                     const artifact::Program &program,
                     const HostOptions &options) {
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
  inputs.resize(metadata.batches.size() + metadata.buffers.size());
  results.resize(metadata.results.size() *
                 static_cast<size_t>(metadata.microbatches));
  for (size_t i = 0; i < program.channels.size(); ++i)
    channels.push_back(std::make_unique<HostChannel>(
        group, static_cast<int32_t>(i), program.channels[i].messagesPerStep));
  for (size_t i = 0; i < program.ranks.size(); ++i)
    if (Status status = prepareWorker(static_cast<int32_t>(i), options);
        !status.ok())
      return Status::error("rank " + std::to_string(i) + ": " +
                           status.message());
  return startThreads();
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
  Worker &worker = *workers.emplace_back(std::make_unique<Worker>());
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

  veeline_rank &rank = worker.rank;
  rank.index = index;
  rank.program = &program;
  rank.description = &description;
  rank.fault = &fault;
  rank.arena = &worker.arena;
  for (std::unique_ptr<Channel> &channel : channels)
    rank.channels.push_back(channel.get());
  rank.discard.resize(static_cast<size_t>(maxMessageBytes()));
  rank.updates = makeUpdates(metadata, description);
  rank.settings = &settings;
  rank.microbatches = metadata.microbatches;
  rank.results = results.data();
  rank.resultTypes = &metadata.results;
  if (options.timelineEvents)
    rank.timeline = std::make_unique<Timeline>(options.timelineEvents);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// Signals are for the thread that runs the training loop.
static void blockSignals(sigset_t *old) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, old);
}

Status HostExecutor::startThreads() {
  sigset_t old;
  blockSignals(&old);
  Status status = Status::success();
  for (std::unique_ptr<Worker> &worker : workers) {
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
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  waitUntilDone();
  for (std::unique_ptr<Worker> &worker : workers)
    if (status.ok() && !worker->prepared.ok())
      status = worker->prepared;
  return status;
}

void HostExecutor::runWorker(Worker &worker) {
  // One OpenMP thread: more would change the bits of matrix products, and take
  // the cores of other ranks.
  omp_set_num_threads(1);
  std::string name = "veeline-rank" + std::to_string(worker.rank.index);
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
  auto enter = [this](Activity activity) {
    if (announce)
      announce(activity);
  };
  enter(Activity::loading);
  worker.prepared = worker.rank.gemms.prepare(worker.rank.description->gemms);
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
    worker.step(&worker.rank, worker.arena.data(), inputs.data());
    enter(Activity::waiting);
    group.endStep(worker.rank.index);
    worker.stepEnd = nanoseconds();
    done.add(1);
  }
}

void HostExecutor::waitUntilDone() {
  for (uint32_t seen = done.load(); seen != doneTarget; seen = done.load())
    done.sleepWhile(seen, sleepMilliseconds);
}

HostExecutor::~HostExecutor() {
  stopping = true;
  started.add(1);
  for (std::unique_ptr<Worker> &worker : workers)
    if (worker->thread.joinable())
      worker->thread.join();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Status HostExecutor::begin(const void *const *newInputs,
                           const StepSettings &newSettings) {
  if (Status status = fault.status(); !status.ok())
    return status;
  std::copy_n(newInputs, inputs.size(), inputs.begin());
  settings = newSettings;
  std::fill(results.begin(), results.end(),
            std::numeric_limits<double>::quiet_NaN());
  for (std::unique_ptr<Worker> &worker : workers)
    if (worker->rank.timeline)
      worker->rank.timeline->setStep(static_cast<int32_t>(settings.step));
  group.beginStep();
  doneTarget += static_cast<uint32_t>(workers.size());
  started.add(1);
  return Status::success();
}

/// A rank waits from the end of its step to that of the last rank.
void HostExecutor::addIdleTails() {
  int64_t last = 0;
  for (std::unique_ptr<Worker> &worker : workers)
    last = std::max(last, worker->stepEnd);
  for (std::unique_ptr<Worker> &worker : workers)
    if (worker->rank.timeline && worker->stepEnd < last)
      worker->rank.timeline->addIdle(worker->stepEnd, last);
}

Status HostExecutor::finish(StepResult &result) {
  waitUntilDone();
  addIdleTails();
  if (Status status = fault.status(); !status.ok())
    return status;
  for (std::unique_ptr<Channel> &channel : channels)
    VEELINE_CHECK(channel->isIdle(), "a step ended with messages under way");
  result.results = results;
  double squared = 0;
  for (std::unique_ptr<Worker> &worker : workers) {
    const std::vector<artifact::RankParam> &params =
        worker->rank.description->params;
    for (size_t i = 0; i < params.size(); ++i)
      if (params[i].isHome)
        squared += worker->rank.updates[i].squaredGradientNorm;
  }
  result.gradientNorm = std::sqrt(squared);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Access to arenas
//===----------------------------------------------------------------------===//

Status HostExecutor::write(int32_t rank, int64_t offset, const void *source,
                           int64_t bytes) {
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
  for (const std::unique_ptr<Worker> &worker : workers)
    if (worker->rank.timeline)
      ranks.push_back(worker->rank.timeline->lastEvents(steps));
  return ranks;
}
