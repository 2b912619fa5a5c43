//===- Batch.cpp - --pipe-import-batch ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model for one sample becomes a model for N samples. Every value that
// depends on data gets N times as many elements: one of its dimensions, of
// extent e, gets the extent N * e. The number of the sample is the slower part
// of the index, so that reshapes stay correct. An op that slices, pads or drops
// this dimension needs the samples in a dimension of their own: its operands
// are split before it, and its result is merged after it.
//
//===----------------------------------------------------------------------===//

#include "Model.h"
#include "Samples.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"
#include "veeline/Import/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEIMPORTBATCH
#include "veeline/Import/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

//===----------------------------------------------------------------------===//
// Ops on tensors
//===----------------------------------------------------------------------===//

namespace {
class BatchRewriter {
public:
  BatchRewriter(func::FuncOp model, int64_t size)
      : model(model), samples(size) {}

  LogicalResult run();

private:
  LogicalResult addSamplesToData();
  bool usesSamples(Operation *op);
  LogicalResult rewrite(Operation *op);
  LogicalResult rewriteElementwise(Operation *op);
  LogicalResult rewriteOp(tensor::ExpandShapeOp op);
  LogicalResult rewriteOp(tensor::CollapseShapeOp op);
  LogicalResult rewriteOp(tensor::ReshapeOp op);
  void extractOfEach(tensor::ExtractSliceOp op,
                     const llvm::SmallBitVector &dropped);
  LogicalResult rewriteOp(tensor::ExtractSliceOp op);
  llvm::SmallBitVector findDropped(tensor::InsertSliceOp op,
                                   std::optional<unsigned> dimension);
  void insertOfEach(tensor::InsertSliceOp op, unsigned dimension,
                    unsigned dropped);
  LogicalResult rewriteOp(tensor::InsertSliceOp op);
  LogicalResult rewriteOp(tensor::PadOp op);
  LogicalResult rewriteOp(tensor::ConcatOp op);
  LogicalResult rewriteOp(linalg::SoftmaxOp op);
  llvm::SmallSetVector<unsigned, 4> findCarried(scf::ForOp loop);
  LogicalResult rewriteOp(scf::ForOp loop);
  LogicalResult rewriteOp(scf::IfOp branches);
  void giveSamples(OpOperand &operand, Value like);
  LogicalResult rewriteBlock(Block &block);
  void rewriteResults();

  func::FuncOp model;
  Samples samples;
};
} // namespace

static LogicalResult refuseData(BlockArgument argument) {
  auto type = cast<RankedTensorType>(argument.getType());
  InFlightDiagnostic diagnostic =
      emitError(argument.getLoc())
      << "argument " << argument.getArgNumber() << " has the type " << type
      << ": --microbatch-size needs data of one sample, of a leading "
         "dimension of 1; ";
  if (type.getRank() == 0)
    return diagnostic << "--buffer names what is the same for all samples";
  diagnostic << "this file has its own size";
  diagnostic.attachNote()
      << "leave the option out: a microbatch is what the file takes then, "
         "which "
         "has "
      << type.getDimSize(0)
      << " as its leading dimension; or --buffer names it, if it is the same "
         "for all samples";
  return diagnostic;
}

LogicalResult BatchRewriter::addSamplesToData() {
  bool hasData = false;
  for (BlockArgument argument : model.getArguments()) {
    if (!model.getArgAttr(argument.getArgNumber(),
                          pipe::PipeDialect::batchAttrName))
      continue;
    auto type = cast<RankedTensorType>(argument.getType());
    if (type.getRank() == 0 || type.getDimSize(0) != 1)
      return refuseData(argument);
    argument.setType(samples.scale(type, 0));
    samples.set(argument, 0);
    hasData = true;
  }
  if (hasData)
    return success();
  return model.emitError("--microbatch-size: the model has no data, "
                         "which would have samples");
}

/// Whether the op, or an op nested in it, uses a value with samples.
bool BatchRewriter::usesSamples(Operation *op) {
  bool uses = false;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      uses |= samples.dimensionOf(operand).has_value();
  });
  return uses;
}

