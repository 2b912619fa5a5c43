//===- ScalarBody.h - random expressions on scalars -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_FUZZ_SCALARBODY_H
#define VEELINE_TEST_FUZZ_SCALARBODY_H

#include "Random.h"

#include <string>
#include <vector>

namespace veeline::fuzz {

/// The body of a structured op while it is written.
class ScalarBody {
public:
  struct Scalar {
    std::string name;
    double bound; ///< Of the absolute value.
  };

  ScalarBody(Random &random, std::string element, int64_t loops)
      : random(random), element(std::move(element)), loops(loops) {}

  /// Adds an existing scalar to those that ops can use.
  void add(std::string name, double bound) {
    scalars.push_back({std::move(name), bound});
  }
  /// Writes one op; `text` is what stands behind the equals sign.
  std::string line(const std::string &text);
  /// Writes an op whose operands and result are floats.
  std::string op(const std::string &opcode, const std::string &operands) {
    return line(opcode + " " + operands + " : " + element);
  }
  /// Writes `count` random ops on the scalars that there are, and returns the
  /// last result.
  Scalar grow(int64_t count);
  /// The lines so far and the yield of `value`.
  std::string finish(const std::string &value);

private:
  const Scalar &pick() { return random.oneOf(scalars); }
  std::string constant(double value);
  /// 1 + x * x: a safe denominator and argument.
  std::string onePlusSquare(const Scalar &x);
  Scalar unary(const Scalar &x);
  Scalar binary(const Scalar &x, const Scalar &y);
  Scalar select(const Scalar &x, const Scalar &y);
  Scalar tame(const Scalar &x);

  Random &random;
  std::string element;
  int64_t loops;
  std::vector<Scalar> scalars;
  std::string lines;
  int64_t count = 0;
};

/// A float that MLIR's parser takes.
std::string literal(double value);

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_SCALARBODY_H
