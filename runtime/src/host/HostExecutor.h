//===- HostExecutor.h - ranks as threads ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_HOST_HOSTEXECUTOR_H
#define VEELINE_RUNTIME_HOST_HOSTEXECUTOR_H

#include "HostRank.h"
#include "ThreadedProgram.h"

#include <array>
#include <map>

namespace veeline::host {

/// The current activity of a rank's thread.
enum class Activity { loading, step, waiting };

struct HostOptions {
  /// The number of events that each rank keeps, or 0 for no timeline.
  size_t timelineEvents = 0;
  /// Whether to fill arenas with a pattern, for Arena::highWaterMark.
  bool poison = false;
  /// Whether to print statistics of each message and each gradient.
  bool traceTensors = false;
  /// Whether to compare messages that arrive to the expected ones. Builds with
  /// checks always do.
  bool checkMessages = false;
  /// The number of steps that may be in flight, at most engine::maxInFlight.
  int32_t stepsInFlight = engine::maxInFlight;
  /// If set, each rank's thread calls this before it begins an activity. For
  /// counting allocations.
  void (*announce)(Activity activity) = nullptr;
  /// If set, one function for each rank, to run instead of the artifact's
  /// objects.
  std::vector<veeline_step_fn> steps;
  /// If set, functions for steps with late work, to run instead of the
  /// artifact's objects.
  std::vector<engine::LateFunctions> lateFunctions;
  /// If set, only one rank runs here, and each other one in a process of its
  /// own. The network must outlive the executor.
  engine::Network *network = nullptr;
};

struct HostWorker : engine::RankWorker<HostRank> {
  engine::Arena arena, hostArena;
  Status prepared = Status::success();
  std::atomic<bool> isPrepared{false};
  int64_t stepEnd = 0; ///< In nanoseconds(); 0 before the first step.
  /// Whether the timeline already has the idle time from `stepEnd` to the end
  /// of all ranks.
  bool hasIdleTail = false;
};

/// Runs a program on CPUs.
class HostExecutor final : public engine::ThreadedProgram<HostWorker> {
public:
  static Expected<std::unique_ptr<HostExecutor>>
  create(const artifact::Artifact &artifact, const artifact::Program &program,
         const HostOptions &options = {});
  ~HostExecutor() override;

  Status begin(const void *const *inputs,
               const StepSettings &settings) override;
  Status finish(StepResult &result) override;
  int32_t maxStepsInFlight() const override { return stepsInFlight; }
  Status write(int32_t rank, int64_t offset, const void *source,
               int64_t bytes) override;
  Status read(int32_t rank, int64_t offset, void *target,
              int64_t bytes) override;

  engine::Pulse pulse() const override;
  const engine::Arena &arena(int32_t rank) const {
    return workers[rank]->arena;
  }
  /// The arena of a rank's offloaded values.
  const engine::Arena &hostArena(int32_t rank) const {
    return workers[rank]->hostArena;
  }
  const library::CallTable &gemms(int32_t rank) const {
    return workers[rank]->rank.gemms;
  }
  const library::CallTable &convolutions(int32_t rank) const {
    return workers[rank]->rank.convolutions;
  }
  /// The bytes of buffers for first messages whose receivers are still in the
  /// step before.
  int64_t spareBytes() const;
  /// The bytes of the memory that a rank's sends write to after a fault.
  int64_t discardBytes(int32_t rank) const {
    return static_cast<int64_t>(workers[rank]->rank.discard.size());
  }
  std::vector<std::vector<engine::Event>>
  timeline(int32_t steps) const override;

private:
  HostExecutor(const artifact::Artifact &artifact,
               const artifact::Program &program, const HostOptions &options);

  Status prepare(const HostOptions &options);
  Status prepareLocal(const HostOptions &options);
  void addChannel(int32_t index);
  bool hasSpare(const artifact::Channel &channel) const {
    return stepsInFlight > 1 && !network &&
           channel.kind == artifact::ChannelKind::activation;
  }
  Status prepareWorker(int32_t index, const HostOptions &options);
  void addReductions(HostWorker &worker);
  void abortRanks() override;
  void runThread(HostWorker &worker) override;
  void runStep(HostWorker &worker) override;
  void runLate(HostWorker &worker) override;
  void beginTurn(HostWorker &worker);
  /// Ends a turn. `isWhole` means that no work of the step is left for the next
  /// one.
  void endTurn(HostWorker &worker, bool isWhole);
  bool awaitClip(HostWorker &worker, Clip &clip);
  void beginAnew(HostWorker &worker);
  Status judge(size_t slot, StepResult &result);
  Status meetAfterLate();
  void startLateIfAlone();
  void settleNorms();
  void settleStep();
  Status prepareCalls();
  static void printGradients(const HostWorker &worker);
  void enter(Activity activity) const {
    if (announce)
      announce(activity);
  }
  /// Waits until the progress of workers makes `isDone` return true.
  template <typename Condition> void waitUntil(Condition isDone);
  void addIdleTails();
  void checkIdle(const HostWorker &worker) const;
  void endSteps() override;
  int64_t maxMessageBytes() const;

  /// Sums between ranks that are threads, by stage, reduction and piece.
  std::map<std::array<int32_t, 3>, std::shared_ptr<engine::SharedSum>> sums;
  void (*const announce)(Activity activity);
  const int32_t stepsInFlight;
  /// Twice the number of steps whose StepInFlight::clip is known, plus 1 after
  /// a fault. Ranks that validate their updates sleep on it.
  WaitWord judged;
};

} // namespace veeline::host

#endif // VEELINE_RUNTIME_HOST_HOSTEXECUTOR_H
