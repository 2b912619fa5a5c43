//===- Differentiate.cpp - forward and backward of a chunk ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Activity.h"
#include "Arrangements.h"
#include "Emit.h"
#include "JointFunction.h"
#include "Normalize.h"
#include "Partition.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "veeline/Analysis/Convolution.h"
#include "veeline/Analysis/CostModel.h"
#include "veeline/Autodiff/Autodiff.h"
#include "veeline/Dialect/Pipe/IR/Attention.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;
using veeline::pipe::RoleKind;
using veeline::pipe::setArgRole;
using veeline::pipe::setResultRole;

namespace {

class ChunkDifferentiator {
public:
  ChunkDifferentiator(func::FuncOp primal, const ChunkDescription &description)
      : primal(primal), description(description) {}

  FailureOr<DifferentiatedChunk> run();

private:
  LogicalResult check();
  LogicalResult checkLoss();
  LogicalResult buildJoint();
  void mergeEqualOps();
  void numberComputations();
  void findTangents();
  void findForward();
  void findTail();
  std::optional<int64_t> price(Value value);
  std::optional<int64_t> recomputePrice(Operation *op);
  bool isReadInPlace(Operation *op) const {
    return description.target == KernelTarget::Cuda &&
           isArrangedForAttention(op);
  }
  std::optional<int64_t> getKernelPrice(Operation *op);
  bool isComputedOnTheWay(Operation *op) const;
  bool isForBackwardAlone(Operation *op);
  bool findForBackwardAlone(Operation *op);
  bool isWrittenToKeep(Operation *op);
  OwningOpRef<func::FuncOp> createForward(ArrayRef<Value> residuals);
  OwningOpRef<func::FuncOp> createBackward(const Partition &partition,
                                           ArrayRef<Value> residuals);
  std::pair<RoleKind, unsigned> getRole(Value value,
                                        ArrayRef<Value> residuals) const;
  Block &block() { return joint.func->getBody().front(); }
  bool isOperand(Value value) const {
    auto arg = dyn_cast<BlockArgument>(value);
    return arg && arg.getArgNumber() < description.operands.size();
  }
  std::optional<unsigned> getResultNumber(Value value) const;

  func::FuncOp primal;
  const ChunkDescription &description;
  JointFunction joint;
  SmallVector<Value> results;
  DenseSet<Operation *> tangents;
  /// Ops that run in the forward function in any case.
  DenseSet<Operation *> forward;
  /// The ops of `forward` whose values are always recomputed and never kept.
  DenseSet<Operation *> tail;
  /// The results of `isForBackwardAlone`.
  llvm::DenseMap<Operation *, bool> forBackwardAlone;
};

} // namespace

/// The source of `view` if that is a reshape, or null.
static Value getReshaped(Value view) {
  if (auto expand = view.getDefiningOp<tensor::ExpandShapeOp>())
    return expand.getSrc();
  if (auto collapse = view.getDefiningOp<tensor::CollapseShapeOp>())
    return collapse.getSrc();
  return {};
}

/// The number of the chunk's result that is `value`, or a reshape of it.
std::optional<unsigned>
ChunkDifferentiator::getResultNumber(Value value) const {
  for (auto [i, result] : llvm::enumerate(results))
    if (result == value || getReshaped(result) == value)
      return i;
  return std::nullopt;
}

/// Changes an argument of a backward function. Instead of a value of which
/// `result`, a result of the chunk, is a reshape, the function takes the result
/// and reshapes it back.
static void reshapeResultArgument(func::FuncOp backward, unsigned number,
                                  Value result) {
  BlockArgument argument = backward.getArgument(number);
  if (argument.getType() == result.getType())
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(&backward.getBody().front());
  Type type = argument.getType();
  argument.setType(result.getType());
  Value reshaped;
  if (auto expand = result.getDefiningOp<tensor::ExpandShapeOp>())
    reshaped = tensor::CollapseShapeOp::create(
        builder, backward.getLoc(), type, argument,
        expand.getReassociationIndices());
  else
    reshaped = tensor::ExpandShapeOp::create(
        builder, backward.getLoc(), type, argument,
        result.getDefiningOp<tensor::CollapseShapeOp>()
            .getReassociationIndices());
  argument.replaceAllUsesExcept(reshaped, reshaped.getDefiningOp());
  backward.setType(FunctionType::get(
      backward.getContext(), backward.getBody().front().getArgumentTypes(),
      backward.getResultTypes()));
}

