//===- ScatterKernel.cpp - kernels that add to rows selected by indices ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The adjoint of a gather: table[row(token), column] += value(token, column).
// Each block owns some rows. Its threads find the tokens of these rows among
// many at once, and then add them. Each thread adds its own columns, in the
// order of tokens. So the order of sums, and therefore their bits, are those of
// the host. This needs no atomics, no sorting, and no memory other than shared
// memory.
//
//===----------------------------------------------------------------------===//

#include "KernelClass.h"
#include "ScalarLoops.h"

#include "Kernels/StructuredOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace veeline;

/// The number of blocks that keeps a device busy.
static constexpr int64_t manyBlocks = 1024;
/// The number of tokens that a thread adds at a time. Their loads do not wait
/// for each other.
static constexpr int64_t batchSize = 8;
/// The maximal number of tokens that a thread examines before the block adds
/// any.
static constexpr int64_t maxLooks = 4;
/// With fewer threads, looking at the tokens would take long.
static constexpr int64_t minThreads = 128;

namespace {

/// The loops and the only sum of a scatter.
struct Scatter {
  SmallVector<scf::ForOp> loops;
  /// The loops over columns, and all others.
  SmallVector<scf::ForOp> columns, tokens;
  mutable memref::StoreOp store;
  mutable memref::LoadOp old;
  Operation *sum = nullptr;
  /// The positions of the row's indices among the indices of the store.
  SmallVector<unsigned> rowDims;

  int64_t getDimSize(unsigned dim) const {
    return store.getMemRefType().getDimSize(dim);
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

/// Matches table[i...] = table[i...] + value. There must be no other access to
/// the buffer.
static bool matchSum(Scatter &scatter, scf::ForOp root) {
  SmallVector<memref::StoreOp> stores;
  SmallVector<memref::LoadOp> loads;
  root->walk([&](memref::StoreOp store) { stores.push_back(store); });
  if (stores.size() != 1)
    return false;
  scatter.store = stores.front();
  Value table = scatter.store.getMemRef();
  root->walk([&](memref::LoadOp load) {
    if (getRootBuffer(load.getMemRef()) == getRootBuffer(table))
      loads.push_back(load);
  });
  if (loads.size() != 1)
    return false;
  scatter.old = loads.front();
  scatter.sum = scatter.store.getValueToStore().getDefiningOp();
  return scatter.old.getMemRef() == table &&
         llvm::equal(scatter.old.getIndices(), scatter.store.getIndices()) &&
         isa_and_present<arith::AddFOp, arith::AddIOp>(scatter.sum) &&
         scatter.sum->hasOneUse() && scatter.old->hasOneUse() &&
         *scatter.old->user_begin() == scatter.sum;
}

/// Adds to `ivs` the loops on whose iteration `value` depends. Returns false if
/// it depends on ops with regions, or on the sum.
static bool findLoops(const Scatter &scatter, Value value,
                      llvm::SetVector<Value> &ivs) {
  llvm::SetVector<Value> all;
  all.insert(value);
  for (size_t i = 0; i < all.size(); ++i) {
    if (auto argument = dyn_cast<BlockArgument>(all[i])) {
      if (isa<scf::ForOp>(argument.getOwner()->getParentOp()))
        ivs.insert(argument);
      continue;
    }
    Operation *op = all[i].getDefiningOp();
    if (op->getNumRegions() || op == scatter.old)
      return false;
    all.insert(op->operand_begin(), op->operand_end());
  }
  return true;
}

/// Separates loops over columns from all others. A loop over columns is an
/// index of the table, and no row depends on it.
static bool matchLoops(Scatter &scatter) {
  auto indices = scatter.store.getIndices();
  auto isIv = [&](Value index) {
    return llvm::any_of(scatter.loops, [&](scf::ForOp loop) {
      return loop.getInductionVar() == index;
    });
  };
  llvm::SetVector<Value> used;
  for (Value index : indices)
    if (!isIv(index) && !findLoops(scatter, index, used))
      return false;
  for (scf::ForOp loop : scatter.loops) {
    Value iv = loop.getInductionVar();
    bool isColumn = llvm::is_contained(indices, iv) && !used.contains(iv);
    (isColumn ? scatter.columns : scatter.tokens).push_back(loop);
  }
  bool isComputed = false;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    if (llvm::any_of(scatter.columns, [&](scf::ForOp loop) {
          return loop.getInductionVar() == index;
        }))
      continue;
    scatter.rowDims.push_back(dim);
    isComputed |= !isIv(index);
  }
  return isComputed && !used.empty();
}

static std::optional<Scatter> matchScatter(Block &block) {
  Scatter scatter;
  scf::ForOp root = *block.getOps<scf::ForOp>().begin();
  if (llvm::any_of(block, [&](Operation &op) {
        return &op != root && !getWrittenBuffers(&op).empty();
      }))
    return std::nullopt;
  scatter.loops = getStoringLoops(root);
  bool isNest = llvm::all_of(scatter.loops, [](scf::ForOp loop) {
    return loop->getNumResults() == 0 && countLoop(loop) > 0;
  });
  if (!isNest || !matchSum(scatter, root) ||
      scatter.store->getParentOp() != scatter.loops.back() ||
      scatter.old->getParentOp() != scatter.loops.back() ||
      !scatter.store.getMemRefType().hasStaticShape() || !matchLoops(scatter))
    return std::nullopt;
  return scatter;
}

bool veeline::fitsScatter(Block &block) {
  return matchScatter(block).has_value();
}

//===----------------------------------------------------------------------===//
// Iterations
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> getSizes(ArrayRef<scf::ForOp> loops) {
  return llvm::map_to_vector(loops,
                             [](scf::ForOp loop) { return countLoop(loop); });
}

static int64_t countAll(ArrayRef<scf::ForOp> loops) {
  return llvm::product_of(getSizes(loops));
}

namespace {

/// Emits parts of iterations of a scatter.
class IterationCode {
public:
  IterationCode(ThreadCode &code, const Scatter &scatter)
      : code(code), scatter(scatter) {}

