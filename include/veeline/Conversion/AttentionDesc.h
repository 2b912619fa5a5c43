//===- AttentionDesc.h - an attention in the runtime's tables ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_CONVERSION_ATTENTIONDESC_H
#define VEELINE_CONVERSION_ATTENTIONDESC_H

#include "mlir/IR/BuiltinAttributes.h"

namespace veeline {

/// One entry of a module's table of attentions (`pipe.attentions`): the sizes,
/// strides and attributes of a `pipe.attention` or `pipe.attention_backward`.
/// Operands have four dimensions: sample, head, row and element.
struct AttentionDesc {
  bool isBackward = false;
  mlir::Type dtype; ///< f16 or bf16.
  int64_t batch = 1, heads = 1, keyHeads = 1, queries = 1, keys = 1;
  int64_t depth = 1, valueDepth = 1;
  double scale = 1;
  bool causal = false;
  /// Whether the results must be the same in every run.
  bool deterministic = true;
  /// Strides in elements, for sample, head and row. Those of gradients are
  /// empty in a forward entry.
  llvm::SmallVector<int64_t> queryStrides, keyStrides, valueStrides,
      outputStrides, outputGradStrides, queryGradStrides, keyGradStrides,
      valueGradStrides;
  /// Null without a mask. A stride is 0 if the mask is the same along the
  /// dimension.
  mlir::Type maskType;
  llvm::SmallVector<int64_t> maskStrides;
  uint64_t scratchBytes = 0;

  /// The attribute: a dictionary of `kind` ("forward", "backward"), `dtype`,
  /// `batch`, `heads`, `key_heads`, `queries`, `keys`, `depth`, `value_depth`,
  /// `scale`, `causal`, `deterministic`, `query_strides`, `key_strides`,
  /// `value_strides`, `output_strides` and `scratch_bytes`. A backward entry
  /// also has `output_grad_strides`, `query_grad_strides`, `key_grad_strides`
  /// and `value_grad_strides`, and one with a mask `mask_dtype` and
  /// `mask_strides`.
  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
  /// Reads the attribute. Fails if an entry is missing or has another type.
  static mlir::FailureOr<AttentionDesc>
  fromAttribute(mlir::DictionaryAttr dict);
};

/// The attribute of a module that lists its attentions, an array of
/// dictionaries in the order of the indices given to `veeline_attention` and
/// `veeline_attention_backward`.
inline constexpr llvm::StringLiteral attentionsAttrName = "pipe.attentions";

} // namespace veeline

#endif // VEELINE_CONVERSION_ATTENTIONDESC_H
