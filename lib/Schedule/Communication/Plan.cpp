//===- Plan.cpp - communication strategies --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Communication/Plan.h"

#include "veeline/Schedule/Execution.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <queue>
#include <tuple>

// The two namespaces share names; the inner one takes precedence.
using namespace veeline;
using namespace veeline::schedule::communication;
using schedule::Expected;
using PlannedMessage = Traffic::Message;

const char *veeline::schedule::communication::toString(Strategy strategy) {
  switch (strategy) {
  case Strategy::PointToPoint:
    return "p2p";
  case Strategy::Batched:
    return "batched";
  case Strategy::Ring:
    return "ring";
  case Strategy::Overlap:
    return "overlap";
  case Strategy::Duplex:
    return "duplex";
  }
  return "";
}

std::optional<Strategy>
veeline::schedule::communication::parseStrategy(std::string_view name) {
  for (Strategy strategy :
       {Strategy::PointToPoint, Strategy::Batched, Strategy::Ring,
        Strategy::Overlap, Strategy::Duplex})
    if (name == toString(strategy))
      return strategy;
  return std::nullopt;
}

bool veeline::schedule::communication::isEven(int rank, int other) {
  return rank / std::abs(rank - other) % 2 == 0;
}

std::vector<int>
veeline::schedule::communication::colourRanks(const Traffic &traffic) {
  std::vector<std::vector<int>> peers(traffic.ranks.size());
  for (const PlannedMessage &message : traffic.messages)
    peers[std::max(message.source, message.target)].push_back(
        std::min(message.source, message.target));
  std::vector<int> colours;
  for (std::vector<int> &before : peers) {
    std::vector<bool> isTaken(colours.size() + 1);
    for (int peer : before)
      isTaken[colours[peer]] = true;
    auto free = std::find(isTaken.begin(), isTaken.end(), false);
    colours.push_back(static_cast<int>(free - isTaken.begin()));
  }
  return colours;
}

Expected<Traffic>
veeline::schedule::communication::trafficOf(const schedule::Problem &problem,
                                            const schedule::Schedule &order) {
  Expected<schedule::Simulation> simulation =
      schedule::simulate(problem, order);
  if (!simulation)
    return simulation.takeError();
  Expected<std::vector<schedule::Message>> messages =
      schedule::communicationOrder(problem, order);
  if (!messages)
    return messages.takeError();
  Traffic traffic;
  traffic.types.push_back({"message", 0});
  traffic.freeCommunicator = 1 + problem.stages();
  for (std::size_t rank = 0; rank < order.stages.size(); ++rank) {
    std::vector<Traffic::Step> &steps = traffic.ranks.emplace_back();
    for (std::size_t i = 0; i < order.stages[rank].size(); ++i)
      steps.push_back({simulation->start[rank][i], simulation->end[rank][i]});
  }
  traffic.messages.reserve(messages->size());
  for (const schedule::Message &message : *messages)
    traffic.messages.push_back(
        {{message.edge,
          message.gradient ? Direction::Gradient : Direction::Activation,
          message.microbatch},
         0,
         message.sourceStage,
         message.targetStage,
         schedule::blockAround(order, message.sourceStage, message.sourceStep)
             .second,
         schedule::blockAround(order, message.targetStage, message.targetStep)
             .first});
  return traffic;
}

//===----------------------------------------------------------------------===//
// One order of all messages
//===----------------------------------------------------------------------===//

namespace {
/// Runs the steps of all ranks in the order of their ends, each after what it
/// needs. Lists the messages as they are made.
class Sequencer {
public:
  explicit Sequencer(const Traffic &traffic)
      : traffic(traffic), done(traffic.ranks.size()), sent(done.size()),
        arriving(done.size()), missing(done.size()) {
    for (std::size_t rank = 0; rank < done.size(); ++rank)
      missing[rank].resize(traffic.ranks[rank].size());
    for (std::size_t i = 0; i < traffic.messages.size(); ++i) {
      const PlannedMessage &message = traffic.messages[i];
      sent[message.source].push_back(i);
      ++missing[message.target][message.targetSteps];
    }
    for (std::vector<int> &list : sent)
      std::stable_sort(list.begin(), list.end(), [&](int a, int b) {
        return traffic.messages[a].sourceSteps <
               traffic.messages[b].sourceSteps;
      });
  }

