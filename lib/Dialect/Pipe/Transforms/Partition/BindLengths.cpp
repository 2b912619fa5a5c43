//===- BindLengths.cpp - --pipe-bind-lengths ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One walk in the order of the ops replaces what is computed from extents by
// constants, and gives each tensor the shape that follows from the shapes
// before it. No op is added for some lengths only, so versions keep the same
// ops.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "veeline/Dialect/Pipe/Transforms/Joint.h"
#include "veeline/Dialect/Pipe/Transforms/Lengths.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/Transforms.h"
#include "llvm/ADT/TypeSwitch.h"

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPEBINDLENGTHS
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline::pipe;

static bool isDynamic(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && !(shaped.hasRank() && shaped.hasStaticShape());
}

static Type withLength(Type type, int64_t length) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type;
  SmallVector<int64_t> shape(tensor.getShape());
  for (int64_t &extent : shape)
    if (ShapedType::isDynamic(extent))
      extent = length;
  return tensor.clone(shape);
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

/// Turns numbers that are constants by now into attributes.
static SmallVector<OpFoldResult> asConstants(ArrayRef<OpFoldResult> numbers) {
  Builder builder(numbers.empty() ? nullptr : numbers[0].getContext());
  return llvm::map_to_vector(numbers, [&](OpFoldResult number) -> OpFoldResult {
    if (std::optional<int64_t> value = getConstantIntValue(number))
      return builder.getIndexAttr(*value);
    return number;
  });
}

/// The numbers, or none if one of them is unknown.
static std::optional<SmallVector<int64_t>>
getNumbers(ArrayRef<OpFoldResult> numbers) {
  return getConstantIntValues(numbers);
}

/// Replaces a scalar that is computed from extents and constants.
static bool foldScalar(Operation *op) {
  if (op->getNumResults() == 0 || op->getNumRegions() != 0 || !isPure(op) ||
      !llvm::all_of(op->getResultTypes(),
                    [](Type type) { return type.isIntOrIndexOrFloat(); }))
    return false;
  SmallVector<Value> results;
  if (failed(OpBuilder(op).tryFold(op, results)))
    return false;
  op->replaceAllUsesWith(results);
  op->erase();
  return true;
}

static LogicalResult replace(Operation *op, Value value) {
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
  return success();
}

static LogicalResult bindExpand(tensor::ExpandShapeOp op) {
  auto shape = getNumbers(op.getMixedOutputShape());
  if (!shape)
    return failure();
  OpBuilder builder(op);
  auto type = cast<RankedTensorType>(op.getType()).clone(*shape);
  return replace(
      op, tensor::ExpandShapeOp::create(builder, op.getLoc(), type, op.getSrc(),
                                        op.getReassociationIndices(),
                                        asConstants(op.getMixedOutputShape())));
}

static LogicalResult bindExtract(tensor::ExtractSliceOp op) {
  auto sizes = getNumbers(op.getMixedSizes());
  if (!sizes)
    return failure();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(*sizes))
    if (!dropped[i])
      shape.push_back(size);
  OpBuilder builder(op);
  return replace(op, tensor::ExtractSliceOp::create(
                         builder, op.getLoc(), op.getType().clone(shape),
                         op.getSource(), asConstants(op.getMixedOffsets()),
                         asConstants(op.getMixedSizes()),
                         asConstants(op.getMixedStrides())));
}

static LogicalResult bindInsert(tensor::InsertSliceOp op) {
  OpBuilder builder(op);
  return replace(op, tensor::InsertSliceOp::create(
                         builder, op.getLoc(), op.getSource(), op.getDest(),
                         asConstants(op.getMixedOffsets()),
                         asConstants(op.getMixedSizes()),
                         asConstants(op.getMixedStrides())));
}

/// The padding of a version is constant, so the shape of its result is known.
static LogicalResult bindPad(tensor::PadOp op) {
  auto low = getNumbers(op.getMixedLowPad());
  auto high = getNumbers(op.getMixedHighPad());
  if (!low || !high)
    return failure();
  auto type = tensor::PadOp::inferResultType(op.getSourceType(), *low, *high);
  OpBuilder builder(op);
  auto bound =
      tensor::PadOp::create(builder, op.getLoc(), type, op.getSource(),
                            asConstants(op.getMixedLowPad()),
                            asConstants(op.getMixedHighPad()), op.getNofold());
  bound.getRegion().takeBody(op.getRegion());
  return replace(op, bound);
}

