//===- JointFunction.cpp - forward and backward in one block --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JointFunction.h"

#include "Activity.h"
#include "BlockAdjoint.h"
#include "Normalize.h"
#include "ShiftInvariance.h"
#include "veeline/Analysis/TensorEmit.h"
#include "veeline/Autodiff/Loops.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;

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

/// Removes the marks of pieces, because they would keep equal ops from being
/// merged. Returns the results of the marked ops.
static SmallVector<Value> takePieceEnds(Block &block) {
  SmallVector<Value> ends;
  for (Operation &op : block)
    if (op.removeAttr(pipe::PipeDialect::pieceEndAttrName) &&
        op.getNumResults() != 0)
      ends.push_back(op.getResult(0));
  return ends;
}

FailureOr<JointFunction> veeline::autodiff::buildJointFunction(
    func::FuncOp primal, ArrayRef<bool> wanted, ArrayRef<bool> seeded,
    KernelTarget target) {
  if (failed(checkPrimal(primal)))
    return failure();
  JointFunction joint{primal.clone(), {}, {}, {}};
  func::FuncOp func = *joint.func;
  if (failed(prepareModel(func)))
    return failure();
  Block &block = func.getBody().front();
  joint.pieceEnds = takePieceEnds(block);
  LogicalResult normalized = success();
  followValues(block, joint.pieceEnds,
               [&] { normalized = normalizeForDifferentiation(func, target); });
  if (failed(normalized))
    return primal.emitError() << "cannot be brought into structured form";
  Operation *terminator = block.getTerminator();
  SmallVector<Operation *> ops = llvm::map_to_vector(
      block.without_terminator(), [](Operation &op) { return &op; });
  OpBuilder builder(terminator);
  BlockAdjoint adjoint(builder, findActive(block, wanted, seeded));
  for (auto [result, isSeeded] :
       llvm::zip_equal(terminator->getOperands(), seeded)) {
    joint.seeds.push_back(
        isSeeded ? block.addArgument(result.getType(), terminator->getLoc())
                 : Value());
    if (isSeeded)
      adjoint.contribute(result, joint.seeds.back());
  }
  // A rule may replace an op of the forward: that of a loop makes it fill
  // stacks.
  LogicalResult differentiated = success();
  followValues(block, joint.pieceEnds,
               [&] { differentiated = adjoint.differentiate(ops); });
  if (failed(differentiated))
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

/// Checks that `given` has the signature of a joint function of the chunk
/// `primal`.
static LogicalResult verifyJoint(func::FuncOp given, func::FuncOp primal,
                                 ArrayRef<bool> wanted, ArrayRef<bool> seeded) {
  SmallVector<Type> arguments(primal.getArgumentTypes());
  SmallVector<Type> results(primal.getResultTypes());
  for (auto [type, isSeeded] : llvm::zip_equal(primal.getResultTypes(), seeded))
    if (isSeeded)
      arguments.push_back(type);
  for (auto [type, isWanted] :
       llvm::zip_equal(primal.getArgumentTypes(), wanted))
    if (isWanted)
      results.push_back(type);
  auto expected = FunctionType::get(given.getContext(), arguments, results);
  if (given.getFunctionType() != expected)
    return given.emitError()
           << "is the joint function of chunk @" << primal.getSymName()
           << ", and has to be of type " << expected << ", found "
           << given.getFunctionType();
  if (!given.getBody().hasOneBlock())
    return given.emitError() << "a joint function is one block, found "
                             << given.getBody().getBlocks().size();
  return success();
}

FailureOr<JointFunction> veeline::autodiff::readJointFunction(
    func::FuncOp given, func::FuncOp primal, ArrayRef<bool> wanted,
    ArrayRef<bool> seeded, KernelTarget target) {
  if (failed(verifyJoint(given, primal, wanted, seeded)))
    return failure();
  JointFunction joint{given.clone(), {}, {}, {}};
  func::FuncOp func = *joint.func;
  Block &block = func.getBody().front();
  unsigned numWanted = llvm::count(wanted, true);
  joint.pieceEnds = takePieceEnds(block);
  LogicalResult normalized = success();
  followValues(block, joint.pieceEnds,
               [&] { normalized = normalizeForDifferentiation(func, target); });
  if (failed(normalized))
    return given.emitError() << "cannot be brought into structured form";
  Operation *terminator = block.getTerminator();
  unsigned seed = wanted.size(), gradient = seeded.size();
  for (bool isSeeded : seeded)
    joint.seeds.push_back(isSeeded ? block.getArgument(seed++) : Value());
  for (bool isWanted : wanted)
    joint.gradients.push_back(isWanted ? terminator->getOperand(gradient++)
                                       : Value());
  terminator->eraseOperands(seeded.size(), numWanted);
  return joint;
}
