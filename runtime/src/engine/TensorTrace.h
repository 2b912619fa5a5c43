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

/// Of the elements of a tensor, computed in f64. A NaN among them makes all of
/// these NaN. `deviation` divides by n-1, and is 0 for one element.
struct TensorStatistics {
  double mean = 0, deviation = 0, least = 0, greatest = 0;
};

TensorStatistics measureTensor(artifact::DataType type, int64_t numElements,
                               const void *data);

/// Prints a line for each message and each gradient of a rank to standard
/// output, without delay, so that all up to a fault is seen. Only the rank's
/// own thread uses it, so that its lines are in order.
class TensorTrace {
public:
  /// Replaces the rank's channels, which are set before, by ones that print.
  /// `rank` owns this object.
  TensorTrace(veeline_rank &rank, const artifact::Metadata &metadata);

  /// `channel` is one of the program's, `number` counts its messages.
  void printMessage(const char *what, int32_t channel, uint32_t number,
                    const void *data) const;

  /// Bytes of the rank's arena, from an offset on; null after a fault.
  using Read = std::function<const char *(int64_t offset, int64_t bytes)>;
  /// Prints the norms of gradients, averaged over microbatches, at the end of a
  /// step: of parameters whose home the rank is, and for each of its chunks, if
  /// several chunks use a parameter. `squaredNorm` is the square of the norm of
  /// an entry of the rank's table of parameters.
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
