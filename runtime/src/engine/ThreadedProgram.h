//===- ThreadedProgram.h - the ranks of a program as threads ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_THREADEDPROGRAM_H
#define VEELINE_RUNTIME_ENGINE_THREADEDPROGRAM_H

#include "BlockedSignals.h"
#include "LoadedProgram.h"
#include "Object.h"
#include "ProcessRank.h"

#include "veeline/Base/Futex.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <pthread.h>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace veeline::engine {

/// The maximal number of steps that are begun and not yet finished. So a rank
/// is at most one step ahead of another.
inline constexpr uint32_t maxInFlight = 2;

/// The state of a step in flight that all ranks share.
struct StepInFlight {
  StepSettings settings;
  std::vector<double> results; ///< As in StepResult.
  Clip clip;                   ///< For optimistic updates, once it is known.
};

/// The state of a step in flight that one rank has.
struct RankStep {
  RankInputs inputs;
  /// For each entry of the rank's table of parameters, the squared norm of its
  /// averaged gradient, or of parts of it (see NormSum).
  std::vector<double> squaredNorms;
  Clip clip;
  /// Whether the rank has seen a fault in this step or before, or in late work
  /// of this step.
  std::atomic<bool> failed{false};
};

/// A thread and its state; backends add to it.
template <typename RankT> struct RankWorker {
  RankT rank;
  Object object;
  veeline_step_fn step = nullptr;
  LateFunctions lateFunctions;
  bool hasLate() const { return lateFunctions.late != nullptr; }
  RankStep inFlight[maxInFlight];
  std::atomic<uint32_t> numEnded{0}; ///< Counts steps.
  /// Counts steps for which the rank knows the norms of all of its gradients.
  std::atomic<uint32_t> numWithNorms{0};
  /// Counts steps whose late work has also run, or never will.
  std::atomic<uint32_t> numWhole{0};
  pid_t threadNumber = 0;
  std::thread thread;
};