/// Gives all tensors of the op samples in the same dimension.
LogicalResult BatchRewriter::rewriteElementwise(Operation *op) {
  std::optional<unsigned> dimension;
  for (OpOperand &operand : op->getOpOperands())
    if (auto found = samples.dimensionOf(operand.get())) {
      if (!dimension)
        dimension = found;
      else
        samples.move(operand, *dimension);
    }
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      samples.ensure(operand, *dimension);
  for (Value result : op->getResults())
    samples.scale(result, *dimension);
  return success();
}

static SmallVector<ReassociationIndices> oneGroup(int64_t rank) {
  SmallVector<ReassociationIndices> groups(1);
  llvm::append_range(groups.front(), llvm::seq<int64_t>(0, rank));
  return groups;
}

/// Creates a new value of the same type. A value is either a scalar of each
/// sample or not, so a value that changes between the two needs another name.
static Value rename(OpBuilder &builder, Value value) {
  return tensor::CastOp::create(builder, value.getLoc(), value.getType(),
                                value);
}

LogicalResult BatchRewriter::rewriteOp(tensor::ExpandShapeOp op) {
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  int64_t rank = op.getResultType().getRank();
  OpBuilder builder(op);
  if (rank <= 1) {
    samples.replace(op, rename(builder, op.getSrc()), 0);
    return success();
  }
  if (groups.empty())
    groups = oneGroup(rank);
  unsigned dimension = groups[*samples.dimensionOf(op.getSrc())].front();
  Value result = tensor::ExpandShapeOp::create(
      builder, op.getLoc(), samples.scale(op.getResultType(), dimension),
      op.getSrc(), groups);
  samples.replace(op, result, dimension);
  return success();
}

/// Collapses all dimensions to one.
static Value collapseAll(OpBuilder &builder, Value value) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  if (rank <= 1)
    return rename(builder, value);
  return tensor::CollapseShapeOp::create(builder, value.getLoc(), value,
                                         oneGroup(rank));
}

LogicalResult BatchRewriter::rewriteOp(tensor::CollapseShapeOp op) {
  if (op.getResultType().getRank() == 0) {
    OpBuilder builder(op);
    samples.replace(op, collapseAll(builder, op.getSrc()), 0);
    return success();
  }
  unsigned dimension = *samples.dimensionOf(op.getSrc());
  for (auto [group, indices] : llvm::enumerate(op.getReassociationIndices())) {
    if (!llvm::is_contained(indices, dimension))
      continue;
    // In a merged dimension, samples have to be the slower part of the index.
    samples.move(op.getSrcMutable(), indices.front());
    samples.scale(op.getResult(), group);
  }
  return success();
}

/// Reshapes each sample. The intermediate form has one dimension for all
/// elements of a sample.
LogicalResult BatchRewriter::rewriteOp(tensor::ReshapeOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getResult().getType());
  if (!type || !type.hasStaticShape() || !samples.dimensionOf(op.getSource()))
    return Samples::refuse(op, "its shape is not static");
  OpBuilder builder(op);
  Value flat = collapseAll(builder, samples.widen(builder, op.getSource(), 0));
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), samples.getSize());
  Value wide = flat;
  if (shape.size() > 1)
    wide = tensor::ExpandShapeOp::create(
        builder, op.getLoc(), type.clone(shape), flat, oneGroup(shape.size()));
  samples.replaceByWide(op, wide, 0);
  return success();
}

/// Whether a slice takes all `extent` elements of the dimension.
template <typename OpT>
static bool isWhole(OpT op, unsigned dimension, int64_t extent) {
  return isConstantIntValue(op.getMixedOffsets()[dimension], 0) &&
         isConstantIntValue(op.getMixedSizes()[dimension], extent) &&
         isConstantIntValue(op.getMixedStrides()[dimension], 1);
}

/// Inserts `number` for the dimension of samples into offsets, sizes or
/// strides.
static SmallVector<OpFoldResult> insertNumber(ArrayRef<OpFoldResult> numbers,
                                              unsigned at, int64_t number,
                                              Builder builder) {
  SmallVector<OpFoldResult> wide(numbers);
  wide.insert(wide.begin() + at, builder.getIndexAttr(number));
  return wide;
}

static SmallVector<OpFoldResult> withSize(ArrayRef<OpFoldResult> sizes,
                                          unsigned dimension, int64_t size,
                                          Builder builder) {
  SmallVector<OpFoldResult> changed(sizes);
  changed[dimension] = builder.getIndexAttr(size);
  return changed;
}

