//===- ConvolutionViews.cpp - operands of a convolution and copies --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionViews.h"
#include "LibraryCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace veeline;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

StridedView StridedView::slice(ArrayRef<int64_t> starts,
                               ArrayRef<int64_t> newSizes) const {
  StridedView part = *this;
  for (auto [start, stride] : llvm::zip_equal(starts, strides))
    part.offset += start * stride;
  part.sizes.assign(newSizes.begin(), newSizes.end());
  return part;
}

StridedView StridedView::transpose(ArrayRef<unsigned> order) const {
  StridedView other{base, offset, {}, {}};
  for (unsigned dim : order) {
    other.sizes.push_back(sizes[dim]);
    other.strides.push_back(strides[dim]);
  }
  return other;
}

bool StridedView::isDense() const {
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0; stride *= sizes[i])
    if (sizes[i] != 1 && strides[i] != stride)
      return false;
  return true;
}

Type StridedView::getElementType() const {
  return cast<MemRefType>(base.getType()).getElementType();
}

StridedView StridedView::at(int64_t index) const {
  return {base, offset + index * strides.front(),
          llvm::to_vector(llvm::drop_begin(sizes)),
          llvm::to_vector(llvm::drop_begin(strides))};
}

StridedView ViewBuilder::allocate(Type element, ArrayRef<int64_t> sizes) {
  StridedView view;
  view.base =
      memref::AllocOp::create(rewriter, loc, MemRefType::get(sizes, element));
  view.sizes.assign(sizes.begin(), sizes.end());
  view.strides = computeSuffixProduct(sizes);
  return view;
}

Value ViewBuilder::getMemRef(const StridedView &view) {
  auto layout =
      StridedLayoutAttr::get(rewriter.getContext(), view.offset, view.strides);
  auto type = MemRefType::get(view.sizes, view.getElementType(), layout);
  return memref::ReinterpretCastOp::create(
      rewriter, loc, type, view.base, view.offset, view.sizes, view.strides);
}

void ViewBuilder::fillWithZeros(const StridedView &view) {
  Value target = getMemRef(view);
  Value zero = arith::ConstantOp::create(
      rewriter, loc, rewriter.getZeroAttr(view.getElementType()));
  linalg::FillOp::create(rewriter, loc, zero, target);
}

void ViewBuilder::fillAllWithZeros(const StridedView &view) {
  int64_t count = cast<MemRefType>(view.base.getType()).getNumElements();
  fillWithZeros({view.base, 0, {count}, {1}});
}

void ViewBuilder::copy(const StridedView &from, const StridedView &to) {
  Value source = getMemRef(from), target = getMemRef(to);
  copyElements(rewriter, loc, source, target);
}

