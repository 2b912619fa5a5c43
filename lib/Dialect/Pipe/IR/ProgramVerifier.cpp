//===- ProgramVerifier.cpp - the verifier of pipe.program -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of a program refer to chunks, edges and parameters by number. The
// verifier of the program checks all of them in one walk, because it has the
// pipeline's tables. It is linear in the number of ops.
//
//===----------------------------------------------------------------------===//

#include "AsynchronousVerifier.h"
#include "OffloadVerifier.h"
#include "ShareVerifier.h"

#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/Dialect/Pipe/IR/Edges.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace veeline::pipe;

namespace {

class ProgramVerifier {
public:
  ProgramVerifier(ProgramOp program, PipelineOp pipeline,
                  SymbolTableCollection &symbols)
      : program(program), pipeline(pipeline), symbols(symbols), edges(pipeline),
        chunks(pipeline.getChunks()), params(pipeline.getParams()) {}

  LogicalResult verify();

private:
  LogicalResult verifyOp(Operation *op);
  LogicalResult verifyMicrobatch(Operation *op, int64_t microbatch);
  LogicalResult verifyTypes(Operation *op, TypeRange found,
                            ArrayRef<ChunkValue> expected, StringRef what);
  template <typename OpT>
  LogicalResult verifyWork(OpT op, ChunkFunctionKind kind);
  template <typename OpT>
  LogicalResult verifyMessage(OpT op, Type type, bool isSource);
  template <typename OpT> LogicalResult verifyParts(OpT op, Type type);
  LogicalResult verifyLength(LengthOp op);
  LogicalResult verifyParam(Operation *op, int64_t param, Type type);
  template <typename OpT> LogicalResult verifyGradient(OpT op, Type type);
  LogicalResult verifyAllReduce(AllReduceOp op);
  LogicalResult verifyAllGather(AllGatherOp op);
  LogicalResult verifyNorms(Operation *op, Type type);
  LogicalResult verifySquaredNorm(SquaredNormOp op);
  LogicalResult verifyGatherNorms(GatherNormsOp op);
  LogicalResult verifyUpdate(UpdateOp op);
  LogicalResult verifyLateIsValidated(Operation &op, ValidateOp validation);
  LogicalResult verifyValidation();
  LogicalResult verifyUpdatesAfterUses();
  LogicalResult verifyOnce(Operation *op, Operation *&first, const Twine &what);
  LogicalResult verifySums();
  LogicalResult verifyCarried();
  LogicalResult verifyLateValues(Operation *op);
  LogicalResult verifyLate();
  ProgramOp program;
  PipelineOp pipeline;
  SymbolTableCollection &symbols;
  EdgeTable edges;
  SmallVector<ChunkOp> chunks;
  SmallVector<ParamOp> params;
  /// For each chunk and kind of function, the operands and results of the op in
  /// a program. Filled on first use.
  llvm::DenseMap<std::pair<int64_t, int>,
                 std::pair<SmallVector<ChunkValue>, SmallVector<ChunkValue>>>
      carried;
};

} // namespace

LogicalResult ProgramVerifier::verifyMicrobatch(Operation *op,
                                                int64_t microbatch) {
  std::optional<uint64_t> count = pipeline.getMicrobatches();
  if (count && microbatch >= static_cast<int64_t>(*count))
    return op->emitOpError() << "is about microbatch " << microbatch
                             << ", but the pipeline has " << *count;
  int64_t owner = microbatch % pipeline.getWidth(program.getStage());
  if (owner != static_cast<int64_t>(program.getReplica()))
    return op->emitOpError()
           << "is about microbatch " << microbatch << ", which is for replica "
           << owner << " of stage " << program.getStage() << ", on replica "
           << program.getReplica();
  return success();
}

LogicalResult ProgramVerifier::verifyTypes(Operation *op, TypeRange found,
                                           ArrayRef<ChunkValue> expected,
                                           StringRef what) {
  if (found.size() != expected.size())
    return op->emitOpError() << "has " << found.size() << ' ' << what
                             << "s, expected " << expected.size();
  for (auto [i, type, value] : llvm::enumerate(found, expected))
    if (type != value.type)
      return op->emitOpError()
             << what << ' ' << i << " is " << stringifyRoleKind(value.kind)
             << ' ' << value.index << " of the chunk, of type " << value.type
             << ", found " << type;
  return success();
}

