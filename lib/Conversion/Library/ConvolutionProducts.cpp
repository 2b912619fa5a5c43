//===- ConvolutionProducts.cpp - convolutions without a library -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionProducts.h"

#include "veeline/Conversion/Gemm.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

#include <numeric>

using namespace mlir;
using namespace veeline;

/// If x has this many channels, the product for one element of a window reads
/// whole cache lines, and has a sum that is long enough.
static constexpr int64_t manyChannels = 16;
/// The maximal size of a matrix of windows, in bytes. More samples take further
/// matrices.
static constexpr int64_t maxMatrixBytes = 64 << 20;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// An operand of a product. It has two dimensions, or three with a batch.
struct Matrix {
  StridedView view;

  int64_t rows() const { return view.sizes[view.sizes.size() - 2]; }
  int64_t columns() const { return view.sizes.back(); }
  Matrix transpose() const {
    Matrix other = *this;
    size_t last = view.sizes.size() - 1;
    std::swap(other.view.sizes[last - 1], other.view.sizes[last]);
    std::swap(other.view.strides[last - 1], other.view.strides[last]);
    return other;
  }
};

class ProductEmitter {
public:
  ProductEmitter(ViewBuilder &builder, LibraryCalls &gemms, Value rank,
                 bool isTf32)
      : builder(builder), gemms(gemms), rank(rank), isTf32(isTf32) {}

  /// c = a b, or c += a b.
  void emit(const Matrix &a, const Matrix &b, const Matrix &c, bool adds);

private:
  ViewBuilder &builder;
  LibraryCalls &gemms;
  Value rank;
  bool isTf32;
};
} // namespace

/// Sets the stride of a dimension of one element, which is arbitrary, so that
/// the last two dimensions look like a dense matrix.
static void setUnitStrides(StridedView &view) {
  size_t last = view.sizes.size() - 1;
  int64_t &outer = view.strides[last - 1], &inner = view.strides[last];
  int64_t rows = view.sizes[last - 1], columns = view.sizes[last];
  if (rows == 1 && columns == 1)
    outer = inner = 1;
  else if (rows == 1)
    outer = inner == 1 ? columns : 1;
  else if (columns == 1)
    inner = outer == 1 ? rows : 1;
}

/// True if the library supports the last two dimensions as a matrix: with
/// contiguous rows or columns that do not overlap.
static bool isMatrix(StridedView view) {
  setUnitStrides(view);
  size_t last = view.sizes.size() - 1;
  int64_t outer = view.strides[last - 1], inner = view.strides[last];
  return (inner == 1 && outer >= view.sizes[last]) ||
         (outer == 1 && inner >= view.sizes[last - 1]);
}

/// The alignment of a view's matrices in bytes. It must not depend on whether
/// the buffer is a temporary or an argument, which may be a microbatch of an
/// input.
static int64_t getAlignment(const StridedView &view, int64_t width) {
  int64_t common = std::gcd(kernelAlignment, view.offset * width);
  for (int64_t stride : ArrayRef(view.strides).drop_back(2))
    common = std::gcd(common, stride * width);
  return common;
}

void ProductEmitter::emit(const Matrix &a, const Matrix &b, const Matrix &c,
                          bool adds) {
  GemmDesc desc;
  NestAccess accesses[3];
  SmallVector<int64_t> *strides[] = {&desc.aStrides, &desc.bStrides,
                                     &desc.cStrides};
  int64_t alignment = kernelAlignment;
  const Matrix *matrices[] = {&a, &b, &c};
  for (auto [i, matrix] : llvm::enumerate(matrices)) {
    StridedView view = matrix->view;
    // A batch of one product is no batch.
    if (view.sizes.size() == 3 && view.sizes.front() == 1)
      view = view.at(0);
    setUnitStrides(view);
    accesses[i].base = view.base;
    accesses[i].elementType =
        cast<MemRefType>(view.base.getType()).getElementType();
    accesses[i].offset = view.offset;
    accesses[i].isMemRef = true;
    alignment = std::gcd(
        alignment,
        getAlignment(view,
                     accesses[i].elementType.getIntOrFloatBitWidth() / 8));
    *strides[i] = view.strides;
    desc.batch.assign(view.sizes.begin(), view.sizes.end() - 2);
  }
  desc.dtype = accesses[0].elementType;
  desc.cType = accesses[2].elementType;
  desc.isTf32 = isTf32;
  desc.m = a.rows();
  desc.k = a.columns();
  desc.n = b.columns();
  desc.alignment = alignment;
  desc.accumulate = adds;
  gemms.emit(builder.rewriter, builder.loc, rank,
             desc.toAttribute(builder.rewriter.getContext()), 0, accesses[0],
             accesses[1], accesses[2]);
}

