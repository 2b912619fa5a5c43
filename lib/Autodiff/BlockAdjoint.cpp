//===- BlockAdjoint.cpp - reverse mode over a block of tensors ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockAdjoint.h"

#include "Activity.h"
#include "Emit.h"
#include "TensorEmit.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace veeline::autodiff;

void BlockAdjoint::contribute(Value value, Value gradient) {
  if (wants(value))
    contributions[value].push_back({gradient});
}

void BlockAdjoint::contributeSlice(Value value, Value gradient,
                                   ArrayRef<OpFoldResult> offsets,
                                   ArrayRef<OpFoldResult> sizes,
                                   ArrayRef<OpFoldResult> strides) {
  if (wants(value))
    contributions[value].push_back({gradient, true, llvm::to_vector(offsets),
                                    llvm::to_vector(sizes),
                                    llvm::to_vector(strides)});
}

/// Whether two slices of one tensor have no element in common, for certain.
static bool areDisjoint(const Contribution &a, const Contribution &b) {
  for (size_t i = 0; i != a.offsets.size(); ++i) {
    auto firstA = getConstantIntValue(a.offsets[i]);
    auto firstB = getConstantIntValue(b.offsets[i]);
    auto sizeA = getConstantIntValue(a.sizes[i]);
    auto sizeB = getConstantIntValue(b.sizes[i]);
    auto strideA = getConstantIntValue(a.strides[i]);
    auto strideB = getConstantIntValue(b.strides[i]);
    if (!firstA || !firstB || !sizeA || !sizeB || !strideA || !strideB)
      continue;
    if (*firstA + (*sizeA - 1) * *strideA < *firstB ||
        *firstB + (*sizeB - 1) * *strideB < *firstA)
      return true;
  }
  return false;
}

/// One tensor from disjoint slices of it; zero where there is none.
Value BlockAdjoint::joinSlices(RankedTensorType type,
                               ArrayRef<Contribution> slices) {
  int64_t covered = 0;
  for (const Contribution &slice : slices)
    covered +=
        cast<RankedTensorType>(slice.gradient.getType()).getNumElements();
  Location loc = slices.front().gradient.getLoc();
  Value joined = covered == type.getNumElements()
                     ? createEmpty(builder, loc, type)
                     : createZeros(builder, loc, type);
  for (const Contribution &slice : slices)
    joined = tensor::InsertSliceOp::create(
        builder, slice.gradient.getLoc(), slice.gradient, joined, slice.offsets,
        slice.sizes, slice.strides);
  return joined;
}

/// Adds up what has been contributed. Neighbouring slices that do not overlap
/// are put into one tensor first: an addition would only add zeros.
Value BlockAdjoint::gradient(Value result) {
  if (Value sum = sums.lookup(result))
    return sum;
  ArrayRef<Contribution> parts = contributions[result];
  Value sum;
  while (!parts.empty()) {
    size_t count = 1;
    if (parts.front().isSlice)
      while (count != parts.size() && parts[count].isSlice &&
             llvm::all_of(parts.take_front(count),
                          [&](const Contribution &earlier) {
                            return areDisjoint(earlier, parts[count]);
                          }))
        ++count;
    Value part = parts.front().isSlice
                     ? joinSlices(cast<RankedTensorType>(result.getType()),
                                  parts.take_front(count))
                     : parts.front().gradient;
    sum = sum ? createSum(builder, part.getLoc(), sum, part) : part;
    parts = parts.drop_front(count);
  }
  sums[result] = sum;
  return sum;
}

/// `part` of the shape of `sum`, a tensor.
static Value addPart(OpBuilder &builder, Value sum, Value part) {
  Location loc = part.getLoc();
  Type type = getElementTypeOrSelf(sum);
  if (!isa<RankedTensorType>(part.getType()))
    part = tensor::FromElementsOp::create(
        builder, loc, RankedTensorType::get({}, part.getType()), part);
  return createSum(builder, loc, sum,
                   createConversion(builder, loc, part, type));
}

Value BlockAdjoint::addContributions(Value value, Value sum) {
  for (const Contribution &part : contributions[value]) {
    if (!part.isSlice) {
      sum = addPart(builder, sum, part.gradient);
      continue;
    }
    Location loc = part.gradient.getLoc();
    auto type = RankedTensorType::get(
        cast<RankedTensorType>(part.gradient.getType()).getShape(),
        getElementTypeOrSelf(sum));
    Value old = tensor::ExtractSliceOp::create(
        builder, loc, type, sum, part.offsets, part.sizes, part.strides);
    sum = tensor::InsertSliceOp::create(
        builder, loc, addPart(builder, old, part.gradient), sum, part.offsets,
        part.sizes, part.strides);
  }
  return sum;
}

LogicalResult BlockAdjoint::differentiate(ArrayRef<Operation *> ops) {
  for (Operation *op : llvm::reverse(ops)) {
    bool isActive = llvm::any_of(op->getResults(), [&](Value result) {
      return wants(result) && gradient(result);
    });
    if (!isActive)
      continue;
    auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
    if (!differentiable)
      return emitNoRule(op);
    if (failed(differentiable.differentiate(builder, *this)))
      return failure();
  }
  return success();
}
