//===- Step.cpp - tables of a step and its metadata -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Dialect/Pipe/Transforms/Step.h"

#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/StreamOrder.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/JSON.h"

#include <deque>
#include <map>
#include <tuple>

using namespace mlir;
using namespace veeline::pipe;

ChannelTable::ChannelTable(PipelineOp pipeline, ArrayRef<ProgramOp> programs)
    : pipeline(pipeline), edges(pipeline) {
  std::map<std::tuple<int64_t, Direction, int64_t, int64_t>, Channel> found;
  auto keyOf = [&](auto message) {
    auto edge = static_cast<int64_t>(message.getEdge());
    Direction direction = message.getDirection();
    auto [from, to] = getRanks(edge, direction, message.getMicrobatch());
    return std::tuple(edge, direction, from, to);
  };
  for (ProgramOp program : programs)
    for (auto recv : program.getBody().front().getOps<RecvOp>()) {
      auto [edge, direction, from, to] = keyOf(recv);
      auto stream = static_cast<int64_t>(recv.getStream());
      auto [it, isNew] = found.try_emplace(
          {edge, direction, from, to},
          Channel{edge, direction, from, to,
                  static_cast<int64_t>(recv.getParts()), stream, stream,
                  static_cast<int64_t>(recv.getCommunicator()),
                  /*microbatches=*/{}, /*lateMessages=*/0});
      it->second.microbatches.push_back(recv.getMicrobatch());
      it->second.lateMessages += recv.getLate();
    }
  for (ProgramOp program : programs)
    for (auto send : program.getBody().front().getOps<SendOp>())
      if (auto it = found.find(keyOf(send)); it != found.end())
        it->second.sendStream = static_cast<int64_t>(send.getStream());
  for (auto &[key, channel] : found)
    channels.push_back(std::move(channel));
}

std::pair<int64_t, int64_t> ChannelTable::getRanks(int64_t edge,
                                                   Direction direction,
                                                   int64_t microbatch) const {
  PipelineOp owner = pipeline;
  int64_t from = owner.getRankOf(edges[edge].producer, microbatch);
  int64_t to = owner.getRankOf(edges[edge].consumer, microbatch);
  return direction == Direction::Gradient ? std::pair(to, from)
                                          : std::pair(from, to);
}

int64_t ChannelTable::find(int64_t edge, Direction direction,
                           int64_t microbatch) const {
  auto [from, to] = getRanks(edge, direction, microbatch);
  auto getKey = [](const Channel &channel) {
    return std::tuple(channel.edge, channel.direction, channel.fromRank,
                      channel.toRank);
  };
  std::tuple key(edge, direction, from, to);
  auto it = llvm::lower_bound(
      channels, key, [&](const Channel &channel, const decltype(key) &wanted) {
        return getKey(channel) < wanted;
      });
  return it == channels.end() || getKey(*it) != key ? -1
                                                    : it - channels.begin();
}

/// The op that waits for a posted receive or sum.
static WaitOp getWait(Value handle) {
  for (Operation *user : handle.getUsers())
    if (auto wait = dyn_cast<WaitOp>(user))
      return wait;
  return {};
}

int64_t veeline::pipe::getReducedParam(Operation *op) {
  auto sum = dyn_cast<AllReduceOp>(op);
  return sum ? sum.getParam() : cast<AllGatherOp>(op).getParam();
}

bool veeline::pipe::takesScattered(UpdateOp update) {
  return llvm::any_of(update.getGradients(), [](Value gradient) {
    auto wait = gradient.getDefiningOp<WaitOp>();
    Operation *post = wait ? wait.getHandle().getDefiningOp() : nullptr;
    return post && isScattered(post);
  });
}

SmallVector<Reduction> veeline::pipe::getReductions(ProgramOp program) {
  SmallVector<Reduction> reductions;
  Operation *previous = nullptr;
  for (Operation &op : program.getBody().front()) {
    bool isPost = isReduction(&op);
    if (isPost) {
      Attribute group = op.getAttr("group");
      bool isSame = previous && group && previous->getAttr("group") == group;
      if (!isSame)
        reductions.emplace_back();
      Reduction &reduction = reductions.back();
      reduction.ops.push_back(&op);
      if (WaitOp wait = getWait(op.getResult(0))) {
        if (!reduction.firstWait || wait->isBeforeInBlock(reduction.firstWait))
          reduction.firstWait = wait;
        if (!reduction.lastWait || reduction.lastWait->isBeforeInBlock(wait))
          reduction.lastWait = wait;
      }
    }
    previous = isPost ? &op : nullptr;
  }
  return reductions;
}

