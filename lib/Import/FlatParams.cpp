//===- FlatParams.cpp - one argument that holds all weights ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FlatParams.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace veeline;

/// The slices of a vector, in ascending order. Empty if they overlap, or if the
/// vector is used in another way.
static SmallVector<tensor::ExtractSliceOp> findSlices(BlockArgument argument) {
  SmallVector<tensor::ExtractSliceOp> slices;
  for (Operation *user : argument.getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || !slice.hasUnitStride() ||
        slice.getSourceType().getRank() != 1 ||
        ShapedType::isDynamicShape(slice.getStaticOffsets()) ||
        !slice.getType().hasStaticShape())
      return {};
    slices.push_back(slice);
  }
  llvm::sort(slices, [](tensor::ExtractSliceOp a, tensor::ExtractSliceOp b) {
    return a.getStaticOffset(0) < b.getStaticOffset(0);
  });
  for (size_t i = 1; i < slices.size(); ++i)
    if (slices[i - 1].getStaticOffset(0) + slices[i - 1].getStaticSize(0) >
        slices[i].getStaticOffset(0))
      return {};
  return slices;
}

unsigned veeline::splitFlat(func::FuncOp model, unsigned argument,
                            StringRef name) {
  SmallVector<tensor::ExtractSliceOp> slices =
      findSlices(model.getArgument(argument));
  if (slices.size() < 2)
    return 0;
  for (tensor::ExtractSliceOp slice : slices) {
    int64_t begin = slice.getStaticOffset(0);
    std::string part = name.str() + "[" + std::to_string(begin) + ":" +
                       std::to_string(begin + slice.getStaticSize(0)) + "]";
    unsigned index = model.getNumArguments();
    (void)model.insertArgument(
        index, slice.getType(), {},
        NameLoc::get(StringAttr::get(model.getContext(), part),
                     slice.getLoc()));
    slice.replaceAllUsesWith(Value(model.getArgument(index)));
    slice.erase();
  }
  return slices.size();
}
