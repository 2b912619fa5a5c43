//===- CutsTest.cpp - where to cut ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Analysis/Cuts.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>

using namespace veeline;

namespace {

/// Calls `visit` with the pieces of each chunk, for every way to cut.
void forEachWay(size_t numPieces, size_t numChunks,
                const std::function<void(std::span<const int>)> &visit) {
  std::vector<int> counts(numChunks, 0);
  std::function<void(size_t, int)> choose = [&](size_t chunk, int left) {
    if (chunk + 1 == counts.size()) {
      counts[chunk] = left;
      visit(counts);
      return;
    }
    int rest = counts.size() - chunk - 1;
    for (int count = 1; count <= left - rest; ++count) {
      counts[chunk] = count;
      choose(chunk + 1, left - count);
    }
  };
  choose(0, numPieces);
}

void expectValid(std::span<const int> counts, size_t numPieces) {
  EXPECT_EQ(
      static_cast<size_t>(std::accumulate(counts.begin(), counts.end(), 0)),
      numPieces);
  for (int count : counts)
    EXPECT_GE(count, 1);
}

/// Cuts, and expects the heaviest stage to be within the margin, and no other
/// way within the margin to cross fewer bytes, or as many with more even
/// chunks.
void expectOptimal(std::span<const PieceWeight> pieces,
                   std::span<const int> stageOf,
                   std::span<const int> widths = {}) {
  auto counts = chooseCuts(pieces, stageOf, widths);
  expectValid(counts, pieces.size());
  double lightest = std::numeric_limits<double>::infinity();
  std::vector<CutQuality> all;
  forEachWay(pieces.size(), stageOf.size(), [&](std::span<const int> way) {
    all.push_back(evaluateCuts(pieces, stageOf, way, widths));
    lightest = std::min(lightest, all.back().heaviest);
  });
  double bound = lightest * (1.0 + loadMargin) * (1.0 + 1e-9);
  CutQuality found = evaluateCuts(pieces, stageOf, counts, widths);
  EXPECT_LE(found.heaviest, bound);
  for (CutQuality quality : all) {
    if (quality.heaviest > bound)
      continue;
    ASSERT_GE(quality.bytes, found.bytes);
    if (quality.bytes == found.bytes) {
      ASSERT_GE(quality.unevenness, found.unevenness * (1.0 - 1e-9));
    }
  }
}

std::vector<int> vPlacement(int p) {
  std::vector<int> stageOf(2 * p);
  for (int k = 0; k != 2 * p; ++k)
    stageOf[k] = std::min(k, 2 * p - 1 - k);
  return stageOf;
}

std::vector<int> interleavedPlacement(int p, int v) {
  std::vector<int> stageOf(p * v);
  for (int k = 0; k != p * v; ++k)
    stageOf[k] = k % p;
  return stageOf;
}

std::vector<PieceWeight> randomPieces(std::mt19937 &random, int count) {
  std::vector<PieceWeight> pieces(count);
  for (PieceWeight &piece : pieces)
    piece = {1.0 + random() % 20, random() % 3};
  return pieces;
}

TEST(CutsTest, LinearIsOptimal) {
  std::mt19937 random(1);
  for (int round = 0; round != 300; ++round) {
    int p = 1 + random() % 4;
    std::vector<int> stageOf(p);
    std::iota(stageOf.begin(), stageOf.end(), 0);
    auto pieces = randomPieces(random, p + random() % 8);
    expectOptimal(pieces, stageOf);
  }
}

TEST(CutsTest, VIsOptimal) {
  std::mt19937 random(2);
  for (int round = 0; round != 300; ++round) {
    int p = 1 + random() % 3;
    auto stageOf = vPlacement(p);
    // Enough pieces that most rounds are not solved by enumeration.
    auto pieces = randomPieces(random, 2 * p + random() % (p == 3 ? 16 : 40));
    expectOptimal(pieces, stageOf);
  }
}

TEST(CutsTest, SmallInterleavedIsOptimal) {
  std::mt19937 random(3);
  for (int round = 0; round != 300; ++round) {
    int p = 2 + random() % 2;
    auto stageOf = interleavedPlacement(p, 2);
    auto pieces = randomPieces(random, 2 * p + random() % 6);
    expectOptimal(pieces, stageOf);
  }
}

// Few ways to cut, although there are many cuts.
TEST(CutsTest, NearlyAsManyChunksAsPiecesIsOptimal) {
  std::mt19937 random(5);
  std::vector<int> stageOf(18);
  for (int k = 0; k != 18; ++k)
    stageOf[k] = k % 3;
  for (int round = 0; round != 20; ++round) {
    auto pieces = randomPieces(random, 20);
    auto counts = chooseCuts(pieces, stageOf);
    expectValid(counts, pieces.size());
    expectOptimal(pieces, stageOf, counts);
  }
}

std::vector<int> randomWidths(std::mt19937 &random, int p) {
  std::vector<int> widths(p);
  for (int &width : widths)
    width = 1 + random() % 3;
  return widths;
}

TEST(CutsTest, OptimalForStagesOfSeveralRanks) {
  std::mt19937 random(7);
  for (int round = 0; round != 300; ++round) {
    int p = 1 + random() % 3;
    std::vector<int> stageOf(p), widths = randomWidths(random, p);
    std::iota(stageOf.begin(), stageOf.end(), 0);
    if (round % 2)
      stageOf = vPlacement(p);
    auto pieces =
        randomPieces(random, stageOf.size() + random() % (p == 3 ? 14 : 24));
    expectOptimal(pieces, stageOf, widths);
  }
}

TEST(CutsTest, ThreeRanksTakeThreeQuarters) {
  std::vector<PieceWeight> pieces(64, {1.0, 1});
  std::vector<int> linear = {0, 1}, widths = {3, 1};
  EXPECT_EQ(chooseCuts(pieces, linear, widths), (std::vector<int>{48, 16}));
  // The search in windows finds these.
  auto interleaved = interleavedPlacement(2, 8);
  auto counts = chooseCuts(pieces, interleaved, widths);
  expectValid(counts, pieces.size());
  EXPECT_DOUBLE_EQ(evaluateCuts(pieces, interleaved, counts, widths).heaviest,
                   16.0);
}

std::vector<int> wavePlacement(int p, int v) {
  std::vector<int> stageOf(p * v);
  for (int k = 0; k != p * v; ++k)
    stageOf[k] = k / p % 2 ? p - 1 - k % p : k % p;
  return stageOf;
}

/// The least load of the heaviest stage, or `achieved`. Tries everything that
/// is not too heavy.
double lightestStage(std::span<const PieceWeight> pieces,
                     std::span<const int> stageOf, double achieved) {
  double best = achieved;
  std::vector<double> loads(
      1 + *std::max_element(stageOf.begin(), stageOf.end()), 0.0);
  std::function<void(size_t, size_t)> choose = [&](size_t chunk, size_t begin) {
    double &load = loads[stageOf[chunk]];
    double before = load;
    size_t rest = stageOf.size() - chunk - 1;
    for (size_t end = begin; end + rest < pieces.size();) {
      load += pieces[end++].cost;
      if (load >= best)
        break;
      if (rest)
        choose(chunk + 1, end);
      else if (end == pieces.size())
        best = *std::max_element(loads.begin(), loads.end());
    }
    load = before;
  };
  choose(0, 0);
  return best;
}

// There are too many ways to try all of them.
TEST(CutsTest, LargeInterleavedAndWaveAreWithinTheMargin) {
  std::mt19937 random(4);
  for (int round = 0; round != 40; ++round) {
    auto stageOf = round % 2 ? interleavedPlacement(3, 2) : wavePlacement(2, 4);
    auto pieces = randomPieces(random, 30 + random() % 8);
    auto counts = chooseCuts(pieces, stageOf);
    expectValid(counts, pieces.size());
    double found = evaluateCuts(pieces, stageOf, counts).heaviest;
    EXPECT_LE(found, lightestStage(pieces, stageOf, found) *
                         (1.0 + loadMargin) * (1.0 + 1e-9));
  }
}

// Many stages, layers with embedding and head: the cuts are close to what any
// cuts need.
TEST(CutsTest, ManyStagesAreNearTheBound) {
  for (int p : {4, 8, 16})
    for (int v : {2, 3, 4}) {
      std::vector<PieceWeight> pieces(4 * p * v, {10.0, 1});
      pieces.front().cost = 12.0;
      pieces.back().cost = 25.0;
      double total = 10.0 * pieces.size() + 17.0;
      auto stageOf = interleavedPlacement(p, v);
      auto counts = chooseCuts(pieces, stageOf);
      expectValid(counts, pieces.size());
      // Layers are whole: the heaviest stage may exceed the mean by one.
      EXPECT_LE(evaluateCuts(pieces, stageOf, counts).heaviest,
                (total / p + 10.0) * (1.0 + loadMargin));
    }
}

// In a V, the first and the last chunk share a stage. Heavy ends get fewer
// layers.
TEST(CutsTest, HeavyEndsOfAVGetLess) {
  std::vector<PieceWeight> pieces(9, {10.0, 1});
  pieces.front().cost = 25.0;
  pieces.back().cost = 25.0;
  auto counts = chooseCuts(pieces, vPlacement(2));
  EXPECT_EQ(counts.front() + counts.back(), 3);
}

// A little less on the heaviest stage is not worth uneven chunks.
TEST(CutsTest, EvenChunksWithinTheMargin) {
  std::vector<PieceWeight> pieces(16, {10.0, 1});
  pieces.back().cost = 10.2;
  EXPECT_EQ(chooseCuts(pieces, vPlacement(4)), std::vector<int>(8, 2));
}

// If stages are equal, the chunks of a stage are, too.
TEST(CutsTest, ChunksOfAVAreEven) {
  for (int p : {2, 4, 8, 32}) {
    std::vector<PieceWeight> pieces(8 * p, {10.0, 1});
    EXPECT_EQ(chooseCuts(pieces, vPlacement(p)), std::vector<int>(2 * p, 4));
  }
}

TEST(CutsTest, EqualBalancePrefersFewerBytes) {
  // Both cuts balance equally well; the second crosses less.
  std::vector<PieceWeight> pieces = {{4.0, 100}, {0.0, 10}, {4.0, 0}};
  std::vector<int> stageOf = {0, 1};
  EXPECT_EQ(chooseCuts(pieces, stageOf), (std::vector<int>{2, 1}));
}

} // namespace
