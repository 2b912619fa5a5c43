//===- InsertGathers.cpp - all-gathers of shards of parameters ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InsertGathers.h"

#include "InsertReductions.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallSet.h"

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

void veeline::pipe::settleGathers(ArrayRef<ProgramOp> programs) {
  for (ProgramOp program : programs) {
    numberGroups(program);
    waitAtEnd(program);
  }
}
