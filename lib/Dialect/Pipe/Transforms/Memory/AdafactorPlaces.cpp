//===- AdafactorPlaces.cpp - places of Adafactor's sums on a GPU ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory/AdafactorPlaces.h"

#include "veeline/Dialect/Pipe/IR/Kernels.h"
#include "veeline/Dialect/Pipe/Transforms/MemoryPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace veeline::pipe;

AdafactorPlaces::AdafactorPlaces(ShapedType type, int64_t workspace)
    : isMatrix(type.getRank() == 2), bytes(0) {
  int64_t numParts = normParts(type.getNumElements());
  rows = isMatrix ? type.getDimSize(0) : numParts;
  columns = type.getNumElements() / rows;
  auto reserve = [&](int64_t numDoubles) {
    int64_t place = workspace + bytes;
    bytes += llvm::alignTo(numDoubles * static_cast<int64_t>(sizeof(double)),
                           getArenaAlignment(KernelTarget::Cuda));
    return place;
  };
  ofRows = reserve(rows);
  ofColumns = reserve(isMatrix ? columns : 0);
  parts = reserve(numParts);
  total = reserve(1);
  ofValue = reserve(1);
  ofDirection = reserve(1);
  rate = reserve(1);
}
