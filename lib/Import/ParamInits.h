//===- ParamInits.h - initialisers of imported parameters -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_PARAMINITS_H
#define VEELINE_LIB_IMPORT_PARAMINITS_H

#include "Uses.h"

#include "veeline/Dialect/Pipe/IR/Pipe.h"

#include <optional>

namespace veeline {

/// The initialiser that sets all elements to `value`.
pipe::InitAttr constantInit(mlir::MLIRContext *context, double value);

/// The initialiser with the values that the file has for a weight.
pipe::InitAttr storedInit(mlir::ElementsAttr elements);

/// The initialiser of a weight with unknown values, chosen by its uses.
pipe::InitAttr drawnInit(mlir::MLIRContext *context, const Uses &uses);

/// Whether the file has the elements, and not only their shape.
bool isThere(mlir::ElementsAttr value);

/// The value of all elements. None if they differ or are not in the file.
std::optional<double> splatOf(mlir::ElementsAttr value);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_PARAMINITS_H
