//===- SplitBackward.cpp - --pipe-split-backward --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitChunks.h"

#include "mlir/IR/BuiltinOps.h"
#include "veeline/Autodiff/Autodiff.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/Steps.h"

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPESPLITBACKWARD
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline::pipe;

LogicalResult
veeline::pipe::splitBackward(ChunkOp chunk, SymbolTable &symbols,
                             veeline::autodiff::PartitionChoice *choice,
                             bool follows) {
  FailureOr<func::FuncOp> backward = findBackward(chunk, symbols);
  // A chunk on which no gradient depends has no backward to split.
  if (failed(backward) || !*backward)
    return backward;
  veeline::Recompute recompute;
  std::string misfit =
      chunk.getRecompute()
          ? veeline::parseRecompute(*chunk.getRecompute(), recompute)
          : "";
  if (!misfit.empty())
    return chunk.emitOpError() << "recompute: " << misfit;
  auto functions = veeline::autodiff::splitBackward(
      *backward, chunk.getPrimal(),
      [&](unsigned operand) {
        return isImplied(chunk, {RoleKind::Operand, operand, {}});
      },
      recompute, follows ? choice : nullptr);
  if (failed(functions))
    return failure();
  if (choice)
    *choice = std::move(functions->choice);
  // Each is inserted directly after the fused one, so W is inserted first.
  if (auto weight = insertFunction(symbols, *backward, functions->weight))
    chunk.setBackwardWeightAttr(weight);
  if (auto input = insertFunction(symbols, *backward, functions->input))
    chunk.setBackwardInputAttr(input);
  return success();
}

namespace {
struct PipeSplitBackward
    : veeline::pipe::impl::PipeSplitBackwardBase<PipeSplitBackward> {
  void runOnOperation() override {
    if (failed(splitChunks(getOperation(), &veeline::pipe::splitBackward)))
      signalPassFailure();
  }
};
} // namespace
