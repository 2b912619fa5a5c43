//===- FloatFunctionsWide.cpp - f32 functions computed in f64 -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions whose argument reduction or intermediate result needs more
// precision than f32. The polynomials are fitted by scripts/fit-polynomials.py.
//
//===----------------------------------------------------------------------===//

#include "FloatFunctions.h"

#include <limits>

using namespace mlir;
using namespace veeline;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Sine and cosine
//===----------------------------------------------------------------------===//

namespace {

/// x = quadrant pi/2 + rest, with |rest| <= pi/4. Only the last two bits of the
/// quadrant (an i64) are significant.
struct Angle {
  Expression quadrant;
  Expression rest;
};

} // namespace

/// Adding this number, 1.5 * 2^52, rounds a float to an integer.
static constexpr double wideMagic = 6755399441055744.0;

/// Cody and Waite's reduction: pi/2 is split into two parts, and each step
/// rounds once.
static Angle reduceModerate(Expression x) {
  Expression wide = x.extend();
  Expression magic = wide.constant(wideMagic);
  Expression shifted = wide.fma(0.63661977236758134308, magic);
  Expression n = shifted - magic;
  Expression rest = n.fma(-1.5707963267948966192, wide);
  rest = n.fma(-6.1232339957367658860e-17, rest);
  return {shifted.bits().subI(magic.bits()), rest};
}

/// The entry `index` of `table`, selected by comparisons.
static Expression select(Expression index, ArrayRef<uint32_t> table) {
  Expression result = index.integer(table.front());
  for (auto [i, word] : llvm::enumerate(table.drop_front()))
    result = index.integer(word).where(
        index.compareI(arith::CmpIPredicate::uge, static_cast<int64_t>(i) + 1),
        result);
  return result;
}

/// Payne and Hanek, "Radian Reduction for Trigonometric Functions", 1983. Let
/// |x| be m 2^e, with a 24-bit integer m and e >= 5. Bits of 2/pi whose product
/// with |x| is a multiple of 4 are left out, and 96 of the others are enough. p
/// counts quadrants in units of 2^-62, modulo 4.
static Angle reduceLarge(Expression x) {
  static constexpr uint32_t twoOverPi[] = {0xA2F9836E, 0x4E441529, 0xFC2757D1,
                                           0xF534DDC0, 0xDB629599, 0x3C439041,
                                           0xFE5163AB};
  Expression bits = x.bits().cast<arith::ExtUIOp>(x.i64());
  Expression mantissa = bits.andI(0x7FFFFF).addI(bits.integer(0x800000));
  Expression exponent = bits.shiftRight(23).andI(0xFF);
  Expression skipped = exponent.subI(exponent.integer(152)).andI(127);
  Expression word = skipped.shiftRight(5), shift = skipped.andI(31);
  ArrayRef<uint32_t> table(twoOverPi);
  Expression high = select(word, table.slice(0, 4))
                        .shiftLeft(32)
                        .orI(select(word, table.slice(1, 4)));
  Expression low = select(word, table.slice(2, 4))
                       .shiftLeft(32)
                       .orI(select(word, table.slice(3, 4)));
  Expression carried =
      low.shiftRight(1).shiftRight(shift.integer(63).subI(shift));
  Expression window = high.shiftLeft(shift).orI(carried);
  Expression next = low.shiftLeft(shift).shiftRight(32);
  Expression p = mantissa.mulI(window).addI(mantissa.mulI(next).shiftRight(32));
  Expression quadrant = p.addI(p.integer(int64_t{1} << 61)).shiftRight(62);
  Expression fraction =
      p.subI(quadrant.shiftLeft(62)).cast<arith::SIToFPOp>(x.f64());
  Expression rest = fraction * 3.4061215800865546e-19;
  Expression isNegative =
      bits.andI(0x80000000).compareI(arith::CmpIPredicate::ne, 0);
  return {quadrant.integer(0).subI(quadrant).where(isNegative, quadrant),
          (-rest).where(isNegative, rest)};
}

