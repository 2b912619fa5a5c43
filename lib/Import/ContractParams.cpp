//===- ContractParams.cpp - arguments that declare what they are ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractParams.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

using namespace mlir;
using namespace veeline;
using veeline::pipe::InitAttr;
using veeline::pipe::InitKind;
using veeline::pipe::PipeDialect;

/// The name of each argument in its attribute. An argument without a name is
/// the buffer `argN`, by the input contract.
static std::vector<std::string> getOwnNames(func::FuncOp model) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < model.getNumArguments(); ++i) {
    StringAttr name =
        model.getArgAttrOfType<StringAttr>(i, PipeDialect::batchAttrName);
    if (!name)
      name = model.getArgAttrOfType<StringAttr>(i, PipeDialect::bufferAttrName);
    if (auto param = model.getArgAttrOfType<pipe::ParamAttr>(
            i, PipeDialect::paramAttrName))
      name = param.getName();
    names.push_back(name ? name.str() : "arg" + std::to_string(i));
  }
  return names;
}

/// Creates a constant with the initial value of a parameter, or returns null if
/// that is drawn at random.
static Value createStart(OpBuilder &builder, BlockArgument argument,
                         InitAttr init) {
  auto type = cast<RankedTensorType>(argument.getType());
  auto element = cast<FloatType>(type.getElementType());
  Location location = argument.getLoc();
  TypedAttr start = init.getElements();
  if (init.getKind() == InitKind::Zeros || init.getKind() == InitKind::Ones)
    start = DenseElementsAttr::get(
        type, FloatAttr::get(element, init.getKind() == InitKind::Ones));
  else if (init.getKind() == InitKind::Constant)
    start = DenseElementsAttr::get(
        type, FloatAttr::get(element, init.getA().convertToDouble()));
  if (!start)
    return {};
  Value value = arith::ConstantOp::create(builder, location, start);
  // The file may have the values in a narrower type.
  if (value.getType() != type)
    value = arith::ExtFOp::create(builder, location, type, value);
  return value;
}

/// Turns a parameter with known initial values into a constant, and any other
/// into a buffer. Returns whether the argument has to be removed.
static bool freeze(func::FuncOp model, unsigned argument, pipe::ParamAttr param,
                   OpBuilder &builder) {
  BlockArgument old = model.getArgument(argument);
  if (Value start = createStart(builder, old, param.getInit())) {
    old.replaceAllUsesWith(start);
    return true;
  }
  model.removeArgAttr(argument, PipeDialect::paramAttrName);
  model.setArgAttr(argument, PipeDialect::bufferAttrName, param.getName());
  return false;
}

static void makeBuffer(func::FuncOp model, unsigned argument, StringRef name) {
  for (StringRef role :
       {PipeDialect::paramAttrName, PipeDialect::batchAttrName})
    model.removeArgAttr(argument, role);
  model.setArgAttr(argument, PipeDialect::bufferAttrName,
                   StringAttr::get(model.getContext(), name));
}

LogicalResult veeline::importContract(func::FuncOp model,
                                      const ArgumentList &frozen,
                                      const ArgumentList &buffers) {
  std::vector<std::string> names = getOwnNames(model);
  if (failed(frozen.verify(model, names)) ||
      failed(buffers.verify(model, names)))
    return failure();
  OpBuilder builder(model.getContext());
  builder.setInsertionPointToStart(&model.getBody().front());
  for (unsigned i = 0; i < names.size(); ++i)
    if (buffers.contains(i, names[i]))
      makeBuffer(model, i, names[i]);
  auto getParam = [&](unsigned argument) {
    return model.getArgAttrOfType<pipe::ParamAttr>(argument,
                                                   PipeDialect::paramAttrName);
  };
  if (failed(frozen.verifyParams(model, names, [&](unsigned i) -> std::string {
        bool isData = bool(model.getArgAttr(i, PipeDialect::batchAttrName));
        std::string untrained = ", which is not trained anyway";
        return getParam(i) ? "" : (isData ? "data" : "a buffer") + untrained;
      })))
    return failure();
  llvm::BitVector gone(model.getNumArguments());
  for (unsigned i = 0; i < names.size(); ++i)
    if (pipe::ParamAttr param = getParam(i);
        param && frozen.contains(i, names[i]))
      gone[i] = freeze(model, i, param, builder);
  return LogicalResult(model.eraseArguments(gone));
}
