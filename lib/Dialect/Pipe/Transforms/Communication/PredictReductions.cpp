//===- PredictReductions.cpp - predicting the ends of all-reduces ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All replicas do the same at the same time. If a stage has several ranks in
// each replica, an all-reduce begins when the last of these has posted it and
// the all-reduces before it are over.
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

/// Bytes that are added up on one rank and sent to all. What is only scattered,
/// or only gathered, takes half of the time.
static int64_t getBytes(const Reduction &reduction) {
  int64_t halves = 0;
  for (Operation *op : reduction.ops) {
    bool isHalf = reduction.isGather() || isScattered(op);
    halves += (isHalf ? 1 : 2) * getByteSize(getReducedType(op));
  }
  return halves / 2;
}

/// The times at which a rank posts its reductions, by number.
static SmallVector<double> getPosts(ProgramOp program,
                                    ArrayRef<Reduction> reductions) {
  SmallVector<double> posts(reductions.size(), 0.0);
  double now = 0;
  for (Operation &op : program.getBody().front()) {
    auto times = op.getAttrOfType<DenseF64ArrayAttr>(predictedAttrName);
    if (getScheduleOp(&op) && times)
      now = times[1];
    for (auto [number, reduction] : llvm::enumerate(reductions))
      if (reduction.ops.back() == &op)
        posts[number] = now;
  }
  return posts;
}

/// The times at which the reductions of a stage are over. `posts` has an entry
/// for each rank.
static SmallVector<double> getEnds(PipelineOp pipeline, int64_t stage,
                                   ArrayRef<Reduction> reductions,
                                   ArrayRef<SmallVector<double>> posts) {
  SmallVector<double> ends;
  double last = 0;
  for (auto [number, reduction] : llvm::enumerate(reductions)) {
    for (const SmallVector<double> &ofRank : posts)
      if (number < ofRank.size())
        last = std::max(last, ofRank[number]);
    last += estimateAllReduce(pipeline, getBytes(reduction),
                              pipeline.getNumMembers(stage));
    ends.push_back(last);
  }
  return ends;
}

static void setWaits(ProgramOp program, ArrayRef<Reduction> reductions,
                     ArrayRef<double> ends) {
  Builder builder(program.getContext());
  double now = 0;
  for (Operation &op : program.getBody().front()) {
    auto times = op.getAttrOfType<DenseF64ArrayAttr>(predictedAttrName);
    if (getScheduleOp(&op) && times)
      now = times[1];
    for (auto [number, reduction] : llvm::enumerate(reductions))
      if (reduction.firstWait == &op) {
        double end = std::max(now, ends[number]);
        op.setAttr(predictedAttrName, builder.getDenseF64ArrayAttr({now, end}));
        now = end;
      }
  }
}

void veeline::pipe::predictReductions(PipelineOp pipeline,
                                      ArrayRef<ProgramOp> programs) {
  for (int64_t stage = 0, e = pipeline.getStages(); stage != e; ++stage) {
    SmallVector<ProgramOp> members;
    SmallVector<SmallVector<Reduction>> reductions;
    SmallVector<SmallVector<double>> posts;
    for (ProgramOp program : programs) {
      if (static_cast<int64_t>(program.getStage()) != stage)
        continue;
      members.push_back(program);
      reductions.push_back(getReductions(program));
      posts.push_back(getPosts(program, reductions.back()));
    }
    for (auto [program, ofRank] : llvm::zip_equal(members, reductions))
      if (!ofRank.empty())
        setWaits(program, ofRank, getEnds(pipeline, stage, ofRank, posts));
  }
}
