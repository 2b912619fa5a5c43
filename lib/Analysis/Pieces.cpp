//===- Pieces.cpp - the smallest parts that cuts can separate -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Analysis/Pieces.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"
#include "veeline/Dialect/Pipe/IR/Frozen.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace veeline;

namespace {
/// What a value depends on: parameters, or data.
struct Origin {
  bool parameter = false;
  bool data = false;
  bool main = false;
};

/// The activations that are live at one place between two main ops.
struct Crossing {
  unsigned count = 0;
  uint64_t bytes = 0;
};
} // namespace

/// The union of the origins of all values that `op` uses, also in its regions.
static Origin
mergeOperandOrigins(Operation *op,
                    const llvm::DenseMap<Value, Origin> &origins) {
  Origin merged;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Origin origin = origins.lookup(operand);
      merged.parameter |= origin.parameter;
      merged.data |= origin.data;
      merged.main |= origin.main;
    }
  });
  return merged;
}

/// True for a contraction, and for a loop or a branch with one in it.
static bool holdsContraction(Operation *op) {
  if (!isa<scf::ForOp, scf::IfOp>(op))
    return isContraction(op);
  return op
      ->walk([](Operation *inner) {
        return isContraction(inner) ? WalkResult::interrupt()
                                    : WalkResult::advance();
      })
      .wasInterrupted();
}

static SmallVector<Operation *> findMainOps(func::FuncOp model) {
  llvm::DenseMap<Value, Origin> origins;
  bool hasParameters = false;
  for (auto [i, argument] : llvm::enumerate(model.getArguments())) {
    bool parameter = static_cast<bool>(
        model.getArgAttr(i, pipe::PipeDialect::paramAttrName));
    bool batch = static_cast<bool>(
        model.getArgAttr(i, pipe::PipeDialect::batchAttrName));
    origins[argument] = {parameter, batch, false};
    hasParameters |= parameter && !argument.use_empty();
  }
  SmallVector<Operation *> mainOps;
  for (Operation &op : model.getBody().front().without_terminator()) {
    Origin origin = mergeOperandOrigins(&op, origins);
    origin.main |=
        ((origin.parameter || !hasParameters) && origin.data) ||
        ((origin.parameter || origin.data) && holdsContraction(&op)) ||
        isa<pipe::BoundaryOp>(op);
    for (Value result : op.getResults())
      origins[result] = origin;
    if (origin.main)
      mainOps.push_back(&op);
  }
  return mainOps;
}

/// For each main op, the position of the last main op that uses one of its
/// results, directly or through side ops.
static SmallVector<size_t>
findLastUses(ArrayRef<Operation *> mainOps,
             const llvm::DenseMap<Operation *, size_t> &position) {
  SmallVector<size_t> lastUse(mainOps.size(), 0);
  for (auto [i, op] : llvm::enumerate(mainOps)) {
    lastUse[i] = i;
    for (Operation *user : op->getUsers()) {
      Operation *top = user;
      while (top->getParentOp() != op->getParentOp())
        top = top->getParentOp();
      auto it = position.find(top);
      // A result that only the function returns crosses no cut.
      if (it != position.end())
        lastUse[i] = std::max(lastUse[i], it->second);
    }
  }
  return lastUse;
}

/// Counts the activations that are live at each place. Entry i describes the
/// place after main op i.
static SmallVector<Crossing> findCrossings(ArrayRef<Operation *> mainOps) {
  llvm::DenseMap<Operation *, size_t> position;
  for (auto [i, op] : llvm::enumerate(mainOps))
    position[op] = i;
  SmallVector<size_t> lastUse = findLastUses(mainOps, position);
  SmallVector<Crossing> crossings(mainOps.size());
  SmallVector<int64_t> countChange(mainOps.size() + 1, 0);
  SmallVector<int64_t> bytesChange(mainOps.size() + 1, 0);
  for (auto [i, op] : llvm::enumerate(mainOps)) {
    if (lastUse[i] == i)
      continue;
    uint64_t bytes = 0;
    for (Type type : op->getResultTypes())
      bytes += getByteSize(type);
    countChange[i] += 1;
    bytesChange[i] += bytes;
    countChange[lastUse[i]] -= 1;
    bytesChange[lastUse[i]] -= bytes;
  }
  Crossing live;
  for (size_t i = 0; i != mainOps.size(); ++i) {
    live.count += countChange[i];
    live.bytes += bytesChange[i];
    crossings[i] = live;
  }
  return crossings;
}

/// The main ops after which a piece ends, given marks. Every piece has an op
/// that is not a mark. So successive marks are one cut, and marks before the
/// first or after the last such op are ignored.
static SmallVector<size_t> findMarks(ArrayRef<Operation *> mainOps) {
  SmallVector<size_t> ends;
  bool isEmpty = true, isMarked = false;
  for (auto [i, op] : llvm::enumerate(mainOps)) {
    if (isa<pipe::BoundaryOp>(op)) {
      isMarked = !isEmpty;
      continue;
    }
    if (isMarked)
      ends.push_back(i - 1);
    isMarked = isEmpty = false;
  }
  return ends;
}

