//===- CodeCache.h - cached machine code ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_COMPILER_CODECACHE_H
#define VEELINE_COMPILER_CODECACHE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace veeline::compiler {

/// A cache of machine code in a directory. The key is a hash of everything that
/// the code depends on. Several processes and threads may use one directory at
/// once. A damaged file counts as missing.
class CodeCache {
public:
  /// Opens the cache in `directory`, which is created if missing. Fails if it
  /// cannot be created or written to.
  static llvm::Expected<CodeCache> open(llvm::StringRef directory);

  /// A string that identifies the version of the file at `path` by size and
  /// date, as build tools do. Empty if there is no file.
  static std::string identify(llvm::StringRef path);

  /// The key of code that is compiled from `inputs`. It also depends on this
  /// build of the compiler and on LLVM.
  std::string getKey(llvm::ArrayRef<llvm::StringRef> inputs) const;

  /// The bytes that were added with `key`; none if they are not in the cache.
  std::optional<std::string> find(llvm::StringRef key) const;

  /// Adds `bytes`. Best effort: if that fails, for example on a full disk, the
  /// code is only compiled again next time.
  void add(llvm::StringRef key, llvm::StringRef bytes) const;

  /// Deletes files that were not used for a week, and the oldest files beyond 4
  /// GiB or 3/4 of the available space. Does nothing within 20 minutes of the
  /// last time.
  void prune() const;

private:
  CodeCache(llvm::StringRef directory, std::string compiler)
      : directory(directory), compiler(std::move(compiler)) {}
  std::string getPath(llvm::StringRef key) const;

  std::string directory;
  std::string compiler; ///< Identifies this build of the compiler.
};

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_CODECACHE_H
