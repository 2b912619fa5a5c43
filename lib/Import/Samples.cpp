//===- Samples.cpp - values with several samples --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Samples.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace veeline;

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

LogicalResult Samples::refuse(Operation *op, const Twine &why) {
  InFlightDiagnostic diagnostic =
      op->emitError("'") << op->getName().getStringRef()
                         << "' does not allow several samples in a microbatch: "
                         << why;
  diagnostic.attachNote() << "one sample per microbatch works: leave the "
                             "option 'microbatch-size' out";
  return diagnostic;
}

std::optional<unsigned> Samples::dimensionOf(Value value) const {
  auto it = dimensions.find(value);
  return it == dimensions.end() ? std::nullopt : std::optional(it->second);
}

RankedTensorType Samples::scale(RankedTensorType type,
                                unsigned dimension) const {
  SmallVector<int64_t> shape(type.getShape());
  shape[dimension] *= size;
  return type.clone(shape);
}

void Samples::scale(Value value, unsigned dimension) {
  value.setType(scale(cast<RankedTensorType>(value.getType()), dimension));
  set(value, dimension);
}

void Samples::replace(Operation *op, Value value, unsigned dimension) {
  set(value, dimension);
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}

void Samples::ensure(OpOperand &operand, unsigned dimension) {
  if (!dimensionOf(operand.get()))
    operand.set(repeat(operand.get(), dimension));
}

bool Samples::isReshape(Value value, unsigned to) const {
  unsigned from = *dimensionOf(value);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  for (unsigned i = std::min(from, to); i < std::max(from, to); ++i)
    if (shape[i] != (i == from ? size : 1))
      return false;
  return true;
}

/// Merges the dimensions from the one to the other, and splits them again.
Value Samples::reshape(OpBuilder &builder, Value value, unsigned to) const {
  unsigned from = *dimensionOf(value);
  auto type = cast<RankedTensorType>(value.getType());
  unsigned first = std::min(from, to), last = std::max(from, to);
  SmallVector<int64_t> merged, shape(type.getShape());
  SmallVector<ReassociationIndices> groups;
  for (unsigned i = 0; i < shape.size(); ++i) {
    if (i > first && i <= last) {
      groups.back().push_back(i);
      merged.back() *= shape[i];
    } else {
      groups.push_back({i});
      merged.push_back(shape[i]);
    }
  }
  shape[from] /= size;
  shape[to] *= size;
  Value flat = tensor::CollapseShapeOp::create(
      builder, value.getLoc(), type.clone(merged), value, groups);
  return tensor::ExpandShapeOp::create(builder, value.getLoc(),
                                       type.clone(shape), flat, groups);
}

/// Groups of which one, `at`, has two dimensions.
static SmallVector<ReassociationIndices> groupsWithPair(int64_t rank,
                                                        unsigned at) {
  SmallVector<ReassociationIndices> groups(rank);
  for (int64_t i = 0; i <= rank; ++i)
    groups[i <= at ? i : i - 1].push_back(i);
  return groups;
}

Value Samples::split(OpBuilder &builder, Value value) const {
  unsigned dimension = *dimensionOf(value);
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dimension] /= size;
  shape.insert(shape.begin() + dimension, size);
  return tensor::ExpandShapeOp::create(
      builder, value.getLoc(), type.clone(shape), value,
      groupsWithPair(type.getRank(), dimension));
}

Value Samples::merge(OpBuilder &builder, Value value, unsigned dimension) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank() - 1;
  return tensor::CollapseShapeOp::create(builder, value.getLoc(), value,
                                         groupsWithPair(rank, dimension));
}

/// Splits the samples off, moves them, and merges them again.
Value Samples::transpose(OpBuilder &builder, Value value, unsigned to) const {
  unsigned from = *dimensionOf(value);
  Value wide = split(builder, value);
  auto type = cast<RankedTensorType>(wide.getType());
  SmallVector<int64_t> order, moved;
  for (int64_t i = 0; i + 1 < type.getRank(); ++i) {
    if (i == to)
      order.push_back(from);
    order.push_back(i < from ? i : i + 1);
  }
  for (int64_t dimension : order)
    moved.push_back(type.getDimSize(dimension));
  Value empty = tensor::EmptyOp::create(builder, value.getLoc(),
                                        type.clone(moved), ValueRange());
  Value result =
      linalg::TransposeOp::create(builder, value.getLoc(), wide, empty, order)
          ->getResult(0);
  return merge(builder, result, to);
}

