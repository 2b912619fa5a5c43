//===- Batch.cpp - --pipe-import-batch ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file for one sample becomes one for N. Every value that depends on data
// gets N times as many elements: one of its dimensions, of extent e, becomes N
// * e, with the sample as the slower part, so that reshapes keep their meaning.
// No op may mix samples: where one would, it is an error at it.
//
//===----------------------------------------------------------------------===//

#include "Model.h"
#include "Samples.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"
#include "veeline/Import/Passes.h"

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
  LogicalResult rewriteExpand(tensor::ExpandShapeOp op);
  LogicalResult rewriteCollapse(tensor::CollapseShapeOp op);
  LogicalResult extractOfEach(tensor::ExtractSliceOp op, unsigned dimension);
  LogicalResult rewriteExtract(tensor::ExtractSliceOp op);
  llvm::SmallBitVector findDropped(tensor::InsertSliceOp op,
                                   std::optional<unsigned> dimension);
  LogicalResult rewriteInsert(tensor::InsertSliceOp op);
  LogicalResult rewritePad(tensor::PadOp op);
  LogicalResult rewriteConcat(tensor::ConcatOp op);
  LogicalResult rewriteSoftmax(linalg::SoftmaxOp op);

  func::FuncOp model;
  Samples samples;
};
} // namespace

LogicalResult BatchRewriter::addSamplesToData() {
  bool hasData = false;
  for (BlockArgument argument : model.getArguments()) {
    if (!model.getArgAttr(argument.getArgNumber(),
                          pipe::PipeDialect::batchAttrName))
      continue;
    auto type = cast<RankedTensorType>(argument.getType());
    if (type.getRank() == 0 || type.getDimSize(0) != 1)
      return emitError(argument.getLoc())
             << "argument " << argument.getArgNumber() << " has the type "
             << type
             << ": option 'microbatch-size' needs data of one sample, of a "
                "leading dimension of 1; this file has its own size";
    argument.setType(samples.scale(type, 0));
    samples.set(argument, 0);
    hasData = true;
  }
  if (hasData)
    return success();
  return model.emitError("option 'microbatch-size': the model has no data, "
                         "which would have samples");
}

/// Also by ops within it.
bool BatchRewriter::usesSamples(Operation *op) {
  bool uses = false;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      uses |= samples.dimensionOf(operand).has_value();
  });
  return uses;
}

/// All tensors have the same shape.
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

LogicalResult BatchRewriter::rewriteExpand(tensor::ExpandShapeOp op) {
  unsigned group = *samples.dimensionOf(op.getSrc());
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  unsigned dimension = groups[group].front();
  OpBuilder builder(op);
  Value result = tensor::ExpandShapeOp::create(
      builder, op.getLoc(), samples.scale(op.getResultType(), dimension),
      op.getSrc(), groups);
  samples.replace(op, result, dimension);
  return success();
}

LogicalResult BatchRewriter::rewriteCollapse(tensor::CollapseShapeOp op) {
  unsigned dimension = *samples.dimensionOf(op.getSrc());
  for (auto [group, indices] : llvm::enumerate(op.getReassociationIndices())) {
    if (!llvm::is_contained(indices, dimension))
      continue;
    // Samples have to be the slower part of what is merged.
    samples.move(op.getSrcMutable(), indices.front());
    samples.scale(op.getResult(), group);
    return success();
  }
  return Samples::refuse(op, "its result has no dimension for samples");
}

/// Whether a slice has everything of the dimension, of which samples are a
/// part.
template <typename OpT>
static bool isWhole(OpT op, unsigned dimension, int64_t extent) {
  return isConstantIntValue(op.getMixedOffsets()[dimension], 0) &&
         isConstantIntValue(op.getMixedSizes()[dimension], extent) &&
         isConstantIntValue(op.getMixedStrides()[dimension], 1);
}

static SmallVector<OpFoldResult> withSize(ArrayRef<OpFoldResult> sizes,
                                          unsigned dimension, int64_t size,
                                          Builder builder) {
  SmallVector<OpFoldResult> changed(sizes);
  changed[dimension] = builder.getIndexAttr(size);
  return changed;
}

/// How many dimensions before `dimension` are dropped.
static unsigned countDropped(const llvm::SmallBitVector &dropped,
                             unsigned dimension) {
  unsigned count = 0;
  for (unsigned i = 0; i < dimension; ++i)
    count += dropped.test(i);
  return count;
}

/// Of several dimensions of size 1 in a row, any may be the one that is
/// dropped.
static void keepDimension(llvm::SmallBitVector &dropped, unsigned dimension,
                          ArrayRef<int64_t> sizes) {
  for (unsigned i = dimension; dropped.test(dimension) && i < sizes.size();
       ++i) {
    if (sizes[i] != 1)
      return;
    if (dropped.test(i))
      continue;
    dropped.reset(dimension);
    dropped.set(i);
  }
}

/// Slices what one sample has of the dimension.
LogicalResult BatchRewriter::extractOfEach(tensor::ExtractSliceOp op,
                                           unsigned dimension) {
  OpBuilder builder(op);
  auto with = [&](ArrayRef<OpFoldResult> numbers, int64_t number) {
    SmallVector<OpFoldResult> wide(numbers);
    wide.insert(wide.begin() + dimension, builder.getIndexAttr(number));
    return wide;
  };
  Value slice = tensor::ExtractSliceOp::create(
      builder, op.getLoc(), samples.split(builder, op.getSource()),
      with(op.getMixedOffsets(), 0),
      with(op.getMixedSizes(), samples.getSize()),
      with(op.getMixedStrides(), 1));
  samples.replace(op, Samples::merge(builder, slice, dimension), dimension);
  return success();
}

