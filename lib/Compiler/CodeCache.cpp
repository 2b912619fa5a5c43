//===- CodeCache.cpp - cached machine code --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Compiler/CodeCache.h"

#include "mlir/IR/MLIRContext.h"
#include "veeline/Base/Checksum.h"
#include "veeline/Base/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>

using namespace veeline;
using namespace veeline::compiler;

static constexpr uint64_t maxBytes = uint64_t(4) << 30;

std::string CodeCache::identify(llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status))
    return "";
  auto date = status.getLastModificationTime().time_since_epoch();
  return path.str() + " " + std::to_string(status.getSize()) + " " +
         std::to_string(date.count());
}

/// Identifies the file that contains the code at `address`.
static std::string identifyFileOf(const void *address) {
  Dl_info info;
  return dladdr(address, &info) ? CodeCache::identify(info.dli_fname) : "";
}

template <typename Function> static const void *addressOf(Function *function) {
  return reinterpret_cast<const void *>(function);
}

llvm::Expected<CodeCache> CodeCache::open(llvm::StringRef directory) {
  std::error_code problem = llvm::sys::fs::create_directories(directory);
  if (!problem && !llvm::sys::fs::is_directory(directory))
    problem = std::make_error_code(std::errc::not_a_directory);
  if (!problem)
    problem =
        llvm::sys::fs::access(directory, llvm::sys::fs::AccessMode::Write);
  if (problem)
    return llvm::createStringError(
        problem, "the cache '%s' cannot be written: %s",
        directory.str().c_str(), problem.message().c_str());
  std::string compiler = LLVM_VERSION_STRING;
  for (const void *part :
       {addressOf(identifyFileOf), addressOf(llvm::pruneCache),
        addressOf(mlir::registerMLIRContextCLOptions)}) {
    std::string file = identifyFileOf(part);
    if (file.empty())
      return llvm::createStringError(
          "the cache '%s' cannot tell one build of the compiler from another: "
          "its own file cannot be found",
          directory.str().c_str());
    compiler += '\n' + file;
  }
  return CodeCache(directory, std::move(compiler));
}

std::string CodeCache::getKey(llvm::ArrayRef<llvm::StringRef> inputs) const {
  llvm::BLAKE3 hash;
  auto add = [&](llvm::StringRef text) {
    hash.update(std::to_string(text.size()) + ":");
    hash.update(text);
  };
  add(compiler);
  for (llvm::StringRef input : inputs)
    add(input);
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

/// The prefix is needed because pruneCache only deletes files with it.
std::string CodeCache::getPath(llvm::StringRef key) const {
  llvm::SmallString<256> path(directory);
  llvm::sys::path::append(path, "llvmcache-" + key);
  return path.str().str();
}

/// Includes the key, so that a file is never taken for that of another key.
static uint64_t checksumOf(llvm::StringRef key, llvm::StringRef bytes) {
  Crc64 crc;
  crc.add(key);
  crc.add(bytes);
  return crc.value();
}

std::optional<std::string> CodeCache::find(llvm::StringRef key) const {
  std::string path = getPath(key);
  Expected<MappedFile> file = MappedFile::open(path);
  uint64_t checksum;
  if (!file.ok() || file->bytes().size() < sizeof checksum)
    return std::nullopt;
  llvm::StringRef bytes = file->bytes();
  std::memcpy(&checksum, bytes.end() - sizeof checksum, sizeof checksum);
  bytes = bytes.drop_back(sizeof checksum);
  if (checksumOf(key, bytes) != checksum)
    return std::nullopt;
  // Marks the file as used, for file systems that keep no time of access.
  (void)::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return bytes.str();
}

void CodeCache::add(llvm::StringRef key, llvm::StringRef bytes) const {
  std::string content = bytes.str();
  uint64_t checksum = checksumOf(key, bytes);
  content.append(reinterpret_cast<const char *>(&checksum), sizeof checksum);
  (void)writeFileAtomically(getPath(key), content);
}

void CodeCache::prune() const {
  llvm::CachePruningPolicy policy;
  policy.MaxSizeBytes = maxBytes;
  llvm::pruneCache(directory, policy);
}
