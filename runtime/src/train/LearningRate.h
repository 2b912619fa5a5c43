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

/// How the learning rate goes on from the peak, after a linear warm-up.
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
  /// Where the decay ends; not given: 0, but the peak of a cosine.
  std::optional<double> least;
  /// Of wsd; 0: a tenth of all steps.
  int64_t decaySteps = 0;
  std::string file;
  std::vector<RatePoint> points; ///< Of the file; see `readRates`.

  /// Whether the rate of a step depends on how many there are.
  bool dependsOnSteps() const;
};

/// "cosine", "constant", "linear", "inverse-sqrt", "wsd" and "file", in the
/// order of RateShape.
std::string_view name(RateShape shape);
/// All but "file", which stands before a path.
std::vector<std::string> rateShapeNames();
/// Of these; none where `text` is no such name.
std::optional<RateShape> parseRateShape(std::string_view text);

/// The rate of step `step` in [1, steps], given the peak.
double rateOfStep(const RateOptions &options, double peak, int64_t step,
                  int64_t steps);

/// Whether warm-up and decay have room in so many steps.
Status checkRates(const RateOptions &options, int64_t steps);

/// Reads a .csv file: the line "step,lr", then one line for each of some steps,
/// in ascending order. Between two of them the rate is on a line; before the
/// first and after the last it stays. An error names the file and the line.
Expected<std::vector<RatePoint>> readRates(const std::string &path);

/// What readRates would read, of rates that change at every step.
std::string printRates(const RateOptions &options, double peak, int64_t steps);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_LEARNINGRATE_H
