//===- ProblemOptions.h - a problem from a few numbers ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options that describe a problem without a model, as on the command line.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_PROBLEMOPTIONS_H
#define VEELINE_SCHEDULE_PROBLEMOPTIONS_H

#include "veeline/Schedule/Problem.h"

#include <optional>
#include <string>
#include <string_view>

namespace veeline::schedule {

/// One number for each of F, B and W, and perhaps for R.
struct OpValues {
  double forward;
  double backwardInput;
  double backwardWeight;
  std::optional<double> recompute = std::nullopt;
};

/// Parses "F=18522,B=18086,W=9337": each exactly once, in any order, with or
/// without blanks around them; "R=9000" may be among them. The error
/// (InvalidProblem) quotes the wrong part.
Expected<OpValues> parseOpValues(std::string_view text);

/// Parses bytes: "512MiB", "1.5GiB", "4096" or "10kB". The error quotes the
/// text.
Expected<std::int64_t> parseBytes(std::string_view text);

/// Parses a bandwidth as "25GB/s"; returns bytes per nanosecond. The error
/// quotes the text.
Expected<double> parseBandwidth(std::string_view text);

struct ProblemOptions {
  /// Decides the placement.
  std::string schedule = {};
  int stages = 1;
  /// None: the least that the schedule allows.
  std::optional<int> chunksPerStage = std::nullopt;
  int microbatches = 1;
  /// Times of a whole stage for one microbatch, divided evenly among its
  /// chunks. With a time of R, each chunk has an R.
  OpValues cost = {1, 1, 1};
  /// Times of one chunk, instead of `cost`.
  std::optional<OpValues> chunkCost = std::nullopt;
  double transfer = 0;
  /// What F, B, W and R of a whole stage add, in activation units. R belongs to
  /// a cost of R.
  OpValues activation = {1, 0, -1};
  /// Of every stage, in activation units.
  std::optional<double> memoryLimit = std::nullopt;
};

/// The problem of these options, checked; its memory unit is the activation
/// unit. Errors: those of `placementFor` and `check`, and values out of range.
Expected<Problem> makeProblem(const ProblemOptions &options);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_PROBLEMOPTIONS_H
