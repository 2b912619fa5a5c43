//===- LaneEmitter.cpp - the body of a structured op on vectors -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace veeline;

LaneEmitter::LaneEmitter(OpBuilder &builder, Location loc, int64_t lanes,
                         int64_t active)
    : builder(builder), loc(loc), lanes(lanes), active(active) {}

VectorType LaneEmitter::vectorOf(Type elementType) const {
  return VectorType::get({lanes}, elementType);
}

void LaneEmitter::mapUniform(Value bodyValue, Value scalar) {
  values[bodyValue] = {Kind::Uniform, scalar, {}};
}

void LaneEmitter::mapVector(Value bodyValue, Value vector) {
  Kind kind = lanes == 1 ? Kind::Uniform : Kind::Vector;
  values[bodyValue] = {kind, lanes == 1 ? vector : Value(), vector};
}

void LaneEmitter::mapIndex(unsigned dim, Value index, bool isLaneDim) {
  Kind kind = isLaneDim && lanes > 1 ? Kind::Consecutive : Kind::Uniform;
  indices[dim] = {kind, index, {}};
}

LaneEmitter::Lane LaneEmitter::lookup(Value bodyValue) {
  auto it = values.find(bodyValue);
  // A value from outside of the body is the same in every lane.
  return it == values.end() ? Lane{Kind::Uniform, bodyValue, {}} : it->second;
}

Value LaneEmitter::getMask() {
  if (active == lanes || mask)
    return mask;
  SmallVector<bool> bits(lanes);
  std::fill_n(bits.begin(), active, true);
  auto type = vectorOf(builder.getI1Type());
  mask = arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, bits));
  return mask;
}

Value LaneEmitter::toVector(Lane &lane) {
  if (lane.vector || lanes == 1)
    return lanes == 1 ? lane.scalar : lane.vector;
  VectorType type = vectorOf(lane.scalar.getType());
  lane.vector = vector::BroadcastOp::create(builder, loc, type, lane.scalar);
  if (lane.kind == Kind::Uniform)
    return lane.vector;
  SmallVector<Attribute> steps;
  for (int64_t i = 0; i < lanes; ++i)
    steps.push_back(builder.getIntegerAttr(lane.scalar.getType(), i));
  Value step = arith::ConstantOp::create(builder, loc,
                                         DenseElementsAttr::get(type, steps));
  return lane.vector = arith::AddIOp::create(builder, loc, lane.vector, step);
}

Value LaneEmitter::getVector(Value bodyValue) {
  Lane lane = lookup(bodyValue);
  Value vector = toVector(lane);
  values[bodyValue] = lane;
  return vector;
}

Value LaneEmitter::offsetIndex(Value index, int64_t offset) {
  if (!offset)
    return index;
  Value constant = arith::ConstantIndexOp::create(builder, loc, offset);
  return arith::AddIOp::create(builder, loc, index, constant);
}

Value LaneEmitter::contiguousLoad(Value memref, ValueRange indices) {
  VectorType type = vectorOf(getElementTypeOrSelf(memref.getType()));
  Value mask = getMask();
  if (!mask)
    return vector::LoadOp::create(builder, loc, type, memref, indices,
                                  /*nontemporal=*/false,
                                  llvm::MaybeAlign(alignment));
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return vector::MaskedLoadOp::create(builder, loc, type, memref, indices, mask,
                                      zero);
}

/// Vectors of i1 are packed bits, but an i1 in memory is a byte.
static bool isPacked(Type elementType) { return elementType.isInteger(1); }

Value LaneEmitter::load(Value memref, Value index, int64_t stride) {
  Type elementType = getElementTypeOrSelf(memref.getType());
  if (lanes == 1 || stride == 0)
    return memref::LoadOp::create(builder, loc, memref, index);
  if (stride == 1 && !isPacked(elementType))
    return contiguousLoad(memref, index);
  VectorType type = vectorOf(elementType);
  Value result =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  for (int64_t lane = 0; lane < active; ++lane) {
    Value element = memref::LoadOp::create(builder, loc, memref,
                                           offsetIndex(index, lane * stride));
    result = vector::InsertOp::create(builder, loc, element, result, lane);
  }
  return result;
}

