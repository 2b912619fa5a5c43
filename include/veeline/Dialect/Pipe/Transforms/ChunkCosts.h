//===- ChunkCosts.h - what a chunk's operations take ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Backwards repeat work of earlier functions: what is not kept for B is
// computed again from F, what B does not save for W is computed again from B. A
// profile says how F, B and W as they were measured compare with the estimates
// of the cost model, and W's matrix products, say, may be far from them. So
// work that is repeated is priced as where it stood first, and not as what it
// is added to.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_CHUNKCOSTS_H
#define VEELINE_DIALECT_PIPE_TRANSFORMS_CHUNKCOSTS_H

#include "veeline/Analysis/MachineTable.h"
#include "veeline/Analysis/Profile.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

/// On chunks, an array of three: what measured times of F, B and W are of the
/// cost model's estimates.
inline constexpr llvm::StringLiteral costScaleAttrName = "cost_scale";
/// On chunks that have a cost, an array of four: how much of it is F's work in
/// B, F's work in W, B's work in W, and F's work in a fused backward, in
/// nanoseconds. None where nothing is repeated.
inline constexpr llvm::StringLiteral repeatedCostAttrName = "repeated_cost";

/// On pipelines, a string: the machine's table (MachineTable.h) whose times the
/// costs of chunks are, where no profile says them.
inline constexpr llvm::StringLiteral machineTableAttrName = "machine_table";

/// The table that `machineTableAttrName` holds; none where it holds none.
llvm::Expected<std::optional<MachineTable>>
getMachineTable(PipelineOp pipeline);

/// The table in the file at `path`; none where that is empty. Fails with a
/// diagnostic at `model`.
mlir::FailureOr<std::optional<MachineTable>>
readMachineTable(mlir::func::FuncOp model, llvm::StringRef path);

/// The scale of a chunk's costs; 1 without an attribute.
CostScale getCostScale(ChunkOp chunk);

/// What `repeatedCostAttrName` says; 0 without it.
std::array<int64_t, 4> getRepeatedCost(ChunkOp chunk);

/// Sets the `cost` of every chunk that has none, by the cost model and the
/// chunk's scale, from its functions on tensors. Linear in their operations.
/// With a machine's table, times are the table's, and the scale, where there is
/// none yet, becomes what they are of the cost model's own: so a profile's
/// scales always are of those.
void setChunkCosts(PipelineOp pipeline, mlir::SymbolTableCollection &symbols);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_CHUNKCOSTS_H
