//===- SplitReductions.cpp - reductions in two stages ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopNest.h"
#include "RowRules.h"
#include "StructuredOps.h"
#include "veeline/Analysis/Convolution.h"
#include "veeline/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace veeline {
#define GEN_PASS_DEF_PIPESPLITREDUCTIONS
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

//===----------------------------------------------------------------------===//
// How an op is split
//===----------------------------------------------------------------------===//

/// The number of threads that keeps a device busy.
static constexpr int64_t enoughThreads = 1 << 16;
/// Fewer iterations take less time than starting a second kernel.
static constexpr int64_t minIterations = 1 << 17;
/// The minimal size of a part: elements of a row, or rows of columns, which
/// eight groups of threads share.
static constexpr int64_t minRowPart = 1024, minColumnPart = 128;
/// A warp can process rows of at most `shortRow` elements. If a kernel also
/// sums such rows, each of its blocks has a part of them. So parts are short,
/// and there are at least as many as a device has multiprocessors.
static constexpr int64_t shortRow = 1024, minShortPart = 32,
                         enoughShortParts = 128;
/// If a reduction has not even this many parts, its threads do not work for
/// long anyway.
static constexpr int64_t minParts = 8;

namespace {

/// The iterations of an op.
struct Extents {
  int64_t parallel = 1, reduced = 1;
  /// Whether the innermost loop is a reduction: a team of threads then has each
  /// row.
  bool isRow = false;

  /// The number of threads if each reduction is done in `parts`.
  int64_t countThreads(int64_t parts) const {
    int64_t rest = reduced / parts;
    if (isRow)
      return parallel * parts * RowTeam::get(rest, /*lanes=*/4).threads;
    return llvm::alignTo(parallel, 32) * 8 * parts;
  }
  bool isOfShortRows() const { return !isRow && parallel <= shortRow; }
  int64_t minPart() const {
    return isRow ? minRowPart : isOfShortRows() ? minShortPart : minColumnPart;
  }
  /// The number of threads that is enough, for an op that is split.
  int64_t getEnoughThreads() const {
    return isOfShortRows()
               ? std::max(enoughThreads, countThreads(enoughShortParts))
               : enoughThreads;
  }
};

/// The iterations of a reduction that its first stage runs in parallel: those
/// of all reduced loops before `loop`, and `parts` of `loop` itself.
struct Split {
  unsigned loop = 0;
  int64_t parts = 1;
};

} // namespace

static Extents getExtents(linalg::GenericOp op, ArrayRef<int64_t> sizes) {
  Extents extents;
  for (auto [size, kind] : llvm::zip_equal(sizes, op.getIteratorTypesArray())) {
    if (size == 1)
      continue;
    extents.isRow = kind == utils::IteratorType::reduction;
    (extents.isRow ? extents.reduced : extents.parallel) *= size;
  }
  return extents;
}

/// Chooses the smallest number of parts that keeps a device busy, or else the
/// one with the most threads. None if the op should not be split.
static std::optional<Split> chooseSplit(linalg::GenericOp op,
                                        ArrayRef<int64_t> sizes) {
  Extents extents = getExtents(op, sizes);
  int64_t threads = extents.countThreads(1);
  if (extents.parallel * extents.reduced < minIterations ||
      extents.reduced <
          minParts * (extents.isRow ? minRowPart : minColumnPart) ||
      2 * threads > enoughThreads)
    return std::nullopt;
  std::optional<Split> best;
  int64_t outer = 1;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (kind != utils::IteratorType::reduction)
      continue;
    for (int64_t parts = 2; parts <= sizes[loop]; ++parts) {
      if (sizes[loop] % parts)
        continue;
      int64_t all = outer * parts;
      if (extents.reduced / all < extents.minPart())
        return best;
      if (extents.countThreads(all) <= threads)
        continue;
      threads = extents.countThreads(all);
      best = {static_cast<unsigned>(loop), parts};
      if (threads >= extents.getEnoughThreads())
        return best;
    }
    outer *= sizes[loop];
  }
  return best;
}

