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
  /// Sets `function`. A library without function `name` is not `what`, as the
  /// error says.
  template <typename Function>
  Status find(const char *name, Function *&function, const char *what) const {
    function = reinterpret_cast<Function *>(find(name));
    return function ? Status::success() : missing(name, what);
  }

private:
  void *find(const char *name) const;
  Status missing(const char *name, const char *what) const;

  std::string file;
  void *handle = nullptr;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_LIBRARY_H
