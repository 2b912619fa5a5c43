//===- NormalizeOps.cpp - normal form of structured ops -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WidenProducts.h"

#include "veeline/Analysis/Convolution.h"
#include "veeline/Analysis/TensorEmit.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Dialect/Pipe/IR/Attention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace veeline {
#define GEN_PASS_DEF_PIPENORMALIZEOPS
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

/// Splits ops that stand for several structured ones (softmax).
static LogicalResult decomposeAggregates(RewriterBase &rewriter,
                                         Operation *root) {
  SmallVector<linalg::AggregatedOpInterface> ops;
  root->walk([&](linalg::AggregatedOpInterface op) { ops.push_back(op); });
  for (linalg::AggregatedOpInterface op : ops) {
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> results = op.decomposeOperation(rewriter);
    if (failed(results))
      return op->emitError("this op cannot be split into structured ops");
    rewriter.replaceOp(op, *results);
  }
  return success();
}

static LogicalResult generalize(RewriterBase &rewriter, Operation *root) {
  SmallVector<linalg::LinalgOp> ops;
  root->walk([&](linalg::LinalgOp op) {
    // Fills are kept, because they are recognised by name below.
    if (!isa<linalg::GenericOp, linalg::FillOp>(op))
      ops.push_back(op);
  });
  for (linalg::LinalgOp op : ops) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::generalizeNamedOp(rewriter, op)))
      return op->emitError("this op has no general structured form");
  }
  return success();
}

static bool isZeros(Value value) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
}

/// Makes a convolution start from zeros, because the library overwrites its
/// result. Its init, mostly a bias, is added afterwards, where it can be fused
/// with later ops.
static void startFromZeros(RewriterBase &rewriter, linalg::GenericOp op) {
  Value start = op.getOutputs()[0];
  auto type = cast<RankedTensorType>(start.getType());
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value zeros = createZeros(rewriter, loc, type);
  rewriter.modifyOpInPlace(op, [&] { op.getOutputsMutable()[0].set(zeros); });
  rewriter.setInsertionPointAfter(op);
  Value sum = createSum(rewriter, loc, start, op.getResult(0));
  rewriter.replaceAllUsesExcept(op.getResult(0), sum, sum.getDefiningOp());
}

static void startConvolutions(RewriterBase &rewriter, Operation *root,
                              KernelTarget target) {
  SmallVector<linalg::GenericOp> ops;
  root->walk([&](linalg::GenericOp op) {
    if (op.hasPureTensorSemantics() && isLibraryConvolution(op, target) &&
        !isZeros(op.getOutputs()[0]))
      ops.push_back(op);
  });
  for (linalg::GenericOp op : ops)
    startFromZeros(rewriter, op);
}

/// Rates the access through `map` along dimension `dim`: 2 if it is contiguous,
/// 1 if it stays at one element, -4 if it jumps.
static int getAffinity(AffineMap map, unsigned dim) {
  if (!map.isFunctionOfDim(dim))
    return 1;
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  return last && last.getPosition() == dim ? 2 : -4;
}

/// The loop that should be the innermost one: the loop along which most
/// operands are contiguous. If several are equally good, the current one is
/// preferred.
static unsigned chooseInnermost(linalg::GenericOp op, ArrayRef<int64_t> sizes) {
  unsigned best = op.getNumLoops() - 1;
  int bestScore = std::numeric_limits<int>::min();
  for (unsigned dim = op.getNumLoops(); dim-- > 0;) {
    if (sizes[dim] == 1)
      continue;
    int score = 0;
    for (AffineMap map : op.getIndexingMapsArray())
      if (map.getNumResults())
        score += getAffinity(map, dim);
    if (score > bestScore) {
      best = dim;
      bestScore = score;
    }
  }
  return best;
}

/// The order of all loops: `innermost` comes last, the others in the order in
/// which the operand of the highest rank has them.
static SmallVector<unsigned> chooseOrder(linalg::GenericOp op,
                                         unsigned innermost) {
  AffineMap widest = op.getIndexingMapsArray().front();
  for (AffineMap map : op.getIndexingMapsArray())
    if (map.getNumResults() > widest.getNumResults())
      widest = map;
  auto position = [&](unsigned dim) -> int64_t {
    if (dim == innermost)
      return std::numeric_limits<int64_t>::max();
    for (auto [i, expr] : llvm::enumerate(widest.getResults()))
      if (expr.isFunctionOfDim(dim))
        return i;
    return -1;
  };
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, op.getNumLoops()));
  llvm::stable_sort(
      order, [&](unsigned a, unsigned b) { return position(a) < position(b); });
  return order;
}