/// The combiners of all outputs. None if the order of a reduction might matter
/// for more than rounding, if a dimension of an operand is not a loop, or if
/// the op is a product or convolution of the library.
static std::optional<SmallVector<NestReduction>>
matchReductions(linalg::GenericOp op) {
  if (!op.getNumReductionLoops() || !op.hasPureTensorSemantics() ||
      isMatrixProduct(op) || isLibraryConvolution(op, KernelTarget::Cuda))
    return std::nullopt;
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isProjectedPermutation())
      return std::nullopt;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<NestReduction> reductions;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
      if (kinds[cast<AffineDimExpr>(expr).getPosition()] ==
          utils::IteratorType::reduction)
        return std::nullopt;
    unsigned index = init.getOperandNumber() - op.getNumDpsInputs();
    reductions.push_back(getReduction(op, index));
    if (!reductions.back().combiner)
      return std::nullopt;
  }
  return reductions;
}

//===----------------------------------------------------------------------===//
// The two stages
//===----------------------------------------------------------------------===//

namespace {

/// Replaces a reduction by one that computes parts, and one that combines them.
class Splitter {
public:
  Splitter(RewriterBase &rewriter, linalg::GenericOp op,
           ArrayRef<int64_t> sizes, ArrayRef<NestReduction> reductions,
           Split split)
      : rewriter(rewriter), op(op), sizes(sizes), reductions(reductions),
        split(split), kinds(op.getIteratorTypesArray()),
        isDivided(split.parts < sizes[split.loop]) {}

  void run();

private:
  unsigned getNumLoops() { return op.getNumLoops() + isDivided; }
  /// The loop of the first stage that corresponds to a loop of the op. For the
  /// divided loop, that over the parts.
  unsigned getLoop(unsigned loop) const {
    return loop + (isDivided && loop > split.loop);
  }
  bool isPart(unsigned loop) const {
    return kinds[loop] == utils::IteratorType::reduction && loop <= split.loop;
  }
  AffineMap convertMap(AffineMap map);
  Value expand(Value input, AffineMap map);
  Value createStart(unsigned output);
  void cloneBody(OpBuilder &builder, Location loc, ValueRange arguments);
  linalg::GenericOp createParts();
  linalg::GenericOp combineParts(linalg::GenericOp parts);

  RewriterBase &rewriter;
  linalg::GenericOp op;
  ArrayRef<int64_t> sizes;
  ArrayRef<NestReduction> reductions;
  Split split;
  SmallVector<utils::IteratorType> kinds;
  bool isDivided;
  /// The loops of the op for which the parts have dimensions.
  SmallVector<unsigned> partLoops;
  SmallVector<int64_t> partSizes;
};

} // namespace

/// `map`, expressed in the loops of the first stage.
AffineMap Splitter::convertMap(AffineMap map) {
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults()) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    results.push_back(rewriter.getAffineDimExpr(getLoop(loop)));
    if (isDivided && loop == split.loop)
      results.push_back(rewriter.getAffineDimExpr(loop + 1));
  }
  return AffineMap::get(getNumLoops(), 0, results, rewriter.getContext());
}

/// Adds a dimension for the parts of the divided loop to `input`.
Value Splitter::expand(Value input, AffineMap map) {
  std::optional<unsigned> divided =
      map.getResultPosition(rewriter.getAffineDimExpr(split.loop));
  if (!isDivided || !divided)
    return input;
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups;
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    ReassociationIndices &group = groups.emplace_back();
    auto add = [&](int64_t extent) {
      group.push_back(static_cast<int64_t>(shape.size()));
      shape.push_back(extent);
    };
    if (i == *divided)
      add(split.parts);
    add(i == *divided ? size / split.parts : size);
  }
  return tensor::ExpandShapeOp::create(
      rewriter, op.getLoc(),
      RankedTensorType::get(shape, type.getElementType()), input, groups);
}

/// The init of the parts: the neutral element of the combiner.
Value Splitter::createStart(unsigned output) {
  Type element = getElementTypeOrSelf(op.getOutputs()[output].getType());
  Value neutral = arith::ConstantOp::create(
      rewriter, op.getLoc(),
      getNeutralElement(reductions[output].combiner, element));
  Value empty =
      tensor::EmptyOp::create(rewriter, op.getLoc(), partSizes, element);
  return linalg::FillOp::create(rewriter, op.getLoc(), neutral, empty)
      .getResult(0);
}

