//===- Joint.cpp - --pipe-import-joint ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"
#include "Names.h"

#include "veeline/Dialect/Pipe/IR/Pipe.h"
#include "veeline/Import/Passes.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEIMPORTJOINT
#include "veeline/Import/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;
using pipe::PipeDialect;

/// The initialiser of a parameter whose values no file has.
static pipe::InitAttr getDefaultInit(MLIRContext *context) {
  return pipe::InitAttr::get(context, pipe::InitKind::Normal, APFloat(0.0),
                             APFloat(0.02), ElementsAttr());
}

namespace {
struct ImportJoint : veeline::impl::PipeImportJointBase<ImportJoint> {
  using PipeImportJointBase::PipeImportJointBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> model = getChosenModel(getOperation());
    if (failed(model) || failed(markArguments(*model)) ||
        failed(markResults(*model)))
      signalPassFailure();
  }

private:
  LogicalResult markArguments(func::FuncOp model);
  LogicalResult markResults(func::FuncOp model);

  /// The names of the parameters, in the order of the arguments.
  SmallVector<StringAttr> parameters;
};
} // namespace

LogicalResult ImportJoint::markArguments(func::FuncOp model) {
  if (params.empty())
    return model.emitError()
           << "which arguments are parameters? say it with params=, as "
              "positions (3), ranges (2-5) or name patterns (w*)";
  std::vector<std::string> names = nameArguments(model);
  auto trained = ArgumentList::parse(model, llvm::to_vector(params), "params");
  auto buffers = ArgumentList::parse(model, llvm::to_vector(buffer), "buffer");
  if (failed(trained) || failed(buffers) ||
      failed(trained->verify(model, names)) ||
      failed(buffers->verify(model, names)))
    return failure();
  MLIRContext *context = model.getContext();
  for (auto [i, text] : llvm::enumerate(names)) {
    auto name = StringAttr::get(context, text);
    if (trained->contains(i, text)) {
      parameters.push_back(name);
      model.setArgAttr(
          i, PipeDialect::paramAttrName,
          pipe::ParamAttr::get(context, name, getDefaultInit(context)));
    } else {
      model.setArgAttr(i,
                       buffers->contains(i, text) ? PipeDialect::bufferAttrName
                                                  : PipeDialect::batchAttrName,
                       name);
    }
  }
  return success();
}

/// Marks the last results, which belong to the parameters, in the same order.
LogicalResult ImportJoint::markResults(func::FuncOp model) {
  if (results != "gradients" && results != "updates")
    return model.emitError()
           << "results= is 'gradients' or 'updates', found '" << results << "'";
  unsigned numResults = model.getNumResults();
  if (numResults <= parameters.size())
    return model.emitError()
           << "a joint function returns its loss, then one of the " << results
           << " for each of " << parameters.size() << " parameters; found "
           << numResults << " results";
  unsigned first = numResults - parameters.size();
  for (auto [i, name] : llvm::enumerate(parameters))
    model.setResultAttr(first + i,
                        results == "gradients" ? PipeDialect::gradientOfAttrName
                                               : PipeDialect::updatedAttrName,
                        name);
  return success();
}
