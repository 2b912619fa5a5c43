//===- AsynchronousVerifier.cpp - verification without a flush ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsynchronousVerifier.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace veeline::pipe;

namespace {
class AsynchronousVerifier {
public:
  AsynchronousVerifier(ProgramOp program, PipelineOp pipeline)
      : program(program), pipeline(pipeline), params(pipeline.getParams()) {}

  LogicalResult verify();

private:
  LogicalResult verifyCarriedHandles(CarryOp carry);
  LogicalResult verifySynchronous();
  LogicalResult verifyBackward(BackwardOp op);
  LogicalResult verifyDoubleBuffered(UpdateOp update);
  LogicalResult verifyCopies(Operation *op);
  LogicalResult verifyStashed(UpdateOp update);
  LogicalResult verifyStashedForward(ForwardOp op);
  LogicalResult verifyStashedOrder();

  ProgramOp program;
  PipelineOp pipeline;
  SmallVector<ParamOp> params;
  /// The state of a chunk at the current op of the walk.
  struct ChunkState {
    int64_t forwards = 0;
    SmallVector<BackwardOp> backwards;
    BackwardOp firstInTime;
    UpdateOp update;
  };
  llvm::MapVector<int64_t, ChunkState> states;
  /// For each parameter, the updates that follow the backwards of its chunk.
  llvm::MapVector<int64_t, SmallVector<UpdateOp>> stashed;
};
} // namespace

/// Checks that the next turn waits exactly once for each carried receive.
LogicalResult AsynchronousVerifier::verifyCarriedHandles(CarryOp carry) {
  for (OpOperand &operand : carry->getOpOperands()) {
    if (!isa<HandleType>(operand.get().getType()))
      continue;
    if (!pipeline.getAsynchronous())
      return carry.emitOpError("gives a handle to the next step, but the "
                               "pipeline is not 'asynchronous'");
    Value argument = program.getBody().getArgument(operand.getOperandNumber());
    if (operand.get().hasOneUse() && argument.hasOneUse() &&
        isa<WaitOp>(*argument.getUsers().begin()))
      continue;
    return carry.emitOpError()
           << "gives handle " << operand.getOperandNumber()
           << " to the next step, which waits for a handle once, as this one "
              "gives it once";
  }
  return success();
}

/// Checks that a synchronous pipeline has nothing that only an asynchronous one
/// may have.
LogicalResult AsynchronousVerifier::verifySynchronous() {
  for (Operation &op : program.getBody().front()) {
    if (isa<BackwardOp, EdgeValueOp, SendOp, RecvOp, AssignOp>(op) &&
        isLate(&op))
      return op.emitOpError("is late, but the pipeline is not 'asynchronous': "
                            "only a pipe.backward_weight may be");
    auto gradient = dyn_cast<GradientOp>(op);
    auto update = dyn_cast<UpdateOp>(op);
    if ((gradient && gradient.getMicrobatch()) ||
        (update && update.getMicrobatch()))
      return op.emitOpError("is of one microbatch, but the pipeline is not "
                            "'asynchronous(stashed)'");
  }
  return success();
}

LogicalResult AsynchronousVerifier::verifyBackward(BackwardOp op) {
  ChunkState &state = states[op.getChunk()];
  bool isStashed = pipeline.getAsynchronous() == Asynchronous::Stashed;
  if (op.getLate() && state.firstInTime) {
    InFlightDiagnostic diagnostic =
        op.emitOpError("is of the step before, but follows one of this step of "
                       "the same chunk");
    diagnostic.attachNote(state.firstInTime.getLoc()) << "that is here";
    return diagnostic;
  }
  auto before = static_cast<int64_t>(state.backwards.size());
  if (isStashed && state.forwards != before + 1)
    return op.emitOpError()
           << "is number " << before << " of its chunk, after "
           << state.forwards
           << " pipe.forward; in a pipeline that is 'asynchronous(stashed)' "
              "the two take turns";
  if (!isStashed && op.getLate() && state.update) {
    InFlightDiagnostic diagnostic = op.emitOpError(
        "adds to gradients that were read; read them after the last late "
        "pipe.backward");
    diagnostic.attachNote(state.update.getLoc()) << "the update is here";
    return diagnostic;
  }
  state.backwards.push_back(op);
  if (!op.getLate() && !state.firstInTime)
    state.firstInTime = op;
  return success();
}

