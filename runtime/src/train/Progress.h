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
#include <functional>
#include <string>
#include <vector>

namespace veeline::train {

/// The figures that are known after a step.
struct StepRecord {
  int64_t step = 0;
  double loss = 0;
  double learningRate = 0;
  double gradientNorm = 0;
  double clipFactor = 1;       ///< The factor of gradients; 0: skipped.
  double lossScale = 1;        ///< The factor of the loss.
  bool isSkipped = false;      ///< No parameter was updated.
  double seconds = 0;          ///< The duration of this step.
  double totalSeconds = 0;     ///< Since the first step began.
  std::vector<double> metrics; ///< Means of the model's further results.
};

/// The amount of data of a step.
struct WorkOfStep {
  /// Over all microbatches.
  int64_t samples = 0;
  /// The elements of the first batch argument that has tokens and more than one
  /// dimension; 0 if there is none.
  int64_t tokens = 0;
};

/// A text such as "12.3 samples/s, 1574 tokens/s", for a step that takes
/// `seconds`.
struct Rate {
  Rate(const WorkOfStep &work, double seconds);
  char text[80];
};

/// Prints the progress. On a terminal to which only this process writes, it is
/// one line that is rewritten. Elsewhere, it is one line every `logEvery`
/// steps.
class Progress {
public:
  Progress(int64_t steps, const WorkOfStep &work, int64_t logEvery,
           bool isAlone, int64_t stepsBefore = 0);
  ~Progress();

  void show(const StepRecord &record);
  /// Ends a rewritten line. Called before anything else is printed.
  void finish();

private:
  /// Writes into `text`, so that no step allocates.
  const char *line(const StepRecord &record);

  const int64_t steps, logEvery, stepsBefore;
  const WorkOfStep work;
  const bool terminal;
  double lastShown = -1;
  char text[200];
  bool open = false;
};

/// Returns a text such as "1m05s".
std::string formatDuration(double seconds);

/// The run that a CSV file, whose rows begin with a step, is a continuation of.
struct RowsBefore {
  int64_t lastStep = 0; ///< 0: there is none.
  std::function<void(const std::string &remark)> say = {};
};

/// Cuts such a file with `header` after the rows up to the last step before.
/// Returns whether there are any; if not, a new file is to be written. If the
/// file has these rows and other columns, they are moved to another file, and a
/// remark says so.
Expected<bool> cutRows(const std::string &path, const std::string &header,
                       const RowsBefore &before);

/// A CSV file with a line for each step, written during training.
class MetricsFile {
public:
  MetricsFile() = default;
  MetricsFile(const MetricsFile &) = delete;
  MetricsFile &operator=(const MetricsFile &) = delete;
  ~MetricsFile();

  /// The columns that not every run has.
  struct Columns {
    bool clipFactor = false, lossScale = false;
    std::vector<std::string> metrics;
  };
  /// Opens the file. Its rows of the run before are kept, as by cutRows.
  Status open(const std::string &path, const WorkOfStep &work, Columns columns,
              const RowsBefore &before = {});
  Status add(const StepRecord &record);
  /// Keeps the file. If this is not called, a file without a row is removed.
  Status close();

private:
  Status openFile(const std::string &header, const RowsBefore &before);
  Status put(const std::string &text);
  Status failure();

  std::string path;
  WorkOfStep work;
  Columns columns;
  std::string row; ///< Kept, so that no step allocates.
  std::FILE *file = nullptr;
  bool isEmpty = true;    ///< Except for its header.
  bool hasBefore = false; ///< Whether it has rows of the run before.
};

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_PROGRESS_H
