//===- PrintPieces.cpp - --pipe-print-pieces ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Analysis/Pieces.h"
#include "veeline/Autodiff/Loops.h"
#include "veeline/Dialect/Pipe/Transforms/ChunkCosts.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/Transforms.h"
#include "llvm/Support/raw_ostream.h"

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPEPRINTPIECES
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline::pipe;

namespace {
struct PipePrintPieces
    : veeline::pipe::impl::PipePrintPiecesBase<PipePrintPieces> {
  using PipePrintPiecesBase::PipePrintPiecesBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> model = findModel(getOperation(), entry);
    if (failed(model))
      return signalPassFailure();
    // Prints what --pipe-partition would cut. The model is not changed.
    OwningOpRef<func::FuncOp> unrolled = model->clone();
    if (failed(veeline::autodiff::prepareModel(*unrolled)) ||
        failed(verifyModel(*unrolled)))
      return signalPassFailure();
    auto table = readMachineTable(*model, machineTable);
    if (failed(table))
      return signalPassFailure();
    veeline::printPieces(*unrolled, llvm::outs(), fine,
                         *table ? &**table : nullptr);
    markAllAnalysesPreserved();
  }
};
} // namespace
