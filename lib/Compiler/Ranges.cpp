//===- Ranges.cpp - which integers a model can index with -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "veeline/Compiler/Metadata.h"

#include <limits>

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;
using namespace veeline::pipe;

static constexpr int64_t unbounded = std::numeric_limits<int64_t>::max();

/// The smallest dimension that `value`, or what casts and views make of it,
/// indexes.
static int64_t findBound(Value value) {
  int64_t bound = unbounded;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (auto extract = dyn_cast<tensor::ExtractOp>(user)) {
      if (use.getOperandNumber() == 0) {
        bound = std::min(bound, findBound(extract.getResult()));
        continue;
      }
      int64_t size =
          extract.getTensor().getType().getDimSize(use.getOperandNumber() - 1);
      bound = std::min(bound, ShapedType::isDynamic(size) ? unbounded : size);
    } else if (auto structured = dyn_cast<linalg::LinalgOp>(user)) {
      if (structured.isDpsInput(&use))
        bound = std::min(bound,
                         findBound(structured.getMatchingBlockArgument(&use)));
    } else if (isa<linalg::YieldOp>(user)) {
      // An op that only moves integers around.
      bound = std::min(bound, findBound(user->getParentOp()->getResult(
                                  use.getOperandNumber())));
    } else if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
                   arith::ExtUIOp, arith::TruncIOp, tensor::CollapseShapeOp,
                   tensor::ExpandShapeOp, tensor::ExtractSliceOp,
                   tensor::CastOp>(user)) {
      bound = std::min(bound, findBound(user->getResult(0)));
    }
  }
  return bound;
}

/// The bound of an input over all chunks that take it.
static int64_t findInputBound(Value input, SymbolTableCollection &symbols) {
  int64_t bound = unbounded;
  for (OpOperand &use : input.getUses()) {
    auto chunk = dyn_cast<ChunkOp>(use.getOwner());
    if (!chunk)
      continue;
    auto primal = symbols.lookupNearestSymbolFrom<func::FuncOp>(
        chunk, chunk.getPrimalAttr());
    if (primal && !primal.isExternal())
      bound = std::min(bound,
                       findBound(primal.getArgument(use.getOperandNumber())));
  }
  return bound;
}

void veeline::compiler::describeRanges(PipelineOp pipeline,
                                       artifact::Metadata &metadata) {
  SymbolTableCollection symbols;
  auto describe = [&](Value input, DenseI64ArrayAttr given, auto &entry) {
    if (!isa<IntegerType>(cast<ShapedType>(input.getType()).getElementType()))
      return;
    int64_t bound = findInputBound(input, symbols);
    if (bound != unbounded)
      entry.range = {0, bound};
    if (!given)
      return;
    std::pair<int64_t, int64_t> all = {given[0], given[1]};
    if (entry.range)
      all = {std::max(all.first, entry.range->first),
             std::min(all.second, entry.range->second)};
    entry.range = all;
  };
  for (auto [batch, entry] :
       llvm::zip_equal(pipeline.getBatches(), metadata.batches))
    describe(batch.getValue(), batch.getRangeAttr(), entry);
  for (auto [buffer, entry] :
       llvm::zip_equal(pipeline.getBuffers(), metadata.buffers))
    describe(buffer.getValue(), buffer.getRangeAttr(), entry);
}
