//===- Loops.cpp - loops before they are differentiated -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Autodiff/Loops.h"

#include "Activity.h"
#include "Normalize.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

using namespace mlir;
using namespace veeline::autodiff;

/// Calls `visit` with the ops of type `OpTy`, outer ones first. Skips the
/// bodies of structured ops.
template <typename OpTy>
static void forEachOutside(Operation *root, function_ref<void(OpTy)> visit) {
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto match = dyn_cast<OpTy>(op))
      visit(match);
    return isa<linalg::LinalgOp>(op) ? WalkResult::skip()
                                     : WalkResult::advance();
  });
}

//===----------------------------------------------------------------------===//
// Unrolling
//===----------------------------------------------------------------------===//

static std::optional<int64_t> getTripCount(scf::ForOp loop) {
  std::optional<APInt> count = loop.getStaticTripCount();
  if (!count || count->getActiveBits() > 62)
    return std::nullopt;
  return count->getZExtValue();
}

/// The number of ops that run, but at most `mostUnrolledOps + 1`.
static int64_t countOps(Region &region) {
  int64_t count = 0;
  for (Operation &op : region.getOps()) {
    if (op.hasTrait<OpTrait::ConstantLike>() ||
        op.hasTrait<OpTrait::IsTerminator>())
      continue;
    int64_t nested = 1;
    if (!isa<linalg::LinalgOp>(op))
      for (Region &inner : op.getRegions())
        nested += countOps(inner);
    int64_t trips = 1;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      trips = std::min(getTripCount(loop).value_or(1), mostUnrolledOps + 1);
    count = std::min(count + nested * trips, mostUnrolledOps + 1);
  }
  return count;
}

static bool isUnrolled(scf::ForOp loop) {
  std::optional<int64_t> trips = getTripCount(loop);
  if (!trips)
    return false;
  if (auto wanted = loop->getAttrOfType<BoolAttr>(unrollAttrName))
    return wanted.getValue();
  WalkResult marks = loop.walk(
      [](veeline::pipe::BoundaryOp) { return WalkResult::interrupt(); });
  return marks.wasInterrupted() ||
         (*trips <= mostUnrolledIterations &&
          *trips * countOps(loop.getRegion()) <= mostUnrolledOps);
}

/// Replaces an scf.if with a constant condition by the branch that runs.
static LogicalResult takeKnownBranch(scf::IfOp op, PatternRewriter &rewriter) {
  BoolAttr condition;
  if (!matchPattern(op.getCondition(), m_Constant(&condition)))
    return failure();
  Region &region =
      condition.getValue() ? op.getThenRegion() : op.getElseRegion();
  if (region.empty()) {
    rewriter.eraseOp(op);
    return success();
  }
  Operation *terminator = region.front().getTerminator();
  SmallVector<Value> results(terminator->getOperands());
  rewriter.inlineBlockBefore(&region.front(), op);
  rewriter.eraseOp(terminator);
  rewriter.replaceOp(op, results);
  return success();
}

/// Folds ops that depend only on constants, so that slices whose offsets depend
/// on an iteration get static offsets.
static LogicalResult foldIndices(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  RewritePatternSet patterns(context);
  patterns.add(takeKnownBranch);
  tensor::ExtractSliceOp::getCanonicalizationPatterns(patterns, context);
  tensor::InsertSliceOp::getCanonicalizationPatterns(patterns, context);
  return applyPatternsGreedily(
      func, std::move(patterns),
      GreedyRewriteConfig().setRegionSimplificationLevel(
          GreedySimplifyRegionLevel::Disabled));
}

static LogicalResult unroll(scf::ForOp loop) {
  if (getTripCount(loop) == 0) {
    loop.replaceAllUsesWith(loop.getInitArgs());
    loop.erase();
    return success();
  }
  loop->removeAttr(unrollAttrName);
  if (failed(loopUnrollFull(loop)))
    return loop.emitError("this loop cannot be unrolled");
  return success();
}

