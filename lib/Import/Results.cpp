//===- Results.cpp - --pipe-import-results --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "veeline/Import/Passes.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEIMPORTRESULTS
#include "veeline/Import/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

static bool isScalar(Type type) {
  return isFloatTensor(type) && cast<RankedTensorType>(type).getRank() == 0;
}

/// The numbers of the results that a loss may be made of.
static SmallVector<int64_t> findCandidates(func::FuncOp model, StringRef loss) {
  SmallVector<int64_t> candidates;
  for (auto [i, type] : llvm::enumerate(model.getResultTypes()))
    if (loss.empty() ? isScalar(type) : isFloatTensor(type))
      candidates.push_back(i);
  return candidates;
}

/// Whether result `number` stays, whatever turns out to be a parameter. Of a
/// model with its own loss, scalars are metrics.
static bool mayStay(func::FuncOp model, int64_t number, StringRef loss,
                    int64_t chosen) {
  SmallVector<int64_t> candidates = findCandidates(model, loss);
  bool isLoss = loss.empty() && !candidates.empty() &&
                candidates.front() == 0 && chosen <= 0;
  if (chosen != anyResult && !isLoss)
    return number == chosen;
  return candidates.empty() || llvm::is_contained(candidates, number);
}

namespace {
struct ImportResults : veeline::impl::PipeImportResultsBase<ImportResults> {
  using PipeImportResultsBase::PipeImportResultsBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> model = getChosenModel(getOperation());
    if (failed(model))
      return signalPassFailure();
    // --pipe-import-loss says what is wrong with a number.
    bool isNumber = result >= 0 && result < model->getNumResults();
    if (result != anyResult && !isNumber)
      return;
    Operation *end = model->getBody().front().getTerminator();
    OpBuilder builder(end);
    bool changed = false;
    for (OpOperand &operand : end->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!type || !type.hasStaticShape() ||
          mayStay(*model, operand.getOperandNumber(), loss, result))
        continue;
      operand.set(tensor::EmptyOp::create(builder, operand.get().getLoc(),
                                          type.getShape(),
                                          type.getElementType()));
      changed = true;
    }
    IRRewriter rewriter(&getContext());
    if (changed)
      (void)runRegionDCE(rewriter, model->getBody());
  }
};
} // namespace
