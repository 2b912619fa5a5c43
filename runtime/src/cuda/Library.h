//===- Library.h - libraries that are found when one starts ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_LIBRARY_H
#define VEELINE_RUNTIME_CUDA_LIBRARY_H

#include "veeline/status.h"

#include <string>
#include <vector>

namespace veeline::cuda {

/// What to look for.
struct LibraryName {
  const char *what;               ///< "the CUDA driver".
  const char *option;             ///< That names the file: "--cuda-driver".
  const char *advice;             ///< "install NVIDIA's driver".
  std::vector<std::string> files; ///< In this order, where no file is named.
};

/// A shared library that is open. It stays so until the process ends: CUDA's
/// cannot be closed while their threads run.
class Library {
public:
  /// The file `path`, or the first of the usual ones that can be loaded. The
  /// error says what was looked for, and what the loader said of each.
  static Expected<Library> open(const LibraryName &name,
                                const std::string &path);

  const std::string &path() const { return file; }
  /// Null where it has none of this name.
  void *find(const char *function) const;
  /// The error where it is not `what`: it has no such function.
  Status missing(const char *function, const char *what) const;

private:
  std::string file;
  void *handle = nullptr;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_LIBRARY_H
