//===- LowerKernels.cpp - structured ops on buffers to vector loops -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/LaneEmitter.h"
#include "Kernels/LoopNest.h"
#include "veeline/Conversion/Attention.h"
#include "veeline/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace veeline {
#define GEN_PASS_DEF_PIPELOWERKERNELS
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

namespace {

/// Emits one structured op as loops. The innermost loop runs over lanes. If its
/// dimension is parallel, every lane is a result of its own. If it is a
/// reduction, every lane is a partial result, and a fixed tree combines them.
/// The kind depends only on the order of the op's dimensions, so the bits of a
/// result do not depend on what was fused into the op.
class NestEmitter {
public:
  NestEmitter(OpBuilder &builder, LoopNest nest)
      : builder(builder), nest(std::move(nest)), loc(this->nest.op.getLoc()) {}

  /// Emits the op as a whole.
  void run();

private:
  /// An operand that is contiguous along another loop than that of the lanes.
  struct Tile {
    unsigned access;
    /// The distance from one lane to the next, in elements.
    int64_t laneStride;
    /// Memory for one square tile of the operand, transposed.
    Value memory;
  };

  /// The position of an access: its memory in one dimension, and the index in
  /// it.
  struct Position {
    Value memref;
    Value index;
  };
  using Positions = SmallVector<Position>;

  void chooseOrder();
  int64_t chooseLanes() const;
  Positions makePositions();
  Positions advance(const Positions &positions, unsigned loop, Value iv);