/// The number of dropped dimensions before `dimension`.
static unsigned countDropped(const llvm::SmallBitVector &dropped,
                             unsigned dimension) {
  unsigned count = 0;
  for (unsigned i = 0; i < dimension; ++i)
    count += dropped.test(i);
  return count;
}

/// Makes sure that `dimension` is not dropped, if a dimension of size 1 next to
/// it can be dropped instead.
static void keepDimension(llvm::SmallBitVector &dropped, unsigned dimension,
                          ArrayRef<int64_t> sizes) {
  if (!dropped.test(dimension))
    return;
  auto takesPlace = [&](unsigned other) {
    if (dropped.test(other))
      return false;
    dropped.reset(dimension);
    dropped.set(other);
    return true;
  };
  for (unsigned i = dimension; i < sizes.size() && sizes[i] == 1; ++i)
    if (takesPlace(i))
      return;
  for (int i = dimension; i >= 0 && sizes[i] == 1; --i)
    if (takesPlace(i))
      return;
}

/// Slices a dimension within each sample.
void BatchRewriter::extractOfEach(tensor::ExtractSliceOp op,
                                  const llvm::SmallBitVector &dropped) {
  unsigned dimension = *samples.dimensionOf(op.getSource());
  unsigned to = dimension - countDropped(dropped, dimension);
  OpBuilder builder(op);
  SmallVector<int64_t> shape(op.getType().getShape());
  shape.insert(shape.begin() + to, samples.getSize());
  Value slice = tensor::ExtractSliceOp::create(
      builder, op.getLoc(), op.getType().clone(shape),
      samples.widen(builder, op.getSource(), dimension),
      insertNumber(op.getMixedOffsets(), dimension, 0, builder),
      insertNumber(op.getMixedSizes(), dimension, samples.getSize(), builder),
      insertNumber(op.getMixedStrides(), dimension, 1, builder));
  samples.replaceByWide(op, slice, to);
}

LogicalResult BatchRewriter::rewriteOp(tensor::ExtractSliceOp op) {
  auto found = samples.dimensionOf(op.getSource());
  if (!found || samples.isScalar(op.getSource()))
    return Samples::refuse(op, "it has no rule for samples");
  unsigned dimension = *found;
  int64_t extent = op.getSourceType().getDimSize(dimension);
  llvm::SmallBitVector dropped = op.getDroppedDims();
  keepDimension(dropped, dimension, op.getStaticSizes());
  if (!isWhole(op, dimension, extent / samples.getSize()) ||
      dropped.test(dimension)) {
    extractOfEach(op, dropped);
    return success();
  }
  unsigned to = dimension - countDropped(dropped, dimension);
  OpBuilder builder(op);
  Value result = tensor::ExtractSliceOp::create(
      builder, op.getLoc(), samples.scale(op.getType(), to), op.getSource(),
      op.getMixedOffsets(),
      withSize(op.getMixedSizes(), dimension, extent, builder),
      op.getMixedStrides());
  samples.replace(op, result, to);
  return success();
}

/// Finds the dimensions of the result that the source lacks, from its shape for
/// one sample.
llvm::SmallBitVector
BatchRewriter::findDropped(tensor::InsertSliceOp op,
                           std::optional<unsigned> dimension) {
  SmallVector<int64_t> shape(op.getSourceType().getShape());
  if (samples.isScalar(op.getSource()))
    shape.clear();
  else if (dimension)
    shape[*dimension] /= samples.getSize();
  llvm::SmallBitVector dropped(op.getStaticSizes().size());
  auto mask = computeRankReductionMask(op.getStaticSizes(), shape);
  for (unsigned i = 0; mask && i < dropped.size(); ++i)
    dropped[i] = mask->contains(i);
  return dropped;
}

/// Inserts into a dimension within each sample. The source lacks `dropped` of
/// the dimensions before it.
void BatchRewriter::insertOfEach(tensor::InsertSliceOp op, unsigned dimension,
                                 unsigned dropped) {
  OpBuilder builder(op);
  Value result = tensor::InsertSliceOp::create(
      builder, op.getLoc(),
      samples.widen(builder, op.getSource(), dimension - dropped),
      samples.widen(builder, op.getDest(), dimension),
      insertNumber(op.getMixedOffsets(), dimension, 0, builder),
      insertNumber(op.getMixedSizes(), dimension, samples.getSize(), builder),
      insertNumber(op.getMixedStrides(), dimension, 1, builder));
  samples.replaceByWide(op, result, dimension);
}

