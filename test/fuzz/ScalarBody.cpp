//===- ScalarBody.cpp - random expressions on scalars ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalarBody.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace veeline::fuzz;

std::string veeline::fuzz::literal(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6e", value);
  return text;
}

std::string ScalarBody::line(const std::string &text) {
  std::string name = "%b" + std::to_string(count++);
  lines += "    " + name + " = " + text + "\n";
  return name;
}

std::string ScalarBody::constant(double value) {
  return line("arith.constant " + literal(value) + " : " + element);
}

std::string ScalarBody::onePlusSquare(const Scalar &x) {
  std::string square = op("arith.mulf", x.name + ", " + x.name);
  return op("arith.addf", square + ", " + constant(1));
}

ScalarBody::Scalar ScalarBody::unary(const Scalar &x) {
  switch (random.below(14)) {
  case 0:
    return {op("math.tanh", x.name), 1};
  case 1:
    return {op("math.erf", x.name), 1};
  case 2:
    return {op("math.sin", x.name), 1};
  case 3:
    return {op("math.cos", x.name), 1};
  case 4:
    return {op("math.atan", x.name), 1.6};
  case 5:
    if (x.bound <= 1.5)
      return {op("math.exp", x.name), std::exp(x.bound)};
    return {op("math.exp", op("math.tanh", x.name)), std::exp(1.0)};
  case 6:
    return {op("math.sqrt", onePlusSquare(x)), 1 + x.bound};
  case 7:
    return {op("math.rsqrt", onePlusSquare(x)), 1};
  case 8:
    return {op("math.log", onePlusSquare(x)), 1 + x.bound};
  case 9:
    return {op("math.log1p", op("arith.mulf", x.name + ", " + x.name)),
            1 + x.bound};
  case 10:
    return {op("arith.negf", x.name), x.bound};
  case 11:
    return {op("math.absf", x.name), x.bound};
  case 12: {
    double factor = random.uniform(-1.5, 1.5);
    return {op("arith.mulf", x.name + ", " + constant(factor)),
            x.bound * std::abs(factor)};
  }
  default: {
    // Logistic function.
    std::string power = op("math.exp", op("arith.negf", x.name));
    std::string one = constant(1);
    std::string sum = op("arith.addf", power + ", " + one);
    return {op("arith.divf", one + ", " + sum), 1};
  }
  }
}

ScalarBody::Scalar ScalarBody::binary(const Scalar &x, const Scalar &y) {
  std::string both = x.name + ", " + y.name;
  switch (random.below(8)) {
  case 0:
    return {op("arith.addf", both), x.bound + y.bound};
  case 1:
    return {op("arith.subf", both), x.bound + y.bound};
  case 2:
  case 3:
    return {op("arith.mulf", both), x.bound * y.bound};
  case 4:
    return {op("arith.divf", x.name + ", " + onePlusSquare(y)), x.bound};
  case 5:
    return {op("arith.maximumf", both), std::max(x.bound, y.bound)};
  case 6:
    return {op("arith.minimumf", both), std::max(x.bound, y.bound)};
  default:
    return {op("math.fma", both + ", " + x.name), x.bound * (1 + y.bound)};
  }
}

ScalarBody::Scalar ScalarBody::select(const Scalar &x, const Scalar &y) {
  std::string condition;
  if (loops && random.chance(0.6)) {
    std::string first = line("linalg.index " +
                             std::to_string(random.below(loops)) + " : index");
    std::string second =
        loops > 1 && random.chance(0.7)
            ? line("linalg.index " + std::to_string(random.below(loops)) +
                   " : index")
            : line("arith.constant " + std::to_string(random.below(3)) +
                   " : index");
    const char *predicate = random.chance(0.5) ? "ule" : "ne";
    condition = line(std::string("arith.cmpi ") + predicate + ", " + first +
                     ", " + second + " : index");
  } else {
    condition = line("arith.cmpf ogt, " + x.name + ", " +
                     constant(random.uniform(-0.5, 0.5)) + " : " + element);
  }
  return {op("arith.select", condition + ", " + x.name + ", " + y.name),
          std::max(x.bound, y.bound)};
}

ScalarBody::Scalar ScalarBody::tame(const Scalar &x) {
  if (x.bound <= 4)
    return x;
  if (random.chance(0.5))
    return {op("math.tanh", x.name), 1};
  return {op("arith.mulf", x.name + ", " + constant(2 / x.bound)), 2};
}

ScalarBody::Scalar ScalarBody::grow(int64_t count) {
  Scalar current = scalars.front();
  for (int64_t i = 0; i < count; ++i) {
    Scalar other = pick();
    if (random.chance(0.3))
      std::swap(current, other);
    int64_t kind = random.below(10);
    Scalar next = kind < 5   ? binary(current, other)
                  : kind < 9 ? unary(random.chance(0.8) ? current : other)
                             : select(current, other);
    current = tame(next);
    scalars.push_back(current);
  }
  return current;
}

std::string ScalarBody::finish(const std::string &value) {
  return lines + "    linalg.yield " + value + " : " + element + "\n";
}