  /// Emits the loop `loop`, with `body(positions, iv)` inside.
  void forLoop(unsigned loop, const Positions &positions, int64_t step,
               int64_t end, llvm::function_ref<void(const Positions &)> body);
  std::optional<unsigned> findTileLoop() const;
  void emitTiled(unsigned tileLoop);
  Positions loadTiles(const Positions &positions);
  /// Emits the loops from `loop` inwards, with one result for each lane.
  void emitParallel(unsigned loop, const Positions &positions);
  void emitParallelLanes(const Positions &positions, Value iv, int64_t lanes,
                         int64_t active);
  /// Emits the loops from `loop` inwards. The first `numParallel` loops are
  /// parallel. The last one runs over lanes of partial results.
  void emitReduction(unsigned loop, unsigned numParallel,
                     const Positions &positions);
  SmallVector<Value> emitPartials(unsigned loop, const Positions &positions,
                                  SmallVector<Value> partials);
  SmallVector<Value>
  forPartials(unsigned loop, const Positions &positions, int64_t step,
              int64_t end, ArrayRef<Value> partials,
              llvm::function_ref<SmallVector<Value>(const Positions &, Value,
                                                    ArrayRef<Value>)>
                  body);
  SmallVector<Value> emitUnrolled(const Positions &positions, int64_t unroll,
                                  int64_t end, ArrayRef<Value> partials);
  SmallVector<Value> emitPartialLanes(const Positions &positions, Value iv,
                                      int64_t active, ArrayRef<Value> partials);
  void finishReduction(const Positions &positions, ArrayRef<Value> partials);
  Value reduceTree(Operation *combiner, Value vector);
  void mapInputs(LaneEmitter &lanes, const Positions &positions);
  void mapIndices(LaneEmitter &lanes, Value laneIv);
  Value constantIndex(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  OpBuilder &builder;
  LoopNest nest;
  Location loc;
  int64_t numLanes = 1;
  SmallVector<NestReduction> reductions;
  /// Set within the loops over tiles. There, the last loop but one runs over a
  /// tile's rows.
  SmallVector<Tile> tiles;
  /// The induction variables of the loops around the insertion point.
  SmallVector<Value> ivs;
};

} // namespace

void NestEmitter::chooseOrder() {
  nest.arrange();
  bool overReduction = !nest.loops.empty() && nest.loops.back().isReduction;
  if (nest.isLaneReduction())
    reductions = *nest.getReductions();
  nest.coalesce(/*keepReductions=*/overReduction);
}

int64_t NestEmitter::chooseLanes() const {
  if (nest.loops.empty())
    return 1;
  if (nest.loops.back().isReduction && reductions.empty())
    return 1;
  // The number of lanes determines the bits of a reduction, so it depends only
  // on the type of the accumulators. Without a reduction, it is the number that
  // a vector register holds.
  ArrayRef<NestAccess> relevant =
      reductions.empty() ? ArrayRef(nest.accesses) : nest.outputs();
  bool wide = llvm::any_of(relevant, [](const NestAccess &access) {
    return access.elementType.isIntOrFloat() &&
           access.elementType.getIntOrFloatBitWidth() == 64;
  });
  return wide ? 8 : 16;
}

/// The memory of `memref` from its first element on, in one dimension.
static Value flatten(OpBuilder &builder, Location loc, Value memref,
                     int64_t size) {
  auto type = cast<MemRefType>(memref.getType());
  auto layout =
      StridedLayoutAttr::get(builder.getContext(), ShapedType::kDynamic, {1});
  OpFoldResult sizes = builder.getIndexAttr(size);
  OpFoldResult strides = builder.getIndexAttr(1);
  if (type.getLayout().isIdentity()) {
    auto flat = MemRefType::get({size}, type.getElementType(), AffineMap(),
                                type.getMemorySpace());
    return memref::ReinterpretCastOp::create(
        builder, loc, flat, memref, builder.getIndexAttr(0), sizes, strides);
  }
  auto flat = MemRefType::get({size}, type.getElementType(), layout,
                              type.getMemorySpace());
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  return memref::ReinterpretCastOp::create(
      builder, loc, flat, metadata.getBaseBuffer(),
      OpFoldResult(metadata.getOffset()), sizes, strides);
}

/// The number of elements from the first to the last one that the access reads
/// or writes.
static int64_t getSpan(const LoopNest &nest, const NestAccess &access) {
  int64_t last = access.offset;
  for (auto [loop, stride] : llvm::zip(nest.loops, access.strides))
    last += (loop.size - 1) * std::max<int64_t>(stride, 0);
  return last + 1;
}

NestEmitter::Positions NestEmitter::makePositions() {
  Positions positions;
  DenseMap<Value, Value> flat;
  for (const NestAccess &access : nest.accesses) {
    Value operand = access.base;
    if (!access.isMemRef) {
      positions.push_back({operand, Value()});
      continue;
    }
    Value &memref = flat[operand];
    if (!memref) {
      int64_t span = 0;
      for (const NestAccess &other : nest.accesses)
        if (other.base == operand)
          span = std::max(span, getSpan(nest, other));
      memref = flatten(builder, loc, operand, span);
    }
    positions.push_back({memref, constantIndex(access.offset)});
  }
  return positions;
}

NestEmitter::Positions NestEmitter::advance(const Positions &positions,
                                            unsigned loop, Value iv) {
  Positions result = positions;
  DenseMap<int64_t, Value> scaled;
  for (auto [access, position] : llvm::zip(nest.accesses, result)) {
    int64_t stride = access.strides[loop];
    if (!access.isMemRef || !stride)
      continue;
    Value &step = scaled[stride];
    if (!step)
      step = stride == 1 ? iv
                         : arith::MulIOp::create(builder, loc, iv,
                                                 constantIndex(stride));
    position.index = arith::AddIOp::create(builder, loc, position.index, step);
  }
  return result;
}

void NestEmitter::forLoop(unsigned loop, const Positions &positions,
                          int64_t step, int64_t end,
                          llvm::function_ref<void(const Positions &)> body) {
  auto forOp = scf::ForOp::create(builder, loc, constantIndex(0),
                                  constantIndex(end), constantIndex(step));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(forOp.getBody());
  ivs.push_back(forOp.getInductionVar());
  body(advance(positions, loop, forOp.getInductionVar()));
  ivs.pop_back();
}

void NestEmitter::mapInputs(LaneEmitter &lanes, const Positions &positions) {
  Block *body = nest.op.getBlock();
  for (auto [i, access] : llvm::enumerate(nest.accesses)) {
    if (!access.isRead || (!reductions.empty() && access.isWritten))
      continue;
    Value argument = body->getArgument(i);
    if (!access.isMemRef) {
      lanes.mapUniform(argument, positions[i].memref);
      continue;
    }
    int64_t stride = nest.loops.empty() ? 0 : access.strides.back();
    Value value = lanes.load(positions[i].memref, positions[i].index, stride);
    if (stride == 0)
      lanes.mapUniform(argument, value);
    else
      lanes.mapVector(argument, value);
  }
}

void NestEmitter::mapIndices(LaneEmitter &lanes, Value laneIv) {
  for (unsigned dim = 0; dim < nest.op.getNumLoops(); ++dim) {
    auto it = llvm::find_if(
        nest.loops, [&](const NestLoop &loop) { return loop.dim == dim; });
    if (it == nest.loops.end()) {
      // A dimension of one iteration, or one whose index nothing uses.
      if (nest.usesIndex(dim))
        lanes.mapIndex(dim, constantIndex(0), false);
      continue;
    }
    unsigned loop = it - nest.loops.begin();
    bool isLast = loop + 1 == nest.loops.size();
    lanes.mapIndex(dim, isLast ? laneIv : ivs[loop], isLast);
  }
}

void NestEmitter::emitParallelLanes(const Positions &positions, Value iv,
                                    int64_t lanes, int64_t active) {
  LaneEmitter emitter(builder, loc, lanes, active);
  mapInputs(emitter, positions);
  mapIndices(emitter, iv);
  Block *body = nest.op.getBlock();
  for (Operation &op : body->without_terminator())
    emitter.emit(&op);
  unsigned firstOutput = nest.op.getNumDpsInputs();
  for (auto [i, result] :
       llvm::enumerate(body->getTerminator()->getOperands())) {
    const NestAccess &access = nest.outputs()[i];
    const Position &position = positions[firstOutput + i];
    int64_t stride = nest.loops.empty() ? 0 : access.strides.back();
    emitter.store(emitter.getVector(result), position.memref, position.index,
                  stride);
  }
}

void NestEmitter::emitParallel(unsigned loop, const Positions &positions) {
  if (nest.loops.empty())
    return emitParallelLanes(positions, Value(), 1, 1);
  int64_t size = nest.loops[loop].size;
  if (loop + 1 < nest.loops.size()) {
    bool isSquare = !tiles.empty() && loop + 2 == nest.loops.size();
    forLoop(loop, isSquare ? loadTiles(positions) : positions, 1, size,
            [&](const Positions &inner) { emitParallel(loop + 1, inner); });
    return;
  }
  int64_t whole = size - size % numLanes;
  if (whole)
    forLoop(loop, positions, numLanes, whole, [&](const Positions &inner) {
      emitParallelLanes(inner, ivs.back(), numLanes, numLanes);
    });
  if (whole == size)
    return;
  Value iv = constantIndex(whole);
  emitParallelLanes(advance(positions, loop, iv), iv, numLanes, size - whole);
}

/// Combines lane i with lane i + n/2, and so on down to one lane.
Value NestEmitter::reduceTree(Operation *combiner, Value vector) {
  int64_t width = cast<VectorType>(vector.getType()).getNumElements();
  for (; width > 1; width /= 2) {
    int64_t half = width / 2;
    Value low = vector::ExtractStridedSliceOp::create(builder, loc, vector, {0},
                                                      {half}, {1});
    Value high = vector::ExtractStridedSliceOp::create(builder, loc, vector,
                                                       {half}, {half}, {1});
    vector = emitCombiner(builder, combiner, low, high);
  }
  return vector::ExtractOp::create(builder, loc, vector, 0);
}

SmallVector<Value> NestEmitter::emitPartialLanes(const Positions &positions,
                                                 Value iv, int64_t active,
                                                 ArrayRef<Value> partials) {
  LaneEmitter emitter(builder, loc, numLanes, active);
  mapInputs(emitter, positions);
  mapIndices(emitter, iv);
  for (Operation &op : nest.op.getBlock()->without_terminator())
    if (llvm::none_of(reductions, [&](const NestReduction &reduction) {
          return reduction.combiner == &op;
        }))
      emitter.emit(&op);
  SmallVector<Value> results;
  for (auto [reduction, partial] : llvm::zip(reductions, partials)) {
    Value next = emitCombiner(builder, reduction.combiner, partial,
                              emitter.getVector(reduction.value));
    if (Value mask = emitter.getMask())
      next = arith::SelectOp::create(builder, loc, mask, next, partial);
    results.push_back(next);
  }
  return results;
}

/// Emits the loop `loop` from 0 to `end`. It carries partial results.
SmallVector<Value> NestEmitter::forPartials(
    unsigned loop, const Positions &positions, int64_t step, int64_t end,
    ArrayRef<Value> partials,
    llvm::function_ref<SmallVector<Value>(const Positions &, Value,
                                          ArrayRef<Value>)>
        body) {
  auto forOp =
      scf::ForOp::create(builder, loc, constantIndex(0), constantIndex(end),
                         constantIndex(step), partials);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(forOp.getBody());
  Value iv = forOp.getInductionVar();
  ivs.push_back(iv);
  SmallVector<Value> carried(forOp.getRegionIterArgs());
  SmallVector<Value> next = body(advance(positions, loop, iv), iv, carried);
  ivs.pop_back();
  scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(forOp.getResults());
}

/// Emits the part of the last loop that is a multiple of `unroll` vectors. It
/// has one partial result for each of these vectors, so that none waits for
/// another. Only for combiners whose order does not matter.
SmallVector<Value> NestEmitter::emitUnrolled(const Positions &positions,
                                             int64_t unroll, int64_t end,
                                             ArrayRef<Value> partials) {
  unsigned last = nest.loops.size() - 1;
  size_t count = partials.size();
  SmallVector<Value> all;
  for (int64_t i = 0; i < unroll; ++i)
    llvm::append_range(all, partials);
  all = forPartials(
      last, positions, unroll * numLanes, end, all,
      [&](const Positions &inner, Value iv, ArrayRef<Value> carried) {
        SmallVector<Value> next;
        for (int64_t i = 0; i < unroll; ++i) {
          Value offset = constantIndex(i * numLanes);
          Value index = arith::AddIOp::create(builder, loc, iv, offset);
          llvm::append_range(next,
                             emitPartialLanes(advance(inner, last, offset),
                                              index, numLanes,
                                              carried.slice(i * count, count)));
        }
        return next;
      });
  for (; unroll > 1; unroll /= 2)
    for (size_t i = 0; i < unroll / 2 * count; ++i)
      all[i] = emitCombiner(builder, reductions[i % count].combiner, all[i],
                            all[i + unroll / 2 * count]);
  all.resize(count);
  return all;
}

SmallVector<Value> NestEmitter::emitPartials(unsigned loop,
                                             const Positions &positions,
                                             SmallVector<Value> partials) {
  int64_t size = nest.loops[loop].size;
  if (loop + 1 < nest.loops.size())
    return forPartials(
        loop, positions, 1, size, partials,
        [&](const Positions &inner, Value, ArrayRef<Value> carried) {
          return emitPartials(loop + 1, inner, llvm::to_vector(carried));
        });
  constexpr int64_t unroll = 4;
  bool isExact = llvm::all_of(reductions, [](const NestReduction &reduction) {
    return isExactCombiner(reduction.combiner);
  });
  int64_t whole = size - size % numLanes;
  if (isExact && whole && whole % (unroll * numLanes) == 0)
    partials = emitUnrolled(positions, unroll, whole, partials);
  else if (whole)
    partials = forPartials(
        loop, positions, numLanes, whole, partials,
        [&](const Positions &inner, Value iv, ArrayRef<Value> carried) {
          return emitPartialLanes(inner, iv, numLanes, carried);
        });
  if (whole == size)
    return partials;
  Value iv = constantIndex(whole);
  return emitPartialLanes(advance(positions, loop, iv), iv, size - whole,
                          partials);
}

void NestEmitter::finishReduction(const Positions &positions,
                                  ArrayRef<Value> partials) {
  unsigned firstOutput = nest.op.getNumDpsInputs();
  for (auto [i, reduction] : llvm::enumerate(reductions)) {
    const Position &position = positions[firstOutput + i];
    Value old =
        memref::LoadOp::create(builder, loc, position.memref, position.index);
    Value sum = reduceTree(reduction.combiner, partials[i]);
    memref::StoreOp::create(builder, loc,
                            emitCombiner(builder, reduction.combiner, old, sum),
                            position.memref, position.index);
  }
}

void NestEmitter::emitReduction(unsigned loop, unsigned numParallel,
                                const Positions &positions) {
  if (loop < numParallel) {
    forLoop(loop, positions, 1, nest.loops[loop].size,
            [&](const Positions &inner) {
              emitReduction(loop + 1, numParallel, inner);
            });
    return;
  }
  SmallVector<Value> partials;
  for (auto [reduction, access] : llvm::zip(reductions, nest.outputs())) {
    auto type = VectorType::get({numLanes}, access.elementType);
    partials.push_back(arith::ConstantOp::create(
        builder, loc, getNeutralElement(reduction.combiner, type)));
  }
  finishReduction(positions, emitPartials(loop, positions, partials));
}

/// A loop along which some input is contiguous that is not contiguous along the
/// last loop.
std::optional<unsigned> NestEmitter::findTileLoop() const {
  if (nest.hasReduction() || nest.loops.size() < 2)
    return std::nullopt;
  unsigned last = nest.loops.size() - 1;
  auto canTile = [&](unsigned loop) {
    return nest.loops[loop].size >= numLanes &&
           !nest.usesIndex(nest.loops[loop].dim);
  };
  for (const NestAccess &access : nest.accesses) {
    if (!access.isMemRef || access.isWritten ||
        access.elementType.isInteger(1) || access.strides[last] == 0 ||
        access.strides[last] == 1)
      continue;
    for (unsigned loop = 0; loop < last; ++loop)
      if (access.strides[loop] == 1 && canTile(loop) && canTile(last))
        return loop;
  }
  return std::nullopt;
}

/// `nest`, restricted to the iterations [begin, end) of a loop.
static LoopNest slice(LoopNest nest, unsigned loop, int64_t begin,
                      int64_t end) {
  nest.loops[loop].size = end - begin;
  for (NestAccess &access : nest.accesses)
    access.offset += begin * access.strides[loop];
  return nest;
}

/// A buffer on the stack of the function that contains the insertion point.
static Value allocateOnStack(OpBuilder &builder, Location loc,
                             MemRefType type) {
  OpBuilder::InsertionGuard guard(builder);
  Operation *op = builder.getInsertionBlock()->getParentOp();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    function = op->getParentOfType<FunctionOpInterface>();
  builder.setInsertionPointToStart(&function.getFunctionBody().front());
  return memref::AllocaOp::create(builder, loc, type,
                                  builder.getI64IntegerAttr(64));
}

/// Processes square tiles of the last loop and `tileLoop`. A tile is loaded
/// along `tileLoop`, transposed in registers, and processed along the last
/// loop. The rests along both loops are processed element by element.
void NestEmitter::emitTiled(unsigned tileLoop) {
  unsigned last = nest.loops.size() - 1;
  int64_t rows = nest.loops[tileLoop].size, columns = nest.loops[last].size;
  int64_t wholeRows = rows - rows % numLanes;
  int64_t wholeColumns = columns - columns % numLanes;
  LoopNest left = slice(nest, last, 0, wholeColumns);
  auto emitPart = [&](LoopNest part) {
    NestEmitter emitter(builder, std::move(part));
    emitter.numLanes = numLanes;
    emitter.emitParallel(0, emitter.makePositions());
  };
  if (wholeColumns < columns)
    emitPart(slice(nest, last, wholeColumns, columns));
  if (wholeRows < rows)
    emitPart(slice(left, tileLoop, wholeRows, rows));

  nest = slice(left, tileLoop, 0, wholeRows);
  for (auto [i, access] : llvm::enumerate(nest.accesses))
    if (access.isMemRef && !access.isWritten && access.strides[last] > 1 &&
        access.strides[tileLoop] == 1 && !access.elementType.isInteger(1))
      tiles.push_back({static_cast<unsigned>(i), access.strides[last], {}});
  Positions positions = makePositions();
  nest.split(last, numLanes);
  nest.split(tileLoop, numLanes);
  SmallVector<unsigned> order;
  for (unsigned loop = 0; loop < nest.loops.size(); ++loop)
    if (loop != tileLoop + 1 && loop + 1 != nest.loops.size())
      order.push_back(loop);
  order.push_back(tileLoop + 1);
  order.push_back(nest.loops.size() - 1);
  nest.permute(order);
  for (Tile &tile : tiles) {
    NestAccess &access = nest.accesses[tile.access];
    access.strides[nest.loops.size() - 2] = numLanes;
    access.strides[nest.loops.size() - 1] = 1;
    tile.memory = allocateOnStack(
        builder, loc,
        MemRefType::get({numLanes * numLanes}, access.elementType));
  }
  emitParallel(0, positions);
}

/// Transposes vectors: row i of the result is column i of the vectors. In every
/// round, the first half of the vectors is interleaved with the second.
static SmallVector<Value> transposeVectors(OpBuilder &builder, Location loc,
                                           SmallVector<Value> vectors) {
  int64_t count = static_cast<int64_t>(vectors.size());
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < count / 2; ++i) {
    low.append({i, count + i});
    high.append({count / 2 + i, count + count / 2 + i});
  }
  for (int64_t round = 1; round < count; round *= 2) {
    SmallVector<Value> next;
    for (int64_t i = 0; i < count / 2; ++i)
      for (ArrayRef<int64_t> mask : {ArrayRef(low), ArrayRef(high)})
        next.push_back(vector::ShuffleOp::create(builder, loc, vectors[i],
                                                 vectors[i + count / 2], mask));
    vectors = std::move(next);
  }
  return vectors;
}

