//===- Lengths.cpp - models with microbatches of several lengths ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Dialect/Pipe/Transforms/Lengths.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "veeline/Analysis/CostModel.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

ArrayRef<int64_t> veeline::pipe::getLengths(Operation *op) {
  auto lengths = op->getAttrOfType<DenseI64ArrayAttr>(lengthsAttrName);
  return lengths ? lengths.asArrayRef() : ArrayRef<int64_t>();
}

bool veeline::pipe::isVersion(PipelineOp pipeline) {
  return pipeline->hasAttr(lengthAttrName);
}

std::optional<int64_t> veeline::pipe::getLengthDim(BatchOp batch) {
  auto dim = batch->getAttrOfType<IntegerAttr>(PipeDialect::lengthDimAttrName);
  if (!dim)
    return std::nullopt;
  return dim.getInt();
}

void veeline::pipe::setVersions(PipelineOp pipeline, ArrayRef<int64_t> lengths,
                                ArrayRef<PipelineOp> versions) {
  Builder builder(pipeline.getContext());
  SmallVector<Attribute> names;
  for (auto [length, each] : llvm::zip(lengths, versions)) {
    PipelineOp version = each;
    version->setAttr(lengthAttrName, builder.getI64IntegerAttr(length));
    names.push_back(FlatSymbolRefAttr::get(version.getSymNameAttr()));
  }
  pipeline->setAttr(lengthsAttrName, builder.getDenseI64ArrayAttr(lengths));
  pipeline->setAttr(versionsAttrName, builder.getArrayAttr(names));
}

FailureOr<SmallVector<PipelineOp>>
veeline::pipe::getVersions(PipelineOp pipeline,
                           SymbolTableCollection &symbols) {
  SmallVector<PipelineOp> versions;
  ArrayRef<int64_t> lengths = getLengths(pipeline);
  if (lengths.empty())
    return versions;
  auto names = pipeline->getAttrOfType<ArrayAttr>(versionsAttrName);
  if (!names || names.size() + 1 != lengths.size())
    return pipeline.emitOpError()
           << "has " << lengths.size() << " lengths, but its attribute '"
           << versionsAttrName
           << "' does not name a version for each one below the last";
  for (Attribute name : names) {
    auto symbol = dyn_cast<FlatSymbolRefAttr>(name);
    auto version =
        symbol ? symbols.lookupNearestSymbolFrom<PipelineOp>(pipeline, symbol)
               : PipelineOp();
    if (!version)
      return pipeline.emitOpError()
             << "names a version " << name
             << ", which is not a pipe.pipeline of this module";
    versions.push_back(version);
  }
  versions.push_back(pipeline);
  return versions;
}

/// Adds text of the form "at length 8".
static void describeLength(InFlightDiagnostic &diagnostic, PipelineOp version) {
  diagnostic << "at length "
             << cast<IntegerAttr>(version->getAttr(lengthAttrName)).getInt();
}

/// Checks that two functions take, or return, the same values in the same
/// order.
static LogicalResult verifyValues(ChunkOp chunk, PipelineOp version,
                                  ChunkFunctionKind kind,
                                  ArrayRef<ChunkValue> bound,
                                  ArrayRef<ChunkValue> found) {
  bool alike = bound.size() == found.size();
  for (auto [a, b] : llvm::zip(bound, found))
    alike &= a == b && getByteSize(b.type) <= getByteSize(a.type) &&
             a.type.getElementType() == b.type.getElementType();
  if (alike)
    return success();
  InFlightDiagnostic diagnostic =
      chunk.emitOpError() << "has another " << getName(kind) << " function ";
  describeLength(diagnostic, version);
  return diagnostic << " than at the bound: it does not take and give the same "
                       "values, in no more bytes; a length that is left out "
                       "(by 'multiple') needs no version";
}

static LogicalResult verifyChunk(ChunkOp chunk, ChunkOp other,
                                 PipelineOp version, ChunkFunctionKind kind,
                                 SymbolTableCollection &symbols) {
  func::FuncOp func = getFunction(symbols, chunk, kind);
  func::FuncOp otherFunc = getFunction(symbols, other, kind);
  if (!func && !otherFunc)
    return success();
  if (!func || !otherFunc)
    return verifyValues(chunk, version, kind, {ChunkValue()}, {});
  FailureOr<ChunkSignature> bound = getChunkSignature(func);
  FailureOr<ChunkSignature> found = getChunkSignature(otherFunc);
  if (failed(bound) || failed(found) ||
      failed(verifyValues(chunk, version, kind, bound->arguments,
                          found->arguments)))
    return failure();
  return verifyValues(chunk, version, kind, bound->results, found->results);
}

LogicalResult veeline::pipe::verifyVersions(PipelineOp pipeline,
                                            SymbolTableCollection &symbols) {
  FailureOr<SmallVector<PipelineOp>> versions = getVersions(pipeline, symbols);
  if (failed(versions))
    return failure();
  SmallVector<ChunkOp> chunks = pipeline.getChunks();
  for (PipelineOp version : *versions) {
    SmallVector<ChunkOp> others = version.getChunks();
    if (version == pipeline || !isVersion(version))
      continue;
    if (others.size() != chunks.size())
      return version.emitOpError()
             << "has " << others.size() << " chunks, the version of the bound "
             << chunks.size();
    for (auto [chunk, other] : llvm::zip_equal(chunks, others))
      for (unsigned kind = 0; kind != numChunkFunctionKinds; ++kind)
        if (failed(verifyChunk(chunk, other, version,
                               static_cast<ChunkFunctionKind>(kind), symbols)))
          return failure();
  }
  return success();
}