template <typename OpT>
LogicalResult ProgramVerifier::verifyWork(OpT op, ChunkFunctionKind kind) {
  int64_t index = op.getChunk();
  if (index >= static_cast<int64_t>(chunks.size()))
    return op.emitOpError() << "runs chunk " << index
                            << ", but the pipeline has " << chunks.size();
  int64_t stage = pipeline.getStageOf(index);
  if (stage != static_cast<int64_t>(program.getStage()))
    return op.emitOpError()
           << "runs chunk " << index << ", which is placed on stage " << stage
           << ", on stage " << program.getStage();
  if (failed(verifyMicrobatch(op, op.getMicrobatch())))
    return failure();
  ChunkOp chunk = chunks[index];
  auto [it, inserted] = carried.try_emplace({index, static_cast<int>(kind)});
  if (inserted) {
    func::FuncOp func = getFunction(symbols, chunk, kind);
    if (!func) {
      carried.erase(it);
      InFlightDiagnostic diagnostic = op.emitOpError()
                                      << "runs the " << getName(kind)
                                      << " function of chunk " << index
                                      << ", which has none";
      diagnostic.attachNote(chunk.getLoc()) << "the chunk is here";
      return diagnostic;
    }
    // The signature is also known for a bufferized function. It then has the
    // tensor types of the memrefs.
    FailureOr<ChunkSignature> signature = getChunkSignature(func);
    if (failed(signature))
      return failure();
    it->second = {getCarried(chunk, signature->arguments),
                  getCarried(chunk, signature->results)};
  }
  if (failed(verifyTypes(op, op.getOperands().getTypes(), it->second.first,
                         "operand")))
    return failure();
  return verifyTypes(op, op.getResults().getTypes(), it->second.second,
                     "result");
}

template <typename OpT>
LogicalResult ProgramVerifier::verifyMessage(OpT op, Type type, bool isSource) {
  int64_t number = op.getEdge();
  if (number >= edges.size())
    return op.emitOpError() << "names edge " << number
                            << ", but the pipeline has " << edges.size();
  const Edge &edge = edges[number];
  bool isShape = op.getDirection() == Direction::Shape;
  if (isShape && !edge.isValue())
    return op.emitOpError() << "is about the shape of edge " << number << ", "
                            << (edge.isNorms ? "of norms" : "a parameter")
                            << ", whose shape is known";
  Type expected = isShape ? getLengthType(op.getContext()) : edge.type;
  if (type != expected)
    return op.emitOpError() << "carries " << type << " on edge " << number
                            << ", which is of type " << expected;
  bool atProducer = (op.getDirection() != Direction::Gradient) == isSource;
  int64_t chunk = atProducer ? edge.producer : edge.consumer;
  int64_t stage = pipeline.getStageOf(chunk);
  if (stage != static_cast<int64_t>(program.getStage()))
    return op.emitOpError()
           << "is at the end of edge " << number << " that is chunk " << chunk
           << " on stage " << stage << ", not stage " << program.getStage();
  if (pipeline.getStageOf(edge.producer) == pipeline.getStageOf(edge.consumer))
    return op.emitOpError() << "is about edge " << number
                            << ", whose ends are both on stage " << stage;
  bool toConsumer = op.getDirection() != Direction::Gradient;
  int64_t target =
      pipeline.getStageOf(toConsumer ? edge.consumer : edge.producer);
  int64_t width = pipeline.getWidth(target);
  if (!edge.isValue() && static_cast<int64_t>(op.getMicrobatch()) >= width)
    return op.emitOpError()
           << "is for rank " << op.getMicrobatch() << " of stage " << target
           << ", which has " << width << (width == 1 ? " rank" : " ranks")
           << ": on the edge of " << (edge.isNorms ? "norms" : "a parameter")
           << " the microbatch is the number of the receiving rank";
  return verifyMicrobatch(op, op.getMicrobatch());
}

/// Checks that each part of a message has at least one element.
template <typename OpT>
LogicalResult ProgramVerifier::verifyParts(OpT op, Type type) {
  auto parts = static_cast<int64_t>(op.getParts());
  int64_t elements = cast<ShapedType>(type).getNumElements();
  if (parts > elements)
    return op.emitOpError()
           << "has " << parts << " parts, but its value has " << elements
           << (elements == 1 ? " element" : " elements");
  return verifyMessage(op, type, isa<SendOp>(op.getOperation()));
}

