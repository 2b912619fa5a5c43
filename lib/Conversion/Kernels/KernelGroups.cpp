//===- KernelGroups.cpp - groups of ops that run as one kernel ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelGroups.h"
#include "KernelBody.h"
#include "RowRules.h"
#include "StructuredOps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace veeline;

/// The maximal number of ops of a group. More would need too many registers and
/// arguments.
static constexpr size_t maxGroupSize = 24;
/// The number of entries above an op that it may join or pass.
static constexpr size_t maxLookback = 48;
/// A row loop is not worthwhile if its body has fewer iterations than this.
static constexpr int64_t minRowIterations = 64;
/// The maximal size of a row buffer, which is on the stack of a kernel.
static constexpr int64_t maxRowBufferBytes = 32 << 10;

//===----------------------------------------------------------------------===//
// Buffers that ops use
//===----------------------------------------------------------------------===//

static void addTouch(SmallVectorImpl<BufferTouch> &touches, Value root,
                     bool isWrite) {
  for (BufferTouch &touch : touches)
    if (touch.root == root) {
      touch.isWrite |= isWrite;
      return;
    }
  touches.push_back({root, isWrite});
}

/// Adds the buffers of which an address was taken.
static void addPointerTouches(SmallVectorImpl<BufferTouch> &touches,
                              Value pointer) {
  Operation *op = pointer.getDefiningOp();
  if (!op)
    return;
  if (auto extract = dyn_cast<memref::ExtractAlignedPointerAsIndexOp>(op))
    return addTouch(touches, getRootBuffer(extract.getSource()),
                    !op->hasAttr(readsOnlyAttrName));
  if (isa<arith::ArithDialect, LLVM::LLVMDialect>(op->getDialect()))
    for (Value operand : op->getOperands())
      addPointerTouches(touches, operand);
}

static void addOperandTouches(SmallVectorImpl<BufferTouch> &touches,
                              OpOperand &operand) {
  Type type = operand.get().getType();
  if (isa<LLVM::LLVMPointerType>(type))
    addPointerTouches(touches, operand.get());
  else if (isa<BaseMemRefType>(type) &&
           !isa<ViewLikeOpInterface>(operand.getOwner()))
    addTouch(touches, getRootBuffer(operand.get()), isWrite(operand));
}

SmallVector<BufferTouch> veeline::getTouches(Operation *op) {
  SmallVector<BufferTouch> touches;
  op->walk([&](Operation *nested) {
    for (OpOperand &operand : nested->getOpOperands())
      addOperandTouches(touches, operand);
  });
  return touches;
}

bool veeline::conflict(ArrayRef<BufferTouch> a, ArrayRef<BufferTouch> b) {
  return llvm::any_of(a, [&](const BufferTouch &left) {
    return llvm::any_of(b, [&](const BufferTouch &right) {
      return left.root == right.root && (left.isWrite || right.isWrite);
    });
  });
}

/// The buffers from which the body of a structured op loads directly.
static SmallVector<Value> getCapturedRoots(linalg::LinalgOp op) {
  SmallVector<Value> roots;
  op.getBlock()->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      if (isa<BaseMemRefType>(operand.getType()))
        roots.push_back(getRootBuffer(operand));
  });
  return roots;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The number of leading loops of `nest` that can become row loops.
static unsigned getMaxRowLoops(const LoopNest &nest, bool parallelRows) {
  if (parallelRows && nest.hasReduction() && !nest.isLaneReduction())
    return 0;
  if (!nest.hasReduction() || !nest.loops.back().isReduction)
    return nest.loops.size();
  // A reduction over the innermost loop must stay inside as a whole.
  unsigned count = 0;
  while (count < nest.loops.size() && !nest.loops[count].isReduction)
    ++count;
  return count;
}

/// Makes the leading loops of `nest` and of the group equal by splitting loops
/// of either. Returns the number of equal loops.
static unsigned matchRowLoops(MutableArrayRef<LoopNest> nests,
                              unsigned numRowLoops, LoopNest &nest,
                              bool parallelRows) {
  unsigned matched = 0;
  while (matched < numRowLoops &&
         matched < getMaxRowLoops(nest, parallelRows)) {
    int64_t ours = nests.front().loops[matched].size;
    int64_t theirs = nest.loops[matched].size;
    if (ours > theirs && ours % theirs == 0) {
      for (LoopNest &other : nests)
        other.split(matched, ours / theirs);
      ++numRowLoops;
    } else if (theirs > ours && theirs % ours == 0) {
      nest.split(matched, theirs / ours);
    } else if (ours != theirs) {
      break;
    }
    ++matched;
  }
  return matched;
}

namespace {

/// The range of elements that an access covers in one iteration of the row
/// loops.
struct Footprint {
  int64_t first, last;

