//===- Channel.cpp - messages between two ranks ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Channel.h"

#include "Names.h"
#include "Part.h"
#include "Rank.h"
#include "veeline/Base/Clock.h"
#include "veeline/Base/ProcessLimits.h"

#include "veeline/Base/Check.h"

#include <cstring>

using namespace veeline;
using namespace veeline::engine;

/// The time that a rank sleeps before it checks whether all ranks sleep.
static constexpr int64_t deadlockCheckMilliseconds = 200;

/// Whether the counter in `word` is at least `target`. The two never differ by
/// 2^30 messages, so they may wrap around.
static bool hasReached(uint32_t word, uint32_t target) {
  return static_cast<int32_t>((word & ~faultBit) - target) >= 0;
}

//===----------------------------------------------------------------------===//
// Group
//===----------------------------------------------------------------------===//

// A spin of about 50 microseconds saves the two system calls of a short wait.
// If ranks share cores, it would only keep the peer from running.
Group::Group(const artifact::Program &program, bool isWhole,
             bool checksMessages)
    : program(program), isWhole(isWhole), isChecking(checksMessages),
      blockages(program.ranks.size()),
      spins(static_cast<int64_t>(program.ranks.size()) <= countUsableCores()
                ? 2000
                : 20) {}

void Group::beginStep(int32_t rank) {
  std::atomic<uint32_t> &turn = blockages[rank].turn;
  if (turn.load(std::memory_order_relaxed) & 1)
    turn.fetch_add(1, std::memory_order_release);
}

void Group::endStep(int32_t rank, const WaitWord &word, uint32_t target) {
  blockages[rank].block(-1, word, target);
}

bool Group::waitFor(veeline_rank &rank, int32_t channel, WaitWord &word,
                    uint32_t target) {
  rank.await(channel);
  if (!await(rank, channel, word, target))
    return false;
  rank.await(-1);
  return true;
}

bool Group::await(veeline_rank &rank, int32_t channel, WaitWord &word,
                  uint32_t target) {
  for (int32_t i = 0; i < spins; ++i) {
    uint32_t seen = word.load();
    if (seen & faultBit)
      return false;
    if (hasReached(seen, target))
      return true;
    pauseSpin();
  }
  Blockage &blockage = blockages[rank.index];
  blockage.block(channel, word, target);
  int64_t begin = nanoseconds();
  sleepUntilReached(rank, word, target);
  if (rank.timeline)
    rank.timeline->addIdle(begin, nanoseconds());
  blockage.turn.fetch_add(1, std::memory_order_release);
  return !(word.load() & faultBit);
}

void Group::sleepUntilReached(veeline_rank &rank, WaitWord &word,
                              uint32_t target) {
  for (;;) {
    uint32_t seen = word.load();
    if ((seen & faultBit) || hasReached(seen, target))
      return;
    int64_t before = nanoseconds();
    word.sleepWhile(seen, deadlockCheckMilliseconds);
    bool timedOut =
        nanoseconds() - before >= deadlockCheckMilliseconds * 1'000'000;
    if (timedOut && isDeadlocked())
      rank.fault->raise(describeDeadlock(), rank.step);
  }
}

/// Returns the sum of the ranks' turns if each rank sleeps for something that
/// has not arrived, else none. A turn distinguishes one sleep of a rank from
/// the next.
std::optional<uint64_t> Group::turnsIfAllBlocked() const {
  uint64_t sum = 0;
  for (const Blockage &blockage : blockages) {
    uint32_t turn = blockage.turn.load(std::memory_order_acquire);
    if (!(turn & 1))
      return std::nullopt;
    sum += turn;
    const WaitWord *word = blockage.word.load(std::memory_order_acquire);
    if (hasReached(word->load(),
                   blockage.target.load(std::memory_order_acquire)))
      return std::nullopt;
  }
  return sum;
}

