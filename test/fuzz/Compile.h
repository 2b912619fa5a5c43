//===- Compile.h - one model, all its schedules -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_FUZZ_COMPILE_H
#define VEELINE_TEST_FUZZ_COMPILE_H

#include "Fault.h"
#include "Model.h"

#include "veeline/artifact.h"

#include <memory>

namespace veeline::fuzz {

/// A model to compile and to run.
struct Task {
  explicit Task(const Model &model)
      : text(model.text()), microbatches(model.microbatches), seed(model.seed) {
  }
  Task(std::string text, int64_t microbatches, int64_t chunks, uint64_t seed)
      : text(std::move(text)), microbatches(microbatches), chunks(chunks),
        seed(seed) {}

  std::string text; ///< The module.
  int64_t microbatches;
  int64_t chunks = 0; ///< 0: random.
  uint64_t seed;      ///< Of the cuts and the data.
};

/// Compiles models one after the other in one MLIR context.
class Compiler {
public:
  /// With a fault, one that makes wrong code.
  explicit Compiler(Fault fault = Fault::none);
  ~Compiler();

  /// Cuts the model at random between its marks, and compiles the functions of
  /// its chunks once, with the steps of the program "sequential" and of every
  /// schedule that has that many chunks and microbatches. Every fourth model
  /// also has, where it can do with less memory, a program within limits, with
  /// functions of its own. Code is generated without optimisation, that of
  /// every fourth seed of a random model with as much of it as the product has.
  /// Fails with the diagnostics. Every fifth seed has two or three replicas.
  Expected<artifact::Artifact> compile(const Task &task);

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
};

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_COMPILE_H
