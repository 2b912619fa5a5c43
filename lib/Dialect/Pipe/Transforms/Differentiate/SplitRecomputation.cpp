//===- SplitRecomputation.cpp - --pipe-split-recomputation ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitChunks.h"

#include "mlir/IR/BuiltinOps.h"
#include "veeline/Autodiff/Autodiff.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/Dialect/Pipe/Transforms/Lengths.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/Steps.h"

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPESPLITRECOMPUTATION
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline::pipe;

LogicalResult
veeline::pipe::splitRecomputation(ChunkOp chunk, SymbolTable &symbols,
                                  veeline::autodiff::PartitionChoice *choice,
                                  bool follows) {
  FailureOr<func::FuncOp> backward = findBackward(chunk, symbols);
  if (failed(backward) || !*backward)
    return backward;
  if (chunk.getRecomputation() || chunk.getBackwardInput() ||
      chunk.getBackwardWeight())
    return chunk.emitOpError()
           << "has its backward split already; run --pipe-split-recomputation "
              "once, before --pipe-split-backward";
  // The chunk whose choice is repeated has no recomputation.
  if (follows && choice->ops.empty())
    return success();
  auto functions = veeline::autodiff::splitRecomputation(
      *backward, chunk.getPrimal(),
      [&](unsigned operand) {
        return isImplied(chunk, {RoleKind::Operand, operand, {}});
      },
      follows ? choice : nullptr);
  if (failed(functions))
    return failure();
  if (!functions->recomputation)
    return success();
  if (choice)
    *choice = std::move(functions->choice);
  Operation *place = (*backward)->getPrevNode();
  symbols.erase(*backward);
  chunk.setBackwardAttr(insertFunction(symbols, place, functions->backward));
  chunk.setRecomputationAttr(
      insertFunction(symbols, place, functions->recomputation));
  return success();
}

namespace {
struct PipeSplitRecomputation
    : veeline::pipe::impl::PipeSplitRecomputationBase<PipeSplitRecomputation> {
  void runOnOperation() override {
    if (failed(splitChunks(getOperation(), &veeline::pipe::splitRecomputation)))
      return signalPassFailure();
    for (auto pipeline : getOperation().getOps<PipelineOp>())
      if (!isVersion(pipeline) &&
          llvm::none_of(pipeline.getChunks(), [](ChunkOp chunk) {
            return chunk.getRecomputation().has_value();
          }))
        pipeline.emitWarning()
            << "has no chunk that recomputes ahead of its backward: what "
               "backwards recompute is cheap, or only the chunk of the loss "
               "recomputes";
  }
};
} // namespace
