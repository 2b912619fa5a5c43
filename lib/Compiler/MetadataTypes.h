//===- MetadataTypes.h - MLIR types as types of artifacts -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_COMPILER_METADATATYPES_H
#define VEELINE_LIB_COMPILER_METADATATYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "veeline/artifact.h"

namespace veeline::compiler {

/// The element type of a tensor. Fails with a diagnostic at `loc` if the
/// runtime does not support it.
mlir::FailureOr<artifact::DataType> getDataType(mlir::Location loc,
                                                mlir::Type tensor);

/// The shape of a tensor type.
std::vector<int64_t> getShape(mlir::Type type);

} // namespace veeline::compiler

#endif // VEELINE_LIB_COMPILER_METADATATYPES_H
