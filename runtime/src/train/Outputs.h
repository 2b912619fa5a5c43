//===- Outputs.h - writing tensors that are results -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_OUTPUTS_H
#define VEELINE_RUNTIME_TRAIN_OUTPUTS_H

#include "Session.h"
#include "veeline/Base/Spool.h"

namespace veeline::train {

/// Collects results that are tensors, in the order of steps and, within a step,
/// of microbatches. They are concatenated along the first dimension, if
/// microbatches have one. If the length varies, a microbatch has its own number
/// of rows, and its other dimensions are padded with zeros. In the first
/// process they wait in files until they are written.
class Outputs {
public:
  /// Fails if the artifact has no such results, or if the file cannot represent
  /// them.
  static Expected<Outputs> open(const Run &run);

  /// Adds the results of step `step`, the last one of `session`. All processes
  /// must call it.
  Status add(const Session &session, int64_t step);
  /// Writes the file atomically, in the first process.
  Status write() const;

private:
  struct Tensor {
    size_t result;
    Spool spool; ///< In the first process.
    int64_t rows = 0;
  };

  explicit Outputs(const Run &run) : run(run) {}
  data::SafeTensorsEntry entryOf(const Tensor &tensor) const;
  std::string pack(Tensor &tensor, const std::vector<int64_t> &lengths,
                   std::string_view bytes) const;

  const Run &run;
  std::vector<Tensor> tensors;
};

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_OUTPUTS_H