  Footprint(const LoopNest &nest, const NestAccess &access,
            unsigned numRowLoops)
      : first(access.offset), last(access.offset) {
    for (unsigned i = numRowLoops; i < nest.loops.size(); ++i) {
      int64_t span = (nest.loops[i].size - 1) * access.strides[i];
      (span < 0 ? first : last) += span;
    }
  }
  void include(const Footprint &other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
};

} // namespace

/// True if two iterations of the row loops never access the same element within
/// `footprint`.
static bool areRowsDisjoint(const LoopNest &nest, const NestAccess &access,
                            unsigned numRowLoops, const Footprint &footprint) {
  SmallVector<std::pair<int64_t, int64_t>> loops;
  for (unsigned i = 0; i < numRowLoops; ++i)
    loops.emplace_back(std::abs(access.strides[i]), nest.loops[i].size);
  llvm::sort(loops);
  int64_t extent = footprint.last - footprint.first;
  for (auto [stride, size] : loops) {
    if (stride <= extent)
      return false;
    extent += (size - 1) * stride;
  }
  return true;
}

/// True if the rows of two accesses to one buffer are the same, and rows are
/// disjoint.
static bool haveSameRows(const LoopNest &a, const NestAccess &accessA,
                         const LoopNest &b, const NestAccess &accessB,
                         unsigned numRowLoops) {
  auto rows = [&](const NestAccess &access) {
    return ArrayRef(access.strides).take_front(numRowLoops);
  };
  if (rows(accessA) != rows(accessB))
    return false;
  Footprint footprint(a, accessA, numRowLoops);
  footprint.include(Footprint(b, accessB, numRowLoops));
  return areRowsDisjoint(a, accessA, numRowLoops, footprint);
}

static bool capturesWhatIsWritten(const LoopNest &reader,
                                  const LoopNest &writer) {
  SmallVector<Value> captured = getCapturedRoots(reader.op);
  return llvm::any_of(writer.accesses, [&](const NestAccess &access) {
    return access.isWritten && llvm::is_contained(captured, access.base);
  });
}

/// True if running `a` before `b` in every row is equivalent to running all of
/// `a` before `b`.
static bool areRowsIndependent(const LoopNest &a, const LoopNest &b,
                               unsigned numRowLoops) {
  if (capturesWhatIsWritten(a, b) || capturesWhatIsWritten(b, a))
    return false;
  return llvm::all_of(a.accesses, [&](const NestAccess &accessA) {
    return llvm::all_of(b.accesses, [&](const NestAccess &accessB) {
      if (!accessA.isMemRef || !accessB.isMemRef ||
          accessA.base != accessB.base ||
          (!accessA.isWritten && !accessB.isWritten))
        return true;
      return haveSameRows(a, accessA, b, accessB, numRowLoops);
    });
  });
}

/// Drops row loops until a row has enough work for a loop. Parallel rows always
/// have. But if all loops of all nests are row loops, the last one stays
/// inside.
static unsigned limitRowLoops(ArrayRef<LoopNest> nests, unsigned numRowLoops,
                              bool parallelRows) {
  if (parallelRows) {
    bool isAll = llvm::all_of(nests, [&](const LoopNest &nest) {
      return nest.loops.size() == numRowLoops;
    });
    return isAll && numRowLoops > 1 ? numRowLoops - 1 : numRowLoops;
  }
  auto isShort = [&] {
    return llvm::all_of(nests, [&](const LoopNest &nest) {
      return countIterations(nest, numRowLoops) < minRowIterations;
    });
  };
  while (numRowLoops && isShort())
    --numRowLoops;
  return numRowLoops;
}

/// True if the threads of a row of `group` can also process that row of `nest`.
static bool canJoinOnGpu(const KernelGroup &group, const LoopNest &nest,
                         unsigned numRowLoops) {
  SmallVector<LoopNest> all = group.nests;
  all.push_back(nest);
  return llvm::none_of(all, isTransposition) && canShareRows(all, numRowLoops);
}

/// The group with `nest` added, or none if they have no rows in common.
static std::optional<KernelGroup> join(KernelGroup group, LoopNest nest) {
  if (group.nests.size() >= maxGroupSize)
    return std::nullopt;
  unsigned matched =
      matchRowLoops(group.nests, group.numRowLoops, nest, group.parallelRows);
  for (; matched; --matched)
    if (llvm::all_of(group.nests,
                     [&](const LoopNest &other) {
                       return areRowsIndependent(other, nest, matched);
                     }) &&
        (!group.parallelRows || canJoinOnGpu(group, nest, matched)))
      break;
  group.nests.push_back(std::move(nest));
  if (!limitRowLoops(group.nests, matched, group.parallelRows))
    return std::nullopt;
  group.numRowLoops = matched;
  return group;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

namespace {

class KernelScheduler {
public:
  KernelScheduler(Block &block, GroupRules rules)
      : block(block), rules(rules) {}
  FailureOr<std::vector<ScheduleEntry>> run();

private:
  LogicalResult add(linalg::LinalgOp op);
  void addOther(Operation *op);
  bool tryJoin(const LoopNest &nest, ArrayRef<BufferTouch> touches);
  bool joinAt(size_t position, const LoopNest &nest,
              ArrayRef<BufferTouch> touches, ArrayRef<size_t> fills);
  void findRowBuffers();
  bool needs(linalg::LinalgOp op, const ScheduleEntry &entry) const;

  Block &block;
  GroupRules rules;
  std::vector<ScheduleEntry> entries;
};

} // namespace

/// True if `op` uses a value that `entry` computes.
bool KernelScheduler::needs(linalg::LinalgOp op,
                            const ScheduleEntry &entry) const {
  if (entry.isGroup())
    return false;
  bool found = false;
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      found |= operand.getDefiningOp() == entry.op;
  });
  return found;
}

