//===- KernelBuilder.cpp - kernel functions from structured ops -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "StructuredOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace veeline;

void KernelBuilder::start() {
  function =
      func::FuncOp::create(loc, "kernel", builder.getFunctionType({}, {}));
  function.setPrivate();
  builder.setInsertionPointToStart(function.addEntryBlock());
}

func::FuncOp KernelBuilder::finish() {
  func::ReturnOp::create(builder, loc);
  Block &body = function.getBody().front();
  function.setType(builder.getFunctionType(body.getArgumentTypes(), {}));
  // The buffers of one kernel never overlap: they are different places of a
  // workspace, or different arguments of its caller.
  for (auto [i, type] : llvm::enumerate(body.getArgumentTypes()))
    if (isa<MemRefType>(type))
      function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                          builder.getUnitAttr());
  function->setAttr(kernelAttrName, builder.getUnitAttr());
  return function;
}

Value KernelBuilder::getArgument(Value outside) {
  Block &body = function.getBody().front();
  if (arguments.insert(outside))
    body.addArgument(outside.getType(), loc);
  return body.getArgument(llvm::find(arguments, outside) - arguments.begin());
}

/// The value inside of the kernel for a value of the caller. Constants are
/// created again.
Value KernelBuilder::getScalar(Value outside) {
  Operation *op = outside.getDefiningOp();
  if (op && op->hasTrait<OpTrait::ConstantLike>())
    return builder.clone(*op)->getResult(0);
  return getArgument(outside);
}

/// sum + value * scale. `sum` may be null.
Value KernelBuilder::addScaled(Value sum, Value value, int64_t scale) {
  if (scale != 1) {
    Value factor = arith::ConstantIndexOp::create(builder, loc, scale);
    value = arith::MulIOp::create(builder, loc, value, factor);
  }
  return sum ? arith::AddIOp::create(builder, loc, sum, value) : value;
}

/// The part of a buffer that one iteration of the row loops accesses. It has
/// one dimension for each inner loop with a stride.
Value KernelBuilder::getView(const LoopNest &nest, const NestAccess &access,
                             ValueRange rows) {
  unsigned numRowLoops = rows.size();
  SmallVector<int64_t> sizes, strides;
  for (unsigned i = numRowLoops; i < nest.loops.size(); ++i)
    if (access.strides[i]) {
      sizes.push_back(nest.loops[i].size);
      strides.push_back(access.strides[i]);
    }
  int64_t offset = access.offset;
  Value base, dynamic;
  auto rowBuffer = rowBuffers.find(access.base);
  if (rowBuffer != rowBuffers.end()) {
    base = stack.at(access.base);
    offset -= rowBuffer->second.offset;
  } else {
    base = getArgument(access.base);
    for (unsigned i = 0; i < numRowLoops; ++i)
      if (access.strides[i])
        dynamic = addScaled(dynamic, rows[i], access.strides[i]);
  }
  if (dynamic && offset)
    dynamic = arith::AddIOp::create(
        builder, loc, dynamic,
        arith::ConstantIndexOp::create(builder, loc, offset));
  int64_t staticOffset = dynamic ? ShapedType::kDynamic : offset;
  auto layout =
      StridedLayoutAttr::get(builder.getContext(), staticOffset, strides);
  auto type = MemRefType::get(sizes, access.elementType, layout);
  OpFoldResult offsetResult =
      dynamic ? OpFoldResult(dynamic) : builder.getIndexAttr(offset);
  return memref::ReinterpretCastOp::create(
      builder, loc, type, base, offsetResult,
      getAsIndexOpFoldResult(builder.getContext(), sizes),
      getAsIndexOpFoldResult(builder.getContext(), strides));
}

/// The index of dimension `dim` of the op of `nest`.
Value KernelBuilder::getIndex(const LoopNest &nest, unsigned dim,
                              ValueRange rows) {
  unsigned numRowLoops = rows.size();
  Value sum;
  for (auto [i, loop] : llvm::enumerate(nest.loops)) {
    if (loop.dim != dim)
      continue;
    Value iteration =
        i < numRowLoops
            ? rows[i]
            : Value(linalg::IndexOp::create(builder, loc, i - numRowLoops));
    sum = addScaled(sum, iteration, loop.step);
  }
  return sum ? sum : arith::ConstantIndexOp::create(builder, loc, 0);
}

