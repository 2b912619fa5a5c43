//===- Results.cpp - --pipe-import-results --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"
#include "Params.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"
#include "veeline/Dialect/Pipe/Transforms/Joint.h"
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

/// The numbers of the results from which a loss can be computed.
static SmallVector<int64_t> findCandidates(func::FuncOp model, StringRef loss) {
  SmallVector<int64_t> candidates;
  for (auto [i, type] : llvm::enumerate(model.getResultTypes()))
    if (loss.empty() ? isScalar(type) : isFloatTensor(type))
      candidates.push_back(i);
  return candidates;
}

namespace {
struct ImportResults : veeline::impl::PipeImportResultsBase<ImportResults> {
  using PipeImportResultsBase::PipeImportResultsBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> model = getChosenModel(getOperation());
    if (failed(model))
      return signalPassFailure();
    // A joint function has its loss and metrics. Its gradients stay, too.
    if (pipe::isJoint(*model))
      return;
    // --pipe-import-loss reports a wrong number.
    bool isNumber = result >= 0 && result < model->getNumResults();
    if (result != anyResult && !isNumber)
      return;
    bool keepsAll = forwardOnly && loss.empty();
    if (keepsAll && result == anyResult)
      return;
    FailureOr<SmallVector<int64_t>> left =
        keepsAll ? SmallVector<int64_t>{result} : findLeft(*model);
    if (failed(left))
      return signalPassFailure();
    if (!left->empty())
      dropResults(*model, [&](int64_t number) {
        return !llvm::is_contained(*left, number);
      });
  }

private:
  FailureOr<SmallVector<int64_t>> findLeft(func::FuncOp model);
  FailureOr<SmallVector<int64_t>> findLossResult(func::FuncOp model,
                                                 ArrayRef<int64_t> candidates);
};
} // namespace

/// The numbers of the results that stay, or empty if all of them do.
FailureOr<SmallVector<int64_t>> ImportResults::findLeft(func::FuncOp model) {
  SmallVector<int64_t> candidates = findCandidates(model, loss);
  // If the model has its own loss, further scalars are metrics.
  bool isLoss = loss.empty() && !candidates.empty() &&
                candidates.front() == 0 && result <= 0;
  if (result != anyResult && !isLoss)
    return SmallVector<int64_t>{result};
  if (loss.empty() || candidates.size() < 2 || followsContract(model))
    return candidates;
  return findLossResult(model, candidates);
}

/// The result from which the loss is computed: the first one if parameters
/// change it, or else the only one that they change. Which arguments are
/// parameters depends on the results that are left, so each result is tested as
/// if it were the only one.
FailureOr<SmallVector<int64_t>>
ImportResults::findLossResult(func::FuncOp model,
                              ArrayRef<int64_t> candidates) {
  auto choice =
      ArgumentChoice::parse(model, llvm::to_vector(params),
                            llvm::to_vector(freeze), llvm::to_vector(buffer));
  if (failed(choice))
    return failure();
  if (candidates.front() == 0 && isTrainable(model, 0, *choice))
    return SmallVector<int64_t>{0};
  auto trainable = llvm::filter_to_vector(candidates, [&](int64_t number) {
    return number != 0 && isTrainable(model, number, *choice);
  });
  if (trainable.size() > 1)
    return refuseSeveral(model, trainable);
  return trainable.empty() ? SmallVector<int64_t>(candidates) : trainable;
}