LogicalResult ProgramVerifier::verifyLength(LengthOp op) {
  int64_t index = op.getChunk();
  if (index >= static_cast<int64_t>(chunks.size()))
    return op.emitOpError() << "is of chunk " << index
                            << ", but the pipeline has " << chunks.size();
  return verifyMicrobatch(op, op.getMicrobatch());
}

LogicalResult ProgramVerifier::verifyParam(Operation *op, int64_t param,
                                           Type type) {
  if (param >= static_cast<int64_t>(params.size()))
    return op->emitOpError() << "names parameter " << param
                             << ", but the pipeline has " << params.size();
  Type expected = params[param].getValue().getType();
  if (type == expected)
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError()
                                  << "has type " << type << ", parameter "
                                  << param << " has type " << expected;
  diagnostic.attachNote(params[param].getLoc()) << "the parameter is here";
  return diagnostic;
}

/// Checks a gradient: the accumulator of a chunk is on the chunk's stage, and
/// the chunk must use the parameter.
template <typename OpT>
LogicalResult ProgramVerifier::verifyGradient(OpT op, Type type) {
  if (failed(verifyParam(op, op.getParam(), type)))
    return failure();
  int64_t index = op.getChunk();
  if (index >= static_cast<int64_t>(chunks.size()))
    return op.emitOpError() << "names chunk " << index
                            << ", but the pipeline has " << chunks.size();
  int64_t stage = pipeline.getStageOf(index);
  if (stage != static_cast<int64_t>(program.getStage()))
    return op.emitOpError()
           << "is the sum of chunk " << index << ", which is placed on stage "
           << stage << ", on stage " << program.getStage();
  ParamOp param = params[op.getParam()];
  if (llvm::is_contained(chunks[index].getOperands(), param.getValue()))
    return success();
  InFlightDiagnostic diagnostic =
      op.emitOpError() << "is the sum of chunk " << index
                       << ", which does not use parameter " << op.getParam();
  diagnostic.attachNote(chunks[index].getLoc()) << "the chunk is here";
  return diagnostic;
}

LogicalResult ProgramVerifier::verifyAllReduce(AllReduceOp op) {
  if (pipeline.getReplicas() == 1 && !pipeline.getStageReplicas())
    return op.emitOpError("adds up over the replicas of a pipeline that has "
                          "one");
  if (pipeline.getNumMembers(program.getStage()) == 1)
    return op.emitOpError() << "adds up over the ranks of stage "
                            << program.getStage() << ", which has one";
  if (op.getScattered() && failed(verifyScattered(op, pipeline, program)))
    return failure();
  return verifyGradient(op, op.getHandle().getType().getValue());
}

/// The value of the turn before for which an argument of the program stands.
/// Null if nothing carries it, which `verifyCarried` reports.
static Value getCarried(BlockArgument argument) {
  Block *body = argument.getOwner();
  auto carry = body->empty() ? CarryOp() : dyn_cast<CarryOp>(body->back());
  return carry && argument.getArgNumber() < carry.getValues().size()
             ? carry.getValues()[argument.getArgNumber()]
             : Value();
}

/// Checks that the shares are those of an update, of the same turn or, for a
/// late gather, of the turn before.
LogicalResult ProgramVerifier::verifyAllGather(AllGatherOp op) {
  if (pipeline.getShards(program.getStage()) == 1)
    return op.emitOpError()
           << "gathers shares, but updates of stage " << program.getStage()
           << " are not shared out by 'shard_optimizer'";
  auto argument = dyn_cast<BlockArgument>(op.getValue());
  Value value = argument ? getCarried(argument) : op.getValue();
  if (!value)
    return success();
  auto update = value.getDefiningOp<UpdateOp>();
  if (update && update.getParam() == op.getParam() &&
      update.getLate() == (op.getLate() && !argument)) {
    if (failed(verifyParam(op, op.getParam(), op.getValue().getType())))
      return failure();
    return verifyGatherBeforeUses(op, pipeline);
  }
  InFlightDiagnostic diagnostic =
      op.emitOpError() << "takes something else than the pipe.update of "
                          "parameter "
                       << op.getParam();
  if (Operation *found = value.getDefiningOp())
    diagnostic.attachNote(found->getLoc()) << "found this";
  return diagnostic;
}