/// The outermost loops that are to be unrolled.
static SmallVector<scf::ForOp> findUnrolled(func::FuncOp func) {
  SmallVector<scf::ForOp> found;
  forEachOutside<scf::ForOp>(func, [&](scf::ForOp loop) {
    bool isInside = llvm::any_of(
        found, [&](scf::ForOp outer) { return outer->isProperAncestor(loop); });
    if (!isInside && isUnrolled(loop))
      found.push_back(loop);
  });
  return found;
}

static LogicalResult checkLoops(func::FuncOp func) {
  LogicalResult result = success();
  forEachOutside<scf::WhileOp>(func, [&](scf::WhileOp loop) {
    if (succeeded(result))
      result = loop.emitError(
          "an 'scf.while' has no number of iterations that is known when the "
          "model is compiled, and is neither cut nor differentiated; write an "
          "'scf.for' over the largest number of iterations, with an 'scf.if' "
          "or a select for those that count");
  });
  forEachOutside<scf::ForOp>(func, [&](scf::ForOp loop) {
    if (succeeded(result) && !getTripCount(loop))
      result = loop.emitError(
          "the number of iterations of this loop is not known when the model "
          "is compiled; its bounds and its step have to be constants: loop "
          "over the largest number of iterations, with an 'scf.if' or a select "
          "for those that count");
  });
  return result;
}

LogicalResult veeline::autodiff::unrollLoops(func::FuncOp func) {
  bool hasBranches = false;
  forEachOutside<scf::IfOp>(func, [&](scf::IfOp) { hasBranches = true; });
  if (hasBranches && failed(foldIndices(func)))
    return failure();
  while (true) {
    SmallVector<scf::ForOp> loops = findUnrolled(func);
    if (loops.empty())
      return checkLoops(func);
    for (scf::ForOp loop : loops)
      if (failed(unroll(loop)))
        return failure();
    if (failed(foldIndices(func)))
      return failure();
  }
}

//===----------------------------------------------------------------------===//
// The form of loops that stay
//===----------------------------------------------------------------------===//

static bool isScalar(Type type) { return !isa<RankedTensorType>(type); }

static Value toTensor(OpBuilder &builder, Value value) {
  if (!isScalar(value.getType()))
    return value;
  return tensor::FromElementsOp::create(
      builder, value.getLoc(), RankedTensorType::get({}, value.getType()),
      value);
}

/// If a scalar has become a tensor, its element; otherwise `value` itself.
static Value toElement(OpBuilder &builder, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return tensor::ExtractOp::create(builder, value.getLoc(), value,
                                   ValueRange{});
}

static void yieldTensors(Block &block) {
  Operation *yield = block.getTerminator();
  OpBuilder builder(yield);
  for (OpOperand &operand : yield->getOpOperands())
    operand.set(toTensor(builder, operand.get()));
}

/// Replaces `op` by `replacement`. Where results of that are tensors of one
/// element, uses get the element.
static void replaceByTensors(IRRewriter &rewriter, Operation *op,
                             Operation *replacement) {
  rewriter.setInsertionPointAfter(replacement);
  SmallVector<Value> results;
  for (auto [old, result] :
       llvm::zip_equal(op->getResults(), replacement->getResults()))
    results.push_back(toElement(rewriter, result, old.getType()));
  rewriter.replaceOp(op, results);
}

static void carryTensors(IRRewriter &rewriter, scf::ForOp loop) {
  if (llvm::none_of(loop.getResultTypes(), isScalar))
    return;
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> inits;
  for (Value init : loop.getInitArgs())
    inits.push_back(toTensor(rewriter, init));
  auto replacement =
      scf::ForOp::create(rewriter, loop.getLoc(), loop.getLowerBound(),
                         loop.getUpperBound(), loop.getStep(), inits);
  rewriter.setInsertionPointToStart(replacement.getBody());
  SmallVector<Value> arguments = {replacement.getInductionVar()};
  for (auto [argument, old] : llvm::zip_equal(replacement.getRegionIterArgs(),
                                              loop.getRegionIterArgs()))
    arguments.push_back(toElement(rewriter, argument, old.getType()));
  rewriter.mergeBlocks(loop.getBody(), replacement.getBody(), arguments);
  yieldTensors(*replacement.getBody());
  replaceByTensors(rewriter, loop, replacement);
}

