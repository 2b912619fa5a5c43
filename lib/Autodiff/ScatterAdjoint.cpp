//===- ScatterAdjoint.cpp - the adjoint of a gather -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StructuredAdjoint.h"

#include "Emit.h"
#include "TensorEmit.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace veeline::autodiff;

/// Loads what `source` holds for the iteration `ivs`.
static Value loadSource(OpBuilder &builder, Location loc, const Source &source,
                        ValueRange ivs) {
  if (!isa<RankedTensorType>(source.value.getType()))
    return source.value;
  SmallVector<Value> indices;
  for (AffineExpr expr : source.map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      indices.push_back(ivs[dim.getPosition()]);
    else
      indices.push_back(affine::expandAffineExpr(builder, loc, expr, ivs, {}));
  }
  return tensor::ExtractOp::create(builder, loc, source.value, indices);
}

/// Emits one iteration: adds the scalar of `body` to the element of
/// `accumulator` at `indices`.
static Value addElement(OpBuilder &builder, const AdjointSpace &space,
                        const ScalarBody &body, ArrayRef<Value> indices,
                        ValueRange ivs, Value accumulator) {
  Location loc = space.loc;
  IRMapping mapping;
  for (auto [i, source] : llvm::enumerate(space.sources))
    if (body.reads(i) ||
        llvm::is_contained(indices, Value(body.block->getArgument(i))))
      mapping.map(body.block->getArgument(i),
                  loadSource(builder, loc, source, ivs));
  for (Operation &op : *body.block) {
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      mapping.map(index.getResult(), ivs[index.getDim()]);
    else
      builder.clone(op, mapping);
  }
  SmallVector<Value> position;
  for (Value index : indices)
    position.push_back(mapping.lookupOrDefault(index));
  Emit emit(builder, loc);
  Value old = tensor::ExtractOp::create(builder, loc, accumulator, position);
  Value value =
      emit.convert(mapping.lookupOrDefault(body.value), old.getType());
  return tensor::InsertOp::create(builder, loc, emit.add(old, value),
                                  accumulator, position);
}

Value veeline::autodiff::createScatter(OpBuilder &builder,
                                       const AdjointSpace &space,
                                       const ScalarBody &body,
                                       ArrayRef<Value> indices,
                                       RankedTensorType type) {
  Location loc = space.loc;
  auto resultType = RankedTensorType::get(
      type.getShape(), getAccumulatorType(type.getElementType()));
  Value accumulator = createZeros(builder, loc, resultType);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  SmallVector<Value> ends;
  for (int64_t extent : space.extents)
    ends.push_back(arith::ConstantIndexOp::create(builder, loc, extent));
  SmallVector<Value> starts(ends.size(), zero), steps(ends.size(), one);
  scf::LoopNest nest = scf::buildLoopNest(
      builder, loc, starts, ends, steps, ValueRange{accumulator},
      [&](OpBuilder &nested, Location, ValueRange ivs, ValueRange iterArgs) {
        return scf::ValueVector{
            addElement(nested, space, body, indices, ivs, iterArgs[0])};
      });
  return createConversion(builder, loc, nest.results[0], type.getElementType());
}
