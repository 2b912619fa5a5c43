//===- DecomposeAttention.cpp - attention as products and a softmax -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Conversion/Attention.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Dialect/Pipe/IR/AttentionParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEDECOMPOSEATTENTION
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;
using veeline::pipe::AttentionOpInterface;

static bool isStatic(Operation *op) {
  return llvm::all_of(op->getOperandTypes(), [](Type type) {
    return isa<RankedTensorType>(type) &&
           cast<RankedTensorType>(type).hasStaticShape();
  });
}

namespace {

struct DecomposeAttention
    : veeline::impl::PipeDecomposeAttentionBase<DecomposeAttention> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<AttentionOpInterface> ops;
    getOperation()->walk([&](AttentionOpInterface op) { ops.push_back(op); });
    bool isDone = false;
    for (AttentionOpInterface op : ops) {
      if (isa<pipe::AttentionBackwardOp>(op.getOperation())) {
        op.emitError("both derivatives of an attention stay what they are; "
                     "run pipe-pair-attention after this");
        return signalPassFailure();
      }
      if (!isStatic(op)) {
        op.emitError("becomes products and a softmax as an op on tensors of "
                     "static shape; run pipe-bind-lengths, and this before "
                     "pipe-bufferize-bodies");
        return signalPassFailure();
      }
      if (target == KernelTarget::Cuda) {
        std::optional<std::string> reason = whyNoAttentionKernel(op);
        if (!reason)
          continue;
        op.emitRemark("this attention has no kernel, and its scores take "
                      "memory quadratic in the length: ")
            << *reason;
      }
      rewriter.setInsertionPoint(op);
      rewriter.replaceOp(op, pipe::decomposeAttention(rewriter, op));
      isDone = true;
    }
    if (!isDone)
      return;
    // Both derivatives of an attention have computed the same weights.
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }
};

} // namespace
