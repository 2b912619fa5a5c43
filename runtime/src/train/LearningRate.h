//===- LearningRate.h - schedules of the learning rate ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_LEARNINGRATE_H
#define VEELINE_RUNTIME_TRAIN_LEARNINGRATE_H

#include "veeline/status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace veeline::train {

/// The shape of the learning rate from the peak on, after a linear warm-up.
enum class RateShape {
  cosine,      ///< Half a cosine, down to the least rate at the last step.
  constant,    ///< It stays.
  linear,      ///< A line, down to the least rate at the last step.
  inverseSqrt, ///< peak * sqrt(warm-up / step), but not below the least rate;
               ///< Vaswani et al., "Attention Is All You Need", 2017.
  wsd, ///< Warm-up, stable, decay: it stays until the last steps, then a
       ///< line; Hu et al., "MiniCPM", 2024.
  file ///< What a file says, warm-up included.
};

/// A row of such a file.
struct RatePoint {
  int64_t step = 1;
  double rate = 0;
};

struct RateOptions {
  RateShape shape = RateShape::cosine;
  int64_t warmupSteps = 0;
  /// The rate at which the decay ends. If it is not given, it is 0, or the peak
  /// for a cosine.
  std::optional<double> least;
  /// The steps of the decay of wsd; 0: a tenth of all steps.
  int64_t decaySteps = 0;
  std::string file;
  std::vector<RatePoint> points; ///< The rows of the file; see `readRates`.

  /// Whether the rate of a step depends on the number of steps.
  bool dependsOnSteps() const;
};

/// Returns "cosine", "constant", "linear", "inverse-sqrt", "wsd" or "file", in
/// the order of RateShape.
std::string_view name(RateShape shape);
/// Returns all names except "file", which precedes a path.
std::vector<std::string> rateShapeNames();
/// Finds one of these names; none if `text` is not one of them.
std::optional<RateShape> parseRateShape(std::string_view text);

/// Returns the rate of step `step` in [1, steps] for a given peak.
double rateOfStep(const RateOptions &options, double peak, int64_t step,
                  int64_t steps);

/// Checks that warm-up and decay fit into this number of steps.
Status checkRates(const RateOptions &options, int64_t steps);

/// Reads a .csv file: the line "step,lr", then one line for each of some steps,
/// in ascending order. Between two of them the rate is interpolated linearly;
/// before the first and after the last it is constant. An error names the file
/// and the line.
Expected<std::vector<RatePoint>> readRates(const std::string &path);

/// Prints rates so that readRates reads the same. There is a row for each step.
std::string printRates(const RateOptions &options, double peak, int64_t steps);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_LEARNINGRATE_H
