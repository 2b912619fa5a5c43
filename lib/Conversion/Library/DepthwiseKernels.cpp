//===- DepthwiseKernels.cpp - kernels of depthwise convolutions -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each element of y, and of the gradient of x, is a sum of a few products, and
// one op contains all of them: a thread has an element, or the channels of one
// access. The gradient of the weights is a sum over all samples and windows. It
// is computed in two steps: first over the rows of a sample, then over the
// rest.
//
//===----------------------------------------------------------------------===//

#include "ConvolutionProducts.h"

#include "veeline/Analysis/TensorEmit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace veeline;

/// The maximal number of products in one op. The next op adds further products.
static constexpr size_t maxTerms = 25;

namespace {
class DepthwiseEmitter {
public:
  DepthwiseEmitter(ViewBuilder &builder, const ConvolutionOperands &operands)
      : builder(builder), operands(operands), desc(operands.desc) {}

  void forward();
  void backwardData();
  void backwardWeights();

private:
  /// A product of `data`, which has the sizes of the result, and `weights`, of
  /// shape (group).
  struct Term {
    StridedView data, weights;
  };

  void addUp(ArrayRef<Term> terms, const StridedView &result);
  void addUpSome(ArrayRef<Term> terms, const StridedView &result, bool adds);
  Term getTerm(Term term, int64_t output, int64_t step) const;
  StridedView spreadY(ArrayRef<int64_t> before, ArrayRef<int64_t> sizes);
  Overlap getOverlap(unsigned dimension, int64_t part) const;
  void computePart(const StridedView &y, ArrayRef<int64_t> before,
                   ArrayRef<int64_t> parts);
  StridedView sumRows(const StridedView &windows, const StridedView &y);

  ViewBuilder &builder;
  const ConvolutionOperands &operands;
  const ConvolutionDesc &desc;
  SmallVector<Phases> allPhases; ///< The phases of the gradient of x.
};
} // namespace

static Value multiply(OpBuilder &builder, Location loc, Value a, Value b,
                      Type type) {
  a = convertFloat(builder, loc, a, type);
  b = convertFloat(builder, loc, b, type);
  return arith::MulFOp::create(builder, loc, a, b);
}

/// Sets result (sample, spatial..., group) to the sum of the products, in
/// order.
void DepthwiseEmitter::addUp(ArrayRef<Term> terms, const StridedView &result) {
  bool isCopied = operands.isRounded() && terms.size() > maxTerms;
  StridedView sums =
      isCopied ? builder.allocate(operands.sum, result.sizes) : result;
  for (size_t i = 0; i < terms.size(); i += maxTerms)
    addUpSome(terms.slice(i, std::min(maxTerms, terms.size() - i)), sums,
              i > 0);
  if (isCopied)
    builder.copy(sums, result);
}

void DepthwiseEmitter::addUpSome(ArrayRef<Term> terms,
                                 const StridedView &result, bool adds) {
  MLIRContext *context = builder.rewriter.getContext();
  unsigned rank = result.sizes.size();
  AffineMap identity = AffineMap::getMultiDimIdentityMap(rank, context);
  AffineMap ofWeights =
      AffineMap::get(rank, 0, getAffineDimExpr(rank - 1, context), context);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const Term &term : terms) {
    inputs.push_back(builder.getMemRef(term.data));
    inputs.push_back(builder.getMemRef(term.weights));
    maps.append({identity, ofWeights});
  }
  maps.push_back(identity);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  linalg::GenericOp::create(
      builder.rewriter, builder.loc, inputs, builder.getMemRef(result), maps,
      iterators, [&](OpBuilder &inner, Location loc, ValueRange arguments) {
        Value sum = adds ? arguments.back() : Value();
        for (size_t i = 0; i + 1 < arguments.size(); i += 2) {
          Value product = multiply(inner, loc, arguments[i], arguments[i + 1],
                                   operands.sum);
          sum = sum ? arith::AddFOp::create(inner, loc, sum, product) : product;
        }
        linalg::YieldOp::create(
            inner, loc,
            convertFloat(inner, loc, sum, arguments.back().getType()));
      });
}

/// All channels of y in a group read the same elements of x.
void DepthwiseEmitter::forward() {
  StridedView windows =
      operands.getWindows(operands.pad(builder, /*keepsOrder=*/true));
  StridedView w = operands.wWindowsFirst(), y = operands.yChannelsLast();
  unsigned group = 1 + operands.rank();
  StridedView first{windows.base, windows.offset, {}, {}};
  first.sizes.assign(y.sizes.begin(), y.sizes.end() - 1);
  first.strides.assign(windows.strides.begin(),
                       windows.strides.begin() + group);
  first.strides.push_back(windows.strides[group + operands.rank()]);
  for (int64_t output = 0; output < desc.outputs; ++output) {
    std::vector<Term> terms;
    for (ArrayRef<int64_t> element : operands.windowIndices()) {
      Term term{first, w};
      for (unsigned i = 0; i < operands.rank(); ++i) {
        term.data.offset += element[i] * windows.strides[group + i];
        term.weights = term.weights.at(element[i]);
      }
      terms.push_back(getTerm(term, output, /*step=*/0));
    }
    StridedView result = y;
    result.offset += output * y.strides.back();
    result.sizes.pop_back();
    result.strides.pop_back();
    addUp(terms, result);
  }
}

