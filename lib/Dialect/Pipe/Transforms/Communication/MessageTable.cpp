//===- MessageTable.cpp - the messages of a pipeline ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MessageTable.h"

#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

void MessageTable::addProduced(Value value, int64_t edge, Direction direction,
                               int64_t microbatch) {
  MessageKey key{edge, direction, microbatch};
  if (!wanted.count(key))
    return;
  produced[key] = value;
  inOrder.push_back({key, value});
}

/// Adds a gradient, the value of a parameter, or norms: once for each rank of
/// the other stage to which this rank sends.
void MessageTable::addOfStep(Operation *op, Value value, int64_t number,
                             Direction direction) {
  const Edge &edge = tables.edges[number];
  auto program = cast<ProgramOp>(op->getParentOp());
  bool isGradient = direction == Direction::Gradient;
  int64_t target =
      tables.pipeline.getStageOf(isGradient ? edge.producer : edge.consumer);
  int64_t step = tables.pipeline.getWidth(program.getStage());
  for (int64_t to = program.getReplica(); to < tables.pipeline.getWidth(target);
       to += step)
    addProduced(value, number, direction, to);
}

/// The norms of all stages are sent back; other norms are sent to the next
/// stage.
void MessageTable::addNorms(GatherNormsOp norms) {
  auto program = cast<ProgramOp>(norms->getParentOp());
  auto stage = static_cast<int64_t>(program.getStage());
  auto before = norms.getBefore()
                    ? norms.getBefore().getDefiningOp<EdgeValueOp>()
                    : EdgeValueOp();
  bool isLast = stage + 1 == static_cast<int64_t>(tables.pipeline.getStages());
  bool isComplete =
      isLast || (before && before.getDirection() == Direction::Gradient);
  if (!isComplete)
    addOfStep(norms, norms.getAll(), tables.edges.getNorms(stage),
              Direction::Activation);
  else if (stage > 0)
    addOfStep(norms, norms.getAll(), tables.edges.getNorms(stage - 1),
              Direction::Gradient);
}

/// The new value of a parameter. If ranks have updated shares, the gathered
/// value.
static Value getWhole(UpdateOp update) {
  for (Operation *user : update.getValue().getUsers())
    if (auto gather = dyn_cast<AllGatherOp>(user))
      for (Operation *wait : gather.getHandle().getUsers())
        return cast<WaitOp>(wait).getValue();
  return update.getValue();
}

/// Records the results of `op` that other stages need.
void MessageTable::collectProduced(Operation *op) {
  if (std::optional<ChunkFunctionKind> kind = getFunctionKind(op)) {
    schedule::Op work = *getScheduleOp(op);
    const Carried &carried = tables.get(work.chunk, *kind);
    for (auto [i, value] : llvm::enumerate(carried.results)) {
      Value result = op->getResult(i);
      if (value.kind == RoleKind::Result)
        for (int64_t edge : tables.edges.getOutgoing(work.chunk, value.index))
          addProduced(result, edge, Direction::Activation, work.microbatch);
      if (value.kind == RoleKind::OperandGrad)
        if (auto edge = tables.edges.getIncoming(work.chunk, value.index))
          addProduced(result, *edge, Direction::Gradient, work.microbatch);
    }
    return;
  }
  if (auto length = dyn_cast<LengthOp>(op)) {
    ChunkOp chunk = tables.chunks[length.getChunk()];
    for (unsigned result = 0; result != chunk.getNumResults(); ++result)
      for (int64_t edge : tables.edges.getOutgoing(length.getChunk(), result))
        addProduced(length.getLength(), edge, Direction::Shape,
                    length.getMicrobatch());
    return;
  }
  if (auto norms = dyn_cast<GatherNormsOp>(op))
    return addNorms(norms);
  auto gradient = dyn_cast<GradientOp>(op);
  auto update = dyn_cast<UpdateOp>(op);
  for (const auto &[number, edge] : llvm::enumerate(tables.edges.getEdges())) {
    if (gradient && edge.param == gradient.getParam() &&
        edge.consumer == static_cast<int64_t>(gradient.getChunk()))
      addOfStep(op, gradient.getValue(), number, Direction::Gradient);
    if (update && edge.param == update.getParam())
      addOfStep(op, getWhole(update), number, Direction::Activation);
  }
}

LogicalResult MessageTable::collect() {
  for (ProgramOp program : programs)
    for (auto value : program.getBody().front().getOps<EdgeValueOp>()) {
      auto [it, inserted] = wanted.try_emplace(getKey(value), value);
      if (inserted)
        continue;
      InFlightDiagnostic diagnostic =
          value.emitOpError("stands twice; a value travels once");
      diagnostic.attachNote(it->second.getLoc()) << "the first one is here";
      return diagnostic;
    }
  for (ProgramOp program : programs)
    for (Operation &op : program.getBody().front())
      collectProduced(&op);
  return success();
}

FailureOr<Value> MessageTable::getProduced(EdgeValueOp use) const {
  auto it = produced.find(getKey(use));
  if (it == produced.end())
    return use.emitOpError(
        "is a value that no program of the pipeline computes");
  Operation *producer = it->second.getDefiningOp();
  if (isLate(producer) == use.getLate())
    return it->second;
  InFlightDiagnostic diagnostic =
      use.emitOpError() << "is of "
                        << (use.getLate() ? "the step before" : "this step")
                        << ", but what computes it is not";
  diagnostic.attachNote(producer->getLoc()) << "it is computed here";
  return diagnostic;
}
