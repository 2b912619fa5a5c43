//===- ConvolutionViews.h - operands of a convolution and copies *- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without a library, convolutions become matrix products and kernels. These
// work on views of the operands, or on dense copies that are padded with zeros
// and have the channels last.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_LIBRARY_CONVOLUTIONVIEWS_H
#define VEELINE_LIB_CONVERSION_LIBRARY_CONVOLUTIONVIEWS_H

#include "Kernels/LoopNest.h"
#include "veeline/Conversion/Convolution.h"

#include "mlir/IR/PatternMatch.h"

namespace veeline {

/// Elements of a buffer. A view may overlap itself: two indices may refer to
/// one element.
struct StridedView {
  mlir::Value base; ///< An allocation or an argument, without gaps.
  int64_t offset = 0;
  llvm::SmallVector<int64_t> sizes, strides;

  /// The part that begins at `starts` and has the sizes `newSizes`.
  StridedView slice(llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> newSizes) const;
  /// The same elements with the dimensions in the order `order`, which lists
  /// old dimensions.
  StridedView transpose(llvm::ArrayRef<unsigned> order) const;
  /// True if elements are adjacent in the order of dimensions. Dimensions of
  /// one element do not count.
  bool isDense() const;
  mlir::Type getElementType() const;
  /// The view at `index` of its first dimension, without this dimension.
  StridedView at(int64_t index) const;
};

/// Creates ops on views.
class ViewBuilder {
public:
  ViewBuilder(mlir::RewriterBase &rewriter, mlir::Location loc)
      : rewriter(rewriter), loc(loc) {}

  mlir::RewriterBase &rewriter;
  mlir::Location loc;

  /// Allocates a dense temporary.
  StridedView allocate(mlir::Type element, llvm::ArrayRef<int64_t> sizes);
  mlir::Value getMemRef(const StridedView &view);
  void fillWithZeros(const StridedView &view);
  /// Fills all of the view's buffer, a temporary.
  void fillAllWithZeros(const StridedView &view);
  /// Copies between views of equal sizes, and converts between their types.
  void copy(const StridedView &from, const StridedView &to);
  /// `view` if it is dense, else a dense copy of it.
  StridedView makeDense(const StridedView &view);
};

/// The three operands of a convolution, and its sizes. The dimensions are
/// (sample, group, channel, spatial...) for x and y, and (group, channel of y,
/// channel of x, spatial...) for w.
struct ConvolutionOperands {
  ConvolutionOperands(const ConvolutionDesc &desc, const NestAccess &a,
                      const NestAccess &b, const NestAccess &c);

  const ConvolutionDesc &desc;
  StridedView x, w, y;
  mlir::Type element; ///< The element type of the two operands that are read.
  mlir::Type result;  ///< The element type of the third operand.
  /// The type of sums before they are rounded to a result: f32.
  mlir::Type sum;

  unsigned rank() const { return desc.xSizes.size(); }
  /// The number of elements of a window, and the number of windows of a sample.
  int64_t windowSize() const;
  int64_t numWindows() const;
  /// The indices of a window's elements. The last dimension varies fastest.
  llvm::SmallVector<llvm::SmallVector<int64_t>> windowIndices() const;
  /// The sizes of x with padding, as far as windows reach.
  llvm::SmallVector<int64_t> paddedSizes() const;
  bool needsPadding() const;

  /// x and y as (sample, spatial..., group, channel); w as (spatial..., group,
  /// channel of x, channel of y).
  StridedView xChannelsLast() const;
  StridedView yChannelsLast() const;
  StridedView wWindowsFirst() const;

  /// True if sums are rounded at the end, and so are in a buffer of their own.
  bool isRounded() const { return result != sum; }

  /// Allocates a buffer like `view` (sample, spatial..., group, channel), with
  /// other spatial sizes. Its channels are last in memory. With `keepsOrder`,
  /// they are before the spatial dimensions if `view` has them there.
  StridedView allocateLike(ViewBuilder &builder, const StridedView &view,
                           llvm::ArrayRef<int64_t> sizes,
                           bool keepsOrder) const;

  /// The windows of `x` (sample, spatial..., group, channel), as (sample,
  /// spatial... of y, spatial... of w, group, channel).
  StridedView getWindows(const StridedView &x) const;

  /// x with padding. It is x itself if there is no padding, else a copy (see
  /// allocateLike).
  StridedView pad(ViewBuilder &builder, bool keepsOrder) const;
};

/// One dimension of x, divided into as many parts as the stride of windows. For
/// element o of y, element k of the window is element o + shift[k] of part
/// used[phase[k]].
struct Phases {
  llvm::SmallVector<int64_t>
      used; ///< The parts that some element of a window uses.
  /// The part and the shift of each element of a window.
  llvm::SmallVector<int64_t> phase, shift;
  int64_t size = 0; ///< The size of each part, as far as windows reach.

  Phases(const ConvolutionDesc &desc, unsigned dimension);
};

/// The elements of x among the first `size` elements of a part: `count`
/// elements from `first` on. Element `first` of the part is element `start` of
/// x.
struct Overlap {
  int64_t first = 0, count = 0, start = 0;

  Overlap(const ConvolutionDesc &desc, unsigned dimension, int64_t part,
          int64_t size);
};

/// All indices less than `limits`. The last dimension varies fastest.
llvm::SmallVector<llvm::SmallVector<int64_t>>
enumerateIndices(llvm::ArrayRef<int64_t> limits);

/// The library's entry for a convolution of f16 or bf16 whose result is f32.
/// Its operands are extended to f32 and multiplied in tf32, which represents
/// all numbers of both types.
ConvolutionDesc describeExtended(const ConvolutionDesc &desc);

/// Creates copies of `a` and `b` in the form of this entry.
std::pair<NestAccess, NestAccess>
extendFactors(ViewBuilder &builder, const ConvolutionDesc &desc,
              const NestAccess &a, const NestAccess &b, const NestAccess &c);

/// True if the place of an operand in its buffer is static.
bool hasStaticPlace(const NestAccess &access);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_LIBRARY_CONVOLUTIONVIEWS_H
