//===- StructuredAdjoint.cpp - adjoints as structured ops -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StructuredAdjoint.h"

#include "Emit.h"
#include "veeline/Analysis/TensorEmit.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;

/// A dimension is parallel if and only if it is a plain result of the map
/// through which the adjoint writes: only then do its iterations write
/// different elements.
static SmallVector<utils::IteratorType> getIterators(AffineMap map) {
  SmallVector<utils::IteratorType> iterators(map.getNumDims(),
                                             utils::IteratorType::reduction);
  for (AffineExpr result : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(result))
      iterators[dim.getPosition()] = utils::IteratorType::parallel;
  return iterators;
}

/// Whether each element of a tensor of `type` is written by exactly one
/// iteration.
static bool writesOnce(AffineMap map, RankedTensorType type,
                       ArrayRef<utils::IteratorType> iterators,
                       const AdjointSpace &space) {
  for (auto [iterator, extent] : llvm::zip_equal(iterators, space.extents))
    if (iterator == utils::IteratorType::reduction && !space.isUnit(extent))
      return false;
  llvm::SmallBitVector seen(map.getNumDims());
  for (auto [expr, size] : llvm::zip_equal(map.getResults(), type.getShape())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim && size != 1)
      return false;
    if (dim && seen.test(dim.getPosition()))
      return false;
    if (dim)
      seen.set(dim.getPosition());
  }
  return true;
}

namespace {
/// The inputs of an op under construction, and what the arguments of its body
/// stand for.
struct Inputs {
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
  SmallVector<unsigned> sources;
};
} // namespace

static Inputs collectInputs(const AdjointSpace &space, const ScalarBody &body) {
  Inputs inputs;
  for (auto [i, source] : llvm::enumerate(space.sources)) {
    if (!body.reads(i))
      continue;
    inputs.values.push_back(source.value);
    inputs.maps.push_back(source.map);
    inputs.sources.push_back(i);
  }
  return inputs;
}

void veeline::autodiff::showAllExtents(OpBuilder &builder, Location loc,
                                       ArrayRef<int64_t> extents,
                                       ArrayRef<AffineMap> outputMaps,
                                       SmallVectorImpl<Value> &inputs,
                                       SmallVectorImpl<AffineMap> &maps) {
  llvm::SmallBitVector shown(extents.size());
  auto show = [&](AffineMap map) {
    for (AffineExpr expr : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        shown.set(dim.getPosition());
  };
  llvm::for_each(outputMaps, show);
  llvm::for_each(maps, show);
  for (auto [i, extent] : llvm::enumerate(extents)) {
    if (shown.test(i))
      continue;
    auto type = RankedTensorType::get({extent}, builder.getI1Type());
    inputs.push_back(createEmpty(builder, loc, type));
    maps.push_back(
        AffineMap::get(extents.size(), 0, builder.getAffineDimExpr(i)));
  }
}

Value veeline::autodiff::createAdjoint(OpBuilder &builder,
                                       const AdjointSpace &space,
                                       const ScalarBody &body, AffineMap map,
                                       RankedTensorType type,
                                       Combiner combiner) {
  Location loc = space.loc;
  SmallVector<utils::IteratorType> iterators = getIterators(map);
  bool once = writesOnce(map, type, iterators, space);
  // A dimension with an extent of 1 needs no sum, so it may be parallel.
  if (once)
    llvm::fill(iterators, utils::IteratorType::parallel);
  Type accumulator =
      once ? type.getElementType() : getAccumulatorType(type.getElementType());
  auto resultType = RankedTensorType::get(type.getShape(), accumulator);
  Inputs inputs = collectInputs(space, body);
  showAllExtents(builder, loc, space.extents, map, inputs.values, inputs.maps);
  bool isSum = combiner == Combiner::Sum;
  Value init = once ? createEmpty(builder, loc, resultType)
                    : createFilled(builder, loc, resultType, isSum ? 0.0 : 1.0);
  SmallVector<AffineMap> maps = inputs.maps;
  maps.push_back(map);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange{resultType}, inputs.values, ValueRange{init},
      maps, iterators, [&](OpBuilder &nested, Location, ValueRange args) {
        IRMapping mapping;
        for (auto [i, source] : llvm::enumerate(inputs.sources))
          mapping.map(body.block->getArgument(source), args[i]);
        for (Operation &op : *body.block)
          nested.clone(op, mapping);
        Emit emit(nested, loc);
        Value value = mapping.lookupOrDefault(body.value);
        if (!once) {
          value = emit.convert(value, accumulator);
          value = isSum ? emit.add(args.back(), value)
                        : emit.mul(args.back(), value);
        }
        linalg::YieldOp::create(nested, loc, value);
      });
  return createConversion(builder, loc, generic.getResult(0),
                          type.getElementType());
}

