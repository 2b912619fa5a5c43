//===- PtxFloats.cpp - floats of PTX ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxValues.h"

using namespace veeline::gpu;

/// The larger one; of zeros, the positive one.
template <typename T> static T larger(T a, T b) {
  if (double(a) == double(b))
    return std::signbit(double(a)) ? b : a;
  return double(a) > double(b) ? a : b;
}

template <typename T> static T smaller(T a, T b) {
  if (double(a) == double(b))
    return std::signbit(double(a)) ? a : b;
  return double(a) < double(b) ? a : b;
}

/// Without NaNs: a number if there is one.
template <typename T> static T maximum(T a, T b) {
  return std::isnan(double(a)) ? b : std::isnan(double(b)) ? a : larger(a, b);
}
template <typename T> static T minimum(T a, T b) {
  return std::isnan(double(a)) ? b : std::isnan(double(b)) ? a : smaller(a, b);
}
template <typename T> static T maximumOrNan(T a, T b) {
  return std::isnan(double(a)) ? a : std::isnan(double(b)) ? b : larger(a, b);
}
template <typename T> static T minimumOrNan(T a, T b) {
  return std::isnan(double(a)) ? a : std::isnan(double(b)) ? b : smaller(a, b);
}

template <typename T> static bool isUnordered(T a, T b) {
  return std::isnan(double(a)) || std::isnan(double(b));
}

/// Calls `visit` with every comparison of floats and its name.
template <typename T, typename Visit>
static void forEachComparison(const Visit &visit) {
  visit.template operator()<[](T a, T b) { return double(a) == double(b); }>(
      "eq");
  visit.template operator()<[](T a, T b) {
    return double(a) != double(b) && !isUnordered(a, b);
  }>("ne");
  visit.template operator()<[](T a, T b) { return double(a) < double(b); }>(
      "lt");
  visit.template operator()<[](T a, T b) { return double(a) <= double(b); }>(
      "le");
  visit.template operator()<[](T a, T b) { return double(b) < double(a); }>(
      "gt");
  visit.template operator()<[](T a, T b) { return double(b) <= double(a); }>(
      "ge");
  // These hold of NaNs, too.
  visit.template operator()<[](T a, T b) {
    return double(a) == double(b) || isUnordered(a, b);
  }>("equ");
  visit.template operator()<[](T a, T b) { return double(a) != double(b); }>(
      "neu");
  visit.template operator()<[](T a, T b) { return !(double(b) <= double(a)); }>(
      "ltu");
  visit.template operator()<[](T a, T b) { return !(double(b) < double(a)); }>(
      "leu");
  visit.template operator()<[](T a, T b) { return !(double(a) <= double(b)); }>(
      "gtu");
  visit.template operator()<[](T a, T b) { return !(double(a) < double(b)); }>(
      "geu");
  visit.template operator()<[](T a, T b) { return !isUnordered(a, b); }>("num");
  visit.template operator()<[](T a, T b) { return isUnordered(a, b); }>("nan");
}

template <typename T>
static void addFloat(Opcodes &opcodes, const std::string &type) {
  Adder adder(opcodes, type);
  adder.binary<[](T a, T b) { return sum(a, b); }, T>("add.rn");
  adder.binary<[](T a, T b) { return sum(a, negate(b)); }, T>("sub.rn");
  adder.binary<[](T a, T b) { return product(a, b); }, T>("mul.rn");
  adder.add<multiplyAdd<T>, T, T, T, T>("fma.rn");
  adder.binary<maximum<T>, T>("max");
  adder.binary<minimum<T>, T>("min");
  adder.binary<maximumOrNan<T>, T>("max.NaN");
  adder.binary<minimumOrNan<T>, T>("min.NaN");
  adder.select<T>();
  adder.unary<negate<T>, T>("neg");
  adder.unary<magnitude<T>, T>("abs");
  forEachComparison<T>([&]<auto function>(const char *name) {
    adder.compare<function, T>(name);
  });
}

template <typename T>
static void addDivision(Opcodes &opcodes, const std::string &type) {
  Adder adder(opcodes, type);
  adder.binary<[](T a, T b) { return a / b; }, T>("div.rn");
  // The sign is that of the first one.
  adder.binary<[](T a, T b) { return std::copysign(b, a); }, T>("copysign");
  adder.unary<[](T a) { return T(1) / a; }, T>("rcp.rn");
  adder.unary<[](T a) { return std::sqrt(a); }, T>("sqrt.rn");
}

/// Sums and products of narrow floats as f32, with an f32 (from sm_100 on).
template <typename T>
static void addMixed(Opcodes &opcodes, const std::string &type) {
  Adder adder(opcodes, type);
  adder.add<[](T a, float c) { return sum(float(a), c); }, float, T, float>(
      "add.rn.f32");
  adder.add<[](T a, float c) { return sum(float(a), negate(c)); }, float, T,
            float>("sub.rn.f32");
  adder.add<[](T a, T b, float c) {
    return multiplyAdd<float>(float(a), float(b), c);
  },
            float, T, T, float>("fma.rn.f32");
}

/// `function` of both halves.
template <auto function, typename T, typename... Pairs>
static Pair<T> each(Pairs... pairs) {
  return {function(pairs.low...), function(pairs.high...)};
}

/// setp of both halves, with two results.
template <auto function, typename T>
static void comparePair(Warp &warp, const Instruction &instruction,
                        int32_t begin, int32_t end) {
  const auto &at = instruction.operands;
  for (int32_t lane = begin; lane < end; ++lane) {
    auto a = getRegister<Pair<T>>(warp, at[2], lane);
    auto b = getRegister<Pair<T>>(warp, at[3], lane);
    setRegister<bool>(warp, at[0], lane, function(a.low, b.low));
    setRegister<bool>(warp, at[1], lane, function(a.high, b.high));
  }
}

