//===- Toolkit.h - the programs of a CUDA toolkit ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_GPU_TOOLKIT_H
#define VEELINE_LIB_CONVERSION_GPU_TOOLKIT_H

#include "Chips.h"

#include <string>
#include <vector>

namespace veeline {

/// A CUDA toolkit that was found.
class Toolkit {
public:
  /// The one in `directory`; where that is empty, the one that $CUDA_HOME,
  /// $CUDA_PATH, /usr/local/cuda or ptxas on PATH lead to. The error lists
  /// where it was looked for.
  static llvm::Expected<Toolkit> find(llvm::StringRef directory);

  /// As in "13.0".
  std::string getVersion() const;
  /// Its library of f64 functions, in LLVM's bitcode.
  std::string getLibdevice() const;
  /// The programs and the library above.
  std::vector<std::string> listFiles() const;
  /// Fails where the toolkit is older than the chip.
  llvm::Error checkKnows(const GpuChip &chip) const;

  /// Assembles PTX for a chip. `log` gets what `ptxas -v` says.
  llvm::Expected<std::string> assemble(llvm::StringRef ptx, const GpuChip &chip,
                                       std::string &log) const;

  struct Part {
    /// "elf" or "ptx".
    llvm::StringRef kind;
    GpuChip chip;
    llvm::StringRef bytes;
  };
  /// Makes one image.
  llvm::Expected<std::string> merge(llvm::ArrayRef<Part> parts) const;

private:
  explicit Toolkit(std::string directory) : directory(std::move(directory)) {}
  static llvm::Expected<Toolkit> open(std::string directory,
                                      llvm::StringRef origin);
  std::string getProgram(llvm::StringRef name) const;

  std::string directory;
  unsigned version = 0;
};

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_TOOLKIT_H
