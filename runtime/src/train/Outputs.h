//===- Outputs.h - writing tensors that are results -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_OUTPUTS_H
#define VEELINE_RUNTIME_TRAIN_OUTPUTS_H

#include "Session.h"

namespace veeline::train {

/// Collects results that are tensors, in the order of steps and, within a step,
/// of microbatches. They are concatenated along the first dimension, if
/// microbatches have one. The first process keeps them in memory until they are
/// written.
class Outputs {
public:
  /// Fails if the artifact has no such results, or if the file cannot represent
  /// them.
  static Expected<Outputs> open(const Run &run);

  /// Adds the results of the last step of `session`. All processes must call
  /// it.
  Status add(const Session &session);
  /// Writes the file atomically, in the first process.
  Status write() const;

private:
  struct Tensor {
    size_t result;
    std::string bytes;
  };

  explicit Outputs(const Run &run) : run(run) {}
  data::SafeTensorsEntry entryOf(const Tensor &tensor) const;

  const Run &run;
  std::vector<Tensor> tensors;
  int64_t microbatches = 0;
};

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_OUTPUTS_H
