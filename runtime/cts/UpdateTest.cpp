//===- UpdateTest.cpp - optimisers against scalar code --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Suite.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace veeline;
using namespace veeline::cts;
using artifact::DataType;

// Not a multiple of any vector width or block.
static constexpr int64_t numElements = 2 * 1031;
static constexpr int64_t slot = 32768;
static constexpr int32_t microbatches = 3;

/// value, state, two gradients, each in a slot of the arena (state has two).
static void update(veeline_rank *rank, char *arena, const void *const *) {
  const void *gradients[] = {arena + 3 * slot, arena + 4 * slot};
  veeline_update(rank, 0, arena, arena + slot, gradients, 2);
}

/// The formulas of Update.h, one element at a time.
template <typename T> struct Scalar {
  T value, first, second;

  void step(Optimizer optimizer, const StepSettings &s, bool decays, T g0,
            T g1) {
    T g = (g0 + g1) * (T(1) / T(microbatches));
    T keep = T(1 - (decays ? s.learningRate * s.weightDecay : 0));
    if (optimizer != Optimizer::adamw) {
      T direction = g;
      if (optimizer == Optimizer::sgdMomentum)
        direction = first = T(s.beta1) * first + g;
      value = value * keep - T(s.learningRate) * direction;
      return;
    }
    T rate = T(s.learningRate / (1 - std::pow(s.beta1, double(s.step))));
    T scale = T(1 / std::sqrt(1 - std::pow(s.beta2, double(s.step))));
    first = T(s.beta1) * first + T(1 - s.beta1) * g;
    second = T(s.beta2) * second + T(1 - s.beta2) * (g * g);
    value = value * keep -
            rate * (first / (std::sqrt(second) * scale + T(s.epsilon)));
  }
};

template <typename T>
static void check(Optimizer optimizer, std::vector<int64_t> shape) {
  bool decays = shape.size() >= 2;
  Fixture fixture({update}, 5 * slot);
  fixture.metadata().optimizer = optimizer;
  fixture.metadata().microbatches = microbatches;
  fixture.addParam(0, std::move(shape),
                   sizeof(T) == 8 ? DataType::f64 : DataType::f32, 0,
                   optimizer == Optimizer::sgd ? -1 : slot);
  ASSERT_NO_FATAL_FAILURE(fixture.create());

  std::mt19937 random(11);
  std::normal_distribution<T> normal(0, 1);
  std::vector<T> values(numElements), state(2 * numElements, 0);
  std::vector<T> g0(numElements), g1(numElements);
  for (T &value : values)
    value = normal(random);
  std::vector<Scalar<T>> scalars;
  for (T value : values)
    scalars.push_back({value, 0, 0});
  int64_t bytes = numElements * int64_t(sizeof(T));
  Executor &executor = fixture.executor();
  ASSERT_TRUE(executor.write(0, 0, values.data(), bytes).ok());
  ASSERT_TRUE(executor.write(0, slot, state.data(), 2 * bytes).ok());

  StepSettings settings;
  settings.weightDecay = 0.1;
  for (settings.step = 1; settings.step <= 4; ++settings.step) {
    settings.learningRate = 0.01 * double(settings.step);
    double squares = 0;
    for (int64_t i = 0; i < numElements; ++i) {
      g0[i] = normal(random);
      g1[i] = normal(random);
      scalars[i].step(optimizer, settings, decays, g0[i], g1[i]);
      double mean = (double(g0[i]) + double(g1[i])) / microbatches;
      squares += mean * mean;
    }
    ASSERT_TRUE(executor.write(0, 3 * slot, g0.data(), bytes).ok());
    ASSERT_TRUE(executor.write(0, 4 * slot, g1.data(), bytes).ok());
    ASSERT_TRUE(fixture.step(nullptr, settings).ok());
    EXPECT_NEAR(fixture.result().gradientNorm, std::sqrt(squares),
                1e-5 * std::sqrt(squares));
    ASSERT_TRUE(executor.read(0, 0, values.data(), bytes).ok());
    for (int64_t i = 0; i < numElements; ++i)
      ASSERT_EQ(values[i], scalars[i].value)
          << "step " << settings.step << ", element " << i;
  }
}

TEST(Update, Sgd) {
  check<float>(Optimizer::sgd, {numElements});
  check<double>(Optimizer::sgd, {2, numElements / 2});
}

TEST(Update, SgdMomentum) {
  check<float>(Optimizer::sgdMomentum, {2, numElements / 2});
  check<double>(Optimizer::sgdMomentum, {numElements});
}

TEST(Update, AdamWDecaysMatrices) {
  check<float>(Optimizer::adamw, {2, numElements / 2});
  check<double>(Optimizer::adamw, {2, numElements / 2});
}