void LaneEmitter::store(Value vector, Value memref, Value index,
                        int64_t stride) {
  Type elementType = getElementTypeOrSelf(memref.getType());
  if (lanes == 1) {
    memref::StoreOp::create(builder, loc, vector, memref, index);
    return;
  }
  if (stride == 1 && !isPacked(elementType)) {
    if (Value mask = getMask())
      vector::MaskedStoreOp::create(builder, loc, memref, index, mask, vector);
    else
      vector::StoreOp::create(builder, loc, vector, memref, index,
                              /*nontemporal=*/false,
                              llvm::MaybeAlign(alignment));
    return;
  }
  for (int64_t lane = 0; lane < active; ++lane) {
    Value element = vector::ExtractOp::create(builder, loc, vector, lane);
    memref::StoreOp::create(builder, loc, element, memref,
                            offsetIndex(index, lane * stride));
  }
}

void LaneEmitter::emit(Operation *op) {
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    values[index.getResult()] = indices.at(index.getDim());
    return;
  }
  bool isUniform = true;
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      isUniform &= lookup(operand).kind == Kind::Uniform;
    if (auto index = dyn_cast<linalg::IndexOp>(nested))
      isUniform &= indices.at(index.getDim()).kind == Kind::Uniform;
  });
  if (isUniform)
    return emitUniform(op);
  if (emitConsecutive(op) || emitIndexCompare(op) || emitLoad(op) ||
      emitElementwise(op))
    return;
  emitPerLane(op);
}

/// Clones `op` with the operands in `mapping`. Replaces indices of the
/// structured op in its regions by the results of `getIndex`.
static Operation *
cloneWithIndices(OpBuilder &builder, Operation *op, IRMapping &mapping,
                 llvm::function_ref<Value(unsigned)> getIndex) {
  Operation *clone = builder.clone(*op, mapping);
  SmallVector<linalg::IndexOp> nested;
  clone->walk([&](linalg::IndexOp index) { nested.push_back(index); });
  for (linalg::IndexOp index : nested) {
    index.getResult().replaceAllUsesWith(getIndex(index.getDim()));
    index.erase();
  }
  return clone;
}

static void forUsedValues(Operation *op, llvm::function_ref<void(Value)> fn) {
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      fn(operand);
  });
}

void LaneEmitter::emitUniform(Operation *op) {
  IRMapping mapping;
  forUsedValues(op, [&](Value operand) {
    auto it = values.find(operand);
    if (it != values.end())
      mapping.map(operand, it->second.scalar);
  });
  Operation *clone = cloneWithIndices(builder, op, mapping, [&](unsigned dim) {
    return indices.at(dim).scalar;
  });
  for (auto [from, to] : llvm::zip(op->getResults(), clone->getResults()))
    values[from] = {Kind::Uniform, to, {}};
}

/// Emits index + uniform, index - uniform, and casts of an index. The results
/// grow by one from lane to lane, like the index.
bool LaneEmitter::emitConsecutive(Operation *op) {
  if (!isa<arith::AddIOp, arith::SubIOp, arith::IndexCastOp,
           arith::IndexCastUIOp>(op))
    return false;
  unsigned consecutive = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    Lane lane = lookup(operand.get());
    bool grows = lane.kind == Kind::Consecutive;
    if (lane.kind == Kind::Vector ||
        (grows && isa<arith::SubIOp>(op) && operand.getOperandNumber() == 1))
      return false;
    consecutive += grows;
  }
  if (consecutive != 1)
    return false;
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, lookup(operand).scalar);
  Value result = builder.clone(*op, mapping)->getResult(0);
  values[op->getResult(0)] = {Kind::Consecutive, result, {}};
  return true;
}

static arith::CmpIPredicate swapOperands(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::slt:
    return P::sgt;
  case P::sle:
    return P::sge;
  case P::sgt:
    return P::slt;
  case P::sge:
    return P::sle;
  default:
    return predicate;
  }
}

