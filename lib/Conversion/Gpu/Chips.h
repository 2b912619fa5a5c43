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

/// A chip, the first version of PTX that knows it, and the first toolkit that
/// knows that version. Versions are 10 * major + minor: 78 is 7.8, 128 is 12.8.
struct GpuChip {
  llvm::StringLiteral name;
  /// The compute capability, 80 of sm_80.
  unsigned number;
  unsigned ptxVersion, toolkitVersion;

  /// False for code that no other chip runs, such as sm_90a.
  bool isPortable() const { return !name.ends_with("a"); }
};

/// The chip of this name; an error that lists all where there is none.
llvm::Expected<GpuChip> findChip(llvm::StringRef name);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_CHIPS_H
