//===- File.cpp - atomic writes, and mapped files -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/File.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace veeline;

//===----------------------------------------------------------------------===//
// Temporary files that a signal handler must know
//===----------------------------------------------------------------------===//

/// The names of open temporary files. If there are more than this at once, the
/// others are deleted by their destructors, but not by a second Ctrl-C.
static std::atomic<const char *> openTemporaries[8];

void veeline::registerTemporary(const char *name) {
  for (std::atomic<const char *> &slot : openTemporaries) {
    const char *expected = nullptr;
    if (slot.compare_exchange_strong(expected, name))
      return;
  }
}

static void unregisterTemporary(const char *name) {
  for (std::atomic<const char *> &slot : openTemporaries) {
    const char *expected = name;
    if (slot.compare_exchange_strong(expected, nullptr))
      return;
  }
}

void veeline::deleteTemporaryFiles() {
  for (std::atomic<const char *> &slot : openTemporaries)
    if (const char *name = slot.load())
      ::unlink(name);
}

//===----------------------------------------------------------------------===//
// AtomicFile
//===----------------------------------------------------------------------===//

/// A system call writes or syncs about so many bytes at most.
static constexpr size_t partBytes = size_t(64) << 20;

static thread_local std::atomic<uint64_t> *movesOfThread = nullptr;

void veeline::countFileMoves(std::atomic<uint64_t> *moves) {
  movesOfThread = moves;
}

static void countMove() {
  if (movesOfThread)
    movesOfThread->fetch_add(1);
}

Status AtomicFile::failure(const char *action, int error) {
  return Status::error("cannot " + std::string(action) + " '" + path +
                       "': " + std::strerror(error));
}

AtomicFile::~AtomicFile() {
  if (descriptor >= 0)
    ::close(descriptor);
  if (!temporary.empty()) {
    ::unlink(temporary.c_str());
    unregisterTemporary(temporary.c_str());
  }
}

static std::string directoryOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "."
         : slash == 0               ? "/"
                                    : path.substr(0, slash);
}

/// Opens a file without a name, so that a killed process leaves nothing behind.
/// Returns -1 if the file system does not support that.
static int openNameless(const std::string &directory) {
  // `link` needs this folder to give the file its name.
  if (::access("/proc/self/fd", X_OK) != 0)
    return -1;
  return ::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
}

/// Makes a new file beside `path`, and sets `name` to its name.
static int createBeside(const std::string &path, std::string &name) {
  static std::atomic<uint64_t> number{0};
  int descriptor = -1;
  do {
    name = path + "." + std::to_string(::getpid()) + "-" +
           std::to_string(number.fetch_add(1));
    descriptor =
        ::open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EEXIST);
  return descriptor;
}

Status AtomicFile::open() {
  struct stat info;
  bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return failure("write", EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return descriptor >= 0 ? Status::success() : failure("open", errno);
  }
  isRegular = true;
  descriptor = openNameless(directoryOf(path));
  if (descriptor < 0) {
    std::string name;
    descriptor = createBeside(path, name);
    if (descriptor < 0)
      return failure("create", errno);
    useTemporary(std::move(name));
  }
  if (exists && ::fchmod(descriptor, info.st_mode & 07777) != 0)
    return failure("set the mode of", errno);
  countMove();
  return Status::success();
}

void AtomicFile::useTemporary(std::string name) {
  temporary = std::move(name);
  registerTemporary(temporary.c_str());
}

Status AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written =
        ::write(descriptor, bytes.data(), std::min(bytes.size(), partBytes));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return failure("write", errno);
    countMove();
    bytes.remove_prefix(static_cast<size_t>(written));
    VEELINE_TRY(syncNowAndThen(static_cast<size_t>(written)));
  }
  return Status::success();
}

Status AtomicFile::syncNowAndThen(size_t written) {
  notSynced += written;
  if (!isRegular || notSynced < partBytes)
    return Status::success();
  notSynced = 0;
  if (::fdatasync(descriptor) != 0)
    return failure("write", errno);
  countMove();
  return Status::success();
}

