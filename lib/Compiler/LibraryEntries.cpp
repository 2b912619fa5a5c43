//===- LibraryEntries.cpp - entries for the libraries' calls --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Compiler/Metadata.h"

#include "veeline/Conversion/AttentionDesc.h"
#include "veeline/Conversion/Convolution.h"
#include "veeline/Conversion/Gemm.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace veeline;

/// The element type of a matrix product, a convolution or attention.
static artifact::DataType toArtifact(Type type) {
  if (type.isF64())
    return artifact::DataType::f64;
  if (type.isBF16())
    return artifact::DataType::bf16;
  return type.isF16() ? artifact::DataType::f16 : artifact::DataType::f32;
}

static artifact::Epilogue toArtifact(GemmEpilogue epilogue) {
  switch (epilogue) {
  case GemmEpilogue::None:
    return artifact::Epilogue::none;
  case GemmEpilogue::Bias:
    return artifact::Epilogue::bias;
  case GemmEpilogue::GeluAux:
    return artifact::Epilogue::geluAux;
  case GemmEpilogue::BiasGeluAux:
    return artifact::Epilogue::biasGeluAux;
  case GemmEpilogue::GeluDerivative:
    return artifact::Epilogue::dgelu;
  }
  llvm_unreachable("an epilogue that the runtime does not have");
}

artifact::Gemm veeline::compiler::toArtifact(const GemmDesc &desc) {
  artifact::Gemm gemm;
  gemm.type = ::toArtifact(desc.dtype);
  gemm.batch.assign(desc.batch.begin(), desc.batch.end());
  gemm.m = desc.m;
  gemm.n = desc.n;
  gemm.k = desc.k;
  gemm.aStrides.assign(desc.aStrides.begin(), desc.aStrides.end());
  gemm.bStrides.assign(desc.bStrides.begin(), desc.bStrides.end());
  gemm.cStrides.assign(desc.cStrides.begin(), desc.cStrides.end());
  gemm.scratchBytes = desc.scratchBytes;
  gemm.cType = ::toArtifact(desc.cType);
  gemm.compute = desc.isTf32 ? artifact::ComputeType::tf32
                             : artifact::computeTypeOf(gemm.type);
  gemm.alignment = desc.alignment.value_or(gemm.alignment);
  gemm.accumulate = desc.accumulate;
  gemm.epilogue = ::toArtifact(desc.epilogue);
  return gemm;
}

static artifact::ConvolutionKind toArtifact(ConvolutionKind kind) {
  switch (kind) {
  case ConvolutionKind::Forward:
    return artifact::ConvolutionKind::forward;
  case ConvolutionKind::BackwardData:
    return artifact::ConvolutionKind::backwardData;
  case ConvolutionKind::BackwardWeights:
    return artifact::ConvolutionKind::backwardWeights;
  }
  llvm_unreachable("a kind that the runtime does not have");
}

static std::vector<int64_t> toVector(ArrayRef<int64_t> list) {
  return {list.begin(), list.end()};
}

artifact::Convolution
veeline::compiler::toArtifact(const ConvolutionDesc &desc) {
  artifact::Convolution entry;
  entry.kind = ::toArtifact(desc.kind);
  entry.batch = desc.batch;
  entry.groups = desc.groups;
  entry.inputs = desc.inputs;
  entry.outputs = desc.outputs;
  entry.xSizes = toVector(desc.xSizes);
  entry.ySizes = toVector(desc.ySizes);
  entry.wSizes = toVector(desc.wSizes);
  entry.strides = toVector(desc.strides);
  entry.dilations = toVector(desc.dilations);
  entry.padding = toVector(desc.padding);
  entry.xStrides = toVector(desc.xStrides);
  entry.wStrides = toVector(desc.wStrides);
  entry.yStrides = toVector(desc.yStrides);
  entry.scratchBytes = static_cast<int64_t>(desc.scratchBytes);
  entry.type = ::toArtifact(desc.dtype);
  entry.compute = desc.isTf32 ? artifact::ComputeType::tf32
                              : artifact::computeTypeOf(entry.type);
  return entry;
}

artifact::Attention veeline::compiler::toArtifact(const AttentionDesc &desc) {
  artifact::Attention entry;
  entry.kind = desc.isBackward ? artifact::AttentionKind::backward
                               : artifact::AttentionKind::forward;
  entry.type = ::toArtifact(desc.dtype);
  entry.batch = desc.batch;
  entry.heads = desc.heads;
  entry.keyHeads = desc.keyHeads;
  entry.queries = desc.queries;
  entry.keys = desc.keys;
  entry.depth = desc.depth;
  entry.valueDepth = desc.valueDepth;
  entry.scale = desc.scale;
  entry.causal = desc.causal;
  entry.deterministic = desc.deterministic;
  entry.queryStrides = toVector(desc.queryStrides);
  entry.keyStrides = toVector(desc.keyStrides);
  entry.valueStrides = toVector(desc.valueStrides);
  entry.outputStrides = toVector(desc.outputStrides);
  entry.outputGradStrides = toVector(desc.outputGradStrides);
  entry.queryGradStrides = toVector(desc.queryGradStrides);
  entry.keyGradStrides = toVector(desc.keyGradStrides);
  entry.valueGradStrides = toVector(desc.valueGradStrides);
  if (desc.maskType)
    entry.maskType = ::toArtifact(desc.maskType);
  entry.maskStrides = toVector(desc.maskStrides);
  entry.scratchBytes = static_cast<int64_t>(desc.scratchBytes);
  return entry;
}
