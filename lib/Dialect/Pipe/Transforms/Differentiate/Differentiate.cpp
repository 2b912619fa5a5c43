//===- Differentiate.cpp - --pipe-differentiate ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "veeline/Autodiff/Autodiff.h"
#include "veeline/Dialect/Pipe/IR/Frozen.h"
#include "veeline/Dialect/Pipe/Transforms/Joint.h"
#include "veeline/Dialect/Pipe/Transforms/Lengths.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/Steps.h"

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPEDIFFERENTIATE
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline::pipe;
using veeline::KernelTarget;
using veeline::autodiff::ChunkDescription;
using veeline::autodiff::OperandKind;

static bool isFloatTensor(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value));
}

static OperandKind getOperandKind(Value operand) {
  Operation *def = operand.getDefiningOp();
  if (auto param = dyn_cast_or_null<ParamOp>(def))
    return isFrozen(param) ? OperandKind::Constant : OperandKind::Parameter;
  if (isa_and_nonnull<BatchOp, BufferOp>(def))
    return OperandKind::Constant;
  return isFloatTensor(operand) ? OperandKind::EdgeValue
                                : OperandKind::PassiveEdgeValue;
}

/// Describes a chunk for which no gradients are wanted.
static ChunkDescription describeForward(ChunkOp chunk) {
  ChunkDescription description;
  description.operands.assign(chunk.getOperands().size(),
                              OperandKind::Constant);
  description.hasResultGradient.assign(chunk.getResults().size(), false);
  return description;
}

/// Describes a chunk. The loss is the pipeline's first result; its chunk gets
/// no gradient for it.
static FailureOr<ChunkDescription> describe(ChunkOp chunk, Value loss) {
  ChunkDescription description;
  for (Value operand : chunk.getOperands())
    description.operands.push_back(getOperandKind(operand));
  for (auto [i, result] : llvm::enumerate(chunk.getResults())) {
    auto user = llvm::find_if(result.getUsers(), llvm::IsaPred<ChunkOp>);
    bool isUsed = user != result.user_end();
    description.hasResultGradient.push_back(isUsed && isFloatTensor(result));
    if (result != loss)
      continue;
    description.loss = i;
    if (!isUsed)
      continue;
    InFlightDiagnostic diag = chunk.emitOpError()
                              << "gives the loss, which another chunk uses; "
                                 "the loss has to be a result only";
    diag.attachNote((*user)->getLoc()) << "used here";
    return failure();
  }
  return description;
}

LogicalResult veeline::pipe::differentiateChunk(
    ChunkOp chunk, const veeline::Recompute &recompute, KernelTarget target,
    SymbolTable &symbols, veeline::autodiff::PartitionChoice *choice,
    bool follows) {
  if (chunk.getForward())
    return chunk.emitOpError() << "has a forward function already; "
                                  "--pipe-differentiate runs once";
  auto primal = symbols.lookup<func::FuncOp>(chunk.getPrimal());
  if (!primal)
    return chunk.emitOpError()
           << "refers to '" << chunk.getPrimal() << "', which is no function";
  auto pipeline = chunk->getParentOfType<PipelineOp>();
  Value loss = pipeline.getYield().getResults().front();
  FailureOr<ChunkDescription> description =
      isForwardOnly(pipeline) ? describeForward(chunk) : describe(chunk, loss);
  FailureOr<func::FuncOp> joint = getJoint(primal);
  if (failed(description) || failed(joint))
    return failure();
  if (!isForwardOnly(pipeline))
    description->joint = *joint;
  description->recompute = recompute;
  description->target = target;
  description->follow = follows ? choice : nullptr;
  if (recompute != veeline::Recompute())
    chunk.setRecompute(toString(recompute));
  auto functions = veeline::autodiff::differentiateChunk(primal, *description);
  if (failed(functions))
    return failure();
  if (choice)
    *choice = std::move(functions->choice);
  // The name is known only after the insertion, because a function is renamed
  // if its name is taken.
  auto insertionPoint = std::next(primal->getIterator());
  auto insert = [&](OwningOpRef<func::FuncOp> &func) {
    StringAttr name = symbols.insert(func.release(), insertionPoint);
    return FlatSymbolRefAttr::get(name);
  };
  chunk.setForwardAttr(insert(functions->forward));
  if (functions->backward)
    chunk.setBackwardAttr(insert(functions->backward));
  return success();
}

