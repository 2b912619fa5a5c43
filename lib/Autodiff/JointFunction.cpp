//===- JointFunction.cpp - forward and backward in one block --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JointFunction.h"

#include "Activity.h"
#include "Normalize.h"
#include "ShiftInvariance.h"
#include "TensorEmit.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "veeline/Autodiff/DifferentiableOpInterface.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;

namespace {

/// A gradient of a value, or of the slice of it that starts at `offsets`.
struct Contribution {
  Value gradient;
  bool isSlice = false;
  SmallVector<OpFoldResult> offsets = {}, sizes = {}, strides = {};
};

class FunctionAdjoint : public Adjoint {
public:
  FunctionAdjoint(OpBuilder &builder, DenseSet<Value> active)
      : builder(builder), active(std::move(active)) {}

  bool wants(Value value) override { return active.contains(value); }
  Value primal(Value value) override { return value; }
  Value gradient(Value result) override;
  void contribute(Value value, Value gradient) override {
    if (wants(value))
      contributions[value].push_back({gradient});
  }
  void contributeSlice(Value value, Value gradient,
                       ArrayRef<OpFoldResult> offsets,
                       ArrayRef<OpFoldResult> sizes,
                       ArrayRef<OpFoldResult> strides) override {
    if (wants(value))
      contributions[value].push_back({gradient, true, llvm::to_vector(offsets),
                                      llvm::to_vector(sizes),
                                      llvm::to_vector(strides)});
  }

private:
  Value joinSlices(RankedTensorType type, ArrayRef<Contribution> slices);

  OpBuilder &builder;
  DenseSet<Value> active;
  DenseMap<Value, SmallVector<Contribution, 1>> contributions;
  DenseMap<Value, Value> sums;
};

} // namespace

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
Value FunctionAdjoint::joinSlices(RankedTensorType type,
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
Value FunctionAdjoint::gradient(Value result) {
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

static LogicalResult checkPrimal(func::FuncOp primal) {
  if (!primal.getBody().hasOneBlock())
    return primal.emitError()
           << "cannot differentiate a function with more than one block; "
              "control flow has to be structured";
  WalkResult walk = primal.walk([](Operation *op) {
    for (Type type : op->getResultTypes()) {
      auto shaped = dyn_cast<ShapedType>(type);
      if (shaped && !shaped.hasStaticShape()) {
        op->emitError() << "cannot differentiate a tensor whose shape is not "
                           "static, found "
                        << type;
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

static LogicalResult differentiateOps(ArrayRef<Operation *> ops,
                                      OpBuilder &builder,
                                      FunctionAdjoint &adjoint) {
  for (Operation *op : llvm::reverse(ops)) {
    bool isActive = llvm::any_of(op->getResults(), [&](Value result) {
      return adjoint.wants(result) && adjoint.gradient(result);
    });
    if (!isActive)
      continue;
    auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
    if (!differentiable)
      return emitNoRule(op);
    if (failed(differentiable.differentiate(builder, adjoint)))
      return failure();
  }
  return success();
}

/// The values through which gradients flow.
static DenseSet<Value> findActive(Block &block, ArrayRef<bool> wanted,
                                  ArrayRef<bool> seeded) {
  SmallVector<Value> from, to;
  for (auto [i, isWanted] : llvm::enumerate(wanted))
    if (isWanted)
      from.push_back(block.getArgument(i));
  for (auto [i, isSeeded] : llvm::enumerate(seeded))
    if (isSeeded)
      to.push_back(block.getTerminator()->getOperand(i));
  DenseSet<Value> active = findActiveValues(block, from, to);
  for (Value maximum : findCancellingMaxima(block))
    active.erase(maximum);
  return active;
}

void veeline::autodiff::followValues(Block &block,
                                     MutableArrayRef<Value> values,
                                     function_ref<void()> change) {
  Operation *terminator = block.getTerminator();
  unsigned first = terminator->getNumOperands();
  for (Value value : values)
    terminator->insertOperands(terminator->getNumOperands(), value);
  change();
  for (auto [i, value] : llvm::enumerate(values))
    value = terminator->getOperand(first + i);
  terminator->eraseOperands(first, values.size());
}

/// Takes the marks off: equal ops are merged only if they are equal in all.
static SmallVector<Value> takePieceEnds(Block &block) {
  SmallVector<Value> ends;
  for (Operation &op : block)
    if (op.removeAttr(pipe::PipeDialect::pieceEndAttrName) &&
        op.getNumResults() != 0)
      ends.push_back(op.getResult(0));
  return ends;
}

FailureOr<JointFunction> veeline::autodiff::buildJointFunction(
    func::FuncOp primal, ArrayRef<bool> wanted, ArrayRef<bool> seeded) {
  if (failed(checkPrimal(primal)))
    return failure();
  JointFunction joint{primal.clone(), {}, {}, {}};
  func::FuncOp func = *joint.func;
  Block &block = func.getBody().front();
  joint.pieceEnds = takePieceEnds(block);
  LogicalResult normalized = success();
  followValues(block, joint.pieceEnds,
               [&] { normalized = normalizeForDifferentiation(func); });
  if (failed(normalized))
    return primal.emitError() << "cannot be brought into structured form";
  Operation *terminator = block.getTerminator();
  SmallVector<Operation *> ops = llvm::map_to_vector(
      block.without_terminator(), [](Operation &op) { return &op; });
  OpBuilder builder(terminator);
  FunctionAdjoint adjoint(builder, findActive(block, wanted, seeded));
  for (auto [result, isSeeded] :
       llvm::zip_equal(terminator->getOperands(), seeded)) {
    joint.seeds.push_back(
        isSeeded ? block.addArgument(result.getType(), terminator->getLoc())
                 : Value());
    if (isSeeded)
      adjoint.contribute(result, joint.seeds.back());
  }
  if (failed(differentiateOps(ops, builder, adjoint)))
    return failure();
  for (auto [i, isWanted] : llvm::enumerate(wanted)) {
    Value argument = block.getArgument(i);
    Value gradient = isWanted ? adjoint.gradient(argument) : Value();
    if (isWanted && !gradient)
      gradient = createZeros(builder, func.getLoc(),
                             cast<RankedTensorType>(argument.getType()));
    joint.gradients.push_back(gradient);
  }
  return joint;
}
