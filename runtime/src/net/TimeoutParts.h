//===- TimeoutParts.h - what of the timeout is for what --------*- C++ -*-===//
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

// Parts of the timeout. A failure is found at the end of a look, the process
// has another look's time to end, and two more, or two seconds, where it is
// about to.
inline constexpr int32_t looks = 16;
/// How long a process may be silent, or its rank's thread asleep.
inline constexpr double silence = 0.75;
/// A look that comes so late says that the process was stopped.
inline constexpr double lateness = 0.25;
/// How long all ranks have to wait.
inline constexpr double standstill = 0.625;

inline Duration part(Duration whole, double share) {
  return std::chrono::duration_cast<Duration>(whole * share);
}

inline std::string nameOf(int32_t rank) {
  return "rank " + std::to_string(rank);
}

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_TIMEOUTPARTS_H
