//===- AllocationCounter.h - counting allocations during steps --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shared object that replaces malloc when it is preloaded. It counts the
// calls of threads that request it, by the activity that a thread names and by
// the calling shared object. `veeline train --check-memory` runs itself again
// with it. Its functions are found with dlsym, so nothing links it.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_HOOKS_ALLOCATIONCOUNTER_H
#define VEELINE_RUNTIME_HOOKS_ALLOCATIONCOUNTER_H

#include <cstddef>
#include <cstdint>

extern "C" {

struct veeline_allocations {
  int32_t activity;   ///< As given to veeline_count_allocations.
  const char *object; ///< Path of the shared object or program that called.
  uint64_t calls;
  uint64_t bytes;
};

/// From here on counts the calls of this thread under `activity`, a number from
/// 1 that the caller chooses; 0 ends that.
void veeline_count_allocations(int32_t activity);

/// Writes up to `capacity` entries, those with the most bytes first; returns
/// how many there are.
size_t veeline_read_allocations(veeline_allocations *entries, size_t capacity);

} // extern "C"

#endif // VEELINE_RUNTIME_HOOKS_ALLOCATIONCOUNTER_H
