//===- LowerLoops.cpp - loops of other kinds to scf.for -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Autodiff/Loops.h"

#include "CountedWhile.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace veeline::autodiff;

/// Lowers `affine.for` and `affine.if` to scf, index computations to arith.
static LogicalResult lowerAffine(func::FuncOp func) {
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (isa<affine::AffineDialect>(op->getDialect()))
      ops.push_back(op);
  });
  if (ops.empty())
    return success();
  RewritePatternSet patterns(func.getContext());
  populateAffineToStdConversionPatterns(patterns);
  return applyOpPatternsGreedily(
      ops, std::move(patterns),
      GreedyRewriteConfig()
          .setStrictness(GreedyRewriteStrictness::ExistingOps)
          .enableFolding(false)
          .enableConstantCSE(false));
}

/// Whether all results of the iterations are slices of the loop's results.
static bool givesSlices(scf::ForallOp op) {
  return llvm::all_of(op.getTerminator().getYieldingOps(), [](Operation &op) {
    return isa<tensor::ParallelInsertSliceOp>(op);
  });
}

/// Emits one iteration. It may run after the iterations before it and see their
/// results, because it writes other elements.
static scf::ValueVector emitIteration(OpBuilder &builder, scf::ForallOp op,
                                      ValueRange ivs, ValueRange carried) {
  IRMapping mapping;
  mapping.map(op.getInductionVars(), ivs);
  mapping.map(op.getRegionIterArgs(), carried);
  for (Operation &inner : op.getBody()->without_terminator())
    builder.clone(inner, mapping);
  for (Operation &yielding : op.getTerminator().getYieldingOps()) {
    auto slice = cast<tensor::ParallelInsertSliceOp>(yielding);
    auto map = [&](ArrayRef<OpFoldResult> numbers) {
      return llvm::map_to_vector(numbers, [&](OpFoldResult number) {
        auto value = dyn_cast<Value>(number);
        return value ? OpFoldResult(mapping.lookupOrDefault(value)) : number;
      });
    };
    Value result = tensor::InsertSliceOp::create(
        builder, slice.getLoc(), mapping.lookupOrDefault(slice.getSource()),
        mapping.lookup(slice.getDest()), map(slice.getMixedOffsets()),
        map(slice.getMixedSizes()), map(slice.getMixedStrides()));
    mapping.map(slice.getDest(), result);
  }
  scf::ValueVector results;
  for (Value argument : op.getRegionIterArgs())
    results.push_back(mapping.lookup(argument));
  return results;
}

static void lowerForall(scf::ForallOp op) {
  if (!givesSlices(op))
    return;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto toValues = [&](ArrayRef<OpFoldResult> numbers) {
    return getValueOrCreateConstantIndexOp(builder, loc, numbers);
  };
  scf::LoopNest nest = scf::buildLoopNest(
      builder, loc, toValues(op.getMixedLowerBound()),
      toValues(op.getMixedUpperBound()), toValues(op.getMixedStep()),
      op.getOutputs(),
      [&](OpBuilder &inner, Location, ValueRange ivs, ValueRange carried) {
        return emitIteration(inner, op, ivs, carried);
      });
  op.replaceAllUsesWith(nest.results);
  op.erase();
}

LogicalResult veeline::autodiff::lowerLoops(func::FuncOp func) {
  if (failed(lowerAffine(func)))
    return func.emitError("its affine loops cannot be lowered to 'scf.for'");
  SmallVector<scf::ForallOp> loops;
  func.walk([&](scf::ForallOp loop) { loops.push_back(loop); });
  for (scf::ForallOp loop : loops)
    lowerForall(loop);
  // Inner loops come first.
  SmallVector<scf::WhileOp> counting;
  func.walk([&](scf::WhileOp loop) { counting.push_back(loop); });
  for (scf::WhileOp loop : counting)
    replaceByFor(loop);
  return success();
}
