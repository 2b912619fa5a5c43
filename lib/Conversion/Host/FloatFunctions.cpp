//===- FloatFunctions.cpp - f32 functions as arithmetic -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The polynomials are fitted by scripts/fit-polynomials.py. Splitting a
// constant into a part with trailing zeros and a rest (Cody and Waite,
// "Software Manual for the Elementary Functions", 1980) keeps the reduced
// argument exact.
//
//===----------------------------------------------------------------------===//

#include "FloatFunctions.h"

#include <limits>

using namespace mlir;
using namespace veeline;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

static constexpr double ln2High = 0.693359375;
static constexpr double ln2Low = -2.12194440054690583e-4;
static constexpr double log2E = 1.44269504088896341;

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

namespace {

/// A float rounded to an integer, as a float and as an integer.
struct Rounded {
  Expression number;
  Expression integer;
};

} // namespace

/// Rounds x * scale to the nearest integer, for results below 2^22. Adding 1.5
/// * 2^23 leaves the integer in the low bits.
static Rounded roundScaled(Expression x, double scale) {
  Expression magic = x.constant(12582912.0);
  Expression shifted = x.fma(scale, magic);
  return {shifted - magic, shifted.bits().subI(magic.bits())};
}

/// 2^n for -126 <= n <= 127.
static Expression powerOfTwo(Expression n) {
  return n.addI(n.integer(127)).shiftLeft(23).fromBits();
}

/// x * 2^n for -250 <= n <= 250, rounded once, because x stays normal after the
/// first factor.
static Expression scale(Expression x, Expression n) {
  Expression half = n.shiftRightSigned(1);
  return x * powerOfTwo(half) * powerOfTwo(n.subI(half));
}

/// e^x - 1 for x in [-ln(2)/2, ln(2)/2].
static Expression expMinusOne(Expression x) {
  Expression p = x.polynomial({0.5, 0.166666672, 0.0416664891, 0.00833320804,
                               0.0013932673, 0.000199441813});
  return (x * x).fma(p, x);
}

/// x - n ln(2).
static Expression reduceByLn2(Expression x, Expression n) {
  return n.fma(-ln2Low, n.fma(-ln2High, x));
}

Expression veeline::buildExp(Expression x) {
  // Outside of this range the result is 0 or infinity: the product overflows by
  // itself.
  Expression clamped = x.clamp(-105, 89);
  Rounded n = roundScaled(clamped, log2E);
  Expression r = reduceByLn2(clamped, n.number);
  Expression p = r.polynomial(
      {0.5, 0.166665196, 0.0416664034, 0.0083688302, 0.0013940559});
  return scale((r * r).fma(p, r) + 1.0, n.integer);
}

Expression veeline::buildExp2(Expression x) {
  Expression clamped = x.clamp(-151, 129);
  Rounded n = roundScaled(clamped, 1.0);
  Expression r = clamped - n.number;
  Expression p =
      r.polynomial({0.693147182, 0.240226507, 0.0555040613, 0.00961808674,
                    0.00133366568, 0.000154522932, 1.46741595e-5});
  return scale(r.fma(p, 1.0), n.integer);
}

/// e^x - 1 for -20 <= x <= 89.
static Expression expMinusOneReduced(Expression x) {
  Rounded n = roundScaled(x, log2E);
  Expression q = expMinusOne(reduceByLn2(x, n.number));
  // 2^n (q + 1) - 1, computed at half size, because 2^128 would overflow too
  // early.
  Expression power = powerOfTwo(n.integer.subI(n.integer.integer(1)));
  Expression half = q.fma(power, power - 0.5);
  return q.where(n.integer.compareI(arith::CmpIPredicate::eq, 0), half + half);
}

Expression veeline::buildExpM1(Expression x) {
  Expression result = expMinusOneReduced(x.clamp(-20, 89));
  // Keep the sign of zero.
  return x.where(x.equals(0.0), result);
}

Expression veeline::buildTanh(Expression x) {
  // (e^2x - 1) / (e^2x + 1). For |x| > 10 this is 1 in f32.
  Expression doubled = (x.abs() * 2.0).clamp(0, 20);
  Expression t = expMinusOneReduced(doubled);
  return (t / (t + 2.0)).copySign(x);
}

