//===- MergedNest.cpp - nests of a kernel that share their loops ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MergedNest.h"
#include "StructuredOps.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace veeline;

/// Larger bodies would spill registers.
static constexpr size_t maxBodyOps = 128;

static bool isSamePlace(const NestAccess &a, const NestAccess &b) {
  return a.startsWith(b) && a.strides == b.strides;
}

int veeline::findOperand(ArrayRef<MergedNest::Operand> operands,
                         const NestAccess &access) {
  for (auto [i, operand] : llvm::enumerate(operands))
    if (isSamePlace(operand.access, access))
      return static_cast<int>(i);
  return -1;
}

static bool captures(const LoopNest &nest, Value root) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(*nest.op.getBlock()->getParent(), captured);
  return llvm::any_of(captured, [&](Value value) {
    return isa<BaseMemRefType>(value.getType()) && getRootBuffer(value) == root;
  });
}

/// True if `isAllowed` returns true for every two accesses of `a` and `b` to
/// one buffer of which one writes, and neither nest writes what the other
/// captures.
static bool
checkShared(const LoopNest &a, const LoopNest &b,
            llvm::function_ref<bool(const NestAccess &, const NestAccess &)>
                isAllowed) {
  for (const NestAccess &left : a.accesses) {
    if (left.isWritten && captures(b, left.base))
      return false;
    for (const NestAccess &right : b.accesses) {
      if (right.isWritten && captures(a, right.base))
        return false;
      if (left.isMemRef && right.isMemRef && left.base == right.base &&
          (left.isWritten || right.isWritten) && !isAllowed(left, right))
        return false;
    }
  }
  return true;
}

static bool haveSameLoops(const LoopNest &a, const LoopNest &b,
                          unsigned numRowLoops) {
  auto innerA = ArrayRef(a.loops).drop_front(numRowLoops);
  auto innerB = ArrayRef(b.loops).drop_front(numRowLoops);
  return innerA.size() == innerB.size() &&
         llvm::all_of(llvm::zip(innerA, innerB), [](auto pair) {
           auto &[left, right] = pair;
           return left.size == right.size &&
                  left.isReduction == right.isReduction;
         });
}

static bool hasInnerReduction(const LoopNest &nest, unsigned numRowLoops) {
  return llvm::any_of(ArrayRef(nest.loops).drop_front(numRowLoops),
                      [](const NestLoop &loop) { return loop.isReduction; });
}

static size_t countBodyOps(const MergedNest &merged) {
  size_t count = 0;
  for (const LoopNest *nest : merged.members)
    count += llvm::range_size(nest->op.getBlock()->without_terminator());
  return count;
}

static bool canMerge(const MergedNest &merged, const LoopNest &nest,
                     unsigned numRowLoops) {
  const LoopNest &first = *merged.members.front();
  if (!haveSameLoops(first, nest, numRowLoops) ||
      countBodyOps(merged) +
              llvm::range_size(nest.op.getBlock()->without_terminator()) >
          maxBodyOps)
    return false;
  bool reduces = hasInnerReduction(nest, numRowLoops);
  if (reduces && (!nest.isLaneReduction() || !first.isLaneReduction()))
    return false;
  return llvm::all_of(merged.members, [&](const LoopNest *member) {
    return checkShared(*member, nest,
                       [&](const NestAccess &a, const NestAccess &b) {
                         return !reduces && isSamePlace(a, b);
                       });
  });
}

/// True if `nest` can move before all of `merged`.
static bool canPass(const MergedNest &merged, const LoopNest &nest) {
  return llvm::all_of(merged.members, [&](const LoopNest *member) {
    return checkShared(
        *member, nest,
        [](const NestAccess &, const NestAccess &) { return false; });
  });
}

static void collectOperands(MergedNest &merged) {
  for (const LoopNest *nest : merged.members) {
    for (const NestAccess &access : nest->accesses)
      if (access.isMemRef && !access.isWritten &&
          findOperand(merged.outputs, access) < 0 &&
          findOperand(merged.inputs, access) < 0)
        merged.inputs.push_back({access, false});
    for (const NestAccess &access : nest->outputs())
      if (findOperand(merged.outputs, access) < 0)
        merged.outputs.push_back({access, access.isRead});
  }
}

static bool touches(const MergedNest &merged, Value root) {
  return llvm::any_of(merged.members, [&](const LoopNest *nest) {
    return llvm::any_of(nest->accesses, [&](const NestAccess &access) {
      return access.base == root;
    });
  });
}

/// True if output `index` is not needed to know the sizes of loops: for every
/// loop inside of the row loops, another operand has a stride.
static bool isRedundant(const MergedNest &merged, size_t index,
                        unsigned numRowLoops) {
  size_t numLoops = merged.members.front()->loops.size();
  for (size_t loop = numRowLoops; loop < numLoops; ++loop) {
    auto moves = [&](const MergedNest::Operand &operand) {
      return operand.access.strides[loop] != 0;
    };
    bool found = llvm::any_of(merged.inputs, moves);
    for (auto [i, output] : llvm::enumerate(merged.outputs))
      found |= i != index && moves(output);
    if (!found)
      return false;
  }
  return merged.outputs.size() > 1;
}

/// Removes outputs to row buffers that no other nest uses.
static void dropInnerOutputs(MutableArrayRef<MergedNest> nests,
                             const KernelGroup &group) {
  for (const KernelGroup::RowBuffer &buffer : group.rowBuffers) {
    MergedNest *user = nullptr;
    bool isShared = false;
    for (MergedNest &merged : nests)
      if (touches(merged, buffer.root)) {
        isShared |= user != nullptr;
        user = &merged;
      }
    if (!user || isShared)
      continue;
    for (size_t i = user->outputs.size(); i-- > 0;)
      if (user->outputs[i].access.base == buffer.root &&
          !user->outputs[i].readsOld &&
          isRedundant(*user, i, group.numRowLoops))
        user->outputs.erase(user->outputs.begin() + i);
  }
}

std::vector<MergedNest> veeline::mergeNests(const KernelGroup &group) {
  std::vector<MergedNest> result;
  for (const LoopNest &nest : group.nests) {
    MergedNest *target = nullptr;
    for (MergedNest &merged : llvm::reverse(result)) {
      if (canMerge(merged, nest, group.numRowLoops)) {
        target = &merged;
        break;
      }
      if (!canPass(merged, nest))
        break;
    }
    if (!target)
      target = &result.emplace_back();
    target->members.push_back(&nest);
  }
  for (MergedNest &merged : result)
    collectOperands(merged);
  dropInnerOutputs(result, group);
  return result;
}
