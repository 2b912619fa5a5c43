//===- CudaAttention.h - an attention on a GPU for tests --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_RUNTIME_CUDAATTENTION_H
#define VEELINE_TEST_UNIT_RUNTIME_CUDAATTENTION_H

#include "CudaBackend.h"

#include <array>
#include <random>

namespace veeline::test {

using List = std::vector<int64_t>;
using Numbers = std::vector<double>;

/// An operand in the arena, with four dimensions.
struct Operand {
  artifact::DataType type = artifact::DataType::f32;
  List sizes, strides;
  int64_t offset = 0;

  int64_t place(const List &index) const {
    int64_t at = 0;
    for (size_t i = 0; i < index.size(); ++i)
      at += sizes[i] == 1 ? 0 : index[i] * strides[i];
    return offset + at * artifact::byteSize(type);
  }
  int64_t bytes() const {
    int64_t last = 0;
    for (size_t i = 0; i < sizes.size(); ++i)
      last += (sizes[i] - 1) * strides[i];
    return (last + 1) * artifact::byteSize(type);
  }
};

enum Which {
  query,
  key,
  value,
  mask,
  output,
  lse,
  outputGrad,
  queryGrad,
  keyGrad,
  valueGrad,
  numOperands
};

struct Problem {
  artifact::Attention forward, backward;
  std::array<Operand, numOperands> operands;
  int64_t scratchOffset = 0, arenaBytes = 0;

  bool hasMask() const { return !forward.maskStrides.empty(); }
};
/// Gives both entries of a problem strides and places.
void layOut(Problem &problem, std::mt19937 &random, bool isDense);

/// A small causal problem with shared keys.
Problem makeProblem(bool deterministic = true);

/// One rank with both entries.
class Program {
public:
  explicit Program(const Problem &problem, int64_t libraryBytes = 1 << 20);

  artifact::Rank &rank() { return fixture.rank(0); }
  /// Returns the error of loading or of three steps, or an empty string.
  std::string run();
  /// The body of its step.
  void attend(veeline_rank *rank, char *newArena);

  cuda::CudaOptions options;
  std::string remark;
  Problem problem;
  /// The values of the inputs, in the order of operands.
  Numbers inputs;
  /// The values of the operands after each step.
  std::vector<std::array<Numbers, numOperands>> results;
  /// Whether the step finds the forward attention and the derivative.
  int32_t isThere[2] = {};
  /// Whether the step also calls those that it does not find.
  bool callsAll = false;

private:
  /// The arena, at an address that the host can access.
  char *memory() const { return standin::find(arena, problem.arenaBytes); }
  void writeInputs();
  void readResults();

  char *arena = nullptr;
  cts::Fixture fixture;
};

/// The values that a program computes, by the formulas, in f64.
class Definition {
public:
  explicit Definition(const Program &program);
  const Numbers &of(Which which) const { return tensors[which].numbers; }

private:
  /// Reads and writes tensors of four dimensions by index.
  struct Dense {
    List sizes;
    Numbers numbers;

    explicit Dense(const List &sizes);
    double &operator()(int64_t b, int64_t h, int64_t i, int64_t d);
  };

  void addRow(int64_t b, int64_t h, int64_t i);

  artifact::Attention a;
  std::vector<Dense> tensors;
};

} // namespace veeline::test

#endif // VEELINE_TEST_UNIT_RUNTIME_CUDAATTENTION_H
