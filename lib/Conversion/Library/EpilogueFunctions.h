//===- EpilogueFunctions.h - recognising epilogues of products --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions are recognised by their values, because each can be written in many
// ways.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_LIBRARY_EPILOGUEFUNCTIONS_H
#define VEELINE_LIB_CONVERSION_LIBRARY_EPILOGUEFUNCTIONS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace veeline {

/// The inputs of an elementwise op that an epilogue uses.
struct EpilogueInputs {
  unsigned product = 0;
  std::optional<unsigned> bias, aux;
};

/// Whether the op computes product + bias.
bool isBiasSum(mlir::linalg::GenericOp op, EpilogueInputs inputs);
/// Whether the op is GELU (with tanh) of the product, or of its sum with the
/// bias if there is one.
bool isGelu(mlir::linalg::GenericOp op, EpilogueInputs inputs);
/// Whether the op is the product times the derivative of that GELU at aux, or
/// at the sum of aux and a bias.
bool isGeluDerivative(mlir::linalg::GenericOp op, EpilogueInputs inputs);
/// The sums of the product and the bias in `op`, if it reads neither in another
/// way. Both may be converted before, and `op` may have other inputs.
llvm::SmallVector<mlir::arith::AddFOp> findBiasSums(mlir::linalg::GenericOp op,
                                                    EpilogueInputs inputs);
/// Whether the op computes something with a tanh.
bool hasTanh(mlir::linalg::GenericOp op);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_LIBRARY_EPILOGUEFUNCTIONS_H
