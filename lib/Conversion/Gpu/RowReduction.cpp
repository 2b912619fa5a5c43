//===- RowReduction.cpp - exchange between the threads of a row -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace veeline;

//===----------------------------------------------------------------------===//
// Values between threads
//===----------------------------------------------------------------------===//

/// The type in which values of `type` are passed between threads. There are no
/// instructions for narrower types.
static Type getTransportType(OpBuilder &builder, Type type) {
  if (getByteWidth(type) >= 4 && !type.isIndex())
    return type;
  if (type.isIndex())
    return builder.getI64Type();
  return isa<FloatType>(type) ? Type(builder.getF32Type())
                              : Type(builder.getI32Type());
}

static Value toTransport(OpBuilder &builder, Location loc, Value value) {
  Type type = getTransportType(builder, value.getType());
  if (type == value.getType())
    return value;
  if (isa<FloatType>(type))
    return arith::ExtFOp::create(builder, loc, type, value);
  if (value.getType().isIndex())
    return arith::IndexCastUIOp::create(builder, loc, type, value);
  return arith::ExtUIOp::create(builder, loc, type, value);
}

static Value fromTransport(OpBuilder &builder, Location loc, Value value,
                           Type type) {
  if (type == value.getType())
    return value;
  if (isa<FloatType>(type))
    return arith::TruncFOp::create(builder, loc, type, value);
  if (type.isIndex())
    return arith::IndexCastUIOp::create(builder, loc, type, value);
  return arith::TruncIOp::create(builder, loc, type, value);
}

