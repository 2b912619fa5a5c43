//===- TrainTest.cpp - the parts of the training loop ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compare.h"
#include "Options.h"
#include "Progress.h"
#include "StepPlan.h"
#include "veeline/Base/Suggest.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace veeline;
using namespace veeline::train;
using artifact::DataType;
using artifact::Parameter;

TEST(LearningRate, WarmupThenCosine) {
  Options options;
  options.steps = 110;
  options.rates.warmupSteps = 10;
  options.optimizer.learningRate = 1;
  options.rates.least = 0.2;
  auto rate = [&](int64_t step) {
    return settingsOfStep(options, step).learningRate;
  };
  EXPECT_DOUBLE_EQ(rate(1), 0.1);
  EXPECT_DOUBLE_EQ(rate(10), 1);
  EXPECT_NEAR(rate(60), 0.6, 1e-12);
  EXPECT_DOUBLE_EQ(rate(110), 0.2);
  for (int64_t step = 11; step <= 110; ++step)
    EXPECT_LT(rate(step), rate(step - 1));
  options.rates.least.reset();
  EXPECT_DOUBLE_EQ(rate(77), 1);
}

TEST(LearningRate, OnlyWarmup) {
  Options options;
  options.steps = options.rates.warmupSteps = 4;
  options.optimizer.learningRate = 1;
  EXPECT_DOUBLE_EQ(settingsOfStep(options, 4).learningRate, 1);
}

TEST(LearningRate, OtherShapes) {
  RateOptions options;
  options.warmupSteps = 4;
  auto rates = [&](RateShape shape) {
    options.shape = shape;
    std::vector<double> all;
    for (int64_t step : {2, 4, 5, 12, 16, 20})
      all.push_back(rateOfStep(options, 8, step, 20));
    return all;
  };
  using Rates = std::vector<double>;
  EXPECT_EQ(rates(RateShape::cosine), Rates({4, 8, 8, 8, 8, 8}));
  EXPECT_EQ(rates(RateShape::constant), Rates({4, 8, 8, 8, 8, 8}));
  EXPECT_EQ(rates(RateShape::linear), Rates({4, 8, 7.5, 4, 2, 0}));
  // A tenth of 20 steps is the last two.
  EXPECT_EQ(rates(RateShape::wsd), Rates({4, 8, 8, 8, 8, 0}));
  options.decaySteps = 8;
  options.least = 4;
  EXPECT_EQ(rates(RateShape::wsd), Rates({4, 8, 8, 8, 6, 4}));
  EXPECT_EQ(rates(RateShape::linear), Rates({4, 8, 7.75, 6, 5, 4}));
  Rates roots = rates(RateShape::inverseSqrt);
  EXPECT_DOUBLE_EQ(roots[2], 8 * std::sqrt(4.0 / 5.0));
  EXPECT_EQ(roots[4], 4);
  EXPECT_EQ(roots[5], 4); // sqrt(4/20) of the peak is less.
  options.points = {{3, 1}, {5, 2}, {15, 4}};
  EXPECT_EQ(rates(RateShape::file), Rates({1, 1.5, 2, 3.4, 4, 4}));
}

TEST(LearningRate, RoomForTheDecay) {
  RateOptions options;
  options.shape = RateShape::wsd;
  options.warmupSteps = 5;
  options.decaySteps = 5;
  EXPECT_TRUE(checkRates(options, 10).ok());
  EXPECT_FALSE(checkRates(options, 9).ok());
}

/// "scale/decay" of each parameter, or the error.
static std::string ratesAsText(const std::vector<std::string> &names,
                               const std::vector<std::string> &scales,
                               const std::vector<std::string> &weightDecays) {
  artifact::Metadata metadata;
  for (const std::string &name : names)
    metadata.params.emplace_back().name = name;
  ParamGroups groups;
  for (const std::string &text : scales)
    groups.scales.push_back(*parseParamGroup(text));
  for (const std::string &text : weightDecays)
    groups.weightDecays.push_back(*parseParamGroup(text));
  auto rates = ratesOfParams(groups, metadata);
  if (!rates.ok())
    return rates.message();
  if (!*rates)
    return "none";
  std::string text;
  for (const ParamRates &one : **rates)
    text += (text.empty() ? "" : " ") + std::to_string(int64_t(one.scale)) +
            (one.weightDecay ? "/" + std::to_string(int64_t(*one.weightDecay))
                             : "");
  return text;
}

