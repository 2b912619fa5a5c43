//===- TensorTrace.h - tensors of a step, printed ---------------*- C++ -*-===//
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
/// these NaN; `deviation` has n-1 under the fraction, and is 0 for one element.
struct TensorStatistics {
  double mean = 0, deviation = 0, least = 0, greatest = 0;
};

TensorStatistics measureTensor(artifact::DataType type, int64_t numElements,
                               const void *data);

/// Prints a line for each message and each gradient of a rank to standard
/// output, at once, so that what went by before a fault is seen. Used by the
/// rank's own thread alone, which gives its lines an order.
class TensorTrace {
public:
  /// From now on what `rank` sends and receives by its channels goes through
  /// this object, which it owns. After the rank's channels are set.
  TensorTrace(veeline_rank &rank, const artifact::Metadata &metadata);

  /// `channel` is one of the program's, `number` counts its messages.
  void printMessage(const char *what, int32_t channel, uint32_t number,
                    const void *data) const;

  /// Bytes of the rank's arena, from an offset on; null after a fault.
  using Read = std::function<const char *(int64_t offset, int64_t bytes)>;
  /// The norms of what the rank's chunks have added up in this step, averaged
  /// over microbatches. At its end. `squaredNorm` is the square of that of an
  /// entry of the rank's table of parameters.
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
