//===- ContractParams.cpp - arguments that declare what they are ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractParams.h"

#include "veeline/Dialect/Pipe/IR/Frozen.h"

using namespace mlir;
using namespace veeline;
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

static void makeBuffer(func::FuncOp model, unsigned argument, StringRef name) {
  for (StringRef role : {PipeDialect::paramAttrName, PipeDialect::batchAttrName,
                         pipe::frozenAttrName})
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
  for (unsigned i = 0; i < names.size(); ++i)
    if (getParam(i) && frozen.contains(i, names[i]))
      model.setArgAttr(i, pipe::frozenAttrName,
                       UnitAttr::get(model.getContext()));
  return success();
}
