//===- TensorTrace.h - printing tensors of a step ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_TENSORTRACE_H
#define VEELINE_RUNTIME_ENGINE_TENSORTRACE_H

#include "Channel.h"

#include <functional>
#include <memory>
#include <string>

namespace veeline::engine {

/// Statistics of the elements of a tensor, computed in f64. If one of the
/// elements is a NaN, so are all statistics. `deviation` divides by n-1, and is
/// 0 for one element.
struct TensorStatistics {
  double mean = 0, deviation = 0, least = 0, greatest = 0;
};

TensorStatistics measureTensor(artifact::DataType type, int64_t numElements,
                               const void *data);

/// Prints a line for each message and each gradient of a rank to standard
/// output. Lines are written without delay, so that all lines before a fault
/// are seen. Only the rank's own thread uses this object, so that its lines are
/// in order.
class TensorTrace {
public:
  /// Replaces the rank's channels, which are already set, by channels that
  /// print. `rank` owns this object.
  TensorTrace(veeline_rank &rank, const artifact::Metadata &metadata);

  /// Prints a message. `channel` is one of the program's, `number` counts its
  /// messages.
  void printMessage(const char *what, int32_t channel, uint32_t number,
                    const void *data) const;

  /// Reads bytes of the rank's arena, from an offset on. Returns null after a
  /// fault.
  using Read = std::function<const char *(int64_t offset, int64_t bytes)>;
  /// Prints the norms of gradients, averaged over microbatches, at the end of a
  /// step. This covers the parameters whose home is this rank, and each of its
  /// chunks if several chunks use a parameter. `squaredNorm` is the squared
  /// norm of an entry of the rank's table of parameters.
  void printGradients(const Read &read,
                      const std::function<double(size_t)> &squaredNorm) const;

private:
  void printGradient(const artifact::RankParam &entry, double norm,
                     const std::string &of) const;
  double normOf(const artifact::RankParam &entry, const char *gradient) const;
  int64_t bytesOf(const artifact::RankParam &entry) const;
  bool isShared(int32_t param) const;
  void print(std::string line) const;

  veeline_rank &rank;
  const artifact::Metadata &metadata;
  std::vector<std::unique_ptr<Channel>> ends;
};

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_TENSORTRACE_H
