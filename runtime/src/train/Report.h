//===- Report.h - the output of training ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The output is text for people, or a line of JSON for each event
// (docs/long-runs.md). Only the first process has a report.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_REPORT_H
#define VEELINE_RUNTIME_TRAIN_REPORT_H

#include "Evaluation.h"
#include "Progress.h"

#include <memory>
#include <optional>

namespace veeline::train {

class EventFile;
class Run;

/// The cost of checkpoints.
struct CheckpointSummary {
  int64_t count = 0;
  std::string directory;
  int64_t lastStep = 0, bytesOfLast = 0;
  double secondsWaited = 0;  ///< In the training loop.
  double secondsOfWrite = 0; ///< The mean time of a write.
};

struct ProfileSummary {
  std::string file;
  double stepMilliseconds = 0; ///< The median.
  int64_t steps = 0;
  std::optional<double> predictedMilliseconds;
};

/// How a run has ended.
struct TrainingSummary {
  /// Those of this run. If it is 0, the numbers below have no meaning.
  int64_t steps = 0;
  double seconds = 0;
  double loss = 0; ///< Of the last step.
  double meanLoss = 0;
  int64_t lossesInMean = 0;
  double lossScale = 1; ///< Of the last step.
  int64_t numClipped = 0, numSkipped = 0;
  /// The time spent waiting for data; none if the data are not from files of
  /// tokens.
  std::optional<double> secondsWaited;
  bool isOptimistic = false; ///< Whether updates preceded norms.
};

class Report {
public:
  static std::unique_ptr<Report> create(const Run &run);
  virtual ~Report() = default;

  virtual void begin() {}
  virtual void showStep(const StepRecord &record) = 0;
  virtual void showEvaluation(int64_t step, const EvaluationResult &result,
                              double seconds) = 0;
  virtual void showEnd(const TrainingSummary &summary) = 0;
  /// Shows the cost of checkpoints in a run that took this many seconds.
  virtual void showCheckpoints(const CheckpointSummary &summary,
                               double seconds) = 0;
  virtual void showProfile(const ProfileSummary &summary) = 0;
  /// Ends a line that is rewritten. Called before anything else is printed.
  virtual void endLine() {}
};

/// Adds what is known after a step, or after an evaluation, to a file of curves
/// if it is open.
Status writeCurves(EventFile &events, const Run &run, const StepRecord &record);
Status writeCurves(EventFile &events, const Run &run, int64_t step,
                   const EvaluationResult &result);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_REPORT_H
