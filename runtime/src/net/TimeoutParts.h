//===- TimeoutParts.h - the parts of the timeout ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_NET_TIMEOUTPARTS_H
#define VEELINE_RUNTIME_NET_TIMEOUTPARTS_H

#include "Stall.h"

#include <cstdint>
#include <string>

namespace veeline::net {

// Parts of the timeout. The network's thread checks for failures this many
// times within it. After a failure, the process has the time of one check to
// end by itself. If it has begun to end, it has the time of two more, but at
// least two seconds.
inline constexpr int32_t looks = 16;
/// How long a process may be silent, or the thread of its rank may sleep.
inline constexpr double silence = 0.75;
/// A check that is this late shows that the process was stopped.
inline constexpr double lateness = 0.25;
/// How long all ranks have to wait before that is a deadlock.
inline constexpr double standstill = 0.625;

inline Duration inSeconds(double seconds) {
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(seconds));
}

inline Duration part(Duration whole, double share) {
  return std::chrono::duration_cast<Duration>(whole * share);
}

inline std::string nameOf(int32_t rank) {
  return "rank " + std::to_string(rank);
}

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_TIMEOUTPARTS_H
