//===- Tokens.cpp - integers that select rows of tables -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "veeline/Compiler/Metadata.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;
using namespace veeline::pipe;

/// Whether `value`, in the chunk's primal function, is computed only from
/// parameters, buffers and constants. In contrast, scores, from which labels
/// select, are computed from data.
static bool isMadeOfParameters(Value value, ChunkOp chunk,
                               func::FuncOp primal) {
  llvm::SetVector<Value> open;
  open.insert(value);
  for (size_t i = 0; i != open.size(); ++i) {
    if (Operation *op = open[i].getDefiningOp()) {
      op->walk([&](Operation *inner) {
        open.insert(inner->operand_begin(), inner->operand_end());
      });
      continue;
    }
    auto argument = cast<BlockArgument>(open[i]);
    // Arguments of inner blocks come from operands, which are visited, too.
    if (argument.getOwner() == &primal.getBody().front() &&
        isa_and_present<BatchOp, ChunkOp>(
            chunk.getOperand(argument.getArgNumber()).getDefiningOp()))
      return false;
  }
  return true;
}

/// Whether a tensor has rows of several numbers. A vector with the weights of
/// classes, from which labels select, is not a table.
static bool hasRows(RankedTensorType type) {
  return llvm::count_if(type.getShape(),
                        [](int64_t extent) { return extent != 1; }) > 1;
}

static bool isInteger(Type type) {
  return getElementTypeOrSelf(type).isIntOrIndex() &&
         !getElementTypeOrSelf(type).isInteger(1);
}

/// The integers that the user of an operand computes from it. None if these are
/// floats or results of comparisons.
static SmallVector<Value> follow(OpOperand &use) {
  Operation *op = use.getOwner();
  SmallVector<Value> values;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    if (structured.isDpsInput(&use))
      values.push_back(structured.getMatchingBlockArgument(&use));
  } else if (isa<linalg::YieldOp>(op)) {
    values.push_back(op->getParentOp()->getResult(use.getOperandNumber()));
  } else {
    llvm::append_range(values, op->getResults());
  }
  llvm::erase_if(values, [](Value v) { return !isInteger(v.getType()); });
  return values;
}

/// Whether the argument, or an integer computed from it, selects rows of a
/// table.
static bool choosesRows(BlockArgument argument, ChunkOp chunk,
                        func::FuncOp primal) {
  llvm::SetVector<Value> open;
  open.insert(argument);
  for (size_t i = 0; i != open.size(); ++i)
    for (OpOperand &use : open[i].getUses()) {
      auto extract = dyn_cast<tensor::ExtractOp>(use.getOwner());
      if (extract && use.getOperandNumber() > 0 &&
          hasRows(extract.getTensor().getType()) &&
          isMadeOfParameters(extract.getTensor(), chunk, primal))
        return true;
      for (Value next : follow(use))
        open.insert(next);
    }
  return false;
}

void veeline::compiler::describeTokens(PipelineOp pipeline,
                                       artifact::Metadata &metadata) {
  SymbolTableCollection symbols;
  auto choosesIn = [&](OpOperand &use) {
    auto chunk = dyn_cast<ChunkOp>(use.getOwner());
    if (!chunk)
      return false;
    auto primal = symbols.lookupNearestSymbolFrom<func::FuncOp>(
        chunk, chunk.getPrimalAttr());
    return primal && !primal.isExternal() &&
           choosesRows(primal.getArgument(use.getOperandNumber()), chunk,
                       primal);
  };
  for (auto [batch, entry] :
       llvm::zip_equal(pipeline.getBatches(), metadata.batches))
    // Narrower integers are pixels.
    entry.tokens = (entry.type == artifact::DataType::i32 ||
                    entry.type == artifact::DataType::i64) &&
                   llvm::any_of(batch.getValue().getUses(), choosesIn);
}
