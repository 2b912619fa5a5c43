//===- Loops.h - loops before they are differentiated -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_AUTODIFF_LOOPS_H
#define VEELINE_AUTODIFF_LOOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace veeline::autodiff {

/// On an `scf.for`, a boolean that says whether it is unrolled, whatever its
/// size.
inline constexpr llvm::StringLiteral unrollAttrName = "pipe.unroll";

/// A loop that makes more ops than this, or has more iterations, stays a loop.
inline constexpr int64_t mostUnrolledOps = 1024;
inline constexpr int64_t mostUnrolledIterations = 32;

/// Lowers to `scf.for`: `affine.for`, an `scf.forall` whose iterations give
/// slices, and an `scf.while` that counts a known number of iterations. Other
/// ops of affine become branches and arithmetic.
llvm::LogicalResult lowerLoops(mlir::func::FuncOp func);

/// Unrolls small loops, and loops that hold marks of cuts, so that every
/// iteration can be cut, kept and recomputed on its own. Takes the branches
/// whose condition is known. Fails with an error at a loop whose number of
/// iterations is not known.
llvm::LogicalResult unrollLoops(mlir::func::FuncOp func);

/// Brings a model into the form that is cut and differentiated: its loops as
/// above, and reads by index where nothing else has a rule.
llvm::LogicalResult prepareModel(mlir::func::FuncOp func);

/// Removes from loops and branches what they compute for results that nobody
/// uses. Linear in the number of ops.
void dropUnusedResults(mlir::func::FuncOp func);

} // namespace veeline::autodiff

#endif // VEELINE_AUTODIFF_LOOPS_H
