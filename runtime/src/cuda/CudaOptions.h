//===- CudaOptions.h - which libraries and GPUs to use ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_CUDAOPTIONS_H
#define VEELINE_RUNTIME_CUDA_CUDAOPTIONS_H

#include "Network.h"

#include "veeline/runtime.h"

#include <optional>
#include <string>
#include <vector>

namespace veeline::cuda {

struct CudaOptions {
  /// Files, or empty for the usual ones.
  std::string driver, blasLt, nccl;
  /// The same; "none": convolutions are matrix products, as where there is no
  /// usual one.
  std::string cudnn;
  /// Of each rank, as the driver counts them. Empty: the first one or, where
  /// ranks are processes, that of the local rank.
  std::vector<int32_t> devices;
  /// How many channels NCCL may use of a communicator, at least and at most; 0:
  /// what it chooses.
  int32_t minNcclChannels = 0, maxNcclChannels = 0;
  /// Issue each step anew, and never replay a graph.
  bool isEager = false;
  /// Fill arenas with what shows whether it was written.
  bool poison = false;
  /// Print statistics of each message and each gradient.
  bool traceTensors = false;
  /// Compare what each message is with what is expected, as in builds with
  /// checks. The same in all processes.
  bool checkMessages = false;
  /// Events that each rank keeps of when its operations ran, of steps that are
  /// issued anew; 0: no timeline.
  size_t timelineEvents = 0;
  /// Where given, one rank runs here and each other one in a process with a GPU
  /// of its own. Outlives the executor.
  engine::Network *network = nullptr;
  /// Which process of its machine this is, as the launcher says.
  std::optional<int32_t> localRank;
  /// How long processes may take to meet, and ranks to stop after a fault.
  double timeoutSeconds = 30;
  /// How long a rank that is a thread, or its GPU, may be at one operation.
  double stallSeconds = 3600;
  /// Where given, one per rank: run these instead of the artifact's objects.
  std::vector<veeline_step_fn> steps;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_CUDAOPTIONS_H