/// What all backends share: a thread for each rank, which sleeps between steps.
/// The ranks are all those of a program, or a single one if the others are
/// processes of a network. `artifact` and `program` (one of its programs)
/// outlive this object. A backend ends the threads before it is destroyed.
template <typename WorkerT> class ThreadedProgram : public LoadedProgram {
public:
  bool isLocal(int32_t rank) const final { return workers[rank] != nullptr; }
  int32_t firstReplica() const final {
    return network
               ? program.placeOf(static_cast<size_t>(network->rank())).replica
               : 0;
  }
  int32_t numReplicas() const final { return network ? 1 : program.replicas; }
  void setNumSkipped(int64_t count) final {
    for (WorkerT *worker : local)
      worker->rank.numSkipped = count;
  }
  std::string stoppedAt(int32_t rank) const final;
  void abandonSteps(const std::string &why) final;

  // For a program whose other ranks run in other processes. From any thread.
  void raise(const std::string &failure) final { fault.raise(failure); }
  void describePlace(ShortText &text) const final {
    group.describe(text, local.front()->rank);
  }
  void describe(ShortText &text) const final;
  bool mayHaveEnded() const final { return haveEnded(numFinished + 1); }
  int64_t failedStep() const final {
    return failedStepNumber > 0 ? failedStepNumber : currentStep();
  }
  int64_t currentStep() const final {
    int64_t step = fault.step();
    return step > 0 ? step : local.front()->rank.step.load();
  }

protected:
  ThreadedProgram(const artifact::Artifact &artifact,
                  const artifact::Program &program, Network *network,
                  bool checksMessages)
      : artifact(artifact), program(program), network(network),
        group(program, /*isWhole=*/!network, checksMessages), fault([this] {
          for (std::unique_ptr<Channel> &channel : channels)
            if (channel)
              channel->abort();
          abortRanks();
        }),
        workers(program.ranks.size()), norms(artifact.metadata, program) {
    if (network)
      network->beginProgram(static_cast<int32_t>(program.channels.size()));
    for (StepInFlight &step : inFlight)
      step.results.resize(artifact.metadata.results.size() *
                          static_cast<size_t>(artifact.metadata.microbatches) *
                          static_cast<size_t>(program.replicas));
  }

  /// Wakes ranks of this process that wait for others, after a fault. Called
  /// from any thread.
  virtual void abortRanks() = 0;
  /// The function of a rank's thread, which calls `runSteps` at its end.
  virtual void runThread(WorkerT &worker) = 0;
  /// Runs one step of a rank, on its thread.
  virtual void runStep(WorkerT &worker) = 0;
  /// Runs the late work of the rank's last step, on its thread.
  virtual void runLate(WorkerT &) {}
  /// Called by the rank's thread after a fault, in place of the last of `count`
  /// steps or of its late work.
  virtual void passOver(WorkerT &, uint32_t /*count*/) {}
  /// Waits after a fault until all ranks of this process have ended their
  /// steps. No step is under way after that.
  virtual void endSteps() = 0;

  // Before the first step.
  WorkerT &addWorker(int32_t rank) {
    workers[rank] = std::make_unique<WorkerT>();
    workers[rank]->rank.index = rank;
    return *local.emplace_back(workers[rank].get());
  }
  /// Whether exactly one end of a channel is in this process.
  bool leadsElsewhere(const artifact::Channel &channel) const {
    return (channel.fromRank == network->rank()) !=
           (channel.toRank == network->rank());
  }
  /// Sets the worker's step function: `steps[rank]` if there are any, else that
  /// of the artifact.
  Status findStep(WorkerT &worker, const std::vector<veeline_step_fn> &steps);
  /// Sets what a rank knows of the program, once its channels exist.
  void describeRank(WorkerT &worker);
  Status startThreads();
  /// Tells the other processes whether this one is prepared, and waits for
  /// them. So no process sends before all can receive.
  Status meetOthers(Status prepared);

  // On a rank's thread.
  void nameThread(WorkerT &worker);
  void runSteps(WorkerT &worker);
  /// Sets what the rank knows of the step in `slot`.
  void enterStep(WorkerT &worker, size_t slot);
  /// Sets what late work of the step in `slot` needs.
  void setStepBefore(WorkerT &worker, size_t slot);
  /// Whether late work of the rank's last step has not run yet.
  static bool owesLate(const WorkerT &worker) {
    return worker.hasLate() &&
           worker.numWhole.load(std::memory_order_relaxed) !=
               worker.numEnded.load(std::memory_order_relaxed);
  }
  /// Notes that late work of the first `count` steps of the rank is done, and
  /// tells the caller's thread.
  void setWhole(WorkerT &worker, uint32_t count) {
    worker.numWhole.store(count);
    done.add(1);
  }
  /// Notes that the norms of the first `count` steps of the rank are known.
  /// Tells the caller's thread and the ranks that wait for them.
  void setWithNorms(WorkerT &worker, uint32_t count) {
    worker.numWithNorms.store(count);
    normsKnown.add(oneMessage);
    done.add(1);
  }
  void runOwed(WorkerT &worker);
  /// The index in `inFlight` of the step that the rank runs.
  static size_t slotOf(const WorkerT &worker) {
    return worker.numEnded.load(std::memory_order_relaxed) % maxInFlight;
  }
  /// Whether the step after the one that the rank runs has begun.
  bool isNextBegun(const WorkerT &worker) const {
    uint32_t number = worker.numEnded.load(std::memory_order_relaxed) + 1;
    return hasBegun(started.load(), number);
  }
  /// Tells the other ranks that the rank's step has ended.
  void leaveStep(WorkerT &worker);
  /// Blocks until the norms of the first `count` steps of all ranks, which are
  /// threads, are known.
  bool awaitNorms(veeline_rank &rank, uint32_t count) {
    return group.waitFor(rank, Group::endOfAll, normsKnown,
                         oneMessage * count *
                             static_cast<uint32_t>(local.size()));
  }
  void flushChannels(veeline_rank &rank) {
    for (Channel *channel : rank.channels)
      if (channel && !rank.failed)
        channel->flush(rank);
  }

  // Around a step.
  /// Fails after an earlier fault, unless a step is under way that will report
  /// it.
  Status checkRunning() const;
  void prepareStep(const void *const *inputs, const StepSettings &settings);
  /// Whether step `number`, from 0 on, had begun when `started` was `seen`. An
  /// older `seen` may not include the steps before it either.
  static bool hasBegun(uint32_t seen, uint32_t number) {
    return static_cast<int32_t>(seen - (number + 1) * oneStep) >= 0;
  }
  void startStep() { started.add(oneStep - (started.load() & lateBit)); }
  /// Makes all ranks run the late work of the last step that was begun.
  void startLate() { started.setBits(lateBit); }
  bool isStepUnderWay() const { return numBegun != numFinished; }
  /// The slots of the last step that was begun, and of the oldest one that is
  /// not finished.
  size_t newestSlot() const { return (numBegun - 1) % maxInFlight; }
  size_t oldestSlot() const { return numFinished % maxInFlight; }
  /// Whether all ranks of this process have ended the first `count` steps.
  bool haveEnded(uint32_t count) const {
    return std::all_of(local.begin(), local.end(), [&](const WorkerT *worker) {
      return static_cast<int32_t>(worker->numEnded.load() - count) >= 0;
    });
  }
  /// Whether all ranks of this process know the norms of the first `count`
  /// steps, or never will.
  bool haveNorms(uint32_t count) const {
    return std::all_of(local.begin(), local.end(), [&](const WorkerT *worker) {
      return static_cast<int32_t>(worker->numWithNorms.load() - count) >= 0 ||
             static_cast<int32_t>(worker->numWhole.load() - count) >= 0;
    });
  }
  /// Whether the late work of the first `count` steps has run on all ranks of
  /// this process, or never will.
  bool areWhole(uint32_t count) const {
    return std::all_of(local.begin(), local.end(), [&](const WorkerT *worker) {
      return static_cast<int32_t>(worker->numWhole.load() - count) >= 0;
    });
  }
  /// Whether a rank of this process has seen a fault in the step in `slot`.
  bool hasFailed(size_t slot) const {
    return std::any_of(local.begin(), local.end(), [&](const WorkerT *worker) {
      return worker->inFlight[slot].failed.load();
    });
  }
  /// Returns the fault once all ranks of this process have ended their steps.
  Status stopAfterFault() {
    endSteps();
    return announcedStatus();
  }
  /// Sets the results that all ranks have reported in the step in `slot`, which
  /// they have ended.
  Status shareResults(size_t slot, StepResult &result);
  void takeNorm(StepResult &result) const;
  /// The first fault, and what the ranks of this process did when they saw it.
  Status localStatus() const;
  /// Returns `localStatus`, and also tells the other processes of a fault.
  Status announcedStatus() const {
    Status status = localStatus();
    if (!status.ok() && network)
      network->announce(status.message());
    return status;
  }

  // At the end.
  /// Ends calls from the network, if there is one.
  void leaveNetwork() {
    if (!network)
      return;
    network->unwatch(*this);
    network->disconnect();
  }
  void releaseThreads() { started.setBits(endBit); }
  void joinThreads() {
    for (WorkerT *worker : local)
      if (worker->thread.joinable())
        worker->thread.join();
  }

  /// The longest time that a thread which waits for a step sleeps at once. The
  /// system call needs a limit.
  static constexpr int64_t sleepMilliseconds = 60'000;
  /// `started` counts in steps of four. Bit 0 says that no more steps come. Bit
  /// 1 says that the late work of the last one shall run; the next step clears
  /// it.
  static constexpr uint32_t endBit = 1, lateBit = 2, oneStep = 4;

  const artifact::Artifact &artifact;
  const artifact::Program &program;
  Network *const network;
  Group group;
  /// By channel of the program: the channels in host memory with an end in this
  /// process, else null.
  std::vector<std::unique_ptr<Channel>> channels;
  Fault fault;
  /// By rank; null: in another process.
  std::vector<std::unique_ptr<WorkerT>> workers;
  std::vector<WorkerT *> local;
  NormSum norms;
  StepInFlight inFlight[maxInFlight];
  uint32_t numBegun = 0, numFinished = 0; ///< Steps, on the caller's thread.
  /// The number of the step that could not be finished, if it is not
  /// `currentStep`.
  int64_t failedStepNumber = 0;
  /// Whether ranks run late work right after its step, because no step follows.
  bool runsLateAtOnce = false;

  WaitWord started; ///< Counts steps; the workers sleep on it.
  WaitWord done;    ///< Changes when a worker is done; the caller sleeps on it.
  /// The steps of all ranks of this process that `numWithNorms` counts, in the
  /// unit of messages.
  WaitWord normsKnown;
};

