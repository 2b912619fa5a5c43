//===- Subprocess.h - linkers and assemblers as processes -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_HOST_SUBPROCESS_H
#define VEELINE_LIB_CONVERSION_HOST_SUBPROCESS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace veeline {

/// A file that is removed with this object, or by a signal that ends the
/// process.
class TemporaryFile {
public:
  static llvm::Expected<TemporaryFile> create(llvm::StringRef suffix,
                                              llvm::ArrayRef<char> bytes = {});
  TemporaryFile(TemporaryFile &&other);
  TemporaryFile &operator=(TemporaryFile &&other) = delete;
  ~TemporaryFile();

  const std::string &path() const { return name; }

private:
  explicit TemporaryFile(std::string path);
  std::string name;
};

/// Runs the program `arguments.front()` to its end, and returns its output. If
/// its exit status is not 0, fails with this output. stopLinkers ends the
/// program.
llvm::Expected<std::string>
runProcess(llvm::ArrayRef<llvm::StringRef> arguments);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_HOST_SUBPROCESS_H
