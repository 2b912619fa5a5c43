//===- FloatFunctions.h - f32 functions as arithmetic -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that build elementary functions from f32 expressions, scalars or
// vectors. They use additions, products, explicit fused multiply-adds,
// divisions, comparisons and bit operations. So scalars and all lanes of
// vectors get the same bits. The functions are correct for all inputs,
// including denormals, infinities, NaN and large arguments. docs/host-code.md
// lists their accuracy.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_HOST_FLOATFUNCTIONS_H
#define VEELINE_LIB_CONVERSION_HOST_FLOATFUNCTIONS_H

#include "Expression.h"

namespace veeline {

Expression buildExp(Expression x);
Expression buildExp2(Expression x);
Expression buildExpM1(Expression x);
Expression buildLog(Expression x);
Expression buildLog2(Expression x);
Expression buildLog10(Expression x);
Expression buildLog1p(Expression x);
Expression buildTanh(Expression x);
Expression buildErf(Expression x);
Expression buildSin(Expression x);
Expression buildCos(Expression x);
Expression buildPow(Expression x, Expression y);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_HOST_FLOATFUNCTIONS_H
