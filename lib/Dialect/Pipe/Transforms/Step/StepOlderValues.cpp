//===- StepOlderValues.cpp - older values of parameters -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of an asynchronous program use older values of parameters, at places of
// their own. Which one follows from the op's place in the program and from the
// function that is written: an update keeps the value before it, and nothing is
// copied back.
//
//===----------------------------------------------------------------------===//

#include "StepWriter.h"

#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Schedule/Asynchronous.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

/// A first step finds the values that its forwards use among the older ones:
/// what is late has updated the newest one since.
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

/// Whether a backward is the first to add to sums: that of a microbatch which
/// has updates of its own, or the first one in time of the rank's chunk where
/// what is late has added to those of the step before.
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

/// Before an update: keeps the value for the ops that use it after that. Of a
/// pipeline that stashes values these are of the microbatch whose forward ran
/// last, as many after that of the update as updates are late.
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

/// On a GPU norms are those of the step before until all that is late is over.
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

/// Whether the plan has older values where, and only where, they are used.
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