/// Checks that norms have one entry for each parameter of the pipeline.
LogicalResult ProgramVerifier::verifyNorms(Operation *op, Type type) {
  Type expected = getNormsType(pipeline);
  if (pipeline.getClipSync() != ClipSync::Barrier)
    return op->emitOpError("is about the norm of all gradients, but the "
                           "pipeline has no 'clip_sync(barrier)'");
  if (type != expected)
    return op->emitOpError() << "has norms of type " << type << ", expected "
                             << expected << ": one for each parameter";
  return success();
}

LogicalResult ProgramVerifier::verifySquaredNorm(SquaredNormOp op) {
  if (failed(verifyNorms(op, getNormsType(pipeline))))
    return failure();
  for (Type type : op.getGradients().getTypes())
    if (failed(verifyParam(op, op.getParam(), type)))
      return failure();
  return success();
}

LogicalResult ProgramVerifier::verifyGatherNorms(GatherNormsOp op) {
  for (int64_t param : op.getParams())
    if (param < 0 || param >= static_cast<int64_t>(params.size()))
      return op.emitOpError() << "names parameter " << param
                              << ", but the pipeline has " << params.size();
  for (auto [param, value] : llvm::zip_equal(op.getParams(), op.getNorms())) {
    auto norm = value.getDefiningOp<SquaredNormOp>();
    if (norm && static_cast<int64_t>(norm.getParam()) == param)
      continue;
    InFlightDiagnostic diagnostic =
        op.emitOpError() << "takes something else as the norm of parameter "
                         << param << "; expected its pipe.squared_norm";
    if (Operation *found = value.getDefiningOp())
      diagnostic.attachNote(found->getLoc()) << "found this";
    return diagnostic;
  }
  return verifyNorms(op, op.getAll().getType());
}

/// Checks that an update is clipped if and only if the pipeline says so.
LogicalResult ProgramVerifier::verifyUpdate(UpdateOp op) {
  if (failed(verifyParam(op, op.getParam(), op.getValue().getType())))
    return failure();
  if (op.getFactor() && pipeline.getClipSync() != ClipSync::Barrier)
    return op.emitOpError("is clipped, but the pipeline has no "
                          "'clip_sync(barrier)'");
  if (pipeline.getClipSync() != ClipSync::Barrier)
    return success();
  if (op.getLate())
    return op.emitOpError("is late in a pipeline with 'clip_sync(barrier)', "
                          "whose steps end with their updates");
  if (!op.getFactor() || !op.getFactor().getDefiningOp<ClipOp>())
    return op.emitOpError("of a pipeline with 'clip_sync(barrier)' is clipped "
                          "by the factor of a pipe.clip");
  return success();
}

/// Checks late ops of a pipeline with optimistic clipping. They have to come
/// before the validation: until all updates of the step before are done, their
/// norms are not known. A parameter of several ranks cannot have a late update,
/// because restoring its old value would need a message.
LogicalResult ProgramVerifier::verifyLateIsValidated(Operation &op,
                                                     ValidateOp validation) {
  if (!isLate(&op) || isa<ValidateOp>(op))
    return success();
  if (validation) {
    InFlightDiagnostic diagnostic =
        op.emitOpError("is of the step before, whose updates are validated "
                       "when all of it is done");
    diagnostic.attachNote(validation.getLoc()) << "they are validated here";
    return diagnostic;
  }
  if (!isa<EdgeValueOp, SendOp, RecvOp, AssignOp>(op))
    return success();
  return op.emitOpError("is about a parameter of several ranks, and late: "
                        "optimistic updates of it end with their step");
}

