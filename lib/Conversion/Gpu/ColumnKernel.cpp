//===- ColumnKernel.cpp - kernels of sums over rows -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelClass.h"
#include "RowKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace veeline;

/// The maximal number of rows that a thread loads before it adds them, and of
/// elements of all inputs in these rows: each takes a register.
static constexpr int64_t maxRowsAhead = 8, maxValuesAhead = 32;
/// About half of the blocks that a current device has room for: an H200 has 132
/// multiprocessors with room for 8 blocks each.
static constexpr int64_t minBlocks = 512;

/// Moves the parallel loops of `nest` before the reduced ones, each kind in
/// order, and returns the number of parallel loops.
static unsigned arrangeColumns(LoopNest &nest) {
  nest.dropUnitLoops();
  nest.sortParallelFirst();
  return nest.countParallel();
}

bool veeline::fitsColumns(const KernelBody &body) {
  if (body.rows || body.nests.size() != 1)
    return false;
  LoopNest nest = body.nests.front();
  nest.dropUnitLoops();
  if (nest.loops.empty() || nest.loops.back().isReduction ||
      !nest.hasReduction() || !nest.getReductions())
    return false;
  unsigned numParallel = arrangeColumns(nest);
  return llvm::all_of(nest.outputs(), [&](const NestAccess &access) {
    return isUniform(nest, access, numParallel);
  });
}

namespace {

/// Emits the sums of a block's columns. The threads of the block share the
/// rows.
class ColumnEmitter {
public:
  explicit ColumnEmitter(ThreadCode &code)
      : code(code), nest(code.body.nests.front()) {}

  void run();

private:
  void chooseLanes();
  bool canUseLanes(int64_t count) const;
  SmallVector<Value> makeNeutrals();
  int64_t chooseRowsAhead() const;
  SmallVector<Value> emitPartials();
  Value combineGroups(Operation *combiner, Value partial);
  Value loadSum(Value shared, Type type);
  void finish(ArrayRef<Value> partials);

  ThreadCode &code;
  LoopNest nest;
  SmallVector<NestReduction> reductions;
  int64_t lanes = 1, columns = 1, rows = 1;
  /// A point of the thread: the row in `ids`, and its first column in `linear`.
  ThreadCode::Point point;
  SmallVector<int64_t> columnSizes;
  Value column, exists, columnLane, rowGroup;
};

} // namespace

/// The nest with the reduced loops outside and the parallel ones inside, so
/// that the linear iteration is that of a column.
static LoopNest withColumnsInside(LoopNest nest) {
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, nest.loops.size()));
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return nest.loops[a].isReduction > nest.loops[b].isReduction;
  });
  nest.permute(order);
  return nest;
}

bool ColumnEmitter::canUseLanes(int64_t count) const {
  return columns % count == 0 && columns / (warpSize * count) >= minBlocks &&
         ThreadCode::canUseLanes(nest, point.firstLoop, count);
}

void ColumnEmitter::chooseLanes() {
  lanes = elementsPerAccess(nest.outputs().front().elementType);
  while (lanes > 1 && !canUseLanes(lanes))
    lanes /= 2;
}

/// The neutral element of each reduction, for all lanes.
SmallVector<Value> ColumnEmitter::makeNeutrals() {
  SmallVector<Value> neutrals;
  for (auto [reduction, access] : llvm::zip(reductions, nest.outputs())) {
    Type type = access.elementType;
    if (lanes > 1)
      type = VectorType::get({lanes}, type);
    neutrals.push_back(arith::ConstantOp::create(
        code.builder, code.loc, getNeutralElement(reduction.combiner, type)));
  }
  return neutrals;
}

/// The number of rows that a thread reads before it adds the first of them.
/// Waiting for each row would leave memory idle.
int64_t ColumnEmitter::chooseRowsAhead() const {
  int64_t numRows = rows % rowGroups ? 1 : rows / rowGroups;
  int64_t ahead = maxRowsAhead;
  int64_t numInputs = llvm::count_if(nest.accesses, [](const auto &access) {
    return access.isMemRef && access.isRead && !access.isWritten;
  });
  int64_t numValues = std::max<int64_t>(1, numInputs) * lanes;
  while (ahead > 1 &&
         (numRows % ahead != 0 || ahead * numValues > maxValuesAhead))
    ahead /= 2;
  return ahead;
}