/// Checks that the loss is one float, since differentiation starts there.
LogicalResult ChunkDifferentiator::checkLoss() {
  Type type = primal.getResultTypes()[*description.loss];
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && tensor.getRank() == 0 &&
      (tensor.getElementType().isF32() || tensor.getElementType().isF64()))
    return success();
  return primal.emitError()
         << "the loss, result " << *description.loss << " of '"
         << primal.getName()
         << "', has to be a tensor<f32> or tensor<f64>, found " << type
         << "; reduce it to one such number first";
}

LogicalResult ChunkDifferentiator::check() {
  if (primal.isExternal())
    return primal.emitError() << "cannot differentiate '" << primal.getName()
                              << "', which has no body";
  if (description.operands.size() != primal.getNumArguments() ||
      description.hasResultGradient.size() != primal.getNumResults())
    return primal.emitError()
           << "is described with " << description.operands.size()
           << " arguments and " << description.hasResultGradient.size()
           << " results, but has " << primal.getNumArguments() << " and "
           << primal.getNumResults();
  if (description.loss && failed(checkLoss()))
    return failure();
  auto refuse = [&](StringRef what, unsigned number, Type type) {
    return primal.emitError()
           << "the gradient of " << what << ' ' << number << " of '"
           << primal.getName() << "' is wanted, which has to be a tensor of "
           << "floats, found " << type;
  };
  for (auto [i, kind, type] :
       llvm::enumerate(description.operands, primal.getArgumentTypes()))
    if ((kind == OperandKind::Parameter || kind == OperandKind::EdgeValue) &&
        !(isa<RankedTensorType>(type) && isDifferentiableType(type)))
      return refuse("argument", i, type);
  for (auto [i, has, type] :
       llvm::enumerate(description.hasResultGradient, primal.getResultTypes()))
    if (has && !(isa<RankedTensorType>(type) && isDifferentiableType(type)))
      return refuse("result", i, type);
  return success();
}

/// Marks the ops that depend on an incoming gradient, and so cannot be in the
/// forward function. A joint function has the gradient of the loss as a
/// constant, which may have been folded. Its whole backward depends on that.
void ChunkDifferentiator::findTangents() {
  bool isHidden = description.joint && description.loss;
  DenseSet<Value> values;
  for (Value seed : joint.seeds)
    if (seed)
      values.insert(seed);
  for (Operation &op : block())
    if ((isHidden && !forward.contains(&op)) ||
        llvm::any_of(getAllOperands(op),
                     [&](Value v) { return values.contains(v); })) {
      tangents.insert(&op);
      values.insert(op.result_begin(), op.result_end());
    }
}

void ChunkDifferentiator::findForward() {
  SmallVector<Operation *> ops = getBackwardSlice(results);
  forward.insert(ops.begin(), ops.end());
}

/// Finds the ops that are recomputed whatever they cost: all ops of the
/// forward, or those of the last pieces.
void ChunkDifferentiator::findTail() {
  const Recompute &policy = description.recompute;
  if (policy.kind == RecomputeKind::Full)
    tail = forward;
  if (policy.kind != RecomputeKind::Tail)
    return;
  DenseSet<Operation *> ends;
  for (Value end : joint.pieceEnds)
    ends.insert(end.getDefiningOp());
  size_t numPieces = joint.pieceEnds.size() + 1;
  size_t first = numPieces - static_cast<size_t>(policy.amount * numPieces);
  size_t piece = 0;
  for (Operation &op : block()) {
    if (piece >= first && forward.contains(&op))
      tail.insert(&op);
    piece += ends.contains(&op);
  }
}

/// Whether a library of a GPU computes the op: a product or a convolution.
static bool isLibraryCall(Operation *op) {
  auto structured = dyn_cast_or_null<linalg::LinalgOp>(op);
  return structured && (isContraction(op) ||
                        isLibraryConvolution(structured, KernelTarget::Cuda));
}

/// The inputs of the elementwise `op` that have the size of its result.
static SmallVector<Value> getStreams(linalg::LinalgOp op) {
  SmallVector<Value> streams;
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.getMatchingIndexingMap(input).getNumResults() == op.getNumLoops())
      streams.push_back(input->get());
  return streams;
}

/// Whether running the body of `op` takes less time than loading its result.
static bool isCheap(linalg::LinalgOp op) {
  constexpr int64_t maxOps = 4;
  auto body = op.getBlock()->without_terminator();
  return llvm::range_size(body) <= maxOps &&
         llvm::none_of(body, [](Operation &inner) {
           return isa<math::MathDialect>(inner.getDialect()) ||
                  isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp,
                      arith::RemFOp, arith::RemSIOp, arith::RemUIOp>(inner) ||
                  inner.getNumRegions();
         });
}