/// y, padded with zeros, in the order of its memory.
StridedView DepthwiseEmitter::spreadY(ArrayRef<int64_t> before,
                                      ArrayRef<int64_t> sizes) {
  StridedView y = operands.yChannelsLast();
  StridedView spread =
      operands.allocateLike(builder, y, sizes, /*keepsOrder=*/true);
  builder.fillAllWithZeros(spread);
  SmallVector<int64_t> starts{0};
  llvm::append_range(starts, before);
  starts.append({0, 0});
  builder.copy(y, spread.slice(starts, y.sizes));
  return spread;
}

/// Computes x part by part (see Phases): element q of a part depends on the
/// elements q - shift of y.
void DepthwiseEmitter::backwardData() {
  SmallVector<int64_t> before, sizes, numParts;
  bool isAll = true;
  for (unsigned i = 0; i < operands.rank(); ++i) {
    Phases &phases = allPhases.emplace_back(desc, i);
    before.push_back(phases.size - desc.ySizes[i]);
    int64_t end = desc.ySizes[i], total = 0;
    for (int64_t part : phases.used) {
      Overlap overlap = getOverlap(i, part);
      end = std::max(end, overlap.first + overlap.count);
      total += overlap.count;
    }
    isAll &= total == desc.xSizes[i];
    sizes.push_back(before[i] + end);
    numParts.push_back(phases.used.size());
  }
  StridedView y = spreadY(before, sizes);
  if (!isAll)
    builder.fillWithZeros(operands.x);
  for (ArrayRef<int64_t> parts : enumerateIndices(numParts))
    computePart(y, before, parts);
}

/// Includes elements of x after the last window.
Overlap DepthwiseEmitter::getOverlap(unsigned dimension, int64_t part) const {
  return Overlap(desc, dimension, part,
                 desc.xSizes[dimension] + desc.padding[dimension]);
}

/// The terms of one part. `y` is padded with `before` zeros in front.
void DepthwiseEmitter::computePart(const StridedView &y,
                                   ArrayRef<int64_t> before,
                                   ArrayRef<int64_t> parts) {
  StridedView x = operands.xChannelsLast(), w = operands.wWindowsFirst();
  unsigned group = 1 + operands.rank();
  StridedView result{x.base, x.offset, {desc.batch}, {x.strides[0]}};
  StridedView first{y.base, y.offset, {}, {y.strides[0]}};
  for (unsigned i = 0; i < operands.rank(); ++i) {
    Overlap overlap = getOverlap(i, allPhases[i].used[parts[i]]);
    result.offset += overlap.start * x.strides[1 + i];
    result.sizes.push_back(overlap.count);
    result.strides.push_back(x.strides[1 + i] * desc.strides[i]);
    first.offset += (overlap.first + before[i]) * y.strides[1 + i];
    first.strides.push_back(y.strides[1 + i]);
  }
  result.sizes.push_back(desc.groups);
  result.strides.push_back(x.strides[group]);
  first.strides.push_back(y.strides[group]);
  first.sizes = result.sizes;
  if (llvm::is_contained(result.sizes, 0))
    return;
  std::vector<Term> terms;
  for (ArrayRef<int64_t> element : operands.windowIndices()) {
    Term term{first, w};
    bool isHere = true;
    for (unsigned i = 0; i < operands.rank(); ++i) {
      isHere &= allPhases[i].phase[element[i]] == parts[i];
      term.data.offset -= allPhases[i].shift[element[i]] * y.strides[1 + i];
      term.weights = term.weights.at(element[i]);
    }
    for (int64_t output = 0; isHere && output < desc.outputs; ++output)
      terms.push_back(getTerm(term, output, y.strides.back()));
  }
  addUp(terms, result);
}

/// `term` for channel `output` of y, whose data are `output * step` elements
/// further.
DepthwiseEmitter::Term DepthwiseEmitter::getTerm(Term term, int64_t output,
                                                 int64_t step) const {
  term.data.offset += output * step;
  // The weights are (group, channel of x, channel of y), with one channel of x.
  StridedView &w = term.weights;
  w = {w.base,
       w.offset + output * w.strides.back(),
       {desc.groups},
       {w.strides.front()}};
  return term;
}

