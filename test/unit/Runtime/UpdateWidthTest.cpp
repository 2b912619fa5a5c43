//===- UpdateWidthTest.cpp - the same bits for all vector widths ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Update.h"

#include <bit>
#include <gtest/gtest.h>
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
