//===- StructuredSamples.cpp - structured ops on several samples ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A structured op on N samples needs a loop over them. If one parallel loop
// runs over the dimension of samples in all tensors that have samples, this
// loop gets N times as many iterations, and the op stays as it is. Otherwise a
// loop is added around the others. Examples are a product of two matrices that
// both have samples, and a sum over the dimension of samples.
//===----------------------------------------------------------------------===//

#include "Samples.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace veeline;

namespace {
class StructuredSamples {
public:
  StructuredSamples(linalg::LinalgOp op, Samples &samples)
      : op(op), samples(samples), maps(op.getIndexingMapsArray()) {}

  LogicalResult run();

private:
  int64_t innerExtent(OpOperand &operand);
  std::optional<unsigned> loopOf(OpOperand &operand);
  bool readsFirst(OpOperand &operand);
  bool isAlone(OpOperand &operand, unsigned candidate);
  bool suits(unsigned candidate, ArrayRef<OpOperand *> operands);
  bool chooseLoop();
  std::optional<unsigned> guessLoop();
  bool changesMaps();
  LogicalResult extendLoop();
  void addToInput(OpOperand &operand);
  void addToInit(OpOperand &operand);
  LogicalResult addLoop();
  Value widenOperand(OpBuilder &builder, OpOperand &operand);
  LogicalResult generalize();
  LogicalResult rewriteBody();
  void rewriteIndices();
  void rewriteExtract(tensor::ExtractOp extract, unsigned dimension);
  Value sampleOf(OpBuilder builder);
  AffineMap &mapOf(OpOperand &operand) {
    return maps[operand.getOperandNumber()];
  }
  AffineExpr loopExpr(unsigned position) {
    return getAffineDimExpr(position, op.getContext());
  }
  bool hasSamples(OpOperand &operand) {
    return samples.dimensionOf(operand.get()).has_value();
  }
  /// The dimension of the operand that the loop runs over.
  std::optional<unsigned> findPosition(OpOperand &operand, unsigned candidate) {
    return mapOf(operand).getResultPosition(loopExpr(candidate));
  }

  linalg::LinalgOp op;
  Samples &samples;
  SmallVector<AffineMap> maps;
  /// The loop that runs over samples, and its extent for one sample.
  unsigned loop = 0;
  int64_t extent = 1;
};
} // namespace

static int64_t dimensionSize(Value value, unsigned dimension) {
  return cast<RankedTensorType>(value.getType()).getDimSize(dimension);
}

//===----------------------------------------------------------------------===//
// The loop over samples
//===----------------------------------------------------------------------===//

int64_t StructuredSamples::innerExtent(OpOperand &operand) {
  return dimensionSize(operand.get(), *samples.dimensionOf(operand.get())) /
         samples.getSize();
}

/// The loop over the samples of the operand, if there is one.
std::optional<unsigned> StructuredSamples::loopOf(OpOperand &operand) {
  if (samples.isScalar(operand.get()))
    return std::nullopt;
  auto index = dyn_cast<AffineDimExpr>(
      mapOf(operand).getResult(*samples.dimensionOf(operand.get())));
  return index ? std::optional(index.getPosition()) : std::nullopt;
}

/// Whether one sample has extent 1 in the dimension of samples, and the op
/// reads the operand there at 0 only. Then any loop can run over the samples.
bool StructuredSamples::readsFirst(OpOperand &operand) {
  if (samples.isScalar(operand.get()))
    return true;
  AffineExpr expr =
      mapOf(operand).getResult(*samples.dimensionOf(operand.get()));
  return isa<AffineConstantExpr>(expr) && innerExtent(operand) == 1;
}

/// Whether the loop runs over only one dimension of the operand, or over none.
bool StructuredSamples::isAlone(OpOperand &operand, unsigned candidate) {
  unsigned count =
      llvm::count_if(mapOf(operand).getResults(), [&](AffineExpr expr) {
        return expr.isFunctionOfDim(candidate);
      });
  return count == 0 || (count == 1 && findPosition(operand, candidate));
}

/// Whether a loop can run over the samples of all operands that have samples.
/// For that, these have to be in the dimension of the loop, or movable to it.
bool StructuredSamples::suits(unsigned candidate,
                              ArrayRef<OpOperand *> operands) {
  return op.getIteratorTypesArray()[candidate] ==
             utils::IteratorType::parallel &&
         llvm::all_of(
             op->getOpOperands(),
             [&](OpOperand &operand) { return isAlone(operand, candidate); }) &&
         llvm::all_of(op.getDpsInitsMutable(),
                      [&](OpOperand &init) {
                        return findPosition(init, candidate).has_value();
                      }) &&
         llvm::all_of(operands, [&](OpOperand *operand) {
           return readsFirst(*operand) ||
                  (loopOf(*operand) &&
                   findPosition(*operand, candidate).has_value());
         });
}