//===----------------------------------------------------------------------===//
// A product for each element of a window
//===----------------------------------------------------------------------===//

namespace {
class WindowProducts {
public:
  WindowProducts(ViewBuilder &builder, ProductEmitter &products,
                 const ConvolutionOperands &operands);

  void run();

private:
  void forward();
  void backwardData();
  void backwardWeights();

  bool isInPlace(const StridedView &channelsLast, ArrayRef<int64_t> sizes,
                 Type type) const;
  StridedView prepareImage(Type type, bool isResult);
  void copyImage(const StridedView &image, bool isResult);
  bool coversImage(bool ofX) const;
  StridedView prepareRows(Type type, bool isResult);
  Matrix rowsOf(const StridedView &rows) const;
  Matrix seenBy(const StridedView &image, ArrayRef<int64_t> element) const;
  bool isAlone() const;
  Matrix weightsOf(const StridedView &weights, ArrayRef<int64_t> element) const;
  StridedView prepareWeights(bool isResult);

  ViewBuilder &builder;
  ProductEmitter &products;
  const ConvolutionOperands &operands;
  const ConvolutionDesc &desc;
  SmallVector<Phases> phases;
  SmallVector<int64_t> wideSizes; ///< The sizes of a part of x.
  /// The number of rows of a part, up to the last one of y.
  int64_t numRows = 0;
};
} // namespace

WindowProducts::WindowProducts(ViewBuilder &builder, ProductEmitter &products,
                               const ConvolutionOperands &operands)
    : builder(builder), products(products), operands(operands),
      desc(operands.desc) {
  int64_t last = desc.batch - 1;
  for (unsigned i = 0; i < operands.rank(); ++i) {
    phases.emplace_back(desc, i);
    wideSizes.push_back(phases.back().size);
    last = last * wideSizes[i] + desc.ySizes[i] - 1;
  }
  numRows = last + 1;
}

/// True if products of `type` can read or write x or y (`channelsLast`) in
/// place.
bool WindowProducts::isInPlace(const StridedView &channelsLast,
                               ArrayRef<int64_t> sizes, Type type) const {
  return channelsLast.getElementType() == type && channelsLast.isDense() &&
         ArrayRef(channelsLast.sizes).slice(1, sizes.size()) == sizes;
}

/// x as (part..., sample, spatial..., group, channel). This is x itself if
/// windows have strides of one and no padding, else a buffer. An x that is read
/// is copied there.
StridedView WindowProducts::prepareImage(Type type, bool isResult) {
  StridedView x = operands.xChannelsLast();
  bool isWhole = llvm::all_of(desc.strides, [](int64_t s) { return s == 1; }) &&
                 !operands.needsPadding();
  SmallVector<int64_t> sizes;
  for (const Phases &dimension : phases)
    sizes.push_back(dimension.used.size());
  sizes.push_back(desc.batch);
  llvm::append_range(sizes, wideSizes);
  sizes.append({desc.groups, desc.inputs});
  if (isWhole && isInPlace(x, wideSizes, type)) {
    StridedView image = x;
    image.sizes.insert(image.sizes.begin(), operands.rank(), 1);
    image.strides.insert(image.strides.begin(), operands.rank(), 1);
    return image;
  }
  StridedView image = builder.allocate(type, sizes);
  if (!isResult) {
    if (!coversImage(false))
      builder.fillWithZeros(image);
    copyImage(image, false);
  }
  return image;
}