/// The sine of x + shift quadrants.
static Expression buildSinShifted(Expression x, int64_t shift) {
  Angle moderate = reduceModerate(x), large = reduceLarge(x);
  Expression isLarge = x.abs().greaterThan(268435456.0);
  Expression rest = large.rest.where(isLarge, moderate.rest);
  Expression quadrant = large.quadrant.where(isLarge, moderate.quadrant);
  quadrant = quadrant.addI(quadrant.integer(shift));
  Expression s = rest * rest;
  Expression sine = (rest * s).fma(
      s.polynomial({-0.16666666666631949, 0.0083333333253088459,
                    -0.00019841263835160044, 2.7555359241593756e-6,
                    -2.4761703703600916e-8}),
      rest);
  Expression cosine =
      s.fma(s.polynomial({-0.49999999999549344, 0.041666666562494237,
                          -0.0013888881091056336, 2.4799042233172543e-5,
                          -2.7180114317455608e-7}),
            1.0);
  Expression isOdd = quadrant.andI(1).compareI(arith::CmpIPredicate::ne, 0);
  Expression result = cosine.where(isOdd, sine);
  Expression isBelow = quadrant.andI(2).compareI(arith::CmpIPredicate::ne, 0);
  result = (-result).where(isBelow, result).truncate();
  return result.where(x.abs().lessThan(infinity), x.constant(notANumber));
}

Expression veeline::buildSin(Expression x) {
  return x.where(x.equals(0.0), buildSinShifted(x, 0));
}

Expression veeline::buildCos(Expression x) { return buildSinShifted(x, 1); }

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// log2 of a positive f64, to 40 bits.
static Expression buildWideLog2(Expression x) {
  Expression bits = x.bits();
  Expression rootHalf = x.constant(0.70710678118654752440).bits();
  Expression n = bits.subI(rootHalf).shiftRightSigned(52);
  Expression m = bits.subI(n.shiftLeft(52)).fromBits();
  Expression t = (m - 1.0) / (m + 1.0);
  Expression p = (t * t).polynomial({2.8853900817779272, 0.96179669392440814,
                                     0.57707801722952967, 0.4121984036554141,
                                     0.32061631563733251, 0.2614457453318193,
                                     0.2429051506250178});
  Expression result = t.fma(p, n.cast<arith::SIToFPOp>(x.f64()));
  result = x.constant(-infinity).where(x.equals(0.0), result);
  return x.where(x.equals(infinity), result);
}

/// 2^x of an f64, to 34 bits, as an f32.
static Expression buildNarrowExp2(Expression x) {
  Expression clamped = x.clamp(-200, 200);
  Expression magic = clamped.constant(wideMagic);
  Expression shifted = clamped + magic;
  Expression r = clamped - (shifted - magic);
  Expression p = r.polynomial({0.99999999996170685, 0.69314718072850845,
                               0.24022651198052991, 0.055504103530496243,
                               0.0096180272851990687, 0.0013333923570604102,
                               0.00015469279525694374, 1.5201516016001991e-5});
  Expression n = shifted.bits().subI(magic.bits());
  Expression power = n.addI(n.integer(1023)).shiftLeft(52).fromBits();
  return (p * power).truncate();
}

Expression veeline::buildPow(Expression x, Expression y) {
  Expression magnitude = x.abs();
  Expression exponent = y.extend() * buildWideLog2(magnitude.extend());
  // 1 to any power is 1, also to infinity.
  exponent = exponent.constant(0).where(magnitude.equals(1.0), exponent);
  Expression result = buildNarrowExp2(exponent);
  Expression half = y * 0.5;
  Expression isInteger = y.equals(y.floor());
  Expression isOdd =
      isInteger.make<arith::AndIOp>(isInteger, half.differs(half.floor()));
  Expression hasSign = x.bits().compareI(arith::CmpIPredicate::slt, 0);
  Expression isNegative = isOdd.make<arith::AndIOp>(isOdd, hasSign);
  result = (-result).where(isNegative, result);
  // A power of a negative finite number to a fraction is undefined.
  Expression isBelowZero = x.lessThan(0.0);
  Expression isFinite = x.greaterThan(-infinity);
  Expression isUndefined =
      isBelowZero.make<arith::AndIOp>(isBelowZero, isFinite);
  result = x.constant(notANumber)
               .where(isUndefined.make<arith::AndIOp>(isUndefined,
                                                      y.differs(y.floor())),
                      result);
  Expression isNaN = x.compare(arith::CmpFPredicate::UNO, y);
  result = x.constant(notANumber).where(isNaN, result);
  Expression one = x.constant(1.0);
  result = one.where(x.equals(1.0), result);
  return one.where(y.equals(0.0), result);
}
