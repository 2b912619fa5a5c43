//===- PipeOps.cpp - operations of pipe -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "veeline/Dialect/Pipe/IR/Attention.h"
#include "veeline/Dialect/Pipe/IR/Frozen.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace veeline::pipe;

#define GET_OP_CLASSES
#include "veeline/Dialect/Pipe/IR/PipeOps.cpp.inc"

void PipeDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "veeline/Dialect/Pipe/IR/PipeOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "veeline/Dialect/Pipe/IR/AttentionOps.cpp.inc"
      >();
}

/// Whether a value belongs to the step before.
static bool isLate(Value value) {
  return isa<BlockArgument>(value) || isLate(value.getDefiningOp());
}

bool veeline::pipe::isLate(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([](ValidateOp) { return true; })
      .Case([](WaitOp wait) { return ::isLate(wait.getHandle()); })
      .Case([](AddOp add) { return ::isLate(add.getLhs()); })
      .Case<BackwardOp, BackwardWeightOp, EdgeValueOp, SendOp, RecvOp,
            GradientOp, AllReduceOp, AllGatherOp, UpdateOp, AssignOp>(
          [](auto late) { return late.getLate(); })
      .Default(false);
}

//===----------------------------------------------------------------------===//
// PipelineOp
//===----------------------------------------------------------------------===//

template <typename OpT> static SmallVector<OpT> listOps(PipelineOp pipeline) {
  return llvm::to_vector(pipeline.getBody().front().getOps<OpT>());
}

SmallVector<ChunkOp> PipelineOp::getChunks() { return listOps<ChunkOp>(*this); }
SmallVector<ParamOp> PipelineOp::getParams() { return listOps<ParamOp>(*this); }
SmallVector<BatchOp> PipelineOp::getBatches() {
  return listOps<BatchOp>(*this);
}
SmallVector<BufferOp> PipelineOp::getBuffers() {
  return listOps<BufferOp>(*this);
}

YieldOp PipelineOp::getYield() {
  return cast<YieldOp>(getBody().front().back());
}

int64_t PipelineOp::getStageOf(int64_t chunk) {
  return veeline::pipe::getStageOf(getPlacement(), getStages(), chunk);
}

int64_t PipelineOp::getFirstRank(int64_t stage) {
  int64_t first = 0;
  for (int64_t before = 0; before != stage; ++before)
    first += getWidth(before);
  return first;
}

int64_t PipelineOp::getRankOf(ProgramOp program) {
  return getFirstRank(program.getStage()) + program.getReplica();
}

int64_t veeline::pipe::getStageOf(Placement placement, int64_t stages,
                                  int64_t chunk) {
  int64_t turn = chunk / stages, position = chunk % stages;
  switch (placement) {
  case Placement::Linear:
  case Placement::Interleaved:
    return position;
  case Placement::V:
  case Placement::Wave:
    return turn % 2 == 0 ? position : stages - 1 - position;
  }
  return position;
}

static LogicalResult verifyPlacement(PipelineOp pipeline) {
  int64_t v = pipeline.getChunksPerStage();
  Placement placement = pipeline.getPlacement();
  if (placement == Placement::Linear && v != 1)
    return pipeline.emitOpError()
           << "placement 'linear' has 1 chunk a stage, found " << v;
  if (placement == Placement::V && v != 2)
    return pipeline.emitOpError()
           << "placement 'v' has 2 chunks a stage, found " << v;
  return success();
}

static LogicalResult verifyWidths(PipelineOp pipeline) {
  std::optional<ArrayRef<int64_t>> widths = pipeline.getStageReplicas();
  if (!widths)
    return success();
  if (widths->size() != pipeline.getStages())
    return pipeline.emitOpError()
           << "has " << pipeline.getStages()
           << (pipeline.getStages() == 1 ? " stage" : " stages")
           << ", but 'stage_replicas' has " << widths->size()
           << (widths->size() == 1 ? " number" : " numbers")
           << "; expected one for each stage";
  for (auto [stage, width] : llvm::enumerate(*widths))
    if (width < 1)
      return pipeline.emitOpError()
             << "has " << width << " ranks for stage " << stage
             << " in 'stage_replicas'; a stage has at least 1";
  return success();
}

/// Checks that some stage can share its updates out, and that updates are of
/// all microbatches at once.
static LogicalResult verifyShards(PipelineOp pipeline) {
  if (!pipeline.getShardOptimizer())
    return success();
  auto isShared = [&](int64_t stage) { return pipeline.getShards(stage) > 1; };
  if (llvm::none_of(llvm::seq(int64_t(pipeline.getStages())), isShared))
    return pipeline.emitOpError("has 'shard_optimizer', but no stage has ranks "
                                "that could share its updates; give it "
                                "'replicas' or 'stage_replicas'");
  if (pipeline.getAsynchronous() == Asynchronous::Stashed)
    return pipeline.emitOpError("has 'shard_optimizer', and updates for each "
                                "microbatch, after which ranks do not wait for "
                                "each other");
  return success();
}

