//===- CopyPaths.cpp - avoiding copies that only rearrange ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyPaths.h"

#include "Kernels/StructuredOps.h"
#include "LibraryCalls.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace veeline;

/// `op` as a copy between places in buffers, if it is one in `block`.
static std::optional<LoopNest> getCopy(Operation *op, Block *block) {
  std::optional<LoopNest> copy = matchCopy(op);
  if (!copy || op->getBlock() != block || !copy->accesses[0].rebase() ||
      !copy->accesses[1].rebase())
    return std::nullopt;
  return copy;
}

//===----------------------------------------------------------------------===//
// Parts of a buffer
//===----------------------------------------------------------------------===//

namespace {

/// Elements of a buffer: those at `offset` plus any sum of multiples of
/// strides.
struct Part {
  /// Size and stride of each loop.
  SmallVector<std::pair<int64_t, int64_t>> loops;
  int64_t offset = 0;
};

/// The range of a part within each period of a buffer.
struct Interval {
  int64_t begin, end;
};

} // namespace

/// The range of `part` within each `period` elements. None if it is not the
/// same in all.
static std::optional<Interval> getInterval(const Part &part, int64_t period) {
  int64_t extent = 1;
  for (auto [size, stride] : part.loops) {
    if (stride < period)
      extent += (size - 1) * stride;
    else if (stride % period)
      return std::nullopt;
  }
  int64_t begin = part.offset % period;
  if (begin + extent > period)
    return std::nullopt;
  return Interval{begin, begin + extent};
}

/// True if the parts have disjoint ranges for some period, like two slices of
/// one dimension. May be false for other disjoint parts.
static bool areDisjoint(const Part &a, const Part &b) {
  return llvm::any_of(a.loops, [&](auto loop) {
    std::optional<Interval> left = getInterval(a, loop.second);
    std::optional<Interval> right = getInterval(b, loop.second);
    return left && right &&
           (left->end <= right->begin || right->end <= left->begin);
  });
}

static Part getPart(const LoopNest &nest, const NestAccess &access) {
  Part part;
  part.offset = access.offset;
  for (auto [loop, stride] : llvm::zip(nest.loops, access.strides))
    if (loop.size > 1 && stride)
      part.loops.emplace_back(loop.size, stride);
  return part;
}