/// This check is exact. If two samples are equal, all ranks slept at the
/// instant between them, and a sleeping rank wakes no other. Turns only grow,
/// so equal sums mean equal turns, and a rank that waits for a slow peer
/// allocates nothing.
bool Group::isDeadlocked() const {
  if (!isWhole)
    return false;
  std::optional<uint64_t> first = turnsIfAllBlocked();
  return first && first == turnsIfAllBlocked();
}

/// Describes a wait, as in " waits for the gradients of chunk 1 of ranks 0, 4",
/// or for their shares of parameters.
static void describeReduction(ShortText &text, const artifact::Program &program,
                              int32_t rank, int32_t number) {
  const artifact::Reduction &reduction =
      program.ranks[static_cast<size_t>(rank)]
          .reductions[static_cast<size_t>(number)];
  bool gathers = !reduction.pieces.empty() && reduction.pieces[0].gathers;
  text << (gathers ? " waits for the shares of parameters of chunk "
                   : " waits for the gradients of chunk ")
       << reduction.chunk << " of rank";
  int32_t stage = program.placeOf(static_cast<size_t>(rank)).stage;
  auto isMember = [&](size_t other) {
    return other != static_cast<size_t>(rank) &&
           program.placeOf(other).stage == stage;
  };
  size_t count = 0;
  for (size_t other = 0; other < program.ranks.size(); ++other)
    count += isMember(other);
  const char *separator = count == 1 ? " " : "s ";
  for (size_t other = 0; other < program.ranks.size(); ++other) {
    if (!isMember(other))
      continue;
    text << separator << static_cast<int64_t>(other);
    separator = ", ";
  }
}

void Group::describeWait(ShortText &text, int32_t rank, int32_t index) const {
  if (index == endOfAll) {
    text << " waits until all ranks have ended the step before";
    return;
  }
  if (static_cast<size_t>(index) >= program.channels.size())
    return describeReduction(text, program, rank, index - indexOf(0));
  const artifact::Channel &channel = program.channels[index];
  bool receives = channel.toRank == rank;
  text << (receives ? " waits for a message of rank "
                    : " waits for a place to send to from rank ")
       << (receives ? channel.fromRank : channel.toRank) << " (channel "
       << index << ", " << artifact::enumName(channel.kind) << " "
       << channel.edge << ")";
}

/// Describes an operation, as in "F of chunk 1, microbatch 2", or "W of chunk
/// 1, microbatch 2, of the step before".
static void describeOp(ShortText &text, const artifact::Op &op) {
  text << artifact::enumName(op.kind);
  if (op.chunk >= 0)
    text << " of chunk " << op.chunk;
  if (op.microbatch >= 0)
    text << ", microbatch " << op.microbatch;
  if (op.late)
    text << ", of the step before";
}

void Group::describe(ShortText &text, const veeline_rank &rank) const {
  const std::vector<artifact::Op> &ops = rank.description->ops;
  int32_t current = rank.currentOp, awaited = rank.awaited;
  auto at = static_cast<size_t>(current >= 0 ? current : rank.lastOp + 1);
  text << "rank " << rank.index;
  if (at < ops.size()) {
    text << (current >= 0 ? " is at " : " is before ");
    describeOp(text, ops[at]);
  } else if (!ops.empty()) {
    text << " is at the end of its step";
  } else if (awaited < 0) {
    text << " is in its step";
  }
  if (awaited < 0)
    return;
  text << (ops.empty() ? "" : ", and");
  describeWait(text, rank.index, awaited);
}

std::string Group::describeDeadlock() const {
  std::string text = "deadlock:";
  for (size_t rank = 0; rank < blockages.size(); ++rank) {
    int32_t index = blockages[rank].channel.load(std::memory_order_acquire);
    text += (rank ? "; rank " : " rank ") + std::to_string(rank);
    ShortText wait;
    if (index < 0)
      wait << " has ended its step";
    else
      describeWait(wait, static_cast<int32_t>(rank), index);
    text += wait.view();
  }
  return text;
}

