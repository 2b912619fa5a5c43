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

/// A CUDA toolkit on this machine.
class Toolkit {
public:
  /// Finds the toolkit in `directory`. If that is empty, searches $CUDA_HOME,
  /// $CUDA_PATH, /usr/local/cuda and ptxas on PATH. The error lists the places
  /// that were searched.
  static llvm::Expected<Toolkit> find(llvm::StringRef directory);

  /// The version in the form "13.0".
  std::string getVersion() const;
  /// The path of its library of f64 functions, in LLVM's bitcode.
  std::string getLibdevice() const;
  /// The paths of the programs and of this library.
  std::vector<std::string> listFiles() const;
  /// Fails if the toolkit is older than the chip.
  llvm::Error checkKnows(const GpuChip &chip) const;

  /// Assembles PTX for a chip. Stores the output of `ptxas -v` in `log`.
  llvm::Expected<std::string> assemble(llvm::StringRef ptx, const GpuChip &chip,
                                       std::string &log) const;

  struct Part {
    /// "elf" or "ptx".
    llvm::StringRef kind;
    GpuChip chip;
    llvm::StringRef bytes;
  };
  /// Merges several codes into one image.
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