/// Adds the product of both inputs, or the only input, to `result`. Reduced
/// loops come first, so that neighbouring threads have neighbouring channels.
static void addProducts(ViewBuilder &builder, ArrayRef<StridedView> inputs,
                        const StridedView &result, unsigned numReduced,
                        ArrayRef<AffineMap> maps) {
  SmallVector<Value> operands;
  for (const StridedView &input : inputs)
    operands.push_back(builder.getMemRef(input));
  SmallVector<utils::IteratorType> iterators(maps.front().getNumDims(),
                                             utils::IteratorType::parallel);
  std::fill_n(iterators.begin(), numReduced, utils::IteratorType::reduction);
  linalg::GenericOp::create(
      builder.rewriter, builder.loc, operands, builder.getMemRef(result), maps,
      iterators, [](OpBuilder &inner, Location loc, ValueRange arguments) {
        Value term = arguments[0];
        if (arguments.size() == 3)
          term = multiply(inner, loc, term, arguments[1],
                          arguments.back().getType());
        Value sum = arith::AddFOp::create(inner, loc, arguments.back(), term);
        linalg::YieldOp::create(inner, loc, sum);
      });
}

/// The sums over all spatial dimensions but the first, or over the only one.
/// Shape: (sample, first spatial dimension if there are several, spatial... of
/// w, group).
StridedView DepthwiseEmitter::sumRows(const StridedView &windows,
                                      const StridedView &y) {
  MLIRContext *context = builder.rewriter.getContext();
  unsigned rank = operands.rank(), numKept = rank > 1 ? 1 : 0;
  unsigned numReduced = rank - numKept;
  SmallVector<int64_t> sizes{desc.batch};
  sizes.append(desc.ySizes.begin(), desc.ySizes.begin() + numKept);
  llvm::append_range(sizes, desc.wSizes);
  sizes.push_back(desc.groups);
  // The order of loops: reduced, sample, kept, spatial... of w, group.
  auto loop = [&](unsigned i) { return getAffineDimExpr(i, context); };
  unsigned numLoops = numReduced + sizes.size();
  SmallVector<AffineExpr> inWindows{loop(numReduced)}, inResult = inWindows;
  for (unsigned i = 0; i < rank; ++i)
    inWindows.push_back(loop(i < numKept ? numReduced + 1 + i : i - numKept));
  SmallVector<AffineExpr> inY = inWindows;
  inY.push_back(loop(numLoops - 1));
  for (unsigned i = numReduced + 1 + numKept; i < numLoops; ++i)
    inWindows.push_back(loop(i));
  for (unsigned i = numReduced + 1; i < numLoops; ++i)
    inResult.push_back(loop(i));
  SmallVector<AffineMap> maps;
  for (ArrayRef<AffineExpr> indices :
       {ArrayRef(inWindows), ArrayRef(inY), ArrayRef(inResult)})
    maps.push_back(AffineMap::get(numLoops, 0, indices, context));
  StridedView sums = builder.allocate(operands.sum, sizes);
  builder.fillWithZeros(sums);
  addProducts(builder, {windows, y}, sums, numReduced, maps);
  return sums;
}

void DepthwiseEmitter::backwardWeights() {
  unsigned group = 1 + operands.rank();
  StridedView x = operands.pad(builder, /*keepsOrder=*/false);
  if (x.strides[group] != 1)
    x = builder.makeDense(x);
  StridedView windows = operands.getWindows(x);
  // Remove the only channel of x.
  windows.sizes.pop_back();
  windows.strides.pop_back();
  StridedView y = builder.makeDense(operands.yChannelsLast());
  StridedView w = operands.wWindowsFirst();
  for (int64_t output = 0; output < desc.outputs; ++output) {
    StridedView ofOutput = y;
    ofOutput.offset += output * y.strides.back();
    ofOutput.sizes.pop_back();
    ofOutput.strides.pop_back();
    StridedView sums = sumRows(windows, ofOutput);
    // Shape (spatial..., group), without the only channel of x.
    StridedView result{w.base, w.offset + output * w.strides.back(), {}, {}};
    result.sizes.assign(w.sizes.begin(), w.sizes.end() - 2);
    result.strides.assign(w.strides.begin(), w.strides.end() - 2);
    unsigned numReduced = sums.sizes.size() - result.sizes.size();
    StridedView total = operands.isRounded()
                            ? builder.allocate(operands.sum, result.sizes)
                            : result;
    builder.fillWithZeros(total);
    AffineMap all = builder.rewriter.getMultiDimIdentityMap(sums.sizes.size());
    addProducts(builder, {sums}, total, numReduced,
                {all, all.getMinorSubMap(result.sizes.size())});
    if (operands.isRounded())
      builder.copy(total, result);
  }
}

void veeline::emitDepthwiseKernels(ViewBuilder &builder,
                                   const ConvolutionOperands &operands) {
  DepthwiseEmitter emitter(builder, operands);
  switch (operands.desc.kind) {
  case ConvolutionKind::Forward:
    return emitter.forward();
  case ConvolutionKind::BackwardData:
    return emitter.backwardData();
  case ConvolutionKind::BackwardWeights:
    return emitter.backwardWeights();
  }
}
