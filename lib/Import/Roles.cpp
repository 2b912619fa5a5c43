//===- Roles.cpp - finding data arguments by their uses -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Roles.h"

#include "Model.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

using namespace mlir;
using namespace veeline;

static int64_t getLeading(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0 ? type.getDimSize(0) : 0;
}

RoleFinder::RoleFinder(func::FuncOp model)
    : model(model), roles(model.getNumArguments(), Role::Unknown) {
  for (BlockArgument argument : model.getArguments()) {
    uses.push_back(isFloatTensor(argument.getType()) ? findUses(argument)
                                                     : Uses());
    for (OpOperand *product : uses.back().products)
      viewed[product] = argument.getArgNumber();
  }
}

/// Whether the argument is already known to be a constant or a buffer.
bool RoleFinder::isSettled(unsigned argument) const {
  return model.getArgAttr(argument, pipe::PipeDialect::constantAttrName) ||
         model.getArgAttr(argument, pipe::PipeDialect::bufferAttrName);
}

/// Whether the argument is of floats, and may be data or a parameter.
bool RoleFinder::isOpen(unsigned argument) const {
  return isFloatTensor(model.getArgument(argument).getType()) &&
         !isSettled(argument);
}

/// The other factor of a product.
static OpOperand &getOther(OpOperand &use) {
  return use.getOwner()->getOpOperand(1 - use.getOperandNumber());
}

/// Whether each sample is multiplied with its own part of `right`, as queries
/// are with keys.
static bool isOfEachSample(OpOperand &right, BlockArgument argument) {
  auto op = cast<linalg::LinalgOp>(right.getOwner());
  auto dimensions = linalg::inferContractionDims(op);
  if (failed(dimensions) || dimensions->batch.empty())
    return false;
  // A weight would be broadcast to the samples, so its leading dimension would
  // be 1.
  return getLeading(right.get()) > 1 &&
         getLeading(right.get()) == getLeading(argument);
}

/// Whether the argument is the right factor of a product whose left factor is
/// not the same argument.
bool RoleFinder::isRight(unsigned argument) const {
  return llvm::any_of(uses[argument].products, [&](OpOperand *use) {
    if (use->getOperandNumber() != 1 ||
        isOfEachSample(*use, model.getArgument(argument)))
      return false;
    auto left = viewed.find(&getOther(*use));
    return left == viewed.end() || left->second != argument;
  });
}

/// Whether the argument is the left factor of a product whose right factor is
/// another argument.
bool RoleFinder::isLeft(unsigned argument) const {
  return llvm::any_of(uses[argument].products, [&](OpOperand *use) {
    if (use->getOperandNumber() != 0)
      return false;
    auto right = viewed.find(&getOther(*use));
    return right != viewed.end() && right->second != argument;
  });
}

//===----------------------------------------------------------------------===//
// Weights as large as the batch
//===----------------------------------------------------------------------===//

/// Whether the argument is data with time as its first dimension and samples as
/// its second: a loop multiplies each step with weights.
bool RoleFinder::isTimeMajor(unsigned argument, int64_t batch) const {
  auto type = dyn_cast<RankedTensorType>(model.getArgumentTypes()[argument]);
  return isOpen(argument) && type.getRank() > 2 &&
         type.getDimSize(1) == batch && isLeft(argument) && !isRight(argument);
}

/// Whether rows of the argument are looked up. If it has only one row, that is
/// the only sample, and the lookup is within it.
bool RoleFinder::isTableOfRows(unsigned argument) const {
  return uses[argument].lookedUp && getLeading(model.getArgument(argument)) > 1;
}

/// Whether the argument is the right factor of a product whose left factor is
/// in `dependent`.
bool RoleFinder::isRightOf(unsigned argument,
                           const llvm::DenseSet<Value> &dependent) const {
  return llvm::any_of(uses[argument].products, [&](OpOperand *use) {
    return use->getOperandNumber() == 1 &&
           !isOfEachSample(*use, model.getArgument(argument)) &&
           dependent.contains(getOther(*use).get());
  });
}

/// Whether the argument is a vector with a number for each sample, such as its
/// time. In each op that combines it with something, its elements run along the
/// first dimension of the result, which is that of samples.
bool RoleFinder::isOfSamples(unsigned argument, int64_t batch) const {
  auto type = dyn_cast<RankedTensorType>(model.getArgumentTypes()[argument]);
  if (!isOpen(argument) || batch < 2 || type.getShape() != ArrayRef(batch) ||
      uses[argument].meetings.empty() || uses[argument].weight)
    return false;
  return llvm::all_of(uses[argument].meetings, [&](OpOperand *use) {
    auto op = dyn_cast<linalg::LinalgOp>(use->getOwner());
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(use->get().getType()).getShape();
    const auto *extent = llvm::find(shape, batch);
    if (!op || op.isDpsInit(use) || extent == shape.end())
      return false;
    AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    AffineExpr dimension = op.getMatchingIndexingMap(use).getResult(
        std::distance(shape.begin(), extent));
    return result.getNumResults() > 1 && result.getResult(0) == dimension;
  });
}

/// Whether an open argument has as many rows as there are samples.
bool RoleFinder::isAsLongAs(unsigned i, int64_t batch) const {
  if (!isOpen(i))
    return false;
  auto type = cast<RankedTensorType>(model.getArgumentTypes()[i]);
  return type.getRank() > 1 && getLeading(model.getArgument(i)) == batch;
}