/// Chooses a loop if no operand determines it: one over a dimension of extent
/// 1.
std::optional<unsigned> StructuredSamples::guessLoop() {
  OpOperand *init = op.getDpsInitOperand(0);
  for (auto [i, expr] : llvm::enumerate(mapOf(*init).getResults())) {
    auto index = dyn_cast<AffineDimExpr>(expr);
    if (index && dimensionSize(init->get(), i) == 1 &&
        suits(index.getPosition(), {}))
      return index.getPosition();
  }
  return std::nullopt;
}

/// Chooses the first loop over samples of an operand that suits all operands,
/// and moves the samples of the others to its dimension. Returns whether there
/// is one.
bool StructuredSamples::chooseLoop() {
  SmallVector<OpOperand *> operands;
  for (OpOperand &operand : op->getOpOperands())
    if (hasSamples(operand))
      operands.push_back(&operand);
  if (llvm::all_of(operands,
                   [&](OpOperand *operand) { return readsFirst(*operand); })) {
    std::optional<unsigned> guess = guessLoop();
    loop = guess.value_or(0);
    return guess.has_value();
  }
  for (OpOperand *operand : operands) {
    std::optional<unsigned> candidate = loopOf(*operand);
    if (!candidate || !suits(*candidate, operands))
      continue;
    loop = *candidate;
    extent = innerExtent(*operand);
    for (OpOperand *other : operands)
      if (!readsFirst(*other))
        samples.move(*other, *findPosition(*other, loop));
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// An extended loop
//===----------------------------------------------------------------------===//

/// Converts a named op to a generic one, so that its maps can change.
LogicalResult StructuredSamples::generalize() {
  if (isa<linalg::GenericOp>(op.getOperation()))
    return success();
  IRRewriter rewriter(op->getContext());
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::GenericOp> generic =
      linalg::generalizeNamedOp(rewriter, op);
  if (failed(generic))
    return Samples::refuse(op, "it has no place for a loop over samples");
  op = *generic;
  return success();
}

/// Drops a dimension of extent 1 of an input that is the same for all samples.
static void dropDimension(OpOperand &operand, unsigned dimension,
                          AffineMap &map) {
  OpBuilder builder(operand.getOwner());
  auto type = cast<RankedTensorType>(operand.get().getType());
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices pending;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    pending.push_back(i);
    bool isLast = i + 1 == type.getRank();
    if (i == dimension && !isLast)
      continue;
    if (i == dimension && !groups.empty())
      groups.back().append(pending);
    else if (i != dimension)
      groups.push_back(pending);
    pending.clear();
  }
  operand.set(tensor::CollapseShapeOp::create(builder, operand.get().getLoc(),
                                              operand.get(), groups));
  map = map.dropResult(dimension);
}

void StructuredSamples::addToInput(OpOperand &operand) {
  AffineMap &map = mapOf(operand);
  std::optional<unsigned> dimension = samples.dimensionOf(operand.get());
  if (!dimension) {
    std::optional<unsigned> position = findPosition(operand, loop);
    if (!position)
      return; // The operand is a weight.
    if (extent == 1)
      dropDimension(operand, *position, map);
    else
      samples.ensure(operand, *position);
    return;
  }
  SmallVector<AffineExpr> results(map.getResults());
  if (samples.isScalar(operand.get()))
    results.push_back(loopExpr(loop));
  results[*dimension] = loopExpr(loop);
  map = AffineMap::get(map.getNumDims(), 0, results, op.getContext());
  // One element for each sample is repeated to `extent` elements.
  if (innerExtent(operand) != extent) {
    OpBuilder builder(op);
    Value wide =
        samples.repeatAlong(builder, operand.get(), *dimension + 1, extent);
    operand.set(Samples::merge(builder, wide, *dimension));
    samples.set(operand.get(), *dimension);
  }
}

void StructuredSamples::addToInit(OpOperand &operand) {
  unsigned position = *findPosition(operand, loop);
  samples.ensure(operand, position);
  Value result = op.getTiedOpResult(&operand);
  result.setType(operand.get().getType());
  samples.set(result, position);
}

bool StructuredSamples::changesMaps() {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    if (!isa<RankedTensorType>(operand->get().getType()))
      return false;
    auto dimension = samples.dimensionOf(operand->get());
    auto position = findPosition(*operand, loop);
    return dimension ? position != dimension
                     : extent == 1 && position.has_value();
  });
}

LogicalResult StructuredSamples::extendLoop() {
  if (changesMaps() && failed(generalize()))
    return failure();
  for (OpOperand *operand : op.getDpsInputOperands())
    if (isa<RankedTensorType>(operand->get().getType()))
      addToInput(*operand);
  for (OpOperand &operand : op.getDpsInitsMutable())
    addToInit(operand);
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic)
    return success();
  generic.setIndexingMapsAttr(
      Builder(op.getContext()).getAffineMapArrayAttr(maps));
  rewriteIndices();
  return rewriteBody();
}

