//===- KernelTable.h - the table of kernels that steps launch ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_CONVERSION_KERNELTABLE_H
#define VEELINE_CONVERSION_KERNELTABLE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

#include <array>
#include <string>

namespace veeline {

/// One entry of a module's table of kernels.
struct KernelEntry {
  std::string name; ///< The name of the gpu.func.
  std::array<int32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  int64_t sharedBytes = 0; ///< Dynamic shared memory.
  int64_t numArguments = 0;

  /// The attribute: a dictionary of `name`, `grid`, `block`, `shared_bytes`,
  /// `num_arguments`.
  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
  /// Reads the attribute. Fails if an entry is missing or has another type.
  static mlir::FailureOr<KernelEntry> fromAttribute(mlir::Attribute attribute);
};

/// The attribute of a module that lists its kernels, an array of dictionaries
/// in the order of the numbers given to `veeline_launch`.
inline constexpr llvm::StringLiteral kernelsAttrName = "pipe.kernels";

/// The name of the kernel that adds up `count` contributions of type `type`.
std::string getSumKernelName(mlir::Type type, int64_t count);

} // namespace veeline

#endif // VEELINE_CONVERSION_KERNELTABLE_H
