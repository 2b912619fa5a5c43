//===- StepGraph.h - the step of all ranks as one graph --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_STEPGRAPH_H
#define VEELINE_RUNTIME_CUDA_STEPGRAPH_H

#include "Device.h"

#include <mutex>

namespace veeline::cuda {

class CudaRank;

/// What ranks that share a GPU issue in a step, captured once and replayed: one
/// launch instead of one call for each kernel. One graph for all of them, since
/// none may wait for an event of another one. Begun and ended by one thread.
class StepGraph {
public:
  explicit StepGraph(const Device &device) : device(device) {}
  StepGraph(const StepGraph &) = delete;
  StepGraph &operator=(const StepGraph &) = delete;
  ~StepGraph() { destroy(); }

  /// From here on what the ranks issue is captured, by one of them at a time.
  Status begin(const std::vector<CudaRank *> &ranks);
  /// Ends that, also where `fault` is an error, and makes the graph.
  Status end(const std::vector<CudaRank *> &ranks, const Status &fault);
  /// After all that the ranks' compute streams have before it.
  Status launch(const std::vector<CudaRank *> &ranks);
  /// Also while it runs: then it goes on to its end.
  void destroy();

private:
  Status join(const std::vector<CudaRank *> &ranks);

  const Device &device;
  std::mutex mutex;
  std::vector<Event> events; ///< By stream of all ranks.
  api::Graph graph = nullptr;
  api::GraphExec executable = nullptr;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_STEPGRAPH_H
