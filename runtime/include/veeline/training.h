//===- training.h - training from a program ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Training from a program of your own, step by step. The program has the loop
// and the data, and this library does the rest of `veeline train`, with options
// of the same names. The program links Veeline::runtime, which exports the
// functions of runtime.h to the compiled code.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TRAINING_H
#define VEELINE_TRAINING_H

#include "veeline/status.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace veeline {

/// An option of `veeline train` (docs/runtime.md): its name without dashes,
/// such as "lr", and its value. A flag, such as "skip-nonfinite", has no value.
/// An option that is given several times, such as "data", has an entry for each
/// time.
using TrainingOption = std::pair<std::string, std::optional<std::string>>;

struct TrainingOptions {
  /// Options among Training::optionNames. The program feeds arguments that have
  /// no "data", unless "synthetic" is given. Without "steps" there is no last
  /// step.
  std::vector<TrainingOption> values;
  /// The directory of Veeline's modules (LIBDIR/veeline), which only MPI needs.
  std::string moduleDirectory;
};

/// A parameter, an argument or a result.
struct TensorInfo {
  std::string name;
  /// "f32", "f64", "i32", ...; "bool" is "i1", a byte that is 0 or 1.
  std::string type;
  std::vector<int64_t> shape; ///< For an argument, that of one microbatch.
  int64_t bytes = 0;          ///< The size of such a tensor, row-major, dense.
};

/// Figures of a step that has run.
struct StepInfo {
  double learningRate = 0;
  /// The norm of the averaged gradients of all parameters.
  double gradientNorm = 0;
  /// The factor by which updates multiplied gradients; 0: updates were skipped.
  double clipFactor = 1;
  double lossScale = 1; ///< The factor of the loss.
};

/// A program of an artifact with its parameters and data. Only one thread may
/// use it at a time. If a launcher has started a process for each rank, all
/// processes must make the same calls that step, evaluate, save or write
/// checkpoints, in the same order.
class Training {
public:
  /// The names of all options.
  static std::vector<std::string> optionNames();

  /// Reads the artifact at `path`, and starts its ranks as threads or, under a
  /// launcher, connects to the other processes. The file must not be written to
  /// while the result exists. With "resume" it continues from a checkpoint. The
  /// error says what is wrong with a file, an option or this machine. Sets
  /// `isMisfit` if an option has no meaning or contradicts another one,
  /// whatever the artifact is.
  static Expected<std::unique_ptr<Training>>
  open(const std::string &path, const TrainingOptions &options,
       bool *isMisfit = nullptr);
  /// The same for the content of an artifact in memory, which is copied.
  static Expected<std::unique_ptr<Training>>
  openInMemory(std::string_view content, const TrainingOptions &options,
               bool *isMisfit = nullptr);
  /// Waits until checkpoints are written.
  ~Training();

  const std::vector<TensorInfo> &parameters() const;
  /// Arguments that differ between microbatches, and those that do not.
  const std::vector<TensorInfo> &batches() const;
  const std::vector<TensorInfo> &buffers() const;
  /// The loss and the metrics.
  const std::vector<TensorInfo> &results() const;
  /// The number of microbatches in a step, on all replicas.
  int32_t microbatches() const;

  /// Copies values of an argument that is fed, row-major. For a batch argument
  /// they are those of all microbatches of the next step, one after the other;
  /// for a buffer they hold for all steps from now on. It is an error if there
  /// is no such argument, if the number of bytes is wrong, or if the argument
  /// does not accept the values; earlier values then stay.
  Status feed(const std::string &name, std::string_view values);

  /// Fails if the next step cannot begin, because an argument was not fed for
  /// it, or the last one of "steps" has run.
  Status checkNext() const;

  /// Runs the next step, and returns its mean loss. With "checkpoint" and
  /// "every", a checkpoint is copied after some steps, and written while others
  /// run. If `checkNext` fails, that is the error and no step runs. After any
  /// other error no further step runs.
  Expected<double> step();

  /// The values of a result in the last step of this object, one for each
  /// microbatch. Empty before the first step.
  std::vector<double> resultOf(size_t index) const;
  StepInfo lastStep() const;
  /// The number of steps that have run, including those before "resume".
  int64_t steps() const;

  /// Sets the peak of the learning rate from the next step on. Fails if rates
  /// come from a file.
  Status setLearningRate(double rate);

  /// Copies values of a batch argument for the next evaluation, as `feed` does.
  /// Buffers are those of training. Also fails if the artifact was compiled
  /// without --evaluation.
  Status feedEvaluation(const std::string &name, std::string_view values);
  /// Fails if an argument was not fed.
  Status checkEvaluation() const;
  /// Runs only the model's forwards with the current parameters, in as many
  /// microbatches as a step has, and returns the mean loss. Does not affect
  /// steps.
  Expected<double> evaluate();
  /// As resultOf, for the last evaluation.
  std::vector<double> evaluatedResultOf(size_t index) const;

  /// Writes a checkpoint of the state after the last step to the folder of
  /// "checkpoint", unless that checkpoint exists, and waits until all are
  /// written. Fails if the last one could not be written.
  Status checkpoint();
  /// Returns remarks for the user that were not returned before: about
  /// checkpoints that could not be written, options that differ from those
  /// before "resume", ...
  std::vector<std::string> takeRemarks();

  /// Copy the value of a parameter from the ranks or to all of them, between
  /// steps. `bytes` is as in TensorInfo. Fail if ranks are processes. If late
  /// updates follow a step (docs/loops.md), they also change a value that was
  /// set.
  Status getParameter(size_t index, char *values, size_t bytes) const;
  Status setParameter(size_t index, const char *values, size_t bytes);

  /// Writes all parameters as a .safetensors file, atomically.
  Status save(const std::string &path) const;

private:
  struct Implementation;
  explicit Training(std::unique_ptr<Implementation> implementation);
  static Expected<std::unique_ptr<Training>>
  openRun(const std::string &path, std::optional<std::string_view> content,
          const TrainingOptions &options, bool *isMisfit);
  Status checkParameter(size_t index, size_t bytes) const;
  std::unique_ptr<Implementation> implementation;
};

} // namespace veeline

#endif // VEELINE_TRAINING_H
