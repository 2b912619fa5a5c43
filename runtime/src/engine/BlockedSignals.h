//===- BlockedSignals.h - threads without signals ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_BLOCKEDSIGNALS_H
#define VEELINE_RUNTIME_ENGINE_BLOCKEDSIGNALS_H

#include <csignal>

namespace veeline {

/// Threads that start during the lifetime of this object get no signals, which
/// are for the thread that runs the training loop.
class BlockedSignals {
public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &old, nullptr); }
  BlockedSignals(const BlockedSignals &) = delete;
  BlockedSignals &operator=(const BlockedSignals &) = delete;

private:
  sigset_t old;
};

} // namespace veeline

#endif // VEELINE_RUNTIME_ENGINE_BLOCKEDSIGNALS_H
