//===- Library.h - shared libraries loaded at run time ----------*- C++ -*-===//
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

/// A library to load, and what errors say of it.
struct LibraryName {
  const char *what;               ///< "the CUDA driver".
  const char *option;             ///< The option for its file: "--cuda-driver".
  const char *advice;             ///< "install NVIDIA's driver".
  std::vector<std::string> files; ///< Tried in this order if no file is named.
};

/// An open shared library. It is never closed: CUDA's libraries cannot be while
/// their threads run.
class Library {
public:
  /// Opens the file `path` or, where that is empty, the first of `name.files`
  /// that can be loaded. The error has the loader's message for each.
  static Expected<Library> open(const LibraryName &name,
                                const std::string &path);

  const std::string &path() const { return file; }
  /// Null if the library has no such function.
  void *find(const char *function) const;
  /// The error for a library without `function`, which is thus not `what`.
  Status missing(const char *function, const char *what) const;

private:
  std::string file;
  void *handle = nullptr;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_LIBRARY_H
