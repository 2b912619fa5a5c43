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

/// Simplifies branches (`scf.if`) in bodies of structured ops. Ops that may run
/// whatever the condition is, such as computations of indices and reads of
/// elements, are moved out of the branch; if the branch is not taken, the
/// element at index 0 is read. Ops whose derivative may be infinite stay. A
/// branch without ops becomes an `arith.select`.
void simplifyBodyBranches(mlir::func::FuncOp func);

/// The rule of a branch in a body. It emits a second branch, which computes the
/// gradients of all values that either side captures. The derivative of the
/// side that is not taken, perhaps a division by zero, is never computed.
llvm::LogicalResult differentiateBodyBranch(mlir::scf::IfOp op,
                                            mlir::OpBuilder &builder,
                                            Adjoint &adjoint);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_BODYBRANCHES_H
