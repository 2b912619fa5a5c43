//===- CudaExecutor.h - ranks on GPUs --------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_CUDAEXECUTOR_H
#define VEELINE_RUNTIME_CUDA_CUDAEXECUTOR_H

#include "CudaOptions.h"
#include "CudaRank.h"
#include "LoadedProgram.h"
#include "Object.h"
#include "StepGraph.h"

#include <thread>

namespace veeline::cuda {

/// Runs a program for a GPU with one thread per rank, which issues its steps.
/// `artifact` and `program` (one of its programs) outlive it.
class CudaExecutor final : public host::LoadedProgram {
public:
  static Expected<std::unique_ptr<CudaExecutor>>
  create(const artifact::Artifact &artifact, const artifact::Program &program,
         const CudaOptions &options);
  ~CudaExecutor() override;

  Status begin(const void *const *inputs,
               const StepSettings &settings) override;
  Status finish(StepResult &result) override;
  Status write(int32_t rank, int64_t offset, const void *source,
               int64_t bytes) override;
  Status read(int32_t rank, int64_t offset, void *target,
              int64_t bytes) override;

  bool isLocal(int32_t) const override { return true; }
  int32_t firstReplica() const override { return 0; }
  int32_t numReplicas() const override { return program.replicas; }
  std::string stoppedAt(int32_t rank) const override;
  std::vector<std::vector<host::Event>> timeline(int32_t) const override {
    return {};
  }

private:
  /// A thread and what it works on.
  struct Worker {
    CudaRank rank;
    host::Object object;
    veeline_step_fn step = nullptr;
    std::shared_ptr<Device> device;
    /// From the first microbatch of the rank's replica on.
    std::vector<const void *> inputs;
    std::thread thread;
  };

  CudaExecutor(const artifact::Artifact &artifact,
               const artifact::Program &program);

  Status prepare(const CudaOptions &options);
  Status loadLibraries(const CudaOptions &options);
  Status openDevices(const CudaOptions &options);
  Status addChannels();
  Status findStep(int32_t index, const CudaOptions &options);
  Status prepareRank(int32_t index);
  Status addReductions();
  Expected<std::shared_ptr<DeviceReduction>>
  makeReduction(int32_t stage, int32_t index, size_t piece);
  Status startThreads();
  void runWorker(Worker &worker);
  void runStep(Worker &worker);
  bool canBeCaptured(const CudaOptions &options) const;
  std::vector<CudaRank *> allRanks() const;
  Status beginCaptured();
  Status finishCaptured();
  void waitUntilDone();

  const artifact::Artifact &artifact;
  const artifact::Program &program;
  Driver driver = {};
  BlasLt blas = {};
  host::Group group;
  host::Fault fault;
  /// By channel of the program: one of either is there.
  std::vector<std::unique_ptr<DeviceChannel>> deviceChannels;
  std::vector<std::unique_ptr<host::Channel>> lengthChannels;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<double> results;
  StepSettings settings;
  /// The first step runs as it is issued and uses every event, the second one
  /// is captured, and from then on the graph is all that runs.
  enum class Mode { eager, capture, replay } mode = Mode::eager;
  bool isCapturable = false;
  int64_t stepsDone = 0;
  std::unique_ptr<StepGraph> graph;

  host::WaitWord started; ///< Counts steps; the workers sleep on it.
  host::WaitWord done;    ///< Counts steps of workers.
  uint32_t doneTarget = 0;
  bool stopping = false; ///< Published by `started`.
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_CUDAEXECUTOR_H