namespace {
/// The two factors of a product that is summed, as numbers of sources.
struct Product {
  unsigned lhs, rhs;
};

/// The dimensions of a matrix product: `batch` is in all three operands, `rows`
/// and `columns` are in the result and one factor, `summed` is in both factors
/// only.
struct ContractionDims {
  SmallVector<unsigned> batch, rows, columns, summed;
};
} // namespace

/// If `value` is a conversion, its operand, and counts the conversion in
/// `numOps`; otherwise `value`.
template <typename ConversionOp>
static Value skipConversion(Value value, unsigned &numOps) {
  auto conversion = value.getDefiningOp<ConversionOp>();
  numOps += conversion ? 1 : 0;
  return conversion ? conversion.getIn() : value;
}

/// Matches a body that is one product. Small factors may be extended to f32,
/// and their product may be rounded; products are then summed before the
/// rounding.
static std::optional<Product> matchProduct(const ScalarBody &body) {
  unsigned numOps = 1;
  auto product = skipConversion<arith::TruncFOp>(body.value, numOps)
                     .getDefiningOp<arith::MulFOp>();
  if (!product)
    return std::nullopt;
  auto getFactor = [&](Value factor) {
    return body.getSource(skipConversion<arith::ExtFOp>(factor, numOps));
  };
  std::optional<unsigned> lhs = getFactor(product.getLhs());
  std::optional<unsigned> rhs = getFactor(product.getRhs());
  if (!lhs || !rhs || *lhs == *rhs ||
      body.block->getOperations().size() != numOps ||
      (numOps != 1 && !product.getType().isF32()))
    return std::nullopt;
  return Product{*lhs, *rhs};
}

static std::optional<ContractionDims> matchDims(AffineMap lhs, AffineMap rhs,
                                                AffineMap out) {
  for (AffineMap map : {lhs, rhs, out})
    if (!map.isProjectedPermutation())
      return std::nullopt;
  ContractionDims dims;
  auto has = [](AffineMap map, unsigned dim) {
    return map.isFunctionOfDim(dim);
  };
  for (AffineExpr expr : out.getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    if (has(lhs, dim) && has(rhs, dim))
      dims.batch.push_back(dim);
    else if (has(lhs, dim))
      dims.rows.push_back(dim);
    else if (has(rhs, dim))
      dims.columns.push_back(dim);
    else
      return std::nullopt;
  }
  for (unsigned dim = 0; dim != out.getNumDims(); ++dim) {
    if (has(out, dim))
      continue;
    if (!has(lhs, dim) || !has(rhs, dim))
      return std::nullopt;
    dims.summed.push_back(dim);
  }
  // Without rows or columns it is not a matrix product, and the order of its
  // loops should stay.
  if (dims.summed.empty() || dims.rows.empty() || dims.columns.empty())
    return std::nullopt;
  return dims;
}

/// Renames the dimensions of `map`: dims[i] becomes dimension i.
static AffineMap renameDims(AffineMap map, ArrayRef<unsigned> dims) {
  SmallVector<AffineExpr> names(dims.size());
  for (auto [i, dim] : llvm::enumerate(dims))
    names[dim] = getAffineDimExpr(i, map.getContext());
  return map.replaceDimsAndSymbols(names, {}, dims.size(), 0);
}

