//===- Expression.h - arithmetic as formulas --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Wraps values of the arith and math dialects with operators, so that the
// expansion of a function reads like its formula. Works on scalars and vectors:
// a constant takes the shape of the other operand.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_HOST_EXPRESSION_H
#define VEELINE_LIB_CONVERSION_HOST_EXPRESSION_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

namespace veeline {

class Expression {
public:
  Expression(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value)
      : builder(&builder), loc(loc), value(value) {}

  mlir::Value getValue() const { return value; }
  mlir::Type getType() const { return value.getType(); }

  /// A constant of the type of this expression.
  Expression constant(double number) const {
    mlir::Type element = mlir::getElementTypeOrSelf(getType());
    return constant(mlir::TypedAttr(builder->getFloatAttr(element, number)));
  }
  Expression integer(int64_t number) const {
    mlir::Type element = mlir::getElementTypeOrSelf(getType());
    return constant(mlir::TypedAttr(builder->getIntegerAttr(element, number)));
  }

  /// The type of this expression with another element type.
  mlir::Type typeOf(mlir::Type element) const {
    auto vector = mlir::dyn_cast<mlir::VectorType>(getType());
    return vector ? mlir::Type(vector.clone(element)) : element;
  }
  mlir::Type i32() const { return typeOf(builder->getI32Type()); }
  mlir::Type i64() const { return typeOf(builder->getI64Type()); }
  mlir::Type f32() const { return typeOf(builder->getF32Type()); }
  mlir::Type f64() const { return typeOf(builder->getF64Type()); }

  template <typename Op, typename... Operands>
  Expression make(Operands... operands) const {
    mlir::Value result = Op::create(*builder, loc, operands.value...);
    return wrap(result);
  }
  template <typename Op> Expression cast(mlir::Type type) const {
    mlir::Value result = Op::create(*builder, loc, type, value);
    return wrap(result);
  }

