//===- NcclTransport.cpp - messages between processes ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NcclTransport.h"

#include "CudaRank.h"
#include "DeviceWatch.h"
#include "Pause.h"

#include <algorithm>
#include <utility>

using namespace veeline;
using namespace veeline::cuda;

//===----------------------------------------------------------------------===//
// Before and after a step
//===----------------------------------------------------------------------===//

/// An upper bound: every message and every sum is a unit of its own.
static size_t maxUnits(const CudaRank &rank) {
  size_t count = rank.description->reductions.size();
  for (size_t i = 0; i < rank.channels.size(); ++i) {
    const artifact::Channel &channel = rank.channelOf(static_cast<int32_t>(i));
    if (channel.fromRank == rank.index || channel.toRank == rank.index)
      count += static_cast<size_t>(channel.messagesPerStep);
  }
  return count;
}

/// Checks that NCCL supports the types of all that the rank sends and receives.
static Status checkTypes(const CudaRank &rank) {
  for (size_t i = 0; i < rank.channels.size(); ++i)
    if (auto type = ncclTypeOf(rank.channelOf(static_cast<int32_t>(i)).type);
        !type.ok())
      return Status::error(
          "channel " +
          std::to_string(rank.firstChannel + static_cast<int32_t>(i)) + ": " +
          type.message());
  for (const artifact::Reduction &reduction : rank.description->reductions)
    for (const artifact::ReducedPiece &piece : reduction.pieces)
      if (auto type = ncclTypeOf(piece.type); !type.ok())
        return Status::error("gradients of chunk " +
                             std::to_string(reduction.chunk) + ": " +
                             type.message());
  return Status::success();
}

Status NcclTransport::prepare(CudaRank &rank) {
  VEELINE_TRY(checkTypes(rank));
  VEELINE_TRY(computed.create(rank.gpu()));
  size_t count = maxUnits(rank);
  for (size_t i = 0; i < count; ++i)
    VEELINE_TRY(done.emplace_back().create(rank.gpu()));
  units.reserve(count);
  ends.resize(rank.channels.size());
  size_t numIdentities = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    const artifact::Channel &channel = rank.channelOf(static_cast<int32_t>(i));
    if (channel.streamOf(false) != channel.stream)
      beside.insert(std::minmax(channel.stream, channel.receiveStream));
    ends[i].units.resize(static_cast<size_t>(channel.messagesPerStep));
    ends[i].firstIdentity = numIdentities;
    numIdentities += 2 * ends[i].units.size();
  }
  if (isChecking && numIdentities > 0) {
    auto bytes = static_cast<int64_t>(numIdentities * sizeof(engine::Identity));
    VEELINE_TRY(identitiesOfHost.allocate(rank.gpu(), bytes));
    VEELINE_TRY(identitiesOfDevice.allocate(rank.gpu(), bytes));
  }
  sumUnits.resize(rank.description->reductions.size());
  isSumUnderWay.resize(sumUnits.size());
  seen.resize(rank.allStreams().size());
  return marks.allocate(rank.gpu(), seen.size());
}

/// The units of a step are those of the step before, which the device may still
/// be running, except for late ones.
void NcclTransport::beginStep(CudaRank &rank, size_t slot, bool isReplayed) {
  currentSlot = slot;
  if (!isReplayed) {
    expectations[slot].clear();
    return beginLate(rank);
  }
  if (!rank.require(marks.write(rank.computeStream(), 0, 0, seen.size())))
    return;
  rank.move();
  if (!areOfGraph)
    units = ofGraph;
  expectations[slot] = expectedOfGraph;
  areOfGraph = true;
}

void NcclTransport::keepForGraph(size_t slot) {
  ofGraph = units;
  expectedOfGraph = expectations[slot];
  areOfGraph = true;
}

void NcclTransport::beginLate(CudaRank &rank) {
  if (!rank.require(marks.write(rank.computeStream(), 0, 0, seen.size())))
    return;
  rank.move();
  areOfGraph = false;
  units.clear();
  unsettled.assign(static_cast<size_t>(rank.numComputeStreams()), {});
}