//===----------------------------------------------------------------------===//
// Before the first step
//===----------------------------------------------------------------------===//

template <typename WorkerT>
Status
ThreadedProgram<WorkerT>::findStep(WorkerT &worker,
                                   const std::vector<veeline_step_fn> &steps) {
  int32_t rank = worker.rank.index;
  if (!steps.empty()) {
    worker.step = steps[rank];
    return Status::success();
  }
  const artifact::Rank &description = program.ranks[rank];
  VEELINE_TRY(worker.object.load(artifact.objects[description.object]));
  VEELINE_TRY_VALUE(worker.step,
                    worker.object.findStep(description.stepSymbol));
  if (!description.hasLate())
    return Status::success();
  VEELINE_TRY_VALUE(worker.lateFunctions.firstStep,
                    worker.object.findStep(description.firstStepSymbol));
  VEELINE_TRY_VALUE(worker.lateFunctions.late,
                    worker.object.findStep(description.lateSymbol));
  return Status::success();
}

template <typename WorkerT>
void ThreadedProgram<WorkerT>::describeRank(WorkerT &worker) {
  const artifact::Metadata &metadata = artifact.metadata;
  veeline_rank &rank = worker.rank;
  auto index = static_cast<size_t>(rank.index);
  rank.program = &program;
  rank.description = &program.ranks[index];
  rank.fault = &fault;
  rank.network = network;
  int32_t replica = program.placeOf(index).replica;
  size_t numChannels = channels.size() / static_cast<size_t>(program.replicas);
  rank.firstChannel = replica * static_cast<int32_t>(numChannels);
  for (size_t i = 0; i < numChannels; ++i)
    rank.channels.push_back(
        channels[static_cast<size_t>(rank.firstChannel) + i].get());
  rank.microbatches = metadata.microbatches;
  rank.allMicrobatches = metadata.microbatches * program.replicas;
  rank.lengths = &metadata.lengths;
  if (!metadata.lengths.empty())
    rank.versions.resize(static_cast<size_t>(metadata.microbatches));
  rank.otherVersions = rank.versions;
  rank.resultTypes = &metadata.results;
  rank.listLateUpdates();
  rank.listShares(metadata);
  rank.normPlaces = norms.placesOf(static_cast<size_t>(rank.index));
  for (RankStep &step : worker.inFlight) {
    step.inputs.pointers.resize(metadata.batches.size() +
                                metadata.buffers.size());
    step.squaredNorms.resize(rank.normPlaces.back());
  }
}

