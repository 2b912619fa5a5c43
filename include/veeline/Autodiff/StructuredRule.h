//===- StructuredRule.h - the rule of structured ops ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_AUTODIFF_STRUCTUREDRULE_H
#define VEELINE_AUTODIFF_STRUCTUREDRULE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "veeline/Autodiff/DifferentiableOpInterface.h"

namespace veeline::autodiff {

/// The derivative rule of all structured ops. The adjoint of an operand is a
/// structured op over the same iteration space, in the same order. It writes
/// through the operand's map, and its scalar body is the differentiated body. A
/// dimension that is no plain result of that map is a reduction. Fails with an
/// error at the op, or the op of its body, that cannot be differentiated.
llvm::LogicalResult differentiateStructured(mlir::linalg::LinalgOp op,
                                            mlir::OpBuilder &builder,
                                            Adjoint &adjoint);

} // namespace veeline::autodiff

#endif // VEELINE_AUTODIFF_STRUCTUREDRULE_H