/// Syncs what `path` names, opened with `flags`. An error of open in `ignored`
/// is none.
static Status sync(const std::string &path, int flags, int ignored,
                   const char *what) {
  int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
  int error = descriptor < 0 || ::fsync(descriptor) != 0 ? errno : 0;
  if (descriptor >= 0)
    ::close(descriptor);
  else if (error == ignored)
    error = 0;
  if (error == 0 || error == EINVAL || error == ENOTSUP)
    return Status::success();
  return Status::error(std::string("cannot sync ") + what + "'" + path +
                       "': " + std::strerror(error));
}

Status veeline::syncDirectory(const std::string &path) {
  // The folder may be writable but not readable.
  return sync(path, O_RDONLY | O_DIRECTORY, EACCES, "the folder ");
}

Status veeline::syncFile(const std::string &path) {
  struct stat info;
  bool exists = ::stat(path.c_str(), &info) == 0;
  return exists && !S_ISREG(info.st_mode) ? Status::success()
                                          : sync(path, O_WRONLY, ENOENT, "");
}

/// Renames a file or a folder to a name that there is not. Returns 0, or the
/// error.
static int renameToNew(const std::string &path, const std::string &to) {
  // A link is made only where nothing is.
  if (::link(path.c_str(), to.c_str()) == 0)
    return ::unlink(path.c_str()) == 0 ? 0 : errno;
  if (errno == EEXIST)
    return EEXIST;
  // Folders have no links, nor has every file system.
  struct stat info;
  if (::lstat(to.c_str(), &info) == 0)
    return EEXIST;
  return ::rename(path.c_str(), to.c_str()) == 0 ? 0 : errno;
}

Expected<std::string> veeline::moveAside(const std::string &path,
                                         const std::string &name) {
  std::string to = name;
  int error = renameToNew(path, to);
  for (int number = 2; error == EEXIST; ++number) {
    to = name + "." + std::to_string(number);
    error = renameToNew(path, to);
  }
  if (error != 0)
    return Status::error("cannot rename '" + path + "' to '" + to +
                         "': " + std::strerror(error));
  return to;
}

Status veeline::makeDirectory(const std::string &path) {
  struct stat info;
  if (::mkdir(path.c_str(), 0777) == 0) {
    return syncDirectory(directoryOf(path));
  }
  int error = errno;
  if (error == EEXIST && ::stat(path.c_str(), &info) == 0)
    error = S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
  return error == 0 ? Status::success()
                    : Status::error("cannot make the folder '" + path +
                                    "': " + std::strerror(error));
}

/// Gives a nameless file its name. If the name is taken, gives it a temporary
/// one, which `commit` renames. The temporary name contains the inode number,
/// which is unique in the file system.
Status AtomicFile::link() {
  std::string self = "/proc/self/fd/" + std::to_string(descriptor);
  auto linkAs = [&](const std::string &name) {
    return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(),
                    AT_SYMLINK_FOLLOW) == 0;
  };
  if (linkAs(path))
    return Status::success();
  struct stat info;
  if (errno != EEXIST || ::fstat(descriptor, &info) != 0)
    return failure("create", errno);
  useTemporary(path + "." + std::to_string(info.st_ino));
  return linkAs(temporary) ? Status::success() : failure("create", errno);
}

Status AtomicFile::commit() {
  if (isRegular && ::fsync(descriptor) != 0)
    return failure("write", errno);
  countMove();
  if (isRegular && temporary.empty())
    VEELINE_TRY(link());
  if (::close(std::exchange(descriptor, -1)) != 0)
    return failure("write", errno);
  if (!temporary.empty()) {
    if (::rename(temporary.c_str(), path.c_str()) != 0)
      return failure("create", errno);
    unregisterTemporary(temporary.c_str());
    temporary.clear();
  }
  countMove();
  return isRegular ? syncDirectory(directoryOf(path)) : Status::success();
}

Status veeline::writeFileAtomically(const std::string &path,
                                    std::string_view bytes) {
  AtomicFile file(path);
  VEELINE_TRY(file.open());
  VEELINE_TRY(file.write(bytes));
  return file.commit();
}

//===----------------------------------------------------------------------===//
// MappedFile
//===----------------------------------------------------------------------===//

