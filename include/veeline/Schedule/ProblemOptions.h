//===- ProblemOptions.h - a problem from a few numbers ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a user says about a problem without a model: the command line's options
// as a struct.
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

/// Parses "F=18522,B=18086,W=9337", in any order, each exactly once, with
/// or without blanks around them; "R=9000" may be among them. The error
/// (InvalidProblem) quotes the part that is wrong.
Expected<OpValues> parseOpValues(std::string_view text);

/// Bytes as "512MiB", "1.5GiB", "4096" or "10kB". The error quotes the text.
Expected<std::int64_t> parseBytes(std::string_view text);

/// Bytes a nanosecond of "25GB/s". The error quotes the text.
Expected<double> parseBandwidth(std::string_view text);

struct ProblemOptions {
  /// Decides the placement.
  std::string schedule = {};
  int stages = 1;
  /// None: the least that the schedule takes.
  std::optional<int> chunksPerStage = std::nullopt;
  int microbatches = 1;
  /// Time of a whole stage for one microbatch, shared evenly by its chunks.
  /// With one of R, each chunk has an R.
  OpValues cost = {1, 1, 1};
  /// Time of one chunk; instead of `cost`.
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
