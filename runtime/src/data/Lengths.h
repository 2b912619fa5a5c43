//===- Lengths.h - lengths of microbatches ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_DATA_LENGTHS_H
#define VEELINE_RUNTIME_DATA_LENGTHS_H

#include "Source.h"

namespace veeline::data {

/// The lengths of microbatches, for a model whose length varies. A microbatch
/// has the length of its longest sample, rounded up to the next length for
/// which the model was compiled. Without a file, all microbatches have the
/// greatest length.
class Lengths {
public:
  /// Parses the content of the .npy file at `path`, which has an integer from 1
  /// to `bound` for each sample.
  static Expected<Tensor> parse(const std::string &path, std::string_view file,
                                int64_t bound);
  /// All microbatches have the greatest length.
  static std::unique_ptr<Lengths> greatest(const artifact::Metadata &metadata,
                                           int64_t microbatches);
  /// The lengths of `file`, as parsed, or a part of it. A microbatch has
  /// `samples` samples. The arrays of arguments whose length varies have
  /// `numSamples`, which is 0 if there are no such arrays.
  static Expected<std::unique_ptr<Lengths>>
  open(const artifact::Metadata &metadata, int64_t microbatches,
       const std::string &path, const Tensor &file, int64_t samples,
       int64_t numSamples, bool shuffle, bool dropLast, uint64_t seed);

  /// The lengths of the microbatches of step `step`. Steps have to ascend.
  const std::vector<int64_t> &ofStep(int64_t step);

  /// Removes the padding within the shorter ones of `count` microbatches of
  /// `batch`, which are at `data` and start at microbatch `first` of the step.
  /// The microbatches themselves do not move.
  void pack(const artifact::Batch &batch, int64_t step, int64_t first,
            int64_t count, char *data);

  /// The source of the lengths; null without a file.
  Source *source() const { return lengthSource.get(); }

private:
  Lengths(const artifact::Metadata &metadata, int64_t microbatches,
          int64_t samples);

  Status check(const std::string &path, int64_t count, int64_t numSamples,
               bool dropLast) const;

  const artifact::Metadata &metadata;
  const int64_t samples; ///< The samples of a microbatch.
  std::vector<int64_t> values;
  std::unique_ptr<ArraySource> lengthSource;
  std::vector<int64_t> stepSamples;
  std::vector<int64_t> current;
  int64_t currentStep = 0;
};

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_LENGTHS_H
