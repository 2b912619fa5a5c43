//===- AllocationCounter.h - counting allocations during steps --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shared object that replaces malloc when it is preloaded. It counts the
// allocations of threads that request it, by the activity that the thread names
// and by the calling shared object. `veeline train --check-memory` runs itself
// again with it. Its functions are found by dlsym, so nothing links it.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_HOOKS_ALLOCATIONCOUNTER_H
#define VEELINE_RUNTIME_HOOKS_ALLOCATIONCOUNTER_H

#include <cstddef>
#include <cstdint>

extern "C" {

struct veeline_allocations {
  int32_t activity;   ///< The number given to veeline_count_allocations.
  const char *object; ///< The path of the calling shared object or program.
  uint64_t calls;
  uint64_t bytes;
};

/// Counts the allocations of this thread under `activity` from now on.
/// `activity` is a number from 1 on that the caller chooses; 0 ends counting.
void veeline_count_allocations(int32_t activity);

/// Writes up to `capacity` entries, those with the most bytes first. Returns
/// the number of entries.
size_t veeline_read_allocations(veeline_allocations *entries, size_t capacity);

} // extern "C"

#endif // VEELINE_RUNTIME_HOOKS_ALLOCATIONCOUNTER_H
