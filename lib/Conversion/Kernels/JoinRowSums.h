//===- JoinRowSums.h - moving sums into the kernels of their rows ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_KERNELS_JOINROWSUMS_H
#define VEELINE_LIB_CONVERSION_KERNELS_JOINROWSUMS_H

#include "mlir/IR/BuiltinOps.h"

namespace veeline {

/// Moves sums over the rows of a matrix, in parts, into an earlier kernel that
/// reads or writes all of these rows anyway (`pipe.row_sums`). For functions
/// whose kernels are outlined for a GPU.
void joinRowSums(mlir::ModuleOp module);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_JOINROWSUMS_H