/// Compares an index to a uniform one: compares the number of the lane to their
/// difference. For that, 32 bits are enough, which takes half the registers.
bool LaneEmitter::emitIndexCompare(Operation *op) {
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || !compare.getLhs().getType().isIndex())
    return false;
  using P = arith::CmpIPredicate;
  P predicate = compare.getPredicate();
  if (!llvm::is_contained({P::eq, P::ne, P::slt, P::sle, P::sgt, P::sge},
                          predicate))
    return false;
  Lane growing = lookup(compare.getLhs()), fixed = lookup(compare.getRhs());
  if (growing.kind == Kind::Uniform) {
    std::swap(growing, fixed);
    predicate = swapOperands(predicate);
  }
  if (growing.kind != Kind::Consecutive || fixed.kind != Kind::Uniform)
    return false;
  auto index = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value difference =
      arith::SubIOp::create(builder, loc, fixed.scalar, growing.scalar);
  difference = arith::MinSIOp::create(builder, loc, difference, index(lanes));
  difference = arith::MaxSIOp::create(builder, loc, difference, index(-1));
  Type i32 = builder.getI32Type();
  Value narrow = arith::IndexCastOp::create(builder, loc, i32, difference);
  Value bound =
      vector::BroadcastOp::create(builder, loc, vectorOf(i32), narrow);
  SmallVector<int32_t> numbers =
      llvm::to_vector(llvm::seq<int32_t>(0, static_cast<int32_t>(lanes)));
  Value step = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(vectorOf(i32), ArrayRef(numbers)));
  mapVector(compare.getResult(),
            arith::CmpIOp::create(builder, loc, predicate, step, bound));
  return true;
}

/// Emits a load from a captured buffer whose last index grows with the lanes.
bool LaneEmitter::emitLoad(Operation *op) {
  auto load = dyn_cast<memref::LoadOp>(op);
  if (!load || load.getIndices().empty() ||
      isPacked(load.getMemRefType().getElementType()) ||
      !load.getMemRefType().isLastDimUnitStride())
    return false;
  SmallVector<Value> scalars;
  for (Value index : load.getIndices().drop_back()) {
    Lane lane = lookup(index);
    if (lane.kind != Kind::Uniform)
      return false;
    scalars.push_back(lane.scalar);
  }
  Lane last = lookup(load.getIndices().back());
  if (last.kind != Kind::Consecutive)
    return false;
  scalars.push_back(last.scalar);
  mapVector(load.getResult(), contiguousLoad(load.getMemref(), scalars));
  return true;
}

/// Missing lanes are zeros, and dividing by zero would trap.
Value LaneEmitter::guardDivisor(Operation *op, Value divisor) {
  if (!getMask() ||
      !isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
           arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
    return divisor;
  Value one = arith::ConstantOp::create(builder, loc,
                                        builder.getOneAttr(divisor.getType()));
  return arith::SelectOp::create(builder, loc, getMask(), divisor, one);
}

bool LaneEmitter::emitElementwise(Operation *op) {
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumRegions())
    return false;
  SmallVector<Type> resultTypes;
  for (Type type : op->getResultTypes()) {
    if (!VectorType::isValidElementType(type))
      return false;
    resultTypes.push_back(vectorOf(type));
  }
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    Value vector = getVector(operand.get());
    if (operand.getOperandNumber() == 1)
      vector = guardDivisor(op, vector);
    operands.push_back(vector);
  }
  Operation *result = builder.create(loc, op->getName().getIdentifier(),
                                     operands, resultTypes, op->getAttrs());
  for (auto [from, to] : llvm::zip(op->getResults(), result->getResults()))
    mapVector(from, to);
  return true;
}

/// Emits one copy of `op` for every lane that exists.
void LaneEmitter::emitPerLane(Operation *op) {
  SmallVector<Value> results;
  for (Type type : op->getResultTypes())
    results.push_back(arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(vectorOf(type))));
  for (int64_t lane = 0; lane < active; ++lane) {
    IRMapping mapping;
    auto inLane = [&](Lane value) -> Value {
      if (value.kind == Kind::Uniform)
        return value.scalar;
      return vector::ExtractOp::create(builder, loc, toVector(value), lane);
    };
    forUsedValues(op, [&](Value operand) {
      if (values.count(operand) && !mapping.contains(operand))
        mapping.map(operand, inLane(lookup(operand)));
    });
    // Indices are emitted before the clone, because its regions use them.
    DenseMap<unsigned, Value> byDim;
    op->walk([&](linalg::IndexOp index) {
      byDim.try_emplace(index.getDim(), inLane(indices.at(index.getDim())));
    });
    Operation *clone = cloneWithIndices(
        builder, op, mapping, [&](unsigned dim) { return byDim.at(dim); });
    for (auto [result, value] : llvm::zip(results, clone->getResults()))
      result = vector::InsertOp::create(builder, loc, value, result, lane);
  }
  for (auto [from, to] : llvm::zip(op->getResults(), results))
    mapVector(from, to);
}
