//===- AllocationCounter.cpp - counting allocations during steps ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AllocationCounter.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <mutex>
#include <unwind.h>

#define EXPORT __attribute__((visibility("default")))

// glibc's own names of the functions that are replaced here.
extern "C" {
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
}

static constexpr size_t maxEntries = 64;
static constexpr int maxFrames = 16;

// The model is initial-exec, because a dynamic one would allocate on first use.
static thread_local __attribute__((tls_model("initial-exec"))) int32_t activity;

static std::mutex mutex;
static veeline_allocations entries[maxEntries];
static size_t numEntries = 0;

/// Whether an object allocates only on behalf of its callers.
static bool isTransparent(const char *object) {
  for (const char *name : {"libc.so", "libstdc++.so", "libgcc_s.so",
                           "libveeline_allocation_counter.so"})
    if (std::strstr(object, name))
      return true;
  return false;
}

/// The file of the object that contains `address`, or null. dladdr is not used,
/// because it reads all symbols of an object to find the nearest one.
static const char *findObject(void *address) {
  dl_find_object found;
  if (_dl_find_object(address, &found) != 0)
    return nullptr;
  const char *name = found.dlfo_link_map->l_name;
  // The executable has no name in the list of objects.
  return *name ? name : program_invocation_name;
}

namespace {
/// The state of a search on the stack, from the top.
struct Search {
  const char *object = "unknown";
  int frames = 0;
};
} // namespace

static _Unwind_Reason_Code visitFrame(_Unwind_Context *frame, void *data) {
  auto &search = *static_cast<Search *>(data);
  const char *object =
      findObject(reinterpret_cast<void *>(_Unwind_GetIP(frame)));
  if (object && !isTransparent(object)) {
    search.object = object;
    return _URC_NORMAL_STOP;
  }
  return ++search.frames < maxFrames ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

/// The first object on the stack that is not transparent.
static const char *findCaller() {
  Search search;
  _Unwind_Backtrace(visitFrame, &search);
  return search.object;
}

static void record(size_t bytes) {
  int32_t counted = activity;
  if (!counted)
    return;
  activity = 0; // Functions that are called here may allocate.
  const char *object = findCaller();
  {
    std::lock_guard<std::mutex> lock(mutex);
    size_t i = 0;
    while (i < numEntries && (entries[i].activity != counted ||
                              std::strcmp(entries[i].object, object) != 0))
      ++i;
    if (i == numEntries && numEntries < maxEntries)
      entries[numEntries++] = {counted, object, 0, 0};
    if (i < maxEntries) {
      ++entries[i].calls;
      entries[i].bytes += bytes;
    }
  }
  activity = counted;
}

extern "C" {

EXPORT void *malloc(size_t size) {
  record(size);
  return __libc_malloc(size);
}

EXPORT void *calloc(size_t count, size_t size) {
  record(count * size);
  return __libc_calloc(count, size);
}

EXPORT void *realloc(void *memory, size_t size) {
  record(size);
  return __libc_realloc(memory, size);
}

EXPORT void *memalign(size_t alignment, size_t size) {
  record(size);
  return __libc_memalign(alignment, size);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}

EXPORT int posix_memalign(void **memory, size_t alignment, size_t size) {
  void *result = memalign(alignment, size);
  if (!result)
    return ENOMEM;
  *memory = result;
  return 0;
}

EXPORT void veeline_count_allocations(int32_t newActivity) {
  activity = 0;
  if (newActivity)
    (void)findCaller(); // The first call may allocate.
  activity = newActivity;
}

EXPORT size_t veeline_read_allocations(veeline_allocations *out,
                                       size_t capacity) {
  std::lock_guard<std::mutex> lock(mutex);
  std::sort(entries, entries + numEntries,
            [](const veeline_allocations &a, const veeline_allocations &b) {
              return a.bytes > b.bytes;
            });
  std::copy_n(entries, std::min(capacity, numEntries), out);
  return numEntries;
}

} // extern "C"
