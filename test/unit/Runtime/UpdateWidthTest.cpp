//===- UpdateWidthTest.cpp - the same bits for all vector widths ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Update.h"

#include <algorithm>
#include <bit>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace veeline;
using namespace veeline::host;
using artifact::DataType;

namespace {
/// Everything that three updates leave behind.
template <typename T> struct Outcome {
  std::vector<T> value, state;
  std::vector<uint64_t> norms;
  bool operator==(const Outcome &) const = default;
};
} // namespace

template <typename T>
static Outcome<T> runAt(int vectorBits, Optimizer optimizer, DataType type,
                        bool errorFeedback) {
  constexpr int64_t count = 3 * 1001;
  std::mt19937 random(23);
  std::normal_distribution<T> normal(0, 1);
  Outcome<T> outcome{std::vector<T>(count), std::vector<T>(3 * count), {}};
  std::vector<T> g0(count), g1(count);
  for (T &value : outcome.value)
    value = normal(random);
  ParamUpdate update{optimizer, type, count, true, errorFeedback};
  // A matrix, which matters to Adafactor.
  update.rows = 3;
  update.columns = count / 3;
  StepSettings settings;
  settings.weightDecay = 0.1;
  for (settings.step = 1; settings.step <= 3; ++settings.step) {
    for (int64_t i = 0; i < count; ++i) {
      g0[i] = normal(random);
      g1[i] = normal(random);
    }
    const void *gradients[] = {g0.data(), g1.data()};
    // Elements are limited in the second step, and all are scaled in the third.
    if (settings.step == 2)
      settings.clipValue = 0.125;
    double norm = squaredNormOf(update, settings, 3, gradients, 2, vectorBits);
    double factor = 0.3;
    EXPECT_TRUE(updateParam(update, settings, 3, outcome.value.data(),
                            outcome.state.data(), gradients, 2,
                            settings.step == 3 ? &factor : nullptr, vectorBits)
                    .ok());
    outcome.norms.push_back(std::bit_cast<uint64_t>(norm));
    if (settings.step < 3) {
      EXPECT_EQ(norm, update.squaredGradientNorm);
    }
  }
  return outcome;
}

template <typename T>
static void expectSameBits(Optimizer optimizer, DataType type,
                           bool errorFeedback) {
  for (int bits = 256; bits <= widestVectorBits(); bits *= 2)
    EXPECT_TRUE(runAt<T>(128, optimizer, type, errorFeedback) ==
                runAt<T>(bits, optimizer, type, errorFeedback))
        << name(optimizer) << ", " << bits << ", error feedback "
        << errorFeedback;
}

TEST(UpdateWidth, SameBits) {
  for (const std::string &optimizer : optimizerNames())
    for (bool errorFeedback : {false, true}) {
      // Its products are those of a library.
      if (optimizer == "muon")
        continue;
      Optimizer known = *parseOptimizer(optimizer);
      expectSameBits<float>(known, DataType::f32, errorFeedback);
      expectSameBits<double>(known, DataType::f64, errorFeedback);
    }
}

/// Shares together are the parameter, each within what its member updates, and
/// aligned.
TEST(Shards, CoverEveryElementOnce) {
  for (int64_t elements = 0; elements < 400; ++elements)
    for (int64_t count = 1; count <= 9; ++count) {
      int64_t next = 0;
      for (int64_t k = 0; k < count; ++k) {
        Shard own = ownShard(elements, count, k);
        Shard updated = shardOf(elements, count, k);
        EXPECT_EQ(own.first, next);
        next += own.count;
        EXPECT_EQ(updated.count, shardElements(elements, count));
        EXPECT_EQ(updated.first % shardAlignment, 0);
        EXPECT_LE(updated.first + updated.count, elements);
        if (own.count > 0) {
          EXPECT_LE(updated.first, own.first);
          EXPECT_GE(updated.first + updated.count, own.first + own.count);
        }
      }
      EXPECT_EQ(next, elements);
      // A share is no more than its part, but for less than twice the
      // alignment.
      EXPECT_LT(shardElements(elements, count),
                (elements + count - 1) / count + 2 * shardAlignment);
    }
}