/// Checks that optimistic updates are validated once, before any op that
/// changes gradients.
LogicalResult ProgramVerifier::verifyValidation() {
  bool isOptimistic = pipeline.getClipSync() == ClipSync::Optimistic;
  ValidateOp validation;
  for (Operation &op : program.getBody().front()) {
    if (auto found = dyn_cast<ValidateOp>(op)) {
      if (!isOptimistic)
        return found.emitOpError("is about optimistic updates, but the "
                                 "pipeline has no 'clip_sync(optimistic)'");
      Operation *first = validation;
      if (failed(verifyOnce(found, first, "validates updates")))
        return failure();
      validation = found;
    }
    if (isOptimistic && failed(verifyLateIsValidated(op, validation)))
      return failure();
    bool changes = isa<BackwardOp, BackwardWeightOp, UpdateOp, AssignOp>(op);
    if (isOptimistic && changes && !isLate(&op) && !validation)
      return op.emitOpError("changes gradients or parameters before "
                            "optimistic updates of the step before are "
                            "validated; put a pipe.validate before it");
  }
  return success();
}

static std::optional<int64_t> getChunkOfWork(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case<ForwardOp, RecomputationOp, BackwardOp, BackwardInputOp,
            BackwardWeightOp>([](auto work) { return work.getChunk(); })
      .Default(std::nullopt);
}

/// Checks that all ops use the parameters with which their step begins: updates
/// in time come after them.
LogicalResult ProgramVerifier::verifyUpdatesAfterUses() {
  if (pipeline.getAsynchronous())
    return success();
  // For each chunk, the first update or assignment of a parameter that it uses.
  llvm::DenseMap<int64_t, Operation *> changes;
  SmallVector<ParamOp> params = pipeline.getParams();
  auto addChange = [&](auto op) {
    if (op.getLate() || op.getParam() >= params.size())
      return;
    Value value = params[op.getParam()].getValue();
    for (auto [chunk, operand] : getChunkUses(value))
      changes.try_emplace(chunk, op);
  };
  for (Operation &op : program.getBody().front()) {
    if (auto update = dyn_cast<UpdateOp>(op))
      addChange(update);
    else if (auto assignment = dyn_cast<AssignOp>(op))
      addChange(assignment);
    std::optional<int64_t> chunk = getChunkOfWork(&op);
    Operation *change = chunk ? changes.lookup(*chunk) : nullptr;
    if (!change || isLate(&op))
      continue;
    InFlightDiagnostic diagnostic =
        op.emitOpError() << "may use a parameter of chunk " << *chunk
                         << " after it has changed; it changes after all ops "
                            "of the chunk";
    diagnostic.attachNote(change->getLoc()) << "it changes here";
    return diagnostic;
  }
  return success();
}

/// Reports `op` if `first`, an earlier op that does the same, is not null.
LogicalResult ProgramVerifier::verifyOnce(Operation *op, Operation *&first,
                                          const Twine &what) {
  if (!first) {
    first = op;
    return success();
  }
  InFlightDiagnostic diagnostic = op->emitOpError() << what << " a second time";
  diagnostic.attachNote(first->getLoc()) << "the first time is here";
  return diagnostic;
}

/// Checks that a sum is read once, after all ops that add to it, and that a
/// parameter is updated once. Late ops add to sums of the step before.
LogicalResult ProgramVerifier::verifySums() {
  // The reader of each sum, by parameter, chunk or update, and microbatch (-1
  // for all).
  llvm::DenseMap<std::tuple<int64_t, int64_t, int64_t>, Operation *> sums;
  llvm::DenseMap<std::pair<int64_t, int64_t>, Operation *> updates;
  bool isOfStep = pipeline.getAsynchronous() != Asynchronous::Stashed;
  // By chunk, and 1 for late ops.
  llvm::DenseMap<std::pair<int64_t, int>, Operation *> readers;
  auto verifyUnread = [&](auto work) -> LogicalResult {
    Operation *reader = readers.lookup({work.getChunk(), int(isLate(work))});
    if (!reader)
      return success();
    InFlightDiagnostic diagnostic =
        work.emitOpError() << "adds to the gradients of chunk "
                           << work.getChunk()
                           << " after they were read; read them after the last "
                              "microbatch";
    diagnostic.attachNote(reader->getLoc()) << "they are read here";
    return diagnostic;
  };
  auto verifySum = [&](auto op) {
    if (isOfStep)
      readers.try_emplace({op.getChunk(), int(op.getLate())}, op);
    int64_t microbatch = op.getMicrobatch().value_or(-1);
    return verifyOnce(op, sums[{op.getParam(), op.getChunk(), microbatch}],
                      "reads the sum of parameter " + Twine(op.getParam()) +
                          " and chunk " + Twine(op.getChunk()));
  };
  auto verifyUpdate = [&](UpdateOp op) {
    int64_t microbatch = op.getMicrobatch().value_or(-1);
    return verifyOnce(op, updates[{op.getParam(), microbatch}],
                      "updates parameter " + Twine(op.getParam()));
  };
  for (Operation &op : program.getBody().front())
    if (failed(llvm::TypeSwitch<Operation *, LogicalResult>(&op)
                   .Case<BackwardOp, BackwardWeightOp>(verifyUnread)
                   .Case<GradientOp, AllReduceOp>(verifySum)
                   .Case(verifyUpdate)
                   .Default([](Operation *) { return success(); })))
      return failure();
  return success();
}