LogicalResult BatchRewriter::rewriteOp(tensor::InsertSliceOp op) {
  auto source = samples.dimensionOf(op.getSource());
  auto found = samples.dimensionOf(op.getDest());
  if (op.getDestType().getRank() == 0 || (!source && !found))
    return Samples::refuse(op, "it has no rule for samples");
  llvm::SmallBitVector dropped = findDropped(op, source);
  for (unsigned i = 0; source && !found && i < dropped.size(); ++i)
    if (!dropped.test(i) && i - countDropped(dropped, i) == *source)
      found = i;
  unsigned dest = found.value_or(0);
  keepDimension(dropped, dest, op.getStaticSizes());
  unsigned from = dest - countDropped(dropped, dest);
  // The type of the result is still that for one sample.
  int64_t extent = op.getType().getDimSize(dest);
  if (dropped.test(dest) || !isWhole(op, dest, extent)) {
    insertOfEach(op, dest, dest - from);
    return success();
  }
  if (source)
    samples.move(op.getSourceMutable(), from);
  samples.ensure(op.getSourceMutable(), from);
  samples.ensure(op.getDestMutable(), dest);
  OpBuilder builder(op);
  Value result = tensor::InsertSliceOp::create(
      builder, op.getLoc(), op.getSource(), op.getDest(), op.getMixedOffsets(),
      withSize(op.getMixedSizes(), dest, extent * samples.getSize(), builder),
      op.getMixedStrides());
  samples.replace(op, result, dest);
  return success();
}

LogicalResult BatchRewriter::rewriteOp(tensor::PadOp op) {
  auto found = samples.dimensionOf(op.getSource());
  if (!found || samples.isScalar(op.getSource()))
    return Samples::refuse(op, "it has no rule for samples");
  unsigned dimension = *found;
  if (isConstantIntValue(op.getMixedLowPad()[dimension], 0) &&
      isConstantIntValue(op.getMixedHighPad()[dimension], 0)) {
    samples.scale(op.getResult(), dimension);
    return success();
  }
  OpBuilder builder(op);
  SmallVector<int64_t> shape(op.getResultType().getShape());
  shape.insert(shape.begin() + dimension, samples.getSize());
  auto wide = tensor::PadOp::create(
      builder, op.getLoc(), op.getResultType().clone(shape),
      samples.widen(builder, op.getSource(), dimension),
      insertNumber(op.getMixedLowPad(), dimension, 0, builder),
      insertNumber(op.getMixedHighPad(), dimension, 0, builder),
      op.getNofold());
  wide.getRegion().takeBody(op.getRegion());
  wide.getRegion().front().insertArgument(dimension, builder.getIndexType(),
                                          op.getLoc());
  samples.replaceByWide(op, wide, dimension);
  return success();
}

/// The dimension of samples of the first operand that has samples.
static unsigned commonDimension(const Samples &samples, Operation *op) {
  for (Value operand : op->getOperands())
    if (auto dimension = samples.dimensionOf(operand))
      return *dimension;
  return 0;
}

LogicalResult BatchRewriter::rewriteOp(tensor::ConcatOp op) {
  unsigned dimension = commonDimension(samples, op);
  if (dimension != op.getDim())
    return rewriteElementwise(op);
  OpBuilder builder(op);
  SmallVector<Value> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(samples.widen(builder, input, dimension));
  Value wide =
      tensor::ConcatOp::create(builder, op.getLoc(), op.getDim() + 1, inputs);
  samples.replaceByWide(op, wide, dimension);
  return success();
}

LogicalResult BatchRewriter::rewriteOp(linalg::SoftmaxOp op) {
  unsigned dimension = commonDimension(samples, op);
  if (dimension != op.getDimension())
    return rewriteElementwise(op);
  OpBuilder builder(op);
  Value input = samples.widen(builder, op.getInput(), dimension);
  Value output = samples.widen(builder, op.getOutput(), dimension);
  auto wide = linalg::SoftmaxOp::create(builder, op.getLoc(), output.getType(),
                                        input, output, op.getDimension() + 1);
  samples.replaceByWide(op, wide->getResult(0), dimension);
  return success();
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

/// Adds to `found` the values that depend on samples or on values in `found`.
static void findDependents(Block &block, const Samples &samples,
                           llvm::DenseSet<Value> &found) {
  for (Operation &op : block) {
    bool depends = false;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        depends |= samples.dimensionOf(operand) || found.contains(operand);
    });
    if (depends)
      found.insert_range(op.getResults());
  }
}

