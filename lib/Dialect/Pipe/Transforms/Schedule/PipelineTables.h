//===- PipelineTables.h - tables of a pipeline's programs -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_SCHEDULE_PIPELINETABLES_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_SCHEDULE_PIPELINETABLES_H

#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/Dialect/Pipe/IR/Edges.h"

#include <array>
#include <vector>

namespace veeline::pipe {

/// The operands and results of an op in a program that runs a function of a
/// chunk. See `getCarried`.
struct Carried {
  llvm::SmallVector<ChunkValue> arguments, results;
};

/// The chunks, parameters and edges of a pipeline, and the signatures of its
/// chunks' functions. Built once, in time linear in the pipeline.
struct PipelineTables {
  PipelineTables(PipelineOp pipeline, mlir::SymbolTableCollection &symbols);

  const Carried &get(int64_t chunk, ChunkFunctionKind kind) const {
    return carried[chunk][static_cast<unsigned>(kind)];
  }

  /// True if the backward of `chunk` accumulates a gradient of its `operand`, a
  /// parameter.
  bool hasParamGradient(int64_t chunk, unsigned operand) const {
    return llvm::is_contained(paramGradients, std::pair(chunk, operand));
  }

  int64_t getNumber(ParamOp param) const {
    return llvm::find(params, param) - params.begin();
  }
  /// The number of the parameter that is an operand of `chunk`.
  int64_t getParam(ChunkOp chunk, unsigned operand) const {
    return getNumber(chunk.getOperands()[operand].getDefiningOp<ParamOp>());
  }

  /// The (chunk, operand) pairs whose backward accumulates a gradient of a
  /// parameter, in ascending order. An update adds the gradients in this order.
  llvm::SmallVector<std::pair<int64_t, unsigned>>
  getGradientUsers(unsigned param) const;
  /// The stage that updates a parameter: that of the first chunk that uses it,
  /// with or without a gradient. None if no chunk uses it.
  std::optional<int64_t> getHome(unsigned param) const;

  PipelineOp pipeline;
  EdgeTable edges;
  llvm::SmallVector<ChunkOp> chunks;
  llvm::SmallVector<ParamOp> params;
  /// False if a function does not describe itself. A diagnostic has said which.
  bool valid = true;

private:
  void read(size_t index, ChunkOp chunk, ChunkFunctionKind kind,
            mlir::SymbolTableCollection &symbols);

  std::vector<std::array<Carried, numChunkFunctionKinds>> carried;
  llvm::SmallVector<std::pair<int64_t, unsigned>> paramGradients;
};

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_SCHEDULE_PIPELINETABLES_H