/// Fixes the order of the loops of every reduction. From here on, it determines
/// the order in which a result is accumulated. So nothing that is fused into
/// the op later changes its bits.
static LogicalResult orderLoops(RewriterBase &rewriter, Operation *root) {
  SmallVector<linalg::GenericOp> ops;
  root->walk([&](linalg::GenericOp op) {
    if (op.getNumReductionLoops())
      ops.push_back(op);
  });
  for (linalg::GenericOp op : ops) {
    SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    SmallVector<unsigned> order = chooseOrder(op, chooseInnermost(op, sizes));
    if (llvm::is_sorted(order))
      continue;
    rewriter.setInsertionPoint(op);
    if (failed(linalg::interchangeGenericOp(rewriter, op, order)))
      return op.emitError("the loops of this op cannot be reordered");
  }
  return success();
}

/// Gives `use` a fill of its own if it shares one. Otherwise all users of the
/// fill but one would need copies.
static void separateFill(RewriterBase &rewriter, OpOperand &use) {
  auto fill = use.get().getDefiningOp<linalg::FillOp>();
  if (!fill || use.get().hasOneUse())
    return;
  auto type = cast<RankedTensorType>(use.get().getType());
  rewriter.setInsertionPoint(use.getOwner());
  auto copy = cast<linalg::FillOp>(rewriter.clone(*fill));
  rewriter.setInsertionPoint(copy);
  copy.getOutputsMutable()[0].set(createEmpty(rewriter, copy.getLoc(), type));
  rewriter.modifyOpInPlace(use.getOwner(),
                           [&] { use.set(copy->getResult(0)); });
}

/// Gives `use`, which is overwritten, an empty tensor of its own.
static void giveOwnEmpty(RewriterBase &rewriter, OpOperand &use) {
  if (use.get().getDefiningOp<tensor::EmptyOp>() && use.get().hasOneUse())
    return;
  Operation *op = use.getOwner();
  rewriter.setInsertionPoint(op);
  rewriter.modifyOpInPlace(op, [&] {
    use.set(createEmpty(rewriter, op->getLoc(),
                        cast<RankedTensorType>(use.get().getType())));
  });
}

/// Replaces values that only give an output its shape by empty tensors, one for
/// each op, so that each output is a buffer of its own.
void veeline::separateOutputs(Operation *root) {
  IRRewriter rewriter(root->getContext());
  auto isStatic = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape();
  };
  root->walk([&](linalg::LinalgOp op) {
    for (OpOperand &init : op.getDpsInitsMutable()) {
      if (!isStatic(init.get()))
        continue;
      if (op.payloadUsesValueFromOperand(&init)) {
        separateFill(rewriter, init);
        continue;
      }
      giveOwnEmpty(rewriter, init);
    }
  });
  root->walk([&](pipe::AttentionOpInterface op) {
    auto destination = cast<DestinationStyleOpInterface>(op.getOperation());
    for (OpOperand &init : destination.getDpsInitsMutable())
      if (isStatic(init.get()))
        giveOwnEmpty(rewriter, init);
  });
  // The library takes padding as a number of zeros. For that, the fill has to
  // be recognised, and a copy of one is not.
  root->walk([&](tensor::InsertSliceOp insert) {
    if (isStatic(insert.getDest()))
      separateFill(rewriter, insert.getDestMutable());
  });
  root->walk([&](scf::ForOp loop) {
    for (OpOperand &init : loop.getInitArgsMutable())
      if (isStatic(init.get()))
        separateFill(rewriter, init);
  });
}

/// Fails with a diagnostic at an op that has no such form.
static LogicalResult normalizeOps(Operation *root, KernelTarget target) {
  IRRewriter rewriter(root->getContext());
  // pipe.boundary, a mark between pieces, is the identity.
  root->walk(
      [&](pipe::BoundaryOp op) { rewriter.replaceOp(op, op->getOperands()); });
  if (failed(decomposeAggregates(rewriter, root)))
    return failure();
  RewritePatternSet patterns(root->getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  tensor::populateDecomposeTensorConcatPatterns(patterns);
  linalg::populateDecomposePadPatterns(patterns);
  GreedyRewriteConfig config;
  config.enableFolding(false).enableConstantCSE(false);
  (void)applyPatternsGreedily(root, std::move(patterns), config);
  if (failed(generalize(rewriter, root)))
    return failure();
  if (target == KernelTarget::Cuda)
    keepSmallProducts(rewriter, root);
  else
    widenProducts(rewriter, root);
  startConvolutions(rewriter, root, target);
  if (failed(orderLoops(rewriter, root)))
    return failure();
  separateOutputs(root);
  return success();
}

namespace {

struct NormalizeOps : veeline::impl::PipeNormalizeOpsBase<NormalizeOps> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(normalizeOps(getOperation(), target)))
      signalPassFailure();
  }
};

} // namespace