SmallVector<Operation *> veeline::pipe::getTimelineOps(ProgramOp program) {
  llvm::SmallDenseSet<Operation *> ofReductions;
  for (const Reduction &reduction : getReductions(program)) {
    ofReductions.insert(reduction.ops.back());
    ofReductions.insert(reduction.firstWait);
  }
  SmallVector<Operation *> ops;
  for (Operation &op : program.getBody().front()) {
    if (getScheduleOp(&op) || getReceive(&op) ||
        isa<SendOp, SquaredNormOp, UpdateOp, ValidateOp, OffloadOp, ReloadOp>(
            op) ||
        ofReductions.contains(&op))
      ops.push_back(&op);
  }
  return ops;
}

bool veeline::pipe::isComputedAtReceiver(OpResult value) {
  if (!getScheduleOp(value.getOwner()) || !value.hasOneUse())
    return false;
  auto send = dyn_cast<SendOp>(*value.getUsers().begin());
  return send && !send.getCopying();
}

bool veeline::pipe::isLength(Operation *op) {
  if (auto send = dyn_cast<SendOp>(op))
    return send.getDirection() == Direction::Shape;
  if (auto recv = dyn_cast<RecvOp>(op))
    return recv.getDirection() == Direction::Shape;
  return isa<LengthOp>(op);
}

/// Adds the ends of all late sends, or of all others. Late messages may run
/// without the others, and the others without late ones, so only messages of
/// the same kind count as following a send.
static void addSendEnds(ProgramOp program, bool late,
                        llvm::DenseMap<Operation *, Operation *> &ends) {
  Block &body = program.getBody().front();
  /// For each pair of a compute stream and a stream of messages: the first op
  /// of the unit of messages that is being visited, and of the unit after it.
  llvm::DenseMap<std::pair<int64_t, int64_t>, Operation *> units, next;
  IntegerAttr group;
  auto visit = [&](Operation *op, int64_t messages, IntegerAttr ofOp) {
    if (!ofOp || ofOp != group)
      for (auto [streams, unit] : units)
        next[streams] = unit;
    std::pair streams(getComputeStream(op), messages);
    units[streams] = op;
    group = ofOp;
    if (isa<SendOp>(op)) {
      Operation *end = next.lookup(streams);
      ends[op] = end ? end : &body.back();
    }
  };
  // Hosts send lengths, without waiting for their devices.
  for (Operation &op : llvm::reverse(body))
    if (!isLength(&op) && isLate(&op) == late)
      llvm::TypeSwitch<Operation *>(&op)
          .Case<SendOp, RecvOp, AllReduceOp, AllGatherOp>([&](auto message) {
            visit(message, static_cast<int64_t>(message.getStream()),
                  message.getGroupAttr());
          });
}

llvm::DenseMap<Operation *, Operation *>
veeline::pipe::findSendEnds(ProgramOp program) {
  llvm::DenseMap<Operation *, Operation *> ends;
  addSendEnds(program, /*late=*/false, ends);
  addSendEnds(program, /*late=*/true, ends);
  return ends;
}

/// The group of a send or receive.
static std::optional<uint64_t> getGroup(Operation *op) {
  if (auto send = dyn_cast<SendOp>(op))
    return send.getGroup();
  if (auto recv = dyn_cast<RecvOp>(op))
    return recv.getGroup();
  return std::nullopt;
}

void veeline::pipe::postGroupsAtOnce(ProgramOp program) {
  std::optional<uint64_t> current;
  Operation *firstSend = nullptr;
  for (Operation &op : llvm::make_early_inc_range(program.getBody().front())) {
    std::optional<uint64_t> group = getGroup(&op);
    if (!group || group != current)
      firstSend = nullptr;
    current = group;
    // Receives keep their order, because those of one channel take its messages
    // in turn.
    if (group && isa<RecvOp>(op) && firstSend)
      op.moveBefore(firstSend);
    else if (group && isa<SendOp>(op) && !firstSend)
      firstSend = &op;
  }
}

