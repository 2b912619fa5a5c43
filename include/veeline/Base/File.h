//===- File.h - atomic writes, and mapped files -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_FILE_H
#define VEELINE_BASE_FILE_H

#include "veeline/status.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace veeline {

/// Writes a file that appears at its path only when it is complete. The bytes
/// go into a file without a name, which `commit` syncs and names. If the file
/// system has no such files, they go into a temporary file in the same
/// directory. Without a commit, the destructor leaves nothing behind. A device
/// or a pipe is written directly. Large files are synced in parts, so that no
/// system call takes long where the file system answers.
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
  Status syncNowAndThen(size_t written);
  Status link();

  std::string path;
  bool isRegular = false; ///< Not a device or a pipe.
  std::string temporary;  ///< Empty while there is none.
  int descriptor = -1;
  size_t notSynced = 0; ///< Bytes, approximately.
};

/// From here on adds 1 to `moves` for each system call of this thread's
/// AtomicFiles that returns, so that another thread can see whether a file
/// system answers. Null: no longer.
void countFileMoves(std::atomic<uint64_t> *moves);

/// Writes `bytes` to `path` through an AtomicFile.
Status writeFileAtomically(const std::string &path, std::string_view bytes);

/// Makes a folder at `path` if there is none, and makes its name durable.
Status makeDirectory(const std::string &path);

/// Makes additions and deletions of names in a folder durable. File systems
/// that cannot sync a folder, and folders that may not be read, are no error,
/// but failures to sync are.
Status syncDirectory(const std::string &path);

/// Makes what was written to a file durable. Where there is no such file, or it
/// is a device or a pipe, there is nothing to do.
Status syncFile(const std::string &path);

/// Renames a file or a folder to `name`, or to the first of `name`.2, `name`.3,
/// ... that there is not. Returns its new name.
Expected<std::string> moveAside(const std::string &path,
                                const std::string &name);

/// Deletes the temporary files of all open AtomicFiles, and those given to
/// `registerTemporary`. For signal handlers that end the process;
/// async-signal-safe.
void deleteTemporaryFiles();

/// Makes `deleteTemporaryFiles` delete `name`, too. The caller keeps the
/// string.
void registerTemporary(const char *name);

/// A file mapped for reading. To read its bytes where they are no longer there,
/// or cannot be read, raises SIGBUS.
class MappedFile {
public:
  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  /// Maps a regular file. The view of an empty file is empty.
  static Expected<MappedFile> open(const std::string &path);

  std::string_view bytes() const { return {data, size}; }

private:
  const char *data = nullptr;
  size_t size = 0;
  std::unique_ptr<const std::string> path; ///< Known to `nameOfMapped`.
};

/// The path of the mapped file that contains this address; null if there is
/// none. Async-signal-safe, for handlers of SIGBUS. It knows 4096 files.
const char *nameOfMapped(const void *address);

/// Gives `take` the bytes of a regular file, in parts. Bytes that cannot be
/// read are an error here.
Status readInParts(const std::string &path,
                   const std::function<void(std::string_view)> &take);

/// Makes the system read these bytes of mapped files in the background, so that
/// later reads need not wait. Best effort.
void readAhead(std::string_view mapped);

} // namespace veeline

#endif // VEELINE_BASE_FILE_H
