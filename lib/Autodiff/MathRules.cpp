//===- MathRules.cpp - derivatives of math ops ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <numbers>

using namespace mlir;
using namespace veeline::autodiff;

/// The namespace hides functions of the C library with the same names.
namespace rules {

/// The rule of an op with one operand x and result y. `derivative` emits dy/dx
/// times the gradient g. It calls for x and y only if it needs them, because
/// what it uses may have to be kept from the forward to the backward.
template <typename OpTy, typename Derivative>
static LogicalResult unary(OpTy op, OpBuilder &builder, Adjoint &adjoint,
                           Derivative derivative) {
  Emit emit(builder, op.getLoc());
  Value g = adjoint.gradient(op.getResult());
  auto x = [&] { return adjoint.primal(op.getOperand()); };
  auto y = [&] { return adjoint.primal(op.getResult()); };
  adjoint.contribute(op.getOperand(), derivative(emit, g, x, y));
  return success();
}

static Value constantLike(Emit &emit, Value value, double constant) {
  return emit.constant(value.getType(), constant);
}

static Value oneMinusSquare(Emit &emit, Value y) {
  return emit.sub(constantLike(emit, y, 1.0), emit.mul(y, y));
}

static LogicalResult exp(math::ExpOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto, auto y) {
    return emit.mul(g, y());
  });
}

static LogicalResult exp2(math::Exp2Op op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto, auto y) {
    return emit.mul(emit.mul(g, y()), constantLike(emit, g, std::numbers::ln2));
  });
}

/// y = exp(x) - 1, so dy/dx = y + 1.
static LogicalResult expm1(math::ExpM1Op op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto, auto y) {
    return emit.mul(g, emit.add(y(), constantLike(emit, g, 1.0)));
  });
}

static LogicalResult log(math::LogOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto x, auto) {
    return emit.div(g, x());
  });
}

static LogicalResult log2(math::Log2Op op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto x, auto) {
    return emit.div(emit.mul(g, constantLike(emit, g, std::numbers::log2e)),
                    x());
  });
}

static LogicalResult log10(math::Log10Op op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto x, auto) {
    return emit.div(emit.mul(g, constantLike(emit, g, std::numbers::log10e)),
                    x());
  });
}

static LogicalResult log1p(math::Log1pOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto x, auto) {
    return emit.div(g, emit.add(x(), constantLike(emit, g, 1.0)));
  });
}

static LogicalResult sqrt(math::SqrtOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto, auto y) {
    return emit.div(emit.mul(g, constantLike(emit, g, 0.5)), y());
  });
}

static LogicalResult rsqrt(math::RsqrtOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto, auto yOf) {
    Value y = yOf();
    Value cube = emit.mul(emit.mul(y, y), y);
    return emit.mul(g, emit.mul(cube, constantLike(emit, g, -0.5)));
  });
}

static LogicalResult cbrt(math::CbrtOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto, auto yOf) {
    Value y = yOf();
    return emit.div(g, emit.mul(constantLike(emit, g, 3.0), emit.mul(y, y)));
  });
}

static LogicalResult tanh(math::TanhOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto, auto y) {
    return emit.mul(g, oneMinusSquare(emit, y()));
  });
}

/// The derivative of the error function is 2/sqrt(pi) exp(-x^2).
static Value errorSlope(Emit &emit, Value x) {
  Value bell =
      math::ExpOp::create(emit.builder, emit.loc, emit.neg(emit.mul(x, x)));
  double scale = 2.0 * std::numbers::inv_sqrtpi;
  return emit.mul(bell, constantLike(emit, x, scale));
}

static LogicalResult erf(math::ErfOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto x, auto) {
    return emit.mul(g, errorSlope(emit, x()));
  });
}

/// y = 1 - erf(x).
static LogicalResult erfc(math::ErfcOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto x, auto) -> Value {
    return emit.neg(emit.mul(g, errorSlope(emit, x())));
  });
}

static LogicalResult sin(math::SinOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto x, auto) {
    return emit.mul(g, math::CosOp::create(emit.builder, emit.loc, x()));
  });
}

static LogicalResult cos(math::CosOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto x, auto) {
    Value sine = math::SinOp::create(emit.builder, emit.loc, x());
    return emit.neg(emit.mul(g, sine));
  });
}

