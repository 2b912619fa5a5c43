//===- SplitChunks.cpp - shared code of passes that split backwards -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitChunks.h"

#include "mlir/IR/BuiltinOps.h"
#include "veeline/Dialect/Pipe/Transforms/Lengths.h"

using namespace mlir;
using namespace veeline::pipe;

/// Splits the chunk, then its versions.
static LogicalResult splitVersions(ChunkOp chunk, ArrayRef<PipelineOp> versions,
                                   SymbolTable &symbols, ChunkSplitter split) {
  veeline::autodiff::PartitionChoice choice;
  if (failed(split(chunk, symbols, &choice, /*follows=*/false)))
    return failure();
  for (PipelineOp version : versions)
    if (isVersion(version) &&
        failed(split(version.getChunks()[chunk.getIndex()], symbols, &choice,
                     /*follows=*/true)))
      return failure();
  return success();
}

LogicalResult veeline::pipe::splitChunks(ModuleOp module, ChunkSplitter split) {
  SymbolTableCollection tables;
  SymbolTable &symbols = tables.getSymbolTable(module);
  for (auto pipeline : module.getOps<PipelineOp>()) {
    // The versions of a pipeline are split with it.
    if (isVersion(pipeline))
      continue;
    FailureOr<SmallVector<PipelineOp>> versions = getVersions(pipeline, tables);
    if (failed(versions))
      return failure();
    for (ChunkOp chunk : pipeline.getChunks())
      if (failed(splitVersions(chunk, *versions, symbols, split)))
        return failure();
  }
  return success();
}

FailureOr<func::FuncOp> veeline::pipe::findBackward(ChunkOp chunk,
                                                    SymbolTable &symbols) {
  if (!chunk.getForward())
    return chunk.emitOpError() << "has no forward function; run "
                                  "--pipe-differentiate first";
  if (!chunk.getBackward())
    return func::FuncOp();
  auto backward = symbols.lookup<func::FuncOp>(*chunk.getBackward());
  if (!backward)
    return chunk.emitOpError() << "refers to '" << *chunk.getBackward()
                               << "', which is no function";
  return backward;
}

FlatSymbolRefAttr
veeline::pipe::insertFunction(SymbolTable &symbols, Operation *place,
                              OwningOpRef<func::FuncOp> &func) {
  if (!func)
    return {};
  StringAttr name =
      symbols.insert(func.release(), std::next(place->getIterator()));
  return FlatSymbolRefAttr::get(name);
}