/// The receives for which the next turn waits, in order.
static SmallVector<RecvOp> getCarriedReceives(ProgramOp program) {
  SmallVector<RecvOp> carried;
  for (auto recv : program.getBody().front().getOps<RecvOp>())
    if (llvm::any_of(recv.getHandle().getUsers(), llvm::IsaPred<CarryOp>))
      carried.push_back(recv);
  return carried;
}

void veeline::pipe::waitInOrder(ProgramOp program,
                                const ChannelTable &channels) {
  /// For each channel, the receives that are posted and not yet waited for.
  llvm::DenseMap<int64_t, std::deque<RecvOp>> posted;
  llvm::SmallDenseSet<Operation *> moved;
  SmallVector<Operation *> ops = llvm::map_to_vector(
      program.getBody().front(), [](Operation &op) { return &op; });
  // Those of the turn before come first.
  for (RecvOp recv : getCarriedReceives(program))
    posted[channels.find(recv)].push_back(recv);
  for (Operation *op : ops) {
    if (auto recv = dyn_cast<RecvOp>(op))
      posted[channels.find(recv)].push_back(recv);
    auto wait = dyn_cast<WaitOp>(op);
    RecvOp awaited = getReceive(op);
    if (!awaited || moved.contains(wait))
      continue;
    std::deque<RecvOp> &queue = posted[channels.find(awaited)];
    for (; !queue.empty() && queue.front() != awaited; queue.pop_front())
      if (WaitOp earlier = getWait(queue.front().getHandle())) {
        earlier->moveBefore(wait);
        moved.insert(earlier);
      }
    if (!queue.empty())
      queue.pop_front();
  }
}

LogicalResult veeline::pipe::verifyChannelOrder(ArrayRef<ProgramOp> programs,
                                                const ChannelTable &channels) {
  /// For each channel, the numbers of messages sent and waited for so far; and
  /// the number of messages of the turn before, the last ones, that are waited
  /// for first.
  SmallVector<size_t> sent(channels.getChannels().size()), awaited(sent),
      carried(sent), none(sent);
  auto verify = [&](Operation *op, auto message, SmallVector<size_t> &counts,
                    ArrayRef<size_t> ofBefore) -> LogicalResult {
    int64_t index = channels.find(message);
    // A message without a receive is reported elsewhere.
    if (index < 0)
      return success();
    ArrayRef<int64_t> all = channels.getChannels()[index].microbatches;
    if (counts[index] == all.size())
      return success();
    int64_t next =
        all[(all.size() - ofBefore[index] + counts[index]++) % all.size()];
    if (next == static_cast<int64_t>(message.getMicrobatch()))
      return success();
    return op->emitOpError()
           << "is about microbatch " << message.getMicrobatch() << " of edge "
           << message.getEdge()
           << ", but the receive that is posted then is of "
           << "microbatch " << next
           << ": between two ranks the messages of an edge and direction are "
              "sent, received and waited for in one order";
  };
  for (ProgramOp program : programs)
    for (RecvOp recv : getCarriedReceives(program))
      ++carried[channels.find(recv)];
  for (ProgramOp program : programs)
    for (Operation &op : program.getBody().front()) {
      auto send = dyn_cast<SendOp>(op);
      auto wait = dyn_cast<WaitOp>(op);
      RecvOp recv = getReceive(&op);
      if ((send && failed(verify(send, send, sent, none))) ||
          (recv && failed(verify(wait, recv, awaited, carried))))
        return failure();
    }
  return success();
}

bool veeline::pipe::hasLateOps(ProgramOp program) {
  return llvm::any_of(program.getBody().front(),
                      [](Operation &op) { return isLate(&op); });
}

Value veeline::pipe::getSource(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument
             ? argument.getOwner()->back().getOperand(argument.getArgNumber())
             : value;
}

RecvOp veeline::pipe::getReceive(Operation *op) {
  auto wait = dyn_cast<WaitOp>(op);
  return wait ? getSource(wait.getHandle()).getDefiningOp<RecvOp>() : RecvOp();
}

std::string veeline::pipe::getStepName(ProgramOp program, StepPart part) {
  StringRef end = part == StepPart::Whole   ? "_step"
                  : part == StepPart::First ? "_first_step"
                                            : "_late";
  // The artifact names the step in JSON, which is UTF-8.
  return llvm::json::fixUTF8((program.getSymName() + end).str());
}