/// With `ofX`, whether the parts contain all elements of x. Otherwise, whether
/// x contains all elements of the parts.
bool WindowProducts::coversImage(bool ofX) const {
  for (unsigned i = 0; i < operands.rank(); ++i) {
    int64_t total = 0;
    for (int64_t part : phases[i].used) {
      Overlap overlap(desc, i, part, wideSizes[i]);
      if (!ofX && overlap.count != wideSizes[i])
        return false;
      total += overlap.count;
    }
    if (ofX && total != desc.xSizes[i])
      return false;
  }
  return true;
}

/// Copies between x and its parts.
void WindowProducts::copyImage(const StridedView &image, bool isResult) {
  StridedView x = operands.xChannelsLast();
  SmallVector<int64_t> numParts(image.sizes.begin(),
                                image.sizes.begin() + operands.rank());
  for (ArrayRef<int64_t> parts : enumerateIndices(numParts)) {
    StridedView part = image;
    StridedView inX = x;
    SmallVector<int64_t> firsts{0}, starts{0}, counts{desc.batch};
    for (unsigned i = 0; i < operands.rank(); ++i) {
      part = part.at(parts[i]);
      Overlap overlap(desc, i, phases[i].used[parts[i]], wideSizes[i]);
      firsts.push_back(overlap.first);
      starts.push_back(overlap.start);
      counts.push_back(overlap.count);
    }
    if (llvm::is_contained(counts, 0))
      continue;
    for (SmallVector<int64_t> *list : {&firsts, &starts})
      list->append({0, 0});
    counts.append({desc.groups, desc.inputs});
    inX = inX.slice(starts, counts);
    for (unsigned i = 0; i < operands.rank(); ++i)
      inX.strides[1 + i] *= desc.strides[i];
    StridedView inPart = part.slice(firsts, counts);
    builder.copy(isResult ? inPart : inX, isResult ? inX : inPart);
  }
}

/// y in the rows of a part (sample, spatial..., group, channel). This is y
/// itself if each row of a part is one of y, else a buffer. A y that is read is
/// copied there.
StridedView WindowProducts::prepareRows(Type type, bool isResult) {
  StridedView y = operands.yChannelsLast();
  if (isInPlace(y, wideSizes, type))
    return y;
  SmallVector<int64_t> sizes{desc.batch};
  llvm::append_range(sizes, wideSizes);
  sizes.append({desc.groups, desc.outputs});
  StridedView rows = builder.allocate(type, sizes);
  if (isResult)
    return rows;
  if (ArrayRef(wideSizes) != ArrayRef(desc.ySizes))
    builder.fillWithZeros(rows);
  SmallVector<int64_t> origin(sizes.size(), 0);
  builder.copy(y, rows.slice(origin, y.sizes));
  return rows;
}

/// The rows as (group, row, channel).
Matrix WindowProducts::rowsOf(const StridedView &rows) const {
  StridedView view{rows.base, rows.offset, {}, {}};
  view.sizes = {desc.groups, numRows, desc.outputs};
  view.strides = {desc.outputs, desc.groups * desc.outputs, 1};
  return {view};
}

/// The elements of x at element `element` of all windows, as (group, row,
/// channel).
Matrix WindowProducts::seenBy(const StridedView &image,
                              ArrayRef<int64_t> element) const {
  StridedView part = image;
  int64_t row = 0;
  for (unsigned i = 0; i < operands.rank(); ++i) {
    part = part.at(phases[i].phase[element[i]]);
    row = row * wideSizes[i] + phases[i].shift[element[i]];
  }
  int64_t channels = desc.groups * desc.inputs;
  StridedView view{part.base, part.offset + row * channels, {}, {}};
  view.sizes = {desc.groups, numRows, desc.inputs};
  view.strides = {desc.inputs, channels, 1};
  return {view};
}

/// The weights as (spatial..., group, channel of x, channel of y), in a form
/// that the library supports.
StridedView WindowProducts::prepareWeights(bool isResult) {
  StridedView w = operands.wWindowsFirst();
  if (isMatrix(w))
    return w;
  return isResult ? builder.allocate(operands.result, w.sizes)
                  : builder.makeDense(w);
}

/// The weights of an element of the window, as (group, channel of x, channel of
/// y).
Matrix WindowProducts::weightsOf(const StridedView &weights,
                                 ArrayRef<int64_t> element) const {
  StridedView view = weights;
  for (int64_t index : element)
    view = view.at(index);
  return {view};
}

