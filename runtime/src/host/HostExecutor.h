//===- HostExecutor.h - ranks as threads -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_HOST_HOSTEXECUTOR_H
#define VEELINE_RUNTIME_HOST_HOSTEXECUTOR_H

#include "HostRank.h"
#include "LoadedProgram.h"
#include "Network.h"
#include "Object.h"

#include <array>
#include <map>
#include <thread>

namespace veeline::host {

/// What the thread of a rank does.
enum class Activity { loading, step, waiting };

struct HostOptions {
  /// Events that each rank keeps; 0: no timeline.
  size_t timelineEvents = 0;
  /// Fill arenas with a pattern, for Arena::highWaterMark.
  bool poison = false;
  /// Print what goes by.
  bool traceTensors = false;
  /// Compare what arrives with what is expected; builds with checks always do.
  bool checkMessages = false;
  /// Where given, called by each rank's thread before it does something else;
  /// for counting allocations.
  void (*announce)(Activity activity) = nullptr;
  /// Where given, one per rank: run these instead of the artifact's objects.
  std::vector<veeline_step_fn> steps;
  /// Where given, one rank runs here and each other one in a process of its
  /// own. Outlives the executor.
  engine::Network *network = nullptr;
};

/// Runs a program with one thread per rank in this process, or one of its ranks
/// where the others are processes of a network. The threads live as long as the
/// executor. `artifact` and `program` (one of its programs) outlive it.
class HostExecutor final : public engine::LoadedProgram {
public:
  static Expected<std::unique_ptr<HostExecutor>>
  create(const artifact::Artifact &artifact, const artifact::Program &program,
         const HostOptions &options = {});
  ~HostExecutor() override;

  Status begin(const void *const *inputs,
               const StepSettings &settings) override;
  Status finish(StepResult &result) override;
  Status write(int32_t rank, int64_t offset, const void *source,
               int64_t bytes) override;
  Status read(int32_t rank, int64_t offset, void *target,
              int64_t bytes) override;

  /// True where the rank runs in this process; what follows is of such ranks.
  bool isLocal(int32_t rank) const override { return workers[rank] != nullptr; }
  engine::Network *otherProcesses() const { return network; }

  // Where other processes run the other ranks; from any thread.
  void raise(const std::string &failure) override { fault.raise(failure); }
  engine::Pulse pulse() const override;
  void describePlace(ShortText &text) const override;
  int64_t currentStep() const override { return settings.step; }

  int32_t firstReplica() const override {
    return network
               ? program.placeOf(static_cast<size_t>(network->rank())).replica
               : 0;
  }
  int32_t numReplicas() const override {
    return network ? 1 : program.replicas;
  }
  const engine::Arena &arena(int32_t rank) const {
    return workers[rank]->arena;
  }
  const CallTable &gemms(int32_t rank) const {
    return workers[rank]->rank.gemms;
  }
  const CallTable &convolutions(int32_t rank) const {
    return workers[rank]->rank.convolutions;
  }
  /// Of the place that a rank's sends write to after a fault.
  int64_t discardBytes(int32_t rank) const {
    return static_cast<int64_t>(workers[rank]->rank.discard.size());
  }
  std::string stoppedAt(int32_t rank) const override;
  void describe(ShortText &text) const override;
  std::vector<std::vector<engine::Event>>
  timeline(int32_t steps) const override;

private:
  /// A thread and what it works on.
  struct Worker {
    HostRank rank;
    engine::Arena arena;
    engine::Object object;
    veeline_step_fn step = nullptr;
    /// One per batch argument, from the first microbatch of the rank's replica
    /// on, then one per buffer.
    std::vector<const void *> inputs;
    Status prepared = Status::success();
    int64_t stepEnd = 0; ///< In nanoseconds().
    pid_t threadNumber = 0;
    std::thread thread;
  };

  HostExecutor(const artifact::Artifact &artifact,
               const artifact::Program &program, const HostOptions &options);

  Status prepare(const HostOptions &options);
  Status prepareLocal(const HostOptions &options);
  void addChannel(int32_t index);
  Status prepareWorker(int32_t index, const HostOptions &options);
  void addReductions(Worker &worker);
  Status startThreads();
  void runWorker(Worker &worker);
  static void printGradients(const Worker &worker);
  void waitUntilDone();
  void addIdleTails();
  int64_t maxMessageBytes() const;
  Status localStatus();

  const artifact::Artifact &artifact;
  const artifact::Program &program;
  engine::Network *const network;
  engine::Group group;
  std::vector<std::unique_ptr<engine::Channel>> channels;
  engine::Fault fault;
  std::vector<std::unique_ptr<Worker>> workers; ///< By rank; null: elsewhere.
  std::vector<Worker *> local;
  std::vector<int32_t> firstReplicaRanks; ///< The first one of each stage.
  /// Those of threads, by stage, reduction and piece.
  std::map<std::array<int32_t, 3>, std::shared_ptr<engine::SharedSum>> sums;
  std::vector<double> results;
  StepSettings settings;
  void (*const announce)(Activity activity);

  engine::WaitWord started; ///< Counts steps; the workers sleep on it.
  engine::WaitWord done; ///< Counts steps of workers; the caller sleeps on it.
  uint32_t doneTarget = 0;
  bool stopping = false; ///< Published by `started`.
};

} // namespace veeline::host

#endif // VEELINE_RUNTIME_HOST_HOSTEXECUTOR_H
