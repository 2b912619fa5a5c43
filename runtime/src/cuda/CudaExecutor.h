//===- CudaExecutor.h - ranks on GPUs --------------------------*- C++ -*-===//
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
#include "LoadedProgram.h"
#include "LocalTransport.h"
#include "NcclTransport.h"
#include "Object.h"
#include "StepGraph.h"
#include "TracedTransport.h"

#include <map>
#include <new>
#include <thread>

namespace veeline::cuda {

/// Runs a program for a GPU with one thread per rank, which issues its steps,
/// or one of its ranks where the others are processes of a network.
/// `artifact` and `program` (one of its programs) outlive it.
class CudaExecutor final : public engine::LoadedProgram {
public:
  static Expected<std::unique_ptr<CudaExecutor>>
  create(const artifact::Artifact &artifact, const artifact::Program &program,
         const CudaOptions &options);
  /// Of who has stopped it.
  ~CudaExecutor() override;
  /// Ends its threads, and destroys it but where it has abandoned work.
  static void operator delete(CudaExecutor *executor, std::destroying_delete_t);

  Status begin(const void *const *inputs,
               const StepSettings &settings) override;
  Status finish(StepResult &result) override;
  Status write(int32_t rank, int64_t offset, const void *source,
               int64_t bytes) override;
  Status read(int32_t rank, int64_t offset, void *target,
              int64_t bytes) override;

  /// True where the rank runs in this process; what follows is of such ranks.
  bool isLocal(int32_t rank) const override { return workers[rank] != nullptr; }
  int32_t firstReplica() const override {
    return network
               ? program.placeOf(static_cast<size_t>(network->rank())).replica
               : 0;
  }
  int32_t numReplicas() const override {
    return network ? 1 : program.replicas;
  }
  /// What users should know of how it runs; empty: nothing.
  const std::string &remark() const { return note; }
  std::string stoppedAt(int32_t rank) const override;

  // Where other processes run the other ranks; from any thread.
  void raise(const std::string &failure) override { fault.raise(failure); }
  engine::Pulse pulse() const override;
  void describePlace(ShortText &text) const override;
  void describe(ShortText &text) const override;
  int64_t currentStep() const override { return settings.step; }

  /// Of the GPU of a rank of this process, whose arena was poisoned, between
  /// steps.
  Expected<DeviceUse> memoryOf(int32_t rank) const;
  std::vector<std::vector<engine::Event>>
  timeline(int32_t steps) const override;

private:
  /// A thread and what it works on.
  struct Worker {
    CudaRank rank;
    LocalTransport *transport = nullptr; ///< The rank's, among threads.
    engine::Object object;
    veeline_step_fn step = nullptr;
    std::shared_ptr<Device> device;
    /// From the first microbatch of the rank's replica on.
    std::vector<const void *> inputs;
    pid_t threadNumber = 0;
    std::thread thread;
  };

  struct OpenDevice {
    std::shared_ptr<Device> device;
    std::optional<StepOrigin> origin; ///< Where times are kept.
  };

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
  Status findStep(int32_t index, const CudaOptions &options);
  Status prepareRank(int32_t index, const CudaOptions &options);
  Status connect(const CudaOptions &options);
  void setTransport(CudaRank &rank, std::unique_ptr<Transport> newTransport,
                    const CudaOptions &options);
  Status addReductions();
  Expected<std::shared_ptr<DeviceReduction>>
  makeReduction(int32_t stage, int32_t index, size_t piece);
  Status startThreads();
  void runWorker(Worker &worker);
  void runStep(Worker &worker);
  bool canBeCaptured(const CudaOptions &options) const;
  std::vector<CudaRank *> allRanks() const;
  Status keepTimes(Worker &worker, const CudaOptions &options);
  Status setOrigins();
  Status beginCaptured();
  Status finishCaptured();
  void waitUntilDone();
  void prepareAbort();
  void leave();
  void stop();
  Status localStatus();
  void lookAtMemory();
  Status shareResults(StepResult &result);

  const artifact::Artifact &artifact;
  const artifact::Program &program;
  engine::Network *const network;
  Driver driver = {};
  BlasLt blas = {};
  Nccl nccl = {}; ///< Among processes.
  std::optional<Cudnn> dnn;
  std::string note;
  engine::Group group;
  engine::Fault fault;
  /// By channel of the program: one of either is there, unless NCCL has it, or
  /// other processes do.
  std::vector<std::unique_ptr<DeviceChannel>> deviceChannels;
  std::vector<std::unique_ptr<engine::Channel>> lengthChannels;
  DeviceWatch watch;                            ///< Of threads.
  std::map<int32_t, OpenDevice> devices;        ///< By ordinal.
  std::vector<std::unique_ptr<Worker>> workers; ///< By rank; null: elsewhere.
  std::vector<Worker *> local;
  /// Of this process, which has one rank.
  std::unique_ptr<Communicators> communicators;
  NcclTransport *transport = nullptr;
  bool isBetweenSteps = false; ///< And no step has failed.
  std::vector<double> results;
  StepSettings settings;
  /// The first step runs as it is issued and uses every event, the second one
  /// is captured, and from then on the graph is all that runs.
  enum class Mode { eager, capture, replay } mode = Mode::eager;
  std::atomic<bool> isReplaying{false};
  bool isCapturable = false;
  bool isMeasured = false; ///< What takes memory of the devices.
  int64_t stepsDone = 0;
  std::unique_ptr<StepGraph> graph;

  engine::WaitWord started; ///< Counts steps; the workers sleep on it.
  engine::WaitWord done;    ///< Counts steps of workers.
  uint32_t doneTarget = 0;
  bool stopping = false; ///< Published by `started`.
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_CUDAEXECUTOR_H