/// True if each part belongs to one element of a window, and all of the part is
/// used.
bool WindowProducts::isAlone() const {
  for (const Phases &dimension : phases)
    if (dimension.used.size() != dimension.phase.size())
      return false;
  return ArrayRef(wideSizes) == ArrayRef(desc.ySizes);
}

void WindowProducts::forward() {
  StridedView image = prepareImage(operands.element, false);
  StridedView weights = prepareWeights(false);
  bool isOne = operands.windowSize() == 1;
  StridedView rows =
      prepareRows(isOne ? operands.result : operands.sum, /*isResult=*/true);
  bool adds = false;
  for (ArrayRef<int64_t> element : operands.windowIndices()) {
    products.emit(seenBy(image, element), weightsOf(weights, element),
                  rowsOf(rows), adds);
    adds = true;
  }
  StridedView y = operands.yChannelsLast();
  if (rows.base == y.base)
    return;
  SmallVector<int64_t> origin(y.sizes.size(), 0);
  builder.copy(rows.slice(origin, y.sizes), y);
}

void WindowProducts::backwardData() {
  StridedView rows = prepareRows(operands.element, false);
  StridedView weights = prepareWeights(false);
  bool adds = !isAlone();
  StridedView image =
      prepareImage(adds ? operands.sum : operands.result, /*isResult=*/true);
  if (adds)
    builder.fillWithZeros(image);
  for (ArrayRef<int64_t> element : operands.windowIndices())
    products.emit(rowsOf(rows), weightsOf(weights, element).transpose(),
                  seenBy(image, element), adds);
  if (image.base == operands.x.base)
    return;
  if (!coversImage(true))
    builder.fillWithZeros(operands.x);
  copyImage(image, true);
}

void WindowProducts::backwardWeights() {
  StridedView image = prepareImage(operands.element, false);
  StridedView rows = prepareRows(operands.element, false);
  StridedView weights = prepareWeights(true);
  for (ArrayRef<int64_t> element : operands.windowIndices())
    products.emit(seenBy(image, element).transpose(), rowsOf(rows),
                  weightsOf(weights, element), false);
  if (weights.base != operands.w.base)
    builder.copy(weights, operands.wWindowsFirst());
}

void WindowProducts::run() {
  switch (desc.kind) {
  case ConvolutionKind::Forward:
    return forward();
  case ConvolutionKind::BackwardData:
    return backwardData();
  case ConvolutionKind::BackwardWeights:
    return backwardWeights();
  }
}

//===----------------------------------------------------------------------===//
// A matrix of windows
//===----------------------------------------------------------------------===//

namespace {
/// Convolutions of one group by a matrix of windows: forward, or backward for
/// the weights.
class MatrixProducts {
public:
  MatrixProducts(ViewBuilder &builder, ProductEmitter &products,
                 const ConvolutionOperands &operands);

  void run();

private:
  int64_t countSamples() const;
  StridedView copyWindows(const StridedView &x, int64_t first, int64_t samples);
  Matrix prepareWeights(Type type, bool isResult);
  void emit(const StridedView &x, const Matrix &weights, int64_t first,
            int64_t samples);

  ViewBuilder &builder;
  ProductEmitter &products;
  const ConvolutionOperands &operands;
  const ConvolutionDesc &desc;
  int64_t columns; ///< The number of elements of x in one window.
};
} // namespace

MatrixProducts::MatrixProducts(ViewBuilder &builder, ProductEmitter &products,
                               const ConvolutionOperands &operands)
    : builder(builder), products(products), operands(operands),
      desc(operands.desc), columns(operands.windowSize() * desc.inputs) {}

/// The number of samples in one matrix.
int64_t MatrixProducts::countSamples() const {
  int64_t bytes = operands.numWindows() * columns *
                  (operands.element.getIntOrFloatBitWidth() / 8);
  return std::clamp<int64_t>(maxMatrixBytes / bytes, 1, desc.batch);
}

