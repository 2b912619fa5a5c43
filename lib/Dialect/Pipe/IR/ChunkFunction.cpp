//===- ChunkFunction.cpp - the functions of a chunk -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace veeline::pipe;

RoleAttr veeline::pipe::getArgRole(func::FuncOp func, unsigned index) {
  return func.getArgAttrOfType<RoleAttr>(index, PipeDialect::roleAttrName);
}

RoleAttr veeline::pipe::getResultRole(func::FuncOp func, unsigned index) {
  return func.getResultAttrOfType<RoleAttr>(index, PipeDialect::roleAttrName);
}

void veeline::pipe::setArgRole(func::FuncOp func, unsigned index, RoleKind kind,
                               unsigned roleIndex) {
  func.setArgAttr(index, PipeDialect::roleAttrName,
                  RoleAttr::get(func.getContext(), kind, roleIndex));
}

void veeline::pipe::setResultRole(func::FuncOp func, unsigned index,
                                  RoleKind kind, unsigned roleIndex) {
  func.setResultAttr(index, PipeDialect::roleAttrName,
                     RoleAttr::get(func.getContext(), kind, roleIndex));
}

/// The tensor type of an argument. Functions of chunks have tensors or, once
/// they are bufferized, memrefs.
static RankedTensorType getTensorType(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank() || !shaped.hasStaticShape())
    return {};
  return RankedTensorType::get(shaped.getShape(), shaped.getElementType());
}

/// Appends the value of argument (or result) `index`, which the attribute
/// `role` describes.
static LogicalResult addValue(func::FuncOp func,
                              SmallVectorImpl<ChunkValue> &values,
                              RoleAttr role, Type type, StringRef what,
                              unsigned index) {
  if (!role)
    return func.emitOpError()
           << what << ' ' << index << " of a chunk's function has no '"
           << PipeDialect::roleAttrName << "'";
  RankedTensorType tensor = getTensorType(type);
  if (!tensor)
    return func.emitOpError()
           << what << ' ' << index
           << " of a chunk's function is a tensor of static shape, found "
           << type;
  ChunkValue value{role.getKind(), role.getIndex(), tensor};
  if (llvm::is_contained(values, value))
    return func.emitOpError()
           << what << "s: the role " << stringifyRoleKind(value.kind) << ' '
           << value.index << " stands twice";
  values.push_back(value);
  return success();
}

/// The arguments are: the rank, the inputs, the results, and the workspace. The
/// workspace has no role, and does not exist before it is planned.
static FailureOr<ChunkSignature> getBufferizedSignature(func::FuncOp func,
                                                        unsigned numResults) {
  unsigned end = func.getNumArguments();
  if (end != 0 && !getArgRole(func, end - 1))
    --end;
  if (end < numResults + 1)
    return func.emitOpError()
           << "says that it has " << numResults << " results, but takes only "
           << func.getNumArguments() << " arguments, the rank included";
  ChunkSignature signature;
  for (unsigned i = 1; i != end; ++i) {
    bool isResult = i + numResults >= end;
    if (failed(addValue(
            func, isResult ? signature.results : signature.arguments,
            getArgRole(func, i), func.getArgumentTypes()[i], "argument", i)))
      return failure();
  }
  return signature;
}

FailureOr<ChunkSignature> veeline::pipe::getChunkSignature(func::FuncOp func) {
  if (auto numResults = func->getAttrOfType<IntegerAttr>(numResultsAttrName))
    return getBufferizedSignature(func, numResults.getInt());
  ChunkSignature signature;
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes()))
    if (failed(addValue(func, signature.arguments, getArgRole(func, i), type,
                        "argument", i)))
      return failure();
  for (auto [i, type] : llvm::enumerate(func.getResultTypes()))
    if (failed(addValue(func, signature.results, getResultRole(func, i), type,
                        "result", i)))
      return failure();
  return signature;
}

bool veeline::pipe::isImplied(ChunkOp chunk, const ChunkValue &value) {
  bool isOperand =
      value.kind == RoleKind::Operand || value.kind == RoleKind::Rounded;
  if (!isOperand || value.index >= chunk.getOperands().size())
    return false;
  return isa_and_nonnull<ParamOp, BatchOp, BufferOp>(
      chunk.getOperands()[value.index].getDefiningOp());
}

SmallVector<ChunkValue> veeline::pipe::getCarried(ChunkOp chunk,
                                                  ArrayRef<ChunkValue> values) {
  return llvm::filter_to_vector(values, [&](const ChunkValue &value) {
    return value.kind != RoleKind::ParamGrad && !isImplied(chunk, value);
  });
}

FlatSymbolRefAttr veeline::pipe::getFunctionName(ChunkOp chunk,
                                                 ChunkFunctionKind kind) {
  return chunk->getAttrOfType<FlatSymbolRefAttr>(getName(kind));
}

func::FuncOp veeline::pipe::getFunction(SymbolTableCollection &symbols,
                                        ChunkOp chunk, ChunkFunctionKind kind) {
  FlatSymbolRefAttr name = getFunctionName(chunk, kind);
  if (!name)
    return {};
  return symbols.lookupNearestSymbolFrom<func::FuncOp>(chunk, name);
}

SmallVector<SmallVector<func::FuncOp>>
veeline::pipe::getBackwardFunctions(ModuleOp module) {
  SymbolTableCollection symbols;
  SmallVector<SmallVector<func::FuncOp>> all;
  DenseSet<Operation *> known;
  module.walk([&](ChunkOp chunk) {
    SmallVector<func::FuncOp> functions;
    for (ChunkFunctionKind kind :
         {ChunkFunctionKind::Backward, ChunkFunctionKind::BackwardInput,
          ChunkFunctionKind::BackwardWeight, ChunkFunctionKind::Recomputation})
      if (func::FuncOp function = getFunction(symbols, chunk, kind))
        if (known.insert(function).second)
          functions.push_back(function);
    if (!functions.empty())
      all.push_back(std::move(functions));
  });
  return all;
}

StringRef veeline::pipe::getName(ChunkFunctionKind kind) {
  switch (kind) {
  case ChunkFunctionKind::Forward:
    return "forward";
  case ChunkFunctionKind::Backward:
    return "backward";
  case ChunkFunctionKind::BackwardInput:
    return "backward_input";
  case ChunkFunctionKind::BackwardWeight:
    return "backward_weight";
  case ChunkFunctionKind::Recomputation:
    return "recomputation";
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Computations
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral computationName = "pipe.computation";

Location veeline::pipe::markComputation(Location location, int64_t number) {
  Builder builder(location.getContext());
  return FusedLoc::get(
      location.getContext(), {location},
      builder.getDictionaryAttr(builder.getNamedAttr(
          computationName, builder.getI64IntegerAttr(number))));
}

Location veeline::pipe::markPart(Location location, int64_t part) {
  std::optional<int64_t> number = getComputation(location);
  return number ? markComputation(location, *number + part) : location;
}

std::optional<int64_t> veeline::pipe::getComputation(Location location) {
  std::optional<int64_t> number;
  location->walk([&](Location part) {
    auto fused = dyn_cast<FusedLocWith<DictionaryAttr>>(part);
    auto found = fused ? fused.getMetadata().getAs<IntegerAttr>(computationName)
                       : IntegerAttr();
    if (!found)
      return WalkResult::advance();
    number = found.getInt();
    return WalkResult::interrupt();
  });
  return number;
}
