//===- Ops.cpp - --pipe-import-ops ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "veeline/Import/Passes.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEIMPORTOPS
#include "veeline/Import/Passes.h.inc"
} // namespace veeline

using namespace mlir;

/// The body of a tensor.generate, over indices of a structured op.
static void generateToGeneric(IRRewriter &rewriter, tensor::GenerateOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  rewriter.setInsertionPoint(op);
  Value empty =
      tensor::EmptyOp::create(rewriter, op.getLoc(), type, ValueRange());
  SmallVector<AffineMap> maps{rewriter.getMultiDimIdentityMap(type.getRank())};
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      rewriter, op.getLoc(), type, ValueRange(), empty, maps, iterators,
      [&](OpBuilder &builder, Location location, ValueRange) {
        IRMapping mapping;
        Block &body = op.getBody().front();
        for (BlockArgument index : body.getArguments())
          mapping.map(index, linalg::IndexOp::create(builder, location,
                                                     index.getArgNumber()));
        for (Operation &inner : body.without_terminator())
          builder.clone(inner, mapping);
        Value result = cast<tensor::YieldOp>(body.getTerminator()).getValue();
        linalg::YieldOp::create(builder, location,
                                mapping.lookupOrDefault(result));
      });
  rewriter.replaceOp(op, generic);
}

static LogicalResult importOps(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    LogicalResult result = success();
    if (auto generate = dyn_cast<tensor::GenerateOp>(op)) {
      if (cast<RankedTensorType>(generate.getType()).hasStaticShape())
        generateToGeneric(rewriter, generate);
    } else if (auto pack = dyn_cast<linalg::PackOp>(op)) {
      result = LogicalResult(linalg::lowerPack(rewriter, pack));
    } else if (auto unpack = dyn_cast<linalg::UnPackOp>(op)) {
      result = LogicalResult(linalg::lowerUnPack(rewriter, unpack));
    }
    if (failed(result))
      return op->emitError()
             << "'" << op->getName() << "' cannot be lowered to pads, reshapes "
             << "and transpositions; its tiles must be of static size";
  }
  return success();
}

/// What upstream's passes could not lower, they leave without a word.
static LogicalResult verifyNoTosa(func::FuncOp function) {
  WalkResult result = function.walk([](Operation *op) {
    if (!isa<tosa::TosaDialect>(op->getDialect()))
      return WalkResult::advance();
    // Shapes that its conversions have read.
    if (isOpTriviallyDead(op)) {
      op->erase();
      return WalkResult::skip();
    }
    op->emitError() << "'" << op->getName()
                    << "' cannot be lowered to linalg: types or attributes are "
                       "none that upstream's conversion knows, with operands ("
                    << op->getOperandTypes() << ") and results ("
                    << op->getResultTypes() << ")";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct ImportOps : veeline::impl::PipeImportOpsBase<ImportOps> {
  void runOnOperation() override {
    if (failed(importOps(getOperation())) ||
        failed(verifyNoTosa(getOperation())))
      signalPassFailure();
  }
};
} // namespace
