//===- MemoryCheck.h - arenas as planned? ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_MEMORYCHECK_H
#define VEELINE_RUNTIME_TRAIN_MEMORYCHECK_H

#include "Session.h"

namespace veeline::train {

// Where the counter of allocations is not preloaded, these do nothing, and
// checkMemory says so.

/// Counts what the training thread allocates from here on as loading.
void startCountingAllocations();

/// Of the training thread, once it is past the first step: counts what it
/// allocates as done in steps, or no more.
void countTrainingAllocations(bool inSteps);

/// For HostOptions::announce.
void countRankAllocations(host::Activity activity);

/// Prints per rank the arena, its high-water mark and the planned peak of live
/// bytes, what was allocated outside of it, and by whom. Fails where a
/// byte outside of every planned region was written. The session's arenas were
/// poisoned. Of GPUs, prints what of them the ranks take beside their arenas,
/// too; all processes call it, and the first one prints.
Status checkMemory(const Session &session, int64_t steps);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_MEMORYCHECK_H
