//===- Communicator.cpp - what stand-ins of NCCL share --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Communicator.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <sys/mman.h>
#include <unistd.h>

using namespace veeline;
using namespace veeline::standin;

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

bool Communicator::join(int file) {
  auto members = static_cast<size_t>(numRanks);
  bytes = members * sizeof(Member) + members * members * sizeof(Pair);
  // Whoever comes first makes it as large as it has to be; it begins as zeros.
  if (::ftruncate(file, static_cast<off_t>(bytes)) != 0)
    return false;
  memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) {
    memory = nullptr;
    return false;
  }
  Member &self = static_cast<Member *>(memory)[rank];
  // NCCL_HOSTID has members look as if they were of several machines.
  const char *host = std::getenv("NCCL_HOSTID");
  self.device.store(std::hash<std::string>()((host ? host : "") +
                                             ("/" + std::to_string(device))));
  self.hasJoined.store(1, std::memory_order_release);
  return true;
}

int Communicator::look() const {
  std::set<uint64_t> devices;
  for (int i = 0; i < numRanks; ++i) {
    const Member &member = static_cast<const Member *>(memory)[i];
    if (!member.hasJoined.load(std::memory_order_acquire))
      return 0;
    if (!devices.insert(member.device.load()).second)
      return -1;
  }
  return 1;
}

Pair &Communicator::pair(int from, int to) const {
  auto *pairs =
      reinterpret_cast<Pair *>(static_cast<Member *>(memory) + numRanks);
  return pairs[from * numRanks + to];
}

CollectivePart &Communicator::part(int member) const {
  return static_cast<Member *>(memory)[member].part;
}

bool Communicator::meet(const Unit &unit) const {
  bool haveMet = true;
  for (const Collective &collective : unit.collectives) {
    uint32_t bit = 1u << static_cast<uint32_t>(collective.kind);
    part(rank).isBeginning.fetch_or(bit);
    for (int member = 0; member < numRanks; ++member)
      haveMet = haveMet && (part(member).isBeginning.load() & bit) != 0;
  }
  for (const Transfer &transfer : unit.transfers) {
    Pair &way =
        transfer.isSend ? pair(rank, transfer.peer) : pair(transfer.peer, rank);
    (transfer.isSend ? way.isSending : way.isReceiving).store(1);
    haveMet = haveMet &&
              (transfer.isSend ? way.isReceiving : way.isSending).load() != 0;
  }
  return haveMet;
}

bool Communicator::connect(int peer, bool isSend, Connection connection) const {
  Pair &way = isSend ? pair(rank, peer) : pair(peer, rank);
  auto number = static_cast<int32_t>(connection);
  (isSend ? way.sendsBy : way.receivesBy).store(number);
  int32_t other = (isSend ? way.receivesBy : way.sendsBy).load();
  return other == 0 || other == number;
}

void Communicator::fail(int code, const std::string &text) {
  std::lock_guard<std::mutex> lock(mutex);
  lastError = text;
  failure.store(code);
}

std::string Communicator::whatFailed() const {
  std::lock_guard<std::mutex> lock(mutex);
  return lastError;
}