/// The main ops after which a piece ends, without marks: where the fewest
/// activations are live.
static SmallVector<size_t> findEnds(ArrayRef<Operation *> mainOps,
                                    ArrayRef<Crossing> crossings) {
  SmallVector<size_t> candidates;
  // The ops before the first contraction (an embedding) can be a piece.
  std::optional<size_t> previous;
  if (!mainOps.empty() && !holdsContraction(mainOps.front()))
    previous = 0;
  for (auto [i, op] : llvm::enumerate(mainOps)) {
    if (!holdsContraction(op))
      continue;
    if (previous) {
      size_t best = *previous;
      for (size_t place = *previous; place != i; ++place)
        if (crossings[place].count <= crossings[best].count)
          best = place;
      candidates.push_back(best);
    }
    previous = i;
  }
  SmallVector<size_t> ends;
  for (auto [i, place] : llvm::enumerate(candidates)) {
    unsigned count = crossings[place].count;
    bool belowBefore = i == 0 || count <= crossings[candidates[i - 1]].count;
    bool belowAfter = i + 1 == candidates.size() ||
                      count <= crossings[candidates[i + 1]].count;
    if (belowBefore && belowAfter)
      ends.push_back(place);
  }
  return ends;
}

//===----------------------------------------------------------------------===//
// Fine pieces
//===----------------------------------------------------------------------===//

/// More fine pieces than this slow down the choice of cuts and do not improve
/// it.
static constexpr size_t maxFinePieces = 256;

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

/// Calls `visit` with every float that `op` uses, also in its regions.
static void forEachFloat(Operation *op, llvm::function_ref<void(Value)> visit) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isFloat(operand))
        visit(operand);
  });
}

/// The main ops that carry floats from a parameter to the loss, and gradients
/// back.
static llvm::DenseSet<Operation *>
findDifferentiated(func::FuncOp model, ArrayRef<Operation *> mainOps) {
  Block &body = model.getBody().front();
  llvm::DenseSet<Value> varied, useful;
  for (auto [i, argument] : llvm::enumerate(model.getArguments()))
    if (pipe::isTrainedParam(model, i))
      varied.insert(argument);
  for (Operation &op : body.without_terminator()) {
    bool isVaried = false;
    forEachFloat(&op, [&](Value value) { isVaried |= varied.contains(value); });
    for (Value result : op.getResults())
      if (isVaried && isFloat(result))
        varied.insert(result);
  }
  useful.insert(body.getTerminator()->getOperand(0));
  llvm::DenseSet<Operation *> differentiated;
  for (Operation *op : llvm::reverse(mainOps)) {
    if (llvm::none_of(op->getResults(), [&](Value result) {
          return useful.contains(result) && varied.contains(result);
        }))
      continue;
    differentiated.insert(op);
    forEachFloat(op, [&](Value value) { useful.insert(value); });
  }
  return differentiated;
}

static bool isSendable(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() &&
         tensor.getElementType().isIntOrFloat();
}

/// The main ops after which a value is live that cannot be sent.
static llvm::BitVector findBlocked(ArrayRef<Operation *> mainOps) {
  llvm::DenseMap<Operation *, size_t> position;
  for (auto [i, op] : llvm::enumerate(mainOps))
    position[op] = i;
  llvm::BitVector blocked(mainOps.size());
  for (auto [i, last] : llvm::enumerate(findLastUses(mainOps, position)))
    if (!llvm::all_of(mainOps[i]->getResultTypes(), isSendable))
      blocked.set(i, last);
  return blocked;
}

/// The ends of the fine pieces. `ends` are the ends of the pieces that they
/// divide.
static SmallVector<size_t> refineEnds(func::FuncOp model,
                                      ArrayRef<Operation *> mainOps,
                                      ArrayRef<size_t> ends) {
  llvm::DenseSet<Operation *> differentiated =
      findDifferentiated(model, mainOps);
  llvm::BitVector blocked = findBlocked(mainOps);
  SmallVector<double> costs;
  double total = 0;
  for (Operation *op : mainOps)
    total += costs.emplace_back(estimateNanoseconds(estimateCost(op)));
  double least = mainOps.size() > maxFinePieces ? total / maxFinePieces : 0;
  SmallVector<size_t> refined;
  size_t begin = 0;
  for (size_t end : ends) {
    // The ops left at the end of the piece have to contain a differentiated op,
    // to be a fine piece of their own.
    size_t lastPlace = end;
    while (lastPlace > begin && !differentiated.contains(mainOps[lastPlace]))
      --lastPlace;
    double cost = 0;
    bool isPiece = false;
    for (size_t place = begin; place < lastPlace; ++place) {
      cost += costs[place];
      isPiece |= differentiated.contains(mainOps[place]);
      if (!isPiece || blocked.test(place) || cost < least)
        continue;
      refined.push_back(place);
      cost = 0;
      isPiece = false;
    }
    refined.push_back(end);
    begin = end + 1;
  }
  return refined;
}

SmallVector<Piece> veeline::findPieces(func::FuncOp model, bool isFine) {
  SmallVector<Piece> pieces;
  SmallVector<Operation *> mainOps = findMainOps(model);
  SmallVector<Crossing> crossings = findCrossings(mainOps);
  bool isMarked = llvm::any_of(mainOps, llvm::IsaPred<pipe::BoundaryOp>);
  SmallVector<size_t> ends =
      isMarked ? findMarks(mainOps) : findEnds(mainOps, crossings);
  ends.push_back(mainOps.size() - 1);
  if (isFine && !isMarked && !mainOps.empty())
    ends = refineEnds(model, mainOps, ends);
  size_t begin = 0;
  for (size_t end : ends) {
    if (mainOps.empty())
      break;
    Piece piece;
    for (Operation *op : ArrayRef(mainOps).slice(begin, end + 1 - begin)) {
      if (isa<pipe::BoundaryOp>(op))
        continue;
      piece.ops.push_back(op);
      piece.cost += estimateCost(op);
    }
    piece.bytesAfter = end + 1 == mainOps.size() ? 0 : crossings[end].bytes;
    if (!piece.ops.empty())
      pieces.push_back(std::move(piece));
    begin = end + 1;
  }
  return pieces;
}