  /// Emits what the nest computes for one token and one column, except the sum.
  /// If `column` is null, any column will do.
  IRMapping emit(Value token, Value column);
  Value getRow(const IRMapping &iteration);
  SmallVector<Value> getIndices(const IRMapping &iteration) const {
    return llvm::map_to_vector(scatter.store.getIndices(), [&](Value index) {
      return iteration.lookupOrDefault(index);
    });
  }
  /// Adds what the iteration contributes to `old`.
  Value emitSum(IRMapping iteration, Value old);
  Value getValue(const IRMapping &iteration) const;

private:
  void setLoops(IRMapping &mapping, ArrayRef<scf::ForOp> loops, Value linear);

  ThreadCode &code;
  const Scatter &scatter;
};

} // namespace

void IterationCode::setLoops(IRMapping &mapping, ArrayRef<scf::ForOp> loops,
                             Value linear) {
  SmallVector<Value> ids = code.delinearize(linear, getSizes(loops));
  for (auto [i, id] : llvm::enumerate(ids)) {
    scf::ForOp loop = loops[i];
    Value iv =
        arith::MulIOp::create(code.builder, code.loc, id, loop.getStep());
    mapping.map(
        loop.getInductionVar(),
        arith::AddIOp::create(code.builder, code.loc, iv, loop.getLowerBound())
            .getResult());
  }
}

IRMapping IterationCode::emit(Value token, Value column) {
  IRMapping mapping;
  setLoops(mapping, scatter.tokens, token);
  setLoops(mapping, scatter.columns, column ? column : code.index(0));
  for (size_t i = 0; i < scatter.loops.size(); ++i) {
    scf::ForOp loop = scatter.loops[i];
    Operation *inner = nullptr;
    if (i + 1 < scatter.loops.size())
      inner = scatter.loops[i + 1];
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (&op == inner)
        break;
      if (&op != scatter.store && &op != scatter.old && &op != scatter.sum)
        code.builder.clone(op, mapping);
    }
  }
  return mapping;
}

/// The row as one number.
Value IterationCode::getRow(const IRMapping &iteration) {
  Value row;
  for (unsigned dim : scatter.rowDims) {
    Value index = iteration.lookupOrDefault(scatter.store.getIndices()[dim]);
    row = row ? code.add(code.mul(row, scatter.getDimSize(dim)), index) : index;
  }
  return row;
}

Value IterationCode::getValue(const IRMapping &iteration) const {
  bool isFirst = scatter.sum->getOperand(0) == scatter.old.getResult();
  return iteration.lookupOrDefault(scatter.sum->getOperand(isFirst ? 1 : 0));
}

Value IterationCode::emitSum(IRMapping iteration, Value old) {
  iteration.map(scatter.old.getResult(), old);
  return code.builder.clone(*scatter.sum, iteration)->getResult(0);
}

//===----------------------------------------------------------------------===//
// In order
//===----------------------------------------------------------------------===//

namespace {

/// Emits a scatter in which blocks own rows.
class OrderedScatter {
public:
  OrderedScatter(ThreadCode &code, const Scatter &scatter)
      : code(code), builder(code.builder), scatter(scatter),
        iterations(code, scatter), numTokens(countAll(scatter.tokens)),
        numColumns(countAll(scatter.columns)) {}

  void run();

private:
  /// A token that a thread has examined.
  struct Look {
    Value token, isOwn, ballot;
  };
  /// A token that the thread adds.
  struct Entry {
    Value exists, row;
    SmallVector<IRMapping> columns;
    SmallVector<Value> sums;
  };