/// Fills the tiles with the squares at `positions`, and returns the positions
/// in the tiles.
NestEmitter::Positions NestEmitter::loadTiles(const Positions &positions) {
  Positions result = positions;
  for (const Tile &tile : tiles) {
    Position &position = result[tile.access];
    auto type =
        VectorType::get({numLanes}, nest.accesses[tile.access].elementType);
    SmallVector<Value> vectors;
    for (int64_t lane = 0; lane < numLanes; ++lane) {
      Value index = arith::AddIOp::create(
          builder, loc, position.index, constantIndex(lane * tile.laneStride));
      vectors.push_back(
          vector::LoadOp::create(builder, loc, type, position.memref, index));
    }
    vectors = transposeVectors(builder, loc, std::move(vectors));
    for (auto [row, vector] : llvm::enumerate(vectors))
      vector::StoreOp::create(builder, loc, vector, tile.memory,
                              constantIndex(row * numLanes));
    position = {tile.memory, constantIndex(0)};
  }
  return result;
}

void NestEmitter::run() {
  if (nest.isEmpty())
    return;
  chooseOrder();
  numLanes = chooseLanes();
  if (reductions.empty()) {
    if (std::optional<unsigned> tileLoop = findTileLoop())
      return emitTiled(*tileLoop);
    return emitParallel(0, makePositions());
  }
  Positions positions = makePositions();
  emitReduction(0, nest.countParallel(), positions);
}

