//===- CopyPaths.h - avoiding copies that only rearrange --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op that supports any strides can itself read the source of a copy, and
// write the target of one. So the copy can be avoided.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_LIBRARY_COPYPATHS_H
#define VEELINE_LIB_CONVERSION_LIBRARY_COPYPATHS_H

#include "Kernels/LoopNest.h"

namespace veeline {

/// The copy that fills the temporary `buffer`, if `reader` can read the source
/// of the copy instead. For that, no op may write the source in between, and
/// `reader` may not write the copied part of it.
std::optional<LoopNest> findCopyInto(mlir::Value buffer,
                                     mlir::Operation *reader);

/// The copy that is the only reader of the temporary `buffer`, which only
/// `writer` writes, if `writer` can write the target of the copy instead. For
/// that, neither `writer` nor an op in between may access that part of the
/// target.
std::optional<LoopNest> findCopyOf(mlir::Value buffer, mlir::Operation *writer);

/// Erases a copy that findCopyOf has found, and makes its target available
/// before `writer`.
void replaceCopy(mlir::RewriterBase &rewriter, const LoopNest &copy,
                 mlir::Operation *writer);

/// Redirects access `index` of `nest` from side `from` of `copy` to the other
/// side. Splits loops of the nest that correspond to several loops of the copy.
/// Returns false if it is not possible; `nest` is then invalid.
bool redirect(LoopNest &nest, unsigned index, const LoopNest &copy,
              unsigned from);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_LIBRARY_COPYPATHS_H