StridedView ViewBuilder::makeDense(const StridedView &view) {
  if (view.isDense())
    return view;
  StridedView dense = allocate(view.getElementType(), view.sizes);
  copy(view, dense);
  return dense;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static StridedView makeView(const NestAccess &access,
                            std::initializer_list<int64_t> channels,
                            ArrayRef<int64_t> sizes,
                            ArrayRef<int64_t> strides) {
  StridedView view{access.base, access.offset, SmallVector<int64_t>(channels),
                   llvm::to_vector(strides)};
  llvm::append_range(view.sizes, sizes);
  return view;
}

ConvolutionOperands::ConvolutionOperands(const ConvolutionDesc &desc,
                                         const NestAccess &a,
                                         const NestAccess &b,
                                         const NestAccess &c)
    : desc(desc), element(a.elementType), result(c.elementType),
      sum(Float32Type::get(c.elementType.getContext())) {
  bool givesX = desc.kind == ConvolutionKind::BackwardData;
  bool givesW = desc.kind == ConvolutionKind::BackwardWeights;
  x = makeView(givesX ? c : a, {desc.batch, desc.groups, desc.inputs},
               desc.xSizes, desc.xStrides);
  w = makeView(givesW ? c : b, {desc.groups, desc.outputs, desc.inputs},
               desc.wSizes, desc.wStrides);
  y = makeView(givesX   ? a
               : givesW ? b
                        : c,
               {desc.batch, desc.groups, desc.outputs}, desc.ySizes,
               desc.yStrides);
}

int64_t ConvolutionOperands::windowSize() const {
  return llvm::product_of(desc.wSizes);
}

int64_t ConvolutionOperands::numWindows() const {
  return llvm::product_of(desc.ySizes);
}

SmallVector<SmallVector<int64_t>>
veeline::enumerateIndices(ArrayRef<int64_t> limits) {
  SmallVector<SmallVector<int64_t>> all;
  SmallVector<int64_t> index(limits.size(), 0);
  for (int64_t count = llvm::product_of(limits); count > 0; --count) {
    all.push_back(index);
    for (size_t i = limits.size(); i-- > 0; index[i] = 0)
      if (++index[i] < limits[i])
        break;
  }
  return all;
}

SmallVector<SmallVector<int64_t>> ConvolutionOperands::windowIndices() const {
  return enumerateIndices(desc.wSizes);
}

SmallVector<int64_t> ConvolutionOperands::paddedSizes() const {
  SmallVector<int64_t> sizes;
  for (unsigned i = 0; i < rank(); ++i)
    sizes.push_back((desc.ySizes[i] - 1) * desc.strides[i] +
                    (desc.wSizes[i] - 1) * desc.dilations[i] + 1);
  return sizes;
}

bool ConvolutionOperands::needsPadding() const {
  SmallVector<int64_t> reached = paddedSizes();
  for (unsigned i = 0; i < rank(); ++i)
    if (desc.padding[i] || reached[i] > desc.xSizes[i])
      return true;
  return false;
}

static StridedView moveChannelsLast(const StridedView &view) {
  SmallVector<unsigned> order{0};
  for (unsigned i = 3; i < view.sizes.size(); ++i)
    order.push_back(i);
  order.append({1, 2});
  return view.transpose(order);
}

StridedView ConvolutionOperands::xChannelsLast() const {
  return moveChannelsLast(x);
}

StridedView ConvolutionOperands::yChannelsLast() const {
  return moveChannelsLast(y);
}

StridedView ConvolutionOperands::wWindowsFirst() const {
  SmallVector<unsigned> order;
  for (unsigned i = 3; i < w.sizes.size(); ++i)
    order.push_back(i);
  order.append({0, 2, 1});
  return w.transpose(order);
}

StridedView ConvolutionOperands::allocateLike(ViewBuilder &builder,
                                              const StridedView &view,
                                              ArrayRef<int64_t> sizes,
                                              bool keepsOrder) const {
  ArrayRef<int64_t> channels = ArrayRef(view.sizes).take_back(2);
  unsigned group = view.sizes.size() - 2;
  SmallVector<int64_t> all{view.sizes.front()};
  if (keepsOrder && view.strides[group] > view.strides[group - 1]) {
    llvm::append_range(all, channels);
    llvm::append_range(all, sizes);
    return moveChannelsLast(builder.allocate(element, all));
  }
  llvm::append_range(all, sizes);
  llvm::append_range(all, channels);
  return builder.allocate(element, all);
}

StridedView ConvolutionOperands::getWindows(const StridedView &x) const {
  StridedView windows{x.base, x.offset, {desc.batch}, {x.strides[0]}};
  for (unsigned i = 0; i < rank(); ++i) {
    windows.sizes.push_back(desc.ySizes[i]);
    windows.strides.push_back(x.strides[1 + i] * desc.strides[i]);
  }
  for (unsigned i = 0; i < rank(); ++i) {
    windows.sizes.push_back(desc.wSizes[i]);
    windows.strides.push_back(x.strides[1 + i] * desc.dilations[i]);
  }
  windows.sizes.append({desc.groups, desc.inputs});
  windows.strides.append(x.strides.end() - 2, x.strides.end());
  return windows;
}

StridedView ConvolutionOperands::pad(ViewBuilder &builder,
                                     bool keepsOrder) const {
  StridedView inside = xChannelsLast();
  if (!needsPadding())
    return inside;
  StridedView padded = allocateLike(builder, inside, paddedSizes(), keepsOrder);
  builder.fillAllWithZeros(padded);
  // Elements that no window reaches are left out.
  SmallVector<int64_t> origin(padded.sizes.size(), 0), starts = origin;
  SmallVector<int64_t> counts = inside.sizes;
  for (unsigned i = 0; i < rank(); ++i) {
    starts[1 + i] = desc.padding[i];
    counts[1 + i] =
        std::min(desc.xSizes[i], padded.sizes[1 + i] - desc.padding[i]);
  }
  builder.copy(inside.slice(origin, counts), padded.slice(starts, counts));
  return padded;
}

//===----------------------------------------------------------------------===//
// Operands that are extended
//===----------------------------------------------------------------------===//

/// The strides of dimensions without gaps in memory. `order` lists the
/// dimensions from the outermost to the innermost one.
static SmallVector<int64_t> getDenseStrides(ArrayRef<int64_t> sizes,
                                            ArrayRef<unsigned> order) {
  SmallVector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (unsigned dim : llvm::reverse(order)) {
    strides[dim] = stride;
    stride *= sizes[dim];
  }
  return strides;
}

/// The order in memory of an operand with `rank` spatial dimensions. Its
/// channels, `count` dimensions from `first` on, are last or before the spatial
/// ones.
static SmallVector<unsigned> getOrder(unsigned rank, unsigned first,
                                      unsigned count, bool isLast) {
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, 3 + rank));
  if (isLast)
    std::rotate(order.begin() + first, order.begin() + first + count,
                order.end());
  return order;
}

