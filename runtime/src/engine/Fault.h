//===- Fault.h - the first fault of a run -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_FAULT_H
#define VEELINE_RUNTIME_ENGINE_FAULT_H

#include "veeline/status.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <string>

namespace veeline::engine {

/// The first fault of a program, which its ranks share. The first message is
/// kept, and ranks that block in a channel are woken.
class Fault {
public:
  /// `wake` makes every channel see the fault. It is called once.
  explicit Fault(std::function<void()> wake) : wake(std::move(wake)) {}

  /// Raises a fault. `inStep` is the step of the rank that has the fault, if a
  /// rank has it.
  void raise(const std::string &message, int64_t inStep = 0) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (raised)
        return;
      text = message;
      faultyStep.store(inStep, std::memory_order_relaxed);
      raised.store(true, std::memory_order_release);
    }
    wake();
  }

  /// Takes the lock only after a fault.
  Status status() const {
    if (!raised.load(std::memory_order_acquire))
      return Status::success();
    std::lock_guard<std::mutex> lock(mutex);
    return Status::error(text);
  }

  /// The step of the rank that had the fault; 0 if there is none. Takes no
  /// lock, because signal handlers call it.
  int64_t step() const { return faultyStep.load(std::memory_order_relaxed); }

private:
  std::function<void()> wake;
  mutable std::mutex mutex;
  std::atomic<bool> raised{false};
  std::string text;
  std::atomic<int64_t> faultyStep{0};
};

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_FAULT_H