//===----------------------------------------------------------------------===//
// An additional loop
//===----------------------------------------------------------------------===//

/// Gives the operand a first dimension for the new loop.
Value StructuredSamples::widenOperand(OpBuilder &builder, OpOperand &operand) {
  AffineMap &map = mapOf(operand);
  map = map.shiftDims(1);
  bool isInit = op.isDpsInit(&operand);
  if (!isInit && !hasSamples(operand))
    return operand.get();
  bool isFirst = isInit || samples.isScalar(operand.get());
  unsigned position = isFirst ? 0 : *samples.dimensionOf(operand.get());
  map = map.insertResult(loopExpr(0), position);
  return samples.widen(builder, operand.get(), position);
}

LogicalResult StructuredSamples::addLoop() {
  if (failed(generalize()))
    return failure();
  auto generic = cast<linalg::GenericOp>(op.getOperation());
  OpBuilder builder(op);
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands())
    operands.push_back(widenOperand(builder, operand));
  auto [inputs, inits] =
      std::pair(ArrayRef(operands).drop_back(op.getNumDpsInits()),
                ArrayRef(operands).take_back(op.getNumDpsInits()));
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  iterators.insert(iterators.begin(), utils::IteratorType::parallel);
  auto wide = linalg::GenericOp::create(builder, op.getLoc(), TypeRange(inits),
                                        inputs, inits, maps, iterators);
  wide.getRegion().takeBody(generic.getRegion());
  wide.walk([](linalg::IndexOp index) { index.setDim(index.getDim() + 1); });
  for (auto [old, result] : llvm::zip(op->getResults(), wide.getResults()))
    old.replaceAllUsesWith(samples.narrow(builder, result, 0));
  op->erase();
  op = wide;
  return rewriteBody();
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

/// The number of the sample in an iteration. The ops that compute it are in the
/// body itself, not in a branch of it.
Value StructuredSamples::sampleOf(OpBuilder builder) {
  if (builder.getInsertionBlock() != op.getBlock())
    builder.setInsertionPointToStart(op.getBlock());
  Value index = linalg::IndexOp::create(builder, op.getLoc(), loop);
  if (extent == 1)
    return index;
  Value one = arith::ConstantIndexOp::create(builder, op.getLoc(), extent);
  return arith::DivUIOp::create(builder, op.getLoc(), index, one);
}

void StructuredSamples::rewriteExtract(tensor::ExtractOp extract,
                                       unsigned dimension) {
  OpBuilder builder(extract);
  Value index = sampleOf(builder);
  if (samples.isScalar(extract.getTensor())) {
    extract.getIndicesMutable().assign(index);
    return;
  }
  int64_t inner =
      dimensionSize(extract.getTensor(), dimension) / samples.getSize();
  if (inner != 1) {
    Value one = arith::ConstantIndexOp::create(builder, op.getLoc(), inner);
    Value begin = arith::MulIOp::create(builder, op.getLoc(), index, one);
    index = arith::AddIOp::create(builder, op.getLoc(), begin,
                                  extract.getIndices()[dimension]);
  }
  extract.getIndicesMutable()[dimension].set(index);
}

/// Makes the indices of a loop over samples relative to one sample again.
void StructuredSamples::rewriteIndices() {
  SmallVector<linalg::IndexOp> indices;
  op->walk([&](linalg::IndexOp index) {
    if (index.getDim() == loop)
      indices.push_back(index);
  });
  for (linalg::IndexOp index : indices) {
    OpBuilder builder(index);
    builder.setInsertionPointAfter(index);
    Value number = arith::ConstantIndexOp::create(builder, index.getLoc(),
                                                  extent == 1 ? 0 : extent);
    if (extent != 1) {
      number = arith::RemUIOp::create(builder, index.getLoc(), index, number);
      index.getResult().replaceAllUsesExcept(number, number.getDefiningOp());
    } else {
      index.getResult().replaceAllUsesWith(number);
      index.erase();
    }
  }
}

/// Makes the body read its own sample of each tensor with samples.
LogicalResult StructuredSamples::rewriteBody() {
  SmallVector<Operation *> users;
  op.getBlock()->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (samples.dimensionOf(operand)) {
        users.push_back(inner);
        break;
      }
  });
  for (Operation *user : users) {
    auto extract = dyn_cast<tensor::ExtractOp>(user);
    if (!extract)
      return Samples::refuse(user, "it uses all samples at each point");
    rewriteExtract(extract, *samples.dimensionOf(extract.getTensor()));
  }
  return success();
}

LogicalResult StructuredSamples::run() {
  return chooseLoop() ? extendLoop() : addLoop();
}

LogicalResult veeline::addSamples(linalg::LinalgOp op, Samples &samples) {
  return StructuredSamples(op, samples).run();
}
