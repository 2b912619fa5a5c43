//===- SampleOrder.h - the order of samples of several files ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sample `number` of a training depends only on the seed and that number, so a
// position in the data is one number. docs/data.md has the formulas.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_DATA_SAMPLEORDER_H
#define VEELINE_RUNTIME_DATA_SAMPLEORDER_H

#include "Random.h"

#include <vector>

namespace veeline::data {

/// The samples of a block, in which each file occurs exactly as often as its
/// share says.
inline constexpr uint32_t samplesInBlock = 65536;

/// Divides a block into shares in proportion to `weights`, which are positive
/// and finite. Shares are rounded down, but are at least 1; the rest goes to
/// the largest remainders. There are at most `samplesInBlock` weights.
std::vector<uint32_t> sharesOf(const std::vector<double> &weights);

/// Returns element `index` of a permutation of [0, size), size <= 2^63, which
/// `stream` and `epoch` < 2^24 select. The permutation is a Feistel network of
/// eight rounds on the least sufficient even number of bits. It is applied
/// again until the result is below `size` (cycle walking; Black and Rogaway,
/// "Ciphers with arbitrary finite domains", CT-RSA 2002).
uint64_t permuted(uint64_t index, uint64_t size, const RandomStream &stream,
                  uint64_t epoch);

class SampleOrder {
public:
  /// A sample of a file, both counted from 0.
  struct Place {
    size_t file;
    int64_t sample;
  };

  /// All samples of all files one after the other, as far as they fill steps;
  /// then again from the first one.
  static SampleOrder inOrder(const std::vector<int64_t> &samples,
                             int64_t samplesPerStep);
  /// Draws files in proportion to their weights. The samples of a file have
  /// another order in each of its epochs. `samples` are the sizes of the files,
  /// which are at least one.
  static SampleOrder mixed(const std::vector<int64_t> &samples,
                           const std::vector<double> &weights, uint64_t seed);

  Place at(int64_t number);

private:
  struct File {
    int64_t samples;
    int64_t before; ///< Samples of the files before this one.
    uint32_t share; ///< Samples of a block.
    RandomStream stream;
  };
  explicit SampleOrder(uint64_t seed) : stream(seed, "files of samples") {}
  void addFiles(const std::vector<int64_t> &samples, uint64_t seed);
  void drawBlock(int64_t block);

  std::vector<File> files;
  /// Samples of an epoch in order; 0: they are mixed.
  int64_t samplesInOrder = 0;
  const RandomStream stream;
  // A block of samples: the file of each sample, and how many samples of that
  // file precede it in the block. Empty if there is only one file.
  int64_t currentBlock = -1;
  std::vector<uint16_t> fileOf;
  std::vector<uint32_t> earlierOf, counts;
};

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_SAMPLEORDER_H
