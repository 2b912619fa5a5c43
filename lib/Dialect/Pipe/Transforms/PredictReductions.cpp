//===- PredictReductions.cpp - when all-reduces are over ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ranks of a stage do the same at the same time in all replicas, so an
// all-reduce begins where it is posted, behind those before it.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "veeline/Analysis/CostModel.h"
#include "veeline/Dialect/Pipe/Transforms/ProgramBuilder.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/Step.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

static int64_t getBytes(const Reduction &reduction) {
  int64_t bytes = 0;
  for (AllReduceOp sum : reduction.ops)
    bytes += getByteSize(sum.getHandle().getType().getValue());
  return bytes;
}

void veeline::pipe::predictReductions(PipelineOp pipeline, ProgramOp program) {
  llvm::DenseMap<Operation *, int64_t> posts;
  llvm::DenseMap<Operation *, Operation *> postOf;
  for (const Reduction &reduction : getReductions(program)) {
    posts[reduction.ops.back()] = getBytes(reduction);
    postOf[reduction.firstWait] = reduction.ops.back();
  }
  Builder builder(pipeline.getContext());
  llvm::DenseMap<Operation *, double> ends;
  double now = 0, lastEnd = 0;
  for (Operation &op : program.getBody().front()) {
    auto times = op.getAttrOfType<DenseF64ArrayAttr>(predictedAttrName);
    if (getScheduleOp(&op) && times)
      now = times[1];
    if (auto post = posts.find(&op); post != posts.end()) {
      lastEnd =
          std::max(now, lastEnd) + estimateAllReduce(pipeline, post->second);
      ends[&op] = lastEnd;
    }
    if (Operation *post = postOf.lookup(&op)) {
      double end = std::max(now, ends.lookup(post));
      op.setAttr(predictedAttrName, builder.getDenseF64ArrayAttr({now, end}));
      now = end;
    }
  }
}
