//===- Model.h - a model that can be taken apart ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_FUZZ_MODEL_H
#define VEELINE_TEST_FUZZ_MODEL_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace veeline::fuzz {

/// One value of a model: value i is `%v<i>` in the text.
using ValueId = int;

inline std::string nameOf(ValueId value) {
  return "%v" + std::to_string(value);
}

/// A few lines of MLIR that define one value. No other step uses the other
/// names that they define.
struct Step {
  std::string text;
  ValueId result = -1;
  /// Of a `pipe.boundary`, its operand; else -1.
  ValueId boundaryOf = -1;
};

/// An argument of the model function with its attributes.
struct Argument {
  ValueId value = -1;
  /// The text between the braces. That of a parameter begins with `pipe.param`.
  std::string attributes;
};

struct Model {
  uint64_t seed = 0;
  int64_t microbatches = 1;
  /// f64 or f32: the type of parameters and of the loss.
  std::string element = "f64";
  /// The type of each value.
  std::vector<std::string> types;
  std::vector<Argument> arguments;
  std::vector<Step> steps;
  /// The loss, then metrics.
  std::vector<ValueId> results;

  /// The module.
  std::string text() const;

  /// The values that `step` uses.
  static std::vector<ValueId> operandsOf(const Step &step);

  /// Drops what the results do not depend on, but keeps one parameter, which a
  /// model must have.
  void dropUnused();
  /// Writes `to` for every use of `from`.
  void replace(ValueId from, ValueId to);
};

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_MODEL_H
