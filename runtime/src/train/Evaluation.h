//===- Evaluation.h - evaluation of a model on given data -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_EVALUATION_H
#define VEELINE_RUNTIME_TRAIN_EVALUATION_H

#include "JsonLine.h"
#include "Options.h"
#include "Session.h"

#include <functional>

namespace veeline::train {

/// The names of the results after the loss.
std::vector<std::string> metricNames(const artifact::Metadata &metadata);

/// Means of a model's results over microbatches. If losses are weighted, all
/// results except the weights themselves are. Sums are in the order of steps,
/// and within a step in the order of microbatches.
class ResultMeans {
public:
  explicit ResultMeans(const artifact::Metadata &metadata)
      : lossWeight(static_cast<size_t>(metadata.lossWeight)),
        sums(metadata.results.size()) {}

  void clear();
  /// Adds the results of `perStep` microbatches. With `weightedLoss`, the loss
  /// of each is already multiplied by its weight divided by the mean of all
  /// weights.
  void add(const StepResult &result, size_t perStep, bool weightedLoss);
  /// Returns the mean of a result; 0 if all weights are 0.
  double of(size_t index) const;
  double sumOfWeights() const { return sums[lossWeight]; }

private:
  size_t lossWeight; ///< 0: all microbatches have equal weights.
  std::vector<double> sums;
  double microbatches = 0;
  bool isLossWeighted = false;
};

/// Means of the model's results, the loss first, over all microbatches.
struct EvaluationResult {
  std::vector<double> means;
  int64_t microbatches = 0;
  bool isWhole = true; ///< All steps have run.
};

/// Called with each step's results once they are known, in order.
using StepListener = std::function<Status(int64_t step, const StepResult &)>;

/// Runs steps 1 to `steps` of a forward-only session. If the user interrupts,
/// the means are those of the first `microbatches`. Fails if all weights of
/// losses are 0, because there is no mean then.
Expected<EvaluationResult> evaluate(Session &session, const Run &run,
                                    int64_t steps,
                                    const StepListener &listener = {});

/// exp(loss), where the user asks for it.
std::optional<double> perplexityOf(const Run &run,
                                   const EvaluationResult &result);

/// Adds the loss, the metrics and the perplexity of an evaluation to a line.
void addMeans(JsonLine &line, const Run &run, const EvaluationResult &result);

/// Returns a text such as "loss 2.3026, metric1 0.5"; empty if the model
/// returns only tensors.
std::string describe(const Run &run, const EvaluationResult &result);

/// A CSV file with a line for each evaluation or microbatch.
class ResultsFile {
public:
  ResultsFile() = default;
  ResultsFile(const ResultsFile &) = delete;
  ResultsFile &operator=(const ResultsFile &) = delete;
  ~ResultsFile() { (void)close(); }

  /// `numbers` are the names of the columns before those of the results, and
  /// `more` of those after them. Rows of the run before are kept, as by
  /// cutRows.
  Status open(const std::string &path, const std::string &numbers,
              const artifact::Metadata &metadata, const RowsBefore &before = {},
              const std::string &more = "");
  bool isOpen() const { return file != nullptr; }
  /// Adds a line: `numbers`, then the shortest texts of `results`.
  Status add(const std::string &numbers, const std::vector<double> &results);
  Status close();

private:
  Status put(const std::string &text);

  std::string path;
  std::FILE *file = nullptr;
};

/// Runs `veeline eval`, once the run is open.
Status evaluateRun(Run &run);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_EVALUATION_H
