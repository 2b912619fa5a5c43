//===- training.h - an artifact that is trained by a program ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a program needs that trains by itself, step by step; `veeline train` has
// more (checkpoints, metrics, evaluation). Such a program links
// Veeline::runtime, which exports runtime.h to the compiled code.
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

/// The options of `veeline train` of the same names (docs/runtime.md).
struct TrainingOptions {
  std::string program = "pipeline";
  /// "NAME=SPEC" each, as `--data` takes them: "x=x.npy", "tokens=text:a.txt".
  std::vector<std::string> data;
  /// The source of arguments that `data` does not name: "random" (new values in
  /// each step), "random:fixed", or "fed" (by Training::feed); empty if that is
  /// an error.
  std::string otherData;
  /// Of random parameters and data.
  uint64_t seed = 0;
  /// A .safetensors file with all parameters; empty: as the model says.
  std::string init;
  double learningRate = 1e-3;
  double weightDecay = 0;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  /// Where Veeline's modules are (LIBDIR/veeline), for MPI alone.
  std::string moduleDirectory;
};

/// A parameter, an argument or a result.
struct TensorInfo {
  std::string name;
  /// "f32", "f64", "i32", ...; "bool" is "i1", a byte that is 0 or 1.
  std::string type;
  std::vector<int64_t> shape; ///< Of an argument, in one microbatch.
  int64_t bytes = 0;          ///< Of such a tensor, row-major, without gaps.
};

/// A program of an artifact with its parameters and data. Not for use by two
/// threads at a time.
class Training {
public:
  /// Reads the artifact at `path`, a file that must not be written to while the
  /// result lives, and starts its ranks as threads, or meets the processes of a
  /// launcher. An error says what is wrong with a file, an option or this
  /// machine.
  static Expected<std::unique_ptr<Training>>
  open(const std::string &path, const TrainingOptions &options);
  /// The same of an artifact's content in memory, which is copied.
  static Expected<std::unique_ptr<Training>>
  openInMemory(std::string_view content, const TrainingOptions &options);
  ~Training();

  const std::vector<TensorInfo> &parameters() const;
  /// What differs between microbatches, and what is the same for all.
  const std::vector<TensorInfo> &batches() const;
  const std::vector<TensorInfo> &buffers() const;
  /// The loss and the metrics.
  const std::vector<TensorInfo> &results() const;
  /// Of a step, on all replicas.
  int32_t microbatches() const;

  /// Copies values of an argument that is fed, row-major: of a batch argument
  /// all microbatches of the next step one after the other, of a buffer those
  /// of all steps from now on. An error if there is no such argument, or if it
  /// has other bytes or takes no such values; what was fed before then stays.
  Status feed(const std::string &name, std::string_view values);

  /// An error where an argument was not fed for the next step.
  Status checkFed() const;

  /// Runs the next step, and returns its mean loss. If an argument was not fed,
  /// that is an error and no step runs. After any other error no further step
  /// runs.
  Expected<double> step();

  /// Of the last step: a result in each microbatch, and the norm of the
  /// averaged gradients of all parameters. Nothing and 0 before the first one.
  std::vector<double> resultOf(size_t index) const;
  double gradientNorm() const;
  int64_t steps() const; ///< That have run.

  /// From the next step on.
  void setLearningRate(double rate);

  /// Copies the value of a parameter out of all ranks, or into them, between
  /// steps; `bytes` as TensorInfo says. Of ranks as processes it is an error.
  /// Where late updates follow a step (docs/loops.md) they change what is set.
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