template <typename T>
static void addPairComparisons(Opcodes &opcodes, const std::string &type) {
  forEachComparison<T>([&]<auto function>(const char *name) {
    Opcode opcode;
    opcode.numOperands = 4;
    opcode.action = comparePair<function, T>;
    opcodes[std::string("setp.") + name + "." + type] = opcode;
  });
}

template <typename T>
static void addPair(Opcodes &opcodes, const std::string &type) {
  using P = Pair<T>;
  Adder adder(opcodes, type);
  adder.binary<each<sum<T>, T, P, P>, P>("add.rn");
  adder.binary<each<[](T a, T b) { return sum(a, negate(b)); }, T, P, P>, P>(
      "sub.rn");
  adder.binary<each<product<T>, T, P, P>, P>("mul.rn");
  adder.add<each<multiplyAdd<T>, T, P, P, P>, P, P, P, P>("fma.rn");
  adder.binary<each<maximum<T>, T, P, P>, P>("max");
  adder.binary<each<minimum<T>, T, P, P>, P>("min");
  adder.binary<each<maximumOrNan<T>, T, P, P>, P>("max.NaN");
  adder.binary<each<minimumOrNan<T>, T, P, P>, P>("min.NaN");
  adder.unary<each<negate<T>, T, P>, P>("neg");
  adder.unary<each<magnitude<T>, T, P>, P>("abs");
}

/// Numbers too small to be normal count as zeros.
static float flush(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value)
                                                : value;
}

/// Of f64, the upper half of a number gives that of its reciprocal.
static double approximateReciprocal(double value) {
  constexpr uint64_t upper = ~uint64_t(0) << 32;
  double part = std::bit_cast<double>(std::bit_cast<uint64_t>(value) & upper);
  if (std::fpclassify(part) == FP_SUBNORMAL)
    part = std::copysign(0.0, part);
  double result = 1 / part;
  if (std::fpclassify(result) == FP_SUBNORMAL)
    result = std::copysign(0.0, result);
  return std::isnan(result)
             ? result
             : std::bit_cast<double>(std::bit_cast<uint64_t>(result) & upper);
}

static void addApproximations(Opcodes &opcodes) {
  Adder f32(opcodes, "f32"), f64(opcodes, "f64");
  f32.unary<[](float a) {
    return flush(static_cast<float>(std::exp2(double(flush(a)))));
  },
            float>("ex2.approx.ftz");
  f64.unary<approximateReciprocal, double>("rcp.approx.ftz");
}

/// What the stand-in of libdevice consists of.
static void addLibdevice(Opcodes &opcodes) {
  Adder f64(opcodes, "f64");
  f64.unary<[](double x) { return std::acos(x); }, double>("standin.acos");
  f64.unary<[](double x) { return std::acosh(x); }, double>("standin.acosh");
  f64.unary<[](double x) { return std::asin(x); }, double>("standin.asin");
  f64.unary<[](double x) { return std::asinh(x); }, double>("standin.asinh");
  f64.unary<[](double x) { return std::atan(x); }, double>("standin.atan");
  f64.unary<[](double x) { return std::atanh(x); }, double>("standin.atanh");
  f64.unary<[](double x) { return std::cbrt(x); }, double>("standin.cbrt");
  f64.unary<[](double x) { return std::cos(x); }, double>("standin.cos");
  f64.unary<[](double x) { return std::cosh(x); }, double>("standin.cosh");
  f64.unary<[](double x) { return std::erf(x); }, double>("standin.erf");
  f64.unary<[](double x) { return std::erfc(x); }, double>("standin.erfc");
  f64.unary<[](double x) { return std::exp(x); }, double>("standin.exp");
  f64.unary<[](double x) { return std::exp2(x); }, double>("standin.exp2");
  f64.unary<[](double x) { return std::expm1(x); }, double>("standin.expm1");
  f64.unary<[](double x) { return std::log(x); }, double>("standin.log");
  f64.unary<[](double x) { return std::log10(x); }, double>("standin.log10");
  f64.unary<[](double x) { return std::log1p(x); }, double>("standin.log1p");
  f64.unary<[](double x) { return std::log2(x); }, double>("standin.log2");
  f64.unary<[](double x) { return std::sin(x); }, double>("standin.sin");
  f64.unary<[](double x) { return std::sinh(x); }, double>("standin.sinh");
  f64.unary<[](double x) { return std::tan(x); }, double>("standin.tan");
  f64.unary<[](double x) { return std::tanh(x); }, double>("standin.tanh");
  f64.binary<[](double x, double y) { return std::atan2(x, y); }, double>(
      "standin.atan2");
  f64.binary<[](double x, double y) { return std::pow(x, y); }, double>(
      "standin.pow");
  f64.binary<[](double x, double y) { return std::fmod(x, y); }, double>(
      "standin.fmod");
}

void veeline::gpu::addFloats(Opcodes &opcodes) {
  addFloat<float>(opcodes, "f32");
  addFloat<double>(opcodes, "f64");
  addFloat<F16>(opcodes, "f16");
  addFloat<Bf16>(opcodes, "bf16");
  addDivision<float>(opcodes, "f32");
  addDivision<double>(opcodes, "f64");
  addMixed<F16>(opcodes, "f16");
  addMixed<Bf16>(opcodes, "bf16");
  addPair<float>(opcodes, "f32x2");
  addPair<F16>(opcodes, "f16x2");
  addPair<Bf16>(opcodes, "bf16x2");
  addPairComparisons<F16>(opcodes, "f16x2");
  addPairComparisons<Bf16>(opcodes, "bf16x2");
  addApproximations(opcodes);
  addLibdevice(opcodes);
}