namespace {
struct PipeDifferentiate
    : veeline::pipe::impl::PipeDifferentiateBase<PipeDifferentiate> {
  using PipeDifferentiateBase::PipeDifferentiateBase;

  void runOnOperation() override {
    SymbolTableCollection tables;
    SymbolTable &symbols = tables.getSymbolTable(getOperation());
    for (auto pipeline : getOperation().getOps<PipelineOp>()) {
      // The versions of a pipeline are differentiated with it.
      if (isVersion(pipeline))
        continue;
      if (forwardOnly)
        pipeline->setAttr(forwardOnlyAttrName, UnitAttr::get(&getContext()));
      if (failed(verifyResults(pipeline)))
        return signalPassFailure();
      SmallVector<ChunkOp> chunks = pipeline.getChunks();
      auto policies = getRecompute(pipeline);
      FailureOr<SmallVector<PipelineOp>> versions =
          getVersions(pipeline, tables);
      if (failed(policies) || failed(versions))
        return signalPassFailure();
      if (forwardOnly)
        for (PipelineOp version : *versions)
          version->setAttr(forwardOnlyAttrName, UnitAttr::get(&getContext()));
      for (auto [chunk, policy] : llvm::zip_equal(chunks, *policies))
        if (failed(differentiate(chunk, policy, *versions, symbols)))
          return signalPassFailure();
      for (ChunkOp chunk : chunks)
        dropJoint(symbols.lookup<func::FuncOp>(chunk.getPrimal()), symbols);
    }
  }

  /// Checks that the loss, and with forwards alone every result, is the result
  /// of a chunk.
  static LogicalResult verifyResults(PipelineOp pipeline) {
    YieldOp yield = pipeline.getYield();
    auto isInput = [](Value result) {
      return !result.getDefiningOp<ChunkOp>();
    };
    if (!isForwardOnly(pipeline))
      return isInput(yield.getResults().front())
                 ? yield.emitOpError("the first result is the loss, which has "
                                     "to be the result of a chunk")
                 : success();
    auto found = llvm::find_if(yield.getResults(), isInput);
    if (found == yield.getResults().end())
      return success();
    return yield.emitOpError()
           << "result " << found - yield.getResults().begin()
           << " is an input of the model as it is; return what the model "
              "computes";
  }

  /// Removes joint functions. Their ops are in the chunk's own functions now.
  static void dropJoint(func::FuncOp primal, SymbolTable &symbols) {
    FailureOr<func::FuncOp> joint = getJoint(primal);
    if (failed(joint) || !*joint)
      return;
    primal->removeAttr(PipeDialect::jointAttrName);
    symbols.erase(*joint);
  }

  /// Differentiates the chunk, then its versions, which keep the same values.
  LogicalResult differentiate(ChunkOp chunk, const veeline::Recompute &policy,
                              ArrayRef<PipelineOp> versions,
                              SymbolTable &symbols) {
    veeline::autodiff::PartitionChoice choice;
    if (failed(differentiateChunk(chunk, policy, target, symbols, &choice)))
      return failure();
    for (PipelineOp version : versions)
      if (isVersion(version) &&
          failed(differentiateChunk(version.getChunks()[chunk.getIndex()],
                                    policy, target, symbols, &choice,
                                    /*follows=*/true)))
        return failure();
    return success();
  }

  /// The policies of all chunks. Emits a diagnostic if `recompute` is wrong.
  FailureOr<std::vector<veeline::Recompute>> getRecompute(PipelineOp pipeline) {
    std::vector<std::string> texts(recompute.begin(), recompute.end());
    std::vector<veeline::Recompute> policies;
    std::string misfit =
        veeline::parseRecompute(texts, pipeline.getNumChunks(), policies);
    if (misfit.empty() &&
        llvm::is_contained(policies,
                           veeline::Recompute{veeline::RecomputeKind::Auto}))
      misfit = "'auto' is a choice within a limit of memory, which "
               "--pipe-fit-memory makes";
    if (misfit.empty())
      return policies;
    return pipeline.emitOpError() << "recompute: " << misfit;
  }
};
} // namespace
