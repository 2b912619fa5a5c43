//===- CodeCache.h - machine code that was compiled before ------*- C++ -*-===//
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

/// Keeps machine code in a directory, under the hash of all that it depends
/// on. Several processes and threads may use one directory at once. A damaged
/// file counts as missing.
class CodeCache {
public:
  /// Makes `directory` where it is missing. Fails where that cannot be done, or
  /// where it cannot be written to.
  static llvm::Expected<CodeCache> open(llvm::StringRef directory);

  /// Tells one version of the file at `path` from another, by its size and
  /// date, as build tools do. Empty where there is none.
  static std::string identify(llvm::StringRef path);

  /// The key of what is compiled from `inputs`. It also depends on this build
  /// of the compiler and on LLVM.
  std::string getKey(llvm::ArrayRef<llvm::StringRef> inputs) const;

  /// What was added with `key`.
  std::optional<std::string> find(llvm::StringRef key) const;

  /// Best effort: a full disk costs the next compile time, and nothing else.
  void add(llvm::StringRef key, llvm::StringRef bytes) const;

  /// Deletes what was not used for a week, and the oldest files beyond 4 GiB or
  /// 3/4 of the space that is free. Does nothing if that was done within 20
  /// minutes.
  void prune() const;

private:
  CodeCache(llvm::StringRef directory, std::string compiler)
      : directory(directory), compiler(std::move(compiler)) {}
  std::string getPath(llvm::StringRef key) const;

  std::string directory;
  std::string compiler; ///< What identifies it.
};

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_CODECACHE_H
