//===- RowRules.cpp - which ops work on rows together ---------------------===//
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
  team.threads = count <= 1024 ? warpSize : count <= 8192 ? 256 : 1024;
  team.rounds = llvm::divideCeil(count, team.threads * lanes);
  return team;
}

bool RowTeam::fitsRegisters() const {
  // A block of 1024 threads has 64 registers for each of them.
  return rounds <= (threads == 1024 ? 4 : 8);
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
  // Without a reduction no bit depends on the lanes.
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

bool veeline::canShareRows(ArrayRef<LoopNest> nests, unsigned numRowLoops) {
  return !nests.empty() &&
         llvm::all_of(nests,
                      [&](const LoopNest &nest) {
                        return isRowNest(nest, numRowLoops);
                      }) &&
         sharePlaces(nests, numRowLoops) && chooseTeam(nests, numRowLoops);
}
