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
  uint32_t moves = 0; ///< Another number after each move.
  /// Of the rank's thread, in a step: what it has computed for, and whether it
  /// could compute now: it does not sleep.
  int64_t processorNanoseconds = 0;
  bool isRunnable = true;
};

/// A rank of this process, as a network's thread sees it.
class Observed {
public:
  virtual ~Observed() = default;
  /// Ends the step and all further ones with an error.
  virtual void raise(const std::string &failure) = 0;
  virtual Pulse pulse() const = 0;
  /// What it does and waits for.
  virtual void describePlace(ShortText &text) const = 0;
};

/// The processes of a run, one for each rank of the pipeline. But for
/// `connect` and `progress`, these are for the thread that runs the training
/// loop, and every process calls the same ones in the same order.
class Network {
public:
  virtual ~Network() = default;

  virtual int32_t rank() const = 0;
  virtual int32_t numRanks() const = 0;

  /// This process's end of a channel that leads to another rank or comes from
  /// one. Before the first step.
  virtual std::unique_ptr<Channel>
  connect(Group &group, int32_t index, const artifact::Channel &channel) = 0;

  /// This process's part of a piece of entry `index` of its rank's table of
  /// reductions, with the processes `members`, by replica. `number` counts the
  /// pieces of the rank, `arena` is its arena. Before the first step.
  virtual std::unique_ptr<Reduction>
  join(Group &group, int32_t index, int32_t number,
       const artifact::ReducedPiece &description,
       const std::vector<int32_t> &members, char *arena) = 0;

  /// Helps messages under way that do not move by themselves. For the rank's
  /// thread, now and then while it computes.
  virtual void progress() {}

  /// From now on what `connect` and `join` gave is not used any more.
  virtual void disconnect() = 0;

  /// What each process gave, by rank. An error where one of them has failed.
  virtual Expected<std::vector<std::string>> exchange(std::string mine) = 0;

  /// The same, for rank 0 alone; nothing for the others, who do not wait.
  virtual Expected<std::vector<std::string>> gather(std::string mine) = 0;

  /// From now on `rank` hears of processes that fail, and is watched for
  /// progress; null: no more.
  virtual void watch(Observed *rank) = 0;

  /// A process that has heard of a failure, and has not ended soon, cannot:
  /// then `end` is called again and again, from another thread. Null: that is
  /// for nobody to decide.
  virtual void setLastResort(std::function<void(const char *failure)> end) = 0;

  /// What a rank has heard of first, or null. For handlers of signals, too.
  virtual const char *knownFailure() const = 0;

  /// Tells the others that this process cannot go on.
  virtual void announce(const std::string &failure) = 0;
};

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_NETWORK_H