static LogicalResult bindCast(tensor::CastOp op) {
  auto source = cast<RankedTensorType>(op.getSource().getType());
  auto target = dyn_cast<RankedTensorType>(op.getType());
  if (!target || failed(verifyCompatibleShape(source, target)))
    return failure();
  return replace(op, op.getSource());
}

/// Gives the results the shape of the op's first tensor operand.
static LogicalResult bindElementwise(Operation *op) {
  auto tensor =
      llvm::find_if(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(*tensor).getShape();
  for (OpResult result : op->getResults())
    result.setType(cast<ShapedType>(result.getType()).clone(shape));
  return success();
}

static LogicalResult bindInits(DestinationStyleOpInterface op) {
  for (OpResult result : op->getResults())
    result.setType(op.getTiedOpOperand(result)->get().getType());
  return success();
}

/// Whether operands of the op determine what it slices or pads.
static bool hasDynamicNumbers(Operation *op) {
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return !pad.getLow().empty() || !pad.getHigh().empty();
  auto isOpen = [](ArrayRef<OpFoldResult> numbers) {
    return llvm::any_of(numbers, llvm::IsaPred<Value>);
  };
  auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op);
  return slice &&
         (isOpen(slice.getMixedSizes()) || isOpen(slice.getMixedOffsets()));
}

/// Sets the shapes of results. Fails, without a message, if a shape cannot be
/// determined.
static LogicalResult bindShape(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tensor::EmptyOp op) -> LogicalResult {
        auto sizes = getNumbers(op.getMixedSizes());
        if (!sizes)
          return failure();
        return replace(op,
                       tensor::EmptyOp::create(builder, loc, *sizes,
                                               op.getType().getElementType()));
      })
      .Case([&](tensor::SplatOp op) -> LogicalResult {
        SmallVector<OpFoldResult> given(op.getDynamicSizes());
        auto sizes = getNumbers(given);
        if (!sizes)
          return failure();
        SmallVector<int64_t> shape(op.getType().getShape());
        const int64_t *next = sizes->begin();
        for (int64_t &extent : shape)
          if (ShapedType::isDynamic(extent))
            extent = *next++;
        return replace(op, tensor::SplatOp::create(
                               builder, loc, op.getInput(),
                               RankedTensorType::get(
                                   shape, op.getType().getElementType())));
      })
      .Case([](tensor::CastOp op) { return bindCast(op); })
      .Case([](tensor::ExpandShapeOp op) { return bindExpand(op); })
      .Case([&](tensor::CollapseShapeOp op) {
        return replace(
            op, tensor::CollapseShapeOp::create(builder, loc, op.getSrc(),
                                                op.getReassociationIndices()));
      })
      .Case([](tensor::ExtractSliceOp op) { return bindExtract(op); })
      .Case([](tensor::InsertSliceOp op) { return bindInsert(op); })
      .Case([](tensor::PadOp op) { return bindPad(op); })
      .Case([&](tensor::ConcatOp op) {
        return replace(op, tensor::ConcatOp::create(builder, loc, op.getDim(),
                                                    op.getInputs()));
      })
      .Case([](DestinationStyleOpInterface op) { return bindInits(op); })
      .Case<BoundaryOp>([](Operation *op) { return bindElementwise(op); })
      .Default([](Operation *op) -> LogicalResult {
        if (!OpTrait::hasElementwiseMappableTraits(op))
          return failure();
        return bindElementwise(op);
      });
}

static LogicalResult bindOp(Operation *op, int64_t length) {
  if (foldScalar(op))
    return success();
  bool isOpen = hasDynamicNumbers(op);
  for (Type type : op->getResultTypes())
    isOpen |= isDynamic(type);
  for (Region &region : op->getRegions()) {
    region.walk([&](tensor::DimOp dim) { foldScalar(dim); });
    for (BlockArgument argument : region.getArguments())
      if (isDynamic(argument.getType()))
        return op->emitError()
               << "'" << op->getName()
               << "' hands on a tensor whose shape depends on the length; "
                  "this is not supported in loops and branches";
  }
  if (!isOpen)
    return success();
  Location loc = op->getLoc();
  OperationName name = op->getName();
  if (succeeded(bindShape(op)))
    return success();
  return emitError(loc) << "the shape of what '" << name
                        << "' gives does not follow from the length (tried "
                        << length
                        << "); supported are structured ops, empty and splat "
                           "tensors, reshapes, slices, pads, concatenations, "
                           "casts and elementwise ops";
}