/// Whether, on a GPU, all kernels that read the result of the elementwise `op`
/// compute it instead of loading it, in the forward and in the backward. This
/// is so if it is cheap and reads one tensor of its size. That tensor may not
/// be a product, because then the library's epilogue computes the op.
bool ChunkDifferentiator::isComputedOnTheWay(Operation *op) const {
  auto structured = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (description.target != KernelTarget::Cuda || !structured ||
      structured.getNumReductionLoops() || !isCheap(structured))
    return false;
  SmallVector<Value> streams = getStreams(structured);
  return streams.size() == 1 && !isLibraryCall(streams[0].getDefiningOp()) &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           return isa<linalg::LinalgOp>(user) && !isLibraryCall(user);
         });
}

/// Whether a forward on a GPU would write the result of the elementwise `op`
/// only for the backward. In the forward, the result is only reduced, or read
/// by elementwise ops of which the same is true; kernels fuse `op` with all of
/// these. In the backward it has at most one use, with which it can be fused,
/// too.
bool ChunkDifferentiator::isForBackwardAlone(Operation *op) {
  auto [known, isNew] = forBackwardAlone.try_emplace(op, false);
  if (!isNew)
    return known->second;
  bool isAlone = findForBackwardAlone(op);
  forBackwardAlone[op] = isAlone;
  return isAlone;
}

bool ChunkDifferentiator::findForBackwardAlone(Operation *op) {
  auto structured = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (description.target != KernelTarget::Cuda || !structured ||
      structured.getNumReductionLoops() || isLibraryCall(op))
    return false;
  int64_t numLater = 0;
  // An op that uses the result twice reads it once.
  llvm::SmallSetVector<Operation *, 4> users(op->user_begin(), op->user_end());
  for (Operation *user : users) {
    auto use = dyn_cast<linalg::LinalgOp>(user);
    if (!use || isLibraryCall(user))
      return false;
    if (!forward.contains(user))
      ++numLater;
    else if (!use.getNumReductionLoops() && !isForBackwardAlone(user))
      return false;
  }
  return numLater <= 1;
}

/// Whether keeping the result of `op` makes a forward on a GPU write a tensor
/// that it otherwise would not write.
bool ChunkDifferentiator::isWrittenToKeep(Operation *op) {
  return isForBackwardAlone(op) || isComputedOnTheWay(op) || isReadInPlace(op);
}

/// The price of a GPU kernel that recomputes a value which the forward has in
/// memory: a third of the bytes that it moves, or half of them with
/// transcendental functions. There is no such price for an op that is fused
/// with its only user, for ops that are not elementwise, and for values that
/// depend on parameters alone, because a step rounds these only once.
std::optional<int64_t> ChunkDifferentiator::getKernelPrice(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (description.target != KernelTarget::Cuda || !structured ||
      structured.getNumReductionLoops() || isLibraryCall(op))
    return std::nullopt;
  if (llvm::all_of(structured.getDpsInputs(), [&](Value input) {
        return isOperand(input) && price(input) == 0;
      }))
    return std::nullopt;
  Value result = op->getResult(0);
  if (result.hasOneUse() && isa<linalg::LinalgOp>(*result.user_begin()) &&
      !isLibraryCall(*result.user_begin()))
    return std::nullopt;
  bool isExpensive = op->walk([](Operation *inner) {
                         return isa<math::MathDialect>(inner->getDialect())
                                    ? WalkResult::interrupt()
                                    : WalkResult::advance();
                       }).wasInterrupted();
  int64_t moved = getExcessPrice(op);
  for (Type type : op->getResultTypes())
    moved += 2 * getNumBytes(type) * pricePerByte;
  return llvm::divideCeil(moved, isExpensive ? 2 : 3);
}

/// The price of recomputing `op`. It is 0 for an op that the forward need not
/// run, and for one whose operand a GPU's attention reads in its place. If the
/// forward would write the result only for the backward, the price is at most
/// that of the bytes that are read beyond those that are written.
std::optional<int64_t> ChunkDifferentiator::recomputePrice(Operation *op) {
  if (tail.contains(op) || !forward.contains(op) || isReadInPlace(op))
    return 0;
  std::optional<int64_t> price = getRecomputePrice(op, description.recompute);
  if (isForBackwardAlone(op) || isComputedOnTheWay(op)) {
    int64_t excess = getExcessPrice(op);
    return std::min(price.value_or(excess), excess);
  }
  if (description.recompute.kind == RecomputeKind::Balanced && price)
    return std::max(*price, getKernelPrice(op).value_or(0));
  return price;
}

