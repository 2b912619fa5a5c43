//===- Channel.h - messages between two ranks -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_CHANNEL_H
#define VEELINE_RUNTIME_ENGINE_CHANNEL_H

#include "Identity.h"
#include "Part.h"
#include "ShortText.h"
#include "veeline/Base/Futex.h"

#include "veeline/artifact.h"

#include <limits>
#include <optional>
#include <vector>

struct veeline_rank;

namespace veeline::engine {

/// Words that count messages count in steps of two, because bit 0 indicates a
/// fault.
inline constexpr uint32_t faultBit = 1;
inline constexpr uint32_t oneMessage = 2;

/// One edge in one direction; see the message functions of runtime.h. The
/// receiver's thread calls post and wait, the sender's calls acquire and
/// commit. Transports implement this class.
class Channel {
public:
  virtual ~Channel() = default;
  virtual void post(veeline_rank &rank, void *slot) = 0;
  virtual void wait(veeline_rank &rank) = 0;
  /// Null after a fault.
  virtual void *acquire(veeline_rank &rank) = 0;
  /// Called when the next part of the oldest acquired slot has been written.
  virtual void commit(veeline_rank &rank) = 0;
  /// Ends the sender's step. What is committed now arrives without further
  /// calls of the rank.
  virtual void flush(veeline_rank &) {}
  /// Advances messages in a way that only the rank's own thread can; see
  /// Reduction::progress.
  virtual void progress(veeline_rank &) {}
  /// Wakes both sides, after which no call blocks. From any thread.
  virtual void abort() = 0;
  /// Whether, at this rank's end of the channel, every post was waited for and
  /// every acquired slot is committed. Called by the rank's thread, between
  /// steps.
  virtual bool isIdle(const veeline_rank &rank) const = 0;
};

/// What a blocked rank waits for; other ranks read it to detect deadlocks.
/// `turn` is odd while the rank cannot continue without its peers.
struct Blockage {
  alignas(64) std::atomic<uint32_t> turn{0};
  std::atomic<const WaitWord *> word{nullptr};
  std::atomic<uint32_t> target{0};
  /// -1 if its step has ended and it waits for the next one.
  std::atomic<int32_t> channel{-1};

  void block(int32_t forChannel, const WaitWord &until, uint32_t reaches) {
    word.store(&until, std::memory_order_relaxed);
    target.store(reaches, std::memory_order_relaxed);
    channel.store(forChannel, std::memory_order_relaxed);
    turn.fetch_add(1, std::memory_order_release);
  }
};

/// The ranks of a program whose threads share memory.
class Group {
public:
  /// `isWhole` says whether all ranks of the program belong to the group; only
  /// then can it detect a deadlock. `checksMessages` says whether receivers
  /// compare what arrives with what they expect, on every transport; with TCP
  /// they always do.
  Group(const artifact::Program &program, bool isWhole, bool checksMessages);

  bool checksMessages() const { return isChecking; }

  /// Blocks until `word` has reached `target` (see ThreadChannel). Returns
  /// false if it has the fault bit. Spins before it sleeps, longer if every
  /// rank has a core. `channel` says what is awaited: a channel, or a reduction
  /// of the rank (`indexOf`).
  bool waitFor(veeline_rank &rank, int32_t channel, WaitWord &word,
               uint32_t target);

  /// What a rank awaits while it validates its updates.
  static constexpr int32_t endOfAll = std::numeric_limits<int32_t>::max();

  /// The number that waitFor uses for entry `reduction` of a rank's table.
  int32_t indexOf(int32_t reduction) const {
    return static_cast<int32_t>(program.channels.size()) + reduction;
  }

  /// Describes what a rank does and waits for now, or did when it saw a fault.
  /// May be called by signal handlers.
  void describe(ShortText &text, const veeline_rank &rank) const;

  /// Called by the rank's own thread when it begins a step.
  void beginStep(int32_t rank);
  /// Called by the rank's own thread. From then on, the rank wakes no other
  /// rank until `word` reaches `target`, that is, until it has a next step.
  void endStep(int32_t rank, const WaitWord &word, uint32_t target);

private:
  bool await(veeline_rank &rank, int32_t channel, WaitWord &word,
             uint32_t target);
  void sleepUntilReached(veeline_rank &rank, WaitWord &word, uint32_t target);
  bool isDeadlocked() const;
  std::optional<uint64_t> turnsIfAllBlocked() const;
  std::string describeDeadlock() const;
  void describeWait(ShortText &text, int32_t rank, int32_t channel) const;

  const artifact::Program &program;
  const bool isWhole;
  const bool isChecking;
  std::vector<Blockage> blockages;
  int32_t spins;
};

/// A channel in shared memory. The sender writes into the slot that the
/// receiver posted, so nothing is copied.
///
/// The first message of a step is an exception while the receiver is still in
/// the step before. With `hasSpare`, the channel has memory of its own for it,
/// from which the sender copies when the slot is posted. So the sender can
/// compute in the meantime.
///
/// Two words count posts and the commits of parts. They count in steps of two,
/// so that bit 0 can indicate a fault, and they wrap around.
class ThreadChannel final : public Channel {
public:
  ThreadChannel(Group &group, int32_t index,
                const artifact::Channel &description, bool hasSpare);

  void post(veeline_rank &rank, void *slot) override;
  void wait(veeline_rank &rank) override;
  void *acquire(veeline_rank &rank) override;
  void commit(veeline_rank &rank) override;
  void abort() override;
  bool isIdle(const veeline_rank &rank) const override;

private:
  bool takesSpare() const;
  void fillFromSpare(veeline_rank &rank, uint32_t number, int32_t part);

  Group &group;
  const int32_t index;
  const artifact::Channel &description;
  const uint32_t capacity; ///< Messages of a step.
  const int32_t parts;     ///< Of a message.
  std::vector<void *> slots;
  std::vector<Identity> identities; ///< For all parts; empty: not checked.
  std::unique_ptr<char[]> spare;    ///< Null: there is none.

  struct alignas(64) Receiver {
    WaitWord posted; ///< The sender sleeps on it.
    uint32_t numPosted = 0;
    uint32_t numWaited = 0;
  } receiver;
  struct alignas(64) Sender {
    WaitWord committed; ///< The receiver sleeps on it.
    uint32_t numAcquired = 0;
    PartCounter numCommitted;
    bool isInSpare = false; ///< Whether the oldest uncommitted message is.
  } sender;
};

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_CHANNEL_H
