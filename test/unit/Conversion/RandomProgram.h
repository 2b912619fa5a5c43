//===- RandomProgram.h - random functions on tensors ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_CONVERSION_RANDOMPROGRAM_H
#define VEELINE_TEST_UNIT_CONVERSION_RANDOMPROGRAM_H

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace veeline::test {

/// A function `@f` of straight-line structured ops. Its tensors are matrices of
/// `rows` x `columns`, their rows, their columns, and scalars. Its ops are
/// elementwise ops with broadcasts, reductions, transposes, slices, masks and
/// matrix products.
struct RandomProgram {
  explicit RandomProgram(unsigned seed, const std::string &type = "f32");

  std::string text;
  /// The elements of each argument and result.
  std::vector<int64_t> arguments, results;

  /// Computes the results of the function in f64, one op after the other.
  /// `results` is the content of the out-parameters before the call.
  std::vector<std::vector<double>>
  evaluate(const std::vector<std::vector<double>> &arguments,
           std::vector<std::vector<double>> results) const;

private:
  struct Tensor {
    std::string name;
    std::vector<int64_t> shape;
  };
  using Values = std::vector<double>;
  /// Computes a tensor from those before it.
  using Step = std::function<Values(const std::vector<Values> &)>;

  unsigned pick(unsigned count) { return random() % count; }
  size_t pickTensor();
  std::optional<size_t> pickTensorOf(const std::vector<int64_t> &shape);
  std::string typeOf(const std::vector<int64_t> &shape) const;
  std::string newName();
  std::string addEmpty(const std::vector<int64_t> &shape);
  std::string addFill(const std::vector<int64_t> &shape,
                      const std::string &value);
  void define(const std::string &name, const std::vector<int64_t> &shape,
              Step step);
  void addOp();
  void addUnary();
  void addBinary();
  void addMask();
  void addReduction();
  void addTranspose();
  void addSlices();
  void addProduct();
  void addResults();

  std::mt19937 random;
  std::string type;
  int64_t rows, columns;
  unsigned numValues = 0;
  std::vector<Tensor> tensors;
  /// The step for each tensor that is not an argument.
  std::vector<Step> steps;
  std::vector<size_t> returned;
  std::vector<bool> accumulates;
  std::string body;
};

} // namespace veeline::test

#endif // VEELINE_TEST_UNIT_CONVERSION_RANDOMPROGRAM_H
