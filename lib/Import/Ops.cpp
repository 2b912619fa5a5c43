//===- Ops.cpp - --pipe-import-ops ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "veeline/Autodiff/Loops.h"
#include "veeline/Import/Passes.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEIMPORTOPS
#include "veeline/Import/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

static Value castToIndex(OpBuilder &builder, Location location, Value number) {
  if (number.getType().isIndex())
    return number;
  return arith::IndexCastOp::create(builder, location, builder.getIndexType(),
                                    number);
}

/// Turns a tensor.gather into a linalg.generic that reads elements by index in
/// its body. Its inputs are the coordinates, which are in the last dimension of
/// `indices`. So `indices` is an input once for each coordinate.
static void gatherToGeneric(IRRewriter &rewriter, tensor::GatherOp op) {
  RankedTensorType type = op.getResultType();
  int64_t rank = type.getRank(), sourceRank = op.getSourceType().getRank();
  unsigned leading = op.getIndicesType().getRank() - 1;
  ArrayRef<int64_t> gathered = op.getGatherDims();
  bool isReduced = rank != leading + sourceRank;
  SmallVector<AffineMap> maps;
  for (int64_t i = 0, e = gathered.size(); i < e; ++i)
    maps.push_back(
        AffineMap::getMultiDimIdentityMap(rank, op.getContext())
            .getSliceMap(0, leading)
            .insertResult(rewriter.getAffineConstantExpr(i), leading));
  maps.push_back(rewriter.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  SmallVector<Value> inputs(gathered.size(), op.getIndices());
  Value empty =
      tensor::EmptyOp::create(rewriter, op.getLoc(), type, ValueRange());
  rewriter.replaceOpWithNewOp<linalg::GenericOp>(
      op, type, inputs, empty, maps, iterators,
      [&](OpBuilder &builder, Location location, ValueRange arguments) {
        SmallVector<Value> indices;
        int64_t position = leading;
        for (int64_t i = 0; i < sourceRank; ++i) {
          auto *found = llvm::find(gathered, i);
          bool isGathered = found != gathered.end();
          indices.push_back(
              isGathered ? castToIndex(builder, location,
                                       arguments[found - gathered.begin()])
                         : linalg::IndexOp::create(builder, location, position)
                               .getResult());
          position += !isGathered || !isReduced;
        }
        Value element = tensor::ExtractOp::create(builder, location,
                                                  op.getSource(), indices);
        linalg::YieldOp::create(builder, location, element);
      });
}

/// Inserts the slice for one place in the leading dimensions of `indices`.
static Value scatterSlice(OpBuilder &builder, tensor::ScatterOp op, Value dest,
                          ValueRange place) {
  Location location = op.getLoc();
  RankedTensorType sourceType = op.getSourceType(), type = op.getDestType();
  int64_t leading = place.size();
  auto number = [&](int64_t value) -> OpFoldResult {
    return builder.getIndexAttr(value);
  };
  SmallVector<OpFoldResult> from(sourceType.getRank(), number(0)),
      extents(getAsIndexOpFoldResult(op.getContext(), sourceType.getShape())),
      to(type.getRank(), number(0)),
      sizes(getAsIndexOpFoldResult(op.getContext(), type.getShape()));
  for (int64_t i = 0; i < leading; ++i) {
    from[i] = place[i];
    extents[i] = number(1);
  }
  for (auto [i, dimension] : llvm::enumerate(op.getScatterDims())) {
    SmallVector<Value> at(place);
    at.push_back(arith::ConstantIndexOp::create(builder, location, i));
    Value index =
        tensor::ExtractOp::create(builder, location, op.getIndices(), at);
    to[dimension] = castToIndex(builder, location, index);
    sizes[dimension] = number(1);
  }
  auto ones = [&](int64_t rank) {
    return SmallVector<OpFoldResult>(rank, number(1));
  };
  Value slice = tensor::ExtractSliceOp::create(
      builder, location,
      sourceType.clone(sourceType.getShape().drop_front(leading)),
      op.getSource(), from, extents, ones(from.size()));
  return tensor::InsertSliceOp::create(builder, location, slice, dest, to,
                                       sizes, ones(to.size()));
}

/// Turns a tensor.scatter into a loop over slices.
static void scatterToLoops(IRRewriter &rewriter, tensor::ScatterOp op) {
  Location location = op.getLoc();
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, location, value);
  };
  SmallVector<Value> begins, ends, steps;
  for (int64_t extent : op.getIndicesType().getShape().drop_back()) {
    begins.push_back(index(0));
    ends.push_back(index(extent));
    steps.push_back(index(1));
  }
  scf::LoopNest nest = scf::buildLoopNest(
      rewriter, location, begins, ends, steps, op.getDest(),
      [&](OpBuilder &builder, Location, ValueRange place,
          ValueRange carried) -> scf::ValueVector {
        return {scatterSlice(builder, op, carried[0], place)};
      });
  rewriter.replaceOp(op, nest.results);
}