Expression veeline::buildErf(Expression x) {
  Expression magnitude = x.abs().clamp(0, 4);
  Expression square = magnitude * magnitude;
  Expression p = square.polynomial(
      {0.128379166, -0.376126289, 0.112836279, -0.0268560778, 0.00519415224,
       -0.000808807614, 8.37557891e-5, -1.38430153e-6});
  Expression small = magnitude.fma(p, magnitude);
  Expression q = magnitude.polynomial(
      {0.128453791, 0.636156142, 0.104029462, -0.0210714452, 0.00165663264,
       0.000583631801, -0.000237878645, 3.75358177e-5, -2.36099572e-6});
  // 1 - e^(-x - x q) is -(e^y - 1).
  Expression y = -magnitude.fma(q, magnitude);
  Expression large = -expMinusOneReduced(y.clamp(-20, 0));
  return small.where(magnitude.lessThan(0.92), large).copySign(x);
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

namespace {

/// x = 2^exponent (1 + fraction) with 2/3 <= 1 + fraction < 4/3.
struct Decomposed {
  Expression exponent;
  Expression fraction;
};

} // namespace

/// The exponent of a positive normal x as an integer.
static Expression getExponent(Expression x) {
  Expression twoThirds = x.constant(2.0 / 3.0).bits();
  return x.bits().subI(twoThirds).shiftRightSigned(23);
}

static Decomposed decompose(Expression x) {
  Expression isDenormal = x.lessThan(1.17549435e-38);
  Expression normal = (x * 8388608.0).where(isDenormal, x);
  Expression n = getExponent(normal);
  Expression mantissa = normal.bits().subI(n.shiftLeft(23)).fromBits();
  Expression exponent = n.cast<arith::SIToFPOp>(x.f32());
  exponent = (exponent - 23.0).where(isDenormal, exponent);
  return {exponent, mantissa - 1.0};
}

/// log(1 + f) - f.
static Expression logTail(Expression f) {
  Expression p = f.polynomial({0.333333373, -0.249998242, 0.199993983,
                               -0.166794181, 0.143108085, -0.121978424,
                               0.1067992, -0.128366113, 0.122975655});
  Expression square = f * f;
  return square.fma(f * p, square * -0.5);
}

/// Sets the values of a logarithm at 0 and below, and for infinite x and NaN.
static Expression logSpecial(Expression x, double zero, Expression result) {
  result = x.where(x.equals(infinity), result);
  result = x.constant(-infinity).where(x.equals(zero), result);
  Expression isRegular = x.compare(arith::CmpFPredicate::OGE, x.constant(zero));
  return result.where(isRegular, x.constant(notANumber));
}

Expression veeline::buildLog(Expression x) {
  Decomposed d = decompose(x);
  Expression tail = d.exponent.fma(ln2Low, logTail(d.fraction));
  Expression result = d.exponent.fma(ln2High, d.fraction + tail);
  return logSpecial(x, 0.0, result);
}

/// The logarithm of x to a base with 1 / ln(base) = high + low and log(2) =
/// log2High + log2Low. The high parts have so few bits that products with them
/// are exact.
static Expression buildLogOfBase(Expression x, double high, double low,
                                 double log2High, double log2Low) {
  Decomposed d = decompose(x);
  Expression f = d.fraction, tail = logTail(f);
  // The head of f has 12 bits, so that its product with `high` is exact.
  Expression head = f.bits().andI(0xFFFFF000).fromBits();
  Expression rest = (f - head) + tail;
  Expression sum = rest.fma(low, head * low);
  sum = d.exponent.fma(log2Low, sum);
  sum = rest.fma(high, sum);
  Expression leading = head * high;
  Expression result = d.exponent.fma(log2High, leading);
  // The rounding error of the sum of the two leading parts.
  Expression lost = leading - (result - d.exponent * log2High);
  return logSpecial(x, 0.0, result + (lost + sum));
}

Expression veeline::buildLog2(Expression x) {
  return buildLogOfBase(x, 1.44287109375, -1.7605286103659264e-4, 1.0, 0.0);
}

Expression veeline::buildLog10(Expression x) {
  return buildLogOfBase(x, 0.434326171875, -3.1689971748172349e-5,
                        0.301025390625, 4.6050389811952137e-6);
}

Expression veeline::buildLog1p(Expression x) {
  // 2^-n (1 + x) - 1, without rounding 1 + x. If x is large, 1 is negligible.
  Expression sum = (x + 1.0).clamp(0, 1.7e38);
  Expression n = getExponent(sum);
  Expression power = powerOfTwo(n.integer(0).subI(n));
  Expression f = x.fma(power, power - 1.0);
  Expression exponent = n.cast<arith::SIToFPOp>(x.f32());
  Expression tail = exponent.fma(ln2Low, logTail(f));
  Expression result = exponent.fma(ln2High, f + tail);
  result = buildLog(x).where(x.greaterThan(1.0e18), result);
  result = x.where(x.equals(0.0), result);
  return logSpecial(x, -1.0, result);
}