static LogicalResult tan(math::TanOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto, auto yOf) {
    Value y = yOf();
    return emit.mul(g, emit.add(emit.mul(y, y), constantLike(emit, g, 1.0)));
  });
}

static LogicalResult atan(math::AtanOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto xOf, auto) {
    Value x = xOf();
    return emit.div(g, emit.add(emit.mul(x, x), constantLike(emit, g, 1.0)));
  });
}

/// 1 / sqrt(1 - x^2).
static Value arcSlope(Emit &emit, Value x) {
  return math::RsqrtOp::create(emit.builder, emit.loc, oneMinusSquare(emit, x));
}

static LogicalResult asin(math::AsinOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto x, auto) {
    return emit.mul(g, arcSlope(emit, x()));
  });
}

static LogicalResult acos(math::AcosOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto x, auto) {
    return emit.neg(emit.mul(g, arcSlope(emit, x())));
  });
}

/// 1 / sqrt(x^2 + constant).
static Value areaSlope(Emit &emit, Value x, double constant) {
  Value radicand = emit.add(emit.mul(x, x), constantLike(emit, x, constant));
  return math::RsqrtOp::create(emit.builder, emit.loc, radicand);
}

static LogicalResult asinh(math::AsinhOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto x, auto) {
    return emit.mul(g, areaSlope(emit, x(), 1.0));
  });
}

static LogicalResult acosh(math::AcoshOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto x, auto) {
    return emit.mul(g, areaSlope(emit, x(), -1.0));
  });
}

static LogicalResult atanh(math::AtanhOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto x, auto) {
    return emit.div(g, oneMinusSquare(emit, x()));
  });
}

/// From z = atan2(y, x): dz/dy = x / (x^2 + y^2), dz/dx = -y / (x^2 + y^2).
static LogicalResult atan2(math::Atan2Op op, OpBuilder &builder,
                           Adjoint &adjoint) {
  Emit emit(builder, op.getLoc());
  Value y = adjoint.primal(op.getLhs()), x = adjoint.primal(op.getRhs());
  Value square = emit.add(emit.mul(x, x), emit.mul(y, y));
  Value share = emit.div(adjoint.gradient(op.getResult()), square);
  if (adjoint.wants(op.getLhs()))
    adjoint.contribute(op.getLhs(), emit.mul(share, x));
  if (adjoint.wants(op.getRhs()))
    adjoint.contribute(op.getRhs(), emit.neg(emit.mul(share, y)));
  return success();
}

/// From y = |a| with the sign of b: the gradient is negated if that changes the
/// sign of a, and is 0 if a is 0.
static LogicalResult copysign(math::CopySignOp op, OpBuilder &builder,
                              Adjoint &adjoint) {
  if (!adjoint.wants(op.getLhs()))
    return success();
  Emit emit(builder, op.getLoc());
  Value g = adjoint.gradient(op.getResult()), zero = constantLike(emit, g, 0.0);
  Value before = adjoint.primal(op.getLhs());
  Value after = adjoint.primal(op.getResult());
  Value same = emit.compare(arith::CmpFPredicate::OEQ, before, after);
  Value none = emit.compare(arith::CmpFPredicate::OEQ, before, zero);
  adjoint.contribute(
      op.getLhs(), emit.select(none, zero, emit.select(same, g, emit.neg(g))));
  return success();
}

/// The derivative of a step function is 0 wherever it exists.
template <typename OpTy>
static LogicalResult step(OpTy, OpBuilder &, Adjoint &) {
  return success();
}

static LogicalResult sinh(math::SinhOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto x, auto) {
    return emit.mul(g, math::CoshOp::create(emit.builder, emit.loc, x()));
  });
}

static LogicalResult cosh(math::CoshOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto x, auto) {
    return emit.mul(g, math::SinhOp::create(emit.builder, emit.loc, x()));
  });
}

/// The derivative at 0 is taken as 0, the mean of the one-sided derivatives.
static LogicalResult absf(math::AbsFOp op, OpBuilder &b, Adjoint &a) {
  return unary(op, b, a, [](Emit &emit, Value g, auto xOf, auto) {
    Value x = xOf(), zero = constantLike(emit, g, 0.0);
    Value positive = emit.compare(arith::CmpFPredicate::OGT, x, zero);
    Value negative = emit.compare(arith::CmpFPredicate::OLT, x, zero);
    return emit.select(positive, g, emit.select(negative, emit.neg(g), zero));
  });
}

