//===- PipeDialect.cpp - the pipe dialect ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

using namespace mlir;
using namespace veeline::pipe;

#include "veeline/Dialect/Pipe/IR/PipeDialect.cpp.inc"

void PipeDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerOps();
}

/// The attributes of this dialect stand on arguments and results only.
LogicalResult PipeDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attr) {
  for (StringLiteral name : {paramAttrName, batchAttrName, bufferAttrName,
                             constantAttrName, roleAttrName})
    if (attr.getName() == name)
      return op->emitOpError()
             << "has the attribute '" << name
             << "', which belongs on an argument of a function";
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

LogicalResult PipeDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned argument,
                                                    NamedAttribute attr) {
  StringRef name = attr.getName();
  if (name == roleAttrName)
    return verifyKind<RoleAttr>(op, argument, attr, "a #pipe.role");
  if (name == batchAttrName || name == bufferAttrName)
    return verifyKind<StringAttr>(op, argument, attr, "a name");
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
  return success();
}

LogicalResult PipeDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                       unsigned result,
                                                       NamedAttribute attr) {
  if (attr.getName() == roleAttrName && isa<RoleAttr>(attr.getValue()))
    return success();
  return op->emitOpError() << "result " << result
                           << ": expected a #pipe.role, found '"
                           << attr.getName().getValue() << "'";
}
