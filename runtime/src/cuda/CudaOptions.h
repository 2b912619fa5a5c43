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
  /// Files of libraries; empty: the usual ones.
  std::string driver, blasLt, nccl;
  /// The same. Without cuDNN ("none", or empty and not found), convolutions are
  /// matrix products and attention runs in kernels of the artifact.
  std::string cudnn;
  /// The GPU of each rank, in the driver's numbering. If ranks are processes, a
  /// single number is that of this process. Empty: GPU 0 or, for processes,
  /// that of the local rank.
  std::vector<int32_t> devices;
  /// The least and the greatest number of channels that NCCL uses for a
  /// communicator; 0: NCCL chooses.
  int32_t minNcclChannels = 0, maxNcclChannels = 0;
  /// Issue each step anew, and never replay a graph.
  bool isEager = false;
  /// Fill arenas with a pattern that shows which bytes were written.
  bool poison = false;
  /// Print statistics of each message and each gradient.
  bool traceTensors = false;
  /// Check that each message is the expected one, as builds with checks do. The
  /// same in all processes.
  bool checkMessages = false;
  /// How many of the last events each rank's timeline keeps; 0: no timeline.
  /// With one, every step is issued anew.
  size_t timelineEvents = 0;
  /// If given, one rank runs in this process, and each other one in a process
  /// with a GPU of its own. Outlives the executor.
  engine::Network *network = nullptr;
  /// If given, loads what else the process runs on its GPU. Called before it
  /// connects to other processes, after which nothing is to be loaded (see
  /// `rehearse`).
  std::function<Status()> loadOthers;
  /// The number of this process on its machine, if the launcher gives it.
  std::optional<int32_t> localRank;
  /// How many steps may be begun and not finished, at most engine::maxInFlight.
  /// No more than one where memory is measured or tensors are printed.
  int32_t stepsInFlight = 2;
  /// How long processes may take to meet, and ranks to stop after a fault.
  double timeoutSeconds = 30;
  /// How long a rank that is a thread, or its GPU, may make no progress.
  double stallSeconds = 3600;
  /// If given, one per rank: run these instead of the artifact's objects.
  std::vector<veeline_step_fn> steps;
  /// The same of steps of which some work is late.
  std::vector<engine::LateFunctions> lateFunctions;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_CUDAOPTIONS_H