static bool sharesBuffer(ArrayRef<BufferTouch> a, ArrayRef<BufferTouch> b) {
  return llvm::any_of(a, [&](const BufferTouch &left) {
    return llvm::any_of(
        b, [&](const BufferTouch &right) { return left.root == right.root; });
  });
}

static bool isSingleFill(const ScheduleEntry &entry) {
  return entry.isGroup() && entry.group.nests.size() == 1 &&
         isa<linalg::FillOp>(entry.group.nests.front().op);
}

/// Adds `nest` to the group at `position`. The entries `fills`, below the
/// group, fill the results of `nest`. They join the group, too, if they have
/// the same rows. Otherwise, they move up before it.
bool KernelScheduler::joinAt(size_t position, const LoopNest &nest,
                             ArrayRef<BufferTouch> touches,
                             ArrayRef<size_t> fills) {
  std::optional<KernelGroup> absorbed = entries[position].group;
  for (size_t fill : fills)
    if (absorbed)
      absorbed = join(*absorbed, entries[fill].group.nests.front());
  if (absorbed)
    absorbed = join(*absorbed, nest);
  std::optional<KernelGroup> joined =
      absorbed ? absorbed : join(entries[position].group, nest);
  if (!joined)
    return false;
  entries[position].group = std::move(*joined);
  for (const BufferTouch &touch : touches)
    addTouch(entries[position].touches, touch.root, touch.isWrite);
  if (absorbed) {
    for (size_t fill : llvm::reverse(fills))
      entries.erase(entries.begin() + fill);
    return true;
  }
  // In ascending order, because moving an entry up does not move those after
  // it.
  for (size_t fill : fills)
    std::rotate(entries.begin() + position, entries.begin() + fill,
                entries.begin() + fill + 1);
  return true;
}

/// Looks for a group above that shares data and rows with `nest`.
bool KernelScheduler::tryJoin(const LoopNest &nest,
                              ArrayRef<BufferTouch> touches) {
  SmallVector<size_t> fills;
  size_t lowest =
      entries.size() > maxLookback ? entries.size() - maxLookback : 0;
  for (size_t position = entries.size(); position-- > lowest;) {
    ScheduleEntry &entry = entries[position];
    if (isSingleFill(entry) && conflict(entry.touches, touches)) {
      fills.insert(fills.begin(), position);
      continue;
    }
    // Fills would move up across this entry, which may compute their value.
    bool fillsConflict = llvm::any_of(fills, [&](size_t fill) {
      return conflict(entries[fill].touches, entry.touches) ||
             needs(entries[fill].group.nests.front().op, entry);
    });
    if (fillsConflict)
      break;
    if (entry.isGroup() && sharesBuffer(entry.touches, touches) &&
        joinAt(position, nest, touches, fills))
      return true;
    if (needs(nest.op, entry) || conflict(entry.touches, touches))
      break;
  }
  // At least the fill of a result can run together with the op that adds to it.
  return !fills.empty() && joinAt(fills.back(), nest, touches, {});
}

/// True if every loop has an operand with a stride, so that the size of the
/// loop is known.
static bool moveSomewhere(const LoopNest &nest) {
  return llvm::all_of(
      llvm::seq<unsigned>(0, nest.loops.size()), [&](unsigned i) {
        return nest.loops[i].size == 1 ||
               llvm::any_of(nest.accesses, [&](const NestAccess &access) {
                 return access.strides[i] != 0;
               });
      });
}

void KernelScheduler::addOther(Operation *op) {
  ScheduleEntry entry;
  entry.op = op;
  entry.touches = getTouches(op);
  entries.push_back(std::move(entry));
}

