//===- Ending.h - why a run ends -------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A failed run writes its flight record and says why it ends: the training loop
// does, or the network's thread, where the loop waits for a step that does not
// come to its end.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_ENDING_H
#define VEELINE_RUNTIME_TRAIN_ENDING_H

#include "Session.h"

namespace veeline::train {

/// By the training loop, which is about to write and say it. Does not return
/// where the network's thread has begun, which ends the process.
void beginEnding();

/// Prints an error, after `beginEnding`.
void printError(const std::string &text);

/// Where a GPU has work that may never end, the process ends here: nothing that
/// waits for that is done. Else it returns.
void leaveAbandonedWork(int code);

/// Where other processes wait for this one to meet them, tells them why it does
/// not come: they would wait for the timeout.
void refuseToMeet(const Options &options, const std::string &why);

/// While it lives, the network of a run ends the process where the loop cannot.
class LastResort {
public:
  explicit LastResort(Run &run);
  ~LastResort() { dismiss(); }
  LastResort(const LastResort &) = delete;
  LastResort &operator=(const LastResort &) = delete;

  /// Steps are over: what is left to do takes what it takes.
  void dismiss();

  /// Whose step may be the last one; null: none.
  void watch(const Session *session);

private:
  Run &run;
};

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_ENDING_H
