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
#include <vector>

namespace veeline {

/// The options of `veeline train` of the same names (docs/runtime.md).
struct TrainingOptions {
  std::string program = "pipeline";
  /// "NAME=SPEC" each, as `--data` takes them: "x=x.npy", "tokens=text:a.txt".
  std::vector<std::string> data;
  /// The source of arguments that `data` does not name: "random" (new values in
  /// each step) or "random:fixed"; empty if that is an error.
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
  ~Training();

  /// Runs the next step, and returns its mean loss. After an error no further
  /// step runs.
  Expected<double> step();

  /// Writes all parameters as a .safetensors file, atomically.
  Status save(const std::string &path) const;

private:
  struct Implementation;
  explicit Training(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation;
};

} // namespace veeline

#endif // VEELINE_TRAINING_H
