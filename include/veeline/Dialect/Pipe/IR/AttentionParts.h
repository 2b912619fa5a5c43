//===- AttentionParts.h - attention as products and a softmax ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_IR_ATTENTIONPARTS_H
#define VEELINE_DIALECT_PIPE_IR_ATTENTIONPARTS_H

#include "mlir/IR/Builders.h"
#include "veeline/Dialect/Pipe/IR/Attention.h"

namespace veeline::pipe {

/// Emits the parts of attention and its derivatives as structured ops on
/// tensors of static shape. The scores, [batch..., queries, keys], are one
/// tensor. If queries share keys, the last batch dimension is split into two:
/// key heads, and the query heads that share each of them.
class AttentionParts {
public:
  /// Uses the attributes and shapes of `op`, with these tensors as operands.
  AttentionParts(mlir::OpBuilder &builder, AttentionOpInterface op,
                 mlir::Value query, mlir::Value key, mlir::Value value,
                 mlir::Value mask);

  /// The masked scores.
  mlir::Value createScores();
  /// Returns the output, with elements of type `element`, and lse.
  std::pair<mlir::Value, mlir::Value> createForward(mlir::Type element);
  /// exp(scores - lse).
  mlir::Value createWeights(mlir::Value scores, mlir::Value lse);
  /// Returns the gradient of the scores before masking.
  mlir::Value createScoreGradient(mlir::Value weights, mlir::Value outputGrad,
                                  mlir::Value delta);
  mlir::Value createQueryGradient(mlir::Value scoreGrad, mlir::Type element);
  mlir::Value createKeyGradient(mlir::Value scoreGrad, mlir::Type element);
  mlir::Value createValueGradient(mlir::Value weights, mlir::Value outputGrad,
                                  mlir::Type element);
  /// Returns the gradient of a mask of floats.
  mlir::Value createMaskGradient(mlir::Value scoreGrad, mlir::Type element);

private:
  using Body =
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>;

  mlir::Value split(mlir::Value tensor, int64_t dim);
  mlir::Value join(mlir::Value tensor, int64_t dim);
  mlir::Value convert(mlir::Value tensor, mlir::Type element);
  mlir::Value createGeneric(mlir::Location at, mlir::ValueRange inputs,
                            mlir::Value init,
                            llvm::ArrayRef<mlir::AffineMap> maps, Body body);
  mlir::Value createFilled(llvm::ArrayRef<int64_t> shape, double value);
  mlir::Value createElementwise(mlir::ValueRange inputs,
                                llvm::ArrayRef<mlir::AffineMap> maps,
                                llvm::ArrayRef<int64_t> shape, Body body);
  mlir::Value createReduction(mlir::Value input, mlir::AffineMap result,
                              llvm::ArrayRef<int64_t> shape, double start,
                              Body body);
  mlir::Value createProduct(mlir::Value a, mlir::AffineMap aMap, mlir::Value b,
                            mlir::AffineMap bMap, mlir::AffineMap map,
                            llvm::ArrayRef<int64_t> shape);
  mlir::AffineMap getMap(bool shared, llvm::ArrayRef<unsigned> loops,
                         unsigned numLoops);
  mlir::AffineMap getMaskMap();
  mlir::Value scale(mlir::Value scoreGrad);
  llvm::SmallVector<int64_t> getShape(bool shared,
                                      llvm::ArrayRef<int64_t> last);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  int64_t numProducts = 0; ///< So far.
  AttentionOpInterface op;
  /// Query, key and value are in the type of sums. If keys are shared, the last
  /// batch dimension of query and mask is split.
  mlir::Value query, key, value, mask;
  /// The loops over the scores along which the mask varies.
  llvm::SmallVector<unsigned> maskLoops;
  mlir::Type element;
  /// The number of batch dimensions of the scores, after a split.
  unsigned numBatch;
  /// The dimension that is split if keys are shared.
  int64_t lastBatch;
  /// The number of query heads that share a key head.
  int64_t shared = 1;
  int64_t queries, keys, depth, valueDepth;
};

/// Decomposes `op`, on tensors of static shape, into products and a softmax.
/// Returns what replaces its results.
llvm::SmallVector<mlir::Value> decomposeAttention(mlir::OpBuilder &builder,
                                                  AttentionOpInterface op);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_IR_ATTENTIONPARTS_H
