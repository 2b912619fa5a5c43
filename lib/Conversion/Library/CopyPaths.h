//===- CopyPaths.h - avoiding copies that only rearrange --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op that accepts memory with any strides can itself read the source of a
// copy, and write the target of one.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_LIBRARY_COPYPATHS_H
#define VEELINE_LIB_CONVERSION_LIBRARY_COPYPATHS_H

#include "Kernels/LoopNest.h"

namespace veeline {

/// The copy that fills `buffer`, a temporary, if `reader` can read the source
/// of the copy instead: nobody writes that in between, and `reader` itself
/// writes no part of it that was copied.
std::optional<LoopNest> findCopyInto(mlir::Value buffer,
                                     mlir::Operation *reader);

/// The copy that is the only reader of `buffer`, a temporary that `writer`
/// alone writes, if `writer` can write the target of the copy instead: neither
/// it nor an op in between touches that part of the target.
std::optional<LoopNest> findCopyOf(mlir::Value buffer, mlir::Operation *writer);

/// Erases a copy that findCopyOf has found, and makes its target available at
/// `writer`.
void replaceCopy(mlir::RewriterBase &rewriter, const LoopNest &copy,
                 mlir::Operation *writer);

/// Turns access `index` of `nest`, which is to side `from` of `copy`, into one
/// to the other side. Splits loops of the nest that run over several loops of
/// the copy. False, with the nest in any state, where that is not possible.
bool redirect(LoopNest &nest, unsigned index, const LoopNest &copy,
              unsigned from);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_LIBRARY_COPYPATHS_H
