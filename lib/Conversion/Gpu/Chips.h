//===- Chips.h - the supported GPUs -----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_GPU_CHIPS_H
#define VEELINE_LIB_CONVERSION_GPU_CHIPS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace veeline {

/// A chip, the first version of PTX that supports it, and the first toolkit
/// that supports that version. Versions are 10 * major + minor: 78 is 7.8, 128
/// is 12.8.
struct GpuChip {
  llvm::StringLiteral name;
  /// The compute capability, such as 80 for sm_80.
  unsigned number;
  unsigned ptxVersion, toolkitVersion;

  /// False if code for this chip runs on no other chip, as with sm_90a.
  bool isPortable() const { return !name.ends_with("a"); }
};

/// The chip with this name. If there is none, the error lists all names.
llvm::Expected<GpuChip> findChip(llvm::StringRef name);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_CHIPS_H
