//===- InsertGathers.cpp - all-gathers of shards of parameters ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InsertGathers.h"

#include "InsertReductions.h"

#include "mlir/IR/Builders.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/Step.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

/// Posts the gathers of `updates` after the last of them, and waits for them.
/// Until gathers are numbered, all of them are in group 0.
static void gatherAll(MutableArrayRef<UpdateOp> updates, int stream) {
  if (updates.empty())
    return;
  UpdateOp last = updates.back();
  auto program = cast<ProgramOp>(last->getParentOp());
  auto communicator = static_cast<int64_t>(1 + program.getStage());
  OpBuilder builder(last.getContext());
  builder.setInsertionPointAfter(last);
  IntegerAttr group =
      updates.size() > 1 ? builder.getI64IntegerAttr(0) : IntegerAttr();
  SmallVector<AllGatherOp> gathers;
  for (UpdateOp update : updates) {
    auto type = cast<RankedTensorType>(update.getValue().getType());
    gathers.push_back(AllGatherOp::create(
        builder, update.getLoc(), HandleType::get(type.getContext(), type),
        update.getValue(), update.getParam(), stream, communicator, group,
        update.getLate()));
  }
  for (auto [update, gather] : llvm::zip_equal(updates, gathers)) {
    Value whole = WaitOp::create(builder, update.getLoc(),
                                 update.getValue().getType(), gather);
    update.getValue().replaceAllUsesExcept(whole, gather);
  }
}

void veeline::pipe::insertGathers(PipelineOp pipeline,
                                  ArrayRef<ProgramOp> programs, int stream) {
  for (ProgramOp program : programs) {
    if (pipeline.getShards(program.getStage()) == 1)
      continue;
    SmallVector<UpdateOp> updates;
    auto flush = [&] {
      gatherAll(updates, stream);
      updates.clear();
    };
    for (Operation &op :
         llvm::make_early_inc_range(ProgramOp(program).getBody().front())) {
      // Gradients, and edge values for those of other ranks, delay nothing, so
      // updates still count as adjacent.
      if (isa<GradientOp, EdgeValueOp>(op))
        continue;
      auto update = dyn_cast<UpdateOp>(op);
      if (!update ||
          (!updates.empty() && updates.back().getLate() != update.getLate()))
        flush();
      if (update)
        updates.push_back(update);
    }
    flush();
  }
}

static void numberGroups(ProgramOp program) {
  int64_t group = getFreeGroup(program) - 1;
  Operation *previous = nullptr;
  for (Operation &op : program.getBody().front()) {
    auto gather = dyn_cast<AllGatherOp>(op);
    if (gather && gather.getGroup()) {
      group += previous == nullptr;
      gather.setGroup(group);
    }
    previous = gather ? &op : nullptr;
  }
}

/// Moves waits for parameters to the end of the step. No op uses a parameter
/// between its update in time and the next step.
static void waitAtEnd(ProgramOp program) {
  Block &body = program.getBody().front();
  SmallVector<WaitOp> waits;
  for (auto wait : body.getOps<WaitOp>()) {
    auto gather = wait.getHandle().getDefiningOp<AllGatherOp>();
    if (gather && !gather.getLate() && wait->use_empty())
      waits.push_back(wait);
  }
  bool carries = !body.empty() && isa<CarryOp>(body.back());
  for (WaitOp wait : waits)
    if (carries)
      wait->moveBefore(&body.back());
    else
      wait->moveBefore(&body, body.end());
}

namespace {
/// A gather that the next turn can do.
struct Deferred {
  AllGatherOp gather;
  WaitOp wait;
  Operation *use = nullptr; ///< The first op that uses the parameter.
  int64_t chunk = -1;       ///< The first chunk of the stage that does.
};
} // namespace

/// The gathers that the next turn can do, in its order: those of parameters
/// that no other stage has, because these are sent there in their step. All
/// ranks of the stage have the same ones.
static SmallVector<Deferred> findDeferred(PipelineOp pipeline,
                                          ProgramOp program) {
  llvm::SmallDenseMap<int64_t, Operation *> firstOps;
  for (Operation &op : program.getBody().front())
    if (std::optional<schedule::Op> work = getScheduleOp(&op))
      firstOps.try_emplace(work->chunk, &op);
  SmallVector<ParamOp> params = pipeline.getParams();
  SmallVector<Deferred> all;
  for (auto gather : program.getBody().getOps<AllGatherOp>()) {
    auto wait = cast<WaitOp>(*gather.getHandle().getUsers().begin());
    Deferred one{gather, wait};
    bool isOwn = true;
    for (Operation *user : params[gather.getParam()].getValue().getUsers()) {
      auto chunk = dyn_cast<ChunkOp>(user);
      if (!chunk)
        continue;
      auto index = static_cast<int64_t>(chunk.getIndex());
      isOwn &= pipeline.getStageOf(index) ==
               static_cast<int64_t>(program.getStage());
      Operation *op = firstOps.lookup(index);
      if (op && (!one.use || op->isBeforeInBlock(one.use)))
        one.use = op;
      one.chunk = one.chunk < 0 ? index : std::min(one.chunk, index);
    }
    if (isOwn && one.use)
      all.push_back(one);
  }
  llvm::stable_sort(all, [](const Deferred &a, const Deferred &b) {
    return a.chunk < b.chunk;
  });
  return all;
}

/// Makes gathers late: the next turn begins with them, and waits before ops
/// that use the parameters. What one chunk uses first is gathered together.
/// Where other ops are late, or updates may be done again, gathers stay in
/// their step.
static void gatherInNextTurn(PipelineOp pipeline, ProgramOp program) {
  Block &body = program.getBody().front();
  if (pipeline.getClipSync() == ClipSync::Optimistic ||
      pipeline.getAsynchronous() ||
      llvm::any_of(body, [](Operation &op) { return isLate(&op); }))
    return;
  SmallVector<Deferred> all = findDeferred(pipeline, program);
  if (all.empty())
    return;
  int64_t group = getFreeGroup(program);
  SmallVector<Value> carried;
  Operation *first = &body.front();
  for (auto [i, one] : llvm::enumerate(all)) {
    AllGatherOp gather = one.gather;
    carried.push_back(gather.getValue());
    gather->moveBefore(first);
    gather.setLate(true);
    gather.getValueMutable().assign(
        body.addArgument(carried.back().getType(), gather.getLoc()));
    group += i > 0 && one.chunk != all[i - 1].chunk;
    gather.setGroup(group);
  }
  for (const Deferred &one : all)
    WaitOp(one.wait)->moveBefore(one.use);
  OpBuilder builder = OpBuilder::atBlockEnd(&body);
  CarryOp::create(builder, all.back().gather.getLoc(), carried);
}

void veeline::pipe::settleGathers(PipelineOp pipeline,
                                  ArrayRef<ProgramOp> programs,
                                  bool inNextTurn) {
  for (ProgramOp program : programs) {
    numberGroups(program);
    if (inNextTurn)
      gatherInNextTurn(pipeline, program);
    waitAtEnd(program);
  }
}