TEST(ParamGroups, Patterns) {
  using Texts = std::vector<std::string>;
  Texts names = {"emb", "l0.w", "l0.b", "l1.w", "x[0:2]"};
  EXPECT_EQ(ratesAsText(names, {}, {}), "none");
  EXPECT_EQ(ratesAsText(names, {"emb=2", "l?.w=3"}, {"*.b=0", "emb=5"}),
            "2/5 3 1/0 3 1");
  EXPECT_EQ(ratesAsText(names, {"x[0:2]=0", "[a-e]*=4"}, {"*=7"}),
            "4/7 1/7 1/7 1/7 0/7");
  EXPECT_EQ(ratesAsText(names, {"l0*=2", "*.b=3"}, {}),
            "--lr-scale: 'l0*' and '*.b' both name parameter 'l0.b'; only one "
            "of them may");
  EXPECT_EQ(ratesAsText(names, {}, {"embd=1"}),
            "--weight-decay-of: no parameter is named 'embd'; did you mean "
            "'emb'?; the parameters are emb, l0.w, l0.b, l1.w, x[0:2]");
}

TEST(ParamGroups, Texts) {
  EXPECT_EQ(parseParamGroup("a=b=0.5")->pattern, "a=b");
  EXPECT_EQ(parseParamGroup("a=b=0.5")->number, 0.5);
  for (const char *wrong : {"", "a", "=1", "a=", "a=x", "a=-1", "a=nan"})
    EXPECT_FALSE(parseParamGroup(wrong)) << wrong;
  EXPECT_EQ(describe(std::vector<ParamGroup>{{"a*", 0.1}, {"b", 2}}),
            "a*=0.1,b=2");
}

/// The loss scales of steps of which those overflow whose scale is above what
/// `limits` says, with as many steps in flight.
static std::vector<double> lossScales(const Options &options,
                                      const std::vector<double> &limits,
                                      size_t inFlight) {
  StepPlan plan(options);
  std::vector<double> scales;
  for (size_t ended = 0; ended < limits.size(); ++ended) {
    while (scales.size() < std::min(ended + inFlight, limits.size()))
      scales.push_back(
          plan.begin(static_cast<int64_t>(scales.size()) + 1).lossScale);
    StepResult result;
    result.clip.skips = scales[ended] > limits[ended];
    if (!plan.end(static_cast<int64_t>(ended) + 1, result).ok())
      break;
    EXPECT_EQ(plan.lossScaleOf(static_cast<int64_t>(ended) + 1), scales[ended]);
  }
  return scales;
}

/// The same of a run that stops after `stop` steps and goes on from what is
/// saved of its plan.
static std::vector<double> resumedScales(const Options &options,
                                         const std::vector<double> &limits,
                                         size_t stop) {
  data::LossScaleState saved;
  std::vector<double> scales;
  auto run = [&](StepPlan plan, size_t first, size_t last) {
    if (first > 0)
      plan.goOnAfter(static_cast<int64_t>(first), saved);
    for (size_t i = first; i < last; ++i) {
      auto step = static_cast<int64_t>(i) + 1;
      scales.push_back(plan.begin(step).lossScale);
      StepResult result;
      result.clip.skips = scales[i] > limits[i];
      EXPECT_TRUE(plan.end(step, result).ok());
    }
    saved = plan.stateAfter(static_cast<int64_t>(last));
  };
  run(StepPlan(options), 0, stop);
  run(StepPlan(options), stop, limits.size());
  return scales;
}

TEST(LossScale, GoesOnAfterACheckpoint) {
  Options options;
  options.scalesLoss = true;
  options.lossScale.first = 64;
  options.lossScale.window = 3;
  std::vector<double> limits{32, 32, 16, 16, 8, 8, 100, 100, 100, 100, 100};
  for (size_t stop = 1; stop < limits.size(); ++stop)
    EXPECT_EQ(resumedScales(options, limits, stop),
              lossScales(options, limits, 2))
        << stop;
}

TEST(LossScale, HalvedByOverflowsAndDoubledInBetween) {
  Options options;
  options.scalesLoss = true;
  options.lossScale.first = 64;
  options.lossScale.window = 3;
  // Both steps that have 64 overflow, and halve it once.
  std::vector<double> limits{32, 32, 16, 16, 8, 8, 100, 100, 100, 100, 100};
  std::vector<double> scales{64, 64, 32, 32, 16, 16, 8, 8, 8, 8, 16};
  EXPECT_EQ(lossScales(options, limits, 1), scales);
  EXPECT_EQ(lossScales(options, limits, 2), scales);
  // That is doubled after three steps, and the one that was begun meanwhile
  // does not count for the next time.
  limits.assign(9, 100);
  scales = {64, 64, 64, 64, 128, 128, 64, 64, 64};
  EXPECT_EQ(lossScales(options, limits, 2), scales);
}

