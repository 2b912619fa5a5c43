//===- StepOlderValues.cpp - older values of parameters -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of an asynchronous program use older values of parameters, which have
// places of their own. The place of an op in the program, and the function that
// is being written, determine which value the op uses. An update keeps the
// value before it, and nothing is copied back.
//
//===----------------------------------------------------------------------===//

#include "StepWriter.h"

#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Schedule/Asynchronous.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

/// In a first step, forwards find the values that they use among the older
/// ones, because late ops have updated the newest value before.
std::optional<int64_t> StepWriter::getOlderValue(Operation *op,
                                                 int64_t param) const {
  const MemoryPlan::Param *entry = plan.findParam(param);
  if (!entry || entry->versions.empty())
    return std::nullopt;
  const SmallVector<Operation *> &late = lateUpdates.find(param)->second;
  bool isFirst = part == StepPart::First;
  if (PipelineOp(tables.pipeline).getAsynchronous() ==
      Asynchronous::DoubleBuffered) {
    bool isNewest =
        !isFirst && !isLate(op) && op->isBeforeInBlock(late.front());
    return isNewest ? std::nullopt : std::optional<int64_t>(0);
  }
  schedule::Op work = *getScheduleOp(op);
  bool isOlder = work.kind == schedule::OpKind::Backward ||
                 (isFirst && work.microbatch < static_cast<int>(late.size()));
  if (!isOlder)
    return std::nullopt;
  return work.microbatch % static_cast<int64_t>(entry->versions.size());
}

/// Whether a backward is the first one to add to sums. That is so for the
/// backward of a microbatch with updates of its own, and for the first backward
/// in time of the rank's chunk if late backwards have added to the sums of the
/// step before.
bool StepWriter::beginsSums(Operation *op) const {
  std::optional<Asynchronous> kind =
      PipelineOp(tables.pipeline).getAsynchronous();
  auto backward = dyn_cast<BackwardOp>(op);
  if (!kind || !backward || *kind == Asynchronous::Stashed)
    return kind && backward;
  if (backward.getLate())
    return false;
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode())
    if (isa<BackwardOp>(before))
      return isLate(before);
  return true;
}

/// Rounds all older values.
void StepWriter::roundOlderValues() {
  for (const MemoryPlan::Rounded &entry : plan.rounded)
    for (auto [i, place] : llvm::enumerate(entry.versions))
      roundTo(entry, plan.findParam(entry.param)->versions[i], place);
}

/// Before an update, keeps the value for the ops that use it afterwards. If a
/// pipeline stashes values, these belong to the microbatch whose forward ran
/// last. It is as many microbatches after that of the update as there are late
/// updates.
void StepWriter::keepValue(const MemoryPlan::Param &entry,
                           std::optional<uint64_t> microbatch) {
  if (entry.versions.empty())
    return;
  size_t version = microbatch
                       ? (*microbatch + lateUpdates[entry.param].size()) %
                             entry.versions.size()
                       : 0;
  copy(atArena(entry.versions[version]), atArena(entry.value),
       tables.params[entry.param].getValue().getType());
  for (const MemoryPlan::Rounded &rounded : plan.rounded)
    if (rounded.param == entry.param)
      roundTo(rounded, entry.versions[version], rounded.versions[version]);
}

/// Checks the order of norms. On a GPU, norms are those of the step before
/// until all late ops have run.
LogicalResult StepWriter::verifyNormOrder() {
  Operation *inTime = nullptr;
  for (Operation &op : program.getBody().front()) {
    if (inTime && isOnDevice && isLate(&op)) {
      InFlightDiagnostic diagnostic =
          op.emitOpError("is late, behind an update that is in time");
      diagnostic.attachNote(inTime->getLoc()) << "the update";
      return diagnostic;
    }
    auto update = dyn_cast<UpdateOp>(op);
    if (update && update.getMicrobatch() && !update.getLate())
      inTime = update;
  }
  return success();
}

/// Checks that the plan has older values if and only if they are used.
LogicalResult StepWriter::verifyOlderValues() {
  std::optional<Asynchronous> kind =
      PipelineOp(tables.pipeline).getAsynchronous();
  auto expected = [&](int64_t param) -> size_t {
    auto late = lateUpdates.find(param);
    if (!kind || late == lateUpdates.end())
      return 0;
    if (*kind == Asynchronous::DoubleBuffered)
      return 1;
    return schedule::olderVersions(
        static_cast<int>(late->second.size()),
        PipelineOp(tables.pipeline).getMicrobatches().value_or(1));
  };
  auto isRight = [&](const auto &entry) {
    return entry.versions.size() == expected(entry.param);
  };
  if (llvm::all_of(plan.params, isRight) && llvm::all_of(plan.rounded, isRight))
    return verifyNormOrder();
  return program.emitOpError("has a plan with other older values than its "
                             "updates leave; run --pipe-plan-memory again");
}