static void giveTensors(IRRewriter &rewriter, scf::IfOp op) {
  if (llvm::none_of(op.getResultTypes(), isScalar))
    return;
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    types.push_back(isScalar(type) ? RankedTensorType::get({}, type) : type);
  rewriter.setInsertionPoint(op);
  auto replacement = scf::IfOp::create(rewriter, op.getLoc(), types,
                                       op.getCondition(), /*withElse=*/true);
  replacement.getThenRegion().takeBody(op.getThenRegion());
  replacement.getElseRegion().takeBody(op.getElseRegion());
  yieldTensors(replacement.getThenRegion().front());
  yieldTensors(replacement.getElseRegion().front());
  replaceByTensors(rewriter, op, replacement);
}

void veeline::autodiff::normalizeLoops(func::FuncOp func) {
  SmallVector<scf::ForOp> loops;
  SmallVector<scf::IfOp> branches;
  forEachOutside<scf::ForOp>(func, [&](scf::ForOp op) { loops.push_back(op); });
  forEachOutside<scf::IfOp>(func,
                            [&](scf::IfOp op) { branches.push_back(op); });
  IRRewriter rewriter(func.getContext());
  for (scf::IfOp op : llvm::reverse(branches))
    giveTensors(rewriter, op);
  for (scf::ForOp loop : llvm::reverse(loops)) {
    moveLoopInvariantCode(cast<LoopLikeOpInterface>(loop.getOperation()));
    carryTensors(rewriter, loop);
  }
}

//===----------------------------------------------------------------------===//
// Results that nobody uses
//===----------------------------------------------------------------------===//

namespace {

/// Finds the values on which a function's results depend. A value that a loop
/// carries is needed only if a needed result of the loop, or another needed
/// carried value, depends on it.
class NeededValues {
public:
  explicit NeededValues(func::FuncOp func) {
    func.walk([&](Operation *op) {
      if (isa<func::ReturnOp>(op) ||
          (!isMemoryEffectFree(op) && !isa<scf::ForOp, scf::IfOp>(op)))
        need(op->getOperands());
    });
    while (!pending.empty())
      follow(pending.pop_back_val());
  }

  bool contains(Value value) const { return needed.contains(value); }

private:
  void need(ValueRange values) {
    for (Value value : values)
      if (needed.insert(value).second)
        pending.push_back(value);
  }

  void followCarried(scf::ForOp loop, unsigned number) {
    need({loop.getResult(number), loop.getRegionIterArg(number),
          loop.getInitArgs()[number], loop.getYieldedValues()[number],
          loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  }

  void follow(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (loop && argument != loop.getInductionVar())
        followCarried(loop, argument.getArgNumber() - 1);
      return;
    }
    auto result = cast<OpResult>(value);
    if (auto loop = dyn_cast<scf::ForOp>(result.getOwner()))
      return followCarried(loop, result.getResultNumber());
    auto branch = dyn_cast<scf::IfOp>(result.getOwner());
    if (!branch)
      return need(getAllOperands(*result.getOwner()));
    need(branch.getCondition());
    need(branch.thenYield().getOperand(result.getResultNumber()));
    need(branch.elseYield().getOperand(result.getResultNumber()));
  }

  DenseSet<Value> needed;
  SmallVector<Value> pending;
};

} // namespace

void veeline::autodiff::dropUnusedResults(func::FuncOp func) {
  NeededValues needed(func);
  bool isChanged = false;
  func.walk([&](scf::ForOp loop) {
    Operation *yield = loop.getBody()->getTerminator();
    for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
      if (!needed.contains(argument)) {
        yield->setOperand(i, argument);
        isChanged = true;
      }
  });
  if (!isChanged)
    return;
  // Upstream's patterns remove carried values that no iteration changes.
  RewritePatternSet patterns(func.getContext());
  for (StringRef name :
       {scf::ForOp::getOperationName(), scf::IfOp::getOperationName()})
    populateRegionBranchOpInterfaceCanonicalizationPatterns(patterns, name);
  (void)applyPatternsGreedily(
      func, std::move(patterns),
      GreedyRewriteConfig()
          .enableFolding(false)
          .enableConstantCSE(false)
          .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled));
}