/// The offset of `outside` in its buffer, in elements: the sum over all slices
/// of the buffer that lead to it. A loop of the caller determines the place of
/// this view.
Value KernelBuilder::getOffset(Value outside) {
  int64_t constant = 0;
  Value sum;
  while (auto view = outside.getDefiningOp<ViewLikeOpInterface>()) {
    outside = view.getViewSource();
    auto slice = dyn_cast<memref::SubViewOp>(view.getOperation());
    if (!slice)
      continue;
    auto [strides, ignored] = slice.getSourceType().getStridesAndOffset();
    for (auto [offset, stride] : llvm::zip(slice.getMixedOffsets(), strides))
      if (std::optional<int64_t> number = getConstantIntValue(offset))
        constant += *number * stride;
      else
        sum = addScaled(sum, getScalar(cast<Value>(offset)), stride);
  }
  if (!sum)
    return arith::ConstantIndexOp::create(builder, loc, constant);
  if (!constant)
    return sum;
  return arith::AddIOp::create(
      builder, loc, sum,
      arith::ConstantIndexOp::create(builder, loc, constant));
}

/// The value inside of the kernel for a scalar or buffer of the caller.
Value KernelBuilder::getCaptured(Value outside) {
  auto type = dyn_cast<MemRefType>(outside.getType());
  if (!type)
    return getScalar(outside);
  Value root = getArgument(getRootBuffer(outside));
  if (type == root.getType())
    return root;
  auto [strides, offset] = type.getStridesAndOffset();
  OpFoldResult place = ShapedType::isDynamic(offset)
                           ? OpFoldResult(getOffset(outside))
                           : builder.getIndexAttr(offset);
  return memref::ReinterpretCastOp::create(
      builder, loc, type, root, place,
      getAsIndexOpFoldResult(builder.getContext(), type.getShape()),
      getAsIndexOpFoldResult(builder.getContext(), strides));
}

/// Maps the values that ops in `region` use from outside of it: scalars, and
/// buffers from which they load.
void KernelBuilder::mapCaptured(Region &region, IRMapping &mapping) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(region, captured);
  for (Value value : captured)
    mapping.map(value, getCaptured(value));
}

/// Clones the body of `nest`, without its terminator, to the insertion point.
void KernelBuilder::emitBody(const LoopNest &nest, IRMapping &mapping,
                             ValueRange rows) {
  for (Operation &op : nest.op.getBlock()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      mapping.map(index.getResult(), getIndex(nest, index.getDim(), rows));
      continue;
    }
    SmallVector<linalg::IndexOp> nested;
    Operation *clone = builder.clone(op, mapping);
    clone->walk([&](linalg::IndexOp index) { nested.push_back(index); });
    for (linalg::IndexOp index : nested) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(index);
      index.replaceAllUsesWith(getIndex(nest, index.getDim(), rows));
      index.erase();
    }
  }
}

/// Clones the bodies of the nests of `merged`, passes values from one to the
/// next, and yields the last values of the outputs.
void KernelBuilder::emitMembers(const MergedNest &merged, ValueRange rows,
                                ValueRange blockArguments,
                                ArrayRef<IRMapping> captured) {
  struct Place {
    NestAccess access;
    Value value;
  };
  // The values of the places written so far.
  SmallVector<Place> written;
  auto read = [&](const NestAccess &access) -> Value {
    for (const Place &place : written)
      if (place.access.base == access.base)
        return place.value;
    int input = findOperand(merged.inputs, access);
    if (input >= 0)
      return blockArguments[input];
    return blockArguments[merged.inputs.size() +
                          findOperand(merged.outputs, access)];
  };
  for (auto [nest, outside] : llvm::zip(merged.members, captured)) {
    IRMapping mapping = outside;
    for (auto [argument, access] :
         llvm::zip(nest->op.getBlock()->getArguments(), nest->accesses))
      if (access.isMemRef && access.isRead)
        mapping.map(argument, read(access));
    emitBody(*nest, mapping, rows);
    for (auto [access, result] :
         llvm::zip(nest->outputs(),
                   nest->op.getBlock()->getTerminator()->getOperands())) {
      llvm::erase_if(written, [&](const Place &place) {
        return place.access.base == access.base;
      });
      written.push_back({access, mapping.lookupOrDefault(result)});
    }
  }
  SmallVector<Value> results;
  for (const MergedNest::Operand &output : merged.outputs)
    results.push_back(read(output.access));
  linalg::YieldOp::create(builder, loc, results);
}