/// Checks gradients and copies of parameters with double buffering. Gradients
/// of a chunk are read after its late backwards and before those in time.
/// Copies of a parameter are replaced in the next turn, by late ops.
LogicalResult AsynchronousVerifier::verifyCopies(Operation *op) {
  if (isa<GradientOp, AssignOp>(op) && !isLate(op))
    return op->emitOpError("of a pipeline that is "
                           "'asynchronous(double_buffered)' is late");
  auto gradient = dyn_cast<GradientOp>(op);
  if (auto send = dyn_cast<SendOp>(op))
    gradient = send.getValue().getDefiningOp<GradientOp>();
  auto sum = dyn_cast<AllReduceOp>(op);
  if (!gradient && !sum)
    return success();
  BackwardOp first =
      states[gradient ? gradient.getChunk() : sum.getChunk()].firstInTime;
  if (!first)
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError("is of the step before, but a pipe.backward of this step "
                      "has added to the gradient");
  diagnostic.attachNote(first.getLoc()) << "that is here";
  return diagnostic;
}

/// Checks that the update is late, and is between the late backwards and those
/// in time of all chunks that use the parameter.
LogicalResult AsynchronousVerifier::verifyDoubleBuffered(UpdateOp update) {
  if (!update.getLate() || update.getMicrobatch())
    return update.emitOpError(
        "of a pipeline that is 'asynchronous(double_buffered)' is late, and of "
        "all microbatches");
  for (Operation *user : params[update.getParam()].getValue().getUsers()) {
    auto chunk = dyn_cast<ChunkOp>(user);
    if (!chunk)
      continue;
    ChunkState &state = states[chunk.getIndex()];
    state.update = update;
    if (!state.firstInTime)
      continue;
    InFlightDiagnostic diagnostic = update.emitOpError(
        "is of the step before, but a pipe.backward of this step has added to "
        "its gradients");
    diagnostic.attachNote(state.firstInTime.getLoc()) << "that is here";
    return diagnostic;
  }
  return success();
}

namespace {
/// The source of an update's gradient: a pipe.gradient, or its sum over
/// replicas.
struct GradientSource {
  Operation *op = nullptr; ///< Null if the value has another source.
  int64_t chunk = 0;
  std::optional<uint64_t> microbatch = std::nullopt;
};
} // namespace

static GradientSource getSource(Value value) {
  if (auto gradient = value.getDefiningOp<GradientOp>())
    return {gradient, static_cast<int64_t>(gradient.getChunk()),
            gradient.getMicrobatch()};
  auto wait = value.getDefiningOp<WaitOp>();
  auto sum = wait ? wait.getHandle().getDefiningOp<AllReduceOp>() : nullptr;
  if (!sum)
    return {};
  return {sum, static_cast<int64_t>(sum.getChunk()), sum.getMicrobatch()};
}

/// Checks that an update follows the backward of its microbatch.
LogicalResult AsynchronousVerifier::verifyStashed(UpdateOp update) {
  std::optional<uint64_t> microbatch = update.getMicrobatch();
  if (!microbatch)
    return update.emitOpError("of a pipeline that is 'asynchronous(stashed)' "
                              "is of one microbatch; say which");
  stashed[update.getParam()].push_back(update);
  for (Value value : update.getGradients()) {
    GradientSource gradient = getSource(value);
    if (!gradient.op)
      return update.emitOpError("takes something else than a pipe.gradient, or "
                                "its sum over replicas");
    ArrayRef<BackwardOp> backwards = states[gradient.chunk].backwards;
    BackwardOp last = backwards.empty() ? BackwardOp() : backwards.back();
    if (gradient.microbatch == microbatch && last &&
        last.getMicrobatch() == *microbatch &&
        last.getLate() == update.getLate() &&
        isLate(gradient.op) == update.getLate())
      continue;
    InFlightDiagnostic diagnostic =
        update.emitOpError() << "is of microbatch " << *microbatch
                             << ", but its gradient is not: it has to follow "
                                "the pipe.backward of the same microbatch";
    diagnostic.attachNote(gradient.op->getLoc()) << "the gradient is here";
    return diagnostic;
  }
  return success();
}

