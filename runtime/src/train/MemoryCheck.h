//===- MemoryCheck.h - arenas as planned? ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_MEMORYCHECK_H
#define VEELINE_RUNTIME_TRAIN_MEMORYCHECK_H

#include "Session.h"

namespace veeline::train {

/// Counts allocations of rank threads from the second step on; null where the
/// counter is not preloaded. For HostOptions::aroundStep.
void (*allocationCounter())(bool begins);

/// Prints per rank the arena, its high-water mark and the planned peak of live
/// bytes, and who allocated outside of it during `steps` steps. Fails where a
/// byte outside of every planned region was written. The session's arenas were
/// poisoned.
Status checkMemory(const Session &session, int64_t steps);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_MEMORYCHECK_H
