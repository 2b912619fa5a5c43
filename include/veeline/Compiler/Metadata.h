//===- Metadata.h - the metadata of an artifact, read from IR ---*- C++ -*-===//
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
/// what the next two functions add. Fails with a diagnostic if one has a type
/// that the runtime does not know. Initial values of parameters are not copied:
/// they live in the context.
mlir::LogicalResult describeModel(pipe::PipelineOp pipeline,
                                  artifact::Artifact &artifact);

/// Sets the valid values of batch arguments and buffers: those that the model
/// gives and, for those that index tensors, as integers or as floats that
/// become some, those within the smallest dimension that is indexed. Reads the
/// primal functions of the chunks, which have to be on tensors.
void describeRanges(pipe::PipelineOp pipeline, artifact::Metadata &metadata);

/// Sets which batch arguments are tokens: integers of 32 or 64 bits that choose
/// rows of parameters, buffers or constants. Labels, which choose from what is
/// computed, are none. Reads the same functions.
void describeTokens(pipe::PipelineOp pipeline, artifact::Metadata &metadata);

/// The values of a module's dense constants as sections of an artifact, equal
/// ones once. Sections are made when they are asked for, so that none is
/// unused.
class ConstantSections {
public:
  ConstantSections(mlir::ModuleOp module, artifact::Artifact &artifact);

  /// How many constants there are; none in a module for a CPU.
  size_t size() const { return names.size(); }
  /// The section of the constant of this number in the attribute
  /// `pipe.constants`. Fails with a diagnostic if its values are not there.
  mlir::FailureOr<int32_t> getSection(size_t number);
  /// The section of no values.
  int32_t getEmptySection() { return add({}); }

private:
  int32_t add(std::string_view bytes);

  mlir::ModuleOp module;
  artifact::Artifact &artifact;
  llvm::ArrayRef<mlir::Attribute> names;
};

/// The programs of a pipeline whose memory is planned, as the artifact's
/// program `name`. Objects are numbered from `firstObject`, one a rank.
mlir::FailureOr<artifact::Program> describeProgram(pipe::PipelineOp pipeline,
                                                   llvm::StringRef name,
                                                   int32_t firstObject,
                                                   ConstantSections &constants);

/// A matrix product as the runtime's tables have it.
artifact::Gemm toArtifact(const GemmDesc &desc);
/// A convolution.
artifact::Convolution toArtifact(const ConvolutionDesc &desc);
/// An attention.
artifact::Attention toArtifact(const AttentionDesc &desc);

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_METADATA_H
