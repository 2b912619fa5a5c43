//===- Convolution.cpp - convolutions and their adjoints ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Analysis/Convolution.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace veeline;

/// The library has no convolutions with more spatial dimensions than this.
static constexpr size_t maxWindows = 3;

namespace {
/// One term of an index: a loop, and the factor that it is multiplied with.
struct Term {
  unsigned loop;
  int64_t factor;
};

/// Finds out, from the indexing maps of one op, whether and how it is a
/// convolution.
class Matcher {
public:
  explicit Matcher(linalg::LinalgOp op)
      : op(op), maps(op.getIndexingMapsArray()),
        extents(op.getStaticLoopRanges()) {}

  std::optional<Convolution> match();

private:
  bool findImage();
  bool findWindows();
  bool readWindow(AffineExpr index);
  void chooseWeights();
  bool findLoops();
  bool hasRightIterators();
  bool has(unsigned operand, unsigned loop) const {
    return maps[operand].isFunctionOfDim(loop);
  }

  linalg::LinalgOp op;
  SmallVector<AffineMap> maps;
  SmallVector<int64_t> extents;
  Convolution found;
};
} // namespace

/// Reads `loop * factor`, with a positive factor.
static std::optional<Term> readTerm(AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return Term{dim.getPosition(), 1};
  auto product = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!product || product.getKind() != AffineExprKind::Mul)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(product.getLHS());
  auto factor = dyn_cast<AffineConstantExpr>(product.getRHS());
  if (!dim || !factor || factor.getValue() < 1)
    return std::nullopt;
  return Term{dim.getPosition(), factor.getValue()};
}

template <typename ConversionOp> static Value readThrough(Value value) {
  auto conversion = value.getDefiningOp<ConversionOp>();
  return conversion ? conversion.getIn() : value;
}

/// Returns the product that the summand `value` is, if it is one. The product
/// may be extended to the type of the sum. Before that it may be rounded to the
/// type of a factor, as the derivative of an extension does.
static arith::MulFOp findProduct(Value value, Block &body) {
  value = readThrough<arith::ExtFOp>(value);
  bool isOfFactor = llvm::is_contained(llvm::drop_end(body.getArgumentTypes()),
                                       value.getType());
  if (isOfFactor && !value.getType().isF32())
    value = readThrough<arith::TruncFOp>(value);
  return value.getDefiningOp<arith::MulFOp>();
}

/// Whether `op` sums the products of its two inputs and does nothing else but
/// conversions.
static bool sumsProducts(linalg::LinalgOp op) {
  Block &body = *op.getBlock();
  auto isExpected = llvm::IsaPred<arith::MulFOp, arith::AddFOp, arith::ExtFOp,
                                  arith::TruncFOp>;
  if (!llvm::all_of(body.without_terminator(), isExpected))
    return false;
  auto sum = body.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum || !llvm::is_contained(sum->getOperands(), body.getArgument(2)))
    return false;
  Value other =
      sum.getLhs() == body.getArgument(2) ? sum.getRhs() : sum.getLhs();
  arith::MulFOp product = findProduct(other, body);
  if (!product)
    return false;
  Value a = readThrough<arith::ExtFOp>(product.getLhs());
  Value b = readThrough<arith::ExtFOp>(product.getRhs());
  if (a != body.getArgument(0))
    std::swap(a, b);
  return a == body.getArgument(0) && b == body.getArgument(1) &&
         llvm::range_size(body.getOps<arith::MulFOp>()) == 1 &&
         llvm::range_size(body.getOps<arith::AddFOp>()) == 1;
}

/// Finds x: the one operand with an index that is not a single loop.
bool Matcher::findImage() {
  std::optional<unsigned> image;
  for (auto [i, map] : llvm::enumerate(maps)) {
    if (map.isProjectedPermutation())
      continue;
    if (image)
      return false;
    image = i;
  }
  if (!image)
    return false;
  found.x = *image;
  // The other two get an order here; `chooseWeights` may swap them.
  found.w = found.x == 0 ? 1 : 0;
  found.y = 3 - found.x - found.w;
  return true;
}

