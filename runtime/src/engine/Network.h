//===- Network.h - the other processes of a run -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_NETWORK_H
#define VEELINE_RUNTIME_ENGINE_NETWORK_H

#include "ShortText.h"

#include "veeline/artifact.h"
#include "veeline/status.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace veeline::engine {

class Channel;
class Group;
class Reduction;

/// What the rank of this process does, as another thread sees it.
struct Pulse {
  enum State : uint32_t {
    elsewhere, ///< Not in a step: it loads, reads or writes.
    computing, ///< In a step.
    waiting    ///< In a step, for another rank.
  };
  State state = elsewhere;
  uint32_t moves = 0; ///< Changes whenever the rank makes progress.
  /// About the rank's thread, in a step: its processor time, and whether it
  /// runs or could run, that is, does not sleep.
  int64_t processorNanoseconds = 0;
  bool isRunnable = true;
};

/// A rank of this process, as the thread of a network sees it.
class Observed {
public:
  virtual ~Observed() = default;
  /// Ends the current step and all further ones with an error.
  virtual void raise(const std::string &failure) = 0;
  virtual Pulse pulse() const = 0;
  /// Describes what the rank does and waits for.
  virtual void describePlace(ShortText &text) const = 0;
};

/// The processes of a run, one for each rank. All functions except `connect`,
/// `progress` and `announce` are for the thread that runs the training loop,
/// and every process calls the same ones in the same order.
class Network {
public:
  virtual ~Network() = default;

  virtual int32_t rank() const = 0;
  virtual int32_t numRanks() const = 0;

  /// Says that later calls of `connect` and `join` belong to another program,
  /// which has `numChannels` channels. All programs are loaded before the first
  /// step, and steps of two programs are never under way at the same time.
  virtual void beginProgram(int32_t numChannels) = 0;

  /// Returns this process's end of a channel from or to another rank. Called
  /// before the first step.
  virtual std::unique_ptr<Channel>
  connect(Group &group, int32_t index, const artifact::Channel &channel) = 0;

  /// Returns this process's part of a piece of entry `index` of its rank's
  /// table of reductions, with the processes `members`, by replica. `number`
  /// counts the pieces of the rank, `arena` is its arena. Called before the
  /// first step.
  virtual std::unique_ptr<Reduction>
  join(Group &group, int32_t index, int32_t number,
       const artifact::ReducedPiece &description,
       const std::vector<int32_t> &members, char *arena) = 0;

  /// Advances messages that do not progress by themselves. The rank's thread
  /// calls it from time to time while it computes.
  virtual void progress() {}

  /// Says that the training loop has not stalled, although it takes long. From
  /// any thread.
  virtual void noteMove() {}

  /// Ends the use of what `connect` and `join` gave.
  virtual void disconnect() = 0;

  /// Returns what each process has contributed, by rank. Fails if one of them
  /// has failed.
  virtual Expected<std::vector<std::string>> exchange(std::string mine) = 0;

  /// Like `exchange`, but only for rank 0. The others get nothing and do not
  /// wait.
  virtual Expected<std::vector<std::string>> gather(std::string mine) = 0;

  /// From now on, tells `rank` of processes that fail, and watches its
  /// progress. Several ranks can be watched: a process has one for each program
  /// that it has loaded.
  virtual void watch(Observed &rank) = 0;
  /// Ends what `watch` has begun.
  virtual void unwatch(Observed &rank) = 0;

  /// Sets a function that ends this process if it has heard of a failure and
  /// does not end soon by itself. `end` is called repeatedly, from another
  /// thread. Null: nothing ends the process.
  virtual void setLastResort(std::function<void(const char *failure)> end) = 0;

  /// The first failure that a rank has heard of, or null. May be called by
  /// signal handlers.
  virtual const char *knownFailure() const = 0;

  /// Tells the other processes that this one cannot continue. From any thread.
  virtual void announce(const std::string &failure) = 0;
};

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_NETWORK_H