/// Checks that the arguments have the types of the values of the `pipe.carry`
/// at the end.
LogicalResult ProgramVerifier::verifyCarried() {
  Block &body = program.getBody().front();
  TypeRange expected = body.getArgumentTypes();
  CarryOp last;
  for (auto carry : body.getOps<CarryOp>()) {
    if (carry->getNextNode())
      return carry.emitOpError("is not the last op of its program");
    last = carry;
  }
  if (!last && expected.empty())
    return success();
  if (!last)
    return program.emitOpError()
           << "takes " << expected.size()
           << " values of the step before, but no pipe.carry at its end gives "
              "them";
  if (last.getValues().getTypes() == expected)
    return success();
  InFlightDiagnostic diagnostic =
      last.emitOpError() << "gives " << last.getValues().getTypes()
                         << " to the next step, which takes " << expected;
  diagnostic.attachNote(program.getLoc()) << "the program is here";
  return diagnostic;
}

/// Checks that late ops take values of the step before, and all others those of
/// this step.
LogicalResult ProgramVerifier::verifyLateValues(Operation *op) {
  bool late = isLate(op);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    Operation *source = operand.getDefiningOp();
    if ((source ? isLate(source) : true) == late)
      continue;
    InFlightDiagnostic diagnostic = op->emitOpError()
                                    << "is of "
                                    << (late ? "the step before" : "this step")
                                    << ", but takes a value of "
                                    << (late ? "this step" : "the step before")
                                    << " as operand " << i;
    if (source)
      diagnostic.attachNote(source->getLoc()) << "the value is made here";
    return diagnostic;
  }
  return success();
}

/// Checks that a late update comes after all late W that add to its gradients,
/// and before all ops of the new step that use the parameter.
LogicalResult ProgramVerifier::verifyLate() {
  /// For each chunk: its first F of this step; its last W of the step before;
  /// the first update of a parameter that it uses.
  llvm::DenseMap<int64_t, Operation *> begun, lateWork, updated;
  auto report = [](Operation *op, const Twine &what, Operation *other,
                   StringRef note) {
    InFlightDiagnostic diagnostic = op->emitOpError() << what;
    diagnostic.attachNote(other->getLoc()) << note;
    return diagnostic;
  };
  for (Operation &op : program.getBody().front()) {
    if (failed(verifyLateValues(&op)))
      return failure();
    auto weight = dyn_cast<BackwardWeightOp>(op);
    if (isa<ForwardOp>(op))
      begun.try_emplace(cast<ForwardOp>(op).getChunk(), &op);
    if (weight && weight.getLate()) {
      if (Operation *forward = begun.lookup(weight.getChunk()))
        return report(&op,
                      "is of the step before, but its chunk has begun this "
                      "one; move it before the first pipe.forward of chunk " +
                          Twine(weight.getChunk()),
                      forward, "the chunk begins here");
      if (Operation *update = updated.lookup(weight.getChunk()))
        return report(&op,
                      "is of the step before, but a parameter of chunk " +
                          Twine(weight.getChunk()) +
                          " is updated already; move it before the update",
                      update, "the update is here");
      lateWork[weight.getChunk()] = &op;
    }
    auto update = dyn_cast<UpdateOp>(op);
    if (!update)
      continue;
    ParamOp param = params[update.getParam()];
    for (Operation *user : param.getValue().getUsers()) {
      auto chunk = dyn_cast<ChunkOp>(user);
      if (!chunk)
        continue;
      int64_t index = chunk.getIndex();
      updated.try_emplace(index, &op);
      if (Operation *forward = begun.lookup(index);
          forward && update.getLate() && !pipeline.getAsynchronous())
        return report(&op,
                      "is the update of the step before, but chunk " +
                          Twine(index) +
                          ", which uses the parameter, has begun this one",
                      forward, "the chunk begins here");
      if (Operation *work = lateWork.lookup(index); work && !update.getLate())
        return report(&op,
                      "has to be late, as a pipe.backward_weight of chunk " +
                          Twine(index) + ", which uses the parameter, is",
                      work, "that is here");
    }
  }
  for (auto [chunk, work] : lateWork)
    if (!updated.contains(chunk))
      return work->emitOpError()
             << "is of the step before, but no update of that step follows: "
                "add a late pipe.update of the parameters of chunk "
             << chunk;
  return success();
}

