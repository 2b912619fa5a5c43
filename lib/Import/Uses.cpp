//===- Uses.cpp - uses of a value in a model ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Uses.h"

#include "Elementwise.h"
#include "Statistics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

using namespace mlir;
using namespace veeline;

namespace {
class UseFinder {
public:
  explicit UseFinder(int64_t elements) : elements(elements) {}
  void follow(Value value);
  Uses uses;
  bool isFrequency() const {
    return onlyAngles && !uses.meetings.empty() && !uses.lookedUp;
  }

private:
  void visit(OpOperand &use);
  void followSlice(tensor::ExtractSliceOp slice, OpOperand &use);
  void visitStructured(linalg::LinalgOp op, OpOperand &use);
  void visitBody(linalg::LinalgOp op, OpOperand &use);
  void visitInBody(linalg::LinalgOp op, OpOperand &use, Operation *user,
                   Value value);
  void meet(OpOperand &use, Value angle = {});
  bool reachesLarger(linalg::LinalgOp op, OpOperand &use, Value value) const;

  int64_t elements;
  /// Whether everything computed from the value so far is an angle.
  bool onlyAngles = true;
};
} // namespace

void UseFinder::follow(Value value) {
  for (OpOperand &use : value.getUses())
    visit(use);
}

/// Follows a slice. Meanwhile, other tensors are compared to the size of the
/// slice instead of the whole.
void UseFinder::followSlice(tensor::ExtractSliceOp slice, OpOperand &use) {
  if (use.getOperandNumber() != 0)
    return;
  int64_t whole = elements;
  if (slice.getType().hasStaticShape())
    elements = std::min(whole, slice.getType().getNumElements());
  follow(slice);
  elements = whole;
}

bool veeline::isProduct(linalg::LinalgOp op) {
  bool isConvolution = isa<linalg::ConvolutionOpInterface>(op.getOperation());
  return linalg::isaContractionOpInterface(op) ||
         (isConvolution && !op->getName().getStringRef().contains("pooling"));
}

/// The product whose result `value` is, through views, or null.
static Operation *findProduct(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      return isProduct(structured) ? op : nullptr;
    if (!isView(op))
      return nullptr;
    value = op->getOperand(0);
  }
  return nullptr;
}

/// Whether `value` is the result of a convolution. A bias may be added to it,
/// as after TOSA's depthwise one, or be the init of the sum.
static bool isOfConvolution(Value value) {
  return isa_and_present<linalg::ConvolutionOpInterface>(findProduct(value));
}

/// Whether `value`, which is added to `other`, is a bias of the same size. This
/// is possible if `other` has only one row. All elements of a bias are along
/// the last dimension.
static bool isBiasOfOneRow(Value value, Value other) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.hasStaticShape() && type.getRank() > 0 &&
         type.getNumElements() > 1 &&
         type.getNumElements() == type.getShape().back() && findProduct(other);
}

/// Whether all elements of `value` are equal.
static bool isUniform(Value value) {
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)))
    return elements.isSplat();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto model = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto constant = model ? model.getArgAttrOfType<DenseElementsAttr>(
                                argument.getArgNumber(),
                                pipe::PipeDialect::constantAttrName)
                          : DenseElementsAttr();
    return constant && constant.isSplat();
  }
  return isa<linalg::FillOp>(value.getDefiningOp());
}

/// Whether only sines and cosines of `value` are computed, as of an angle.
static bool isAngle(Value value, int depth = 12) {
  return depth > 0 && !value.use_empty() &&
         llvm::all_of(value.getUses(), [&](OpOperand &use) {
           Operation *op = use.getOwner();
           if (isa<math::SinOp, math::CosOp>(op))
             return true;
           if (isa<linalg::YieldOp>(op))
             return isAngle(
                 op->getParentOp()->getResult(use.getOperandNumber()),
                 depth - 1);
           if (auto structured = dyn_cast<linalg::LinalgOp>(op))
             return structured.getNumReductionLoops() == 0 &&
                    structured.isDpsInput(&use) &&
                    isAngle(structured.getMatchingBlockArgument(&use),
                            depth - 1);
           bool isScaled =
               isa<arith::MulFOp>(op) &&
               matchPattern(op->getOperand(1 - use.getOperandNumber()),
                            m_Constant());
           return (isScaled || isView(op) || isa<tensor::ConcatOp>(op)) &&
                  isAngle(op->getResult(0), depth - 1);
         });
}

void UseFinder::meet(OpOperand &use, Value angle) {
  uses.meetings.push_back(&use);
  onlyAngles = onlyAngles && angle && isAngle(angle);
}

