//===- training.h - training from a program ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This is the interface for programs that train an artifact themselves, step by
// step. `veeline train` has more (checkpoints, metrics, evaluation). Such a
// program links Veeline::runtime, which exports runtime.h to the compiled code.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TRAINING_H
#define VEELINE_TRAINING_H

#include "veeline/status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace veeline {

namespace train {
struct Options;
} // namespace train

/// The options of `veeline train` with the same names (docs/runtime.md).
struct TrainingOptions {
  std::string program = "pipeline";
  /// "NAME=SPEC" each, as `--data` takes them: "x=x.npy", "tokens=text:a.txt".
  std::vector<std::string> data;
  /// The source of arguments that `data` does not name: "random" (new values in
  /// each step), "random:fixed", or "fed" (by Training::feed); empty if that is
  /// an error.
  std::string otherData;
  /// The seed of random parameters and data.
  uint64_t seed = 0;
  /// A .safetensors file with all parameters; empty: as the model says.
  std::string init;
  double learningRate = 1e-3;
  double weightDecay = 0;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  /// The folder of Veeline's modules (LIBDIR/veeline); only MPI needs it.
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

/// A program of an artifact with its parameters and data. Not for use by two
/// threads at a time.
class Training {
public:
  /// Reads the artifact at `path` and starts its ranks as threads, or meets the
  /// processes of a launcher. The file is mapped: it must not be written to or
  /// truncated while the result lives. To replace it, write another file and
  /// rename it. An error says what is wrong with a file, an option or this
  /// machine.
  static Expected<std::unique_ptr<Training>>
  open(const std::string &path, const TrainingOptions &options);
  /// The same for an artifact's content in memory, which is copied.
  static Expected<std::unique_ptr<Training>>
  openInMemory(std::string_view content, const TrainingOptions &options);
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

  /// An error if an argument was not fed for the next step.
  Status checkFed() const;

  /// Runs the next step, and returns its mean loss. If an argument was not fed,
  /// that is an error and no step runs. After any other error no further step
  /// runs.
  Expected<double> step();

  /// A result in each microbatch of the last step, and the norm of its averaged
  /// gradients of all parameters. Empty and 0 before the first step.
  std::vector<double> resultOf(size_t index) const;
  double gradientNorm() const;
  int64_t steps() const; ///< The number of steps that have run.

  /// Sets the learning rate from the next step on.
  void setLearningRate(double rate);

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
  openRun(const train::Options &options);
  Status checkParameter(size_t index, size_t bytes) const;
  std::unique_ptr<Implementation> implementation;
};

} // namespace veeline

#endif // VEELINE_TRAINING_H
