//===- Loops.h - loops before they are differentiated -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_AUTODIFF_LOOPS_H
#define VEELINE_AUTODIFF_LOOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace veeline::autodiff {

/// On an `scf.for`, a boolean: whether to unroll it, whatever its size.
inline constexpr llvm::StringLiteral unrollAttrName = "pipe.unroll";

/// A loop with more iterations than this, or that would unroll to more ops,
/// stays a loop.
inline constexpr int64_t mostUnrolledOps = 1024;
inline constexpr int64_t mostUnrolledIterations = 32;

/// Lowers loops to `scf.for`: `affine.for`, an `scf.forall` whose iterations
/// yield slices, and an `scf.while` with a known number of iterations. Other
/// ops of the affine dialect become branches and arithmetic.
llvm::LogicalResult lowerLoops(mlir::func::FuncOp func);

/// Unrolls small loops, and loops that contain marks of cuts, so that each
/// iteration can be cut, kept and recomputed by itself. Folds branches with a
/// known condition. Fails with an error at a loop whose number of iterations is
/// unknown.
llvm::LogicalResult unrollLoops(mlir::func::FuncOp func);

/// Brings a model into the form that is cut and differentiated: lowers and
/// unrolls its loops as above, and turns operands and paddings without a rule
/// into reads by index (Gathers.h).
llvm::LogicalResult prepareModel(mlir::func::FuncOp func);

/// Removes unused results of loops and branches, and what computes only these.
/// Linear in the number of ops.
void dropUnusedResults(mlir::func::FuncOp func);

} // namespace veeline::autodiff

#endif // VEELINE_AUTODIFF_LOOPS_H
