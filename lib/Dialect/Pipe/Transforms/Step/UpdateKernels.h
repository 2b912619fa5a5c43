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
  bool errorFeedback; ///< Whether one more slot has the last update.
  /// Whether the outcome of clipping (ClipKernels.h) is used.
  bool isClipped = false;

  /// The size of the state as a multiple of the parameter's size, for all
  /// optimisers but Adafactor.
  int64_t getOwnSlots() const { return getStateSlots() - errorFeedback; }
  int64_t getStateSlots() const {
    return stateShapes(optimizer, errorFeedback, {&numElements, 1}).size();
  }
};

/// True if every slot of the state starts at the alignment of a kernel's
/// buffers. Each slot is then an argument of its own; otherwise the whole state
/// is one.
bool hasSeparateSlots(const UpdateShape &shape);

/// The kernel `pipe_<optimizer>_...`. It takes the settings (a
/// `veeline_settings`), the outcome of clipping if gradients are clipped, the
/// gradients, the value, and the state if there is one. Its arithmetic is that
/// of the host's updates.
mlir::func::FuncOp getUpdateKernel(mlir::SymbolTable &symbols,
                                   const UpdateShape &shape);

/// The kernel `pipe_norm_...`. It takes the settings, the gradients, and
/// `parts` doubles. To these it adds the squares of the elements of the
/// averaged gradient.
mlir::func::FuncOp getNormKernel(mlir::SymbolTable &symbols,
                                 const UpdateShape &shape, int64_t parts);

// Kernels of Muon, for a matrix.
/// Takes the settings, the outcome of clipping if gradients are clipped, the
/// gradients, the momentum and the direction. Writes the last two.
mlir::func::FuncOp getMuonMomentumKernel(mlir::SymbolTable &symbols,
                                         const UpdateShape &shape);
/// Takes the direction, and writes the sums of squares of its parts: as many
/// doubles as `normParts` says.
mlir::func::FuncOp getSquaresKernel(mlir::SymbolTable &symbols,
                                    const UpdateShape &shape);
/// Takes a sum of squares and the direction, and divides the direction by the
/// root of the sum.
mlir::func::FuncOp getNormalizeKernel(mlir::SymbolTable &symbols,
                                      const UpdateShape &shape);
/// Takes the settings, the outcome of clipping if gradients are clipped, the
/// orthogonal direction, the value and, with error feedback, the last update.
/// `longest` is the longer side of the matrix.
mlir::func::FuncOp getMuonStepKernel(mlir::SymbolTable &symbols,
                                     const UpdateShape &shape, int64_t longest);

// Kernels of Adafactor, for a matrix, or for any other parameter as a matrix
// whose rows are the parts of its norm. All of them first take the settings
// and, if gradients are clipped, the outcome of clipping.
struct AdafactorShape : UpdateShape {
  int64_t rows, columns;
  bool isFactored; ///< Whether the parameter is a matrix.

  int64_t getOwnState() const {
    return isFactored ? rows + columns : numElements;
  }
  int64_t getWholeState() const {
    return getOwnState() + (errorFeedback ? numElements : 0);
  }
};
/// Also takes the gradients. Writes the sums of their squares: a double for
/// each row, or for each column.
mlir::func::FuncOp getAdafactorSumsKernel(mlir::SymbolTable &symbols,
                                          const AdafactorShape &shape,
                                          bool ofRows);
/// Also takes these sums and the state. Updates the means of rows or columns in
/// the state.
mlir::func::FuncOp getAdafactorMeansKernel(mlir::SymbolTable &symbols,
                                           const AdafactorShape &shape,
                                           bool ofRows);
/// For a parameter that is not a matrix. Also takes the gradients and the
/// state. Updates the second moments in the state.
mlir::func::FuncOp getAdafactorMomentsKernel(mlir::SymbolTable &symbols,
                                             const AdafactorShape &shape);
/// Also takes the state. Writes a double: the sum of the means of rows.
mlir::func::FuncOp getAdafactorTotalKernel(mlir::SymbolTable &symbols,
                                           const AdafactorShape &shape);
/// Also takes the gradients, the state and the sum of the means of rows. Writes
/// the sums of squares of the direction: a double for each row.
mlir::func::FuncOp getAdafactorLengthKernel(mlir::SymbolTable &symbols,
                                            const AdafactorShape &shape);
/// Also takes the sums of squares of the value and of the direction. Writes a
/// number: the rate by which the direction is multiplied.
mlir::func::FuncOp getAdafactorRateKernel(mlir::SymbolTable &symbols,
                                          const AdafactorShape &shape);
/// Also takes the gradients, the state, the sum of the means of rows, the rate
/// and the value. Updates the value.
mlir::func::FuncOp getAdafactorStepKernel(mlir::SymbolTable &symbols,
                                          const AdafactorShape &shape);

/// Marks a private function of buffers as a kernel.
void markKernel(mlir::func::FuncOp function);
/// Ends a private function of buffers at `builder`, marks it as a kernel, and
/// adds it to `symbols`.
mlir::func::FuncOp finishKernel(mlir::SymbolTable &symbols,
                                mlir::OpBuilder &builder,
                                mlir::func::FuncOp function);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_STEP_UPDATEKERNELS_H
