//===- Slip.cpp - weight gradients in the next step -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Slip.h"

#include "Random.h"
#include "llvm/ADT/STLExtras.h"

using namespace veeline;

void veeline::fuzz::slip(const schedule::Problem &problem,
                         schedule::Schedule &order, Random &random) {
  using schedule::Op;
  using schedule::OpKind;
  for (int chunk = 0; chunk < problem.numChunks(); ++chunk) {
    std::vector<int> users = {chunk};
    for (const std::vector<int> &tied : problem.tied)
      if (llvm::is_contained(tied, chunk))
        users = tied;
    int stage = problem.placement.stageOf(chunk);
    auto isHere = [&](int user) {
      return problem.placement.stageOf(user) == stage;
    };
    if (!problem.chunks[chunk].hasBackwardInput || !llvm::all_of(users, isHere))
      continue;
    std::vector<Op> &ops = order.stages[stage];
    auto isWeight = [&](const Op &op) {
      return op.kind == OpKind::BackwardWeight && op.chunk == chunk;
    };
    int first = problem.microbatches -
                static_cast<int>(random.below(problem.microbatches + 1));
    llvm::erase_if(ops, [&](const Op &op) {
      return isWeight(op) && op.microbatch >= first;
    });
    size_t begin = 0;
    for (int i = first; i < problem.microbatches; ++i) {
      auto end = llvm::find_if(ops, [&](const Op &op) {
        return op.kind == OpKind::Forward &&
               llvm::is_contained(users, op.chunk);
      });
      begin += random.below(end - ops.begin() - begin + 1);
      ops.insert(ops.begin() + begin++,
                 {OpKind::BackwardWeight, chunk, i, /*late=*/true});
    }
  }
}
