//===- training.h - training from a program ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a program needs that trains by itself, step by step: it has the loop and
// the data, and `veeline train` has the rest, by options of the same names.
// Such a program links Veeline::runtime, which exports runtime.h to the
// compiled code.
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
/// "lr", and its value, or none of a flag, "skip-nonfinite". Options that may
/// be given several times, as "data", stand once for each.
using TrainingOption = std::pair<std::string, std::optional<std::string>>;

struct TrainingOptions {
  /// Those of Training::optionNames. Arguments that have no "data" are fed by
  /// the program, unless "synthetic" is given. Without "steps" there is no last
  /// step.
  std::vector<TrainingOption> values;
  /// Where Veeline's modules are (LIBDIR/veeline), for MPI alone.
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

/// What is known of a step that has run.
struct StepInfo {
  double learningRate = 0;
  /// Of the averaged gradients of all parameters.
  double gradientNorm = 0;
  /// What updates multiplied gradients by; 0: they were skipped.
  double clipFactor = 1;
  double lossScale = 1; ///< What the loss was multiplied by.
};

/// A program of an artifact with its parameters and data. Not for use by two
/// threads at a time. Where a launcher has started a process for each rank, all
/// of them call what steps, evaluates, saves and writes checkpoints, in the
/// same order.
class Training {
public:
  /// What an option may be called.
  static std::vector<std::string> optionNames();

  /// Reads the artifact at `path`, a file that must not be written to while the
  /// result lives, and starts its ranks as threads, or meets the processes of a
  /// launcher. With "resume" it goes on from a checkpoint. An error says what
  /// is wrong with a file, an option or this machine. `isMisfit` becomes true
  /// where an option has no meaning, or does not fit another one, whatever the
  /// artifact is.
  static Expected<std::unique_ptr<Training>>
  open(const std::string &path, const TrainingOptions &options,
       bool *isMisfit = nullptr);
  /// The same for an artifact's content in memory, which is copied.
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

  /// An error where the next step cannot begin: an argument was not fed for it,
  /// or the last one of "steps" has run.
  Status checkNext() const;

  /// Runs the next step, and returns its mean loss. With "checkpoint" and
  /// "every", a checkpoint is copied after some steps, and written while others
  /// run. If `checkNext` fails, that is the error and no step runs. After any
  /// other error no further step runs.
  Expected<double> step();

  /// Of the last step of this object: a result in each microbatch. Nothing
  /// before the first one.
  std::vector<double> resultOf(size_t index) const;
  StepInfo lastStep() const;
  /// How many steps have run, those before "resume" among them.
  int64_t steps() const;

  /// The peak of the learning rate, from the next step on. An error where rates
  /// come from a file.
  Status setLearningRate(double rate);

  /// Copies values of a batch argument of the next evaluation, as `feed` does.
  /// Buffers are those of training. An error, too, where the artifact was
  /// compiled without --evaluation.
  Status feedEvaluation(const std::string &name, std::string_view values);
  /// An error where an argument was not fed.
  Status checkEvaluation() const;
  /// Runs the model's forwards alone, in as many microbatches as a step has, on
  /// the parameters as they are, and returns the mean loss. Steps know nothing
  /// of it.
  Expected<double> evaluate();
  /// As resultOf, of the last evaluation.
  std::vector<double> evaluatedResultOf(size_t index) const;

  /// Writes a checkpoint of the state after the last step to the folder of
  /// "checkpoint", unless there is one, and waits until all are written. An
  /// error if the last one could not be.
  Status checkpoint();
  /// What the user should know and has not been told: of checkpoints that could
  /// not be written, of options that are others than before "resume", ...
  std::vector<std::string> takeRemarks();

  /// Copies the value of a parameter out of all ranks, or into them, between
  /// steps; `bytes` as in TensorInfo. It is an error if ranks are processes. If
  /// late updates follow a step (docs/loops.md), they change what is set.
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
