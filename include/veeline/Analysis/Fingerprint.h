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

/// A hash, of 16 hexadecimal digits, of the work that a model does: its ops,
/// types, attributes and data flow, and which arguments are parameters or batch
/// arguments. Names, locations, initialisers and the elements of large
/// constants do not count, nor does anything that is chosen when a model is cut
/// and scheduled.
std::string getFingerprint(mlir::func::FuncOp model);

} // namespace veeline

#endif // VEELINE_ANALYSIS_FINGERPRINT_H
