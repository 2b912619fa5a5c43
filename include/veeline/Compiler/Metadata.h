//===- Metadata.h - the metadata of an artifact, read from IR ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_COMPILER_METADATA_H
#define VEELINE_COMPILER_METADATA_H

#include "veeline/Conversion/Convolution.h"
#include "veeline/Conversion/Gemm.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

#include "veeline/artifact.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace veeline::compiler {

/// The inputs and results of a pipeline's model, without the ranges of its
/// integers. Fails with a diagnostic where one has a type that the runtime does
/// not know.
/// Values that parameters start from are not copied: they live in the context.
mlir::LogicalResult describeModel(pipe::PipelineOp pipeline,
                                  artifact::Artifact &artifact);

/// The valid values of the integer batch arguments and buffers: those that the
/// model says, and of those that index tensors the smallest dimension that one
/// of them indexes. Reads the primal functions of the chunks, which have to be
/// on tensors.
void describeRanges(pipe::PipelineOp pipeline, artifact::Metadata &metadata);

/// The sections of the values of a module's dense constants, in the order of
/// its attribute `pipe.constants`, and then that of no values; none where the
/// module is for a CPU. Fails with a diagnostic where values are not there.
mlir::FailureOr<std::vector<int32_t>>
describeConstants(mlir::ModuleOp module, artifact::Artifact &artifact);

/// The programs of a pipeline whose memory is planned, as the artifact's
/// program `name`. Objects are numbered from `firstObject`, one a rank;
/// `constants` are the sections that describeConstants says.
mlir::FailureOr<artifact::Program>
describeProgram(pipe::PipelineOp pipeline, llvm::StringRef name,
                int32_t firstObject, llvm::ArrayRef<int32_t> constants);

/// A matrix product as the runtime's tables have it.
artifact::Gemm toArtifact(const GemmDesc &desc);
/// A convolution.
artifact::Convolution toArtifact(const ConvolutionDesc &desc);

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_METADATA_H