void RoleFinder::findWeights(int64_t batch) {
  SmallVector<unsigned> inDoubt;
  for (unsigned i = 0; i < roles.size(); ++i) {
    if (isSettled(i))
      continue;
    auto type = dyn_cast<RankedTensorType>(model.getArgumentTypes()[i]);
    bool hasRows = isAsLongAs(i, batch);
    if (hasRows && isTableOfRows(i))
      roles[i] = Role::Weight;
    else if (hasRows && isRight(i))
      inDoubt.push_back(i);
    else if (hasRows || isTimeMajor(i, batch) || isOfSamples(i, batch) ||
             (type && !isOpen(i)))
      roles[i] = Role::Data;
  }
  if (inDoubt.empty())
    return;
  llvm::DenseSet<Value> dependent = findDependent(
      model, [&](unsigned argument) { return roles[argument] == Role::Data; });
  for (unsigned i : inDoubt)
    if (isRightOf(i, dependent))
      roles[i] = Role::Weight;
}

//===----------------------------------------------------------------------===//
// Weights among constants, or among arguments
//===----------------------------------------------------------------------===//

/// The arguments that are data, whatever the other arguments are.
SmallVector<unsigned> RoleFinder::findData(int64_t batch) const {
  if (batch == 0)
    return findSeeds();
  SmallVector<unsigned> data;
  for (unsigned i = 0; i < roles.size(); ++i) {
    if (isSettled(i))
      continue;
    auto type = dyn_cast<RankedTensorType>(model.getArgumentTypes()[i]);
    bool hasRows = isAsLongAs(i, batch);
    if (type &&
        (!isOpen(i) || (hasRows && !isTableOfRows(i)) || isTimeMajor(i, batch)))
      data.push_back(i);
  }
  return data;
}

bool RoleFinder::hasWeights(int64_t batch) const {
  SmallVector<unsigned> data = findData(batch);
  auto isAsLongAsData = [&](Value value) {
    return llvm::any_of(data, [&](unsigned i) {
      return getLeading(value) == getLeading(model.getArgument(i));
    });
  };
  llvm::DenseSet<Value> fromData = findDependent(
      model, [&](unsigned i) { return llvm::is_contained(data, i); });
  llvm::DenseSet<Value> fromOthers = findDependent(model, [&](unsigned i) {
    return isOpen(i) && !isAsLongAsData(model.getArgument(i));
  });
  WalkResult result = model.walk([&](linalg::LinalgOp op) {
    if (op.getNumDpsInputs() < 2 || !isProduct(op))
      return WalkResult::advance();
    Value left = op->getOperand(0), right = op->getOperand(1);
    auto dimensions = linalg::inferContractionDims(op);
    bool isOfEachSample = succeeded(dimensions) && !dimensions->batch.empty() &&
                          getLeading(right) > 1 && isAsLongAsData(right);
    bool isWeight = fromData.contains(left) && !fromData.contains(right) &&
                    fromOthers.contains(right) && !isOfEachSample;
    return isWeight ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Models that return their own loss
//===----------------------------------------------------------------------===//

InFlightDiagnostic RoleFinder::refuse() const {
  return model.emitError("the model returns a scalar, whose shape does not "
                         "tell data from weights, and ");
}

/// The arguments that are certainly data: left factors or, if there are none,
/// those that are not floats.
SmallVector<unsigned> RoleFinder::findSeeds() const {
  SmallVector<unsigned> seeds, others;
  for (unsigned i = 0; i < roles.size(); ++i) {
    if (isOpen(i) && isLeft(i))
      seeds.push_back(i);
    else if (!isSettled(i) && !isFloatTensor(model.getArgumentTypes()[i]) &&
             getLeading(model.getArgument(i)) > 0)
      others.push_back(i);
  }
  return seeds.empty() ? others : seeds;
}

/// Decides on an argument that is not a left factor.
LogicalResult RoleFinder::decide(unsigned argument, int64_t batch,
                                 StringRef name) {
  const Uses &use = uses[argument];
  auto type = cast<RankedTensorType>(model.getArgumentTypes()[argument]);
  if (use.lookedUp || isRight(argument))
    roles[argument] = Role::Weight;
  else if (getLeading(model.getArgument(argument)) != batch ||
           type.getNumElements() < 2)
    return success();
  else if (!use.added && !use.multiplied)
    roles[argument] = Role::Data;
  // A vector that is added is most likely a bias. One that is multiplied might
  // have the weights of the samples.
  else if (type.getRank() > 1 || !use.added)
    return refuse() << "argument " << argument << " (\"" << name << "\", "
                    << type
                    << ") could be either by its use; choose the parameters "
                       "by --params";
  return success();
}

FailureOr<int64_t> RoleFinder::findBatch(ArrayRef<std::string> names) {
  SmallVector<unsigned> seeds = findSeeds();
  if (seeds.empty())
    return refuse() << "no argument is the left operand of a product with "
                       "another one; choose the parameters by --params";
  int64_t batch = getLeading(model.getArgument(seeds.front()));
  for (unsigned seed : seeds) {
    bool isWeight = isOpen(seed) && isRight(seed);
    if (getLeading(model.getArgument(seed)) != batch || isWeight)
      return refuse() << "arguments " << seeds.front() << " (\""
                      << names[seeds.front()] << "\", "
                      << model.getArgumentTypes()[seeds.front()] << ") and "
                      << seed << " (\"" << names[seed] << "\", "
                      << model.getArgumentTypes()[seed]
                      << ") could both be data by their use; choose the "
                         "parameters by --params";
    roles[seed] = Role::Data;
  }
  for (unsigned i = 0; i < roles.size(); ++i)
    if (isOpen(i) && roles[i] == Role::Unknown &&
        failed(decide(i, batch, names[i])))
      return failure();
  return batch;
}
