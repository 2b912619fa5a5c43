//===- Pause.h - pauses between polls ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_PAUSE_H
#define VEELINE_RUNTIME_CUDA_PAUSE_H

#include "veeline/Base/Clock.h"
#include "veeline/Base/Futex.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace veeline::cuda {

/// The pause between two polls of a wait. In the first 20 us, it is only a spin
/// hint; then it is an eighth of the time waited so far, at most `longest` (0.5
/// ms by default). So a wait ends soon after its condition is met, but leaves
/// the core to others.
class Pause {
public:
  explicit Pause(int64_t longest = 500'000) : longest(longest) {}
  void operator()() const {
    int64_t waited = nanoseconds();
    if (waited < 20'000)
      return pauseSpin();
    std::this_thread::sleep_for(
        std::chrono::nanoseconds(std::min(waited / 8, longest)));
  }
  int64_t nanoseconds() const { return veeline::nanoseconds() - begin; }

private:
  const int64_t longest; ///< In nanoseconds.
  const int64_t begin = veeline::nanoseconds();
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_PAUSE_H