  Expected<std::vector<PlannedMessage>> run() {
    for (std::size_t rank = 0; rank < done.size(); ++rank)
      offer(rank);
    while (!queue.empty()) {
      auto [end, rank] = queue.top();
      queue.pop();
      ++done[rank];
      send(rank);
      offer(rank);
    }
    for (std::size_t rank = 0; rank < done.size(); ++rank)
      if (done[rank] != traffic.ranks[rank].size())
        return schedule::Error{schedule::ErrorKind::Deadlock,
                               "step " + std::to_string(done[rank]) +
                                   " of rank " + std::to_string(rank) +
                                   " waits for a message that depends on it"};
    return std::move(order);
  }

  /// For each message of the order, the number of steps that its target had
  /// done when it was sent.
  const std::vector<int> &targetSteps() const { return progress; }

private:
  using Entry = std::pair<double, int>;

  /// Queues the next step of a rank if all that it needs is there.
  void offer(int rank) {
    const auto &steps = traffic.ranks[rank];
    if (done[rank] < steps.size() && missing[rank][done[rank]] == 0)
      queue.push({steps[done[rank]].end, rank});
  }

  void send(int rank) {
    std::size_t &next = arriving[rank];
    while (next < sent[rank].size()) {
      const PlannedMessage &message = traffic.messages[sent[rank][next]];
      if (message.sourceSteps > static_cast<int>(done[rank]))
        break;
      ++next;
      order.push_back(message);
      progress.push_back(static_cast<int>(done[message.target]));
      bool isLast = --missing[message.target][message.targetSteps] == 0;
      if (isLast &&
          done[message.target] == static_cast<std::size_t>(message.targetSteps))
        offer(message.target);
    }
  }

  const Traffic &traffic;
  std::vector<std::size_t> done;
  /// See `targetSteps`.
  std::vector<int> progress;
  /// The messages that each rank sends, by step, and how many of them it has
  /// sent.
  std::vector<std::vector<int>> sent;
  std::vector<std::size_t> arriving;
  /// The number of messages that each step still needs.
  std::vector<std::vector<int>> missing;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::vector<PlannedMessage> order;
};
} // namespace

//===----------------------------------------------------------------------===//
// Writing programs
//===----------------------------------------------------------------------===//

namespace {
/// One end of a message, and the slot of its rank in which it is called.
struct Call {
  int slot;
  int message;
  bool isSend;
  /// The calls of a slot ascend in this.
  int place = 0;
};
using RankCalls = std::vector<std::vector<Call>>;
} // namespace

static Op messageOp(const PlannedMessage &message, bool isSend, int stream) {
  return {.kind = isSend ? OpKind::Send : OpKind::Receive,
          .message = message.id,
          .peer = isSend ? message.target : message.source,
          .type = message.type,
          .stream = stream};
}

//===----------------------------------------------------------------------===//
// Calls that are waited for
//===----------------------------------------------------------------------===//

namespace {
struct Slots {
  std::vector<int> send, receive;
};
} // namespace

/// Returns the latest slots that steps and later messages allow, found from the
/// last message to the first.
static Slots latestSlots(const Traffic &traffic,
                         const std::vector<PlannedMessage> &order) {
  Slots slots{std::vector<int>(order.size()), std::vector<int>(order.size())};
  std::vector<int> latest(traffic.ranks.size(),
                          std::numeric_limits<int>::max());
  for (std::size_t i = order.size(); i-- > 0;) {
    int &source = latest[order[i].source], &target = latest[order[i].target];
    slots.send[i] = source = std::min(source, order[i].sourceSteps);
    slots.receive[i] = target = std::min(target, order[i].targetSteps);
  }
  return slots;
}

namespace {
/// The values whose shape is sent ahead: by edge and microbatch, the place of
/// the shape in the order.
using Shapes = std::map<std::pair<int, int>, int>;
} // namespace

static Shapes findShapes(const std::vector<PlannedMessage> &order) {
  Shapes shapes;
  for (int i = 0; i < static_cast<int>(order.size()); ++i)
    if (order[i].id.direction == Direction::Shape)
      shapes[{order[i].id.edge, order[i].id.microbatch}] = i;
  return shapes;
}

/// Returns the place of the shape of the message at `i`, or -1.
static int shapeOf(const std::vector<PlannedMessage> &order,
                   const Shapes &shapes, int i) {
  const MessageId &id = order[i].id;
  auto shape = shapes.find({id.edge, id.microbatch});
  bool hasShape =
      id.direction == Direction::Activation && shape != shapes.end();
  return hasShape ? shape->second : -1;
}