TEST(LossScale, EndsAtTheLeastAndTheGreatest) {
  Options options;
  options.scalesLoss = true;
  options.lossScale.first = 4;
  options.lossScale.least = 2;
  EXPECT_EQ(lossScales(options, {0, 0, 0, 0}, 2),
            (std::vector<double>{4, 4, 2, 2}));
  StepPlan plan(options);
  StepResult result;
  result.clip.skips = true;
  result.gradientNorm = std::numeric_limits<double>::infinity();
  for (int64_t step = 1; step <= 2; ++step) {
    EXPECT_EQ(plan.begin(step).lossScale, 4);
    EXPECT_TRUE(plan.end(step, result).ok());
  }
  EXPECT_EQ(plan.begin(3).lossScale, 2);
  EXPECT_EQ(plan.end(3, result).message(),
            "step 3: the norm of the gradients is inf, although the loss scale "
            "is 2, the least one (--min-loss-scale): no scale would help; look "
            "at the data, the model and --lr");

  options.lossScale.first = StepPlan::greatestLossScale / 2;
  options.lossScale.window = 1;
  std::vector<double> scales = lossScales(
      options, std::vector<double>(8, StepPlan::greatestLossScale), 1);
  EXPECT_EQ(scales[1], StepPlan::greatestLossScale / 2);
  EXPECT_EQ(scales[7], StepPlan::greatestLossScale);
}

TEST(LossScale, FixedOrNone) {
  Options options;
  EXPECT_EQ(lossScales(options, {0, 0, 0, 0}, 2),
            (std::vector<double>{1, 1, 1, 1}));
  options.scalesLoss = true;
  options.lossScale.fixed = 8;
  EXPECT_EQ(lossScales(options, {0, 0, 0, 0}, 2),
            (std::vector<double>{8, 8, 8, 8}));
}

template <typename T> static std::vector<char> bytesOf(std::vector<T> values) {
  std::vector<char> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST(Compare, FirstDifferenceWithPosition) {
  Parameter param{"w", {2, 2}, DataType::f32, {}};
  auto a = bytesOf<float>({1, 2, 3, 4});
  EXPECT_EQ(describeDifference(param, a, "x", a, "y"), "");
  EXPECT_EQ(
      describeDifference(param, a, "x", bytesOf<float>({1, 2, 0.5, 5}), "y"),
      "element 2 ([1, 0]) is 3 (0x40400000) in x, 0.5 (0x3f000000) in y; "
      "2 of 4 elements differ");
}

/// Bits, not values: -0 is not 0, and a NaN equals itself.
TEST(Compare, Bits) {
  Parameter param{"w", {1}, DataType::f64, {}};
  EXPECT_NE(describeDifference(param, bytesOf<double>({0.0}), "x",
                               bytesOf<double>({-0.0}), "y"),
            "");
  double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(describeDifference(param, bytesOf<double>({nan}), "x",
                               bytesOf<double>({nan}), "y"),
            "");
}

TEST(Compare, RelativeDistance) {
  Parameter param{"w", {2}, DataType::f32, {}};
  auto distance = [&](std::vector<float> a, std::vector<float> b) {
    return relativeDistance(param, bytesOf(std::move(a)),
                            bytesOf(std::move(b)));
  };
  EXPECT_DOUBLE_EQ(distance({3, 4}, {0, 4}), 0.75);
  EXPECT_EQ(distance({0, 0}, {0, 0}), 0);
  EXPECT_TRUE(std::isinf(distance({1, 0}, {0, 0})));
  EXPECT_TRUE(std::isinf(
      distance({std::numeric_limits<float>::quiet_NaN(), 0}, {1, 0})));
}

TEST(Progress, Durations) {
  EXPECT_EQ(formatDuration(0.4), "0s");
  EXPECT_EQ(formatDuration(59.6), "1m00s");
  EXPECT_EQ(formatDuration(3599), "59m59s");
  EXPECT_EQ(formatDuration(7260), "2h01m");
}

TEST(Suggest, NearestName) {
  std::vector<std::string> known = {"pipeline", "sequential", "reference"};
  EXPECT_EQ(nearest("pipline", known), "pipeline");
  EXPECT_EQ(nearest("refrence", known), "reference");
  EXPECT_EQ(nearest("xyz", known), "");
  EXPECT_EQ(suggestion("sequentail", known), "; did you mean 'sequential'?");
}
