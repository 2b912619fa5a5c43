//===- ShiftInvariance.cpp - shifts that cancel ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShiftInvariance.h"

#include "Activity.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace veeline::autodiff;

namespace {

/// How a value depends on the maximum m: as a + coefficient * m or as a *
/// exp(coefficient * m). If the coefficient is 0, it does not depend on m.
struct Shift {
  int coefficient = 0;
  bool isExponential = false;

  bool isNone() const { return coefficient == 0; }
};

/// A tensor that depends on m, and its dimensions that are those of m.
struct Follower {
  Shift shift;
  SmallVector<unsigned> dims;
};

/// Follows one maximum through a block.
class ShiftFollower {
public:
  explicit ShiftFollower(Value maximum) {
    unsigned rank = cast<RankedTensorType>(maximum.getType()).getRank();
    followers[maximum] = {{1, false},
                          llvm::to_vector(llvm::seq<unsigned>(0, rank))};
  }
  /// Follows m through `op`. Returns false if a dependence on m cannot be
  /// followed, or reaches a result of the block.
  bool follow(Operation &op);

private:
  bool follows(Operation &op) const;
  std::optional<SmallVector<unsigned>> getLoops(linalg::LinalgOp op) const;
  bool followOutput(linalg::LinalgOp op, unsigned index,
                    ArrayRef<unsigned> loops,
                    const DenseMap<Value, Shift> &shifts);

  DenseMap<Value, Follower> followers;
};

} // namespace

static std::optional<Shift> addShifts(Shift a, Shift b, int sign) {
  if (a.isNone() && b.isNone())
    return Shift();
  // Multiples of the same exponential add up to a multiple of it.
  if (a.isExponential || b.isExponential) {
    if (a.isExponential && b.isExponential && a.coefficient == b.coefficient)
      return a;
    return std::nullopt;
  }
  return Shift{a.coefficient + sign * b.coefficient, false};
}

static std::optional<Shift> multiplyShifts(Shift a, Shift b, int sign) {
  if ((!a.isNone() && !a.isExponential) || (!b.isNone() && !b.isExponential))
    return std::nullopt;
  return Shift{a.coefficient + sign * b.coefficient, true};
}

/// How a scalar op's result depends on m, given how its operands do.
static std::optional<Shift> getShift(Operation &op, ArrayRef<Shift> operands) {
  if (llvm::all_of(operands, [](Shift s) { return s.isNone(); }))
    return Shift();
  if (isa<arith::AddFOp>(op))
    return addShifts(operands[0], operands[1], 1);
  if (isa<arith::SubFOp>(op))
    return addShifts(operands[0], operands[1], -1);
  if (isa<arith::MulFOp>(op))
    return multiplyShifts(operands[0], operands[1], 1);
  if (isa<arith::DivFOp>(op))
    return multiplyShifts(operands[0], operands[1], -1);
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return operands[0];
  if (isa<arith::NegFOp>(op))
    return operands[0].isExponential ? operands[0]
                                     : Shift{-operands[0].coefficient, false};
  if (isa<math::ExpOp>(op) && !operands[0].isExponential)
    return Shift{operands[0].coefficient, true};
  if (isa<math::LogOp>(op) && operands[0].isExponential)
    return Shift{operands[0].coefficient, false};
  return std::nullopt;
}

/// Finds how all scalars of a body depend on m, and returns false if that fails
/// for one. Partial sums of multiples of one exponential are multiples of it,
/// because they start from zero; `followOutput` checks that.
static bool followBody(linalg::LinalgOp structured,
                       DenseMap<Value, Shift> &shifts) {
  unsigned numInputs = structured.getNumDpsInputs();
  auto isAccumulator = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == structured.getBlock() &&
           argument.getArgNumber() >= numInputs;
  };
  for (Operation &op : structured.getBlock()->without_terminator()) {
    SmallVector<Shift> operands;
    for (Value operand : getAllOperands(op))
      operands.push_back(shifts.lookup(operand));
    std::optional<Shift> shift = getShift(op, operands);
    if (isa<arith::AddFOp>(op) && isAccumulator(op.getOperand(0)))
      shift = operands[1];
    else if (isa<arith::AddFOp>(op) && isAccumulator(op.getOperand(1)))
      shift = operands[0];
    if (!shift)
      return false;
    for (Value result : op.getResults())
      shifts[result] = *shift;
  }
  return true;
}