//===----------------------------------------------------------------------===//
// One version
//===----------------------------------------------------------------------===//

static LogicalResult bindLength(func::FuncOp func, int64_t length) {
  Block &block = func.getBody().front();
  func->setAttr(PipeDialect::lengthVariesAttrName,
                UnitAttr::get(func.getContext()));
  for (BlockArgument argument : block.getArguments())
    argument.setType(withLength(argument.getType(), length));
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (failed(bindOp(&op, length)))
      return failure();
  func.setType(FunctionType::get(func.getContext(), block.getArgumentTypes(),
                                 block.getTerminator()->getOperandTypes()));
  if (succeeded(verify(func)))
    return success();
  return func.emitError() << "the model is not valid at length " << length;
}

/// Marks the arguments with the length. Only data may vary.
static LogicalResult markArguments(func::FuncOp model) {
  bool hasLength = false;
  for (BlockArgument argument : model.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.hasStaticShape())
      continue;
    auto wrong = [&](const Twine &what) {
      return emitError(argument.getLoc())
             << "argument " << number << " of the model is " << type << ": "
             << what;
    };
    if (!model.getArgAttr(number, PipeDialect::batchAttrName))
      return wrong("only batch arguments, {pipe.batch = \"name\"}, have a "
                   "dynamic dimension; parameters and buffers are sized for "
                   "the bound, and sliced");
    if (type.getNumDynamicDims() > 1)
      return wrong("a model has one length, and an argument has it in one "
                   "dimension; found " +
                   Twine(type.getNumDynamicDims()) + " dynamic dimensions");
    int64_t dim = llvm::find(type.getShape(), ShapedType::kDynamic) -
                  type.getShape().begin();
    if (dim == 0 && type.getRank() > 1)
      return wrong("its first dimension is that of samples, which does not "
                   "vary; the length has to be another one");
    model.setArgAttr(number, PipeDialect::lengthDimAttrName,
                     Builder(model.getContext()).getI64IntegerAttr(dim));
    hasLength = true;
  }
  if (hasLength)
    return success();
  return model.emitError("a bound of the length is given, but no argument of "
                         "the model has a dynamic dimension, as in "
                         "tensor<4x?xi32>");
}

namespace {
struct PipeBindLengths
    : veeline::pipe::impl::PipeBindLengthsBase<PipeBindLengths> {
  using PipeBindLengthsBase::PipeBindLengthsBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> model = findModel(getOperation(), entry);
    if (failed(model) || failed(refuseJoint(*model, "a length that varies")) ||
        failed(check(*model)) || failed(markArguments(*model)))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    Builder builder(&getContext());
    SmallVector<int64_t> lengths;
    SmallVector<Attribute> names;
    Operation *last = *model;
    for (int64_t length = multiple; length < bound; length += multiple) {
      auto version = cast<func::FuncOp>(model->clone());
      version.setSymName((model->getSymName() + "_at_" + Twine(length)).str());
      version.setPrivate();
      StringAttr name = symbols.insert(version, std::next(last->getIterator()));
      last = version;
      lengths.push_back(length);
      names.push_back(FlatSymbolRefAttr::get(name));
      if (failed(bindLength(version, length)))
        return signalPassFailure();
    }
    lengths.push_back(bound);
    (*model)->setAttr(lengthsAttrName, builder.getDenseI64ArrayAttr(lengths));
    (*model)->setAttr(versionsAttrName, builder.getArrayAttr(names));
    if (failed(bindLength(*model, bound)))
      signalPassFailure();
  }

  LogicalResult check(func::FuncOp model) {
    if (bound < 1 || multiple < 1 || bound % multiple != 0)
      return model.emitError()
             << "the bound of the length is at least 1 and a multiple of "
                "'multiple', which is at least 1; found bound "
             << bound.getValue() << " and multiple " << multiple.getValue();
    if (model.getBody().hasOneBlock())
      return success();
    return model.emitError()
           << "the model has " << model.getBody().getBlocks().size()
           << " blocks, expected one: no branches";
  }
};
} // namespace
