//===- Emit.h - helpers to emit ops in derivative rules ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_EMIT_H
#define VEELINE_LIB_AUTODIFF_EMIT_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "veeline/Analysis/TensorEmit.h"
#include "veeline/Autodiff/DifferentiableOpInterface.h"

namespace veeline::autodiff {

/// Emits arith ops at one insertion point, with one location.
class Emit {
public:
  Emit(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  mlir::Value add(mlir::Value a, mlir::Value b) {
    return mlir::arith::AddFOp::create(builder, loc, a, b);
  }
  mlir::Value sub(mlir::Value a, mlir::Value b) {
    return mlir::arith::SubFOp::create(builder, loc, a, b);
  }
  mlir::Value mul(mlir::Value a, mlir::Value b) {
    return mlir::arith::MulFOp::create(builder, loc, a, b);
  }
  mlir::Value div(mlir::Value a, mlir::Value b) {
    return mlir::arith::DivFOp::create(builder, loc, a, b);
  }
  mlir::Value neg(mlir::Value a) {
    return mlir::arith::NegFOp::create(builder, loc, a);
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return mlir::arith::SelectOp::create(builder, loc, condition, a, b);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a,
                      mlir::Value b) {
    return mlir::arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  /// A constant of a float type, or a splat constant of a tensor of floats.
  mlir::Value constant(mlir::Type type, double value);
  /// Converts a float to another float type. A value of that type is returned
  /// as it is.
  mlir::Value convert(mlir::Value value, mlir::Type type) {
    return convertFloat(builder, loc, value, type);
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// Makes an external model of the interface from a function that is a rule.
template <auto rule> struct RuleModel;
template <typename OpTy,
          llvm::LogicalResult (*rule)(OpTy, mlir::OpBuilder &, Adjoint &)>
struct RuleModel<rule>
    : DifferentiableOpInterface::ExternalModel<RuleModel<rule>, OpTy> {
  using Op = OpTy;

  llvm::LogicalResult differentiate(mlir::Operation *op,
                                    mlir::OpBuilder &builder,
                                    Adjoint &adjoint) const {
    return rule(llvm::cast<OpTy>(op), builder, adjoint);
  }
};

/// Attaches each rule to the op type that it takes.
template <auto... rules> void attachRules(mlir::MLIRContext *context) {
  (RuleModel<rules>::Op::template attachInterface<RuleModel<rules>>(*context),
   ...);
}

void registerArithRules(mlir::DialectRegistry &registry);
void registerMathRules(mlir::DialectRegistry &registry);
void registerLinalgRules(mlir::DialectRegistry &registry);
void registerScfRules(mlir::DialectRegistry &registry);
void registerTensorRules(mlir::DialectRegistry &registry);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_EMIT_H