Communicator::~Communicator() {
  if (memory)
    ::munmap(memory, bytes);
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

uint64_t standin::sizeOf(int type) {
  static constexpr uint64_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return sizes[type];
}

namespace {
/// One end of a message that is under way.
class End {
public:
  End(Communicator &communicator, const Transfer &transfer)
      : communicator(communicator), transfer(transfer),
        pair(transfer.isSend
                 ? communicator.pair(communicator.rank, transfer.peer)
                 : communicator.pair(transfer.peer, communicator.rank)),
        own(transfer.isSend ? pair.sent : pair.received),
        other(transfer.isSend ? pair.received : pair.sent),
        bytes(transfer.count * sizeOf(transfer.type)) {}

  /// True once it is over or has failed.
  bool advance();

private:
  void post();
  bool isRight();
  bool move();

  Communicator &communicator;
  const Transfer transfer;
  Pair &pair;
  Posted &own, &other;
  const uint64_t bytes;
  uint64_t number = 0, moved = 0, before = 0;
};

/// Runs a unit. It begins once those before it are over and the device has room
/// for it: streams promise no progress beside each other.
class UnitRun {
public:
  UnitRun(std::shared_ptr<Communicator> communicator, Unit newUnit,
          uint64_t ticket)
      : communicator(std::move(communicator)), unit(std::move(newUnit)),
        ticket(ticket) {}
  bool advance();

private:
  bool begin();
  bool advanceEnds();

  std::shared_ptr<Communicator> communicator;
  const Unit unit;
  const uint64_t ticket;
  bool hasBegun = false;
  std::vector<std::unique_ptr<End>> ends;
  std::deque<CollectiveRun> collectives; ///< One after the other.
};
} // namespace

/// The streams of the units that a device runs, by device. Under the lock of
/// the device.
static std::map<int, std::set<cuda::api::Stream>> &occupants() {
  static auto *all = new std::map<int, std::set<cuda::api::Stream>>();
  return *all;
}

static size_t maxUnitsAtOnce() {
  return static_cast<size_t>(setting("VEELINE_STANDIN_UNITS", 1));
}

void End::post() {
  number = own.number.load(std::memory_order_relaxed) + 1;
  before = (transfer.isSend ? pair.written : pair.read).load();
  own.count.store(transfer.count, std::memory_order_relaxed);
  own.type.store(transfer.type, std::memory_order_relaxed);
  own.number.store(number, std::memory_order_release);
}

/// Whether both ends have the same count and type.
bool End::isRight() {
  uint64_t count = other.count.load(std::memory_order_relaxed);
  int type = other.type.load(std::memory_order_relaxed);
  if (count == transfer.count && type == transfer.type)
    return true;
  auto say = [](const char *what, uint64_t count, int type) {
    return std::string(what) + " of " + std::to_string(count) +
           " elements of type " + std::to_string(type);
  };
  communicator.fail(
      5, "message " + std::to_string(number) +
             (transfer.isSend ? " to rank " : " from rank ") +
             std::to_string(transfer.peer) + ": " +
             say(transfer.isSend ? "a send" : "a receive", transfer.count,
                 transfer.type) +
             " meets " +
             say(transfer.isSend ? "a receive" : "a send", count, type));
  return false;
}

/// Moves as much as there is, or as there is room for. True once all has moved.
bool End::move() {
  uint64_t written = pair.written.load(std::memory_order_acquire);
  uint64_t read = pair.read.load(std::memory_order_acquire);
  uint64_t from = before + moved;
  uint64_t room =
      transfer.isSend ? Pair::ringBytes - (written - read) : written - read;
  uint64_t part = std::min(room, bytes - moved);
  for (uint64_t i = 0; i < part; ++i) {
    char &place = pair.ring[(from + i) % Pair::ringBytes];
    if (transfer.isSend)
      place = transfer.place[moved + i];
    else
      transfer.place[moved + i] = place;
  }
  moved += part;
  (transfer.isSend ? pair.written : pair.read)
      .store(before + moved, std::memory_order_release);
  // A send is over when its receiver has everything.
  return moved == bytes &&
         (!transfer.isSend || pair.read.load() == before + bytes);
}

bool End::advance() {
  if (communicator.isAborted.load() || communicator.failure.load() != 0)
    return true;
  if (number == 0)
    post();
  if (other.number.load(std::memory_order_acquire) < number)
    return false;
  // Compares the ends once, before the other end may go on to the next message.
  if (own.checked.load(std::memory_order_relaxed) < number) {
    if (!isRight())
      return true;
    own.checked.store(number, std::memory_order_release);
  }
  return other.checked.load(std::memory_order_acquire) >= number && move();
}

bool UnitRun::begin() {
  if (ticket != 0 && communicator->numDone + 1 != ticket)
    return false;
  std::set<cuda::api::Stream> &streams = occupants()[communicator->device];
  if (streams.size() >= maxUnitsAtOnce() || streams.count(unit.stream))
    return false;
  streams.insert(unit.stream);
  ++communicator->numUnderWay;
  hasBegun = true;
  for (const Transfer &transfer : unit.transfers)
    ends.push_back(std::make_unique<End>(*communicator, transfer));
  for (const Collective &collective : unit.collectives)
    collectives.emplace_back(*communicator, collective);
  return true;
}

/// Messages of one pair and direction follow each other, the others do not
/// wait for them.
bool UnitRun::advanceEnds() {
  std::set<std::pair<bool, int>> busy;
  while (!collectives.empty() && collectives.front().advance())
    collectives.pop_front();
  bool isDone = collectives.empty();
  for (size_t i = 0; i < ends.size(); ++i) {
    if (!ends[i])
      continue;
    std::pair<bool, int> way = {unit.transfers[i].isSend,
                                unit.transfers[i].peer};
    if (!busy.count(way) && ends[i]->advance()) {
      ends[i].reset();
      continue;
    }
    busy.insert(way);
    isDone = false;
  }
  return isDone;
}

bool UnitRun::advance() {
  if (!hasBegun && !communicator->isAborted.load() && !begin())
    return false;
  if (!advanceEnds())
    return false;
  if (hasBegun) {
    occupants()[communicator->device].erase(unit.stream);
    --communicator->numUnderWay;
  }
  if (ticket != 0)
    communicator->numDone = ticket;
  return true;
}

Progress standin::carryOut(std::shared_ptr<Communicator> communicator,
                           Unit unit, uint64_t ticket) {
  auto run = std::make_shared<UnitRun>(std::move(communicator), std::move(unit),
                                       ticket);
  return [run = std::move(run)] { return run->advance(); };
}