TEST(Update, AdamWLeavesVectorsUndecayed) {
  check<float>(Optimizer::adamw, {numElements});
  check<double>(Optimizer::adamw, {numElements});
}

//===----------------------------------------------------------------------===//
// Clipping
//===----------------------------------------------------------------------===//

/// The same by the norm of this gradient and of another parameter.
static void updateClipped(veeline_rank *rank, char *arena,
                          const void *const *inputs) {
  const void *gradients[] = {arena + 3 * slot, arena + 4 * slot};
  double norms[2] = {*static_cast<const double *>(inputs[0]), 0}, factor = 0;
  veeline_squared_norm(rank, 0, gradients, 2, &norms[1]);
  veeline_clip(rank, norms, 2, &factor);
  veeline_update_clipped(rank, 0, arena, arena + slot, gradients, 2, &factor);
}

namespace {
/// A step of AdamW of doubles for each call of `step`, and what it should do.
class ClippedSteps {
public:
  explicit ClippedSteps(Fixture &fixture) : fixture(fixture) {
    fixture.metadata().optimizer = Optimizer::adamw;
    fixture.metadata().microbatches = microbatches;
    fixture.program().clipSync = artifact::ClipSync::barrier;
    fixture.addParam(0, {numElements}, DataType::f64, 0, slot);
    fixture.create();
    for (int64_t offset : {int64_t(0), slot, slot + numElements * 8})
      write(offset, std::vector<double>(numElements));
  }

  /// Elements of gradients are `g`; `other` is the square of the other norm.
  void step(double g, double other, bool isSkipped = false) {
    std::vector<double> values(numElements, g);
    write(3 * slot, values);
    write(4 * slot, values);
    ++settings.step;
    ASSERT_TRUE(fixture.step(&other, settings).ok());
    EXPECT_EQ(fixture.result().clip.skips, isSkipped);
    if (isSkipped)
      return expectValues();
    ++numUpdates;
    double mean = (g + g) * (1.0 / microbatches);
    mean = std::clamp(mean, -settings.clipValue, settings.clipValue);
    double norm = std::sqrt(other + mean * mean * numElements);
    double factor = norm > settings.clipNorm ? settings.clipNorm / norm : 1;
    EXPECT_NEAR(fixture.result().clip.norm, norm, 1e-12 * norm);
    EXPECT_NEAR(fixture.result().clip.factor, factor, 1e-12 * factor);
    StepSettings ofUpdate = settings;
    ofUpdate.step = numUpdates;
    double clipped = mean * fixture.result().clip.factor;
    scalar.step(Optimizer::adamw, ofUpdate, /*decays=*/false,
                clipped * microbatches, 0);
    expectValues();
  }

  StepSettings settings{.step = 0};

private:
  void write(int64_t offset, const std::vector<double> &values) {
    ASSERT_TRUE(fixture.executor()
                    .write(0, offset, values.data(),
                           int64_t(values.size() * sizeof(double)))
                    .ok());
  }
  void expectValues() {
    std::vector<double> values(numElements);
    ASSERT_TRUE(fixture.executor()
                    .read(0, 0, values.data(), numElements * sizeof(double))
                    .ok());
    for (double value : values)
      ASSERT_NEAR(value, scalar.value, 1e-12) << "step " << settings.step;
  }

  Fixture &fixture;
  Scalar<double> scalar{0, 0, 0};
  int64_t numUpdates = 0;
};
} // namespace

TEST(Update, ClipsByTheNormOfAllParameters) {
  Fixture fixture({updateClipped}, 5 * slot);
  ClippedSteps steps(fixture);
  steps.step(0.5, 4); // No limit.
  steps.settings.clipNorm = 1000;
  steps.step(-0.5, 4); // Within it.
  steps.settings.clipNorm = 1.5;
  steps.step(0.25, 4);
  steps.step(0, 9); // By the other parameter alone.
  steps.settings.clipValue = 0.125;
  steps.step(-3, 0.25);
}

TEST(Update, SkipsStepsThatAreNotFinite) {
  double nan = std::nan(""), infinity = HUGE_VAL;
  Fixture fixture({updateClipped}, 5 * slot);
  ClippedSteps steps(fixture);
  steps.settings.skipNonFinite = true;
  steps.step(0.5, nan, /*isSkipped=*/true);
  steps.step(nan, 1, /*isSkipped=*/true);
  steps.step(0.5, 1);
  steps.step(infinity, 1, /*isSkipped=*/true);
  steps.step(0.5, infinity, /*isSkipped=*/true);
  // A value that is limited is finite.
  steps.settings.clipValue = 2;
  steps.step(infinity, 1);
  steps.step(nan, 1, /*isSkipped=*/true);
  steps.step(-0.5, 1);
}
