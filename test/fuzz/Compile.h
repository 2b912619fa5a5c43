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

/// Where a model runs.
struct Targets {
  bool host = true;
  /// Over the stand-ins for a GPU's libraries.
  bool device = false;
};

/// A model to compile and to run.
struct Task {
  explicit Task(const Model &model, Targets targets = {}, bool joint = false)
      : text(model.text()), microbatches(model.microbatches), seed(model.seed),
        targets(targets), joint(joint) {}
  Task(std::string text, int64_t microbatches, int64_t chunks, uint64_t seed)
      : text(std::move(text)), microbatches(microbatches), chunks(chunks),
        seed(seed) {}

  std::string text; ///< The module.
  int64_t microbatches;
  int64_t chunks = 0; ///< 0: random.
  uint64_t seed;      ///< Of the cuts and the data.
  Targets targets = {};
  /// Whether all programs but the sequential one come from a joint graph.
  bool joint = false;
};

/// In the error of a joint graph that has nothing to be compared with.
inline constexpr char notComparable[] = "it is not compared";

/// Compiles models one after the other in one MLIR context.
class Compiler {
public:
  /// With a fault, a compiler that makes wrong code on purpose.
  explicit Compiler(Fault fault = Fault::none);
  ~Compiler();

  /// Cuts the model at random between its marks, and compiles the functions of
  /// its chunks once. The program "sequential" and every schedule that has that
  /// many chunks and microbatches call them. Fails with the diagnostics.
  ///
  /// The seed chooses variants. Every fourth random model is optimised as the
  /// product's code is; all others are not. Another fourth also has, if the
  /// model can do with less memory, a program within memory limits, with
  /// functions of its own. A third has one of forwards alone. Every fifth model
  /// has two or three replicas, of which some share out their updates.
  Expected<artifact::Artifact> compile(const Task &task);

  /// How many chunks the model can have. Fails with the diagnostics.
  Expected<int64_t> countPieces(const Task &task);

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
};

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_COMPILE_H
