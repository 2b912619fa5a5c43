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

  /// How many parts of the parameter's shape the state has, of all optimisers
  /// but Adafactor.
  int64_t getOwnSlots() const { return getStateSlots() - errorFeedback; }
  int64_t getStateSlots() const {
    return stateShapes(optimizer, errorFeedback, {&numElements, 1}).size();
  }
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
/// `parts` doubles, to which it adds the squares of the elements of the
/// averaged gradient.
mlir::func::FuncOp getNormKernel(mlir::SymbolTable &symbols,
                                 const UpdateShape &shape, int64_t parts);

// Of Muon, for a matrix.
/// A kernel of the settings, what came of the limits where gradients are
/// clipped, the gradients, the momentum and the direction. The last two it
/// writes.
mlir::func::FuncOp getMuonMomentumKernel(mlir::SymbolTable &symbols,
                                         const UpdateShape &shape);
/// A kernel of the direction and of as many doubles as `normParts` says,
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

// Of Adafactor, for a matrix, or for any other parameter as a matrix whose rows
// are parts of a norm. All but the last but two are kernels of the settings
// and, where gradients are clipped, of what came of the limits.
struct AdafactorShape : UpdateShape {
  int64_t rows, columns;
  bool isFactored; ///< It is a matrix.

  int64_t getOwnState() const {
    return isFactored ? rows + columns : numElements;
  }
  int64_t getWholeState() const {
    return getOwnState() + (errorFeedback ? numElements : 0);
  }
};
/// Then of the gradients and of a double for each row, or each column: sums of
/// the squares of gradients.
mlir::func::FuncOp getAdafactorSumsKernel(mlir::SymbolTable &symbols,
                                          const AdafactorShape &shape,
                                          bool ofRows);
/// Then of such sums and of the state, of which it updates the means of rows or
/// columns.
mlir::func::FuncOp getAdafactorMeansKernel(mlir::SymbolTable &symbols,
                                           const AdafactorShape &shape,
                                           bool ofRows);
/// Of a parameter that is no matrix: then of the gradients and of the state, of
/// which it updates the second moments.
mlir::func::FuncOp getAdafactorMomentsKernel(mlir::SymbolTable &symbols,
                                             const AdafactorShape &shape);
/// A kernel of the state and of a double, the sum of the means of rows.
mlir::func::FuncOp getAdafactorTotalKernel(mlir::SymbolTable &symbols,
                                           const AdafactorShape &shape);
/// Then of the gradients, of the state, of the sum of the means of rows and of
/// a double for each row: the sum of the squares of the direction.
mlir::func::FuncOp getAdafactorLengthKernel(mlir::SymbolTable &symbols,
                                            const AdafactorShape &shape);
/// A kernel of the settings, of the sums of squares of the value and of the
/// direction, and of a number, the rate by which the direction is multiplied.
mlir::func::FuncOp getAdafactorRateKernel(mlir::SymbolTable &symbols,
                                          const AdafactorShape &shape);
/// Then of the gradients, of the state, of the sum of the means of rows, of the
/// rate and of the value, which it updates.
mlir::func::FuncOp getAdafactorStepKernel(mlir::SymbolTable &symbols,
                                          const AdafactorShape &shape);

/// Makes a kernel of a private function of buffers.
void markKernel(mlir::func::FuncOp function);
/// Ends a private function of buffers where `builder` is, makes a kernel of it,
/// and adds it to `symbols`.
mlir::func::FuncOp finishKernel(mlir::SymbolTable &symbols,
                                mlir::OpBuilder &builder,
                                mlir::func::FuncOp function);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_STEP_UPDATEKERNELS_H
