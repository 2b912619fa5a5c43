//===- ScaleLoss.cpp - --pipe-scale-loss ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LossFactor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/Transforms.h"

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPESCALELOSS
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline::pipe;

static constexpr LossFactor scale = {"loss_scale", PipeDialect::bufferAttrName,
                                     PipeDialect::lossScaleAttrName, "scale",
                                     "scaled"};

namespace {
struct PipeScaleLoss : veeline::pipe::impl::PipeScaleLossBase<PipeScaleLoss> {
  using PipeScaleLossBase::PipeScaleLossBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> model = findModel(getOperation(), entry);
    if (failed(model) || failed(multiplyLoss(*model, scale)))
      signalPassFailure();
  }
};
} // namespace