  void chooseSizes();
  Value number(int64_t value) {
    return arith::ConstantIntOp::create(builder, code.loc, value, 32);
  }
  SmallVector<Look> look(Value base);
  Value enqueue(ArrayRef<Look> looks);
  void addAll(Value count);
  Entry getEntry(Value place, Value count, int64_t i);
  void addBatch(MutableArrayRef<Entry> entries);

  ThreadCode &code;
  OpBuilder &builder;
  const Scatter &scatter;
  IterationCode iterations;
  int64_t numTokens, numColumns;
  int64_t lanes = 1, threads = 0, looks = 1, buckets = 1, columnBlocks = 1;
  Value thread, lane, warp, column, ballots, queue;
};

} // namespace

/// Chooses the sizes of the kernel. A thread has two columns if they can be one
/// access.
void OrderedScatter::chooseSizes() {
  if (!scatter.columns.empty() && countLoop(scatter.columns.back()) % 2 == 0)
    lanes = 2;
  int64_t needed = numColumns / lanes;
  columnBlocks = llvm::divideCeil(needed, threadsPerBlock);
  threads = std::max<int64_t>(
      llvm::alignTo(llvm::divideCeil(needed, columnBlocks), warpSize),
      minThreads);
  looks =
      std::clamp<int64_t>(llvm::divideCeil(numTokens, threads), 1, maxLooks);
  int64_t rows = 1;
  for (unsigned dim : scatter.rowDims)
    rows *= scatter.getDimSize(dim);
  buckets = std::clamp<int64_t>(manyBlocks / columnBlocks, 1, rows);
}

/// Each thread examines some tokens, adjacent to those of other threads. The
/// results of a warp are one number, which all threads can read.
SmallVector<OrderedScatter::Look> OrderedScatter::look(Value base) {
  SmallVector<Look> result;
  Location loc = code.loc;
  for (int64_t i = 0; i < looks; ++i) {
    Value token = code.add(code.add(base, i * threads), thread);
    Value exists = code.isLess(token, numTokens);
    Value place =
        arith::SelectOp::create(builder, loc, exists, token, code.index(0));
    Value row = iterations.getRow(iterations.emit(place, /*column=*/{}));
    Value isOwn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        code.rem(row, buckets), code.block());
    isOwn = arith::AndIOp::create(builder, loc, exists, isOwn);
    Value ballot =
        NVVM::VoteSyncOp::create(builder, loc, builder.getI32Type(), number(-1),
                                 isOwn, NVVM::VoteSyncKind::ballot);
    code.when(code.isLess(lane, 1), [&] {
      Value slot = code.add(warp, i * (threads / warpSize));
      memref::StoreOp::create(builder, loc, ballot, ballots, slot);
    });
    result.push_back({token, isOwn, ballot});
  }
  return result;
}

/// Puts the tokens of the block's rows into the queue, in order, and returns
/// their number.
Value OrderedScatter::enqueue(ArrayRef<Look> found) {
  Location loc = code.loc;
  int64_t warps = threads / warpSize;
  Value zero = number(0);
  // The number of all these tokens; and for each look, the number of those
  // before the warp's first one.
  SmallVector<Value> counts(1 + looks, zero);
  for (int64_t i = 0; i < looks * warps; ++i) {
    Value ballot = memref::LoadOp::create(builder, loc, ballots, code.index(i));
    Value count = math::CtPopOp::create(builder, loc, ballot);
    Value isBefore = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ugt, warp, code.index(i % warps));
    counts[1 + i / warps] = arith::AddIOp::create(
        builder, loc, counts[1 + i / warps],
        arith::SelectOp::create(builder, loc, isBefore, count, zero));
    for (int64_t later = i / warps + 1; later < looks; ++later)
      counts[1 + later] =
          arith::AddIOp::create(builder, loc, counts[1 + later], count);
    counts[0] = arith::AddIOp::create(builder, loc, counts[0], count);
  }
  Value lane32 =
      arith::IndexCastOp::create(builder, loc, builder.getI32Type(), lane);
  Value below = arith::ShLIOp::create(builder, loc, number(1), lane32);
  below = arith::SubIOp::create(builder, loc, below, number(1));
  for (int64_t i = 0; i < looks; ++i)
    code.when(found[i].isOwn, [&] {
      Value before =
          arith::AndIOp::create(builder, loc, found[i].ballot, below);
      before = math::CtPopOp::create(builder, loc, before);
      Value place = arith::AddIOp::create(builder, loc, counts[1 + i], before);
      Value token = arith::IndexCastOp::create(
          builder, loc, builder.getI32Type(), found[i].token);
      place = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                         place);
      memref::StoreOp::create(builder, loc, token, queue, place);
    });
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    counts[0]);
}