/// Finds the carried values that have samples, initially or after some
/// iteration.
llvm::SmallSetVector<unsigned, 4> BatchRewriter::findCarried(scf::ForOp loop) {
  llvm::SmallSetVector<unsigned, 4> carried;
  for (auto [i, init] : llvm::enumerate(loop.getInitArgs()))
    if (samples.dimensionOf(init))
      carried.insert(i);
  size_t before = 0;
  do {
    before = carried.size();
    llvm::DenseSet<Value> found;
    for (unsigned i : carried)
      found.insert(loop.getRegionIterArg(i));
    findDependents(*loop.getBody(), samples, found);
    for (auto [i, value] : llvm::enumerate(loop.getYieldedValues()))
      if (samples.dimensionOf(value) || found.contains(value))
        carried.insert(i);
  } while (carried.size() != before);
  return carried;
}

/// Whether a slice of the value, or an insertion into it, covers only part of
/// the dimension.
static bool isSliced(Value value, unsigned dimension, int64_t extent) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user))
      return !isWhole(slice, dimension, extent);
    auto slice = dyn_cast<tensor::InsertSliceOp>(user);
    return slice && slice.getDest() == value &&
           !isWhole(slice, dimension, extent);
  });
}

/// Chooses the dimension in which a loop carries the samples of a value.
/// Preferred is one that no iteration slices, so that the value can stay in one
/// place in memory. Next is the one that has the samples already, then one of
/// extent 1.
static unsigned chooseCarriedDimension(Value carried,
                                       std::optional<unsigned> own) {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(carried.getType()).getShape();
  auto rate = [&](unsigned dimension) {
    return 4 * !isSliced(carried, dimension, shape[dimension]) +
           2 * (own == dimension) + (shape[dimension] == 1);
  };
  unsigned best = 0;
  for (unsigned i = 1; i < shape.size(); ++i)
    if (rate(i) > rate(best))
      best = i;
  return best;
}

/// Gives the operand samples in the same dimension as `like`.
void BatchRewriter::giveSamples(OpOperand &operand, Value like) {
  unsigned dimension = *samples.dimensionOf(like);
  samples.ensure(operand, dimension);
  samples.move(operand, dimension);
}

/// If an iteration ends by merging samples with another dimension, makes the
/// loop carry the value before the merge. A reshape from one iteration to the
/// next would keep the value from staying in one place in memory. Returns the
/// merged result.
static Value carryUnmerged(scf::ForOp loop, unsigned number) {
  OpOperand &yielded = (*loop.getYieldedValuesMutable())[number];
  auto merge = yielded.get().getDefiningOp<tensor::CollapseShapeOp>();
  Value result = loop.getResult(number);
  if (!merge || merge->getBlock() != loop.getBody())
    return result;
  RankedTensorType type = merge.getSrcType(), merged = merge.getResultType();
  SmallVector<ReassociationIndices> groups = merge.getReassociationIndices();
  Location location = loop.getLoc();
  OpBuilder builder(loop);
  OpOperand &init = loop.getInitArgsMutable()[number];
  init.set(tensor::ExpandShapeOp::create(builder, location, type, init.get(),
                                         groups));
  BlockArgument carried = loop.getRegionIterArg(number);
  carried.setType(type);
  builder.setInsertionPointToStart(loop.getBody());
  auto inside = tensor::CollapseShapeOp::create(builder, location, merged,
                                                carried, groups);
  carried.replaceAllUsesExcept(inside, inside);
  yielded.set(merge.getSrc());
  result.setType(type);
  builder.setInsertionPointAfter(loop);
  auto outside = tensor::CollapseShapeOp::create(builder, location, merged,
                                                 result, groups);
  result.replaceAllUsesExcept(outside, outside);
  return outside;
}