LogicalResult BatchRewriter::rewriteExtract(tensor::ExtractSliceOp op) {
  auto found = samples.dimensionOf(op.getSource());
  if (!found)
    return Samples::refuse(op, "samples choose what is sliced");
  unsigned dimension = *found;
  int64_t extent = op.getSourceType().getDimSize(dimension);
  llvm::SmallBitVector dropped = op.getDroppedDims();
  keepDimension(dropped, dimension, op.getStaticSizes());
  bool isAll = isWhole(op, dimension, extent / samples.getSize());
  if (!isAll && dropped.none() && extent != samples.getSize())
    return extractOfEach(op, dimension);
  if (!isAll || dropped.test(dimension))
    return Samples::refuse(op, "it slices the dimension of samples");
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

/// Which dimensions the source lacks, by its shape for one sample.
llvm::SmallBitVector
BatchRewriter::findDropped(tensor::InsertSliceOp op,
                           std::optional<unsigned> dimension) {
  SmallVector<int64_t> shape(op.getSourceType().getShape());
  if (dimension)
    shape[*dimension] /= samples.getSize();
  llvm::SmallBitVector dropped(op.getStaticSizes().size());
  auto mask = computeRankReductionMask(op.getStaticSizes(), shape);
  for (unsigned i = 0; mask && i < dropped.size(); ++i)
    dropped[i] = mask->contains(i);
  return dropped;
}

LogicalResult BatchRewriter::rewriteInsert(tensor::InsertSliceOp op) {
  auto source = samples.dimensionOf(op.getSource());
  auto dest = samples.dimensionOf(op.getDest());
  llvm::SmallBitVector dropped = findDropped(op, source);
  for (unsigned i = 0; source && !dest && i < dropped.size(); ++i)
    if (!dropped.test(i) && i - countDropped(dropped, i) == *source)
      dest = i;
  if (!dest || dropped.test(*dest))
    return Samples::refuse(op, "what is inserted has no dimension for samples");
  unsigned from = *dest - countDropped(dropped, *dest);
  // The result's, which is still that for one sample.
  int64_t extent = op.getDestType().getDimSize(*dest);
  if (!isWhole(op, *dest, extent))
    return Samples::refuse(op, "it inserts at a part of the samples");
  if (source)
    samples.move(op.getSourceMutable(), from);
  samples.ensure(op.getSourceMutable(), from);
  samples.ensure(op.getDestMutable(), *dest);
  OpBuilder builder(op);
  Value result = tensor::InsertSliceOp::create(
      builder, op.getLoc(), op.getSource(), op.getDest(), op.getMixedOffsets(),
      withSize(op.getMixedSizes(), *dest, extent * samples.getSize(), builder),
      op.getMixedStrides());
  samples.replace(op, result, *dest);
  return success();
}

LogicalResult BatchRewriter::rewritePad(tensor::PadOp op) {
  auto dimension = samples.dimensionOf(op.getSource());
  if (!dimension || !isConstantIntValue(op.getMixedLowPad()[*dimension], 0) ||
      !isConstantIntValue(op.getMixedHighPad()[*dimension], 0))
    return Samples::refuse(op, "it pads the dimension of samples");
  samples.scale(op.getResult(), *dimension);
  return success();
}

LogicalResult BatchRewriter::rewriteConcat(tensor::ConcatOp op) {
  if (failed(rewriteElementwise(op)))
    return failure();
  if (*samples.dimensionOf(op.getResult()) == op.getDim())
    return Samples::refuse(op, "it concatenates along the dimension of "
                               "samples");
  return success();
}

LogicalResult BatchRewriter::rewriteSoftmax(linalg::SoftmaxOp op) {
  if (failed(rewriteElementwise(op)))
    return failure();
  if (*samples.dimensionOf(op->getResult(0)) == op.getDimension())
    return Samples::refuse(op, "it goes over the dimension of samples");
  return success();
}

LogicalResult BatchRewriter::rewrite(Operation *op) {
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return addSamples(structured, samples);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return rewriteExpand(expand);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return rewriteCollapse(collapse);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return rewriteExtract(slice);
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
    return rewriteInsert(slice);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return rewritePad(pad);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return rewriteConcat(concat);
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
    return rewriteSoftmax(softmax);
  bool isStatic = llvm::all_of(op->getResultTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  });
  if (isStatic &&
      (isa<tensor::CastOp>(op) || OpTrait::hasElementwiseMappableTraits(op)))
    return rewriteElementwise(op);
  return Samples::refuse(op, "it has no rule for samples");
}

LogicalResult BatchRewriter::run() {
  if (failed(addSamplesToData()))
    return failure();
  Block &block = model.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (usesSamples(&op) && failed(rewrite(&op)))
      return failure();
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
      model->emitError("option 'microbatch-size': expected 1 or more, found ")
          << microbatchSize;
      return signalPassFailure();
    }
    if (failed(BatchRewriter(*model, microbatchSize).run()))
      signalPassFailure();
  }
};
} // namespace
