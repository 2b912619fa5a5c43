//===- CopyPaths.h - past copies that only rearrange -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What takes memory with any strides need not have a copy of what it reads, nor
// write what is then copied.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_LIBRARY_COPYPATHS_H
#define VEELINE_LIB_CONVERSION_LIBRARY_COPYPATHS_H

#include "Kernels/LoopNest.h"

namespace veeline {

/// The copy that is all of what `buffer`, a temporary, holds, where `reader`
/// can as well read what was copied: nobody writes that in between, nor does it
/// itself.
std::optional<LoopNest> findCopyInto(mlir::Value buffer,
                                     mlir::Operation *reader);

/// The copy that is all that happens to `buffer`, a temporary that `writer`
/// alone writes, where that can as well write the copy: it touches other parts
/// of the target alone, and so does everybody in between.
std::optional<LoopNest> findCopyOf(mlir::Value buffer, mlir::Operation *writer);

/// Erases what findCopyOf has found, and has its target there at `writer`.
void replaceCopy(mlir::RewriterBase &rewriter, const LoopNest &copy,
                 mlir::Operation *writer);

/// Tells access `index` of `nest`, which is to side `from` of `copy`, as one to
/// the other side. Loops of the nest that run over several loops of the copy
/// are split. False, with the nest in any state, where that is not possible.
bool redirect(LoopNest &nest, unsigned index, const LoopNest &copy,
              unsigned from);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_LIBRARY_COPYPATHS_H