/// Copies the windows of `samples` samples, from `first` on.
StridedView MatrixProducts::copyWindows(const StridedView &x, int64_t first,
                                        int64_t samples) {
  StridedView windows = operands.getWindows(x);
  windows.offset += first * windows.strides.front();
  windows.sizes.front() = samples;
  StridedView matrix = builder.allocate(operands.element, windows.sizes);
  builder.copy(windows, matrix);
  return matrix;
}

/// The weights as (spatial... and channel of x, channel of y). They are in
/// place if elements of a window and channels have one common stride, else in a
/// buffer.
Matrix MatrixProducts::prepareWeights(Type type, bool isResult) {
  StridedView w = operands.wWindowsFirst();
  size_t numRowDims = w.sizes.size() - 1;
  int64_t ofRow = 0, rows = 1;
  bool isOne = true;
  for (size_t i = numRowDims; i-- > 0;) {
    if (w.sizes[i] == 1)
      continue;
    isOne &= rows == 1 || w.strides[i] == ofRow * rows;
    ofRow = rows == 1 ? w.strides[i] : ofRow;
    rows *= w.sizes[i];
  }
  StridedView view{
      w.base, w.offset, {columns, desc.outputs}, {ofRow, w.strides.back()}};
  if (isOne && isMatrix(view) && w.getElementType() == type)
    return {view};
  StridedView dense =
      isResult ? builder.allocate(type, w.sizes) : builder.makeDense(w);
  return {
      {dense.base, dense.offset, {columns, desc.outputs}, {desc.outputs, 1}}};
}

void MatrixProducts::emit(const StridedView &x, const Matrix &weights,
                          int64_t first, int64_t samples) {
  int64_t rows = samples * operands.numWindows();
  StridedView windows = copyWindows(x, first, samples);
  Matrix seen{{windows.base, 0, {rows, columns}, {columns, 1}}};
  SmallVector<int64_t> starts(operands.rank() + 3, 0);
  starts[0] = first;
  StridedView y = operands.yChannelsLast();
  SmallVector<int64_t> sizes = y.sizes;
  sizes[0] = samples;
  y = y.slice(starts, sizes);
  bool isForward = desc.kind == ConvolutionKind::Forward;
  StridedView inRows = !isForward    ? builder.makeDense(y)
                       : y.isDense() ? y
                                     : builder.allocate(operands.result, sizes);
  Matrix result{
      {inRows.base, inRows.offset, {rows, desc.outputs}, {desc.outputs, 1}}};
  if (!isForward)
    return products.emit(seen.transpose(), result, weights, first > 0);
  products.emit(seen, weights, result, false);
  if (!y.isDense())
    builder.copy(inRows, y);
}

void MatrixProducts::run() {
  bool isForward = desc.kind == ConvolutionKind::Forward;
  StridedView x = operands.pad(builder, /*keepsOrder=*/true);
  int64_t samples = countSamples();
  // Gradients from several matrices are added up, so they need the type of
  // sums.
  Type ofWeights = isForward               ? operands.element
                   : samples == desc.batch ? operands.result
                                           : operands.sum;
  Matrix weights = prepareWeights(ofWeights, !isForward);
  for (int64_t first = 0; first < desc.batch; first += samples)
    emit(x, weights, first, std::min(samples, desc.batch - first));
  if (isForward || weights.view.base == operands.w.base)
    return;
  StridedView w = operands.wWindowsFirst();
  StridedView dense{weights.view.base, 0, w.sizes,
                    computeSuffixProduct(w.sizes)};
  builder.copy(dense, w);
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

void veeline::emitConvolutionProducts(ViewBuilder &builder, LibraryCalls &gemms,
                                      Value rank,
                                      const ConvolutionOperands &operands) {
  const ConvolutionDesc &desc = operands.desc;
  if (desc.groups > 1 && desc.inputs == 1)
    return emitDepthwiseKernels(builder, operands);
  ProductEmitter products(builder, gemms, rank, desc.isTf32);
  bool isOfMatrix = desc.groups == 1 && desc.inputs < manyChannels &&
                    operands.windowSize() > 1 &&
                    desc.kind != ConvolutionKind::BackwardData;
  if (isOfMatrix)
    return MatrixProducts(builder, products, operands).run();
  WindowProducts(builder, products, operands).run();
}
