//===- MatchAttention.h - recognising attention -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_ATTENTION_MATCHATTENTION_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_ATTENTION_MATCHATTENTION_H

#include "ScalarExpression.h"

namespace veeline::pipe {

/// Tensors that hold the elements of an operand, and the place of an element in
/// each: the operand itself, then what its elements were moved from.
using Places = llvm::SmallVector<std::pair<mlir::Value, Access>>;

/// softmax(Q K^T) V as it was found. Digits are those of `tracer`.
struct AttentionMatch {
  /// The product with V, and the place of its result's elements.
  mlir::linalg::LinalgOp context;
  Access contextAccess;
  /// The product of Q and K, and the place of its result's elements.
  mlir::linalg::LinalgOp scores;
  Access scoreAccess;
  std::unique_ptr<ExpressionTracer> tracer;
  /// The digits of the batch, in order, and the places along the other
  /// dimensions.
  Index batch, queries, keys, depth, valueDepth;
  Places query, key, value;

  double scale = 1;
  struct Masks {
    bool causal = false;
    /// Masks that are added to the scores. Where `isBoolean` there is one,
    /// which says which scores stay.
    llvm::SmallVector<const Expression *, 1> masks = {};
    bool isBoolean = false;
    /// The boolean mask says which scores are hidden instead.
    bool isHiding = false;
    /// The value of hidden scores.
    double fill = 0;
  } masks;
};

/// What is known of a product that could be attention's second one.
struct AttentionCandidate {
  std::optional<AttentionMatch> match;
  /// Where it has a softmax but is not attention: why.
  std::string reason;
};

/// Looks at the product `context`, whose left or right operand may be a
/// softmax.
AttentionCandidate matchAttention(mlir::linalg::LinalgOp context);

/// A score below this has no weight beside one that is not masked.
inline constexpr double hiddenScore = -1e4;

enum class MaskKind {
  General,
  Nothing,      ///< the same as no mask
  Causal,       ///< true, or 0, where the key is not after the query
  HidesCausally ///< true where the key is after the query
};

/// What a mask is, as a function of the positions of the query and the key.
MaskKind classifyMask(const Expression *mask, bool isBoolean,
                      const AttentionMatch &match);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_ATTENTION_MATCHATTENTION_H
