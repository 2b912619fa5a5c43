//===- LoopNest.cpp - structured ops as loops over memory -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopNest.h"

#include "StructuredOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace veeline;

/// Adds `scale * expr` to the linear form (`coefficients`, `constant`).
static LogicalResult addLinear(AffineExpr expr, int64_t scale,
                               MutableArrayRef<int64_t> coefficients,
                               int64_t &constant) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    coefficients[dim.getPosition()] += scale;
    return success();
  }
  if (auto value = dyn_cast<AffineConstantExpr>(expr)) {
    constant += scale * value.getValue();
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  if (binary.getKind() == AffineExprKind::Add)
    return success(
        succeeded(addLinear(binary.getLHS(), scale, coefficients, constant)) &&
        succeeded(addLinear(binary.getRHS(), scale, coefficients, constant)));
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (binary.getKind() != AffineExprKind::Mul || !factor)
    return failure();
  return addLinear(binary.getLHS(), scale * factor.getValue(), coefficients,
                   constant);
}

static FailureOr<NestAccess> getAccess(linalg::LinalgOp op,
                                       OpOperand &operand) {
  NestAccess access;
  access.base = operand.get();
  access.strides.assign(op.getNumLoops(), 0);
  access.isWritten = op.isDpsInit(&operand);
  access.isRead = op.payloadUsesValueFromOperand(&operand);
  access.elementType = getElementTypeOrSelf(operand.get().getType());
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return access;
  access.isMemRef = true;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type.hasStaticShape() ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::is_contained(strides, ShapedType::kDynamic))
    return op.emitError("lowering to loops needs operands of static shape and "
                        "strides, found ")
           << type;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [expr, stride] : llvm::zip(map.getResults(), strides))
    if (failed(addLinear(expr, stride, access.strides, access.offset)))
      return op.emitError(
                 "lowering to loops needs linear indexing maps, found ")
             << AffineMapAttr::get(map) << " for " << type;
  // Addresses are computed as unsigned numbers, so strides must not be
  // negative.
  if (llvm::any_of(access.strides, [](int64_t stride) { return stride < 0; }))
    return op.emitError("lowering to loops needs indexing maps that do not "
                        "descend, found ")
           << AffineMapAttr::get(map)
           << "; read the reversed operand by linalg.index and tensor.extract";
  return access;
}

bool NestAccess::rebase() {
  auto type = dyn_cast<MemRefType>(base.getType());
  if (!type)
    return true;
  Value root = getRootBuffer(base);
  SmallVector<int64_t> viewStrides;
  int64_t viewOffset;
  auto rootType = dyn_cast<MemRefType>(root.getType());
  if (!rootType || !rootType.getLayout().isIdentity() ||
      failed(type.getStridesAndOffset(viewStrides, viewOffset)) ||
      ShapedType::isDynamic(viewOffset))
    return false;
  base = root;
  offset += viewOffset;
  return true;
}

FailureOr<LoopNest> LoopNest::get(linalg::LinalgOp op) {
  LoopNest nest;
  nest.op = op;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (unsigned dim = 0; dim < sizes.size(); ++dim) {
    if (ShapedType::isDynamic(sizes[dim]))
      return op.emitError("lowering to loops needs static shapes, but the "
                          "extent of dimension ")
             << dim << " is unknown";
    nest.loops.push_back(
        {sizes[dim], kinds[dim] == utils::IteratorType::reduction, dim});
  }
  for (OpOperand &operand : op->getOpOperands()) {
    FailureOr<NestAccess> access = getAccess(op, operand);
    if (failed(access))
      return failure();
    nest.accesses.push_back(std::move(*access));
  }
  return nest;
}

bool LoopNest::hasReduction() const {
  return llvm::any_of(loops, [](const NestLoop &l) { return l.isReduction; });
}

unsigned LoopNest::countParallel() const {
  return llvm::count_if(loops,
                        [](const NestLoop &l) { return !l.isReduction; });
}

bool LoopNest::isEmpty() const {
  return llvm::any_of(loops, [](const NestLoop &l) { return l.size == 0; });
}

ArrayRef<NestAccess> LoopNest::outputs() const {
  return ArrayRef(accesses).take_back(op.getNumDpsInits());
}

void LoopNest::permute(ArrayRef<unsigned> permutation) {
  auto apply = [&](auto &list) {
    auto old = list;
    for (auto [to, from] : llvm::enumerate(permutation))
      list[to] = old[from];
    list.resize(permutation.size());
  };
  apply(loops);
  for (NestAccess &access : accesses)
    apply(access.strides);
}

void LoopNest::dropUnitLoops() {
  SmallVector<unsigned> kept;
  for (unsigned i = 0; i < loops.size(); ++i)
    if (loops[i].size != 1)
      kept.push_back(i);
  permute(kept);
}

bool LoopNest::usesIndex(unsigned dim) const {
  bool used = false;
  op.getBlock()->walk(
      [&](linalg::IndexOp index) { used |= index.getDim() == dim; });
  return used;
}

bool LoopNest::canMerge(unsigned outer) const {
  const NestLoop &a = loops[outer], &b = loops[outer + 1];
  if (a.isReduction != b.isReduction || usesIndex(a.dim) || usesIndex(b.dim))
    return false;
  return llvm::all_of(accesses, [&](const NestAccess &access) {
    return access.strides[outer] == access.strides[outer + 1] * b.size;
  });
}