//===----------------------------------------------------------------------===//
// ThreadChannel
//===----------------------------------------------------------------------===//

ThreadChannel::ThreadChannel(Group &group, int32_t index,
                             const artifact::Channel &description,
                             bool hasSpare)
    : group(group), index(index), description(description),
      capacity(description.messagesPerStep), parts(description.parts),
      slots(capacity),
      identities(group.checksMessages() ? capacity * parts : 0) {
  // The memory is not touched before it is used.
  if (hasSpare)
    spare.reset(new char[static_cast<size_t>(description.messageBytes)]);
}

void ThreadChannel::post(veeline_rank &rank, void *slot) {
  if (receiver.numPosted - receiver.numWaited >= capacity)
    return rank.failOnChannel(index,
                              " has no more than " + std::to_string(capacity) +
                                  " messages a step, one more was posted");
  slots[receiver.numPosted++ % capacity] = slot;
  receiver.posted.add(oneMessage);
}

void ThreadChannel::wait(veeline_rank &rank) {
  if (receiver.numWaited == receiver.numPosted)
    return rank.failOnChannel(index, " is waited for, but nothing was posted");
  uint32_t number = receiver.numWaited++;
  uint32_t target = receiver.numWaited * parts * oneMessage;
  if (!group.waitFor(rank, index, sender.committed, target))
    rank.failed = true;
  else if (!identities.empty())
    checkIdentities(rank, index, number, parts,
                    &identities[number % capacity * parts]);
}

/// Whether the next message is the first one of a step and its slot is not
/// posted yet.
bool ThreadChannel::takesSpare() const {
  return spare && sender.numAcquired % capacity == 0 &&
         sender.numAcquired == sender.numCommitted.messages &&
         !hasReached(receiver.posted.load(),
                     (sender.numAcquired + 1) * oneMessage);
}

/// Waits for the slot of a part, and copies the part to it.
void ThreadChannel::fillFromSpare(veeline_rank &rank, uint32_t number,
                                  int32_t part) {
  if (!group.waitFor(rank, index, receiver.posted, (number + 1) * oneMessage)) {
    rank.failed = true;
    return;
  }
  Part range =
      partOf(description, rank.messageBytes(description, number), part);
  std::memcpy(static_cast<char *>(slots[number % capacity]) + range.offset,
              spare.get() + range.offset, static_cast<size_t>(range.bytes));
}

void *ThreadChannel::acquire(veeline_rank &rank) {
  if (takesSpare()) {
    ++sender.numAcquired;
    sender.isInSpare = true;
    return spare.get();
  }
  uint32_t target = (sender.numAcquired + 1) * oneMessage;
  if (!group.waitFor(rank, index, receiver.posted, target)) {
    rank.failed = true;
    return nullptr;
  }
  VEELINE_CHECK(sender.numAcquired - sender.numCommitted.messages < capacity,
                "more places are acquired than a step has messages");
  return slots[sender.numAcquired++ % capacity];
}

void ThreadChannel::commit(veeline_rank &rank) {
  auto [number, part] = sender.numCommitted;
  if (number == sender.numAcquired)
    return rank.failOnChannel(index, " is committed, but nothing was acquired");
  if (sender.isInSpare)
    fillFromSpare(rank, number, part);
  if (rank.failed)
    return;
  if (!identities.empty())
    identities[number % capacity * parts + part] =
        identityOf(rank, index, number, part);
  if (sender.numCommitted.count(parts))
    sender.isInSpare = false;
  sender.committed.add(oneMessage);
}

bool ThreadChannel::isIdle(const veeline_rank &rank) const {
  if (rank.program->channels[static_cast<size_t>(index)].toRank == rank.index)
    return receiver.numPosted == receiver.numWaited;
  return sender.numAcquired == sender.numCommitted.messages &&
         sender.numCommitted.part == 0;
}

void ThreadChannel::abort() {
  receiver.posted.setBits(faultBit);
  sender.committed.setBits(faultBit);
}