LogicalResult ProgramVerifier::verifyOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ForwardOp op) {
        return verifyWork(op, ChunkFunctionKind::Forward);
      })
      .Case([&](BackwardOp op) {
        return verifyWork(op, ChunkFunctionKind::Backward);
      })
      .Case([&](BackwardInputOp op) {
        return verifyWork(op, ChunkFunctionKind::BackwardInput);
      })
      .Case([&](BackwardWeightOp op) {
        return verifyWork(op, ChunkFunctionKind::BackwardWeight);
      })
      .Case([&](RecomputationOp op) {
        return verifyWork(op, ChunkFunctionKind::Recomputation);
      })
      .Case([&](EdgeValueOp op) {
        return verifyMessage(op, op.getValue().getType(), false);
      })
      .Case([&](RecvOp op) {
        return verifyParts(op, op.getHandle().getType().getValue());
      })
      .Case([&](SendOp op) { return verifyParts(op, op.getValue().getType()); })
      .Case([&](LengthOp op) { return verifyLength(op); })
      .Case([&](GradientOp op) {
        return verifyGradient(op, op.getValue().getType());
      })
      .Case([&](AllReduceOp op) { return verifyAllReduce(op); })
      .Case([&](AllGatherOp op) { return verifyAllGather(op); })
      .Case([&](SquaredNormOp op) { return verifySquaredNorm(op); })
      .Case([&](GatherNormsOp op) { return verifyGatherNorms(op); })
      .Case([&](ClipOp op) { return verifyNorms(op, op.getNorms().getType()); })
      .Case([&](UpdateOp op) { return verifyUpdate(op); })
      .Case([&](AssignOp op) {
        return verifyParam(op, op.getParam(), op.getValue().getType());
      })
      .Case<AddOp, CopyOp, WaitOp, ValidateOp, CarryOp, OffloadOp, ReleaseOp,
            ReloadOp, RestoreOp>([](Operation *) { return success(); })
      .Default([](Operation *op) {
        return op->emitOpError("does not belong in a pipe.program");
      });
}

LogicalResult ProgramVerifier::verify() {
  if (program.getStage() >= pipeline.getStages())
    return program.emitOpError()
           << "is for stage " << program.getStage() << ", but the pipeline has "
           << pipeline.getStages()
           << (pipeline.getStages() == 1 ? " stage" : " stages");
  int64_t width = pipeline.getWidth(program.getStage());
  if (static_cast<int64_t>(program.getReplica()) >= width)
    return program.emitOpError()
           << "is for replica " << program.getReplica() << " of stage "
           << program.getStage() << ", which has " << width
           << (width == 1 ? " rank" : " ranks");
  for (Operation &op : program.getBody().front())
    if (failed(verifyOp(&op)))
      return failure();
  return failure(failed(verifySums()) || failed(verifyCarried()) ||
                 failed(verifyLate()) || failed(verifyValidation()) ||
                 failed(verifyUpdatesAfterUses()) ||
                 failed(verifyOffloads(program)) ||
                 failed(verifyAsynchronous(program, pipeline)));
}

LogicalResult ProgramOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto pipeline =
      symbols.lookupNearestSymbolFrom<PipelineOp>(*this, getPipelineAttr());
  if (!pipeline)
    return emitOpError() << "refers to " << getPipelineAttr()
                         << ", which is not a pipe.pipeline of this module";
  return ProgramVerifier(*this, pipeline, symbols).verify();
}
