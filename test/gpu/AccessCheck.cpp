//===- AccessCheck.cpp - what kernels do to memory ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AccessCheck.h"

#include <algorithm>

using namespace veeline::gpu;

static const char *beginOf(const BufferRange &range) {
  return static_cast<const char *>(range.begin);
}

void AccessCheck::add(const BufferRange &range, Device::Space space) {
  bool isFollowed = findRaces && space != Device::Space::local;
  auto count = static_cast<size_t>(range.bytes / range.elementBytes);
  Buffer buffer = {range, space, std::vector<Element>(isFollowed ? count : 0)};
  auto after = std::upper_bound(buffers.begin(), buffers.end(), beginOf(range),
                                [](const char *at, const Buffer &other) {
                                  return at < beginOf(other.range);
                                });
  buffers.insert(after, std::move(buffer));
}

void AccessCheck::beginBlock() {
  blockBegin = ++now;
  for (Buffer &buffer : buffers)
    if (buffer.space == Device::Space::shared)
      std::fill(buffer.elements.begin(), buffer.elements.end(), Element());
}

/// How far an address is from a buffer; 0 within it.
static int64_t distanceTo(const BufferRange &range, const char *address) {
  const char *begin = beginOf(range), *end = begin + range.bytes;
  return address < begin ? begin - address
         : address < end ? 0
                         : address - end + 1;
}

/// The buffer that an address is in, or the nearest one.
AccessCheck::Buffer &AccessCheck::find(const char *address) {
  if (distanceTo(buffers[last].range, address) == 0)
    return buffers[last];
  auto after = std::upper_bound(
      buffers.begin(), buffers.end(), address,
      [](const char *at, const Buffer &b) { return at < beginOf(b.range); });
  auto nearest = after == buffers.begin() ? after : after - 1;
  if (after != buffers.end() &&
      distanceTo(after->range, address) < distanceTo(nearest->range, address))
    nearest = after;
  last = static_cast<size_t>(nearest - buffers.begin());
  return *nearest;
}

std::string AccessCheck::describe(const Buffer &buffer,
                                  const void *address) const {
  int64_t distance = static_cast<const char *>(address) - beginOf(buffer.range);
  return "element " + std::to_string(distance / buffer.range.elementBytes) +
         " of " + buffer.range.name;
}

/// True if another thread wrote the element and no barrier puts that write
/// before now. Threads of different blocks never wait for each other.
bool AccessCheck::clashes(const Element &element, uint32_t thread) const {
  return element.time && (element.time < blockBegin ||
                          (element.time == now && element.writer != thread));
}

/// Checks one element of an access, and records a write.
std::string AccessCheck::follow(Buffer &buffer, int64_t offset,
                                Device::Access kind, uint32_t thread,
                                bool &isGarbage) {
  Element &element =
      buffer.elements[static_cast<size_t>(offset / buffer.range.elementBytes)];
  bool isClash = clashes(element, thread);
  if (kind == Device::Access::write) {
    element = {thread, now};
    return isClash ? "which another thread writes, too" : "";
  }
  bool isEmpty = buffer.space == Device::Space::shared && !element.time;
  if (kind == Device::Access::read && (isClash || isEmpty)) {
    isGarbage = true;
    if (firstGarbage.empty())
      firstGarbage = "thread " + std::to_string(thread) + " reads " +
                     describe(buffer, beginOf(buffer.range) + offset) +
                     (isEmpty ? ", which no thread wrote"
                              : ", which another thread writes without a "
                                "barrier in between");
  }
  return {};
}

std::string AccessCheck::checkPlace(const Buffer &buffer, int64_t offset,
                                    int64_t bytes, int64_t alignment,
                                    bool isRead) const {
  const BufferRange &range = buffer.range;
  auto address = reinterpret_cast<uintptr_t>(beginOf(range) + offset);
  // LLVM widens a read where no fault can come of it: an aligned one stays
  // within 16 bytes, of which no other memory of the device has any.
  bool isInside = offset >= 0 && offset + bytes <= range.bytes;
  bool mayOverhang = isRead && bytes == alignment && bytes <= 16 &&
                     offset >= 0 && offset < range.bytes;
  if (!isInside && !mayOverhang)
    return "which has " + std::to_string(range.bytes / range.elementBytes) +
           " (" + std::to_string(bytes) + " bytes at once)";
  if (address % static_cast<uintptr_t>(alignment))
    return "not at a multiple of " + std::to_string(alignment) +
           " bytes as it says";
  if (!isRead && !range.isWritable)
    return "which is only read";
  return {};
}

/// ld.global.nc is for what no thread writes while the kernel runs.
std::string AccessCheck::checkSpace(const Buffer &buffer,
                                    Device::Space space) const {
  bool isReadOnly = space == Device::Space::readOnly;
  if (space != Device::Space::generic &&
      buffer.space != (isReadOnly ? Device::Space::global : space))
    return "which is in another space of memory";
  if (isReadOnly && buffer.range.isWritable)
    return "which the kernel may write, as if nobody did";
  return {};
}

std::string AccessCheck::access(const void *address, int64_t bytes,
                                int64_t alignment, Device::Access kind,
                                Device::Space space, int64_t thread,
                                bool &isGarbage) {
  const char *begin = static_cast<const char *>(address);
  bool isRead = kind == Device::Access::read;
  Buffer &buffer = find(begin);
  int64_t offset = begin - beginOf(buffer.range);
  std::string wrong = checkPlace(buffer, offset, bytes, alignment, isRead);
  if (wrong.empty())
    wrong = checkSpace(buffer, space);
  int64_t step = buffer.range.elementBytes;
  int64_t end = std::min(offset + bytes,
                         step * static_cast<int64_t>(buffer.elements.size()));
  for (int64_t at = offset; wrong.empty() && at < end; at += step)
    wrong = follow(buffer, at, kind, static_cast<uint32_t>(thread), isGarbage);
  if (wrong.empty())
    return {};
  return (isRead ? "reads " : "writes ") + describe(buffer, address) + ", " +
         wrong;
}
