//===- RankMetadata.h - the metadata of a rank's program --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_COMPILER_RANKMETADATA_H
#define VEELINE_LIB_COMPILER_RANKMETADATA_H

#include "veeline/Compiler/Metadata.h"
#include "veeline/Dialect/Pipe/Transforms/MemoryPlan.h"
#include "veeline/Dialect/Pipe/Transforms/ProgramBuilder.h"
#include "veeline/Dialect/Pipe/Transforms/Step.h"

namespace veeline::compiler {

/// Describes one rank of a pipeline for the artifact. `object` is the number of
/// the object with its step. Fails with a diagnostic if a table of library
/// calls is broken, or if a constant has no values.
mlir::FailureOr<artifact::Rank>
describeRank(pipe::PipelineOp pipeline, const pipe::ChannelTable &channels,
             pipe::ProgramOp program, const pipe::MemoryPlan &plan,
             ConstantSections &constants, int32_t object);

} // namespace veeline::compiler

#endif // VEELINE_LIB_COMPILER_RANKMETADATA_H
