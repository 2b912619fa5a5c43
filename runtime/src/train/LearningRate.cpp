//===- LearningRate.cpp - schedules of the learning rate ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LearningRate.h"

#include "Options.h"
#include "veeline/Base/File.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Base/Text.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

using namespace veeline;
using namespace veeline::train;

static constexpr std::string_view names[] = {
    "cosine", "constant", "linear", "inverse-sqrt", "wsd", "file"};
static constexpr std::string_view header = "step,lr";

std::string_view train::name(RateShape shape) {
  return names[static_cast<size_t>(shape)];
}

std::vector<std::string> train::rateShapeNames() {
  return {std::begin(names), std::prev(std::end(names))};
}

std::optional<RateShape> train::parseRateShape(std::string_view text) {
  const auto *end = std::prev(std::end(names));
  const auto *found = std::find(std::begin(names), end, text);
  if (found == end)
    return std::nullopt;
  return static_cast<RateShape>(found - std::begin(names));
}

bool RateOptions::dependsOnSteps() const {
  return (shape == RateShape::cosine && least) || shape == RateShape::linear ||
         shape == RateShape::wsd;
}

/// The number of last steps with a smaller rate.
static int64_t decaySteps(const RateOptions &options, int64_t steps) {
  return options.decaySteps > 0 ? options.decaySteps
                                : std::max<int64_t>(1, steps / 10);
}

static double rateOfPoints(const std::vector<RatePoint> &points, int64_t step) {
  auto next = std::find_if(points.begin(), points.end(),
                           [&](const RatePoint &p) { return p.step >= step; });
  if (next == points.end())
    return points.back().rate;
  if (next == points.begin() || next->step == step)
    return next->rate;
  const RatePoint &before = *std::prev(next);
  double done = double(step - before.step) / double(next->step - before.step);
  return before.rate + (next->rate - before.rate) * done;
}

double train::rateOfStep(const RateOptions &options, double peak, int64_t step,
                         int64_t steps) {
  if (options.shape == RateShape::file)
    return rateOfPoints(options.points, step);
  int64_t warmup = options.warmupSteps;
  if (step <= warmup)
    return peak * double(step) / double(warmup);
  bool isCosine = options.shape == RateShape::cosine;
  double low = options.least.value_or(isCosine ? peak : 0);
  double done = double(step - warmup) / double(steps - warmup);
  switch (options.shape) {
  case RateShape::cosine:
    return low + (peak - low) * 0.5 * (1 + std::cos(std::numbers::pi * done));
  case RateShape::linear:
    return low + (peak - low) * (1 - done);
  case RateShape::inverseSqrt:
    return std::max(low, peak * std::sqrt(double(std::max<int64_t>(warmup, 1)) /
                                          double(step)));
  case RateShape::wsd: {
    double left = double(steps - step) / double(decaySteps(options, steps));
    return left >= 1 ? peak : low + (peak - low) * left;
  }
  case RateShape::constant:
  case RateShape::file:
    break;
  }
  return peak;
}

Status train::checkRates(const RateOptions &options, int64_t steps) {
  if (options.shape != RateShape::wsd)
    return Status::success();
  int64_t decay = decaySteps(options, steps);
  if (options.warmupSteps + decay <= steps)
    return Status::success();
  return Status::error("a warm-up of " + std::to_string(options.warmupSteps) +
                       " steps and a decay of " + std::to_string(decay) +
                       " have no room in " + std::to_string(steps) +
                       " steps; make --warmup or --lr-decay-steps smaller");
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Reads the row `text`, which follows `points`. Returns what is wrong with it,
/// or an empty text.
static std::string readRow(std::string_view text,
                           std::vector<RatePoint> &points) {
  std::vector<std::string_view> cells = splitAt(text, ',');
  std::optional<double> step, rate;
  if (cells.size() == 2) {
    step = parseNumber(strip(cells[0]));
    rate = parseNumber(strip(cells[1]));
  }
  if (!step || !rate)
    return "expected a step and a rate, as 100,1e-3, found '" +
           printable(text) + "'";
  constexpr double most = 1e15; // Doubles represent all integers up to this.
  if (*step < 1 || *step > most || *step != std::floor(*step))
    return "expected a step, a whole number of 1 or more, found '" +
           printable(cells[0]) + "'";
  if (*rate < 0)
    return "expected a rate of 0 or more, found '" + printable(cells[1]) + "'";
  auto number = static_cast<int64_t>(*step);
  if (!points.empty() && number <= points.back().step)
    return "step " + std::to_string(number) + " follows step " +
           std::to_string(points.back().step) + "; steps have to ascend";
  points.push_back({number, *rate});
  return "";
}

Expected<std::vector<RatePoint>> train::readRates(const std::string &path) {
  VEELINE_TRY_VALUE(MappedFile file, MappedFile::open(path));
  std::vector<std::string_view> lines = splitAt(file.bytes(), '\n');
  std::vector<RatePoint> points;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string_view line = strip(lines[i]);
    std::string wrong;
    if (i == 0)
      wrong = line == header ? ""
                             : "expected the line '" + std::string(header) +
                                   "', found '" + printable(line) + "'";
    else if (!line.empty())
      wrong = readRow(line, points);
    if (!wrong.empty())
      return Status::error(path + ":" + std::to_string(i + 1) + ": " + wrong);
  }
  if (points.empty())
    return Status::error(path + ":" + std::to_string(lines.size()) +
                         ": expected a row, as 1,1e-3, found none");
  return points;
}

std::string train::printRates(const RateOptions &options, double peak,
                              int64_t steps) {
  std::string text = std::string(header) + "\n";
  for (int64_t step = 1; step <= steps; ++step)
    text += std::to_string(step) + "," +
            exactNumber(rateOfStep(options, peak, step, steps)) + "\n";
  return text;
}

StepSettings train::settingsOfStep(const Options &options, int64_t step) {
  StepSettings settings = options.optimizer;
  settings.step = step;
  settings.learningRate = rateOfStep(
      options.rates, options.optimizer.learningRate, step, options.steps);
  return settings;
}