/// Whether rows are looked up: the index into the first extent above 1 is read
/// from a tensor, instead of being computed from the indices of the result.
static bool isLookup(tensor::ExtractOp extract) {
  for (auto [extent, index] : llvm::zip_equal(
           extract.getTensor().getType().getShape(), extract.getIndices())) {
    if (extent == 1)
      continue;
    SmallVector<Value> open = {index};
    llvm::DenseSet<Value> seen;
    while (!open.empty()) {
      Value value = open.pop_back_val();
      if (!seen.insert(value).second)
        continue;
      Operation *op = value.getDefiningOp();
      auto argument = dyn_cast<BlockArgument>(value);
      if (isa_and_present<tensor::ExtractOp>(op) ||
          (argument &&
           isa<linalg::LinalgOp>(argument.getOwner()->getParentOp())))
        return true;
      if (op)
        llvm::append_range(open, op->getOperands());
    }
    return false;
  }
  return false;
}

/// Whether the operand, if it has several numbers, becomes one row of a
/// concatenation or of the tensor into which it is inserted.
static bool isRow(OpOperand &use) {
  Operation *op = use.getOwner();
  auto insert = dyn_cast<tensor::InsertSliceOp>(op);
  bool isInserted = insert && use.get() == insert.getSource();
  if (!isInserted && !isa<tensor::ConcatOp>(op))
    return false;
  auto row = cast<RankedTensorType>(use.get().getType());
  auto whole = cast<RankedTensorType>(op->getResult(0).getType());
  if (row.getRank() != whole.getRank() || !row.hasStaticShape() ||
      row.getNumElements() == 1)
    return false;
  int64_t shorter = 0, rows = 0;
  for (auto [part, all] : llvm::zip_equal(row.getShape(), whole.getShape())) {
    shorter += part != all;
    rows += part != all && part == 1;
  }
  return shorter == 1 && rows == 1;
}

void UseFinder::visit(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return followSlice(slice, use);
  if (isView(op)) {
    if (use.getOperandNumber() == 0)
      follow(op->getResult(0));
    return;
  }
  if (isa<tensor::ExtractOp, tensor::GatherOp>(op)) {
    auto extract = dyn_cast<tensor::ExtractOp>(op);
    uses.lookedUp |=
        use.getOperandNumber() == 0 && (!extract || isLookup(extract));
    uses.weight |= use.getOperandNumber() == 0;
    onlyAngles &= use.getOperandNumber() != 0;
    return;
  }
  uses.token |= isRow(use);
  // An op on tensors. Its smaller operand was broadcast before.
  auto type = dyn_cast<RankedTensorType>(use.get().getType());
  if (isa<arith::MulFOp, arith::AddFOp, arith::SubFOp>(op)) {
    Value other = op->getOperand(1 - use.getOperandNumber());
    bool wasBroadcast = type && type.hasStaticShape() &&
                        type.getNumElements() > elements && !isUniform(other);
    bool isBias = isa<arith::AddFOp>(op) && isBiasOfOneRow(use.get(), other);
    bool isScale = isa<arith::MulFOp>(op);
    uses.multiplied |= isScale && wasBroadcast;
    uses.added |= (!isScale && wasBroadcast) || isBias;
    uses.convolutionBias |=
        wasBroadcast && isa<arith::AddFOp>(op) && isOfConvolution(other);
    if (wasBroadcast || isBias)
      meet(use, isScale ? op->getResult(0) : Value());
  }
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    visitStructured(structured, use);
}

/// The product of the extents of the reduction loops.
static int64_t countSummed(linalg::LinalgOp op) {
  int64_t count = 1;
  for (auto [extent, iterator] :
       llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction)
      count *= std::max<int64_t>(extent, 1);
  return count;
}

void UseFinder::visitStructured(linalg::LinalgOp op, OpOperand &use) {
  if (op.isDpsInit(&use)) {
    bool isStart = op.getNumReductionLoops() > 0 &&
                   !op.getMatchingBlockArgument(&use).use_empty();
    uses.start |= isStart;
    // A bias that was broadcast to the init of a sum.
    auto type = cast<RankedTensorType>(use.get().getType());
    bool isBias = isStart && elements > 1 && type.hasStaticShape() &&
                  type.getNumElements() > elements;
    uses.added |= isBias;
    uses.convolutionBias |= isBias && isa<linalg::ConvolutionOpInterface>(*op);
    if (isStart)
      meet(use);
    return;
  }
  if (isProduct(op)) {
    uses.weight = true;
    uses.products.push_back(&use);
    int64_t summed = countSummed(op);
    uses.summed = std::max(uses.summed, summed);
    meet(use, summed == 1 ? op->getResult(0) : Value());
    return;
  }
  if (op.getNumReductionLoops() == 0)
    visitBody(op, use);
}

