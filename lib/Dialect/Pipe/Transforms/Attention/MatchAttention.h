//===- MatchAttention.h - recognising attention -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_ATTENTION_MATCHATTENTION_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_ATTENTION_MATCHATTENTION_H

#include "ScalarExpression.h"

namespace veeline::pipe {

/// Tensors that contain the elements of an operand, each with the place of an
/// element in it: the operand itself, then tensors from which its elements were
/// moved.
using Places = llvm::SmallVector<std::pair<mlir::Value, Access>>;

/// An occurrence of softmax(Q K^T) V. Digits are those of `tracer`.
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
    /// The masks that are added to the scores. With `isBoolean`, there is only
    /// one, which is true for scores that stay.
    llvm::SmallVector<const Expression *, 1> masks = {};
    bool isBoolean = false;
    /// Whether the boolean mask is true for scores that are hidden instead.
    bool isHiding = false;
    /// The value of hidden scores.
    double fill = 0;
  } masks;
};

/// What is known about a product that may be the second one of attention.
struct AttentionCandidate {
  std::optional<AttentionMatch> match;
  /// If there is a softmax but no attention, the reason.
  std::string reason;
};

/// Analyses the product `context`, whose left or right operand may be a
/// softmax.
AttentionCandidate matchAttention(mlir::linalg::LinalgOp context);

/// A score less than this has no weight compared to a score that is not masked.
inline constexpr double hiddenScore = -1e4;

enum class MaskKind {
  General,
  Nothing,      ///< Equivalent to no mask.
  Causal,       ///< True, or 0, if the key is not after the query.
  HidesCausally ///< True if the key is after the query.
};

/// Classifies a mask as a function of the positions of the query and the key.
MaskKind classifyMask(const Expression *mask, bool isBoolean,
                      const AttentionMatch &match);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_ATTENTION_MATCHATTENTION_H