LogicalResult BatchRewriter::rewriteOp(scf::ForOp loop) {
  llvm::SmallSetVector<unsigned, 4> carried = findCarried(loop);
  for (unsigned i : carried) {
    OpOperand &init = loop.getInitArgsMutable()[i];
    if (!isa<RankedTensorType>(init.get().getType()))
      return Samples::refuse(loop, "it carries a scalar of each sample");
    unsigned dimension = chooseCarriedDimension(
        loop.getRegionIterArg(i), samples.dimensionOf(init.get()));
    samples.ensure(init, dimension);
    samples.move(init, dimension);
    samples.scale(loop.getRegionIterArg(i), dimension);
    samples.scale(loop.getResult(i), dimension);
  }
  if (failed(rewriteBlock(*loop.getBody())))
    return failure();
  MutableArrayRef<OpOperand> yielded = *loop.getYieldedValuesMutable();
  for (unsigned i : carried) {
    giveSamples(yielded[i], loop.getRegionIterArg(i));
    unsigned dimension = *samples.dimensionOf(loop.getResult(i));
    samples.set(carryUnmerged(loop, i), dimension);
  }
  return success();
}

LogicalResult BatchRewriter::rewriteOp(scf::IfOp branches) {
  if (failed(rewriteBlock(*branches.thenBlock())) ||
      (branches.elseBlock() && failed(rewriteBlock(*branches.elseBlock()))))
    return failure();
  for (OpResult result : branches.getResults()) {
    OpOperand &one =
        branches.thenYield()->getOpOperand(result.getResultNumber());
    OpOperand &other =
        branches.elseYield()->getOpOperand(result.getResultNumber());
    Value like = samples.dimensionOf(one.get()) ? one.get() : other.get();
    if (!samples.dimensionOf(like))
      continue;
    giveSamples(one, like);
    giveSamples(other, like);
    samples.scale(result, *samples.dimensionOf(like));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// All ops
//===----------------------------------------------------------------------===//

LogicalResult BatchRewriter::rewrite(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](linalg::LinalgOp structured) {
        return addSamples(structured, samples);
      })
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp,
            tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::PadOp,
            tensor::ConcatOp, linalg::SoftmaxOp, scf::ForOp, scf::IfOp>(
          [&](auto one) { return rewriteOp(one); })
      .Default([&](Operation *other) {
        bool isStatic = llvm::all_of(other->getResultTypes(), [](Type type) {
          auto tensor = dyn_cast<RankedTensorType>(type);
          return tensor && tensor.hasStaticShape();
        });
        if (isStatic &&
            (isa<tensor::CastOp, pipe::BoundaryOp, math::SincosOp>(other) ||
             OpTrait::hasElementwiseMappableTraits(other)))
          return rewriteElementwise(other);
        return Samples::refuse(other, "it has no rule for samples");
      });
}

LogicalResult BatchRewriter::rewriteBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (usesSamples(&op) && failed(rewrite(&op)))
      return failure();
  return success();
}

/// Moves the samples of results to the first dimension, where targets have
/// them. A result of rank 1, such as the logits of classes, gets a new
/// dimension for them.
void BatchRewriter::rewriteResults() {
  Operation *end = model.getBody().front().getTerminator();
  OpBuilder builder(end);
  for (OpOperand &result : end->getOpOperands()) {
    if (!samples.dimensionOf(result.get()) || samples.isScalar(result.get()))
      continue;
    if (cast<RankedTensorType>(result.get().getType()).getRank() == 1)
      result.set(samples.widen(builder, result.get(), 0));
    else
      samples.move(result, 0);
  }
}

LogicalResult BatchRewriter::run() {
  if (failed(addSamplesToData()) ||
      failed(rewriteBlock(model.getBody().front())))
    return failure();
  rewriteResults();
  updateType(model);
  return success();
}

namespace {
struct ImportBatch : veeline::impl::PipeImportBatchBase<ImportBatch> {
  using PipeImportBatchBase::PipeImportBatchBase;

  void runOnOperation() override {
    if (microbatchSize == 1)
      return;
    FailureOr<func::FuncOp> model = getChosenModel(getOperation());
    if (failed(model))
      return signalPassFailure();
    if (microbatchSize < 1) {
      model->emitError("--microbatch-size: expected 1 or more, found ")
          << microbatchSize;
      return signalPassFailure();
    }
    if (failed(BatchRewriter(*model, microbatchSize).run()))
      signalPassFailure();
  }
};
} // namespace