/// Entry i of the batch at `place`. If there is none, the first entry again,
/// which is not stored.
OrderedScatter::Entry OrderedScatter::getEntry(Value place, Value count,
                                               int64_t i) {
  Location loc = code.loc;
  Entry entry;
  Value own = code.add(place, i);
  if (i > 0) {
    entry.exists = arith::CmpIOp::create(builder, loc,
                                         arith::CmpIPredicate::ult, own, count);
    own = arith::SelectOp::create(builder, loc, entry.exists, own, place);
  }
  Value token = memref::LoadOp::create(builder, loc, queue, own);
  token =
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), token);
  for (int64_t j = 0; j < lanes; ++j)
    entry.columns.push_back(iterations.emit(token, code.add(column, j)));
  entry.row = iterations.getRow(entry.columns.front());
  return entry;
}

/// Loads the old numbers of all entries at once. If several entries have the
/// same row, each starts from the sum of the one before.
void OrderedScatter::addBatch(MutableArrayRef<Entry> entries) {
  Location loc = code.loc;
  for (Entry &entry : entries)
    for (const IRMapping &iteration : entry.columns)
      entry.sums.push_back(
          memref::LoadOp::create(builder, loc, scatter.store.getMemRef(),
                                 iterations.getIndices(iteration)));
  for (auto [i, entry] : llvm::enumerate(entries)) {
    for (const Entry &before : entries.take_front(i)) {
      Value isSame = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, before.row, entry.row);
      for (auto [sum, other] : llvm::zip_equal(entry.sums, before.sums))
        sum = arith::SelectOp::create(builder, loc, isSame, other, sum);
    }
    for (auto [sum, iteration] : llvm::zip_equal(entry.sums, entry.columns))
      sum = iterations.emitSum(iteration, sum);
  }
  for (Entry &entry : entries)
    code.when(entry.exists, [&] {
      for (auto [sum, iteration] : llvm::zip_equal(entry.sums, entry.columns))
        memref::StoreOp::create(builder, loc, sum, scatter.store.getMemRef(),
                                iterations.getIndices(iteration));
    });
}

void OrderedScatter::addAll(Value count) {
  auto loop = scf::ForOp::create(builder, code.loc, code.index(0), count,
                                 code.index(batchSize));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Entry> entries;
  for (int64_t i = 0; i < batchSize; ++i)
    entries.push_back(getEntry(loop.getInductionVar(), count, i));
  addBatch(entries);
}

void OrderedScatter::run() {
  chooseSizes();
  code.setSizes({buckets, columnBlocks, 1}, threads);
  ballots = code.addShared(builder.getI32Type(), looks * threads / warpSize);
  queue = code.addShared(builder.getI32Type(), looks * threads);
  thread = code.thread();
  lane = code.rem(thread, warpSize);
  warp = code.div(thread, warpSize);
  Value own =
      code.add(code.mul(code.block(gpu::Dimension::y), threads), thread);
  Value hasColumns = (numColumns / lanes) % threads
                         ? code.isLess(own, numColumns / lanes)
                         : Value();
  column = code.mul(own, lanes);
  code.loop(code.index(0), numTokens, looks * threads, [&](Value base) {
    SmallVector<Look> found = look(base);
    gpu::BarrierOp::create(builder, code.loc);
    Value count = enqueue(found);
    // No barrier is needed before the next look: threads that overwrite these
    // ballots have read them. Threads that write to the queue have passed a
    // barrier after adding its tokens.
    gpu::BarrierOp::create(builder, code.loc);
    code.when(hasColumns, [&] { addAll(count); });
  });
}

//===----------------------------------------------------------------------===//
// In any order
//===----------------------------------------------------------------------===//

/// Emits a scatter with one thread for each sum.
static void emitAtomics(ThreadCode &code, const Scatter &scatter) {
  SmallVector<int64_t> sizes = {countAll(scatter.tokens),
                                countAll(scatter.columns)};
  IterationCode iterations(code, scatter);
  code.forEach(sizes[0] * sizes[1], threadsPerBlock, [&](Value item) {
    SmallVector<Value> ids = code.delinearize(item, sizes);
    IRMapping iteration = iterations.emit(ids[0], ids[1]);
    auto kind = isa<arith::AddFOp>(scatter.sum) ? arith::AtomicRMWKind::addf
                                                : arith::AtomicRMWKind::addi;
    memref::AtomicRMWOp::create(
        code.builder, code.loc, kind, iterations.getValue(iteration),
        scatter.store.getMemRef(), iterations.getIndices(iteration));
  });
}

void veeline::emitScatter(ThreadCode &code, bool inOrder) {
  Block &block = code.function.getBody().front();
  Scatter scatter = *matchScatter(block);
  if (inOrder)
    OrderedScatter(code, scatter).run();
  else
    emitAtomics(code, scatter);
  scatter.loops.front()->erase();
}
