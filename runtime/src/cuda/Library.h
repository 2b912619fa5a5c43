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

/// A library to load, and its descriptions in errors.
struct LibraryName {
  const char *what;   ///< "the CUDA driver".
  const char *option; ///< The option for its file: "--cuda-driver".
  const char *advice; ///< "install NVIDIA's driver".
  /// Tried in this order if the user names no file.
  std::vector<std::string> files;
};

/// An open shared library. It is never closed, because CUDA's libraries cannot
/// be closed while their threads run.
class Library {
public:
  /// Opens the file `path` or, if it is empty, the first of `name.files` that
  /// can be loaded. The error has the loader's message for each file.
  static Expected<Library> open(const LibraryName &name,
                                const std::string &path);

  const std::string &path() const { return file; }
  /// Sets `function`. If the library has no function `name`, the error says
  /// that it is not `what`.
  template <typename Function>
  Status find(const char *name, Function *&function, const char *what) const {
    findIfThere(name, function);
    return function ? Status::success() : missing(name, what);
  }
  /// Sets `function`, to null if the library has no function `name`.
  template <typename Function>
  void findIfThere(const char *name, Function *&function) const {
    function = reinterpret_cast<Function *>(find(name));
  }

private:
  void *find(const char *name) const;
  Status missing(const char *name, const char *what) const;

  std::string file;
  void *handle = nullptr;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_LIBRARY_H