bool ShiftFollower::follows(Operation &op) const {
  return llvm::any_of(getAllOperands(op),
                      [&](Value v) { return followers.contains(v); });
}

/// The loops of `op` that run over the dimensions of m. None if its operands
/// disagree.
std::optional<SmallVector<unsigned>>
ShiftFollower::getLoops(linalg::LinalgOp op) const {
  std::optional<SmallVector<unsigned>> loops;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto it = followers.find(input->get());
    if (it == followers.end())
      continue;
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!map.isProjectedPermutation())
      return std::nullopt;
    SmallVector<unsigned> mine;
    for (unsigned dim : it->second.dims)
      mine.push_back(map.getDimPosition(dim));
    if (loops && *loops != mine)
      return std::nullopt;
    loops = mine;
  }
  return loops;
}

static bool isZeroFill(Value value) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
}

bool ShiftFollower::followOutput(linalg::LinalgOp op, unsigned index,
                                 ArrayRef<unsigned> loops,
                                 const DenseMap<Value, Shift> &shifts) {
  Block &body = *op.getBlock();
  OpOperand *init = op.getDpsInitOperand(index);
  AffineMap map = op.getMatchingIndexingMap(init);
  if (!map.isProjectedPermutation())
    return false;
  Value yielded = body.getTerminator()->getOperand(index);
  Shift shift = shifts.lookup(yielded);
  if (!map.isPermutation()) {
    // A sum of multiples of an exponential is a multiple of it.
    Value accumulator = op.getMatchingBlockArgument(init);
    auto add = yielded.getDefiningOp<arith::AddFOp>();
    if (!add || !isZeroFill(init->get()))
      return false;
    if (add.getLhs() != accumulator && add.getRhs() != accumulator)
      return false;
    Value term = add.getLhs() == accumulator ? add.getRhs() : add.getLhs();
    shift = shifts.lookup(term);
    if (term == accumulator || (!shift.isNone() && !shift.isExponential))
      return false;
  }
  if (shift.isNone())
    return true;
  Follower follower{shift, {}};
  for (unsigned loop : loops) {
    std::optional<unsigned> position =
        map.getResultPosition(getAffineDimExpr(loop, op.getContext()));
    if (!position)
      return false;
    follower.dims.push_back(*position);
  }
  followers[op->getResult(index)] = follower;
  return true;
}

bool ShiftFollower::follow(Operation &op) {
  if (!follows(op))
    return true;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return false;
  // Followed values may be inputs, but not inits, and bodies may not capture
  // them.
  for (Value operand : getAllOperands(op))
    if (followers.contains(operand) &&
        !llvm::is_contained(structured.getDpsInputs(), operand))
      return false;
  for (Value init : structured.getDpsInits())
    if (followers.contains(init))
      return false;
  bool isCaptured = false;
  structured.getBlock()->walk([&](Operation *nested) {
    isCaptured |= llvm::any_of(nested->getOperands(),
                               [&](Value v) { return followers.contains(v); });
  });
  std::optional<SmallVector<unsigned>> loops = getLoops(structured);
  if (isCaptured || !loops)
    return false;
  DenseMap<Value, Shift> shifts;
  for (OpOperand *input : structured.getDpsInputOperands()) {
    auto it = followers.find(input->get());
    if (it != followers.end())
      shifts[structured.getMatchingBlockArgument(input)] = it->second.shift;
  }
  if (!followBody(structured, shifts))
    return false;
  for (unsigned i = 0; i != op.getNumResults(); ++i)
    if (!followOutput(structured, i, *loops, shifts))
      return false;
  return true;
}

/// Whether `op` computes only maxima over some of its loops.
static bool isMaximum(Operation &op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || op.getNumResults() != 1 ||
      structured.getNumReductionLoops() == 0)
    return false;
  Operation *combiner =
      structured.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  return isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp>(combiner) &&
         llvm::is_contained(combiner->getOperands(),
                            structured.getBlock()->getArguments().back());
}

DenseSet<Value> veeline::autodiff::findCancellingMaxima(Block &block) {
  DenseSet<Value> cancelling;
  for (Operation &op : block) {
    if (!isMaximum(op))
      continue;
    ShiftFollower follower(op.getResult(0));
    bool cancels = true;
    for (Operation *next = op.getNextNode(); next && cancels;
         next = next->getNextNode())
      cancels = follower.follow(*next);
    if (cancels)
      cancelling.insert(op.getResult(0));
  }
  return cancelling;
}