LogicalResult KernelScheduler::add(linalg::LinalgOp op) {
  FailureOr<LoopNest> nest = LoopNest::get(op);
  if (failed(nest))
    return failure();
  bool hasPlaces = llvm::all_of(
      nest->accesses, [](NestAccess &access) { return access.rebase(); });
  if (!hasPlaces || !moveSomewhere(*nest)) {
    addOther(op);
    return success();
  }
  nest->arrange();
  SmallVector<BufferTouch> touches = getTouches(op);
  if (rules.fuse && !isa<linalg::FillOp>(op) && tryJoin(*nest, touches))
    return success();
  ScheduleEntry entry;
  entry.group.parallelRows = rules.parallelRows;
  entry.group.numRowLoops = getMaxRowLoops(*nest, rules.parallelRows);
  entry.group.nests.push_back(std::move(*nest));
  entry.touches = std::move(touches);
  entries.push_back(std::move(entry));
  return success();
}

/// The row buffer for `root`, or none if it needs more than a row.
static std::optional<KernelGroup::RowBuffer>
getRowBuffer(const KernelGroup &group, Value root) {
  std::optional<Footprint> footprint;
  const LoopNest *firstNest = nullptr;
  const NestAccess *first = nullptr;
  for (const LoopNest &nest : group.nests) {
    if (llvm::is_contained(getCapturedRoots(nest.op), root))
      return std::nullopt;
    for (const NestAccess &access : nest.accesses) {
      if (access.base != root)
        continue;
      Footprint own(nest, access, group.numRowLoops);
      if (!first) {
        first = &access;
        firstNest = &nest;
        footprint = own;
      }
      auto rows = [&](const NestAccess &a) {
        return ArrayRef(a.strides).take_front(group.numRowLoops);
      };
      if (rows(access) != rows(*first))
        return std::nullopt;
      footprint->include(own);
    }
  }
  if (!first ||
      !areRowsDisjoint(*firstNest, *first, group.numRowLoops, *footprint))
    return std::nullopt;
  int64_t size = footprint->last - footprint->first + 1;
  int64_t bytes = size * first->elementType.getIntOrFloatBitWidth() / 8;
  if (bytes > maxRowBufferBytes)
    return std::nullopt;
  // On a GPU, a row buffer is in the registers of threads.
  if (group.parallelRows && size > 1 &&
      !chooseTeam(group.nests, group.numRowLoops)->fitsRegisters())
    return std::nullopt;
  return KernelGroup::RowBuffer{root, footprint->first, size};
}

/// True if all uses of `buffer` and of its views are in `block`. If not, and if
/// `block` is in a loop, the buffer may be written before the loop or read
/// after it.
static bool isOnlyUsedIn(Block &block, Value buffer) {
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    return block.findAncestorOpInBlock(*user) &&
           (!isa<ViewLikeOpInterface>(user) ||
            llvm::all_of(user->getResults(), [&](Value view) {
              return isOnlyUsedIn(block, view);
            }));
  });
}

void KernelScheduler::findRowBuffers() {
  DenseMap<Value, unsigned> users;
  for (const ScheduleEntry &entry : entries)
    for (const BufferTouch &touch : entry.touches)
      ++users[touch.root];
  for (ScheduleEntry &entry : entries) {
    if (!entry.isGroup())
      continue;
    KernelGroup &group = entry.group;
    group.numRowLoops =
        group.nests.size() > 1
            ? limitRowLoops(group.nests, group.numRowLoops, group.parallelRows)
            : 0;
    if (!group.numRowLoops)
      continue;
    for (const BufferTouch &touch : entry.touches)
      if (users[touch.root] == 1 &&
          touch.root.getDefiningOp<memref::AllocOp>() &&
          isOnlyUsedIn(block, touch.root))
        if (auto buffer = getRowBuffer(group, touch.root))
          group.rowBuffers.push_back(*buffer);
  }
}

bool veeline::mayAlias(Operation &op) {
  return !isa<memref::AllocOp, memref::GetGlobalOp, ViewLikeOpInterface>(op) &&
         llvm::any_of(op.getResultTypes(),
                      [](Type type) { return isa<BaseMemRefType>(type); });
}

FailureOr<std::vector<ScheduleEntry>> KernelScheduler::run() {
  rules.fuse &= llvm::none_of(block, mayAlias);
  for (Operation &op : block.without_terminator()) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      if (failed(add(linalgOp)))
        return failure();
      continue;
    }
    if (!isa<memref::AllocOp, ViewLikeOpInterface>(op))
      addOther(&op);
  }
  findRowBuffers();
  return std::move(entries);
}

FailureOr<std::vector<ScheduleEntry>>
veeline::scheduleKernels(Block &block, GroupRules rules) {
  return KernelScheduler(block, rules).run();
}
