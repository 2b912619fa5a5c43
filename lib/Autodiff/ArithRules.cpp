//===- ArithRules.cpp - derivatives of arith ops --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit.h"

using namespace mlir;
using namespace veeline::autodiff;

static LogicalResult addf(arith::AddFOp op, OpBuilder &, Adjoint &adjoint) {
  Value g = adjoint.gradient(op.getResult());
  for (Value operand : op.getOperands())
    if (adjoint.wants(operand))
      adjoint.contribute(operand, g);
  return success();
}

static LogicalResult subf(arith::SubFOp op, OpBuilder &builder,
                          Adjoint &adjoint) {
  Value g = adjoint.gradient(op.getResult());
  if (adjoint.wants(op.getLhs()))
    adjoint.contribute(op.getLhs(), g);
  if (adjoint.wants(op.getRhs()))
    adjoint.contribute(op.getRhs(), Emit(builder, op.getLoc()).neg(g));
  return success();
}

static LogicalResult mulf(arith::MulFOp op, OpBuilder &builder,
                          Adjoint &adjoint) {
  Emit emit(builder, op.getLoc());
  Value g = adjoint.gradient(op.getResult());
  if (adjoint.wants(op.getLhs()))
    adjoint.contribute(op.getLhs(), emit.mul(g, adjoint.primal(op.getRhs())));
  if (adjoint.wants(op.getRhs()))
    adjoint.contribute(op.getRhs(), emit.mul(g, adjoint.primal(op.getLhs())));
  return success();
}

/// From y = a / b: dy/da = 1 / b and dy/db = -y / b.
static LogicalResult divf(arith::DivFOp op, OpBuilder &builder,
                          Adjoint &adjoint) {
  Emit emit(builder, op.getLoc());
  Value g = adjoint.gradient(op.getResult());
  Value quotient = emit.div(g, adjoint.primal(op.getRhs()));
  if (adjoint.wants(op.getLhs()))
    adjoint.contribute(op.getLhs(), quotient);
  if (adjoint.wants(op.getRhs()))
    adjoint.contribute(
        op.getRhs(),
        emit.neg(emit.mul(quotient, adjoint.primal(op.getResult()))));
  return success();
}

/// From y = a - b trunc(a / b), where trunc is a step: dy/da = 1 and
/// dy/db = (y - a) / b.
static LogicalResult remf(arith::RemFOp op, OpBuilder &builder,
                          Adjoint &adjoint) {
  Emit emit(builder, op.getLoc());
  Value g = adjoint.gradient(op.getResult());
  if (adjoint.wants(op.getLhs()))
    adjoint.contribute(op.getLhs(), g);
  if (!adjoint.wants(op.getRhs()))
    return success();
  Value whole =
      emit.sub(adjoint.primal(op.getResult()), adjoint.primal(op.getLhs()));
  adjoint.contribute(op.getRhs(),
                     emit.mul(g, emit.div(whole, adjoint.primal(op.getRhs()))));
  return success();
}

static LogicalResult negf(arith::NegFOp op, OpBuilder &builder,
                          Adjoint &adjoint) {
  Value g = adjoint.gradient(op.getResult());
  adjoint.contribute(op.getOperand(), Emit(builder, op.getLoc()).neg(g));
  return success();
}

/// The operand that is the extremum gets the gradient. If both are equal, each
/// gets half, which is the mean of the one-sided derivatives.
template <typename OpTy>
static LogicalResult extremum(OpTy op, OpBuilder &builder, Adjoint &adjoint) {
  constexpr bool isMax = std::is_same_v<OpTy, arith::MaximumFOp> ||
                         std::is_same_v<OpTy, arith::MaxNumFOp>;
  Emit emit(builder, op.getLoc());
  Value g = adjoint.gradient(op.getResult());
  Value half = emit.mul(g, emit.constant(g.getType(), 0.5));
  Value zero = emit.constant(g.getType(), 0.0);
  Value lhs = adjoint.primal(op.getLhs()), rhs = adjoint.primal(op.getRhs());
  Value tie = emit.compare(arith::CmpFPredicate::OEQ, lhs, rhs);
  auto share = [&](Value mine, Value other) {
    Value wins = emit.compare(isMax ? arith::CmpFPredicate::OGT
                                    : arith::CmpFPredicate::OLT,
                              mine, other);
    return emit.select(tie, half, emit.select(wins, g, zero));
  };
  if (adjoint.wants(op.getLhs()))
    adjoint.contribute(op.getLhs(), share(lhs, rhs));
  if (adjoint.wants(op.getRhs()))
    adjoint.contribute(op.getRhs(), share(rhs, lhs));
  return success();
}

static LogicalResult selectOperand(arith::SelectOp op, OpBuilder &builder,
                                   Adjoint &adjoint) {
  Emit emit(builder, op.getLoc());
  Value g = adjoint.gradient(op.getResult());
  Value zero = emit.constant(g.getType(), 0.0);
  Value condition = adjoint.primal(op.getCondition());
  if (adjoint.wants(op.getTrueValue()))
    adjoint.contribute(op.getTrueValue(), emit.select(condition, g, zero));
  if (adjoint.wants(op.getFalseValue()))
    adjoint.contribute(op.getFalseValue(), emit.select(condition, zero, g));
  return success();
}

template <typename OpTy>
static LogicalResult convert(OpTy op, OpBuilder &builder, Adjoint &adjoint) {
  Value g = adjoint.gradient(op.getResult());
  adjoint.contribute(
      op.getIn(), Emit(builder, op.getLoc()).convert(g, op.getIn().getType()));
  return success();
}

void veeline::autodiff::registerArithRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *ctx, arith::ArithDialect *) {
    attachRules<addf, subf, mulf, divf, remf, negf, selectOperand>(ctx);
    attachRules<extremum<arith::MaximumFOp>, extremum<arith::MinimumFOp>,
                extremum<arith::MaxNumFOp>, extremum<arith::MinNumFOp>>(ctx);
    attachRules<convert<arith::ExtFOp>, convert<arith::TruncFOp>>(ctx);
  });
}
