//===- BodyBranches.h - branches in bodies of structured ops ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_BODYBRANCHES_H
#define VEELINE_LIB_AUTODIFF_BODYBRANCHES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "veeline/Autodiff/DifferentiableOpInterface.h"

namespace veeline::autodiff {

/// Moves what can be computed whatever the condition is out of the branches
/// (`scf.if`) in the bodies of structured ops: indices, and elements of
/// tensors, which are read at 0 where the branch is not taken. A branch in
/// which nothing is left whose derivative may be infinite becomes an
/// `arith.select`.
void simplifyBodyBranches(mlir::func::FuncOp func);

/// The rule of a branch in a body: a branch that gives the gradients of what
/// either side captures, so that the derivative of the side that is not taken,
/// a division by zero perhaps, is never computed.
llvm::LogicalResult differentiateBodyBranch(mlir::scf::IfOp op,
                                            mlir::OpBuilder &builder,
                                            Adjoint &adjoint);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_BODYBRANCHES_H
