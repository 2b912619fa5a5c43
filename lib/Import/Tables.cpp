//===- Tables.cpp - constants that are no weights -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tables.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

using namespace mlir;
using namespace veeline;

bool veeline::isTable(ElementsAttr value) {
  if (llvm::count_if(value.getShapedType().getShape(),
                     [](int64_t extent) { return extent > 1; }) < 2)
    return false;
  bool isSplat = false;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    ArrayRef<char> bytes = resource.getRawHandle().getBlob()->getData();
    if (!DenseElementsAttr::isValidRawBuffer(value.getShapedType(), bytes,
                                             isSplat))
      return false;
    value = DenseElementsAttr::getFromRawBuffer(value.getShapedType(), bytes);
  }
  auto dense = dyn_cast<DenseFPElementsAttr>(value);
  if (!dense || dense.isSplat())
    return false;
  auto one = APFloat::getOne(
      cast<FloatType>(dense.getElementType()).getFloatSemantics());
  bool isBounded = llvm::all_of(
      dense, [&](const APFloat &number) { return abs(number) <= one; });
  return isBounded && llvm::any_of(dense, [&](const APFloat &number) {
           return number.isZero() || number == one;
         });
}

/// Whether the op has an operand beside `use` that depends, or a body that
/// reads one.
static bool meetsDependent(OpOperand &use,
                           const llvm::DenseSet<Value> &dependent) {
  bool found = false;
  use.getOwner()->walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      found |= &operand != &use && dependent.contains(operand.get());
  });
  return found;
}

void veeline::clearTables(func::FuncOp model, const llvm::BitVector &given,
                          llvm::BitVector &learned) {
  SmallVector<std::pair<unsigned, Uses>> open;
  for (unsigned i : learned.set_bits())
    if (!given.test(i))
      if (Uses uses = findUses(model.getArgument(i)); !uses.meetings.empty())
        open.emplace_back(i, std::move(uses));
  for (bool isChanged = true; isChanged && !open.empty();) {
    llvm::DenseSet<Value> dependent = findDependent(model, [&](unsigned i) {
      return learned.test(i) ||
             !model.getArgAttr(i, pipe::PipeDialect::constantAttrName);
    });
    isChanged = false;
    llvm::erase_if(open, [&](const std::pair<unsigned, Uses> &constant) {
      if (llvm::any_of(constant.second.meetings, [&](OpOperand *use) {
            return meetsDependent(*use, dependent);
          }))
        return false;
      learned.reset(constant.first);
      return isChanged = true;
    });
  }
}
