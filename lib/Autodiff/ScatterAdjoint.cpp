//===- ScatterAdjoint.cpp - the adjoint of a gather -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StructuredAdjoint.h"

#include "Emit.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "veeline/Analysis/TensorEmit.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;

/// Loads the element of `source` for the iteration `ivs`.
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

/// Emits one iteration, which adds the scalar of `body` to the element of
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

namespace {
/// A gather of one element in each row, where each iteration has its own row.
struct RowGather {
  unsigned column;            ///< The number of the index that is computed.
  SmallVector<unsigned> dims; ///< For each other dimension, its loop.
};
} // namespace

/// Matches a gather of which all indices but one are loops. Each loop has to
/// occur once, and all rows have to be reached.
static std::optional<RowGather> matchRowGather(const AdjointSpace &space,
                                               ArrayRef<Value> indices,
                                               RankedTensorType type) {
  constexpr unsigned none = ~0u;
  if (indices.size() != space.extents.size() + 1)
    return std::nullopt;
  RowGather gather{none, SmallVector<unsigned>(indices.size(), none)};
  for (auto [i, index] : llvm::enumerate(indices)) {
    auto iteration = index.getDefiningOp<linalg::IndexOp>();
    if (!iteration) {
      if (gather.column != none)
        return std::nullopt;
      gather.column = i;
      continue;
    }
    unsigned dim = iteration.getDim();
    if (llvm::is_contained(gather.dims, dim) ||
        space.extents[dim] != type.getDimSize(i))
      return std::nullopt;
    gather.dims[i] = dim;
  }
  return gather.column == none ? std::nullopt : std::optional(gather);
}

/// The adjoint of a gather of rows: each row has one element that is not zero.
/// It is a structured op instead of a loop, so that later ops can be fused with
/// it.
static Value createOneHot(OpBuilder &builder, const AdjointSpace &space,
                          const ScalarBody &body, const RowGather &gather,
                          Value column, RankedTensorType type) {
  MLIRContext *context = builder.getContext();
  unsigned rank = type.getRank();
  // For each loop, the dimension of the tensor that it runs over.
  SmallVector<unsigned> places(space.extents.size());
  SmallVector<AffineExpr> exprs(space.extents.size());
  for (auto [place, dim] : llvm::enumerate(gather.dims))
    if (place != gather.column) {
      places[dim] = place;
      exprs[dim] = getAffineDimExpr(place, context);
    }
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<BlockArgument> arguments;
  for (auto [i, source] : llvm::enumerate(space.sources)) {
    BlockArgument argument = body.block->getArgument(i);
    if (!body.reads(i) && column != argument)
      continue;
    inputs.push_back(source.value);
    maps.push_back(source.map.replaceDimsAndSymbols(exprs, {}, rank, 0));
    arguments.push_back(argument);
  }
  maps.push_back(AffineMap::getMultiDimIdentityMap(rank, context));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, space.loc, TypeRange{type}, inputs,
      ValueRange{createEmpty(builder, space.loc, type)}, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        IRMapping mapping;
        for (auto [argument, value] : llvm::zip(arguments, args))
          mapping.map(argument, value);
        for (Operation &op : *body.block)
          if (auto index = dyn_cast<linalg::IndexOp>(op))
            mapping.map(
                index.getResult(),
                linalg::IndexOp::create(nested, loc, places[index.getDim()])
                    .getResult());
          else
            nested.clone(op, mapping);
        Emit emit(nested, loc);
        Value isChosen = arith::CmpIOp::create(
            nested, loc, arith::CmpIPredicate::eq,
            mapping.lookupOrDefault(column),
            linalg::IndexOp::create(nested, loc, gather.column));
        Value value = emit.convert(mapping.lookupOrDefault(body.value),
                                   type.getElementType());
        linalg::YieldOp::create(
            nested, loc,
            emit.select(isChosen, value, emit.constant(value.getType(), 0.0)));
      });
  return generic.getResult(0);
}

Value veeline::autodiff::createScatter(
    OpBuilder &builder, const AdjointSpace &space, const ScalarBody &body,
    ArrayRef<Value> indices, RankedTensorType type, bool isFixedSize) {
  auto gather = matchRowGather(space, indices, type);
  // For other lengths, the number of rows may be another one.
  if (gather && !(space.unitsVary && isFixedSize))
    return createOneHot(builder, space, body, *gather, indices[gather->column],
                        type);
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
