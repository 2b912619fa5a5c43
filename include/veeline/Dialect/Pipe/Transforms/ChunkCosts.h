//===- ChunkCosts.h - the times of a chunk's operations ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Estimates and scales of the times of F, B and W. A profile has a scale for
// each of them, which is measured time divided by estimate. Backward functions
// repeat work: B recomputes what F does not keep, and W recomputes what B does
// not save. Repeated work is scaled as in the function that does it first,
// because scales may differ widely: W's matrix products, for example, may be
// far from their estimates.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_CHUNKCOSTS_H
#define VEELINE_DIALECT_PIPE_TRANSFORMS_CHUNKCOSTS_H

#include "veeline/Analysis/MachineTable.h"
#include "veeline/Analysis/Profile.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

/// On chunks, an array of three: the scales of F, B and W, which are measured
/// times as multiples of the cost model's estimates.
inline constexpr llvm::StringLiteral costScaleAttrName = "cost_scale";
/// On chunks that have a cost, an array of four: the parts of it that are F's
/// work in B, F's work in W, B's work in W, and F's work in a fused backward,
/// in nanoseconds. Absent if nothing is repeated.
inline constexpr llvm::StringLiteral repeatedCostAttrName = "repeated_cost";

/// On pipelines, a string: the machine table (MachineTable.h) for the costs of
/// chunks without a profile.
inline constexpr llvm::StringLiteral machineTableAttrName = "machine_table";

/// The table in the attribute `machineTableAttrName`; none if there is none.
llvm::Expected<std::optional<MachineTable>>
getMachineTable(PipelineOp pipeline);

/// Reads the table in the file at `path`; none if `path` is empty. Fails with a
/// diagnostic at `model`.
mlir::FailureOr<std::optional<MachineTable>>
readMachineTable(mlir::func::FuncOp model, llvm::StringRef path);

/// The scales of a chunk; 1 without the attribute.
CostScale getCostScale(ChunkOp chunk);

/// The values of `repeatedCostAttrName`; 0 without the attribute.
std::array<int64_t, 4> getRepeatedCost(ChunkOp chunk);

/// Sets the `cost` of every chunk that has none, by the cost model and the
/// chunk's scale, from its functions on tensors. Linear in their operations.
/// With a machine table, a chunk without a scale gets one: the table's times as
/// multiples of the cost model's. So all scales, including those of profiles,
/// are relative to the cost model.
void setChunkCosts(PipelineOp pipeline, mlir::SymbolTableCollection &symbols);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_CHUNKCOSTS_H