/// The price of keeping `value`. Parameters, batch arguments and buffers are
/// available anyway, and cost nothing. A value of an edge, or a result of the
/// chunk, costs an eighth less than a residual of its size, because it need not
/// be written a second time. A value that is written only for the backward
/// costs an eighth more than one that is in memory anyway.
std::optional<int64_t> ChunkDifferentiator::price(Value value) {
  if (!isa<BlockArgument>(value) &&
      (description.recompute.kind == RecomputeKind::Full ||
       tail.contains(value.getDefiningOp())))
    return std::nullopt;
  int64_t bytes = getNumBytes(value.getType());
  if (!isOperand(value)) {
    int64_t perByte = getResultNumber(value) ? pricePerByte - 1 : pricePerByte;
    return bytes * (perByte + (isWrittenToKeep(value.getDefiningOp()) ? 1 : 0));
  }
  OperandKind kind =
      description.operands[cast<BlockArgument>(value).getArgNumber()];
  if (kind == OperandKind::Constant || kind == OperandKind::Parameter)
    return 0;
  return bytes * (pricePerByte - 1);
}

std::pair<RoleKind, unsigned>
ChunkDifferentiator::getRole(Value value, ArrayRef<Value> residuals) const {
  if (isOperand(value))
    return {RoleKind::Operand, cast<BlockArgument>(value).getArgNumber()};
  if (isa<BlockArgument>(value))
    return {RoleKind::ResultGrad,
            llvm::find(joint.seeds, value) - joint.seeds.begin()};
  if (std::optional<unsigned> number = getResultNumber(value))
    return {RoleKind::Result, *number};
  return {RoleKind::Residual, llvm::find(residuals, value) - residuals.begin()};
}

OwningOpRef<func::FuncOp>
ChunkDifferentiator::createForward(ArrayRef<Value> residuals) {
  SmallVector<Value> targets = results;
  llvm::append_range(targets, residuals);
  SmallVector<Value> arguments(block().getArguments());
  SmallVector<unsigned> used;
  OwningOpRef<func::FuncOp> forward =
      extractFunction(primal.getLoc(), (primal.getName() + "_forward").str(),
                      arguments, getBackwardSlice(targets), targets, used);
  for (auto [i, argument] : llvm::enumerate(used))
    setArgRole(*forward, i, RoleKind::Operand, argument);
  for (unsigned i = 0; i != targets.size(); ++i) {
    if (i < results.size())
      setResultRole(*forward, i, RoleKind::Result, i);
    else
      setResultRole(*forward, i, RoleKind::Residual, i - results.size());
  }
  return forward;
}

/// Replaces the gradient of the loss by the constant 1.
static void fixLossGradient(func::FuncOp backward, unsigned argument) {
  Block &entry = backward.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  BlockArgument seed = entry.getArgument(argument);
  seed.replaceAllUsesWith(
      Emit(builder, backward.getLoc()).constant(seed.getType(), 1.0));
  (void)backward.eraseArgument(argument);
}

OwningOpRef<func::FuncOp>
ChunkDifferentiator::createBackward(const Partition &partition,
                                    ArrayRef<Value> residuals) {
  // The order of arguments: operands, results, residuals, gradients, each by
  // number.
  SmallVector<Value> arguments = partition.kept;
  for (Value seed : joint.seeds)
    if (seed)
      arguments.push_back(seed);
  llvm::sort(arguments, [&](Value a, Value b) {
    return getRole(a, residuals) < getRole(b, residuals);
  });
  arguments.erase(llvm::unique(arguments), arguments.end());
  SmallVector<Value> targets;
  SmallVector<std::pair<RoleKind, unsigned>> roles;
  auto addGradients = [&](OperandKind kind, RoleKind role) {
    for (auto [i, gradient] : llvm::enumerate(joint.gradients))
      if (description.operands[i] == kind) {
        targets.push_back(gradient);
        roles.push_back({role, i});
      }
  };
  addGradients(OperandKind::EdgeValue, RoleKind::OperandGrad);
  addGradients(OperandKind::Parameter, RoleKind::ParamGrad);
  if (targets.empty())
    return {};
  SmallVector<unsigned> used;
  OwningOpRef<func::FuncOp> backward =
      extractFunction(primal.getLoc(), (primal.getName() + "_backward").str(),
                      arguments, partition.ops, targets, used);
  std::optional<unsigned> lossArgument;
  for (auto [i, argument] : llvm::enumerate(used)) {
    auto [kind, number] = getRole(arguments[argument], residuals);
    setArgRole(*backward, i, kind, number);
    if (kind == RoleKind::ResultGrad && description.loss == number)
      lossArgument = i;
    if (kind == RoleKind::Result)
      reshapeResultArgument(*backward, i, results[number]);
  }
  for (auto [i, role] : llvm::enumerate(roles))
    setResultRole(*backward, i, role.first, role.second);
  if (lossArgument)
    fixLossGradient(*backward, *lossArgument);
  return backward;
}

