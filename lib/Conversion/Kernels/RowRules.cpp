//===- RowRules.cpp - rules of ops that share rows ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowRules.h"

#include "KernelBody.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace veeline;

int64_t veeline::getByteWidth(Type type) {
  return type.isIndex() ? 8 : (type.getIntOrFloatBitWidth() + 7) / 8;
}

int64_t veeline::elementsPerAccess(Type type) {
  return vectorBytes / getByteWidth(type);
}

RowTeam RowTeam::get(int64_t count, int64_t lanes) {
  RowTeam team;
  team.lanes = lanes;
  team.threads = count <= 1024 ? warpSize : count <= 8192 ? 256 : 512;
  team.rounds = llvm::divideCeil(count, team.threads * lanes);
  return team;
}

std::optional<RowTeam> veeline::chooseTeam(ArrayRef<LoopNest> nests,
                                           unsigned numRowLoops) {
  std::optional<RowTeam> team;
  int64_t longest = 1;
  for (const LoopNest &nest : nests) {
    int64_t count = countIterations(nest, numRowLoops);
    longest = std::max(longest, count);
    if (!nest.hasReduction())
      continue;
    for (const NestAccess &access : nest.outputs()) {
      RowTeam own = RowTeam::get(count, elementsPerAccess(access.elementType));
      if (team && (own.threads != team->threads || own.lanes != team->lanes))
        return std::nullopt;
      team = own;
    }
  }
  // Without a reduction, bits do not depend on the number of lanes.
  RowTeam all = RowTeam::get(longest, team ? team->lanes : 4);
  if (team)
    all.threads = team->threads;
  all.rounds = llvm::divideCeil(longest, all.threads * all.lanes);
  return all;
}

static bool isRowNest(const LoopNest &nest, unsigned numRowLoops) {
  auto inner = ArrayRef(nest.loops).drop_front(numRowLoops);
  return !nest.hasReduction() ||
         (llvm::all_of(inner,
                       [](const NestLoop &l) { return l.isReduction; }) &&
          nest.isLaneReduction());
}

LoopNest veeline::asRow(const LoopNest &sum) {
  LoopNest row = sum;
  row.loops = {
      {sum.loops[0].size * sum.loops[1].size, false, KernelBody::noDim},
      sum.loops[2]};
  for (NestAccess &access : row.accesses)
    if (access.isMemRef)
      access.strides = {access.isWritten ? 0 : access.strides[1],
                        access.strides[2]};
  return row;
}

/// Whether `sum` has loops over parts, their rows and columns, and operands
/// that depend on the number of the row, but not on the part it is in.
static bool isSumOfRows(const LoopNest &sum, int64_t rows) {
  ArrayRef<NestLoop> loops = sum.loops;
  if (loops.size() != 3 || loops[0].isReduction || !loops[1].isReduction ||
      loops[2].isReduction || loops[0].size * loops[1].size != rows ||
      loops[1].size % rowGroups != 0 || !sum.getReductions())
    return false;
  for (unsigned dim = 0; dim < 3; ++dim)
    if (sum.usesIndex(dim))
      return false;
  bool loads = sum.op.getBlock()
                   ->walk([](Operation *op) {
                     return llvm::any_of(op->getOperandTypes(),
                                         llvm::IsaPred<MemRefType>)
                                ? WalkResult::interrupt()
                                : WalkResult::advance();
                   })
                   .wasInterrupted();
  return !loads && llvm::all_of(sum.accesses, [&](const NestAccess &access) {
    if (!access.isMemRef)
      return !access.isWritten;
    if (access.isWritten)
      return access.strides[0] == loops[2].size && access.strides[1] == 0 &&
             access.strides[2] == 1;
    return access.strides[0] == loops[1].size * access.strides[1];
  });
}

/// The number of 4-byte registers that the sums of a thread may take.
static constexpr int64_t maxSumWords = 96;

bool veeline::fitsRowSums(const KernelBody &body) {
  if (!body.rows || body.numRowLoops != 1 || body.sums.empty() ||
      body.nests.empty())
    return false;
  std::optional<RowTeam> team = chooseTeam(body.nests, body.numRowLoops);
  if (!team || team->threads != warpSize || !team->fitsRegisters())
    return false;
  int64_t rows = body.nests.front().loops.front().size, words = 0;
  std::vector<LoopNest> all = body.nests;
  for (const LoopNest &sum : body.sums) {
    if (!isSumOfRows(sum, rows) ||
        sum.loops[0].size != body.sums.front().loops[0].size)
      return false;
    int64_t lanes =
        llvm::alignTo(sum.loops[2].size, warpSize * team->lanes) / warpSize;
    for (const NestAccess &access : sum.outputs())
      words += lanes * llvm::divideCeil(getByteWidth(access.elementType), 4);
    all.push_back(asRow(sum));
  }
  return words <= maxSumWords && sharePlaces(all, body.numRowLoops);
}

bool veeline::canShareRows(ArrayRef<LoopNest> nests, unsigned numRowLoops) {
  return !nests.empty() &&
         llvm::all_of(nests,
                      [&](const LoopNest &nest) {
                        return isRowNest(nest, numRowLoops);
                      }) &&
         sharePlaces(nests, numRowLoops) && chooseTeam(nests, numRowLoops);
}