/// A scalar that only the first thread reads from memory, in all threads of the
/// team.
Value RowEmitter::broadcast(const LoopNest &nest, const NestAccess &access) {
  OpBuilder &builder = code.builder;
  Location loc = code.loc;
  auto load = [&] {
    Value value = code.load(nest, access, at(code.index(0)), 1);
    return toTransport(builder, loc, value);
  };
  Type type = getTransportType(builder, access.elementType);
  if (team.threads > warpSize) {
    Value shared = code.addShared(type, 1);
    code.when(isFirst(), [&] {
      memref::StoreOp::create(builder, loc, load(), shared, code.index(0));
    });
    gpu::BarrierOp::create(builder, loc);
    Value value = memref::LoadOp::create(builder, loc, shared, code.index(0));
    return fromTransport(builder, loc, value, access.elementType);
  }
  auto branch = scf::IfOp::create(builder, loc, TypeRange(type), isFirst(),
                                  /*withElse=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&branch.getThenRegion().front());
  scf::YieldOp::create(builder, loc, load());
  builder.setInsertionPointToStart(&branch.getElseRegion().front());
  Value none =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  scf::YieldOp::create(builder, loc, none);
  builder.setInsertionPointAfter(branch);
  Value value = gpu::ShuffleOp::create(builder, loc, branch.getResult(0), 0,
                                       warpSize, gpu::ShuffleMode::IDX)
                    .getShuffleResult();
  return fromTransport(builder, loc, value, access.elementType);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Value veeline::emitTree(OpBuilder &builder, Operation *combiner, Value vector) {
  Location loc = combiner->getLoc();
  SmallVector<Value> values;
  auto type = dyn_cast<VectorType>(vector.getType());
  if (!type)
    return vector;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    values.push_back(vector::ExtractOp::create(builder, loc, vector, i));
  for (size_t half = values.size() / 2; half; half /= 2)
    for (size_t i = 0; i < half; ++i)
      values[i] = emitCombiner(builder, combiner, values[i], values[i + half]);
  return values.front();
}

/// The value of the thread whose number differs in the bit `mask`.
static Value emitExchange(OpBuilder &builder, Location loc, Value value,
                          int32_t mask) {
  Value sent = toTransport(builder, loc, value);
  Value received = gpu::ShuffleOp::create(builder, loc, sent, mask, warpSize,
                                          gpu::ShuffleMode::XOR)
                       .getShuffleResult();
  return fromTransport(builder, loc, received, value.getType());
}

Value RowEmitter::reduceTeam(Operation *combiner, Value partial) {
  Value value = emitTree(code.builder, combiner, partial);
  for (int32_t mask = warpSize / 2; mask; mask /= 2)
    value = emitCombiner(code.builder, combiner, value,
                         emitExchange(code.builder, code.loc, value, mask));
  return team.threads > warpSize ? reduceWarps(combiner, value) : value;
}

/// The number of warps whose values a thread has at once. With f64, 16 of them
/// would take half of a thread's registers.
static constexpr int64_t warpsAtOnce = 8;

/// Combines the values of all warps of the block, in order. Every reduction has
/// its own shared memory, so that one barrier is enough.
Value RowEmitter::reduceWarps(Operation *combiner, Value value) {
  OpBuilder &builder = code.builder;
  Location loc = code.loc;
  int64_t warps = team.threads / warpSize;
  Value sent = toTransport(builder, loc, value);
  Value shared = code.addShared(sent.getType(), warps);
  Value isFirstOfWarp =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                            code.rem(lane, warpSize), code.index(0));
  code.when(isFirstOfWarp, [&] {
    memref::StoreOp::create(builder, loc, sent, shared,
                            code.div(lane, warpSize));
  });
  gpu::BarrierOp::create(builder, loc);
  auto combine = [&](Value result, Value first) {
    for (int64_t i = 0; i < std::min(warps, warpsAtOnce); ++i) {
      Value part = fromTransport(
          builder, loc,
          memref::LoadOp::create(builder, loc, shared, code.add(first, i)),
          value.getType());
      result = result ? emitCombiner(builder, combiner, result, part) : part;
    }
    return result;
  };
  Value result = combine({}, code.index(0));
  if (warps <= warpsAtOnce)
    return result;
  return code
      .rolledLoop(warpsAtOnce, warps, warpsAtOnce, result,
                  [&](Value first, ValueRange carried) {
                    return SmallVector<Value>{combine(carried[0], first)};
                  })
      .front();
}

/// Combines `partial` with the elements of a chunk that exist.
Value RowEmitter::combineChunk(Operation *combiner, Value partial, Value value,
                               const Chunk &chunk) {
  OpBuilder &builder = code.builder;
  Value next = emitCombiner(builder, combiner, partial, value);
  Value exists = chunk.exists;
  if (!chunk.elements.empty() && chunk.elements.front().second) {
    SmallVector<Value> conditions;
    for (auto [linear, condition] : chunk.elements)
      conditions.push_back(condition);
    exists = vector::FromElementsOp::create(
        builder, code.loc, VectorType::get({team.lanes}, builder.getI1Type()),
        conditions);
  }
  if (!exists)
    return next;
  return arith::SelectOp::create(builder, code.loc, exists, next, partial);
}

/// The initial values of a thread's partial results.
SmallVector<Value> RowEmitter::getNeutral(const LoopNest &nest) const {
  SmallVector<NestReduction> reductions = *nest.getReductions();
  SmallVector<Value> partials;
  for (auto [reduction, access] : llvm::zip(reductions, nest.outputs())) {
    auto type = VectorType::get({team.lanes}, access.elementType);
    partials.push_back(arith::ConstantOp::create(
        code.builder, code.loc, getNeutralElement(reduction.combiner, type)));
  }
  return partials;
}

/// Reduces the partial results of the threads to scalars of the row.
void RowEmitter::finishReduction(const LoopNest &nest, size_t number,
                                 ArrayRef<Value> partials) {
  SmallVector<NestReduction> reductions = *nest.getReductions();
  for (auto [i, access] : llvm::enumerate(nest.outputs())) {
    Operation *combiner = reductions[i].combiner;
    Value sum = reduceTeam(combiner, partials[i]);
    Value old = readNumber(nest, access);
    writeNumber(emitCombiner(code.builder, combiner, old, sum), nest, number,
                access);
  }
}

void RowEmitter::emitReduction(const LoopNest &nest, size_t number) {
  SmallVector<NestReduction> reductions = *nest.getReductions();
  SmallVector<Value> partials = forChunks(
      nest, getNeutral(nest), [&](const Chunk &chunk, ValueRange carried) {
        SmallVector<Value> values = emitChunk(nest, chunk, reductions);
        for (auto [i, reduction] : llvm::enumerate(reductions))
          values[i] =
              combineChunk(reduction.combiner, carried[i], values[i], chunk);
        return values;
      });
  finishReduction(nest, number, partials);
}
