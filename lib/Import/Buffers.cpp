//===- Buffers.cpp - arguments that are the same for all samples ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Buffers.h"

#include "Statistics.h"
#include "Uses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace veeline;

namespace {
/// What numbers look up, through what is computed of them.
class LookupFinder {
public:
  /// Extents of the tables where numbers made of `value` choose.
  void follow(Value value);
  SmallVector<int64_t> extents;
  /// Whether nothing else comes of them.
  bool onlyLookups = true;

private:
  void visit(OpOperand &use);
  llvm::DenseSet<Value> seen;
};
} // namespace

void LookupFinder::follow(Value value) {
  if (seen.insert(value).second)
    for (OpOperand &use : value.getUses())
      visit(use);
}

static bool isOfNumbers(Operation *op) {
  return isa<arith::ArithDialect>(op->getDialect()) &&
         op->getNumResults() == 1 &&
         getElementTypeOrSelf(op->getResult(0).getType()).isIntOrIndex();
}

void LookupFinder::visit(OpOperand &use) {
  Operation *op = use.getOwner();
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    // What chooses among one chooses nothing; the table itself is none here.
    if (use.getOperandNumber() == 0)
      return follow(extract.getResult());
    int64_t extent =
        extract.getTensor().getType().getDimSize(use.getOperandNumber() - 1);
    if (extent != 1)
      extents.push_back(extent);
  } else if (structured && structured.getNumReductionLoops() == 0 &&
             structured.isDpsInput(&use)) {
    follow(structured.getMatchingBlockArgument(&use));
  } else if (isa<linalg::YieldOp>(op)) {
    follow(op->getParentOp()->getResult(use.getOperandNumber()));
  } else if (isOfNumbers(op) || (isView(op) && use.getOperandNumber() == 0)) {
    follow(op->getResult(0));
  } else {
    onlyLookups = false;
  }
}

bool veeline::isOfPositions(BlockArgument argument) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type || !type.hasStaticShape() || type.getRank() < 2 ||
      type.getDimSize(0) != 1 || type.getNumElements() < 2)
    return false;
  Uses uses = findUses(argument);
  if (uses.frequency)
    return true;
  if (isa<FloatType>(type.getElementType()))
    return uses.isScaleOnly() &&
           llvm::count_if(type.getShape(),
                          [](int64_t extent) { return extent > 1; }) > 1;
  LookupFinder finder;
  finder.follow(argument);
  return finder.onlyLookups && !finder.extents.empty() &&
         llvm::all_of(finder.extents, [&](int64_t extent) {
           return extent == type.getNumElements();
         });
}