/// Checks that every stage has one chunk and one rank, and that no step ends
/// with a norm. If each microbatch has updates, ranks may not share a
/// parameter.
static LogicalResult verifyAsynchronous(PipelineOp pipeline) {
  std::optional<Asynchronous> kind = pipeline.getAsynchronous();
  if (!kind)
    return success();
  auto fail = [&](StringRef what) {
    return pipeline.emitOpError()
           << "is 'asynchronous(" << stringifyAsynchronous(*kind) << ")' and "
           << what;
  };
  if (pipeline.getChunksPerStage() != 1)
    return fail("has several chunks a stage; expected one");
  if (pipeline.getStageReplicas())
    return fail("has 'stage_replicas'; its stages have one rank each");
  if (pipeline.getClipSync())
    return fail("has 'clip_sync', but no step ends with the norm of all "
                "gradients");
  if (*kind == Asynchronous::DoubleBuffered)
    return success();
  if (llvm::any_of(pipeline.getBatches(),
                   [](BatchOp batch) { return batch.getLossWeight(); }))
    return fail("has a loss weight, but each microbatch has an update, of "
                "which the others are no part");
  for (ParamOp param : pipeline.getParams()) {
    llvm::SmallDenseSet<int64_t> stages;
    for (Operation *user : param.getValue().getUsers())
      if (auto chunk = dyn_cast<ChunkOp>(user))
        stages.insert(pipeline.getStageOf(chunk.getIndex()));
    if (stages.size() > 1 && !isFrozen(param))
      return fail("has a parameter that several stages use, whose gradients "
                  "are added up once in a step");
  }
  return success();
}

static LogicalResult verifyDistinctNames(PipelineOp pipeline) {
  llvm::StringMap<Operation *> seen;
  auto check = [&](Operation *op, StringRef name) -> LogicalResult {
    auto [it, inserted] = seen.try_emplace(name, op);
    if (inserted)
      return success();
    InFlightDiagnostic diagnostic =
        op->emitOpError() << "takes the name \"" << name
                          << "\", which another input of the pipeline has";
    diagnostic.attachNote(it->second->getLoc()) << "the other one is here";
    return diagnostic;
  };
  for (Operation &op : pipeline.getBody().front()) {
    LogicalResult result = success();
    if (auto param = dyn_cast<ParamOp>(op))
      result = check(&op, param.getParam().getName());
    else if (auto batch = dyn_cast<BatchOp>(op))
      result = check(&op, batch.getName());
    else if (auto buffer = dyn_cast<BufferOp>(op))
      result = check(&op, buffer.getName());
    if (failed(result))
      return failure();
  }
  return success();
}

/// Checks that at most one of `inputs` is a factor of the loss.
template <typename InputOp>
static LogicalResult verifyFactors(ArrayRef<InputOp> inputs,
                                   llvm::function_ref<bool(InputOp)> isFactor,
                                   StringRef what) {
  InputOp first;
  for (InputOp input : inputs) {
    if (!isFactor(input))
      continue;
    if (first) {
      InFlightDiagnostic diagnostic = input.emitOpError("is a second ") << what;
      diagnostic.attachNote(first.getLoc()) << "the other one is here";
      return diagnostic;
    }
    first = input;
  }
  return success();
}

static LogicalResult verifyFactors(PipelineOp pipeline) {
  if (failed(verifyFactors<BufferOp>(
          pipeline.getBuffers(),
          [](BufferOp buffer) { return buffer.getLossScale(); },
          "loss scale")) ||
      failed(verifyFactors<BatchOp>(
          pipeline.getBatches(),
          [](BatchOp batch) { return batch.getLossWeight(); }, "loss weight")))
    return failure();
  return success();
}

/// Checks that a factor of the loss is a float of rank 0.
static LogicalResult verifyFactor(Operation *op, StringRef what) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.getRank() == 0 &&
      (type.getElementType().isF32() || type.getElementType().isF64()))
    return success();
  return op->emitOpError() << "is a loss " << what
                           << ", a tensor<f32> or tensor<f64>; found " << type;
}

LogicalResult BufferOp::verify() {
  return getLossScale() ? verifyFactor(*this, "scale") : success();
}

LogicalResult BatchOp::verify() {
  return getLossWeight() ? verifyFactor(*this, "weight") : success();
}

LogicalResult YieldOp::verify() {
  if (!getNames() || getNames()->size() == getResults().size())
    return success();
  return emitOpError() << "has " << getNames()->size() << " names for "
                       << getResults().size() << " results";
}

/// As Steps.h, which is of a layer above, says.
static constexpr llvm::StringLiteral forwardOnlyAttrName = "pipe.forward_only";