LogicalResult ChunkDifferentiator::buildJoint() {
  SmallVector<bool> wanted, seeded(description.hasResultGradient);
  for (OperandKind kind : description.operands)
    wanted.push_back(kind == OperandKind::Parameter ||
                     kind == OperandKind::EdgeValue);
  if (description.loss)
    seeded[*description.loss] = !description.joint;
  FailureOr<JointFunction> built =
      description.joint
          ? readJointFunction(description.joint, primal, wanted, seeded,
                              description.target)
          : buildJointFunction(primal, wanted, seeded, description.target);
  if (failed(built))
    return failure();
  joint = std::move(*built);
  return success();
}

/// Merges equal ops. The gradients are results of the joint function meanwhile,
/// so that `joint` stays valid.
void ChunkDifferentiator::mergeEqualOps() {
  SmallVector<Value> followed = joint.pieceEnds;
  for (Value gradient : joint.gradients)
    if (gradient)
      followed.push_back(gradient);
  followValues(block(), followed, [&] {
    IRRewriter rewriter(primal.getContext());
    DominanceInfo dominance(*joint.func);
    eliminateCommonSubExpressions(rewriter, dominance, *joint.func);
  });
  llvm::append_range(results, block().getTerminator()->getOperands());
  const Value *next = followed.begin();
  for (Value &end : joint.pieceEnds)
    end = *next++;
  for (Value &gradient : joint.gradients)
    if (gradient)
      gradient = *next++;
}

/// Numbers the ops that a library may compute, so that later passes recognise
/// their copies in several functions as the same computation. Attention gets
/// several numbers, because it may become several ops.
void ChunkDifferentiator::numberComputations() {
  int64_t number = 0;
  joint.func->walk([&](Operation *op) {
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    bool isAttention = isa<pipe::AttentionOpInterface>(op);
    if (!isAttention && !(structured && structured.getNumReductionLoops()))
      return;
    op->setLoc(pipe::markComputation(op->getLoc(), number));
    number += isAttention ? pipe::maxParts : 1;
  });
}

FailureOr<DifferentiatedChunk> ChunkDifferentiator::run() {
  if (failed(check()) || failed(buildJoint()))
    return failure();
  mergeEqualOps();
  separatePaddings(*joint.func);
  numberComputations();
  findForward();
  if (description.target == KernelTarget::Cuda)
    readArrangedOutputs(block(), forward);
  if (description.follow && failed(verifyAlike(block(), *description.follow)))
    return failure();
  findTangents();
  findTail();
  SmallVector<Value> targets =
      llvm::filter_to_vector(joint.gradients, [](Value v) { return !!v; });
  Partition partition = choosePartition(
      {targets, [&](Operation *op) { return tangents.contains(op); },
       [&](Value value) { return price(value); },
       [&](Operation *op) { return recomputePrice(op); }, description.follow});
  SmallVector<Value> residuals =
      llvm::filter_to_vector(partition.kept, [&](Value value) {
        return !isa<BlockArgument>(value) && !getResultNumber(value);
      });
  return DifferentiatedChunk{createForward(residuals),
                             createBackward(partition, residuals),
                             noteChoice(block(), partition)};
}

FailureOr<DifferentiatedChunk>
veeline::autodiff::differentiateChunk(func::FuncOp primal,
                                      const ChunkDescription &description) {
  // The dialects of ops that rules emit. A pass that calls this has loaded them
  // before.
  primal.getContext()
      ->loadDialect<arith::ArithDialect, linalg::LinalgDialect,
                    math::MathDialect, scf::SCFDialect, tensor::TensorDialect,
                    veeline::pipe::PipeDialect>();
  return ChunkDifferentiator(primal, description).run();
}
