//===- Outputs.h - writing tensors that are results -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_OUTPUTS_H
#define VEELINE_RUNTIME_TRAIN_OUTPUTS_H

#include "Session.h"

namespace veeline::train {

/// Collects results that are tensors, of all steps in order and of a step's
/// microbatches in order: along the first dimension, where microbatches have
/// one. Where the length varies, a microbatch has as many rows as it gives, and
/// its other dimensions are filled up with zeros. They stay in the memory of
/// the first process until they are written.
class Outputs {
public:
  /// Fails if the artifact has no such results, or the file cannot have them.
  static Expected<Outputs> open(const Run &run);

  /// Adds those of step `step`, the last one of `session`. All processes must
  /// call it.
  Status add(const Session &session, int64_t step);
  /// Writes the file, whole or not at all, in the first process.
  Status write() const;

private:
  struct Tensor {
    size_t result;
    std::string bytes;
    int64_t rows = 0;
  };

  explicit Outputs(const Run &run) : run(run) {}
  data::SafeTensorsEntry entryOf(const Tensor &tensor) const;
  void pack(Tensor &tensor, const std::vector<int64_t> &lengths,
            std::string_view bytes) const;

  const Run &run;
  std::vector<Tensor> tensors;
};

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_OUTPUTS_H
