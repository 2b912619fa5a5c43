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

/// 16 hexadecimal digits that are the same for models that do the same work:
/// their ops, types, attributes and data flow, and which arguments are
/// parameters. Names, locations, initialisers and the elements of constants of
/// more than a few do not count, nor does anything that is chosen when a model
/// is cut and scheduled.
std::string getFingerprint(mlir::func::FuncOp model);

} // namespace veeline

#endif // VEELINE_ANALYSIS_FINGERPRINT_H
