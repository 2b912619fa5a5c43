//===- Registration.h - derivative rules of upstream dialects ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_AUTODIFF_REGISTRATION_H
#define VEELINE_AUTODIFF_REGISTRATION_H

#include "mlir/Support/LLVM.h"
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
class MLIRContext;
} // namespace mlir

namespace veeline::autodiff {

/// Attaches DifferentiableOpInterface to the ops that have a derivative rule,
/// in arith, math, linalg, scf and tensor, and to the attention of pipe.
void registerDerivativeInterfaces(mlir::DialectRegistry &registry);

/// The names of all ops with a derivative rule in the dialects that `context`
/// has loaded, in ascending order.
std::vector<std::string> listDifferentiableOps(mlir::MLIRContext &context);

} // namespace veeline::autodiff

#endif // VEELINE_AUTODIFF_REGISTRATION_H