/// Returns the order in which messages are called. Of two messages in opposite
/// directions between the same slots, the one with the even sender comes first.
static std::vector<int> byParity(const std::vector<PlannedMessage> &order,
                                 const Slots &slots) {
  // Messages in one direction between the same slots; the first one is at the
  // back.
  using Key = std::tuple<int, int, int, int>;
  auto keyOf = [&](int i) {
    return Key{order[i].source, order[i].target, slots.send[i],
               slots.receive[i]};
  };
  std::map<Key, std::vector<int>> ways;
  for (int i = static_cast<int>(order.size()); i-- > 0;)
    ways[keyOf(i)].push_back(i);
  std::vector<int> result;
  result.reserve(order.size());
  std::vector<bool> isTaken(order.size());
  Shapes shapes = findShapes(order);
  // A value must follow its shape.
  auto mayGo = [&](int i) {
    int shape = shapeOf(order, shapes, i);
    return shape < 0 || isTaken[shape];
  };
  for (int i = 0; i < static_cast<int>(order.size()); ++i) {
    if (isTaken[i])
      continue;
    auto [source, target, send, receive] = keyOf(i);
    auto opposite = ways.find({target, source, receive, send});
    if (!isEven(source, target) && opposite != ways.end()) {
      std::vector<int> &list = opposite->second;
      while (!list.empty() && isTaken[list.back()])
        list.pop_back();
      if (!list.empty() && mayGo(list.back())) {
        isTaken[list.back()] = true;
        result.push_back(list.back());
      }
    }
    isTaken[i] = true;
    result.push_back(i);
  }
  return result;
}

static RankCalls callsOf(const Traffic &traffic,
                         const std::vector<PlannedMessage> &order) {
  Slots slots = latestSlots(traffic, order);
  RankCalls calls(traffic.ranks.size());
  for (int i : byParity(order, slots)) {
    calls[order[i].source].push_back({slots.send[i], i, true});
    calls[order[i].target].push_back({slots.receive[i], i, false});
  }
  return calls;
}

/// Whether one of the calls in [begin, end) has the shape of the value at
/// `end`.
static bool saysShapeOf(const std::vector<PlannedMessage> &order,
                        const std::vector<Call> &calls, std::size_t begin,
                        std::size_t end) {
  MessageId shape = order[calls[end].message].id;
  if (shape.direction != Direction::Activation)
    return false;
  shape.direction = Direction::Shape;
  return std::any_of(
      calls.begin() + begin, calls.begin() + end,
      [&](const Call &call) { return order[call.message].id == shape; });
}

/// Returns the number of calls from `begin` on that form one unit. A value is
/// never in one unit with its shape, which has to arrive before.
static int unitSize(const std::vector<PlannedMessage> &order,
                    const std::vector<Call> &calls, std::size_t begin,
                    Strategy strategy) {
  std::size_t end = begin + 1;
  if (strategy == Strategy::PointToPoint)
    return 1;
  while (end < calls.size() && calls[end].slot == calls[begin].slot &&
         !saysShapeOf(order, calls, begin, end))
    ++end;
  if (strategy == Strategy::Ring)
    return end - begin;
  return end > begin + 1 && calls[begin].isSend != calls[begin + 1].isSend ? 2
                                                                           : 1;
}

/// Adds a unit, and the waits for what it receives.
static void addUnit(const std::vector<PlannedMessage> &order, const Call *begin,
                    int size, int group, int &handles, std::vector<Op> &ops) {
  int firstHandle = handles;
  for (const Call *call = begin; call != begin + size; ++call) {
    ops.push_back(messageOp(order[call->message], call->isSend, computeStream));
    ops.back().group = size > 1 ? group : -1;
    if (!call->isSend)
      ops.back().handle = handles++;
  }
  for (int handle = firstHandle; handle < handles; ++handle)
    ops.push_back({.kind = OpKind::Wait, .handle = handle});
}

static std::vector<Op> writeCalls(const std::vector<PlannedMessage> &order,
                                  const std::vector<Call> &calls, int steps,
                                  Strategy strategy) {
  std::vector<Op> ops;
  int handles = 0, groups = 0;
  std::size_t next = 0;
  for (int slot = 0; slot <= steps; ++slot) {
    while (next < calls.size() && calls[next].slot == slot) {
      int size = unitSize(order, calls, next, strategy);
      addUnit(order, &calls[next], size, groups++, handles, ops);
      next += size;
    }
    if (slot < steps)
      ops.push_back({.step = slot});
  }
  return ops;
}

//===----------------------------------------------------------------------===//
// Receives that are posted ahead
//===----------------------------------------------------------------------===//

/// The stream of messages that do not block computations, if all of them use
/// one stream.
static constexpr int asynchronousStream = 1;

