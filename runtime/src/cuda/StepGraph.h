//===- StepGraph.h - the step of all ranks as one graph ---------*- C++ -*-===//
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

/// A step of all ranks that share a GPU, captured once and replayed: one launch
/// instead of one call for each kernel. All ranks share one graph, because a
/// graph cannot wait for an event of another. One thread begins and ends the
/// capture.
class StepGraph {
public:
  explicit StepGraph(const Device &device) : device(device) {}
  StepGraph(const StepGraph &) = delete;
  StepGraph &operator=(const StepGraph &) = delete;
  ~StepGraph() { destroy(); }

  /// Begins to capture what the ranks issue. Only one rank may issue at a time.
  Status begin(const std::vector<CudaRank *> &ranks);
  /// Ends the capture and, unless `fault` is an error, creates the graph.
  Status end(const std::vector<CudaRank *> &ranks, const Status &fault);
  /// Launches the graph between what was issued to the ranks' first compute
  /// streams so far and what is issued from now on.
  Status launch(const std::vector<CudaRank *> &ranks);
  /// Destroys the graph. If it is running, it still runs to its end.
  void destroy();

private:
  Status join(const std::vector<CudaRank *> &ranks);
  Status gather(const std::vector<CudaRank *> &ranks);

  const Device &device;
  std::mutex mutex;
  std::vector<Event> events; ///< By rank. The first one forks.
  api::Graph graph = nullptr;
  api::GraphExec executable = nullptr;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_STEPGRAPH_H
