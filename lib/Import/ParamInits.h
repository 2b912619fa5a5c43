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

/// Starts all elements from `value`.
pipe::InitAttr constantInit(mlir::MLIRContext *context, double value);

/// Starts a weight from the values that the file has for it.
pipe::InitAttr storedInit(mlir::ElementsAttr elements);

/// Starts a weight whose values are unknown as its uses suggest.
pipe::InitAttr drawnInit(mlir::MLIRContext *context, const Uses &uses);

/// Whether the file has the elements, and not only their shape.
bool isThere(mlir::ElementsAttr value);

/// The value of all elements; none where they differ or are not there.
std::optional<double> splatOf(mlir::ElementsAttr value);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_PARAMINITS_H