/// Returns the slot before the target's first step that is not over when the
/// producer begins. A step that takes no time and begins with the producer does
/// not count as over. So a sender that waits for memory waits for something
/// that begins earlier, and there is no cycle.
static int slotAhead(const Traffic &traffic, const PlannedMessage &message) {
  double begin = traffic.ranks[message.source][message.sourceSteps - 1].begin;
  const std::vector<Traffic::Step> &steps = traffic.ranks[message.target];
  auto after = std::partition_point(
      steps.begin(), steps.end(), [&](const Traffic::Step &step) {
        return step.end <= begin && step.begin < begin;
      });
  return std::min<int>(after - steps.begin(), message.targetSteps);
}

/// Returns the calls of each rank, by slot. Within a slot, receives come first.
/// Under NCCL's rules they do not, because the order of messages matters there.
static RankCalls callsAhead(const Traffic &traffic,
                            const std::vector<PlannedMessage> &order,
                            Model model) {
  RankCalls calls(traffic.ranks.size());
  std::vector<int> earliest(traffic.ranks.size());
  for (int i = 0; i < static_cast<int>(order.size()); ++i) {
    const PlannedMessage &message = order[i];
    int &source = earliest[message.source], &target = earliest[message.target];
    source = message.sourceSteps;
    int ahead = isNccl(model) ? target : slotAhead(traffic, message);
    calls[message.source].push_back({message.sourceSteps, i, true});
    calls[message.target].push_back({ahead, i, false});
  }
  for (std::vector<Call> &list : calls)
    std::stable_sort(list.begin(), list.end(),
                     [&](const Call &a, const Call &b) {
                       return a.slot != b.slot ? a.slot < b.slot
                                               : model == Model::Mpi &&
                                                     !a.isSend && b.isSend;
                     });
  return calls;
}

/// Returns the slots of receives that do not block sends. A receive is posted
/// ahead (`slotAhead`), with these exceptions for the order of messages:
/// - it is not posted before an earlier receive of the rank;
/// - it is not posted after a step that comes after the message;
/// - if the rank waits for the shape of a value as it posts the receive of the
///   value, it does so after all of its steps that come before the shape.
///   Otherwise it could wait for what depends on itself.
///
/// `targetSteps` is the number of steps of its target that come before each
/// message.
static std::vector<int> slotsBeside(const Traffic &traffic,
                                    const std::vector<PlannedMessage> &order,
                                    const Shapes &shapes,
                                    const std::vector<int> &targetSteps) {
  std::vector<int> slots(order.size()), last(traffic.ranks.size());
  for (int i = 0; i < static_cast<int>(order.size()); ++i) {
    int ahead = std::min(slotAhead(traffic, order[i]), targetSteps[i]);
    if (int shape = shapeOf(order, shapes, i); shape >= 0)
      ahead = std::max(ahead, targetSteps[shape]);
    int &slot = last[order[i].target];
    slots[i] = slot = std::max(slot, ahead);
  }
  return slots;
}

/// Returns the calls of each rank, by slot. In a slot, receives come before
/// sends. From the first receive on that waits for a shape, receives come after
/// the sends, because nothing before such a receive in the order of messages
/// may wait for it.
static RankCalls callsBeside(const Traffic &traffic,
                             const std::vector<PlannedMessage> &order,
                             const std::vector<int> &targetSteps) {
  Shapes shapes = findShapes(order);
  std::vector<int> slots = slotsBeside(traffic, order, shapes, targetSteps);
  RankCalls calls(traffic.ranks.size());
  for (int i = 0; i < static_cast<int>(order.size()); ++i) {
    calls[order[i].source].push_back({order[i].sourceSteps, i, true});
    calls[order[i].target].push_back({slots[i], i, false});
  }
  for (std::vector<Call> &list : calls) {
    int waiting = -1; ///< The last slot with a receive that waits.
    for (Call &call : list) {
      if (!call.isSend && shapeOf(order, shapes, call.message) >= 0)
        waiting = call.slot;
      call.place = call.isSend ? 1 : waiting == call.slot ? 2 : 0;
    }
    std::stable_sort(
        list.begin(), list.end(), [](const Call &a, const Call &b) {
          return std::pair(a.slot, a.place) < std::pair(b.slot, b.place);
        });
  }
  return calls;
}

namespace {
/// The streams of sends and of receives, and, by rank, the communicator of what
/// it sends.
struct Lanes {
  int send = asynchronousStream, receive = asynchronousStream;
  std::vector<int> communicators;
};

/// Writes the operations of one rank. In each slot these are the calls, then
/// the waits of the next step, for messages and for the memory into which it
/// computes directly.
class AheadWriter {
public:
  AheadWriter(const std::vector<PlannedMessage> &order, const Lanes &lanes,
              int steps, Model model)
      : order(order), lanes(lanes), model(model), before(steps + 1) {}

