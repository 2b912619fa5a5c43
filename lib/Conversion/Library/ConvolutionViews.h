//===- ConvolutionViews.h - operands of a convolution, and copies -*- C++ -*-=//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions without a library become matrix products and kernels. These work
// on views of the operands, or on dense copies with zeros around them and the
// channels last.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_LIBRARY_CONVOLUTIONVIEWS_H
#define VEELINE_LIB_CONVERSION_LIBRARY_CONVOLUTIONVIEWS_H

#include "Kernels/LoopNest.h"
#include "veeline/Conversion/Convolution.h"

#include "mlir/IR/PatternMatch.h"

namespace veeline {

/// Elements of a buffer. Views may overlap themselves: two indices may name one
/// element.
struct StridedView {
  mlir::Value base; ///< An allocation or an argument, without gaps.
  int64_t offset = 0;
  llvm::SmallVector<int64_t> sizes, strides;

  /// The part that begins at `starts`, with `newSizes`.
  StridedView slice(llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> newSizes) const;
  /// The same elements with dimensions in the order `order` (new to old).
  StridedView transpose(llvm::ArrayRef<unsigned> order) const;
  /// True if elements lie one after the other in the order of dimensions.
  /// Dimensions of one element do not count.
  bool isDense() const;
  mlir::Type getElementType() const;
  /// The view at `index` in its first dimension, without it.
  StridedView at(int64_t index) const;
};

/// Writes ops on views.
class ViewBuilder {
public:
  ViewBuilder(mlir::RewriterBase &rewriter, mlir::Location loc)
      : rewriter(rewriter), loc(loc) {}

  mlir::RewriterBase &rewriter;
  mlir::Location loc;

  /// A temporary without gaps.
  StridedView allocate(mlir::Type element, llvm::ArrayRef<int64_t> sizes);
  mlir::Value getMemRef(const StridedView &view);
  void fillWithZeros(const StridedView &view);
  /// Fills all of the view's buffer, a temporary.
  void fillAllWithZeros(const StridedView &view);
  /// Copies between views of equal sizes, and converts between their types.
  void copy(const StridedView &from, const StridedView &to);
  /// `view`, or a copy of it where it is not dense.
  StridedView makeDense(const StridedView &view);
};

/// The three operands of a convolution, with the dimensions (sample, group,
/// channel, spatial...) of x and y, (group, channel of y, channel of x,
/// spatial...) of w, and the numbers that its windows follow from.
struct ConvolutionOperands {
  ConvolutionOperands(const ConvolutionDesc &desc, const NestAccess &a,
                      const NestAccess &b, const NestAccess &c);

  const ConvolutionDesc &desc;
  StridedView x, w, y;
  mlir::Type element; ///< Of the two that are read.
  mlir::Type result;  ///< Of the third one.
  mlir::Type sum;     ///< Of what is added up to a result: f32.

  unsigned rank() const { return desc.xSizes.size(); }
  /// How many elements a window has, and how many windows there are of a
  /// sample.
  int64_t windowSize() const;
  int64_t numWindows() const;
  /// The indices of a window's elements; the last dimension runs fastest.
  llvm::SmallVector<llvm::SmallVector<int64_t>> windowIndices() const;
  /// The extents that all windows reach, zeros before and behind x included.
  llvm::SmallVector<int64_t> paddedSizes() const;
  bool needsPadding() const;

  /// x as (sample, spatial..., group, channel), y likewise; w as (spatial...,
  /// group, channel of x, channel of y).
  StridedView xChannelsLast() const;
  StridedView yChannelsLast() const;
  StridedView wWindowsFirst() const;

  /// True if sums are rounded afterwards, and so have a place of their own.
  bool isRounded() const { return result != sum; }

  /// Allocates a copy of `view` (sample, spatial..., group, channel) with other
  /// spatial sizes. In memory its channels are last or, with `keepsOrder`,
  /// before the spatial dimensions if they are in `view`.
  StridedView allocateLike(ViewBuilder &builder, const StridedView &view,
                           llvm::ArrayRef<int64_t> sizes,
                           bool keepsOrder) const;

  /// What windows of `x` (sample, spatial..., group, channel) see: (sample,
  /// spatial... of y, spatial... of w, group, channel).
  StridedView getWindows(const StridedView &x) const;

  /// x with all the zeros that windows see: in its own place where there are
  /// none, else a copy (see allocateLike).
  StridedView pad(ViewBuilder &builder, bool keepsOrder) const;
};

/// One dimension of x, cut into as many parts as windows step. Element k of the
/// window of element o of y sees element o + shift[k] of part used[phase[k]].
struct Phases {
  llvm::SmallVector<int64_t>
      used; ///< Parts that some element of a window sees.
  llvm::SmallVector<int64_t> phase, shift; ///< By element of a window.
  int64_t size = 0; ///< Of each part, as far as windows see.

  Phases(const ConvolutionDesc &desc, unsigned dimension);
};

/// The elements among the first `size` of a part that x has: `count` of them
/// from `first` on, which is element `start` of x.
struct Overlap {
  int64_t first = 0, count = 0, start = 0;

  Overlap(const ConvolutionDesc &desc, unsigned dimension, int64_t part,
          int64_t size);
};

/// All indices below `limits`; the last dimension runs fastest.
llvm::SmallVector<llvm::SmallVector<int64_t>>
enumerateIndices(llvm::ArrayRef<int64_t> limits);

/// The library's entry for a convolution of f16 or bf16 whose result is of f32.
/// Its operands are extended to f32 and multiplied in tf32, which holds all
/// numbers of both types.
ConvolutionDesc describeExtended(const ConvolutionDesc &desc);

/// Writes copies of `a` and `b` as that entry has them.
std::pair<NestAccess, NestAccess>
extendFactors(ViewBuilder &builder, const ConvolutionDesc &desc,
              const NestAccess &a, const NestAccess &b, const NestAccess &c);

/// True if the place of an operand in its buffer is static.
bool hasStaticPlace(const NestAccess &access);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_LIBRARY_CONVOLUTIONVIEWS_H