void Samples::move(OpOperand &operand, unsigned to) {
  if (dimensionOf(operand.get()) == to)
    return;
  OpBuilder builder(operand.getOwner());
  Value value = operand.get();
  operand.set(isReshape(value, to) ? reshape(builder, value, to)
                                   : transpose(builder, value, to));
  set(operand.get(), to);
}

/// A generic that reads its input at all points of the result.
static Value broadcast(OpBuilder &builder, Location location, Value input,
                       RankedTensorType type, AffineMap map) {
  Value empty = tensor::EmptyOp::create(builder, location, type, ValueRange());
  SmallVector<AffineMap> maps{map,
                              builder.getMultiDimIdentityMap(type.getRank())};
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, location, type, input, empty, maps, iterators,
             [](OpBuilder &inner, Location at, ValueRange arguments) {
               linalg::YieldOp::create(inner, at, arguments[0]);
             })
      .getResult(0);
}

/// Repeats `value` along a new dimension `at`, which is then merged with the
/// next one, where that is `dimension`, or the one before.
static Value repeatAlong(OpBuilder &builder, Value value, unsigned at,
                         unsigned dimension, int64_t size) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rank = type.getRank();
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + at, size);
  SmallVector<AffineExpr> read;
  for (int64_t i = 0; i < rank; ++i)
    read.push_back(builder.getAffineDimExpr(i < at ? i : i + 1));
  Value wide =
      broadcast(builder, value.getLoc(), value, type.clone(shape),
                AffineMap::get(rank + 1, 0, read, builder.getContext()));
  return Samples::merge(builder, wide, dimension);
}

Value Samples::repeat(Value value, unsigned dimension) {
  Value &known = repeated[{value, dimension}];
  if (known)
    return known;
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  RankedTensorType type =
      scale(cast<RankedTensorType>(value.getType()), dimension);
  Location location = value.getLoc();
  Value result;
  Operation *op = value.getDefiningOp();
  SplatElementsAttr splat;
  if (isa_and_nonnull<tensor::EmptyOp>(op)) {
    result = tensor::EmptyOp::create(builder, location, type, ValueRange());
  } else if (auto fill = dyn_cast_or_null<linalg::FillOp>(op)) {
    Value empty =
        tensor::EmptyOp::create(builder, location, type, ValueRange());
    result =
        linalg::FillOp::create(builder, location, fill.getInputs()[0], empty)
            .getResult(0);
  } else if (op && matchPattern(op, m_Constant(&splat))) {
    result = arith::ConstantOp::create(builder, location, type,
                                       splat.resizeSplat(type));
  } else {
    result = repeatAlong(builder, value, dimension, dimension, size);
  }
  set(result, dimension);
  return repeated[{value, dimension}] = result;
}

//===----------------------------------------------------------------------===//
// Structured ops
//===----------------------------------------------------------------------===//

namespace {
class StructuredSamples {
public:
  StructuredSamples(linalg::LinalgOp op, Samples &samples)
      : op(op), samples(samples), maps(op.getIndexingMapsArray()) {}

  LogicalResult run();

private:
  LogicalResult findLoop();
  int64_t innerExtent(OpOperand &operand);
  std::optional<unsigned> loopOf(OpOperand &operand);
  LogicalResult verifyOperand(OpOperand &operand);
  bool canUse(OpOperand &operand, unsigned candidate);
  LogicalResult chooseLoop(ArrayRef<OpOperand *> operands);
  LogicalResult guessLoop();
  LogicalResult verifyMaps();
  LogicalResult addToInput(OpOperand &operand);
  LogicalResult addToInit(OpOperand &operand);
  void generalize();
  LogicalResult rewriteBody();
  LogicalResult rewriteExtract(tensor::ExtractOp extract, unsigned dimension);
  Value sampleOf(OpBuilder &builder);
  AffineMap &mapOf(OpOperand &operand) {
    return maps[operand.getOperandNumber()];
  }
  /// The dimension of the operand that the loop runs over.
  std::optional<unsigned> findPosition(OpOperand &operand) {
    for (auto [i, expr] : llvm::enumerate(mapOf(operand).getResults()))
      if (expr == getAffineDimExpr(*loop, op.getContext()))
        return i;
    return std::nullopt;
  }
  LogicalResult refuse(const Twine &why) { return Samples::refuse(op, why); }

