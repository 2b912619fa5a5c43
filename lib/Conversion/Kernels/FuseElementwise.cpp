//===- FuseElementwise.cpp - fusion of elementwise ops --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StructuredOps.h"
#include "veeline/Analysis/Convolution.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Dialect/Pipe/IR/Attention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEFUSEELEMENTWISE
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

/// Longer bodies are not fused further, because they would spill registers.
static constexpr unsigned maxBodyOps = 96;
/// Running a body of at most this many ops costs less than loading its result.
static constexpr unsigned trivialBodyOps = 4;

static bool isExpensive(Operation &op) {
  return isa<math::MathDialect>(op.getDialect()) ||
         isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp,
             arith::RemSIOp, arith::RemUIOp>(op) ||
         op.getNumRegions();
}

static unsigned countOps(linalg::GenericOp op) {
  return llvm::range_size(op.getBlock()->without_terminator());
}

static bool isCheap(linalg::GenericOp op) {
  return llvm::none_of(op.getBlock()->without_terminator(), isExpensive);
}

static int64_t countIterations(linalg::GenericOp op) {
  return llvm::product_of(op.getStaticLoopRanges());
}

/// The number of inputs that have a dimension for every loop.
static unsigned countStreams(linalg::GenericOp op) {
  return llvm::count_if(op.getDpsInputOperands(), [&](OpOperand *operand) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    return map.getNumResults() == op.getNumLoops();
  });
}

/// True if computing `producer` again in each of its users costs less than
/// writing its result and reading it there.
static bool isTriviallyCheap(linalg::GenericOp producer) {
  return isCheap(producer) && countOps(producer) <= trivialBodyOps &&
         countStreams(producer) <= 1;
}

static bool canFuseInto(OpOperand &use) {
  auto consumer = dyn_cast<linalg::GenericOp>(use.getOwner());
  return consumer && consumer.isDpsInput(&use) && !isMatrixProduct(consumer) &&
         !isLibraryConvolution(consumer, KernelTarget::Cuda) &&
         linalg::areElementwiseOpsFusable(&use);
}

/// True if the body reads the old content of the outputs.
static bool readsInits(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return op.payloadUsesValueFromOperand(&init);
  });
}

static bool shouldFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  if (!producer || producer->getNumResults() != 1 || !canFuseInto(*operand))
    return false;
  // A producer before a loop would run again in each of its iterations.
  if (producer->getBlock() != operand->getOwner()->getBlock())
    return false;
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  // The producer's init would stay an output of the fused op. But a reduction
  // that also writes elements is not a lane reduction, so its bits would
  // change.
  if (consumer.getNumReductionLoops() != 0 && readsInits(producer))
    return false;
  if (countOps(producer) + countOps(consumer) > maxBodyOps)
    return false;
  bool repeats = countIterations(consumer) > countIterations(producer);
  if (repeats && !isCheap(producer))
    return false;
  if (operand->get().hasOneUse())
    return true;
  // Attention does not count as a use, because it reads the tensor from which
  // heads were arranged.
  return isTriviallyCheap(producer) &&
         llvm::all_of(operand->get().getUses(), [](OpOperand &use) {
           return canFuseInto(use) ||
                  isa<pipe::AttentionOpInterface>(use.getOwner());
         });
}

namespace {

struct FuseElementwise
    : veeline::impl::PipeFuseElementwiseBase<FuseElementwise> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
    tensor::populateFoldTensorEmptyPatterns(patterns);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal();
    (void)applyPatternsGreedily(getOperation(), std::move(patterns), config);
  }
};

} // namespace
