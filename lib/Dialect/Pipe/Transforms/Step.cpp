//===- Step.cpp - what a lowered step and its metadata agree on -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Dialect/Pipe/Transforms/Step.h"

#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"

#include <map>

using namespace mlir;
using namespace veeline::pipe;

ChannelTable::ChannelTable(PipelineOp pipeline, ArrayRef<ProgramOp> programs) {
  EdgeTable edges(pipeline);
  std::map<std::pair<int64_t, Direction>, int64_t> counts;
  for (ProgramOp program : programs)
    for (auto recv : program.getBody().front().getOps<RecvOp>())
      ++counts[{recv.getEdge(), recv.getDirection()}];
  for (auto [key, count] : counts) {
    const Edge &edge = edges[key.first];
    int64_t from = pipeline.getStageOf(edge.producer);
    int64_t to = pipeline.getStageOf(edge.consumer);
    if (key.second == Direction::Gradient)
      std::swap(from, to);
    channels.push_back({key.first, key.second, from, to, count});
  }
}

int64_t ChannelTable::find(int64_t edge, Direction direction) const {
  auto it = llvm::lower_bound(
      channels, std::pair(edge, direction),
      [](const Channel &channel, std::pair<int64_t, Direction> key) {
        return std::pair(channel.edge, channel.direction) < key;
      });
  if (it == channels.end() || it->edge != edge || it->direction != direction)
    return -1;
  return it - channels.begin();
}

/// The op that waits for a posted receive or sum.
static WaitOp getWait(Value handle) {
  for (Operation *user : handle.getUsers())
    if (auto wait = dyn_cast<WaitOp>(user))
      return wait;
  return {};
}

SmallVector<Reduction> veeline::pipe::getReductions(ProgramOp program) {
  SmallVector<Reduction> reductions;
  AllReduceOp previous;
  for (Operation &op : program.getBody().front()) {
    auto sum = dyn_cast<AllReduceOp>(op);
    if (sum) {
      bool isSame =
          previous && sum.getGroup() && previous.getGroup() == sum.getGroup();
      if (!isSame)
        reductions.emplace_back();
      Reduction &reduction = reductions.back();
      reduction.ops.push_back(sum);
      if (WaitOp wait = getWait(sum.getHandle())) {
        if (!reduction.firstWait || wait->isBeforeInBlock(reduction.firstWait))
          reduction.firstWait = wait;
        if (!reduction.lastWait || reduction.lastWait->isBeforeInBlock(wait))
          reduction.lastWait = wait;
      }
    }
    previous = sum;
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
    auto wait = dyn_cast<WaitOp>(op);
    bool isReceived = wait && wait.getHandle().getDefiningOp<RecvOp>();
    if (getScheduleOp(&op) || isReceived || isa<SendOp, UpdateOp>(op) ||
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
    // Receives stay in order: those of one channel take messages by turns.
    if (group && isa<RecvOp>(op) && firstSend)
      op.moveBefore(firstSend);
    else if (group && isa<SendOp>(op) && !firstSend)
      firstSend = &op;
  }
}

std::string veeline::pipe::getStepName(ProgramOp program) {
  return (program.getSymName() + "_step").str();
}