bool Matcher::readWindow(AffineExpr index) {
  auto sum = dyn_cast<AffineBinaryOpExpr>(index);
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return false;
  std::optional<Term> first = readTerm(sum.getLHS());
  std::optional<Term> second = readTerm(sum.getRHS());
  if (!first || !second)
    return false;
  if (has(found.w, first->loop))
    std::swap(first, second);
  if (!has(found.y, first->loop) || has(found.w, first->loop) ||
      !has(found.w, second->loop) || has(found.y, second->loop))
    return false;
  found.windows.push_back(
      {first->loop, second->loop, first->factor, second->factor});
  return true;
}

bool Matcher::findWindows() {
  llvm::SmallBitVector seen(extents.size());
  for (AffineExpr index : maps[found.x].getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(index)) {
      if (seen.test(dim.getPosition()))
        return false;
      seen.set(dim.getPosition());
      continue;
    }
    if (!readWindow(index))
      return false;
    for (unsigned loop :
         {found.windows.back().output, found.windows.back().kernel}) {
      if (seen.test(loop))
        return false;
      seen.set(loop);
    }
  }
  return !found.windows.empty();
}

/// Decides which of the other operands is y and which is w. The maps do not
/// tell, because either may slide over x along the other. If the first
/// dimension of x is also one of y or w alone, it is the batch, and y is the
/// operand that has it. Otherwise w is the smaller one.
void Matcher::chooseWeights() {
  auto first = dyn_cast<AffineDimExpr>(maps[found.x].getResult(0));
  bool inY = first && has(found.y, first.getPosition());
  bool inW = first && has(found.w, first.getPosition());
  bool swaps = inW && !inY;
  if (inW == inY) {
    int64_t outputs = 1, kernels = 1;
    for (const ConvolutionWindow &window : found.windows) {
      outputs *= extents[window.output];
      kernels *= extents[window.kernel];
    }
    swaps = kernels > outputs;
  }
  if (!swaps)
    return;
  std::swap(found.y, found.w);
  for (ConvolutionWindow &window : found.windows) {
    std::swap(window.output, window.kernel);
    std::swap(window.stride, window.dilation);
  }
}

bool Matcher::findLoops() {
  for (unsigned loop = 0; loop != extents.size(); ++loop) {
    if (llvm::any_of(found.windows, [&](const ConvolutionWindow &window) {
          return window.output == loop || window.kernel == loop;
        }))
      continue;
    bool inX = has(found.x, loop), inW = has(found.w, loop),
         inY = has(found.y, loop);
    std::optional<unsigned> *part = inX && inW && inY ? &found.group
                                    : inX && inY      ? &found.batch
                                    : inX && inW      ? &found.input
                                    : inW && inY      ? &found.output
                                                      : nullptr;
    if (!part || *part)
      return false;
    *part = loop;
  }
  return true;
}

/// Whether the reductions are exactly the loops for which the result has no
/// dimension. Loops of one iteration may be of either kind.
bool Matcher::hasRightIterators() {
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool isDimension =
        findDimension(maps.back(), static_cast<unsigned>(loop)).has_value();
    if (isDimension != (iterator == utils::IteratorType::parallel) &&
        extents[loop] != 1)
      return false;
  }
  return true;
}

std::optional<Convolution> Matcher::match() {
  if (!findImage() || !findWindows())
    return std::nullopt;
  chooseWeights();
  if (!findLoops() || !hasRightIterators())
    return std::nullopt;
  found.kind = found.y == 2   ? ConvolutionKind::Forward
               : found.x == 2 ? ConvolutionKind::BackwardData
                              : ConvolutionKind::BackwardWeights;
  return found;
}

std::optional<unsigned> veeline::findDimension(AffineMap map,
                                               std::optional<unsigned> loop) {
  if (!loop)
    return std::nullopt;
  return map.getResultPosition(getAffineDimExpr(*loop, map.getContext()));
}