static LogicalResult fma(math::FmaOp op, OpBuilder &builder, Adjoint &adjoint) {
  Emit emit(builder, op.getLoc());
  Value g = adjoint.gradient(op.getResult());
  if (adjoint.wants(op.getA()))
    adjoint.contribute(op.getA(), emit.mul(g, adjoint.primal(op.getB())));
  if (adjoint.wants(op.getB()))
    adjoint.contribute(op.getB(), emit.mul(g, adjoint.primal(op.getA())));
  if (adjoint.wants(op.getC()))
    adjoint.contribute(op.getC(), g);
  return success();
}

/// From y = a^b: dy/da = b a^(b-1), and 0 where b is 0; dy/db = y log(a), and
/// 0 where a is 0, the limit for b > 0.
static LogicalResult powf(math::PowFOp op, OpBuilder &builder,
                          Adjoint &adjoint) {
  Emit emit(builder, op.getLoc());
  Value g = adjoint.gradient(op.getResult());
  Value zero = constantLike(emit, g, 0.0);
  Value base = adjoint.primal(op.getLhs());
  if (adjoint.wants(op.getLhs())) {
    Value exponent = adjoint.primal(op.getRhs());
    Value less = emit.sub(exponent, constantLike(emit, g, 1.0));
    Value power = math::PowFOp::create(builder, op.getLoc(), base, less);
    Value constant = emit.compare(arith::CmpFPredicate::OEQ, exponent, zero);
    adjoint.contribute(
        op.getLhs(),
        emit.select(constant, zero, emit.mul(g, emit.mul(exponent, power))));
  }
  if (adjoint.wants(op.getRhs())) {
    Value logarithm = math::LogOp::create(builder, op.getLoc(), base);
    Value scaled =
        emit.mul(g, emit.mul(adjoint.primal(op.getResult()), logarithm));
    Value vanishes = emit.compare(arith::CmpFPredicate::OEQ, base, zero);
    adjoint.contribute(op.getRhs(), emit.select(vanishes, zero, scaled));
  }
  return success();
}

/// From y = a^n: dy/da = n a^(n-1), and 0 where n is 0.
static LogicalResult fpowi(math::FPowIOp op, OpBuilder &builder,
                           Adjoint &adjoint) {
  Location loc = op.getLoc();
  Emit emit(builder, loc);
  Value g = adjoint.gradient(op.getResult());
  Value n = adjoint.primal(op.getRhs());
  TypedAttr oneAttr = builder.getOneAttr(n.getType());
  TypedAttr zeroAttr = builder.getZeroAttr(n.getType());
  Value one = arith::ConstantOp::create(builder, loc, oneAttr);
  Value zero = arith::ConstantOp::create(builder, loc, zeroAttr);
  Value less = arith::SubIOp::create(builder, loc, n, one);
  Value power =
      math::FPowIOp::create(builder, loc, adjoint.primal(op.getLhs()), less);
  Value factor = arith::SIToFPOp::create(builder, loc, g.getType(), n);
  Value constant =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, n, zero);
  adjoint.contribute(op.getLhs(),
                     emit.select(constant, constantLike(emit, g, 0.0),
                                 emit.mul(g, emit.mul(factor, power))));
  return success();
}

static void attachAll(MLIRContext *ctx, math::MathDialect *) {
  attachRules<absf, acos, acosh, asin, asinh, atan, atan2, atanh, cbrt,
              copysign, cos, cosh, erf, erfc, exp, exp2, expm1, fma, fpowi, log,
              log10, log1p, log2, powf, rsqrt, sin, sinh, sqrt, tan, tanh>(ctx);
  attachRules<step<math::CeilOp>, step<math::FloorOp>, step<math::RoundOp>,
              step<math::RoundEvenOp>, step<math::TruncOp>>(ctx);
}

} // namespace rules

void veeline::autodiff::registerMathRules(DialectRegistry &registry) {
  registry.addExtension(rules::attachAll);
}
