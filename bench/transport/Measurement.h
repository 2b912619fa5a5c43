//===- Measurement.h - what is measured, and how ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BENCH_TRANSPORT_MEASUREMENT_H
#define VEELINE_BENCH_TRANSPORT_MEASUREMENT_H

#include "veeline/Base/Median.h"

#include "veeline/Base/Clock.h"
#include "veeline/status.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

namespace veeline::bench {

inline constexpr int numRuns = 9;
inline constexpr int64_t sizes[] = {64, 4096, 65536, 1 << 20, 16 << 20};
/// Messages of a stream that are posted ahead.
inline constexpr int32_t ahead = 4;
/// Bytes of what ranks send to each other before a stream.
inline constexpr int64_t wordBytes = 64;

/// Of the running measurement. Global, since steps are plain functions.
inline int32_t numRounds;
inline int64_t messageBytes;
inline double measured; ///< Nanoseconds of a message.
inline int32_t numParts = 1;
inline bool isCopied = false; ///< From elsewhere, and not computed in place.
inline bool isFirst;          ///< A step whose places have no pages yet.

[[noreturn]] inline void fail(const Status &status) {
  std::fprintf(stderr, "bench-transport: error: %s\n",
               status.message().c_str());
  std::exit(1);
}

inline int32_t roundsOf(int64_t bytes) {
  return static_cast<int32_t>(std::clamp<int64_t>((64 << 20) / bytes, 16, 500));
}

//===----------------------------------------------------------------------===//
// Messages to who waits
//===----------------------------------------------------------------------===//

inline double waitMilliseconds;

/// What waits have taken in the running measurement.
struct Waits {
  std::vector<double> latencies;
  double processor = 0, wall = 0; ///< Nanoseconds.
};
inline Waits *waits;

inline int64_t processNanoseconds() {
  timespec time;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

/// One wait, for a message that says when it was sent.
class Watch {
public:
  void end(const char *message) {
    int64_t now = nanoseconds(), sent = 0;
    std::memcpy(&sent, message, sizeof(sent));
    waits->latencies.push_back(double(now - sent));
    waits->processor += double(processNanoseconds() - processor);
    waits->wall += double(nanoseconds() - begin);
  }

private:
  int64_t processor = processNanoseconds(), begin = nanoseconds();
};

/// Computes for `waitMilliseconds` and a random part of half a millisecond,
/// then writes the time into the message, which is sent next. The random part
/// keeps a receiver that looks at intervals from always looking just then.
inline void compute(char *message) {
  static std::mt19937 random;
  double jitter = std::uniform_real_distribution<>(0, 0.5)(random);
  int64_t end =
      nanoseconds() + int64_t((waitMilliseconds + jitter) * 1'000'000);
  int64_t now = nanoseconds();
  while (now < end)
    now = nanoseconds();
  std::memcpy(message, &now, sizeof(now));
}

//===----------------------------------------------------------------------===//
// What messages are compared with
//===----------------------------------------------------------------------===//

inline double copyTime() {
  std::vector<char> from(static_cast<size_t>(messageBytes), 1), to = from;
  std::vector<double> values;
  for (int i = 0; i < numRuns; ++i) {
    int64_t begin = nanoseconds();
    for (int32_t round = 0; round < numRounds; ++round) {
      std::memcpy(to.data(), from.data(), from.size());
      asm volatile("" ::"r"(to.data()) : "memory");
    }
    values.push_back(double(nanoseconds() - begin) / numRounds);
  }
  return medianOf(std::move(values));
}

} // namespace veeline::bench

#endif // VEELINE_BENCH_TRANSPORT_MEASUREMENT_H