unsigned veeline::findDimension(AffineMap map,
                                const ConvolutionWindow &window) {
  for (auto [i, index] : llvm::enumerate(map.getResults()))
    if (!isa<AffineDimExpr>(index) && index.isFunctionOfDim(window.output))
      return i;
  llvm_unreachable("a window runs through a dimension of x");
}

std::optional<Convolution> veeline::matchConvolution(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() == 0 || op.hasDynamicShape() ||
      !sumsProducts(op))
    return std::nullopt;
  return Matcher(op).match();
}

/// Whether the channels of a group are the dimension after that of the groups,
/// or there is only one of these two dimensions.
static bool hasGroupsOutside(AffineMap map, std::optional<unsigned> group,
                             std::optional<unsigned> channel) {
  std::optional<unsigned> outer = findDimension(map, group);
  std::optional<unsigned> inner = findDimension(map, channel);
  return !outer || !inner || *outer + 1 == *inner;
}

/// Whether less than one stride of x is left after the last window.
static bool reachesEnd(linalg::LinalgOp op, const Convolution &convolution) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  OpOperand &x = op->getOpOperand(convolution.x);
  for (const ConvolutionWindow &window : convolution.windows) {
    int64_t reached = (extents[window.output] - 1) * window.stride +
                      (extents[window.kernel] - 1) * window.dilation + 1;
    unsigned dimension = findDimension(op.getMatchingIndexingMap(&x), window);
    if (op.getShape(&x)[dimension] - reached >= window.stride)
      return false;
  }
  return true;
}

/// Whether the library of `target` supports the types of both factors and of
/// their sum.
static bool hasLibraryTypes(linalg::LinalgOp op, KernelTarget target) {
  SmallVector<Type> types;
  for (Type type : op->getOperandTypes()) {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || shaped.getNumElements() == 0)
      return false;
    types.push_back(shaped.getElementType());
  }
  if (llvm::all_equal(types) && types[0].isF32())
    return true;
  auto isFloat = [](Type type) {
    return type.isF32() || type.isF16() || type.isBF16();
  };
  return target == KernelTarget::Cuda && llvm::all_of(types, isFloat) &&
         (types[2].isF32() || llvm::all_equal(types));
}

bool veeline::isLibraryConvolution(linalg::LinalgOp op, KernelTarget target) {
  std::optional<Convolution> found = matchConvolution(op);
  if (!found || found->windows.size() > maxWindows)
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  return hasLibraryTypes(op, target) && reachesEnd(op, *found) &&
         hasGroupsOutside(maps[found->x], found->group, found->input) &&
         hasGroupsOutside(maps[found->y], found->group, found->output);
}

bool veeline::isReadByLibraryConvolution(OpOperand &use) {
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  return op && isLibraryConvolution(op, KernelTarget::Cuda) &&
         op.isDpsInput(&use) &&
         matchConvolution(op)->x == use.getOperandNumber();
}

bool veeline::isReadByLibraryConvolutions(Value value) {
  return !value.use_empty() &&
         llvm::all_of(value.getUses(), isReadByLibraryConvolution);
}

void veeline::separateLibraryUses(Value value,
                                  llvm::function_ref<Value(OpBuilder &)> copy) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    if (isReadByLibraryConvolution(use))
      uses.push_back(&use);
  if (uses.empty() || llvm::hasNItems(value.getUses(), uses.size()))
    return;
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  Value own = copy(builder);
  for (OpOperand *use : uses)
    use->set(own);
}

bool veeline::isLibraryPadding(tensor::PadOp pad) {
  Value padding = pad.getConstantPaddingValue();
  return padding && matchPattern(padding, m_AnyZeroFloat()) &&
         isReadByLibraryConvolutions(pad.getResult());
}

bool veeline::isInsideOfLibraryPadding(tensor::ExtractSliceOp slice) {
  auto op = slice.getSource().getDefiningOp<linalg::LinalgOp>();
  return op && slice.getSource().hasOneUse() &&
         isLibraryConvolution(op, KernelTarget::Cuda) &&
         matchConvolution(op)->kind == ConvolutionKind::BackwardData;
}
