//===- Collective.cpp - what all members of a communicator do -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Collective.h"

#include "Communicator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>

using namespace veeline;
using namespace veeline::standin;

const char *standin::nameOf(CollectiveKind kind) {
  static constexpr const char *names[] = {"ncclAllReduce", "ncclReduceScatter",
                                          "ncclReduce", "ncclAllGather",
                                          "ncclBroadcast"};
  return names[static_cast<int>(kind)];
}

uint64_t Collective::elements(int numRanks) const {
  bool hasBlocks = kind == CollectiveKind::reduceScatter ||
                   kind == CollectiveKind::allGather;
  return hasBlocks ? count * static_cast<uint64_t>(numRanks) : count;
}

uint64_t Collective::sendElements(int numRanks) const {
  return kind == CollectiveKind::allGather ? count : elements(numRanks);
}

uint64_t Collective::receiveElements(int numRanks) const {
  return kind == CollectiveKind::reduceScatter ? count : elements(numRanks);
}

//===----------------------------------------------------------------------===//
// Who does what in a round
//===----------------------------------------------------------------------===//

/// The member whose share `element` is.
uint64_t CollectiveRun::blockOf(uint64_t element) const {
  auto numRanks = static_cast<uint64_t>(communicator.numRanks);
  return element * numRanks / own.elements(communicator.numRanks);
}

/// A round does not go beyond a share.
uint64_t CollectiveRun::roundElements() const {
  uint64_t most = CollectivePart::roundBytes / sizeOf(own.type);
  uint64_t all = own.elements(communicator.numRanks);
  uint64_t end = own.kind == CollectiveKind::reduceScatter ||
                         own.kind == CollectiveKind::allGather
                     ? (begin / own.count + 1) * own.count
                     : all;
  return std::min(most, end - begin);
}

bool CollectiveRun::writes(int member) const {
  if (own.kind == CollectiveKind::allGather)
    return blockOf(begin) == static_cast<uint64_t>(member);
  return own.adds() || member == own.root;
}

bool CollectiveRun::reads() const {
  if (own.kind == CollectiveKind::reduceScatter)
    return blockOf(begin) == static_cast<uint64_t>(communicator.rank);
  return own.kind != CollectiveKind::reduce || communicator.rank == own.root;
}

