//===- ModelWriter.h - writes the steps of a model --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_FUZZ_MODELWRITER_H
#define VEELINE_TEST_FUZZ_MODELWRITER_H

#include "Model.h"
#include "Random.h"

#include <optional>
#include <string>
#include <vector>

namespace veeline::fuzz {

using Shape = std::vector<int64_t>;

int64_t numElements(const Shape &shape);
/// "d0, d1, ..."
std::vector<std::string> identityDims(size_t rank);
/// "[1, 2]"
std::string listOf(const std::vector<int64_t> &numbers);

/// How large tensors are.
enum class Sizes {
  small, ///< Up to 6 in a dimension: quick to differentiate numerically.
  large, ///< As kernels of a GPU meet them, up to thousands.
};

/// A float tensor of the model.
struct Tensor {
  ValueId id = -1;
  Shape shape;
  double bound = 1; ///< Of the absolute values.

  std::string name() const { return nameOf(id); }
};

/// An operand of a structured op: what indexes each of its dimensions.
struct Operand {
  std::string name, type;
  std::vector<std::string> dims;
};

/// A structured op.
struct Generic {
  size_t loops = 0;
  /// Dimensions that are reduced.
  std::vector<size_t> reductions;
  std::vector<Operand> inputs;
  Operand init;
  /// The lines of the body, in which inputs are %a0, %a1, ... and the init is
  /// %out.
  std::string body;
};

/// Writes steps one after the other. What a step needs beside its op (inits,
/// constants) is written by `temp` before it and belongs to it.
class ModelWriter {
public:
  ModelWriter(uint64_t seed, std::string element);

  const std::string &element() const { return model.element; }
  std::string typeOf(const Shape &shape) const {
    return typeOf(shape, model.element);
  }
  static std::string typeOf(const Shape &shape, const std::string &element);

  Tensor parameter(const Shape &shape);
  Tensor batch(const Shape &shape);
  Tensor buffer(const Shape &shape);
  /// A batch argument of indices, which whoever makes its data keeps in range.
  ValueId integers(const Shape &shape);

  /// Writes a line of the next step and returns the name of its result. If
  /// there are several, the first one is `#0` of that name.
  std::string temp(const std::string &text, int64_t numResults = 1);
  std::string empty(const Shape &shape);
  std::string fill(const Shape &shape, const std::string &literal);
  std::string infinity(bool negative) const;
  /// Ends the step: `text` is what stands behind the equals sign.
  Tensor define(const Shape &shape, double bound, const std::string &text);
  Tensor generic(const Generic &op, const Shape &shape, double bound);
  Operand operand(const Tensor &tensor, std::vector<std::string> dims) const {
    return {tensor.name(), typeOf(tensor.shape), std::move(dims)};
  }
  /// Marks a cut; returns `tensor` on its other side.
  Tensor boundary(const Tensor &tensor);

  Model model;

private:
  ValueId newValue(std::string type);
  ValueId argument(std::string type, std::string attributes);

  std::string setup;
  int64_t numTemps = 0, numArguments = 0;
};

/// `affine_map<(d0, d1) -> (...)>`
std::string affineMap(size_t loops, const std::vector<std::string> &results);

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_MODELWRITER_H
