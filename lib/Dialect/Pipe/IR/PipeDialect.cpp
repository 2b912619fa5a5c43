//===- PipeDialect.cpp - the pipe dialect ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "veeline/Dialect/Pipe/IR/Frozen.h"

using namespace mlir;
using namespace veeline::pipe;

#include "veeline/Dialect/Pipe/IR/PipeDialect.cpp.inc"

void PipeDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerOps();
  registerBytecode();
}

/// These attributes are allowed on arguments and results only.
LogicalResult PipeDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attr) {
  for (StringLiteral name :
       {paramAttrName, batchAttrName, bufferAttrName, lossScaleAttrName,
        lossWeightAttrName, rangeAttrName, constantAttrName, roleAttrName})
    if (attr.getName() == name)
      return op->emitOpError()
             << "has the attribute '" << name
             << "', which belongs on an argument of a function";
  if (attr.getName() == frozenAttrName && !isa<ParamOp>(op))
    return op->emitOpError()
           << "has the attribute '" << frozenAttrName
           << "', which belongs on a pipe.param or on an argument that is one";
  return success();
}

template <typename AttrT>
static LogicalResult verifyKind(Operation *op, unsigned argument,
                                NamedAttribute attr, StringRef expected) {
  if (isa<AttrT>(attr.getValue()))
    return success();
  return op->emitOpError() << "argument " << argument << ": '"
                           << attr.getName().getValue() << "' expects "
                           << expected << ", found " << attr.getValue();
}

static LogicalResult verifyRange(Operation *op, unsigned argument,
                                 NamedAttribute attr) {
  if (failed(verifyKind<DenseI64ArrayAttr>(
          op, argument, attr,
          "the first valid integer and the one after the last, as in "
          "array<i64: 0, 10>")))
    return failure();
  ArrayRef<int64_t> range = cast<DenseI64ArrayAttr>(attr.getValue());
  if (range.size() != 2 || range[0] >= range[1])
    return op->emitOpError()
           << "argument " << argument
           << ": 'pipe.range' expects two integers, the first one smaller; "
              "found "
           << attr.getValue();
  auto function = dyn_cast<FunctionOpInterface>(op);
  Type type = function ? function.getArgumentTypes()[argument] : Type();
  auto tensor = dyn_cast_or_null<ShapedType>(type);
  if (!tensor || !tensor.getElementType().isInteger())
    return op->emitOpError()
           << "argument " << argument
           << ": only a tensor of integers has a 'pipe.range', found " << type;
  return success();
}

static LogicalResult verifyFrozen(Operation *op, unsigned argument,
                                  NamedAttribute attr) {
  if (failed(verifyKind<UnitAttr>(op, argument, attr, "no value")))
    return failure();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (function && function.getArgAttr(argument, PipeDialect::paramAttrName))
    return success();
  return op->emitOpError() << "argument " << argument
                           << ": only a parameter is '" << frozenAttrName
                           << "', and this is none: it has no 'pipe.param'";
}

LogicalResult PipeDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned argument,
                                                    NamedAttribute attr) {
  StringRef name = attr.getName();
  if (name == roleAttrName)
    return verifyKind<RoleAttr>(op, argument, attr, "a #pipe.role");
  if (name == batchAttrName || name == bufferAttrName ||
      name == stateOfAttrName)
    return verifyKind<StringAttr>(op, argument, attr, "a name");
  if (name == lossScaleAttrName || name == lossWeightAttrName ||
      name == stepAttrName)
    return verifyKind<UnitAttr>(op, argument, attr, "no value");
  if (name == rangeAttrName)
    return verifyRange(op, argument, attr);
  if (name == frozenAttrName)
    return verifyFrozen(op, argument, attr);
  if (name == lengthDimAttrName)
    return verifyKind<IntegerAttr>(op, argument, attr,
                                   "the number of a dimension");
  if (name == constantAttrName)
    return verifyKind<ElementsAttr>(op, argument, attr, "a tensor's elements");
  if (name != paramAttrName)
    return op->emitOpError()
           << "argument " << argument << ": unknown attribute '" << name << "'";
  if (failed(verifyKind<ParamAttr>(
          op, argument, attr,
          "a #pipe.param, as in #pipe.param<\"w\", init = zeros>")))
    return failure();
  auto function = dyn_cast<FunctionOpInterface>(op);
  Type type = function ? function.getArgumentTypes()[argument] : Type();
  auto tensor = dyn_cast_or_null<ShapedType>(type);
  if (!tensor || !isa<FloatType>(tensor.getElementType()))
    return op->emitOpError()
           << "argument " << argument
           << ": a parameter is a tensor of floats, found " << type;
  return cast<ParamAttr>(attr.getValue())
      .getInit()
      .verifyFor(
          [&] { return op->emitOpError() << "argument " << argument << ": "; },
          tensor);
}

LogicalResult PipeDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                       unsigned result,
                                                       NamedAttribute attr) {
  if (attr.getName() == roleAttrName && isa<RoleAttr>(attr.getValue()))
    return success();
  if (attr.getName() == stepAttrName && isa<UnitAttr>(attr.getValue()))
    return success();
  for (StringRef name :
       {metricAttrName, gradientOfAttrName, updatedAttrName, stateOfAttrName})
    if (attr.getName() == name && isa<StringAttr>(attr.getValue()))
      return success();
  return op->emitOpError() << "result " << result
                           << ": expected a #pipe.role, or a 'pipe.metric', "
                              "'pipe.gradient_of', 'pipe.updated' or "
                              "'pipe.state_of' with a name, or 'pipe.step'; "
                              "found '"
                           << attr.getName().getValue() << "'";
}