  linalg::LinalgOp op;
  Samples &samples;
  SmallVector<AffineMap> maps;
  /// The loop that runs over samples, and its extent for one.
  std::optional<unsigned> loop;
  int64_t extent = 1;
};
} // namespace

static int64_t dimensionSize(Value value, unsigned dimension) {
  return cast<RankedTensorType>(value.getType()).getDimSize(dimension);
}

int64_t StructuredSamples::innerExtent(OpOperand &operand) {
  return dimensionSize(operand.get(), *samples.dimensionOf(operand.get())) /
         samples.getSize();
}

/// The loop over the samples of the operand; none where it reads them at 0 of
/// 1, so that any loop may run over them.
std::optional<unsigned> StructuredSamples::loopOf(OpOperand &operand) {
  auto index = dyn_cast<AffineDimExpr>(
      mapOf(operand).getResult(*samples.dimensionOf(operand.get())));
  return index ? std::optional(index.getPosition()) : std::nullopt;
}

LogicalResult StructuredSamples::verifyOperand(OpOperand &operand) {
  AffineExpr expr =
      mapOf(operand).getResult(*samples.dimensionOf(operand.get()));
  if (isa<AffineDimExpr>(expr) ||
      (isa<AffineConstantExpr>(expr) && innerExtent(operand) == 1))
    return success();
  return refuse("it does not run over samples one by one");
}

/// Whether the samples of the operand are, or can be moved to, where
/// `candidate` runs.
bool StructuredSamples::canUse(OpOperand &operand, unsigned candidate) {
  std::optional<unsigned> own = loopOf(operand);
  if (!own || *own == candidate)
    return true;
  loop = candidate;
  return findPosition(operand).has_value();
}

/// The first loop over samples of an operand that suits all others.
LogicalResult StructuredSamples::chooseLoop(ArrayRef<OpOperand *> operands) {
  bool isAny = true;
  for (OpOperand *operand : operands) {
    std::optional<unsigned> candidate = loopOf(*operand);
    isAny &= !candidate;
    if (!candidate || !llvm::all_of(operands, [&](OpOperand *other) {
          return canUse(*other, *candidate);
        }))
      continue;
    loop = candidate;
    extent = innerExtent(*operand);
    for (OpOperand *other : operands)
      if (loopOf(*other) && loopOf(*other) != candidate)
        samples.move(*other, *findPosition(*other));
    return success();
  }
  return isAny ? guessLoop() : refuse("two of its loops run over samples");
}

/// Where nothing says which loop it is: one over the dimension of a result of
/// extent 1.
LogicalResult StructuredSamples::guessLoop() {
  OpOperand *init = op.getDpsInitOperand(0);
  for (auto [i, expr] : llvm::enumerate(mapOf(*init).getResults())) {
    auto index = dyn_cast<AffineDimExpr>(expr);
    if (!index || dimensionSize(init->get(), i) != 1)
      continue;
    loop = index.getPosition();
    return success();
  }
  return refuse("no dimension of its result can have the samples");
}

LogicalResult StructuredSamples::findLoop() {
  SmallVector<OpOperand *> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()) ||
        !samples.dimensionOf(operand.get()))
      continue;
    if (failed(verifyOperand(operand)))
      return failure();
    operands.push_back(&operand);
  }
  if (failed(chooseLoop(operands)))
    return failure();
  if (op.getIteratorTypesArray()[*loop] != utils::IteratorType::parallel)
    return refuse("it reduces the dimension of samples");
  return success();
}

/// Maps of named ops are part of what they are.
void StructuredSamples::generalize() {
  if (isa<linalg::GenericOp>(op.getOperation()))
    return;
  IRRewriter rewriter(op->getContext());
  rewriter.setInsertionPoint(op);
  auto generic = linalg::generalizeNamedOp(rewriter, op);
  if (succeeded(generic))
    op = *generic;
}

/// An input that is the same for all samples loses its dimension of extent 1.
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