/// Sums the thread's rows, in order.
SmallVector<Value> ColumnEmitter::emitPartials() {
  OpBuilder &builder = code.builder;
  SmallVector<int64_t> rowSizes;
  for (const NestLoop &loop : ArrayRef(nest.loops).take_front(point.firstLoop))
    rowSizes.push_back(loop.size);
  int64_t ahead = chooseRowsAhead();
  auto loop = scf::ForOp::create(builder, code.loc, rowGroup, code.index(rows),
                                 code.index(ahead * rowGroups), makeNeutrals());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<SmallVector<Value>> values;
  for (int64_t i = 0; i < ahead; ++i) {
    Value row = code.add(loop.getInductionVar(), i * rowGroups);
    point.ids = code.delinearize(row, rowSizes);
    values.push_back(code.emitBody(
        nest, point, lanes, [](unsigned) { return Value(); }, reductions));
  }
  SmallVector<Value> sums(loop.getRegionIterArgs());
  for (ArrayRef<Value> ofRow : values)
    for (auto [sum, value, reduction] : llvm::zip(sums, ofRow, reductions))
      sum = emitCombiner(builder, reduction.combiner, sum, value);
  scf::YieldOp::create(builder, code.loc, sums);
  return SmallVector<Value>(loop.getResults());
}

/// Combines the partial results of the row groups as a tree: group i with group
/// i + n/2, and so on. Returns the shared memory that then has the sums in the
/// place of the first group. There, the elements of one lane of all threads are
/// adjacent, so that there are no bank conflicts.
Value ColumnEmitter::combineGroups(Operation *combiner, Value partial) {
  OpBuilder &builder = code.builder;
  Location loc = code.loc;
  int64_t width = warpSize * lanes;
  Value shared = code.addShared(getElementTypeOrSelf(partial.getType()),
                                rowGroups * width);
  Value place = code.add(code.mul(rowGroup, width), columnLane);
  SmallVector<Value> sums;
  for (int64_t i = 0; i < lanes; ++i)
    sums.push_back(
        lanes > 1 ? Value(vector::ExtractOp::create(builder, loc, partial, i))
                  : partial);
  auto store = [&] {
    for (auto [i, sum] : llvm::enumerate(sums))
      memref::StoreOp::create(builder, loc, sum, shared,
                              code.add(place, i * warpSize));
  };
  store();
  for (int64_t half = rowGroups / 2; half; half /= 2) {
    gpu::BarrierOp::create(builder, loc);
    code.when(code.isLess(rowGroup, half), [&] {
      for (auto [i, sum] : llvm::enumerate(sums)) {
        Value own = code.add(place, i * warpSize);
        sum = emitCombiner(builder, combiner,
                           memref::LoadOp::create(builder, loc, shared, own),
                           memref::LoadOp::create(builder, loc, shared,
                                                  code.add(own, half * width)));
        memref::StoreOp::create(builder, loc, sum, shared, own);
      }
    });
  }
  return shared;
}

/// The sums of a thread of the first group, which has written them itself.
Value ColumnEmitter::loadSum(Value shared, Type type) {
  SmallVector<Value> sums;
  for (int64_t i = 0; i < lanes; ++i)
    sums.push_back(memref::LoadOp::create(code.builder, code.loc, shared,
                                          code.add(columnLane, i * warpSize)));
  if (lanes == 1)
    return sums.front();
  return vector::FromElementsOp::create(code.builder, code.loc, type, sums);
}

void ColumnEmitter::finish(ArrayRef<Value> partials) {
  OpBuilder &builder = code.builder;
  SmallVector<Value> buffers;
  for (auto [reduction, partial] : llvm::zip(reductions, partials))
    buffers.push_back(combineGroups(reduction.combiner, partial));
  Value isFirst = code.isLess(rowGroup, 1);
  if (exists)
    isFirst = arith::AndIOp::create(builder, code.loc, isFirst, exists);
  code.when(isFirst, [&] {
    point.ids.assign(point.firstLoop, code.index(0));
    for (auto [reduction, access, partial, buffer] :
         llvm::zip(reductions, nest.outputs(), partials, buffers)) {
      Value sum = loadSum(buffer, partial.getType());
      Value old = code.load(nest, access, point, lanes);
      code.store(emitCombiner(builder, reduction.combiner, old, sum), nest,
                 access, point, lanes);
    }
  });
}

void ColumnEmitter::run() {
  unsigned numParallel = arrangeColumns(nest);
  for (auto [i, loop] : llvm::enumerate(nest.loops))
    (i < numParallel ? columns : rows) *= loop.size;
  nest = withColumnsInside(std::move(nest));
  point.firstLoop = nest.loops.size() - numParallel;
  reductions = *nest.getReductions();
  chooseLanes();
  int64_t vectors = columns / lanes;
  code.setSizes(llvm::divideCeil(vectors, warpSize), rowGroups * warpSize);
  code.inlineOps({});
  code.builder.setInsertionPoint(nest.op);
  Value thread = code.thread();
  columnLane = code.rem(thread, warpSize);
  rowGroup = code.div(thread, warpSize);
  Value vector = code.add(code.mul(code.block(), warpSize), columnLane);
  // All threads have to reach barriers, so those without a column work on the
  // first one.
  if (vectors % warpSize) {
    exists = code.isLess(vector, vectors);
    vector = arith::SelectOp::create(code.builder, code.loc, exists, vector,
                                     code.index(0));
  }
  point.linear = code.mul(vector, lanes);
  finish(emitPartials());
}
void veeline::emitColumns(ThreadCode &code) { ColumnEmitter(code).run(); }