template <typename WorkerT> Status ThreadedProgram<WorkerT>::startThreads() {
  for (WorkerT *worker : local) {
    BlockedSignals blocked;
    try {
      worker->thread =
          std::thread([this, &worker = *worker] { runThread(worker); });
    } catch (const std::system_error &error) {
      return Status::error(std::string("cannot start a thread: ") +
                           error.what());
    }
  }
  return Status::success();
}

template <typename WorkerT>
Status ThreadedProgram<WorkerT>::meetOthers(Status prepared) {
  if (!network)
    return prepared;
  if (!prepared.ok())
    network->announce(prepared.message());
  else if (auto all = network->exchange(""); !all.ok())
    prepared = all.status();
  if (prepared.ok())
    network->watch(*this);
  return prepared;
}

//===----------------------------------------------------------------------===//
// On a rank's thread
//===----------------------------------------------------------------------===//

template <typename WorkerT>
void ThreadedProgram<WorkerT>::nameThread(WorkerT &worker) {
  std::string name = "veeline-rank" + std::to_string(worker.rank.index);
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
  worker.threadNumber = ::gettid();
}

template <typename WorkerT>
void ThreadedProgram<WorkerT>::runSteps(WorkerT &worker) {
  for (;;) {
    // These are read in this order, because the backend may count steps that
    // its threads do not run.
    uint32_t seen = started.load();
    uint32_t number = worker.numEnded.load();
    if (!hasBegun(seen, number)) {
      // The bit may be that of a step before one that its threads did not run.
      bool isAsked = (seen & lateBit) && hasBegun(seen, number - 1);
      if ((isAsked || runsLateAtOnce) && owesLate(worker))
        runOwed(worker);
      else if (seen & endBit)
        return;
      else
        started.sleepWhile(seen, sleepMilliseconds);
      continue;
    }
    // After a fault, the rank does not continue.
    if (worker.rank.failed || !fault.status().ok()) {
      worker.inFlight[number % maxInFlight].failed = true;
      passOver(worker, number + 1);
    } else {
      group.beginStep(worker.rank.index);
      enterStep(worker, number % maxInFlight);
      runStep(worker);
    }
    // Late work of the step before that a fault has prevented is never done.
    if (owesLate(worker)) {
      worker.inFlight[(number + 1) % maxInFlight].failed = true;
      worker.numWhole.store(number);
    }
    worker.numWhole.store(worker.hasLate() ? number : number + 1);
    worker.numEnded.store(number + 1);
    done.add(1);
  }
}

