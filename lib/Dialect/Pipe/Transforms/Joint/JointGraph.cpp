//===- JointGraph.cpp - --pipe-joint-graph --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "veeline/Autodiff/Joint.h"
#include "veeline/Dialect/Pipe/IR/Frozen.h"
#include "veeline/Dialect/Pipe/Transforms/Joint.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/Transforms.h"

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPEJOINTGRAPH
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline::pipe;

namespace {
struct PipeJointGraph
    : veeline::pipe::impl::PipeJointGraphBase<PipeJointGraph> {
  using PipeJointGraphBase::PipeJointGraphBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> model = findModel(getOperation(), entry);
    if (failed(model) || failed(verifyModel(*model)) ||
        failed(verifyGradients(*model)) ||
        failed(refuseJoint(*model, "a second one")))
      return signalPassFailure();
    SmallVector<bool> wanted;
    SmallVector<StringAttr> names;
    for (unsigned i = 0; i != model->getNumArguments(); ++i) {
      auto param =
          model->getArgAttrOfType<ParamAttr>(i, PipeDialect::paramAttrName);
      wanted.push_back(isTrainedParam(*model, i));
      if (wanted.back())
        names.push_back(param.getName());
    }
    unsigned numResults = model->getNumResults();
    if (failed(veeline::autodiff::appendGradients(*model, wanted, target)))
      return signalPassFailure();
    for (auto [i, name] : llvm::enumerate(names))
      model->setResultAttr(numResults + i, PipeDialect::gradientOfAttrName,
                           name);
  }
};
} // namespace