namespace {
/// The mapped bytes of a file. An entry without a name is free.
struct NotedFile {
  std::atomic<bool> isTaken;
  std::atomic<const char *> name; ///< Set after all other members.
  std::string_view bytes;
};

/// A file that is open for reading.
struct OpenFile {
  OpenFile() = default;
  OpenFile(OpenFile &&other) noexcept
      : descriptor(std::exchange(other.descriptor, -1)), size(other.size) {}
  ~OpenFile() {
    if (descriptor >= 0)
      ::close(descriptor);
  }

  int descriptor = -1;
  size_t size = 0;
};
} // namespace

static NotedFile notedFiles[4096];

static void noteMapped(std::string_view mapped, const char *name) {
  for (NotedFile &file : notedFiles)
    if (!file.isTaken.exchange(true)) {
      file.bytes = mapped;
      file.name.store(name);
      return;
    }
}

static void forgetMapped(const char *name) {
  for (NotedFile &file : notedFiles)
    if (file.name.load() == name) {
      file.name.store(nullptr);
      file.isTaken.store(false);
      return;
    }
}

const char *veeline::nameOfMapped(const void *address) {
  auto number = reinterpret_cast<uintptr_t>(address);
  for (const NotedFile &file : notedFiles)
    if (const char *name = file.name.load())
      if (number - reinterpret_cast<uintptr_t>(file.bytes.data()) <
          file.bytes.size())
        return name;
  return nullptr;
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : data(std::exchange(other.data, nullptr)),
      size(std::exchange(other.size, 0)), path(std::move(other.path)) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(data, other.data);
  std::swap(size, other.size);
  std::swap(path, other.path);
  return *this;
}

MappedFile::~MappedFile() {
  if (!data)
    return;
  forgetMapped(path->c_str());
  ::munmap(const_cast<char *>(data), size);
}

static Status cannotRead(const std::string &path, const char *why) {
  return Status::error("cannot read '" + path + "': " + why);
}

static Expected<OpenFile> openRegular(const std::string &path) {
  OpenFile file;
  // O_NONBLOCK: a pipe without a writer is refused below instead of waited for.
  file.descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info;
  if (file.descriptor < 0 || ::fstat(file.descriptor, &info) != 0)
    return cannotRead(path, std::strerror(errno));
  if (S_ISDIR(info.st_mode))
    return cannotRead(path, std::strerror(EISDIR));
  if (!S_ISREG(info.st_mode))
    return cannotRead(path, "not a regular file");
  file.size = static_cast<size_t>(info.st_size);
  return file;
}

Expected<MappedFile> MappedFile::open(const std::string &path) {
  VEELINE_TRY_VALUE(OpenFile opened, openRegular(path));
  MappedFile file;
  if (opened.size == 0)
    return file;
  void *mapped = ::mmap(nullptr, opened.size, PROT_READ, MAP_PRIVATE,
                        opened.descriptor, 0);
  if (mapped == MAP_FAILED)
    return cannotRead(path, std::strerror(errno));
  file.data = static_cast<const char *>(mapped);
  file.size = opened.size;
  file.path = std::make_unique<const std::string>(path);
  noteMapped(file.bytes(), file.path->c_str());
  return file;
}

Status veeline::readInParts(const std::string &path,
                            const std::function<void(std::string_view)> &take) {
  VEELINE_TRY_VALUE(OpenFile file, openRegular(path));
  std::vector<char> part(size_t(1) << 20);
  for (;;) {
    ssize_t size = ::read(file.descriptor, part.data(), part.size());
    if (size < 0 && errno == EINTR)
      continue;
    if (size < 0)
      return cannotRead(path, std::strerror(errno));
    if (size == 0)
      return Status::success();
    take({part.data(), static_cast<size_t>(size)});
  }
}

void veeline::readAhead(std::string_view mapped) {
  if (mapped.empty())
    return;
  static const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  // Start at a page boundary: the mapping has whole pages.
  size_t before = reinterpret_cast<uintptr_t>(mapped.data()) % page;
  (void)::madvise(const_cast<char *>(mapped.data() - before),
                  before + mapped.size(), MADV_WILLNEED);
}