/// Emits merged nests of a group for one iteration of the row loops.
void KernelBuilder::emitMerged(const MergedNest &merged, ValueRange rows) {
  const LoopNest &first = *merged.members.front();
  auto inner = ArrayRef(first.loops).drop_front(rows.size());
  SmallVector<Value> inputs, outputs;
  SmallVector<AffineMap> maps;
  auto addOperand = [&](const NestAccess &access, SmallVector<Value> &list) {
    SmallVector<AffineExpr> results;
    for (unsigned i = 0; i < inner.size(); ++i)
      if (access.strides[rows.size() + i])
        results.push_back(builder.getAffineDimExpr(i));
    maps.push_back(
        AffineMap::get(inner.size(), 0, results, builder.getContext()));
    list.push_back(getView(first, access, rows));
  };
  for (const MergedNest::Operand &input : merged.inputs)
    addOperand(input.access, inputs);
  for (const MergedNest::Operand &output : merged.outputs)
    addOperand(output.access, outputs);
  SmallVector<utils::IteratorType> iterators;
  for (const NestLoop &loop : inner)
    iterators.push_back(loop.isReduction ? utils::IteratorType::reduction
                                         : utils::IteratorType::parallel);
  SmallVector<IRMapping> captured(merged.members.size());
  for (auto [nest, mapping] : llvm::zip(merged.members, captured)) {
    mapCaptured(*nest->op.getBlock()->getParent(), mapping);
    for (auto [argument, access] :
         llvm::zip(nest->op.getBlock()->getArguments(), nest->accesses))
      if (!access.isMemRef)
        mapping.map(argument, getScalar(access.base));
  }
  linalg::GenericOp::create(
      builder, loc, inputs, outputs, maps, iterators,
      [&](OpBuilder &, Location, ValueRange blockArguments) {
        emitMembers(merged, rows, blockArguments, captured);
      });
}

/// Creates the loops over rows, and returns their induction variables.
SmallVector<Value> KernelBuilder::startRows(const KernelGroup &group) {
  SmallVector<int64_t> sizes;
  for (unsigned i = 0; i < group.numRowLoops; ++i)
    sizes.push_back(group.nests.front().loops[i].size);
  if (group.parallelRows && !sizes.empty()) {
    auto rows = scf::ForallOp::create(
        builder, loc, getAsIndexOpFoldResult(builder.getContext(), sizes),
        ValueRange(), std::nullopt);
    builder.setInsertionPointToStart(rows.getBody());
    return SmallVector<Value>(rows.getInductionVars());
  }
  auto index = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  SmallVector<Value> ids;
  for (int64_t size : sizes) {
    auto loop =
        scf::ForOp::create(builder, loc, index(0), index(size), index(1));
    ids.push_back(loop.getInductionVar());
    builder.setInsertionPointToStart(loop.getBody());
  }
  return ids;
}

func::FuncOp KernelBuilder::build(const KernelGroup &group) {
  start();
  for (const KernelGroup::RowBuffer &buffer : group.rowBuffers) {
    rowBuffers[buffer.root] = buffer;
    auto rootType = cast<MemRefType>(buffer.root.getType());
    auto type = MemRefType::get({buffer.size}, rootType.getElementType());
    stack[buffer.root] = memref::AllocaOp::create(
        builder, loc, type, builder.getI64IntegerAttr(64));
  }
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Value> rows = startRows(group);
  for (const MergedNest &merged : mergeNests(group))
    emitMerged(merged, rows);
  builder.setInsertionPointToEnd(&function.getBody().front());
  return finish();
}

func::FuncOp KernelBuilder::build(Operation *op) {
  start();
  IRMapping mapping;
  for (Region &region : op->getRegions())
    mapCaptured(region, mapping);
  for (Value operand : op->getOperands())
    if (!mapping.contains(operand))
      mapping.map(operand, getCaptured(operand));
  builder.clone(*op, mapping);
  return finish();
}