/// Replaces a structured op on memrefs of static shape by loops over vectors.
/// Fails with a diagnostic at the op.
static LogicalResult lowerToLoops(RewriterBase &rewriter, linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics())
    return op.emitError("lowering to loops needs operands that are memrefs; "
                        "run pipe-bufferize-chunks first");
  FailureOr<LoopNest> nest = LoopNest::get(op);
  if (failed(nest))
    return failure();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  NestEmitter(rewriter, std::move(*nest)).run();
  rewriter.eraseOp(op);
  return success();
}

namespace {

struct LowerKernels : veeline::impl::PipeLowerKernelsBase<LowerKernels> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp op) { copies.push_back(op); });
    for (memref::CopyOp op : copies) {
      rewriter.setInsertionPoint(op);
      rewriter.replaceOpWithNewOp<linalg::CopyOp>(op, op.getSource(),
                                                  op.getTarget());
    }
    SmallVector<pipe::AttentionOpInterface> attentions;
    getOperation()->walk(
        [&](pipe::AttentionOpInterface op) { attentions.push_back(op); });
    for (pipe::AttentionOpInterface op : attentions)
      if (failed(lowerAttentionToLoops(rewriter, op)))
        return signalPassFailure();
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops)
      if (failed(lowerToLoops(rewriter, op)))
        return signalPassFailure();
  }
};

} // namespace