template <typename WorkerT>
void ThreadedProgram<WorkerT>::runOwed(WorkerT &worker) {
  uint32_t number = worker.numEnded.load(std::memory_order_relaxed);
  size_t slot = (number - 1) % maxInFlight;
  if (worker.rank.failed || !fault.status().ok()) {
    worker.inFlight[slot].failed = true;
    passOver(worker, number);
  } else {
    group.beginStep(worker.rank.index);
    setStepBefore(worker, slot);
    worker.rank.lastOp.store(-1, std::memory_order_relaxed);
    worker.rank.isInStep.store(true, std::memory_order_release);
    runLate(worker);
    worker.inFlight[slot].failed = worker.rank.failed;
    group.endStep(worker.rank.index, started, (number + 1) * oneStep);
    worker.rank.isInStep.store(false, std::memory_order_release);
  }
  setWhole(worker, number);
}

template <typename WorkerT>
void ThreadedProgram<WorkerT>::setStepBefore(WorkerT &worker, size_t slot) {
  veeline_rank &rank = worker.rank;
  rank.otherSettings = &inFlight[slot].settings;
  rank.otherVersions.swap(rank.versions);
  rank.inputsBefore = worker.inFlight[slot].inputs.pointers.data();
  rank.squaredNormsBefore = worker.inFlight[slot].squaredNorms.data();
}

template <typename WorkerT>
void ThreadedProgram<WorkerT>::enterStep(WorkerT &worker, size_t slot) {
  veeline_rank &rank = worker.rank;
  StepInFlight &step = inFlight[slot];
  if (owesLate(worker))
    setStepBefore(worker, (slot + 1) % maxInFlight);
  rank.settings = &step.settings;
  rank.isInStepBefore = false;
  int32_t replica = program.placeOf(static_cast<size_t>(rank.index)).replica;
  rank.results = step.results.data() + replica * rank.microbatches;
  rank.dataLengths = worker.inFlight[slot].inputs.lengths;
  if (rank.timeline) {
    rank.timeline->setStep(static_cast<int32_t>(step.settings.step));
    rank.timeline->beginTurn();
  }
  std::fill(rank.versions.begin(), rank.versions.end(), -1);
  rank.lastOp.store(-1, std::memory_order_relaxed);
  rank.step.store(step.settings.step, std::memory_order_relaxed);
  rank.isInStep.store(true, std::memory_order_release);
}

template <typename WorkerT>
void ThreadedProgram<WorkerT>::leaveStep(WorkerT &worker) {
  uint32_t number = worker.numEnded.load(std::memory_order_relaxed);
  worker.inFlight[number % maxInFlight].failed = worker.rank.failed;
  uint32_t next = (number + 2) * oneStep;
  // Late work may come before the next step.
  if (worker.hasLate())
    next = (number + 1) * oneStep + (runsLateAtOnce ? 0 : lateBit);
  group.endStep(worker.rank.index, started, next);
}