/// Checks that microbatches ascend, because they determine which value of a
/// parameter an op uses.
LogicalResult AsynchronousVerifier::verifyStashedForward(ForwardOp op) {
  int64_t next = states[op.getChunk()].forwards++;
  if (static_cast<int64_t>(op.getMicrobatch()) == next)
    return success();
  return op.emitOpError() << "is of microbatch " << op.getMicrobatch()
                          << " where microbatch " << next
                          << " is next; in a pipeline that is "
                             "'asynchronous(stashed)' they ascend";
}

/// Checks that as many backwards are late as there are later stages, and that
/// each backward is followed by an update of each parameter.
LogicalResult AsynchronousVerifier::verifyStashedOrder() {
  int64_t late = pipeline.getStages() - 1 - program.getStage();
  auto m = static_cast<int64_t>(pipeline.getMicrobatches().value_or(1));
  for (auto &[chunk, state] : states)
    for (auto [i, backward] : llvm::enumerate(state.backwards)) {
      auto number = static_cast<int64_t>(i);
      bool isLate = number < late;
      int64_t expected = isLate ? m - late + number : number - late;
      if (backward.getLate() == isLate &&
          static_cast<int64_t>(backward.getMicrobatch()) == expected)
        continue;
      return backward.emitOpError()
             << "is number " << number << " of its chunk, expected "
             << (isLate ? "a late one of" : "one in time of") << " microbatch "
             << expected << ": on stage " << program.getStage() << " of "
             << pipeline.getStages()
             << " of a pipeline that is 'asynchronous(stashed)' the last "
             << late << " are late";
    }
  for (auto &[param, updates] : stashed) {
    int64_t chunk = getSource(updates.front().getGradients().front()).chunk;
    size_t expected = states[chunk].backwards.size();
    if (updates.size() != expected)
      return updates.front().emitOpError()
             << "is one of " << updates.size() << " updates of parameter "
             << param << ", but its chunk has " << expected
             << " pipe.backward; each is followed by one";
  }
  return success();
}

LogicalResult AsynchronousVerifier::verify() {
  for (auto carry : program.getBody().getOps<CarryOp>())
    if (failed(verifyCarriedHandles(carry)))
      return failure();
  if (!pipeline.getAsynchronous())
    return verifySynchronous();
  bool isStashed = pipeline.getAsynchronous() == Asynchronous::Stashed;
  for (Operation &op : program.getBody().front()) {
    if (isa<BackwardInputOp, BackwardWeightOp>(op))
      return op.emitOpError("is part of a backward; a pipeline that is "
                            "'asynchronous' runs whole ones, pipe.backward");
    if (isa<RecomputationOp>(op))
      return op.emitOpError("runs ahead of a backward of the same step; in a "
                            "pipeline that is 'asynchronous' they recompute "
                            "inside");
    auto forward = dyn_cast<ForwardOp>(op);
    auto backward = dyn_cast<BackwardOp>(op);
    auto update = dyn_cast<UpdateOp>(op);
    if ((isStashed && forward && failed(verifyStashedForward(forward))) ||
        (!isStashed && failed(verifyCopies(&op))) ||
        (backward && failed(verifyBackward(backward))) ||
        (update && failed(isStashed ? verifyStashed(update)
                                    : verifyDoubleBuffered(update))))
      return failure();
  }
  return isStashed ? verifyStashedOrder() : success();
}

LogicalResult veeline::pipe::verifyAsynchronous(ProgramOp program,
                                                PipelineOp pipeline) {
  return AsynchronousVerifier(program, pipeline).verify();
}
