//===- Metadata.h - creating the metadata of an artifact --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_COMPILER_METADATA_H
#define VEELINE_COMPILER_METADATA_H

#include "mlir/IR/BuiltinOps.h"
#include "veeline/Conversion/AttentionDesc.h"
#include "veeline/Conversion/Convolution.h"
#include "veeline/Conversion/Gemm.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

#include "veeline/artifact.h"

namespace veeline::compiler {

/// Describes the parameters, inputs and results of a pipeline's model, except
/// for what the next two functions add. Fails with a diagnostic if one has a
/// type that the runtime does not support. Initial values of parameters are not
/// copied; they live in the context.
mlir::LogicalResult describeModel(pipe::PipelineOp pipeline,
                                  artifact::Artifact &artifact);

/// Sets the ranges of valid values of batch arguments and buffers. These are
/// the ranges that the model states. For arguments that index tensors, as
/// integers or as floats that are converted to integers, the range also ends at
/// the smallest dimension that is indexed. Reads the primal functions of the
/// chunks, which must be on tensors.
void describeRanges(pipe::PipelineOp pipeline, artifact::Metadata &metadata);

/// Sets which batch arguments are tokens: integers of 32 or 64 bits that index
/// rows of parameters, buffers or constants. Labels are not tokens, since they
/// index computed values. Reads the same functions.
void describeTokens(pipe::PipelineOp pipeline, artifact::Metadata &metadata);

/// Writes the values of a module's dense constants as sections of an artifact.
/// Equal values share a section. A section is made when it is asked for, so
/// that none is unused.
class ConstantSections {
public:
  ConstantSections(mlir::ModuleOp module, artifact::Artifact &artifact);

  /// The number of constants; 0 in a module for a CPU.
  size_t size() const { return names.size(); }
  /// The section of constant `number` of the attribute `pipe.constants`. Fails
  /// with a diagnostic if its values are missing.
  mlir::FailureOr<int32_t> getSection(size_t number);
  /// An empty section.
  int32_t getEmptySection() { return add({}); }

private:
  int32_t add(std::string_view bytes);

  mlir::ModuleOp module;
  artifact::Artifact &artifact;
  llvm::ArrayRef<mlir::Attribute> names;
};

/// Describes the programs of a pipeline with planned memory as the artifact's
/// program `name`. Each rank has one object, numbered from `firstObject` on.
mlir::FailureOr<artifact::Program> describeProgram(pipe::PipelineOp pipeline,
                                                   llvm::StringRef name,
                                                   int32_t firstObject,
                                                   ConstantSections &constants);

/// An entry of the runtime's table of matrix products.
artifact::Gemm toArtifact(const GemmDesc &desc);
/// An entry of its table of convolutions.
artifact::Convolution toArtifact(const ConvolutionDesc &desc);
/// An entry of its table of attentions.
artifact::Attention toArtifact(const AttentionDesc &desc);

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_METADATA_H