//===----------------------------------------------------------------------===//
// Around a step
//===----------------------------------------------------------------------===//

template <typename WorkerT>
Status ThreadedProgram<WorkerT>::checkRunning() const {
  Status status = fault.status();
  if (status.ok() || isStepUnderWay())
    return Status::success();
  return !network ? status
                  : Status::error(status.message() + "; rank " +
                                  std::to_string(network->rank()) +
                                  " is before the step");
}

template <typename WorkerT>
void ThreadedProgram<WorkerT>::prepareStep(const void *const *inputs,
                                           const StepSettings &settings) {
  size_t slot = numBegun++ % maxInFlight;
  inFlight[slot].settings = settings;
  std::fill(inFlight[slot].results.begin(), inFlight[slot].results.end(),
            notReported);
  for (WorkerT *worker : local)
    selectInputs(*this, artifact.metadata, inputs, worker->rank,
                 worker->inFlight[slot].inputs);
}

template <typename WorkerT>
void ThreadedProgram<WorkerT>::abandonSteps(const std::string &why) {
  if (!isStepUnderWay())
    return;
  // The other processes need not wait until this rank has left its operation.
  if (network && fault.status().ok())
    network->announce(why);
  fault.raise(why);
  endSteps();
}

/// If ranks have computed the norm themselves, takes theirs, because a GPU adds
/// in a different order.
template <typename WorkerT>
void ThreadedProgram<WorkerT>::takeNorm(StepResult &result) const {
  if (program.clipSync == artifact::ClipSync::barrier)
    result.gradientNorm = result.clip.norm;
}

template <typename WorkerT>
Status ThreadedProgram<WorkerT>::shareResults(size_t slot, StepResult &result) {
  const std::vector<double> &results = inFlight[slot].results;
  // All ranks have decided the same.
  result.clip = local.front()->inFlight[slot].clip;
  if (network) {
    Status shared =
        shareStep(*network, norms, results,
                  local.front()->inFlight[slot].squaredNorms, result);
    takeNorm(result);
    if (shared.ok() || !isStepUnderWay() || fault.status().ok())
      return shared;
    // If it is known where the rank has stopped, that says more than what this
    // thread waits for. A device may stop anywhere.
    Status stopped = stopAfterFault();
    const veeline_rank &rank = local.front()->rank;
    if (rank.failed && (fault.step() > 0 || rank.awaited >= 0))
      return stopped;
    failedStepNumber = inFlight[slot].settings.step;
    return shared;
  }
  result.results = results;
  result.gradientNorm = norms.norm([&](size_t rank) {
    return workers[rank]->inFlight[slot].squaredNorms.data();
  });
  takeNorm(result);
  return Status::success();
}

template <typename WorkerT>
Status ThreadedProgram<WorkerT>::localStatus() const {
  Status status = fault.status();
  if (status.ok() || !network)
    return status;
  std::string text = status.message();
  for (const WorkerT *worker : local)
    if (std::string place = stoppedAt(worker->rank.index);
        text.find(place) == std::string::npos)
      text += "; " + place;
  return Status::error(text);
}

template <typename WorkerT>
std::string ThreadedProgram<WorkerT>::stoppedAt(int32_t rank) const {
  const veeline_rank &stopped = workers[rank]->rank;
  // If the rank raised the fault itself, the message already says what it did.
  if (stopped.failed && stopped.awaited < 0)
    return "";
  ShortText text;
  group.describe(text, stopped);
  return std::string(text.view());
}

template <typename WorkerT>
void ThreadedProgram<WorkerT>::describe(ShortText &text) const {
  const char *known = network->knownFailure();
  std::string_view failure = known ? known : "";
  ShortText place;
  describePlace(place);
  text << "step " << currentStep() << ": " << failure;
  if (failure.find(place.view()) == std::string_view::npos)
    text << (failure.empty() ? "" : "; ") << place.view();
}

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_THREADEDPROGRAM_H
