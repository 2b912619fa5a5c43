//===- ChunkCosts.h - what a chunk's operations take ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Backward functions repeat work: B recomputes what F does not keep for it, and
// W what B does not save. A profile has one scale for each of F, B and W,
// measured time over estimate, and these may differ widely: W's matrix
// products, say, may be far from the estimates. So repeated work is scaled as
// in the function that does it first, not as in the one that repeats it.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_CHUNKCOSTS_H
#define VEELINE_DIALECT_PIPE_TRANSFORMS_CHUNKCOSTS_H

#include "veeline/Analysis/MachineTable.h"
#include "veeline/Analysis/Profile.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

/// On chunks, an array of three: measured times of F, B and W, as multiples of
/// the cost model's estimates.
inline constexpr llvm::StringLiteral costScaleAttrName = "cost_scale";
/// On chunks that have a cost, an array of four: how much of it is F's work in
/// B, F's work in W, B's work in W, and F's work in a fused backward, in
/// nanoseconds. Absent where nothing is repeated.
inline constexpr llvm::StringLiteral repeatedCostAttrName = "repeated_cost";

/// On pipelines, a string: the machine's table (MachineTable.h) that gives the
/// costs of chunks where no profile does.
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
/// With a machine's table, a chunk without a scale gets one: the table's times,
/// as multiples of the cost model's. So all scales, a profile's as well, refer
/// to the cost model.
void setChunkCosts(PipelineOp pipeline, mlir::SymbolTableCollection &symbols);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_CHUNKCOSTS_H
