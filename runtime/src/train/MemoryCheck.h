//===- MemoryCheck.h - checking that arenas are as planned ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_MEMORYCHECK_H
#define VEELINE_RUNTIME_TRAIN_MEMORYCHECK_H

#include "Session.h"

namespace veeline::train {

// If the counter of allocations is not preloaded, these do nothing, and
// checkMemory says so.

/// Counts what the training thread allocates from here on as loading.
void startCountingAllocations();

/// Called by the training thread once it is past the first step: counts what it
/// allocates as done in steps, or stops counting.
void countTrainingAllocations(bool inSteps);

/// For HostOptions::announce.
void countRankAllocations(host::Activity activity);

/// Prints for each rank the arena, its high-water mark and the planned peak of
/// live bytes; then what was allocated outside of arenas, and by whom. Fails if
/// a byte outside of every planned region was written. The session's arenas
/// were poisoned. For GPUs, prints the memory that ranks take beside their
/// arenas in place of allocations; all processes call it, the first one prints.
Status checkMemory(const artifact::Metadata &metadata, const Session &session,
                   int64_t steps);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_MEMORYCHECK_H