LogicalResult StructuredSamples::addToInput(OpOperand &operand) {
  if (auto dimension = samples.dimensionOf(operand.get())) {
    AffineMap &map = mapOf(operand);
    // One for each sample, where the loop runs over more.
    if (innerExtent(operand) != extent) {
      OpBuilder builder(op);
      operand.set(repeatAlong(builder, operand.get(), *dimension + 1,
                              *dimension, extent));
      samples.set(operand.get(), *dimension);
    }
    SmallVector<AffineExpr> results(map.getResults());
    results[*dimension] = getAffineDimExpr(*loop, op.getContext());
    map = AffineMap::get(map.getNumDims(), 0, results, op.getContext());
    return success();
  }
  std::optional<unsigned> position = findPosition(operand);
  if (!position)
    return success(); // A weight.
  if (extent == 1)
    dropDimension(operand, *position, mapOf(operand));
  else
    samples.ensure(operand, *position);
  return success();
}

LogicalResult StructuredSamples::addToInit(OpOperand &operand) {
  std::optional<unsigned> position = findPosition(operand);
  if (!position)
    return refuse("a result has no dimension for samples");
  samples.ensure(operand, *position);
  Value result = op.getTiedOpResult(&operand);
  result.setType(operand.get().getType());
  samples.set(result, *position);
  return success();
}

/// The number of the sample at a point.
Value StructuredSamples::sampleOf(OpBuilder &builder) {
  Value index = linalg::IndexOp::create(builder, op.getLoc(), *loop);
  if (extent == 1)
    return index;
  Value one = arith::ConstantIndexOp::create(builder, op.getLoc(), extent);
  return arith::DivUIOp::create(builder, op.getLoc(), index, one);
}

LogicalResult StructuredSamples::rewriteExtract(tensor::ExtractOp extract,
                                                unsigned dimension) {
  OpBuilder builder(extract);
  int64_t inner =
      dimensionSize(extract.getTensor(), dimension) / samples.getSize();
  Value index = sampleOf(builder);
  if (inner != 1) {
    Value one = arith::ConstantIndexOp::create(builder, op.getLoc(), inner);
    Value begin = arith::MulIOp::create(builder, op.getLoc(), index, one);
    index = arith::AddIOp::create(builder, op.getLoc(), begin,
                                  extract.getIndices()[dimension]);
  }
  extract.getIndicesMutable()[dimension].set(index);
  return success();
}

/// What the body knows of the loop is its index in one sample.
LogicalResult StructuredSamples::rewriteBody() {
  Block *body = op.getBlock();
  SmallVector<linalg::IndexOp> indices;
  for (auto index : body->getOps<linalg::IndexOp>())
    if (index.getDim() == *loop)
      indices.push_back(index);
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
  SmallVector<Operation *> users;
  body->walk([&](Operation *inner) {
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
    if (failed(
            rewriteExtract(extract, *samples.dimensionOf(extract.getTensor()))))
      return failure();
  }
  return success();
}

/// Every tensor has the loop in one dimension alone, or in none.
LogicalResult StructuredSamples::verifyMaps() {
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned count =
        llvm::count_if(mapOf(operand).getResults(), [&](AffineExpr expr) {
          return expr.isFunctionOfDim(*loop);
        });
    if (count > 1 || (count == 1 && !findPosition(operand)))
      return refuse("it reads neighbours of samples");
  }
  return success();
}

LogicalResult StructuredSamples::run() {
  if (failed(findLoop()) || failed(verifyMaps()))
    return failure();
  bool changesMaps =
      llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
        if (!isa<RankedTensorType>(operand->get().getType()))
          return false;
        auto dimension = samples.dimensionOf(operand->get());
        return dimension ? findPosition(*operand) != dimension
                         : extent == 1 && findPosition(*operand).has_value();
      });
  if (changesMaps)
    generalize();
  for (OpOperand *operand : op.getDpsInputOperands())
    if (isa<RankedTensorType>(operand->get().getType()) &&
        failed(addToInput(*operand)))
      return failure();
  for (OpOperand &operand : op.getDpsInitsMutable())
    if (failed(addToInit(operand)))
      return failure();
  if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation())) {
    generic.setIndexingMapsAttr(
        Builder(op.getContext()).getAffineMapArrayAttr(maps));
    return rewriteBody();
  }
  return success();
}

LogicalResult veeline::addSamples(linalg::LinalgOp op, Samples &samples) {
  return StructuredSamples(op, samples).run();
}