static bool isLeading(AffineMap map, unsigned dim) {
  return map.getNumResults() != 0 &&
         map.getResult(0) == getAffineDimExpr(dim, map.getContext());
}

/// Creates a linalg.matmul or linalg.batch_matmul. Returns null unless there is
/// one dimension of each kind (the batch may be missing) and the batch comes
/// first.
static Operation *createNamedProduct(OpBuilder &builder, Location loc,
                                     const ContractionDims &dims,
                                     ArrayRef<AffineMap> maps,
                                     ValueRange factors, Value init) {
  if (dims.rows.size() != 1 || dims.columns.size() != 1 ||
      dims.summed.size() != 1 || dims.batch.size() > 1)
    return nullptr;
  for (AffineMap map : maps)
    if (dims.batch.size() == 1 && !isLeading(map, 0))
      return nullptr;
  // In the result, rows have to come before columns.
  unsigned rank = maps[2].getNumResults();
  if (maps[2] !=
      AffineMap::getMultiDimIdentityMap(rank + 1, builder.getContext())
          .getMajorSubMap(rank))
    return nullptr;
  ArrayAttr mapsAttr = builder.getAffineMapArrayAttr(maps);
  Type type = init.getType();
  if (dims.batch.empty()) {
    auto op = linalg::MatmulOp::create(builder, loc, type, factors, init);
    op.setIndexingMapsAttr(mapsAttr);
    return op;
  }
  auto op = linalg::BatchMatmulOp::create(builder, loc, type, factors, init);
  op.setIndexingMapsAttr(mapsAttr);
  return op;
}

static Operation *createGenericProduct(OpBuilder &builder, Location loc,
                                       ArrayRef<AffineMap> maps,
                                       ValueRange factors, Value init) {
  return linalg::GenericOp::create(
      builder, loc, TypeRange{init.getType()}, factors, ValueRange{init}, maps,
      getIterators(maps[2]),
      [](OpBuilder &nested, Location nestedLoc, ValueRange args) {
        Emit emit(nested, nestedLoc);
        Type type = args[2].getType();
        Value product =
            emit.mul(emit.convert(args[0], type), emit.convert(args[1], type));
        linalg::YieldOp::create(nested, nestedLoc, emit.add(args[2], product));
      });
}

Value veeline::autodiff::createContraction(OpBuilder &builder,
                                           const AdjointSpace &space,
                                           const ScalarBody &body,
                                           AffineMap map,
                                           RankedTensorType type) {
  std::optional<Product> product = matchProduct(body);
  if (!product)
    return {};
  const Source *lhs = &space.sources[product->lhs];
  const Source *rhs = &space.sources[product->rhs];
  std::optional<ContractionDims> dims = matchDims(lhs->map, rhs->map, map);
  if (!dims)
    return {};
  // The factor with the first dimension of the result after the batch comes
  // first.
  auto getPosition = [&](unsigned dim) {
    return *map.getResultPosition(getAffineDimExpr(dim, builder.getContext()));
  };
  if (getPosition(dims->columns.front()) < getPosition(dims->rows.front())) {
    std::swap(lhs, rhs);
    std::swap(dims->rows, dims->columns);
  }
  SmallVector<unsigned> order = dims->batch;
  llvm::append_range(order, dims->rows);
  llvm::append_range(order, dims->columns);
  llvm::append_range(order, dims->summed);
  SmallVector<AffineMap> maps = {renameDims(lhs->map, order),
                                 renameDims(rhs->map, order),
                                 renameDims(map, order)};
  auto resultType = RankedTensorType::get(
      type.getShape(), getAccumulatorType(type.getElementType()));
  Value init = createZeros(builder, space.loc, resultType);
  SmallVector<Value> factors = {lhs->value, rhs->value};
  Operation *op =
      createNamedProduct(builder, space.loc, *dims, maps, factors, init);
  if (!op)
    op = createGenericProduct(builder, space.loc, maps, factors, init);
  return createConversion(builder, space.loc, op->getResult(0),
                          type.getElementType());
}
