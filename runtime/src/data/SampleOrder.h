//===- SampleOrder.h - the order of samples of several files ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sample `number` of a training depends only on the seed and that number. So a
// position in the data is one number. docs/data.md has the formulas.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_DATA_SAMPLEORDER_H
#define VEELINE_RUNTIME_DATA_SAMPLEORDER_H

#include "Random.h"

#include <vector>

namespace veeline::data {

/// In so many samples each file occurs exactly as often as its share says.
inline constexpr uint32_t samplesInBlock = 65536;

/// Shares of a block, in proportion to `weights`, positive and finite: rounded
/// down, at least 1, the rest to the largest remainders. There are at most
/// `samplesInBlock` weights.
std::vector<uint32_t> sharesOf(const std::vector<double> &weights);

/// Element `index` of a permutation of [0, size), size <= 2^63, which `stream`
/// and `epoch` < 2^24 select: a Feistel network of eight rounds on the least
/// even number of bits, walked until it is below `size` (Black and Rogaway,
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

  /// All samples of all files one after the other, as far as they make whole
  /// steps, then again from the first one on.
  static SampleOrder inOrder(const std::vector<int64_t> &samples,
                             int64_t samplesPerStep);
  /// Files in proportion to their weights, and each file's samples in another
  /// order in each of its epochs. `samples` says how many each file has, at
  /// least one.
  static SampleOrder mixed(const std::vector<int64_t> &samples,
                           const std::vector<double> &weights, uint64_t seed);

  Place at(int64_t number);

private:
  struct File {
    int64_t samples;
    int64_t before; ///< Samples of the files before this one.
    uint32_t share; ///< Of a block.
    RandomStream stream;
  };
  explicit SampleOrder(uint64_t seed) : stream(seed, "files of samples") {}
  void addFiles(const std::vector<int64_t> &samples, uint64_t seed);
  void drawBlock(int64_t block);

  std::vector<File> files;
  int64_t samplesInOrder = 0; ///< Of an epoch; 0: they are mixed.
  const RandomStream stream;
  // A block of samples: the file of each, and how many of the file's were
  // before it in the block. Empty where there is one file.
  int64_t currentBlock = -1;
  std::vector<uint16_t> fileOf;
  std::vector<uint32_t> earlierOf, counts;
};

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_SAMPLEORDER_H
