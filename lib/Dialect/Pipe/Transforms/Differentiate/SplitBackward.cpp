//===- SplitBackward.cpp - --pipe-split-backward --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinOps.h"
#include "veeline/Autodiff/Autodiff.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/Dialect/Pipe/Transforms/Lengths.h"
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
      recompute, follows ? choice : nullptr);
  if (failed(functions))
    return failure();
  if (choice)
    *choice = std::move(functions->choice);
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
    SymbolTableCollection tables;
    SymbolTable &symbols = tables.getSymbolTable(getOperation());
    for (auto pipeline : getOperation().getOps<PipelineOp>()) {
      // The versions of a pipeline are split with it.
      if (isVersion(pipeline))
        continue;
      FailureOr<SmallVector<PipelineOp>> versions =
          getVersions(pipeline, tables);
      if (failed(versions))
        return signalPassFailure();
      for (ChunkOp chunk : pipeline.getChunks())
        if (failed(split(chunk, *versions, symbols)))
          return signalPassFailure();
    }
  }

  /// The chunk, then its versions, which save what it saves.
  LogicalResult split(ChunkOp chunk, ArrayRef<PipelineOp> versions,
                      SymbolTable &symbols) {
    veeline::autodiff::PartitionChoice choice;
    if (failed(splitBackward(chunk, symbols, &choice)))
      return failure();
    for (PipelineOp version : versions)
      if (isVersion(version) &&
          failed(splitBackward(version.getChunks()[chunk.getIndex()], symbols,
                               &choice, /*follows=*/true)))
        return failure();
    return success();
  }
};
} // namespace
