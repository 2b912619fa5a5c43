//===- MemoryCheck.h - checking that arenas are as planned ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_MEMORYCHECK_H
#define VEELINE_RUNTIME_TRAIN_MEMORYCHECK_H

#include "Session.h"

namespace veeline::train {

// If the counter of allocations is not preloaded, the following functions do
// nothing, and checkMemory says so.

/// From now on, counts allocations of the training thread as loading.
void startCountingAllocations();

/// Called by the training thread after the first step: counts its allocations
/// as made in steps, or stops counting.
void countTrainingAllocations(bool inSteps);

/// Counts the allocations of a rank's thread. To be used as
/// HostOptions::announce.
void countRankAllocations(host::Activity activity);

/// Prints for each rank the arena, its high-water mark and the planned peak of
/// live bytes. Then prints what was allocated outside of arenas, and by whom.
/// Fails if a byte outside of every planned region was written. The session's
/// arenas must have been poisoned.
///
/// With --log json, these are events (docs/long-runs.md).
///
/// For GPUs, prints the memory that ranks use besides their arenas, instead of
/// allocations. All processes call this, and the first one prints.
Status checkMemory(const Run &run, const Session &session, int64_t steps);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_MEMORYCHECK_H
