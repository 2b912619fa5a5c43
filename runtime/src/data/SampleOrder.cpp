//===- SampleOrder.cpp - the order of samples of several files ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SampleOrder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>

using namespace veeline;
using namespace veeline::data;

std::vector<uint32_t> data::sharesOf(const std::vector<double> &weights) {
  // Weights are divided by the greatest first, so that the sum does not
  // overflow.
  double greatest = *std::max_element(weights.begin(), weights.end()), sum = 0;
  for (double weight : weights)
    sum += weight / greatest;
  std::vector<uint32_t> shares;
  std::vector<double> rests;
  for (double weight : weights) {
    double exact = weight / greatest / sum * samplesInBlock;
    shares.push_back(static_cast<uint32_t>(std::max(1.0, std::floor(exact))));
    rests.push_back(exact - double(shares.back()));
  }
  int64_t left = samplesInBlock -
                 std::accumulate(shares.begin(), shares.end(), int64_t(0));
  for (; left > 0; --left) {
    auto most = std::max_element(rests.begin(), rests.end());
    ++shares[static_cast<size_t>(most - rests.begin())];
    *most -= 1;
  }
  // Shares that were rounded up to 1 are compensated by the largest ones.
  for (; left < 0; ++left)
    --*std::max_element(shares.begin(), shares.end());
  return shares;
}

uint64_t data::permuted(uint64_t index, uint64_t size,
                        const RandomStream &stream, uint64_t epoch) {
  int half = std::max(1, (int(std::bit_width(size - 1)) + 1) / 2);
  uint64_t mask = (uint64_t(1) << half) - 1;
  do {
    uint64_t left = index >> half, right = index & mask;
    for (uint64_t round = 0; round < 8; ++round) {
      uint64_t mixed = stream.at((epoch << 40) | (round << 32) | right);
      uint64_t next = left ^ (mixed & mask);
      left = right;
      right = next;
    }
    index = (left << half) | right;
  } while (index >= size);
  return index;
}

void SampleOrder::addFiles(const std::vector<int64_t> &samples, uint64_t seed) {
  int64_t before = 0;
  for (int64_t count : samples) {
    std::string name = "samples of file " + std::to_string(files.size());
    files.push_back({count, before, 0, RandomStream(seed, name)});
    before += count;
  }
}

SampleOrder SampleOrder::inOrder(const std::vector<int64_t> &samples,
                                 int64_t samplesPerStep) {
  SampleOrder order(/*seed=*/0);
  order.addFiles(samples, /*seed=*/0);
  int64_t all = order.files.back().before + order.files.back().samples;
  order.samplesInOrder = all / samplesPerStep * samplesPerStep;
  return order;
}

SampleOrder SampleOrder::mixed(const std::vector<int64_t> &samples,
                               const std::vector<double> &weights,
                               uint64_t seed) {
  SampleOrder order(seed);
  order.addFiles(samples, seed);
  std::vector<uint32_t> shares = sharesOf(weights);
  for (size_t i = 0; i < shares.size(); ++i)
    order.files[i].share = shares[i];
  if (shares.size() > 1) {
    order.fileOf.resize(samplesInBlock);
    order.earlierOf.resize(samplesInBlock);
    order.counts.resize(shares.size());
  }
  return order;
}

/// A Fisher-Yates shuffle with counters that belong to the block.
void SampleOrder::drawBlock(int64_t block) {
  currentBlock = block;
  auto next = fileOf.begin();
  for (size_t i = 0; i < files.size(); ++i)
    next = std::fill_n(next, files[i].share, static_cast<uint16_t>(i));
  uint64_t first = static_cast<uint64_t>(block) * samplesInBlock;
  for (uint64_t i = samplesInBlock - 1; i > 0; --i)
    std::swap(fileOf[i], fileOf[stream.below(i + 1, first + i)]);
  std::fill(counts.begin(), counts.end(), 0);
  for (size_t i = 0; i < fileOf.size(); ++i)
    earlierOf[i] = counts[fileOf[i]]++;
}

SampleOrder::Place SampleOrder::at(int64_t number) {
  if (samplesInOrder > 0) {
    number %= samplesInOrder;
    auto after = std::upper_bound(
        files.begin(), files.end(), number,
        [](int64_t value, const File &file) { return value < file.before; });
    return {static_cast<size_t>(after - files.begin()) - 1,
            number - std::prev(after)->before};
  }
  size_t file = 0;
  int64_t inFile = number;
  if (files.size() > 1) {
    int64_t block = number / samplesInBlock;
    if (block != currentBlock)
      drawBlock(block);
    auto place = static_cast<size_t>(number % samplesInBlock);
    file = fileOf[place];
    inFile = block * files[file].share + earlierOf[place];
  }
  const File &drawn = files[file];
  auto size = static_cast<uint64_t>(drawn.samples);
  auto count = static_cast<uint64_t>(inFile);
  return {file, static_cast<int64_t>(
                    permuted(count % size, size, drawn.stream, count / size))};
}
