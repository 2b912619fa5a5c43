//===- Arena.cpp - the arena of a rank ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arena.h"

#include "veeline/Base/Numbers.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace veeline;
using namespace veeline::engine;

static int64_t pageBytes() {
  static const int64_t bytes = ::sysconf(_SC_PAGESIZE);
  return bytes;
}

Arena::~Arena() {
  if (mapping)
    ::munmap(mapping, static_cast<size_t>(mappedBytes));
}

/// The alignment of huge pages.
static constexpr int64_t hugePageBytes = 2 << 20;

Status Arena::allocate(int64_t size) {
  int64_t page = pageBytes();
  usableBytes = roundUp(std::max<int64_t>(size, 1), page);
  int64_t alignment = usableBytes >= hugePageBytes ? hugePageBytes : page;
  mappedBytes = usableBytes + alignment + page;
  void *mapped = ::mmap(nullptr, static_cast<size_t>(mappedBytes), PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int error = mapped == MAP_FAILED ? errno : 0;
  if (!error) {
    mapping = static_cast<char *>(mapped);
    auto address = reinterpret_cast<int64_t>(mapping);
    begin = mapping + (roundUp(address + page, alignment) - address);
    bytes = size;
    if (::mprotect(begin, static_cast<size_t>(usableBytes),
                   PROT_READ | PROT_WRITE) != 0)
      error = errno;
  }
  if (error)
    return Status::error("cannot allocate an arena of " + std::to_string(size) +
                         " bytes: " + std::strerror(error));
  // Huge pages cause fewer page faults and TLB misses, and make reading the
  // memory of another process twice as fast. This is only a hint, so a refusal
  // is not an error.
  ::madvise(begin, static_cast<size_t>(usableBytes), MADV_HUGEPAGE);
  return Status::success();
}

/// A NaN both as f32 and as f64, so that a read of poison also shows in the
/// loss.
static constexpr unsigned char poisonByte = 0xff;

void Arena::poison() {
  std::memset(begin, poisonByte, static_cast<size_t>(usableBytes));
}

int64_t Arena::highWaterMark() const {
  int64_t end = usableBytes;
  while (end > 0 && static_cast<unsigned char>(begin[end - 1]) == poisonByte)
    --end;
  return end;
}

int64_t Arena::touchedLines(int64_t offset, int64_t size) const {
  constexpr int64_t line = 64;
  int64_t touched = 0;
  for (int64_t i = offset; i < offset + size; i += line) {
    int64_t end = std::min(i + line, offset + size);
    touched += std::any_of(begin + i, begin + end, [](unsigned char byte) {
      return byte != poisonByte;
    });
  }
  return touched;
}
