//===- Metadata.cpp - creating the metadata of an artifact ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Compiler/Metadata.h"

#include "MetadataTypes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "veeline/Analysis/CostModel.h"
#include "veeline/Dialect/Pipe/IR/Frozen.h"
#include "veeline/Dialect/Pipe/Transforms/Lengths.h"
#include "veeline/Dialect/Pipe/Transforms/MemoryPlan.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;
using namespace veeline::pipe;

FailureOr<artifact::DataType> compiler::getDataType(Location loc, Type tensor) {
  Type element = cast<ShapedType>(tensor).getElementType();
  std::string name;
  llvm::raw_string_ostream(name) << element;
  if (auto type = artifact::parseDataType(name))
    return *type;
  return emitError(loc) << "the runtime has no elements of type " << element;
}

static FailureOr<artifact::DataType> getDataTypeOf(Value value) {
  return getDataType(value.getLoc(), value.getType());
}

std::vector<int64_t> compiler::getShape(Type type) {
  return cast<ShapedType>(type).getShape().vec();
}

static artifact::Initializer getInitializer(InitAttr init) {
  using Kind = artifact::Initializer::Kind;
  double a = init.getA().convertToDouble(), b = init.getB().convertToDouble();
  switch (init.getKind()) {
  case InitKind::Zeros:
    return {Kind::zeros, 0, 0};
  case InitKind::Ones:
    return {Kind::ones, 0, 0};
  case InitKind::Constant:
    return {Kind::constant, a, 0};
  case InitKind::Normal:
    return {Kind::normal, a, b};
  case InitKind::Uniform:
    return {Kind::uniform, a, b};
  case InitKind::Values:
    return {Kind::values, 0, 0};
  }
  return {};
}

/// The bytes of the elements, without a copy. None if the file leaves out the
/// elements, or if their size is wrong.
static std::optional<std::string_view> getBytes(ElementsAttr elements) {
  ArrayRef<char> bytes;
  if (auto dense = dyn_cast<DenseElementsAttr>(elements)) {
    bytes = dense.getRawData();
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return std::nullopt;
    bytes = blob->getData();
  }
  if (bytes.size() != getByteSize(elements.getShapedType()))
    return std::nullopt;
  return std::string_view(bytes.data(), bytes.size());
}

/// Moves `bytes` to the artifact, so that they live as long as it does.
static std::string_view keep(std::string bytes, artifact::Artifact &artifact) {
  auto kept =
      std::make_shared<std::pair<std::string, decltype(artifact.storage)>>(
          std::move(bytes), std::move(artifact.storage));
  artifact.storage = kept;
  return kept->first;
}

/// The bytes of all elements. The file stores only one element of a splat.
static std::optional<std::string_view>
expandSplat(ElementsAttr elements, artifact::Artifact &artifact) {
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense || !dense.isSplat())
    return getBytes(elements);
  ArrayRef<char> one = dense.getRawData();
  std::string all;
  for (int64_t i = 0; i < dense.getNumElements(); ++i)
    all.append(one.data(), one.size());
  return keep(std::move(all), artifact);
}

/// Describes the initialiser of `param`. Its values become a section of the
/// artifact.
static FailureOr<artifact::Initializer>
describeInit(ParamOp param, artifact::Artifact &artifact) {
  InitAttr init = param.getParam().getInit();
  artifact::Initializer result = getInitializer(init);
  if (init.getKind() != InitKind::Values)
    return result;
  auto bytes = expandSplat(init.getElements(), artifact);
  if (!bytes)
    return emitError(param.getLoc())
           << "parameter \"" << param.getParam().getName().getValue()
           << "\" starts from values that are not there as bytes of "
           << init.getElements().getShapedType()
           << ": they are left out of the file, of another size, or sparse";
  std::string type;
  llvm::raw_string_ostream(type)
      << init.getElements().getShapedType().getElementType();
  result.stored = {static_cast<int32_t>(artifact.values.size()),
                   *artifact::parseDataType(type)};
  artifact.values.push_back(*bytes);
  return result;
}

/// Converts booleans to one byte each, however the IR stores them.
static std::string expandBooleans(DenseElementsAttr elements) {
  std::string bytes;
  for (bool value : elements.getValues<bool>())
    bytes.push_back(value);
  return bytes;
}

