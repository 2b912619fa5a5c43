//===- File.h - files that are whole or not there --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_FILE_H
#define VEELINE_BASE_FILE_H

#include "veeline/status.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace veeline {

/// Writes a file that appears at its path only when it is complete. The bytes
/// go into a file without a name, which `commit` syncs and names. If the file
/// system has no such files, they go into a temporary file in the same
/// directory. Destroyed without a commit, it leaves nothing behind. A path that
/// is a device or a pipe is written directly.
class AtomicFile {
public:
  explicit AtomicFile(std::string path) : path(std::move(path)) {}
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;
  ~AtomicFile();

  Status open();
  Status write(std::string_view bytes);
  Status commit();

private:
  Status failure(const char *action, int error);
  void useTemporary(std::string name);
  Status link();

  std::string path;
  bool isRegular = false; ///< Not a device or a pipe.
  std::string temporary;  ///< Empty while there is none.
  int descriptor = -1;
};

/// Writes `bytes` to `path` through an AtomicFile.
Status writeFileAtomically(const std::string &path, std::string_view bytes);

/// Makes a folder, with a name that is durable, if there is none at `path`.
Status makeDirectory(const std::string &path);

/// Makes new names in a folder durable, and those that are gone. Best effort:
/// some file systems cannot sync a folder.
void syncDirectory(const std::string &path);

/// Deletes the temporary files of all open AtomicFiles, and those given to
/// `registerTemporary`. For signal handlers that end the process;
/// async-signal-safe.
void deleteTemporaryFiles();

/// Makes `deleteTemporaryFiles` delete `name`, too. The caller keeps the
/// string.
void registerTemporary(const char *name);

/// A file mapped for reading.
class MappedFile {
public:
  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  /// Maps a regular file; an empty one has an empty view.
  static Expected<MappedFile> open(const std::string &path);

  std::string_view bytes() const { return {data, size}; }

private:
  const char *data = nullptr;
  size_t size = 0;
};

/// Has `nameOfMapped` find the bytes of a mapped file by `name`, which the
/// caller keeps until it calls `forgetMapped`. Of more than 256 files at once
/// the others are not found.
void noteMapped(std::string_view mapped, const char *name);
void forgetMapped(const char *name);
/// The name of the mapped file that has this address; null if there is none.
/// Async-signal-safe: to read beyond the end of a file that has been truncated
/// is SIGBUS.
const char *nameOfMapped(const void *address);

/// Has the system read these bytes of mapped files in the background, so that
/// who reads them later need not wait. Best effort.
void readAhead(std::string_view mapped);

} // namespace veeline

#endif // VEELINE_BASE_FILE_H
