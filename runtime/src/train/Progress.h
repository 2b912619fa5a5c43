//===- Progress.h - printed progress of training ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_PROGRESS_H
#define VEELINE_RUNTIME_TRAIN_PROGRESS_H

#include "veeline/status.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace veeline::train {

/// What is known after a step.
struct StepRecord {
  int64_t step = 0;
  double loss = 0;
  double learningRate = 0;
  double gradientNorm = 0;
  double clipFactor = 1;  ///< What updates multiplied gradients by; 0: skipped.
  double lossScale = 1;   ///< What the loss was multiplied by.
  bool isSkipped = false; ///< No parameter was updated.
  double seconds = 0;     ///< Of this step.
  double totalSeconds = 0;     ///< Since the first step began.
  std::vector<double> metrics; ///< Means of the model's further results.
};

/// What a step trains on.
struct WorkOfStep {
  /// Over all microbatches.
  int64_t samples = 0;
  /// Elements of the first batch argument that has tokens and more than one
  /// dimension; 0: there is none.
  int64_t tokens = 0;
};

/// As in "12.3 samples/s, 1574 tokens/s", of a step that takes `seconds`.
struct Rate {
  Rate(const WorkOfStep &work, double seconds);
  char text[80];
};

/// One line that is rewritten, on a terminal to which this process alone
/// writes; elsewhere one line every `logEvery` steps.
class Progress {
public:
  Progress(int64_t steps, const WorkOfStep &work, int64_t logEvery,
           bool isAlone, int64_t stepsBefore = 0);
  ~Progress();

  void show(const StepRecord &record);
  /// Ends a rewritten line. Called before anything else is printed.
  void finish();

private:
  /// Writes into `text`: no step allocates.
  const char *line(const StepRecord &record);

  const int64_t steps, logEvery, stepsBefore;
  const WorkOfStep work;
  const bool terminal;
  double lastShown = -1;
  char text[200];
  bool open = false;
};

/// "1m05s".
std::string formatDuration(double seconds);

/// Cuts a CSV file with `header`, whose rows begin with a step, to what it has
/// up to `lastStep`. False, and the file is as it was, where there is none, it
/// has another header or no such rows.
Expected<bool> cutRows(const std::string &path, const std::string &header,
                       int64_t lastStep);

/// A CSV file with a line per step, written as training goes on.
class MetricsFile {
public:
  MetricsFile() = default;
  MetricsFile(const MetricsFile &) = delete;
  MetricsFile &operator=(const MetricsFile &) = delete;
  ~MetricsFile();

  /// Those that not every run has.
  struct Columns {
    bool clipFactor = false, lossScale = false;
    std::vector<std::string> metrics;
  };
  /// Of a run that goes on after step `stepsBefore`, the rows up to that step
  /// stay where the file has the same columns.
  Status open(const std::string &path, const WorkOfStep &work, Columns columns,
              int64_t stepsBefore = 0);
  Status add(const StepRecord &record);
  /// Keeps the file. If this is not called, a file without a row is removed.
  Status close();

private:
  Status openFile(const std::string &header, int64_t stepsBefore);
  Status put(const std::string &text);
  Status failure();

  std::string path;
  WorkOfStep work;
  Columns columns;
  std::string row; ///< Kept, so that no step allocates.
  std::FILE *file = nullptr;
  bool isEmpty = true;    ///< Except for its header.
  bool hasBefore = false; ///< Rows of the run before.
};

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_PROGRESS_H
