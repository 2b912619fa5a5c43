//===- ScalarExpression.h - an element as an expression ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The computation of an element of a tensor as one expression. It does not
// depend on how the computation is divided into ops, reshapes, transpositions
// and broadcasts. Equal expressions are one object, so they can be compared by
// pointer.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_ATTENTION_SCALAREXPRESSION_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_ATTENTION_SCALAREXPRESSION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <optional>

namespace veeline::pipe {

/// A place along one dimension: the digits of a mixed-radix number, the most
/// significant one first. Each digit is a loop, or is fixed at one value. A
/// dimension of one element has no digits.
using Index = llvm::SmallVector<unsigned, 2>;

/// A place in a tensor.
using Access = llvm::SmallVector<Index, 4>;

struct Expression {
  enum class Kind {
    Element,   ///< An element of `tensor`, at `access`.
    Position,  ///< The number of the iteration along `position`.
    Number,    ///< A constant.
    Operation, ///< `op`, an op of arith or math, on `operands`.
    Sum,       ///< The sum of operands[0] along the keys, plus operands[1].
    /// The maximum of operands[0] along the keys and of operands[1].
    Maximum,
    Softmax, ///< The softmax of operands[0] along the keys.
  };

  Kind kind;
  mlir::Value tensor = {};
  Access access = {};
  Index position = {};
  double number = 0;
  mlir::Operation *op = nullptr;
  llvm::SmallVector<const Expression *, 3> operands = {};
  /// The digits on which the expression depends, as a bit set.
  uint64_t digits = 0;
  /// A tensor whose elements are the values of this expression, and their
  /// places in it. Null if there is none.
  mlir::Value storage = {};
  Access storageAccess = {};

  template <typename OpT> bool isOp() const {
    return kind == Kind::Operation && llvm::isa<OpT>(op);
  }
  bool isNumber(double value) const {
    return kind == Kind::Number && number == value;
  }
};

/// The value of an integer in expressions: a single bit is 0 or 1, any other
/// number is signed.
inline double getNumber(const llvm::APInt &value) {
  return value.getBitWidth() == 1 ? value.getBoolValue()
                                  : value.signedRoundToDouble();
}

inline uint64_t getDigits(const Index &index) {
  uint64_t digits = 0;
  for (unsigned digit : index)
    digits |= uint64_t(1) << digit;
  return digits;
}

inline uint64_t getDigits(const Access &access) {
  uint64_t digits = 0;
  for (const Index &index : access)
    digits |= getDigits(index);
  return digits;
}

/// Traces elements back to the values from which they are computed. Conversions
/// between float types count as the identity, and so do conversions of integers
/// that keep every value.
class ExpressionTracer {
public:
  /// A digit that has to be split in two before a reshape can be followed. The
  /// second part has `size` elements.
  struct Split {
    unsigned digit;
    int64_t size;
  };

  /// `sizes` are those of the digits. Digits in `divisible` may be split.
  /// Reductions are followed if they are along `keys`.
  ExpressionTracer(llvm::ArrayRef<int64_t> sizes, uint64_t divisible,
                   Index keys)
      : sizes(sizes), divisible(divisible), keys(std::move(keys)) {}

  const Expression *trace(mlir::Value tensor, const Access &access);

  /// The tensors that contain the elements of `tensor`: `tensor` itself, then
  /// those before each op that only moves elements.
  llvm::SmallVector<std::pair<mlir::Value, Access>>
  traceMoves(mlir::Value tensor, Access access);

  /// Adds a digit and returns its number.
  unsigned addDigit(int64_t size) {
    sizes.push_back(size);
    return sizes.size() - 1;
  }
  /// Whether one of `digits` is fixed.
  bool hasFixed(uint64_t digits) const;

  /// The split of a digit that is needed to follow something, if any.
  const std::optional<Split> &getSplit() const { return split; }
  /// The ops through which expressions were followed.
  const llvm::SetVector<mlir::Operation *> &getOps() const { return ops; }
  /// The number of elements along `index`; dynamic if it is unknown.
  int64_t getSize(const Index &index) const;

private:
  struct Body;

  const Expression *traceOp(mlir::OpResult result, const Access &access);
  const Expression *traceStructured(mlir::linalg::LinalgOp op, unsigned result,
                                    const Access &access);
  const Expression *traceReduction(mlir::linalg::LinalgOp op, Body &body,
                                   unsigned result);
  const Expression *traceElementwise(mlir::Operation *op, const Access &access);
  const Expression *traceBody(Body &body, mlir::Value value);
  const Expression *traceOperand(Body &body, mlir::OpOperand &operand);
  const Expression *traceScalar(mlir::Value value);
  const Expression *traceConstant(mlir::Attribute value);
  std::optional<Access> traceReshape(mlir::Operation *op, const Access &access);
  std::optional<Access> traceSlice(mlir::tensor::ExtractSliceOp slice,
                                   const Access &access);
  const Expression *traceInsertion(mlir::tensor::InsertSliceOp insertion,
                                   const Access &access);
  unsigned addFixed(int64_t place, int64_t size);
  int64_t takeFixed(Index &index) const;
  std::optional<Access> splitIndex(const Index &index,
                                   llvm::ArrayRef<int64_t> extents);
  bool covers(const Index &index, int64_t extent) const;
  bool covers(const Access &access, mlir::Type type) const;

  const Expression *getElement(mlir::Value tensor, const Access &access);
  const Expression *getNumber(double value);
  const Expression *getPosition(const Index &index);
  const Expression *getReduction(Expression::Kind kind,
                                 llvm::ArrayRef<const Expression *> operands);
  const Expression *getOperation(mlir::Operation *op,
                                 llvm::ArrayRef<const Expression *> operands);
  const Expression *intern(Expression expression);

  llvm::SmallVector<int64_t> sizes;
  /// The fixed digits and their values.
  llvm::SmallDenseMap<unsigned, int64_t> fixed;
  uint64_t divisible;
  Index keys;
  std::optional<Split> split;
  llvm::SetVector<mlir::Operation *> ops;
  llvm::StringMap<std::unique_ptr<Expression>> expressions;
  llvm::StringMap<const Expression *> traced;
  /// Whether only moves are followed. Operands of other ops are then not
  /// traced.
  bool isShallow = false;
};

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_ATTENTION_SCALAREXPRESSION_H