LogicalResult PipelineOp::verify() {
  Block &body = getBody().front();
  if (body.empty() || !isa<YieldOp>(body.back()))
    return emitOpError("ends with a pipe.yield of the loss");
  if (failed(verifyPlacement(*this)) || failed(verifyWidths(*this)) ||
      failed(verifyShards(*this)) || failed(verifyAsynchronous(*this)) ||
      failed(verifyDistinctNames(*this)) || failed(verifyFactors(*this)))
    return failure();
  int64_t expected = 0;
  for (Operation &op : body) {
    if (!isa<ParamOp, BatchOp, BufferOp, ChunkOp, YieldOp>(op))
      return op.emitOpError("does not belong in a pipe.pipeline");
    auto chunk = dyn_cast<ChunkOp>(op);
    if (chunk && chunk.getIndexAttr().getInt() != expected++)
      return chunk.emitOpError()
             << "is chunk " << chunk.getIndexAttr().getInt() << " where chunk "
             << expected - 1 << " is next: chunks are numbered in model order";
  }
  if (expected != getNumChunks())
    return emitOpError() << "has " << expected
                         << (expected == 1 ? " chunk" : " chunks")
                         << ", but stages(" << getStages()
                         << ") times chunks_per_stage(" << getChunksPerStage()
                         << ") is " << getNumChunks();
  YieldOp yield = getYield();
  if ((*this)->hasAttr(forwardOnlyAttrName) && !yield.getResults().empty())
    return success();
  auto loss = yield.getResults().empty()
                  ? RankedTensorType()
                  : dyn_cast<RankedTensorType>(yield.getResults()[0].getType());
  if (!loss || loss.getRank() != 0 || !isa<FloatType>(loss.getElementType()))
    return yield.emitOpError(
        "yields the loss first: a float tensor of rank 0, as tensor<f32>");
  return success();
}

//===----------------------------------------------------------------------===//
// ParamOp
//===----------------------------------------------------------------------===//

LogicalResult ParamOp::verify() {
  return getParam().getInit().verifyFor([&] { return emitOpError(); },
                                        cast<ShapedType>(getValue().getType()));
}

//===----------------------------------------------------------------------===//
// ChunkOp
//===----------------------------------------------------------------------===//

LogicalResult ChunkOp::verify() {
  llvm::SmallDenseSet<Value> seen;
  for (auto [i, operand] : llvm::enumerate(getOperands()))
    if (!seen.insert(operand).second)
      return emitOpError() << "takes operand " << i
                           << " twice; a chunk takes each value once";
  if ((getBackwardInput() || getBackwardWeight() || getBackward()) &&
      !getForward())
    return emitOpError("has a backward function but no forward function");
  if (getRecomputation() && !getBackward())
    return emitOpError("has a recomputation but no backward function");
  return success();
}

LogicalResult ChunkOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (FlatSymbolRefAttr name :
       {getPrimalAttr(), getForwardAttr(), getBackwardAttr(),
        getBackwardInputAttr(), getBackwardWeightAttr(),
        getRecomputationAttr()}) {
    if (!name)
      continue;
    if (!symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, name))
      return emitOpError() << "refers to " << name
                           << ", which is not a func.func of this module";
  }
  auto primal =
      symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getPrimalAttr());
  auto type =
      FunctionType::get(getContext(), getOperandTypes(), getResultTypes());
  // Once there is a forward function, the primal function may be bufferized.
  if (!getForward() && primal.getFunctionType() != type) {
    InFlightDiagnostic diagnostic =
        emitOpError() << "has type " << type << ", but " << getPrimalAttr()
                      << " has type " << primal.getFunctionType();
    diagnostic.attachNote(primal.getLoc()) << "declared here";
    return diagnostic;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// WaitOp, UpdateOp
//===----------------------------------------------------------------------===//

LogicalResult WaitOp::verify() {
  for (Operation *user : getHandle().getUsers())
    if (user != getOperation() && user->getBlock() == (*this)->getBlock() &&
        user->isBeforeInBlock(*this)) {
      InFlightDiagnostic diagnostic =
          emitOpError("waits for a handle that was waited for already");
      diagnostic.attachNote(user->getLoc()) << "the first wait is here";
      return diagnostic;
    }
  return success();
}

LogicalResult UpdateOp::verify() {
  if (getGradients().empty())
    return emitOpError("needs at least one gradient");
  for (Type type : getGradients().getTypes())
    if (type != getValue().getType())
      return emitOpError() << "takes gradients of the parameter's type "
                           << getValue().getType() << ", found " << type;
  return success();
}

LogicalResult SquaredNormOp::verify() {
  if (getGradients().empty())
    return emitOpError("needs at least one gradient");
  return success();
}

LogicalResult GatherNormsOp::verify() {
  if (getParams().size() != getNorms().size())
    return emitOpError() << "has " << getNorms().size() << " norms of "
                         << getParams().size()
                         << " parameters; it takes one of each";
  if (!llvm::is_sorted(getParams(), std::less_equal()))
    return emitOpError("takes the norms of parameters in ascending order, each "
                       "once");
  if (getBefore() && getBefore().getType() != getAll().getType())
    return emitOpError() << "adds to " << getBefore().getType()
                         << ", but gives " << getAll().getType();
  return success();
}