static std::optional<Part> getPart(MemRefType type) {
  Part part;
  SmallVector<int64_t> strides;
  if (!type.hasStaticShape() ||
      failed(type.getStridesAndOffset(strides, part.offset)) ||
      ShapedType::isDynamic(part.offset) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return std::nullopt;
  for (auto [size, stride] : llvm::zip(type.getShape(), strides))
    if (size > 1)
      part.loops.emplace_back(size, stride);
  return part;
}

/// True if `op` accesses nothing in `part` of `root`, an allocation or an
/// argument.
static bool touchesOthers(Operation *op, Value root, const Part &part) {
  return !op->walk([&](Operation *nested) {
              for (Value operand : nested->getOperands()) {
                auto type = dyn_cast<MemRefType>(operand.getType());
                if (!type || getRootBuffer(operand) != root)
                  continue;
                std::optional<Part> other = getPart(type);
                if (!other || !areDisjoint(part, *other))
                  return WalkResult::interrupt();
              }
              return WalkResult::advance();
            }).wasInterrupted();
}

/// True if no op between `begin` and `end` accesses the part of `root`.
static bool isUntouched(Value root, const Part &part, Operation *begin,
                        Operation *end) {
  BufferUses uses(root, begin->getBlock());
  return uses.isKnown &&
         llvm::none_of(llvm::concat<Operation *>(uses.readers, uses.writers),
                       [&](Operation *op) {
                         return begin->isBeforeInBlock(op) &&
                                op->isBeforeInBlock(end) &&
                                !touchesOthers(op, root, part);
                       });
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

std::optional<LoopNest> veeline::findCopyInto(Value buffer, Operation *reader) {
  if (!buffer.getDefiningOp<memref::AllocOp>())
    return std::nullopt;
  Block *block = reader->getBlock();
  BufferUses uses(buffer, block);
  if (!uses.isKnown || uses.writers.size() != 1)
    return std::nullopt;
  std::optional<LoopNest> copy = getCopy(uses.writers.front(), block);
  if (!copy)
    return std::nullopt;
  const NestAccess &source = copy->accesses[0];
  BufferUses sourceUses(source.base, block);
  if (!sourceUses.isKnown || anyBetween(sourceUses.writers, copy->op, reader) ||
      (llvm::is_contained(sourceUses.writers, reader) &&
       !touchesOthers(reader, source.base, getPart(*copy, source))))
    return std::nullopt;
  return copy;
}

std::optional<LoopNest> veeline::findCopyOf(Value buffer, Operation *writer) {
  if (!buffer.getDefiningOp<memref::AllocOp>())
    return std::nullopt;
  Block *block = writer->getBlock();
  BufferUses uses(buffer, block);
  if (!uses.isKnown || uses.writers.size() != 1 || uses.readers.size() != 1 ||
      uses.readers.front()->isBeforeInBlock(writer))
    return std::nullopt;
  std::optional<LoopNest> copy = getCopy(uses.readers.front(), block);
  if (!copy)
    return std::nullopt;
  const NestAccess &target = copy->accesses[1];
  Part part = getPart(*copy, target);
  if (!touchesOthers(writer, target.base, part) ||
      !isUntouched(target.base, part, writer, copy->op))
    return std::nullopt;
  return copy;
}

void veeline::replaceCopy(RewriterBase &rewriter, const LoopNest &copy,
                          Operation *writer) {
  if (Operation *target = copy.accesses[1].base.getDefiningOp())
    if (target->getBlock() == writer->getBlock() &&
        writer->isBeforeInBlock(target))
      target->moveBefore(writer);
  rewriter.eraseOp(copy.op);
}

/// The loop of `copy` for `stride` on side `side`: the outermost one whose
/// stride divides it.
static std::optional<unsigned> findLoop(const LoopNest &copy, unsigned side,
                                        int64_t stride) {
  std::optional<unsigned> best;
  ArrayRef<int64_t> strides = copy.accesses[side].strides;
  for (unsigned loop = 0; loop < strides.size(); ++loop)
    if (strides[loop] > 0 && stride % strides[loop] == 0 &&
        (!best || strides[loop] > strides[*best]))
      best = loop;
  return best;
}

/// Converts `offset` on side `side` of `copy` to iterations of its loops.
static std::optional<SmallVector<int64_t>>
findStart(const LoopNest &copy, unsigned side, int64_t offset) {
  const NestAccess &access = copy.accesses[side];
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, copy.loops.size()));
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return access.strides[a] > access.strides[b];
  });
  SmallVector<int64_t> start(order.size());
  offset -= access.offset;
  for (unsigned loop : order) {
    if (access.strides[loop] <= 0 || offset < 0)
      return std::nullopt;
    start[loop] = offset / access.strides[loop];
    offset %= access.strides[loop];
  }
  return offset ? std::nullopt : std::optional(start);
}

bool veeline::redirect(LoopNest &nest, unsigned index, const LoopNest &copy,
                       unsigned from) {
  const NestAccess &source = copy.accesses[from];
  const NestAccess &target = copy.accesses[1 - from];
  auto start = findStart(copy, from, nest.accesses[index].offset);
  if (!start)
    return false;
  SmallVector<int64_t> last = *start;
  for (unsigned loop = 0; loop < nest.loops.size(); ++loop) {
    int64_t stride = nest.accesses[index].strides[loop];
    if (stride == 0)
      continue;
    std::optional<unsigned> copyLoop = findLoop(copy, from, stride);
    if (!copyLoop)
      return false;
    int64_t step = stride / source.strides[*copyLoop];
    int64_t limit = copy.loops[*copyLoop].size;
    int64_t room = (limit - 1 - last[*copyLoop]) / step + 1;
    if (nest.loops[loop].size > room) {
      if (room <= 1 || nest.loops[loop].size % room)
        return false;
      nest.split(loop, room);
      // The outer half is now at this position, and belongs to another loop.
      --loop;
      continue;
    }
    last[*copyLoop] += (nest.loops[loop].size - 1) * step;
  }
  NestAccess &access = nest.accesses[index];
  for (int64_t &stride : access.strides) {
    if (stride == 0)
      continue;
    unsigned copyLoop = *findLoop(copy, from, stride);
    stride = stride / source.strides[copyLoop] * target.strides[copyLoop];
  }
  access.offset = target.offset;
  for (auto [iteration, stride] : llvm::zip(*start, target.strides))
    access.offset += iteration * stride;
  access.base = target.base;
  return true;
}