/// Each part of a norm is one member's, in their order, and each member needs
/// no more of a gradient than its share and its parts.
TEST(Shards, DivideNorms) {
  for (int64_t elements : {0, 1, 17, 512, 1000, 1073, 4096, 65536, 70000})
    for (int64_t count : {1, 2, 3, 4, 7, 64}) {
      int64_t parts = normParts(elements), size = elements / parts, next = 0;
      EXPECT_EQ(parts * size, elements);
      Division division{elements, count};
      for (int64_t k = 0; k < count; ++k) {
        Shard own = division.ownNormParts(k), needed = division.reduced(k);
        Shard computed = computedNormParts(elements, count, k);
        Shard updated = division.updated(k);
        EXPECT_EQ(own.count > 0 ? own.first : next, next);
        next += own.count;
        EXPECT_GE(computed.first, 0);
        EXPECT_LE(computed.first + computed.count, parts);
        if (own.count > 0) {
          EXPECT_LE(computed.first, own.first);
          EXPECT_GE(computed.first + computed.count, own.first + own.count);
          EXPECT_LE(needed.first, own.first * size);
          EXPECT_GE(needed.first + needed.count,
                    (own.first + own.count) * size);
        }
        EXPECT_EQ(needed.first, updated.first);
        EXPECT_GE(needed.count, updated.count);
        EXPECT_LE(needed.count, updated.count + size);
        EXPECT_LE(needed.first + needed.count, elements);
        EXPECT_LE(needed.count, division.mostReduced());
      }
      EXPECT_EQ(next, elements > 0 ? parts : 0);
    }
}

/// One of the members may have all.
TEST(Shards, HaveAnOwner) {
  Division division{1000, 3, 1};
  for (int64_t k = 0; k < 3; ++k) {
    Shard all = k == 1 ? Shard{0, 1000} : Shard{0, 0};
    EXPECT_EQ(division.own(k), all);
    EXPECT_EQ(division.updated(k), all);
    EXPECT_EQ(division.reduced(k), all);
    EXPECT_EQ(division.ownNormParts(k).count, k == 1 ? normParts(1000) : 0);
  }
  EXPECT_EQ(division.mostReduced(), 1000);
}

/// Updates of shares, put together, have the bits of one of everything; so have
/// the parts of the norm that they give.
TEST(Shards, UpdateToTheSameBits) {
  constexpr int64_t count = 3 * 1001, members = 4;
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, 1);
  for (Optimizer optimizer :
       {Optimizer::sgd, Optimizer::sgdMomentum, Optimizer::sgdNesterov,
        Optimizer::adam, Optimizer::adamw, Optimizer::nadamw,
        Optimizer::lion}) {
    ParamUpdate whole{optimizer, DataType::f32, count, true,
                      /*errorFeedback=*/true};
    std::vector<float> value(count), gradient(count);
    std::vector<float> state(static_cast<size_t>(whole.stateBytes()) / 4);
    std::generate(value.begin(), value.end(), [&] { return normal(random); });
    auto shared = value;
    std::vector<ParamUpdate> shares(members, whole);
    std::vector<std::vector<float>> states(members);
    for (int64_t k = 0; k < members; ++k) {
      shares[k].share = shardOf(count, members, k);
      Shard parts = *(shares[k].ownParts = ownNormParts(count, members, k));
      shares[k].squaresOfParts.resize(static_cast<size_t>(parts.count));
      states[k].resize(static_cast<size_t>(shares[k].stateBytes()) / 4);
      EXPECT_LT(states[k].size(), state.size() / members + 3 * 32);
    }
    StepSettings settings;
    settings.weightDecay = 0.1;
    for (settings.step = 1; settings.step <= 3; ++settings.step) {
      std::generate(gradient.begin(), gradient.end(),
                    [&] { return normal(random); });
      const void *gradients[] = {gradient.data()};
      double factor = 0.3, *clip = settings.step == 3 ? &factor : nullptr;
      EXPECT_TRUE(updateParam(whole, settings, 2, value.data(), state.data(),
                              gradients, 1, clip)
                      .ok());
      std::vector<float> gathered(count);
      double norm = 0;
      for (int64_t k = 0; k < members; ++k) {
        std::vector<float> own = shared;
        EXPECT_TRUE(updateParam(shares[k], settings, 2, own.data(),
                                states[k].data(), gradients, 1, clip)
                        .ok());
        norm = std::accumulate(shares[k].squaresOfParts.begin(),
                               shares[k].squaresOfParts.end(), norm);
        Shard given = ownShard(count, members, k);
        std::copy_n(own.begin() + given.first, given.count,
                    gathered.begin() + given.first);
      }
      EXPECT_EQ(norm, whole.squaredGradientNorm);
      shared = gathered;
      EXPECT_EQ(shared, value) << name(optimizer);
    }
  }
}
