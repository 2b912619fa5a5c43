//===- CudaExecutor.h - ranks on GPUs ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_CUDAEXECUTOR_H
#define VEELINE_RUNTIME_CUDA_CUDAEXECUTOR_H

#include "Communicators.h"
#include "CudaOptions.h"
#include "CudaRank.h"
#include "DeviceUse.h"
#include "LocalTransport.h"
#include "NcclTransport.h"
#include "StepGraph.h"
#include "ThreadedProgram.h"
#include "TracedTransport.h"

#include <map>
#include <new>

namespace veeline::cuda {

struct CudaWorker : engine::RankWorker<CudaRank> {
  /// The number of steps that the device has run, except their late work, or
  /// that have failed; and the number including late work. Written by the
  /// thread that waits for the device: the rank's, or the caller's if steps are
  /// replayed.
  std::atomic<uint32_t> numReached{0}, numSettled{0};
  bool hasFailedStep = false; ///< Used only by that thread.
  /// The rank's transport, if ranks are threads.
  LocalTransport *transport = nullptr;
  std::shared_ptr<Device> device;
  /// The status of making the device current.
  Status current = Status::success();
};

/// Runs a program on GPUs. Each rank has a thread that issues its steps. It
/// waits for its device only if the next step has not begun. Steps follow one
/// another in the streams of each rank.
class CudaExecutor final : public engine::ThreadedProgram<CudaWorker> {
public:
  static Expected<std::unique_ptr<CudaExecutor>>
  create(const artifact::Artifact &artifact, const artifact::Program &program,
         const CudaOptions &options);
  /// Called after stop().
  ~CudaExecutor() override;
  /// Ends the executor's threads, and destroys it unless work was abandoned.
  static void operator delete(CudaExecutor *executor, std::destroying_delete_t);

  Status begin(const void *const *inputs,
               const StepSettings &settings) override;
  Status finish(StepResult &result) override;
  int32_t maxStepsInFlight() const override { return stepsInFlight; }
  Status write(int32_t rank, int64_t offset, const void *source,
               int64_t bytes) override;
  Status read(int32_t rank, int64_t offset, void *target,
              int64_t bytes) override;

  /// A remark for users about how the program runs, or empty.
  const std::string &remark() const { return note; }
  engine::Pulse pulse() const override;

  /// The memory in use on the GPU of a rank of this process, whose arena was
  /// poisoned. Called between steps.
  Expected<DeviceUse> memoryOf(int32_t rank) const;
  std::vector<std::vector<engine::Event>>
  timeline(int32_t steps) const override;

private:
  struct OpenDevice {
    std::shared_ptr<Device> device;
    std::optional<StepOrigin> origin; ///< Only with a timeline.
  };

  /// The first step runs directly, and uses every event. The second is captured
  /// as a graph, which later steps replay. First steps of programs with late
  /// work do not count, unless all steps are such.
  enum class Mode { eager, capture, replay };

  CudaExecutor(const artifact::Artifact &artifact,
               const artifact::Program &program, const CudaOptions &options);
  Status prepare(const CudaOptions &options);
  Status prepareLocal(const CudaOptions &options);
  Status loadLibraries(const CudaOptions &options);
  Status loadCudnn(const CudaOptions &options);
  void noteMissing();
  Status openDevices(const CudaOptions &options);
  Status openDevice(int32_t rank, int32_t ordinal, const CudaOptions &options);
  Status allocateArenas(const OpenDevice &entry);
  Status tooLittle(const Device &device, int64_t available,
                   int64_t total) const;
  Status addChannels();
  Status addLocalChannel(int32_t index);
  Status prepareRank(CudaWorker &worker, const CudaOptions &options);
  Status connect(const CudaOptions &options);
  void setTransport(CudaRank &rank, std::unique_ptr<Transport> newTransport,
                    const CudaOptions &options);
  Status addReductions();
  Expected<std::shared_ptr<DeviceReduction>>
  makeReduction(int32_t stage, int32_t index, size_t piece);
  void abortRanks() override;
  void runThread(CudaWorker &worker) override;
  void runStep(CudaWorker &worker) override;
  void runLate(CudaWorker &worker) override;
  static veeline_step_fn functionOf(const CudaWorker &worker);
  bool isRepeated() const;
  void passOver(CudaWorker &worker, uint32_t count) override;
  void issueStep(CudaWorker &worker);
  bool reachStep(CudaWorker &worker,
                 const std::function<bool()> &isEnough = nullptr);
  void settleStep(CudaWorker &worker, bool isLateOver);
  void reachSteps(CudaWorker &worker, uint32_t count);
  void settleSteps(CudaWorker &worker, uint32_t count);
  bool haveAll(std::atomic<uint32_t> CudaWorker::*number, uint32_t count) const;
  Status beginStep(CudaWorker &worker, size_t slot, bool isReplayed);
  bool canBeCaptured(const CudaOptions &options) const;
  std::vector<CudaRank *> allRanks() const;
  Status keepTimes(CudaWorker &worker, const CudaOptions &options);
  Status noteOrigins();
  void addTimes();
  Mode nextMode() const;
  Status beginCaptured(size_t slot);
  Status launchCaptured(size_t slot);
  void endCapture();
  template <typename Condition> void waitForThreads(Condition isDone);
  void waitUntilSettled(uint32_t count);
  void countReplayed();
  void endSteps() override;
  void endQueue();
  void prepareAbort();
  void leave();
  void stop();
  void lookAtMemory();

  Driver driver = {};
  BlasLt blas = {};
  Nccl nccl = {}; ///< If ranks are processes.
  std::optional<Cudnn> dnn;
  std::string note;
  /// By channel of the program, if ranks are threads. Null for lengths, which
  /// use channels of the host.
  std::vector<std::unique_ptr<DeviceChannel>> deviceChannels;
  DeviceWatch watch;                     ///< If ranks are threads.
  std::map<int32_t, OpenDevice> devices; ///< By ordinal.
  /// The communicators, if ranks are processes, each of which has one rank.
  std::unique_ptr<Communicators> communicators;
  NcclTransport *transport = nullptr;
  bool isBetweenSteps = false; ///< Also false after a failed step.
  /// The mode of the newest step. Between steps, threads read it.
  Mode mode = Mode::eager;
  std::atomic<bool> isReplaying{false};
  bool isCapturable = false;
  /// The number of steps for which `isRepeated` held.
  int64_t numRepeated = 0;
  bool hasAskedForLate = false; ///< Whether threads run late work alone.
  bool isMeasured = false;      ///< Whether MemoryBooks are in use.
  const int32_t stepsInFlight;
  /// Whether threads were left behind, which the driver may block forever.
  bool hasLeftThreads = false;
  std::unique_ptr<StepGraph> graph;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_CUDAEXECUTOR_H