void LoopNest::coalesce(bool keepReductions) {
  for (unsigned i = 0; i + 1 < loops.size();) {
    if ((keepReductions && loops[i].isReduction) || !canMerge(i)) {
      ++i;
      continue;
    }
    loops[i + 1].size *= loops[i].size;
    loops.erase(loops.begin() + i);
    for (NestAccess &access : accesses)
      access.strides.erase(access.strides.begin() + i);
    // The merged loop can perhaps be merged with the one before it.
    i = i ? i - 1 : 0;
  }
}

void LoopNest::split(unsigned loop, int64_t inner) {
  NestLoop outer = loops[loop];
  outer.size /= inner;
  outer.step *= inner;
  loops[loop].size = inner;
  loops.insert(loops.begin() + loop, outer);
  for (NestAccess &access : accesses)
    access.strides.insert(access.strides.begin() + loop,
                          access.strides[loop] * inner);
}

bool LoopNest::isLaneReduction() const {
  if (loops.empty() || !loops.back().isReduction || !getReductions())
    return false;
  return llvm::all_of(outputs(), [&](const NestAccess &access) {
    return llvm::all_of(llvm::zip(loops, access.strides), [](auto pair) {
      return !std::get<0>(pair).isReduction || std::get<1>(pair) == 0;
    });
  });
}

void LoopNest::arrange() {
  dropUnitLoops();
  if (isLaneReduction())
    return sortParallelFirst();
  if (hasReduction() || outputs().empty())
    return;
  ArrayRef<int64_t> strides = outputs().front().strides;
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, loops.size()));
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return std::abs(strides[a]) > std::abs(strides[b]);
  });
  permute(order);
}

void LoopNest::sortParallelFirst() {
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, loops.size()));
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return loops[a].isReduction < loops[b].isReduction;
  });
  permute(order);
}

static bool isCombiner(Operation *op) {
  return isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp, arith::AddIOp, arith::MulIOp,
             arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp,
             arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op);
}

bool veeline::isExactCombiner(Operation *combiner) {
  return isCombiner(combiner) && !isa<arith::AddFOp, arith::MulFOp>(combiner);
}

NestReduction LoopNest::getReduction(unsigned index) const {
  return veeline::getReduction(op, index);
}

NestReduction veeline::getReduction(linalg::LinalgOp op, unsigned index) {
  Block *body = op.getBlock();
  BlockArgument accumulator = body->getArgument(op.getNumDpsInputs() + index);
  Operation *combiner =
      body->getTerminator()->getOperand(index).getDefiningOp();
  if (!combiner || !isCombiner(combiner) || combiner->getBlock() != body ||
      !accumulator.hasOneUse() || *accumulator.user_begin() != combiner ||
      !combiner->hasOneUse())
    return {};
  bool first = combiner->getOperand(0) == accumulator;
  return {combiner, combiner->getOperand(first ? 1 : 0)};
}

std::optional<SmallVector<NestReduction>> LoopNest::getReductions() const {
  SmallVector<NestReduction> reductions;
  for (unsigned i = 0; i < outputs().size(); ++i) {
    reductions.push_back(getReduction(i));
    if (!reductions.back().combiner)
      return std::nullopt;
  }
  return reductions;
}

static TypedAttr floatAttr(Type type, const APFloat &value) {
  return FloatAttr::get(type, value);
}

Value veeline::emitCombiner(OpBuilder &builder, Operation *combiner, Value a,
                            Value b) {
  return builder
      .create(combiner->getLoc(), combiner->getName().getIdentifier(), {a, b},
              {a.getType()}, combiner->getAttrs())
      ->getResult(0);
}

TypedAttr veeline::getNeutralElement(Operation *combiner, Type type) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    Attribute element = getNeutralElement(combiner, vector.getElementType());
    return DenseElementsAttr::get(vector, element);
  }
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    return llvm::TypeSwitch<Operation *, TypedAttr>(combiner)
        // x + -0 is x for every x, also for zeros of both signs.
        .Case([&](arith::AddFOp) {
          return floatAttr(type, APFloat::getZero(semantics, true));
        })
        .Case([&](arith::MulFOp) {
          return floatAttr(type, APFloat::getOne(semantics));
        })
        .Case([&](arith::MaximumFOp) {
          return floatAttr(type, APFloat::getInf(semantics, true));
        })
        .Case([&](arith::MinimumFOp) {
          return floatAttr(type, APFloat::getInf(semantics));
        })
        // maxnum and minnum ignore NaN.
        .Default([&](Operation *) {
          return floatAttr(type, APFloat::getNaN(semantics));
        });
  }
  unsigned width = type.getIntOrFloatBitWidth();
  APInt value = llvm::TypeSwitch<Operation *, APInt>(combiner)
                    .Case<arith::MulIOp>([&](auto) { return APInt(width, 1); })
                    .Case<arith::MaxSIOp>(
                        [&](auto) { return APInt::getSignedMinValue(width); })
                    .Case<arith::MinSIOp>(
                        [&](auto) { return APInt::getSignedMaxValue(width); })
                    .Case<arith::MinUIOp, arith::AndIOp>(
                        [&](auto) { return APInt::getAllOnes(width); })
                    .Default([&](auto) { return APInt::getZero(width); });
  return IntegerAttr::get(type, value);
}
