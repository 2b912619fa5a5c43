//===- Clock.h - the clocks of timelines ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_CLOCK_H
#define VEELINE_BASE_CLOCK_H

#include <cstdint>
#include <ctime>

namespace veeline {

/// The monotonic clock, the same on all threads. A call takes about 20 ns.
inline int64_t nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// The processor time of this thread. A call takes about 200 ns.
inline int64_t processorNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

} // namespace veeline

#endif // VEELINE_BASE_CLOCK_H
