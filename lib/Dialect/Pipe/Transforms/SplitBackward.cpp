//===- SplitBackward.cpp - --pipe-split-backward --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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

LogicalResult veeline::pipe::splitBackward(ChunkOp chunk,
                                           SymbolTable &symbols) {
  if (!chunk.getForward())
    return chunk.emitOpError() << "has no forward function; run "
                                  "--pipe-differentiate first";
  // A chunk on which no gradient depends has nothing to split.
  if (!chunk.getBackward())
    return success();
  auto backward = symbols.lookup<func::FuncOp>(*chunk.getBackward());
  if (!backward)
    return chunk.emitOpError() << "refers to '" << *chunk.getBackward()
                               << "', which is no function";
  veeline::Recompute recompute;
  std::string misfit =
      chunk.getRecompute()
          ? veeline::parseRecompute(*chunk.getRecompute(), recompute)
          : "";
  if (!misfit.empty())
    return chunk.emitOpError() << "recompute: " << misfit;
  auto functions = veeline::autodiff::splitBackward(
      backward, chunk.getPrimal(),
      [&](unsigned operand) {
        return isImplied(chunk, {RoleKind::Operand, operand, {}});
      },
      recompute);
  if (failed(functions))
    return failure();
  auto insertionPoint = std::next(backward->getIterator());
  auto insert = [&](OwningOpRef<func::FuncOp> &func) -> FlatSymbolRefAttr {
    if (!func)
      return {};
    StringAttr name = symbols.insert(func.release(), insertionPoint);
    return FlatSymbolRefAttr::get(name);
  };
  if (FlatSymbolRefAttr input = insert(functions->input))
    chunk.setBackwardInputAttr(input);
  if (FlatSymbolRefAttr weight = insert(functions->weight))
    chunk.setBackwardWeightAttr(weight);
  return success();
}

namespace {
struct PipeSplitBackward
    : veeline::pipe::impl::PipeSplitBackwardBase<PipeSplitBackward> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto pipeline : getOperation().getOps<PipelineOp>())
      for (ChunkOp chunk : pipeline.getChunks())
        if (failed(splitBackward(chunk, symbols)))
          return signalPassFailure();
  }
};
} // namespace
