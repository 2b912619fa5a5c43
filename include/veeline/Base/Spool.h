//===- Spool.h - bytes that wait in a file ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_SPOOL_H
#define VEELINE_BASE_SPOOL_H

#include "veeline/status.h"

#include <string>
#include <string_view>

namespace veeline {

class AtomicFile;

/// Bytes that are too many for memory, in a file without a name in the folder
/// of `path`, for which they are meant. Nothing is left of it however the
/// process ends.
class Spool {
public:
  explicit Spool(std::string path) : path(std::move(path)) {}
  Spool(Spool &&other) noexcept;
  Spool &operator=(Spool &&other) = delete;
  ~Spool();

  /// Adds bytes at the end. The first call creates the file.
  Status append(std::string_view bytes);
  /// Writes all bytes to `file`, in parts.
  Status copyTo(AtomicFile &file) const;

private:
  Status failure(const char *action, int error) const;
  Status open();

  std::string path;
  int descriptor = -1;
};

} // namespace veeline

#endif // VEELINE_BASE_SPOOL_H