ConstantSections::ConstantSections(ModuleOp module,
                                   artifact::Artifact &artifact)
    : module(module), artifact(artifact) {
  if (auto list = module->getAttrOfType<ArrayAttr>(constantsAttrName))
    names = list.getValue();
}

int32_t ConstantSections::add(std::string_view bytes) {
  auto it = llvm::find(artifact.values, bytes);
  auto section = static_cast<int32_t>(it - artifact.values.begin());
  if (it == artifact.values.end())
    artifact.values.push_back(bytes);
  return section;
}

FailureOr<int32_t> ConstantSections::getSection(size_t number) {
  auto name = cast<FlatSymbolRefAttr>(names[number]);
  auto global = module.lookupSymbol<memref::GlobalOp>(name.getAttr());
  auto elements = dyn_cast_or_null<ElementsAttr>(global.getInitialValueAttr());
  auto dense = dyn_cast_or_null<DenseElementsAttr>(elements);
  if (dense && dense.getElementType().isInteger(1))
    return add(keep(expandBooleans(dense), artifact));
  if (elements)
    if (auto bytes = expandSplat(elements, artifact))
      return add(*bytes);
  return global.emitError("a constant needs values that are there as bytes of "
                          "its type");
}

static std::string getResultName(PipelineOp pipeline, size_t number) {
  YieldOp yield = pipeline.getYield();
  if (std::optional<ArrayAttr> names = yield.getNames())
    return cast<StringAttr>((*names)[number]).str();
  bool isLoss = number == 0 && !isOutput(yield.getResults()[0].getType());
  return isLoss ? "loss" : "metric" + std::to_string(number);
}

static LogicalResult describeResults(PipelineOp pipeline,
                                     artifact::Metadata &metadata) {
  SymbolTableCollection symbols;
  FailureOr<SmallVector<PipelineOp>> versions = getVersions(pipeline, symbols);
  if (failed(versions))
    return failure();
  for (auto [i, value] : llvm::enumerate(pipeline.getYield().getResults())) {
    FailureOr<artifact::DataType> type = getDataTypeOf(value);
    if (failed(type))
      return failure();
    artifact::Result &result = metadata.results.emplace_back();
    result.name = getResultName(pipeline, i);
    result.type = *type;
    result.isTensor = isOutput(value.getType());
    if (!result.isTensor)
      continue;
    result.shape = getShape(value.getType());
    for (PipelineOp version : *versions)
      result.shapes.push_back(
          getShape(version.getYield().getResults()[i].getType()));
  }
  return success();
}

LogicalResult veeline::compiler::describeModel(PipelineOp pipeline,
                                               artifact::Artifact &artifact) {
  artifact::Metadata &metadata = artifact.metadata;
  metadata.model = pipeline.getSymName();
  metadata.microbatches = pipeline.getMicrobatches().value_or(1);
  metadata.lengths = getLengths(pipeline);
  if (failed(describeResults(pipeline, metadata)))
    return failure();
  for (ParamOp param : pipeline.getParams()) {
    FailureOr<artifact::DataType> type = getDataTypeOf(param.getValue());
    FailureOr<artifact::Initializer> init = describeInit(param, artifact);
    if (failed(type) || failed(init))
      return failure();
    metadata.params.push_back({param.getParam().getName().str(),
                               getShape(param.getValue().getType()), *type,
                               *init, isFrozen(param)});
  }
  auto describeInput = [](auto input, auto &inputs) -> LogicalResult {
    FailureOr<artifact::DataType> type = getDataTypeOf(input.getValue());
    if (succeeded(type))
      inputs.push_back({input.getName().str(),
                        getShape(input.getValue().getType()),
                        *type,
                        {}});
    return type;
  };
  for (BatchOp batch : pipeline.getBatches()) {
    if (failed(describeInput(batch, metadata.batches)))
      return failure();
    metadata.batches.back().lossWeight = batch.getLossWeight();
    if (std::optional<int64_t> dim = getLengthDim(batch))
      metadata.batches.back().lengthDim = *dim;
  }
  for (BufferOp buffer : pipeline.getBuffers()) {
    if (failed(describeInput(buffer, metadata.buffers)))
      return failure();
    metadata.buffers.back().lossScale = buffer.getLossScale();
  }
  return success();
}