bool NcclTransport::isIdle() const {
  bool isIdle = !isInGroup && next.stream < 0;
  for (const End &end : ends)
    isIdle = isIdle && end.numPosted == end.numWaited;
  for (bool isUnderWay : isSumUnderWay)
    isIdle = isIdle && !isUnderWay;
  return isIdle;
}

//===----------------------------------------------------------------------===//
// Operations of a step
//===----------------------------------------------------------------------===//

void NcclTransport::beginGroup(CudaRank &) { isInGroup = true; }

void NcclTransport::endGroup(CudaRank &rank) {
  isInGroup = false;
  issue(rank);
}

/// Prepares the next unit for one more part, in `stream`. The first part
/// determines what the rank waits for.
bool NcclTransport::add(CudaRank &rank, int32_t stream, int32_t awaited) {
  if (next.stream < 0)
    next.stream = stream;
  if (next.stream != stream) {
    rank.fail("a group of messages is of two streams");
    return false;
  }
  if (std::find(next.computes.begin(), next.computes.end(),
                rank.currentCompute()) == next.computes.end())
    next.computes.push_back(rank.currentCompute());
  if (next.awaited < 0) {
    next.awaited = awaited;
    next.op = rank.currentOp.load(std::memory_order_relaxed);
  }
  return true;
}

void NcclTransport::post(CudaRank &rank, int32_t channel, void *slot) {
  const artifact::Channel &description = rank.channelOf(channel);
  End &end = ends[channel];
  if (end.numPosted - end.numWaited >= end.units.size())
    return rank.fail("channel " + std::to_string(rank.firstChannel + channel) +
                     " has no more than " + std::to_string(end.units.size()) +
                     " messages a step, one more was posted");
  // Both ends have to know the size of the message.
  if (!description.lengthShapes.empty() &&
      rank.versions[description.microbatchOf(end.numPosted)] < 0)
    return rank.fail("channel " + std::to_string(rank.firstChannel + channel) +
                     ": a message is posted before its length is known");
  if (!add(rank, description.streamOf(/*isSend=*/false),
           rank.firstChannel + channel))
    return;
  if (isChecking)
    addIdentity(false, description, placeOfIdentity(end, end.numPosted));
  int64_t bytes = rank.messageBytes(description, end.numPosted);
  end.units[end.numPosted++ % end.units.size()] =
      static_cast<uint32_t>(units.size());
  next.messages.push_back(
      {NcclCall::receive, reinterpret_cast<api::DevicePointer>(slot),
       bytes / artifact::byteSize(description.type), description.type,
       description.communicator, description.fromRank});
  if (!isInGroup)
    issue(rank);
}

/// Adds the current compute stream to those whose values the next unit sends.
void NcclTransport::addSender(const CudaRank &rank) {
  if (std::find(next.senders.begin(), next.senders.end(),
                rank.currentCompute()) == next.senders.end())
    next.senders.push_back(rank.currentCompute());
}

void NcclTransport::send(CudaRank &rank, int32_t channel, const void *value,
                         int64_t bytes) {
  const artifact::Channel &description = rank.channelOf(channel);
  if (!add(rank, description.stream, rank.firstChannel + channel))
    return;
  uint32_t number = ends[channel].numSent++;
  if (isChecking && !sendIdentity(rank, channel, number))
    return;
  addSender(rank);
  next.messages.push_back(
      {NcclCall::send, reinterpret_cast<api::DevicePointer>(value),
       bytes / artifact::byteSize(description.type), description.type,
       description.communicator, description.toRank});
  if (!isInGroup)
    issue(rank);
}

void NcclTransport::wait(CudaRank &rank, int32_t channel) {
  End &end = ends[channel];
  if (end.numWaited == end.numPosted)
    return rank.fail("channel " + std::to_string(rank.firstChannel + channel) +
                     " is waited for, but nothing was posted");
  uint32_t number = end.numWaited++;
  if (isChecking)
    expectations[currentSlot].push_back(
        {rank.firstChannel + channel, rank.currentOp,
         engine::identityOf(rank, rank.firstChannel + channel, number),
         placeOfIdentity(end, number)});
  waitForUnit(rank, end.units[number % end.units.size()]);
}