  std::vector<Op> write(const std::vector<Call> &calls);

private:
  void addReady(const PlannedMessage &message);
  void post(const Call &call);
  void waitForShape(const PlannedMessage &message);
  void wait(int handle) {
    if (!isWaitedFor[handle])
      ops.push_back({.kind = OpKind::Wait, .handle = handle});
    isWaitedFor[handle] = true;
  }

  const std::vector<PlannedMessage> &order;
  const Lanes &lanes;
  Model model;
  std::vector<Op> ops;
  /// What each step waits for: the handles of messages, then memory.
  struct Waits {
    std::vector<int> handles;
    std::vector<Op> memory;
  };
  std::vector<Waits> before;
  std::vector<bool> isWaitedFor;
  /// The handles of the shapes that are received, by edge and microbatch.
  std::map<std::pair<int, int>, int> shapes;
};
} // namespace

void AheadWriter::addReady(const PlannedMessage &message) {
  before[message.sourceSteps - 1].memory.push_back(
      {.kind = OpKind::Ready, .message = message.id});
}

/// Waits for the shape of a value before its receive, which tells NCCL the
/// number of elements.
void AheadWriter::waitForShape(const PlannedMessage &message) {
  auto shape = shapes.find({message.id.edge, message.id.microbatch});
  if (message.id.direction == Direction::Activation && shape != shapes.end())
    wait(shape->second);
}

void AheadWriter::post(const Call &call) {
  const PlannedMessage &message = order[call.message];
  if (!call.isSend && isNccl(model))
    waitForShape(message);
  ops.push_back(messageOp(message, call.isSend,
                          call.isSend ? lanes.send : lanes.receive));
  ops.back().communicator = lanes.communicators[message.source];
  // Under NCCL's rules, a send without a handle blocks computations.
  if (call.isSend && model == Model::Mpi)
    return;
  int handle = ops.back().handle = static_cast<int>(isWaitedFor.size());
  isWaitedFor.push_back(false);
  if (call.isSend)
    return;
  before[message.targetSteps].handles.push_back(handle);
  if (message.id.direction == Direction::Shape)
    shapes[{message.id.edge, message.id.microbatch}] = handle;
}

std::vector<Op> AheadWriter::write(const std::vector<Call> &calls) {
  for (const Call &call : calls)
    if (call.isSend && order[call.message].isDirect && model == Model::Mpi)
      addReady(order[call.message]);
  auto next = calls.begin();
  int slots = static_cast<int>(before.size());
  for (int slot = 0; slot < slots; ++slot) {
    for (; next != calls.end() && next->slot == slot; ++next)
      post(*next);
    for (int handle : before[slot].handles)
      wait(handle);
    ops.insert(ops.end(), before[slot].memory.begin(),
               before[slot].memory.end());
    if (slot + 1 < slots)
      ops.push_back({.step = slot});
  }
  for (int handle = 0; handle < static_cast<int>(isWaitedFor.size()); ++handle)
    wait(handle);
  return std::move(ops);
}

//===----------------------------------------------------------------------===//
// plan
//===----------------------------------------------------------------------===//

Expected<Program> veeline::schedule::communication::plan(const Traffic &traffic,
                                                         Strategy strategy,
                                                         Model model) {
  Sequencer sequencer(traffic);
  Expected<std::vector<PlannedMessage>> order = sequencer.run();
  if (!order)
    return order.takeError();
  bool isDuplex = strategy == Strategy::Duplex;
  bool isAhead = isDuplex || strategy == Strategy::Overlap;
  Lanes lanes;
  lanes.communicators.resize(traffic.ranks.size());
  if (isDuplex) {
    lanes = {sendStream, receiveStream, colourRanks(traffic)};
    for (int &communicator : lanes.communicators)
      communicator += traffic.freeCommunicator;
    model = Model::NcclDuplex;
  }
  RankCalls calls = isDuplex
                        ? callsBeside(traffic, *order, sequencer.targetSteps())
                    : isAhead ? callsAhead(traffic, *order, model)
                              : callsOf(traffic, *order);
  Program program{traffic.types, {}};
  for (std::size_t rank = 0; rank < calls.size(); ++rank) {
    int steps = static_cast<int>(traffic.ranks[rank].size());
    program.ranks.push_back(
        isAhead ? AheadWriter(*order, lanes, steps, model).write(calls[rank])
                : writeCalls(*order, calls[rank], steps, strategy));
  }
  return program;
}
