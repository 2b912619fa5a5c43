//===- Ending.h - the end of a failed run -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A failed run writes its flight record and prints why it ends. The training
// loop does this or, if the loop waits for a step that does not end, the
// network thread.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_ENDING_H
#define VEELINE_RUNTIME_TRAIN_ENDING_H

#include "Session.h"

namespace veeline::train {

/// Called by the training loop before it writes and prints. Does not return if
/// the network's thread has already begun to, because that ends the process.
void beginEnding();

/// Prints an error. Called after `beginEnding`.
void printError(const std::string &text);

/// If a GPU has work that may never end, ends the process without waiting for
/// it. Otherwise returns.
void leaveAbandonedWork(int code);

/// If other processes wait to meet this one, tells them why it does not come.
/// Otherwise they would wait for the timeout.
void refuseToMeet(const Options &options, const std::string &why);

/// During the lifetime of this object, the network of a run ends the process if
/// the loop cannot.
class LastResort {
public:
  explicit LastResort(Run &run);
  ~LastResort() { dismiss(); }
  LastResort(const LastResort &) = delete;
  LastResort &operator=(const LastResort &) = delete;

  /// Called after the steps, because the remaining work may take any time.
  void dismiss();

  /// Sets the session whose step is described and recorded if the process ends;
  /// null: none.
  void watch(const Session *session);

private:
  Run &run;
};

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_ENDING_H
