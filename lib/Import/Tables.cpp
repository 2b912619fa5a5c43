//===- Tables.cpp - constants that are not weights ------------------------===//
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

/// The floats of a constant or resource, or null if the file does not have
/// them.
static DenseFPElementsAttr getFloats(ElementsAttr value) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  if (!resource)
    return dyn_cast<DenseFPElementsAttr>(value);
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  bool isSplat = false;
  if (!blob || !DenseElementsAttr::isValidRawBuffer(value.getShapedType(),
                                                    blob->getData(), isSplat))
    return {};
  return dyn_cast<DenseFPElementsAttr>(DenseElementsAttr::getFromRawBuffer(
      value.getShapedType(), blob->getData()));
}

bool veeline::isTable(ElementsAttr value) {
  if (llvm::count_if(value.getShapedType().getShape(),
                     [](int64_t extent) { return extent > 1; }) < 2)
    return false;
  DenseFPElementsAttr floats = getFloats(value);
  if (!floats || floats.isSplat())
    return false;
  auto one = APFloat::getOne(
      cast<FloatType>(floats.getElementType()).getFloatSemantics());
  bool isBounded = llvm::all_of(
      floats, [&](const APFloat &number) { return abs(number) <= one; });
  return isBounded && llvm::any_of(floats, [&](const APFloat &number) {
           return number.isZero() || number == one;
         });
}

bool veeline::isMask(ElementsAttr value) {
  DenseFPElementsAttr floats = getFloats(value);
  return floats && llvm::any_of(floats, [](const APFloat &number) {
           return number.isInfinity() ||
                  FloatAttr::getValueAsDouble(number) <= -1e4;
         });
}

bool veeline::isZero(ElementsAttr value) {
  DenseFPElementsAttr floats = getFloats(value);
  return floats && llvm::all_of(floats, [](const APFloat &number) {
           return number.isZero();
         });
}

/// Whether the op of `use` has another operand in `dependent`, or its body
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