/// The operand of `op` that its body adds to `argument`, or null.
static Value findSummand(linalg::LinalgOp op, Operation *add, Value argument) {
  if (!isa<arith::AddFOp>(add))
    return {};
  Value other = add->getOperand(add->getOperand(0) == argument ? 1 : 0);
  auto of = dyn_cast<BlockArgument>(other);
  return of && of.getOwner() == op.getBlock()
             ? op->getOperand(of.getArgNumber())
             : Value();
}

/// Whether `value`, in the body, depends on something to which the operand is
/// broadcast, here or before. Constants do not count, and neither do operands
/// with the same indexing map.
bool UseFinder::reachesLarger(linalg::LinalgOp op, OpOperand &use,
                              Value value) const {
  bool wasBroadcast =
      cast<RankedTensorType>(use.get().getType()).getNumElements() > elements;
  SmallVector<Value> open = {value};
  llvm::DenseSet<Value> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    auto argument = dyn_cast<BlockArgument>(next);
    if (argument && argument.getOwner() == op.getBlock()) {
      OpOperand *other = op.getMatchingOpOperand(argument);
      auto type = dyn_cast<RankedTensorType>(other->get().getType());
      bool isBeside =
          op.getMatchingIndexingMap(other) == op.getMatchingIndexingMap(&use);
      if (type && type.getNumElements() != 1 &&
          (wasBroadcast ? !isUniform(other->get()) : !isBeside))
        return true;
      continue;
    }
    Operation *producer = next.getDefiningOp();
    if (!producer || !op->isProperAncestor(producer))
      continue;
    if (isa<tensor::ExtractOp, linalg::IndexOp>(producer))
      return true;
    llvm::append_range(open, producer->getOperands());
  }
  return false;
}

/// Visits `user`, an op in the body. The operand is `value` there.
void UseFinder::visitInBody(linalg::LinalgOp op, OpOperand &use,
                            Operation *user, Value value) {
  if (isa<linalg::YieldOp>(user))
    return follow(op->getResult(0));
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(user))
    return;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  bool isBroadcast =
      type.hasStaticShape() &&
      (type.getNumElements() > elements ||
       cast<RankedTensorType>(use.get().getType()).getRank() < type.getRank());
  bool isMet =
      isBroadcast && llvm::any_of(user->getOperands(), [&](Value operand) {
        return operand != value && reachesLarger(op, use, operand);
      });
  Value summand = findSummand(op, user, value);
  bool isBias = summand && isBiasOfOneRow(use.get(), summand);
  uses.convolutionBias |= isMet && summand && isOfConvolution(summand);
  bool isScale = isa<arith::MulFOp>(user);
  uses.multiplied |= isScale && isMet;
  uses.added |= (!isScale && isMet) || isBias;
  if (isMet || isBias)
    meet(use, isScale ? user->getResult(0) : Value());
}

/// Visits the first ops in the body of an elementwise op that use the operand.
void UseFinder::visitBody(linalg::LinalgOp op, OpOperand &use) {
  BlockArgument argument = op.getMatchingBlockArgument(&use);
  for (Operation *user : argument.getUsers()) {
    if (!isView(user)) {
      visitInBody(op, use, user, argument);
      continue;
    }
    for (Operation *next : user->getUsers())
      visitInBody(op, use, next, user->getResult(0));
  }
}

Uses veeline::findUses(Value value) {
  UseFinder finder(cast<RankedTensorType>(value.getType()).getNumElements());
  finder.follow(value);
  Uses &uses = finder.uses;
  uses.frequency = finder.isFrequency();
  if (uses.weight)
    return uses;
  uses.underRoot = isUnderRoot(value);
  uses.runningMean = isRunningMean(value);
  if (!uses.runningMean) {
    uses.multiplied |= isScaleOfStatistics(value);
    uses.added |= isShiftOfStatistics(value);
  }
  return uses;
}

/// Adds the dependent values of a block. If a loop depends, so does all that it
/// carries.
static void addDependent(Block &block, llvm::DenseSet<Value> &dependent) {
  for (Operation &op : block) {
    bool depends = false;
    op.walk([&](Operation *inner) {
      depends |= llvm::any_of(inner->getOperands(), [&](Value operand) {
        return dependent.contains(operand);
      });
    });
    if (!depends)
      continue;
    dependent.insert_range(op.getResults());
    if (isa<linalg::LinalgOp>(op))
      continue;
    for (Region &region : op.getRegions())
      for (Block &inner : region) {
        dependent.insert_range(inner.getArguments());
        addDependent(inner, dependent);
      }
  }
}

llvm::DenseSet<Value>
veeline::findDependent(func::FuncOp model,
                       llvm::function_ref<bool(unsigned)> isWanted) {
  llvm::DenseSet<Value> dependent;
  for (BlockArgument argument : model.getArguments())
    if (isWanted(argument.getArgNumber()))
      dependent.insert(argument);
  addDependent(model.getBody().front(), dependent);
  return dependent;
}
