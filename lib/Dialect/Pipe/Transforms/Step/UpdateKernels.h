//===- UpdateKernels.h - optimisers as kernel functions ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_STEP_UPDATEKERNELS_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_STEP_UPDATEKERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "veeline/Base/Optimizers.h"

namespace veeline::pipe {

/// An optimiser's update of one parameter.
struct UpdateShape {
  mlir::Type element; ///< f32 or f64.
  int64_t numElements;
  int64_t numGradients;
  Optimizer optimizer;
  bool errorFeedback;     ///< One more slot has the update before.
  bool isClipped = false; ///< What came of the limits (ClipKernels.h) counts.

  int64_t getOwnSlots() const { return stateSlots(optimizer, false); }
  int64_t getStateSlots() const { return stateSlots(optimizer, errorFeedback); }
};

/// True where every slot of the state starts where a kernel's buffers can, so
/// that each is an argument of its own; else the whole state is one.
bool hasSeparateSlots(const UpdateShape &shape);

/// The function `pipe_<optimizer>_...`, a kernel of the settings (a
/// `veeline_settings`), where gradients are clipped what came of the limits,
/// the gradients, the value and, where there is one, the state. Its arithmetic
/// is that of the host's updates.
mlir::func::FuncOp getUpdateKernel(mlir::SymbolTable &symbols,
                                   const UpdateShape &shape);

/// The function `pipe_norm_...`, a kernel of the settings, the gradients and
/// as many doubles as `getNormParts` says, to which it adds the squares of the
/// elements of the averaged gradient.
mlir::func::FuncOp getNormKernel(mlir::SymbolTable &symbols,
                                 const UpdateShape &shape);

// Of Muon, for a matrix.
/// A kernel of the settings, what came of the limits where gradients are
/// clipped, the gradients, the momentum and the direction. The last two it
/// writes.
mlir::func::FuncOp getMuonMomentumKernel(mlir::SymbolTable &symbols,
                                         const UpdateShape &shape);
/// A kernel of the direction and of as many doubles as `getNormParts` says,
/// which are the sums of squares of its parts.
mlir::func::FuncOp getSquaresKernel(mlir::SymbolTable &symbols,
                                    const UpdateShape &shape);
/// A kernel of a sum of squares and of the direction, which it divides by the
/// root of that.
mlir::func::FuncOp getNormalizeKernel(mlir::SymbolTable &symbols,
                                      const UpdateShape &shape);
/// A kernel of the settings, what came of the limits where gradients are
/// clipped, the direction, once it is orthogonal, the value and, with error
/// feedback, the update before. `longest` is the longer side of the matrix.
mlir::func::FuncOp getMuonStepKernel(mlir::SymbolTable &symbols,
                                     const UpdateShape &shape, int64_t longest);

/// Makes a kernel of a private function of buffers.
void markKernel(mlir::func::FuncOp function);
/// Ends a private function of buffers where `builder` is, makes a kernel of it,
/// and adds it to `symbols`.
mlir::func::FuncOp finishKernel(mlir::SymbolTable &symbols,
                                mlir::OpBuilder &builder,
                                mlir::func::FuncOp function);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_STEP_UPDATEKERNELS_H