static SmallVector<int64_t> joinSizes(std::initializer_list<int64_t> channels,
                                      ArrayRef<int64_t> spatial) {
  SmallVector<int64_t> sizes(channels);
  llvm::append_range(sizes, spatial);
  return sizes;
}

ConvolutionDesc veeline::describeExtended(const ConvolutionDesc &desc) {
  ConvolutionDesc extended = desc;
  extended.dtype = Float32Type::get(desc.dtype.getContext());
  extended.isTf32 = true;
  unsigned rank = desc.xSizes.size();
  // Channels are placed as in the result or, if that are weights, as in y.
  ArrayRef<int64_t> kept = desc.kind == ConvolutionKind::BackwardData
                               ? desc.xStrides
                               : desc.yStrides;
  bool isLast = kept[2] <= kept.back();
  SmallVector<unsigned> ofData = getOrder(rank, 1, 2, isLast);
  if (desc.kind != ConvolutionKind::BackwardData)
    extended.xStrides = getDenseStrides(
        joinSizes({desc.batch, desc.groups, desc.inputs}, desc.xSizes), ofData);
  if (desc.kind != ConvolutionKind::Forward)
    extended.yStrides = getDenseStrides(
        joinSizes({desc.batch, desc.groups, desc.outputs}, desc.ySizes),
        ofData);
  if (desc.kind != ConvolutionKind::BackwardWeights)
    extended.wStrides = getDenseStrides(
        joinSizes({desc.groups, desc.outputs, desc.inputs}, desc.wSizes),
        getOrder(rank, 2, 1, isLast));
  return extended;
}

/// Creates a copy of `view`, extended to `type`, with these strides.
static NestAccess extend(ViewBuilder &builder, const StridedView &view,
                         ArrayRef<int64_t> strides, Type type) {
  int64_t count = llvm::product_of(view.sizes);
  StridedView copy{builder.allocate(type, count).base, 0, view.sizes,
                   llvm::to_vector(strides)};
  builder.copy(view, copy);
  NestAccess access;
  access.base = copy.base;
  access.elementType = type;
  access.isMemRef = true;
  return access;
}

std::pair<NestAccess, NestAccess>
veeline::extendFactors(ViewBuilder &builder, const ConvolutionDesc &desc,
                       const NestAccess &a, const NestAccess &b,
                       const NestAccess &c) {
  ConvolutionOperands operands(desc, a, b, c);
  ConvolutionDesc extended = describeExtended(desc);
  auto extendOne = [&](const StridedView &view, ArrayRef<int64_t> strides) {
    return extend(builder, view, strides, extended.dtype);
  };
  bool givesX = desc.kind == ConvolutionKind::BackwardData;
  bool givesW = desc.kind == ConvolutionKind::BackwardWeights;
  NestAccess first = givesX ? extendOne(operands.y, extended.yStrides)
                            : extendOne(operands.x, extended.xStrides);
  NestAccess second = givesW ? extendOne(operands.y, extended.yStrides)
                             : extendOne(operands.w, extended.wStrides);
  return {first, second};
}

//===----------------------------------------------------------------------===//
// Parts of x
//===----------------------------------------------------------------------===//

Phases::Phases(const ConvolutionDesc &desc, unsigned dimension) {
  int64_t stride = desc.strides[dimension];
  for (int64_t k = 0; k < desc.wSizes[dimension]; ++k) {
    int64_t place = k * desc.dilations[dimension], part = place % stride;
    shift.push_back(place / stride);
    auto it = llvm::find(used, part);
    phase.push_back(it - used.begin());
    if (it == used.end())
      used.push_back(part);
    size = std::max(size, desc.ySizes[dimension] + shift.back());
  }
}

Overlap::Overlap(const ConvolutionDesc &desc, unsigned dimension, int64_t part,
                 int64_t size) {
  // Element q of the part is element q * stride - before of x.
  int64_t stride = desc.strides[dimension];
  int64_t before = desc.padding[dimension] - part;
  first = before > 0 ? llvm::divideCeil(before, stride) : 0;
  int64_t last = desc.xSizes[dimension] - 1 + before;
  int64_t end = last < 0 ? 0 : std::min(size, last / stride + 1);
  count = std::max<int64_t>(0, end - first);
  start = first * stride - before;
}

bool veeline::hasStaticPlace(const NestAccess &access) {
  auto type = dyn_cast<MemRefType>(access.base.getType());
  return type && type.getLayout().isIdentity() && type.hasStaticShape();
}