void Splitter::cloneBody(OpBuilder &builder, Location loc,
                         ValueRange arguments) {
  IRMapping mapping;
  mapping.map(op.getBlock()->getArguments(), arguments);
  for (Operation &inner : *op.getBlock()) {
    auto index = dyn_cast<linalg::IndexOp>(inner);
    if (!index) {
      builder.clone(inner, mapping);
      continue;
    }
    unsigned loop = index.getDim();
    Value value = linalg::IndexOp::create(builder, loc, getLoop(loop));
    if (isDivided && loop == split.loop) {
      Value size = arith::ConstantIndexOp::create(builder, loc,
                                                  sizes[loop] / split.parts);
      Value start = arith::MulIOp::create(builder, loc, value, size);
      Value rest = linalg::IndexOp::create(builder, loc, loop + 1);
      value = arith::AddIOp::create(builder, loc, start, rest);
    }
    mapping.map(index.getResult(), value);
  }
}

linalg::GenericOp Splitter::createParts() {
  SmallVector<utils::IteratorType> iterators;
  SmallVector<AffineExpr> partDims;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    bool isParallel =
        isPart(loop) || kinds[loop] == utils::IteratorType::parallel;
    iterators.push_back(isParallel ? utils::IteratorType::parallel
                                   : utils::IteratorType::reduction);
    bool isSplit = isDivided && loop == split.loop;
    if (isSplit)
      iterators.push_back(utils::IteratorType::reduction);
    if (!isParallel)
      continue;
    partLoops.push_back(loop);
    partSizes.push_back(isSplit ? split.parts : sizes[loop]);
    partDims.push_back(rewriter.getAffineDimExpr(getLoop(loop)));
  }
  SmallVector<Value> inputs, starts;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    inputs.push_back(expand(input->get(), map));
    maps.push_back(convertMap(map));
  }
  for (unsigned output = 0; output < op.getOutputs().size(); ++output) {
    starts.push_back(createStart(output));
    maps.push_back(
        AffineMap::get(getNumLoops(), 0, partDims, rewriter.getContext()));
  }
  return linalg::GenericOp::create(
      rewriter, op.getLoc(), TypeRange(starts), inputs, starts, maps, iterators,
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        cloneBody(builder, loc, arguments);
      });
}

linalg::GenericOp Splitter::combineParts(linalg::GenericOp parts) {
  SmallVector<utils::IteratorType> iterators;
  for (unsigned loop : partLoops)
    iterators.push_back(isPart(loop) ? utils::IteratorType::reduction
                                     : utils::IteratorType::parallel);
  unsigned numLoops = partLoops.size();
  SmallVector<AffineMap> maps(parts->getNumResults(),
                              rewriter.getMultiDimIdentityMap(numLoops));
  for (OpOperand &init : op.getDpsInitsMutable()) {
    SmallVector<AffineExpr> results;
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults()) {
      auto *it = llvm::find(partLoops, cast<AffineDimExpr>(expr).getPosition());
      results.push_back(rewriter.getAffineDimExpr(it - partLoops.begin()));
    }
    maps.push_back(AffineMap::get(numLoops, 0, results, rewriter.getContext()));
  }
  return linalg::GenericOp::create(
      rewriter, op.getLoc(), op.getResultTypes(), parts.getResults(),
      op.getOutputs(), maps, iterators,
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        SmallVector<Value> combined;
        for (auto [i, reduction] : llvm::enumerate(reductions)) {
          IRMapping mapping;
          mapping.map(reduction.value, arguments[i]);
          mapping.map(op.getBlock()->getArgument(op.getNumDpsInputs() + i),
                      arguments[reductions.size() + i]);
          combined.push_back(
              builder.clone(*reduction.combiner, mapping)->getResult(0));
        }
        linalg::YieldOp::create(builder, loc, combined);
      });
}

void Splitter::run() {
  rewriter.setInsertionPoint(op);
  linalg::GenericOp parts = createParts();
  rewriter.replaceOp(op, combineParts(parts));
}

namespace {

struct SplitReductions
    : veeline::impl::PipeSplitReductionsBase<SplitReductions> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops) {
      auto reductions = matchReductions(op);
      SmallVector<int64_t> sizes = op.getStaticLoopRanges();
      if (!reductions || llvm::any_of(sizes, ShapedType::isDynamic))
        continue;
      if (std::optional<Split> split = chooseSplit(op, sizes))
        Splitter(rewriter, op, sizes, *reductions, *split).run();
    }
  }
};

} // namespace
