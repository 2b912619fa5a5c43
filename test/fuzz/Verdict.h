//===- Verdict.h - whether a model passes -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_FUZZ_VERDICT_H
#define VEELINE_TEST_FUZZ_VERDICT_H

#include "Check.h"
#include "Compile.h"

namespace veeline::fuzz {

struct Verdict {
  /// `untrainable`: no gradient reaches a parameter, as in a random model that
  /// takes all of them through steps of derivative 0. `refused`: the options
  /// for a GPU that the seed chose are not for this model. These are no
  /// failures.
  enum class Kind {
    pass,
    untrainable,
    refused,
    doesNotCompile,
    disagrees,
    dies
  };
  Kind kind = Kind::pass;
  std::string message; ///< Of a failure.
  CheckCounts counts;  ///< Of a pass.

  bool isFailure() const { return kind > Kind::refused; }
};

/// Compiles and checks a model in a process of its own, which ends after
/// `seconds` at the latest: whatever compiled code does, this process goes on.
/// On a device, that holds for each step of it (see judgeOnDevice).
Verdict judge(Compiler &compiler, const Task &task, unsigned seconds = 60);

/// The smallest model found that fails as `model` did with `verdict`. Removes
/// steps, marks and arguments one after the other as long as the kind of
/// failure stays the same, and what the compiler says or, where the model
/// compiles, how the message begins, up to its first number.
Model shrink(Compiler &compiler, const Model &model, Targets targets,
             bool joint, const Verdict &verdict);

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_VERDICT_H