void NcclTransport::postSum(CudaRank &rank, int32_t reduction) {
  auto index = static_cast<int32_t>(rank.program->channels.size()) + reduction;
  if (!add(rank, rank.description->reductions[reduction].stream, index))
    return;
  next.reductions.push_back(reduction);
  sumUnits[reduction] = static_cast<uint32_t>(units.size());
  isSumUnderWay[reduction] = true;
  if (!isInGroup)
    issue(rank);
}

void NcclTransport::waitForSum(CudaRank &rank, int32_t reduction) {
  if (!isSumUnderWay[reduction])
    return rank.fail(
        "gradients of replicas are waited for, but none were posted");
  isSumUnderWay[reduction] = false;
  waitForUnit(rank, sumUnits[reduction]);
}

void NcclTransport::waitForUnit(CudaRank &rank, uint32_t number) {
  if (number >= units.size())
    return rank.fail("a message is waited for inside of its group");
  // Earlier units in the waiting stream itself are over by then.
  int32_t waiting = rank.currentNumber();
  if (units[number].stream == waiting)
    return;
  if (mark(rank, waiting, 2 * number + 1))
    (void)rank.require(done[number].holdUp(rank.stream(waiting)));
}

void NcclTransport::settle(CudaRank &rank, int32_t stream) {
  std::vector<uint32_t> &left = unsettled[rank.currentCompute()];
  auto first =
      std::stable_partition(left.begin(), left.end(), [&](uint32_t number) {
        return units[number].stream != stream;
      });
  std::vector<uint32_t> settled(first, left.end());
  left.erase(first, left.end());
  for (uint32_t number : settled)
    if (!rank.failed)
      waitForUnit(rank, number);
}

//===----------------------------------------------------------------------===//
// Identities of messages
//===----------------------------------------------------------------------===//

static constexpr auto identityBytes =
    static_cast<int64_t>(sizeof(engine::Identity));

engine::Identity &NcclTransport::identityAt(size_t number) const {
  return reinterpret_cast<engine::Identity *>(identitiesOfHost.data())[number];
}

api::DevicePointer NcclTransport::addressOfIdentity(size_t number) const {
  return identitiesOfDevice.address() + number * sizeof(engine::Identity);
}

/// Adds an identity directly before its message, so that the two stay in order.
void NcclTransport::addIdentity(bool isSend, const artifact::Channel &channel,
                                size_t number) {
  next.messages.push_back({isSend ? NcclCall::send : NcclCall::receive,
                           addressOfIdentity(number), identityBytes,
                           artifact::DataType::i8, channel.communicator,
                           isSend ? channel.toRank : channel.fromRank});
}

/// Copies the identity to the device first, also in a graph.
bool NcclTransport::sendIdentity(CudaRank &rank, int32_t channel,
                                 uint32_t number) {
  size_t place = placeOfIdentity(ends[channel], number);
  identityAt(place) =
      engine::identityOf(rank, rank.firstChannel + channel, number);
  addIdentity(true, rank.channelOf(channel), place);
  return rank.require(VEELINE_CALL(
      rank.driver(), cuMemcpyHtoDAsync_v2, addressOfIdentity(place),
      &identityAt(place), sizeof(engine::Identity), rank.currentStream()));
}

/// A replayed graph receives identities again. The expected ones are the same.
void NcclTransport::readBack(CudaRank &rank, size_t slot) {
  for (const Expectation &expected : expectations[slot])
    if (!rank.require(VEELINE_CALL(
            rank.driver(), cuMemcpyDtoHAsync_v2, &identityAt(expected.number),
            addressOfIdentity(expected.number), sizeof(engine::Identity),
            rank.computeStream())))
      return;
}

