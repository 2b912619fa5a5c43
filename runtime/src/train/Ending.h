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

/// Says that a run was interrupted, and its results are written.
void printInterrupted(const Options &options);

/// The error of a failed allocation. `run` is null if the artifact is not open.
Status outOfMemory(const Options &options, const Run *run);

/// Ends the process if a GPU has work that may never end, or a thread waits for
/// a file system, without waiting for it. Else returns.
void leaveAbandonedWork(int code);

/// A file system does not answer. From here on the process ends, for the reason
/// `why`, once the training loop, which calls this, has written nothing for a
/// while: what it still has to write may be there, too.
void endUnlessWriting(const Options &options, const std::string &why);

/// Of a run that has failed, perhaps after a signal.
int exitCodeOfFailure();

/// If other processes wait for this one to meet them, tells them why it does
/// not come: else they would wait for the timeout.
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