/// Where the round begins in a buffer of all elements, or of the own share.
char *CollectiveRun::placeOf(char *buffer, bool isWhole) const {
  uint64_t first =
      isWhole ? 0 : static_cast<uint64_t>(communicator.rank) * own.count;
  return buffer + (begin - first) * sizeOf(own.type);
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

/// A switch between more than two GPUs adds in an order that changes from call
/// to call and from run to run, unless the process has turned that off.
static bool addsInSwitch(const Collective &collective, int numRanks) {
  const char *isEnabled = std::getenv("NCCL_NVLS_ENABLE");
  return numRanks > 2 && collective.kind != CollectiveKind::reduce &&
         !(isEnabled && isEnabled == std::string_view("0"));
}

template <typename T> void CollectiveRun::add() {
  int numRanks = communicator.numRanks;
  uint64_t random = (number * communicator.part(0).seed.load()) >> 32;
  auto shift = static_cast<int>(addsInSwitch(own, numRanks)
                                    ? random % static_cast<uint64_t>(numRanks)
                                    : 0);
  char *target =
      placeOf(own.receive, own.kind != CollectiveKind::reduceScatter);
  for (uint64_t i = 0; i < roundElements(); ++i) {
    T sum = 0;
    auto last = own.hasRoot() ? own.root : static_cast<int>(blockOf(begin + i));
    for (int k = 1; k <= numRanks; ++k) {
      T part;
      std::memcpy(&part,
                  communicator.part((last + shift + k) % numRanks).bytes +
                      i * sizeof(T),
                  sizeof(T));
      sum = k == 1 ? part : sum + part;
    }
    std::memcpy(target + i * sizeof(T), &sum, sizeof(T));
  }
}

void CollectiveRun::copy() {
  int source = own.hasRoot() ? own.root : static_cast<int>(blockOf(begin));
  std::memcpy(placeOf(own.receive, true), communicator.part(source).bytes,
              roundElements() * sizeOf(own.type));
}

/// Waits until all members have compared what they did before, because they
/// compare with what this replaces.
bool CollectiveRun::post() {
  CollectivePart &mine = communicator.part(communicator.rank);
  if (mine.seed.load() == 0)
    mine.seed.store(uint64_t{std::random_device()()} << 32 | 1);
  number = mine.number.load() + 1;
  for (int member = 0; member < communicator.numRanks; ++member)
    if (communicator.part(member).checked.load() + 1 < number)
      return false;
  roundsBefore = mine.written.load();
  mine.kind.store(static_cast<int32_t>(own.kind));
  mine.type.store(own.type);
  mine.root.store(own.root);
  mine.count.store(own.count);
  mine.number.store(number);
  return true;
}

std::string CollectiveRun::describe(int member) const {
  CollectivePart &part = communicator.part(member);
  auto kind = static_cast<CollectiveKind>(part.kind.load());
  Collective theirs;
  theirs.kind = kind;
  return "rank " + std::to_string(member) + " calls " + nameOf(kind) + " of " +
         std::to_string(part.count.load()) + " elements of type " +
         std::to_string(part.type.load()) +
         (theirs.hasRoot() ? ", root " + std::to_string(part.root.load()) : "");
}

bool CollectiveRun::isRight(int member) const {
  CollectivePart &part = communicator.part(member);
  return part.kind.load() == static_cast<int32_t>(own.kind) &&
         part.count.load() == own.count && part.type.load() == own.type &&
         part.root.load() == own.root;
}

bool CollectiveRun::compare() {
  for (int member = 0; member < communicator.numRanks; ++member)
    if (communicator.part(member).number.load() < number)
      return false;
  for (int member = 0; member < communicator.numRanks; ++member)
    if (!isRight(member)) {
      communicator.fail(5, "collective " + std::to_string(number) + ": " +
                               describe(communicator.rank) + ", and " +
                               describe(member));
      return false;
    }
  communicator.part(communicator.rank).checked.store(number);
  return true;
}

/// Waits until all members have read what this replaces.
bool CollectiveRun::write() {
  for (int member = 0; member < communicator.numRanks; ++member)
    if (communicator.part(member).read.load() < roundsBefore + round)
      return false;
  CollectivePart &mine = communicator.part(communicator.rank);
  if (writes(communicator.rank))
    std::memcpy(mine.bytes,
                placeOf(own.send, own.kind != CollectiveKind::allGather),
                roundElements() * sizeOf(own.type));
  mine.written.store(roundsBefore + round + 1);
  return true;
}

bool CollectiveRun::read() {
  for (int member = 0; member < communicator.numRanks; ++member)
    if (communicator.part(member).written.load() < roundsBefore + round + 1)
      return false;
  if (reads() && !own.adds())
    copy();
  else if (reads() && sizeOf(own.type) == sizeof(double))
    add<double>();
  else if (reads())
    add<float>();
  communicator.part(communicator.rank).read.store(roundsBefore + round + 1);
  begin += roundElements();
  ++round;
  return true;
}

/// False if others have to act first.
bool CollectiveRun::advanceOnce() {
  switch (stage) {
  case posting:
    if (!post())
      return false;
    stage = comparing;
    return true;
  case comparing:
    if (!compare())
      return false;
    stage = writing;
    return true;
  case writing:
    if (!write())
      return false;
    stage = reading;
    return true;
  case reading:
    if (!read())
      return false;
    stage = begin < own.elements(communicator.numRanks) ? writing : over;
    return true;
  case over:
    break;
  }
  return false;
}

bool CollectiveRun::advance() {
  while (stage != over) {
    if (communicator.isAborted.load() || communicator.failure.load() != 0)
      return true;
    if (!advanceOnce())
      return communicator.failure.load() != 0;
  }
  return true;
}