  // Operations on floats.
  friend Expression operator+(Expression a, Expression b) {
    return a.make<mlir::arith::AddFOp>(a, b);
  }
  friend Expression operator-(Expression a, Expression b) {
    return a.make<mlir::arith::SubFOp>(a, b);
  }
  friend Expression operator*(Expression a, Expression b) {
    return a.make<mlir::arith::MulFOp>(a, b);
  }
  friend Expression operator/(Expression a, Expression b) {
    return a.make<mlir::arith::DivFOp>(a, b);
  }
  friend Expression operator+(Expression a, double b) {
    return a + a.constant(b);
  }
  friend Expression operator-(Expression a, double b) {
    return a - a.constant(b);
  }
  friend Expression operator*(Expression a, double b) {
    return a * a.constant(b);
  }
  friend Expression operator/(double a, Expression b) {
    return b.constant(a) / b;
  }
  friend Expression operator-(Expression a) {
    return a.make<mlir::arith::NegFOp>(a);
  }
  /// this * b + c, rounded once.
  Expression fma(Expression b, Expression c) const {
    return make<mlir::math::FmaOp>(*this, b, c);
  }
  Expression fma(double b, Expression c) const { return fma(constant(b), c); }
  Expression fma(Expression b, double c) const { return fma(b, constant(c)); }
  Expression abs() const { return make<mlir::math::AbsFOp>(*this); }
  Expression floor() const { return make<mlir::math::FloorOp>(*this); }
  Expression sqrt() const { return make<mlir::math::SqrtOp>(*this); }
  Expression copySign(Expression sign) const {
    return make<mlir::math::CopySignOp>(*this, sign);
  }
  Expression extend() const { return cast<mlir::arith::ExtFOp>(f64()); }
  Expression truncate() const { return cast<mlir::arith::TruncFOp>(f32()); }
  /// c[0] + c[1] x + c[2] x^2 + ...
  Expression polynomial(llvm::ArrayRef<double> coefficients) const {
    Expression result = constant(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      result = fma(result, coefficient);
    return result;
  }

  // Operations on integers.
  Expression addI(Expression b) const {
    return make<mlir::arith::AddIOp>(*this, b);
  }
  Expression subI(Expression b) const {
    return make<mlir::arith::SubIOp>(*this, b);
  }
  Expression mulI(Expression b) const {
    return make<mlir::arith::MulIOp>(*this, b);
  }
  Expression andI(int64_t b) const {
    return make<mlir::arith::AndIOp>(*this, integer(b));
  }
  Expression orI(Expression b) const {
    return make<mlir::arith::OrIOp>(*this, b);
  }
  Expression shiftLeft(int64_t bits) const {
    return make<mlir::arith::ShLIOp>(*this, integer(bits));
  }
  Expression shiftLeft(Expression bits) const {
    return make<mlir::arith::ShLIOp>(*this, bits);
  }
  Expression shiftRight(int64_t bits) const {
    return make<mlir::arith::ShRUIOp>(*this, integer(bits));
  }
  Expression shiftRight(Expression bits) const {
    return make<mlir::arith::ShRUIOp>(*this, bits);
  }
  Expression shiftRightSigned(int64_t bits) const {
    return make<mlir::arith::ShRSIOp>(*this, integer(bits));
  }
  /// Reinterprets the bits as an integer, or as a float.
  Expression bits() const {
    bool wide =
        mlir::getElementTypeOrSelf(getType()).getIntOrFloatBitWidth() == 64;
    return cast<mlir::arith::BitcastOp>(wide ? i64() : i32());
  }
  Expression fromBits() const {
    bool wide =
        mlir::getElementTypeOrSelf(getType()).getIntOrFloatBitWidth() == 64;
    return cast<mlir::arith::BitcastOp>(wide ? f64() : f32());
  }

  // Conditions. Comparisons with NaN are false, except isNaN and differs.
  Expression compare(mlir::arith::CmpFPredicate predicate, Expression b) const {
    mlir::Value result =
        mlir::arith::CmpFOp::create(*builder, loc, predicate, value, b.value);
    return wrap(result);
  }
  Expression compareI(mlir::arith::CmpIPredicate predicate,
                      int64_t number) const {
    mlir::Value result = mlir::arith::CmpIOp::create(
        *builder, loc, predicate, value, integer(number).value);
    return wrap(result);
  }
  Expression lessThan(double b) const {
    return compare(mlir::arith::CmpFPredicate::OLT, constant(b));
  }
  Expression greaterThan(double b) const {
    return compare(mlir::arith::CmpFPredicate::OGT, constant(b));
  }
  Expression equals(double b) const {
    return compare(mlir::arith::CmpFPredicate::OEQ, constant(b));
  }
  Expression equals(Expression b) const {
    return compare(mlir::arith::CmpFPredicate::OEQ, b);
  }
  Expression differs(Expression b) const {
    return compare(mlir::arith::CmpFPredicate::UNE, b);
  }
  /// This expression if `condition` is true, else `otherwise`.
  Expression where(Expression condition, Expression otherwise) const {
    return make<mlir::arith::SelectOp>(condition, *this, otherwise);
  }
  /// Clamps to a range. NaN stays NaN.
  Expression clamp(double low, double high) const {
    Expression atMost = constant(high).where(greaterThan(high), *this);
    return constant(low).where(atMost.lessThan(low), atMost);
  }

private:
  Expression wrap(mlir::Value result) const {
    return Expression(*builder, loc, result);
  }
  Expression constant(mlir::TypedAttr attribute) const {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(getType()))
      attribute =
          mlir::DenseElementsAttr::get(vector, mlir::Attribute(attribute));
    mlir::Value result =
        mlir::arith::ConstantOp::create(*builder, loc, attribute);
    return wrap(result);
  }

  mlir::OpBuilder *builder;
  mlir::Location loc;
  mlir::Value value;
};

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_HOST_EXPRESSION_H