/// Replaces the op if it reads or writes by index. Returns whether it does.
static bool lowerIndexed(IRRewriter &rewriter, Operation *op) {
  auto isStatic = [](Type type) {
    return cast<RankedTensorType>(type).hasStaticShape();
  };
  if (!llvm::all_of(op->getResultTypes(), [&](Type type) {
        return isa<RankedTensorType>(type) && isStatic(type);
      }))
    return false;
  if (auto generate = dyn_cast<tensor::GenerateOp>(op))
    return succeeded(
        linalg::rewriteInDestinationPassingStyle(rewriter, generate));
  if (auto gather = dyn_cast<tensor::GatherOp>(op))
    gatherToGeneric(rewriter, gather);
  else if (auto scatter = dyn_cast<tensor::ScatterOp>(op);
           scatter && isStatic(scatter.getIndicesType()))
    scatterToLoops(rewriter, scatter);
  else
    return false;
  return true;
}

static LogicalResult importOps(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    LogicalResult result = success();
    if (lowerIndexed(rewriter, op))
      continue;
    if (auto pack = dyn_cast<linalg::PackOp>(op)) {
      result = LogicalResult(linalg::lowerPack(rewriter, pack));
    } else if (auto unpack = dyn_cast<linalg::UnPackOp>(op)) {
      result = LogicalResult(linalg::lowerUnPack(rewriter, unpack));
    }
    if (failed(result))
      return op->emitError()
             << "'" << op->getName() << "' cannot be lowered to pads, reshapes "
             << "and transpositions; its tiles must be of static size";
  }
  return success();
}

/// Reports ops that upstream's passes could not lower. The passes themselves do
/// not.
static LogicalResult verifyNoTosa(func::FuncOp function) {
  WalkResult result = function.walk([](Operation *op) {
    if (!isa<tosa::TosaDialect>(op->getDialect()))
      return WalkResult::advance();
    // Dead ops that only gave shapes to the conversions.
    if (isOpTriviallyDead(op)) {
      op->erase();
      return WalkResult::skip();
    }
    op->emitError() << "'" << op->getName()
                    << "' cannot be lowered to linalg: types or attributes are "
                       "none that upstream's conversion knows, with operands ("
                    << op->getOperandTypes() << ") and results ("
                    << op->getResultTypes() << ")";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Replaces values that a loop carries but never changes by values from outside
/// of it. Most of them are weights that the loop uses.
static LogicalResult dropInvariants(func::FuncOp function) {
  SmallVector<Operation *> loops;
  function.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  if (loops.empty())
    return success();
  RewritePatternSet patterns(function.getContext());
  scf::ForOp::getCanonicalizationPatterns(patterns, function.getContext());
  return applyOpPatternsGreedily(
      loops, std::move(patterns),
      GreedyRewriteConfig()
          .setStrictness(GreedyRewriteStrictness::ExistingAndNewOps)
          .enableFolding(false)
          .enableConstantCSE(false));
}

namespace {
struct ImportOps : veeline::impl::PipeImportOpsBase<ImportOps> {
  void runOnOperation() override {
    if (failed(autodiff::lowerLoops(getOperation())) ||
        failed(dropInvariants(getOperation())) ||
        failed(importOps(getOperation())) ||
        failed(verifyNoTosa(getOperation())))
      signalPassFailure();
  }
};
} // namespace
