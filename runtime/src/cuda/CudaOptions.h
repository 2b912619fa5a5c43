//===- CudaOptions.h - options of GPUs and their libraries ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_CUDAOPTIONS_H
#define VEELINE_RUNTIME_CUDA_CUDAOPTIONS_H

#include "LoadedProgram.h"
#include "Network.h"

#include "veeline/runtime.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace veeline::cuda {

struct CudaOptions {
  /// Files of libraries. If empty, the usual ones.
  std::string driver, blasLt, nccl;
  /// The file of cuDNN. Without cuDNN ("none", or empty and not found),
  /// convolutions are matrix products, and attention runs in kernels of the
  /// artifact.
  std::string cudnn;
  /// The GPU of each rank, in the driver's numbering. If ranks are processes, a
  /// single number is the GPU of this process. If empty, GPU 0 or, for
  /// processes, that of the local rank.
  std::vector<int32_t> devices;
  /// The minimal and maximal number of channels that NCCL uses for a
  /// communicator. If 0, NCCL chooses.
  int32_t minNcclChannels = 0, maxNcclChannels = 0;
  /// Whether to issue each step directly, and never replay a graph.
  bool isEager = false;
  /// Whether to fill arenas with a pattern that shows which bytes were written.
  bool poison = false;
  /// Whether to print statistics of each message and each gradient.
  bool traceTensors = false;
  /// Whether to check that each message is the expected one, as builds with
  /// checks do. Must be the same in all processes.
  bool checkMessages = false;
  /// The number of events that each rank's timeline keeps, or 0 for no
  /// timeline. With a timeline, every step is issued directly.
  size_t timelineEvents = 0;
  /// If set, one rank runs in this process, and each other one in a process
  /// with its own GPU. The network must outlive the executor.
  engine::Network *network = nullptr;
  /// If set, loads everything else that the process runs on its GPU. Called
  /// before the process connects to others. Nothing should be loaded after that
  /// (see `rehearse`).
  std::function<Status()> loadOthers;
  /// The number of this process on its machine, if the launcher gives it.
  std::optional<int32_t> localRank;
  /// The number of steps that may be in flight, at most engine::maxInFlight.
  /// Must be at most one if memory is measured or tensors are printed.
  int32_t stepsInFlight = 2;
  /// The time that processes may take to meet, and that ranks may take to stop
  /// after a fault.
  double timeoutSeconds = 30;
  /// The time for which a rank that is a thread, or its GPU, may make no
  /// progress.
  double stallSeconds = 3600;
  /// If set, one function for each rank, to run instead of the artifact's
  /// objects.
  std::vector<veeline_step_fn> steps;
  /// If set, functions for steps with late work, to run instead of the
  /// artifact's objects.
  std::vector<engine::LateFunctions> lateFunctions;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_CUDAOPTIONS_H
