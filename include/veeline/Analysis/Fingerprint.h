//===- Fingerprint.h - which model a measurement is of ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_FINGERPRINT_H
#define VEELINE_ANALYSIS_FINGERPRINT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace veeline {

/// A hash of the computation of a model, as 16 hexadecimal digits. It covers
/// ops, types, attributes, data flow, and which arguments are parameters or
/// batch arguments. It does not cover names, locations, initialisers, the
/// elements of large constants, and anything that is chosen when the model is
/// cut and scheduled.
std::string getFingerprint(mlir::func::FuncOp model);

} // namespace veeline

#endif // VEELINE_ANALYSIS_FINGERPRINT_H
