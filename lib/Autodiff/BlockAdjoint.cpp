//===- BlockAdjoint.cpp - reverse mode over a block of tensors ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockAdjoint.h"

#include "Activity.h"
#include "Emit.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "veeline/Analysis/TensorEmit.h"

using namespace mlir;
using namespace veeline;
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

/// Whether two slices of one tensor certainly have no element in common.
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

/// Joins disjoint slices into one tensor, which is zero everywhere else.
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

/// Adds `part`, which may be a scalar, to `sum`, a tensor of the same shape.
static Value addPart(OpBuilder &builder, Value sum, Value part) {
  Location loc = part.getLoc();
  Type type = getElementTypeOrSelf(sum);
  if (!isa<RankedTensorType>(part.getType()))
    part = tensor::FromElementsOp::create(
        builder, loc, RankedTensorType::get({}, part.getType()), part);
  return createSum(builder, loc, sum,
                   createConversion(builder, loc, part, type));
}

/// Adds `part` to `sum` in place: `sum` is the init of the op.
static Value addInPlace(OpBuilder &builder, Value sum, Value part) {
  Location loc = part.getLoc();
  auto type = cast<RankedTensorType>(sum.getType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(
      builder, loc, TypeRange{type}, ValueRange{part}, ValueRange{sum},
      {identity, identity}, iterators,
      [&](OpBuilder &nested, Location, ValueRange args) {
        Emit emit(nested, loc);
        Value converted = emit.convert(args[0], type.getElementType());
        linalg::YieldOp::create(nested, loc, emit.add(args[1], converted));
      });
  return op.getResult(0);
}

/// Adds a contribution to the tensor `sum`. A slice touches only the elements
/// that it covers.
static Value addContribution(OpBuilder &builder, Value sum,
                             const Contribution &part) {
  if (!part.isSlice)
    return addPart(builder, sum, part.gradient);
  Location loc = part.gradient.getLoc();
  auto type = RankedTensorType::get(
      cast<RankedTensorType>(part.gradient.getType()).getShape(),
      getElementTypeOrSelf(sum));
  Value old = tensor::ExtractSliceOp::create(
      builder, loc, type, sum, part.offsets, part.sizes, part.strides);
  return tensor::InsertSliceOp::create(
      builder, loc, addInPlace(builder, old, part.gradient), sum, part.offsets,
      part.sizes, part.strides);
}

/// Adds up the contributions. If the first ones are disjoint slices, they are
/// inserted into one tensor, because additions would only add zeros.
Value BlockAdjoint::gradient(Value result) {
  if (Value sum = sums.lookup(result))
    return sum;
  ArrayRef<Contribution> parts = contributions[result];
  size_t count = 0;
  while (
      count != parts.size() && parts[count].isSlice &&
      llvm::all_of(parts.take_front(count), [&](const Contribution &earlier) {
        return areDisjoint(earlier, parts[count]);
      }))
    ++count;
  Value sum;
  if (count != 0)
    sum = joinSlices(cast<RankedTensorType>(result.getType()),
                     parts.take_front(count));
  for (const Contribution &part : parts.drop_front(count)) {
    if (sum && isa<RankedTensorType>(sum.getType()))
      sum = addContribution(builder, sum, part);
    else
      sum = sum ? createSum(builder, part.gradient.getLoc(), sum, part.gradient)
                : part.gradient;
  }
  sums[result] = sum;
  return sum;
}

Value BlockAdjoint::addContributions(Value value, Value sum) {
  for (const Contribution &part : contributions[value])
    sum = addContribution(builder, sum, part);
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