void NcclTransport::inspectStep(CudaRank &rank, size_t slot) {
  int32_t currentOp = rank.currentOp;
  for (const Expectation &expected : expectations[slot]) {
    if (rank.failed)
      return;
    rank.currentOp.store(expected.op, std::memory_order_relaxed);
    engine::compareIdentities(rank, expected.channel,
                              identityAt(expected.number), expected.identity);
  }
  rank.currentOp.store(currentOp, std::memory_order_relaxed);
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

void NcclTransport::issue(CudaRank &rank) {
  Unit unit = std::exchange(next, {});
  // A group with nothing but lengths has nothing for the device.
  if (unit.stream < 0 || rank.failed)
    return;
  if (units.size() == done.size())
    return rank.fail(
        "more messages are exchanged in a step than the artifact's "
        "tables have");
  auto number = static_cast<uint32_t>(units.size());
  units.push_back(std::move(unit));
  if (issueUnit(rank, units.back(), number))
    for (int32_t compute : units.back().senders)
      unsettled[compute].push_back(number);
}

/// Orders a unit after what precedes it in the compute streams of its messages,
/// and after all earlier units in any stream, except those that run in parallel
/// to it. This order was proved free of deadlock.
bool NcclTransport::orderUnit(CudaRank &rank, const Unit &unit,
                              uint32_t number) {
  api::Stream stream = rank.stream(unit.stream);
  for (int32_t compute : unit.computes) {
    int32_t from = rank.computeNumber(compute);
    if (from != unit.stream &&
        !(rank.require(computed.record(rank.stream(from))) &&
          rank.require(computed.holdUp(stream))))
      return false;
  }
  if (rank.numComputeStreams() == 1)
    return true;
  // Waits for the last unit of each stream, as far back as the last unit of the
  // unit's own stream: what that one waited for is over, too.
  std::set<int32_t> others;
  for (uint32_t last = number; last-- > 0;) {
    int32_t other = units[last].stream;
    if (other == unit.stream)
      break;
    if (!areBeside(other, unit.stream) && others.insert(other).second &&
        !rank.require(done[last].holdUp(stream)))
      return false;
  }
  return true;
}

bool NcclTransport::issueUnit(CudaRank &rank, const Unit &unit,
                              uint32_t number) {
  // Waits in the unit's own stream need no event.
  bool isBeside = unit.stream != 0;
  bool isAwaited = isBeside || rank.numComputeStreams() > 1;
  if (!orderUnit(rank, unit, number))
    return false;
  std::vector<NcclCall> first = unit.messages, last;
  for (int32_t number : unit.reductions) {
    const artifact::Reduction &reduction = rank.description->reductions[number];
    addFirstCalls(rank, reduction, first);
    addLastCalls(rank, reduction, last);
  }
  // The event comes before the mark, because waiting streams need not wait for
  // the mark.
  return (isBeside || mark(rank, 0, 2 * number + 1)) &&
         runGroup(rank, unit, first) && launchSums(rank, unit) &&
         runGroup(rank, unit, last) &&
         (!isAwaited ||
          rank.require(done[number].record(rank.stream(unit.stream)))) &&
         mark(rank, unit.stream, 2 * number + 2);
}

bool NcclTransport::mark(CudaRank &rank, int32_t stream, uint32_t value) {
  return rank.require(
      marks.write(rank.stream(stream), static_cast<size_t>(stream), value));
}

bool NcclTransport::launchSums(CudaRank &rank, const Unit &unit) {
  for (int32_t number : unit.reductions)
    if (!cuda::launchSums(rank, rank.description->reductions[number],
                          rank.stream(unit.stream)))
      return false;
  return true;
}

bool NcclTransport::runGroup(CudaRank &rank, const Unit &unit,
                             const std::vector<NcclCall> &calls) {
  if (calls.empty())
    return true;
  if (!rank.require(issueGroup(communicators, rank.stream(unit.stream), calls)))
    return false;
  // At the first message between two ranks, NCCL waits for the other rank.
  rank.await(unit.awaited);
  std::vector<int32_t> numbers;
  for (const NcclCall &call : calls)
    if (std::find(numbers.begin(), numbers.end(), call.communicator) ==
        numbers.end())
      numbers.push_back(call.communicator);
  for (int32_t number : numbers) {
    Expected<bool> isIssued = communicators.settle(
        number, [this] { return isAborted.load(std::memory_order_acquire); });
    if (!isIssued.ok())
      return rank.require(isIssued.status());
    if (!*isIssued) {
      rank.failed = true;
      return false;
    }
  }
  rank.await(-1);
  return true;
}

//===----------------------------------------------------------------------===//
// Waiting for the device
//===----------------------------------------------------------------------===//

/// The unit for which compute stream `compute` waits, or null.
const NcclTransport::Unit *NcclTransport::findAwaited(const CudaRank &rank,
                                                      int32_t compute) const {
  uint32_t value = seen[rank.computeNumber(compute)];
  if (value % 2 == 0 || value / 2 >= units.size())
    return nullptr;
  uint32_t awaited = value / 2;
  int32_t stream = units[awaited].stream;
  // The marks of stream 0 are also those of a compute stream, so they do not
  // tell which of its units are over.
  if (stream == 0)
    return compute == 0 || seen[0] < 2 * awaited + 2 ? &units[awaited]
                                                     : nullptr;
  // Units of a stream run one after the other, so it may be running an earlier
  // one.
  for (uint32_t i = seen[stream] / 2; i <= awaited; ++i)
    if (units[i].stream == stream)
      return &units[i];
  return nullptr;
}

/// The first unit for which any compute stream waits, or null.
const NcclTransport::Unit *
NcclTransport::findAwaited(const CudaRank &rank) const {
  const Unit *first = nullptr;
  for (int32_t i = 0; i < rank.numComputeStreams(); ++i)
    if (const Unit *unit = findAwaited(rank, i);
        unit && (!first || unit < first))
      first = unit;
  return first;
}

/// Sets the position of the rank to that of its device.
void NcclTransport::showWaits(CudaRank &rank) {
  bool hasMoved = false;
  uint32_t latest = 0;
  for (size_t i = 0; i < seen.size(); ++i) {
    uint32_t value = marks.read(i);
    hasMoved |= std::exchange(seen[i], value) != value;
    latest = std::max(latest, value / 2);
  }
  if (!hasMoved)
    return;
  rank.showStep();
  const Unit *awaited = findAwaited(rank);
  rank.currentOp.store(awaited ? awaited->op : -1, std::memory_order_relaxed);
  if (latest > 0 && latest <= units.size())
    rank.lastOp.store(units[latest - 1].op, std::memory_order_relaxed);
  rank.await(awaited ? awaited->awaited : -1);
}

/// Polls until the event, an error or an abort.
Expected<bool> NcclTransport::look(CudaRank &rank, const Event &event,
                                   const std::function<bool()> &isEnough) {
  // The device may have made progress while the host waited for the step
  // before.
  std::fill(seen.begin(), seen.end(), UINT32_MAX);
  Pause pause;
  for (;;) {
    VEELINE_TRY_VALUE(bool isOver, event.hasHappened());
    if (isOver)
      return true;
    VEELINE_TRY(communicators.check());
    showWaits(rank);
    if (isAborted.load(std::memory_order_acquire)) {
      rank.failed = true;
      return rank.fault->status();
    }
    if (isEnough && isEnough())
      return false;
    rank.progress();
    pause();
  }
}

/// Nothing may be under way when memory is freed.
void NcclTransport::drain(CudaRank &rank) {
  beforeAbort();
  if (!communicators.abort())
    return;
  for (Pause pause;;) {
    Expected<bool> isOver = areDone(rank.driver(), rank.allStreams());
    if (!isOver.ok() || *isOver)
      return;
    if (double(pause.nanoseconds()) > abortShare * timeoutSeconds * 1e9)
      return abandonWork();
    pause();
  }
}

Expected<bool> NcclTransport::await(CudaRank &rank, const Event &event,
                                    const std::function<bool()> &isEnough) {
  int32_t currentOp = rank.currentOp, lastOp = rank.lastOp;
  waitsForDevice.store(true, std::memory_order_relaxed);
  Expected<bool> isOver = look(rank, event, isEnough);
  waitsForDevice.store(false, std::memory_order_relaxed);
  if (!isOver.ok())
    return isOver;
  rank.currentOp.store(currentOp, std::memory_order_relaxed);
  rank.lastOp.store(lastOp, std::memory_order_relaxed);
  rank.await(-1);
  return isOver;
}
