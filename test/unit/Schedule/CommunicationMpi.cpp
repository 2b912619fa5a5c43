//===- CommunicationMpi.cpp - the rules of MPI, executed ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommunicationMachine.h"

#include <algorithm>

using namespace veeline;
using namespace veeline::schedule::communication;

namespace {
/// Each thread posts operations and waits until the other end of one is posted.
/// The state has two characters for each rank: how far it is.
class MpiMachine : public Machine {
public:
  explicit MpiMachine(const Program &program)
      : Machine(program), program(program) {
    for (const Ops &ops : program.ranks)
      threads.push_back(threadOf(ops));
    for (std::size_t rank = 0; rank < threads.size(); ++rank)
      for (Step &step : threads[rank])
        if (!step.posts)
          findOther(rank, step);
  }

  State initial() const override { return State(2 * threads.size(), '\0'); }
  bool isOver(const State &state) const override {
    for (std::size_t rank = 0; rank < threads.size(); ++rank)
      if (at(state, rank) != threads[rank].size())
        return false;
    return true;
  }
  std::vector<State> moves(const State &state) const override;

private:
  /// Posts an operation, or waits for its other end.
  struct Step {
    bool posts;
    int op;
    /// At which operation the thread stands.
    int at;
    /// Where the other ends are posted, as rank and step; of a message there is
    /// one. Empty: nowhere.
    std::vector<std::pair<int, std::size_t>> others = {};
  };
  static std::vector<Step> threadOf(const Ops &ops);
  static std::size_t at(const State &state, int rank) {
    return static_cast<unsigned char>(state[2 * rank]) * 256u +
           static_cast<unsigned char>(state[2 * rank + 1]);
  }
  static void go(State &state, int rank) {
    std::size_t next = at(state, rank) + 1;
    state[2 * rank] = static_cast<char>(next / 256);
    state[2 * rank + 1] = static_cast<char>(next % 256);
  }
  void findOther(int rank, Step &step) const;
  void findEnds(int rank, Step &step) const;
  bool isShapeKnown(int rank, const Step &step) const;
  void meet(int rank, const Step &step) const;
  const Op &opOf(int rank, std::size_t step) const {
    return program.ranks[rank][threads[rank][step].op];
  }

  const Program &program;
  std::vector<std::vector<Step>> threads;
};
} // namespace

std::vector<MpiMachine::Step> MpiMachine::threadOf(const Ops &ops) {
  std::vector<Step> steps;
  int size = ops.size();
  for (int i = 0; i < size; ++i) {
    if (ops[i].kind == OpKind::Ready)
      steps.push_back({false, i, i});
    if (ops[i].kind == OpKind::Wait)
      for (int maker = 0; maker < i; ++maker)
        if (ops[maker].isTransfer() && ops[maker].handle == ops[i].handle)
          steps.push_back({false, maker, i});
    if (!ops[i].isTransfer())
      continue;
    int end = i + 1;
    while (ops[i].group >= 0 && end < size && ops[end].isTransfer() &&
           ops[end].group == ops[i].group)
      ++end;
    for (int k = i; k < end; ++k)
      steps.push_back({true, k, k});
    for (int k = i; k < end; ++k)
      if (ops[k].handle < 0)
        steps.push_back({false, k, end - 1});
    i = end - 1;
  }
  return steps;
}

void MpiMachine::findEnds(int rank, Step &step) const {
  for (Position end : endsOf(program, rank, step.op))
    for (std::size_t i = 0; i < threads[end.rank].size(); ++i)
      if (threads[end.rank][i].posts && threads[end.rank][i].op == end.op)
        step.others.push_back({end.rank, i});
}

/// Identities are tags, and no two messages have the same here.
void MpiMachine::findOther(int rank, Step &step) const {
  const Op &op = program.ranks[rank][step.op];
  if (op.kind == OpKind::AllReduce)
    return findEnds(rank, step);
  for (int other = 0; other < static_cast<int>(threads.size()); ++other)
    for (std::size_t i = 0; i < threads[other].size(); ++i) {
      const Op &end = program.ranks[other][threads[other][i].op];
      if (!threads[other][i].posts || !end.isMessage() ||
          end.message != op.message || end.peer != rank)
        continue;
      bool isOther = op.kind == OpKind::Ready
                         ? end.kind == OpKind::Receive
                         : end.kind != op.kind && op.peer == other &&
                               end.communicator == op.communicator;
      if (isOther)
        step.others = {{other, i}};
    }
}

/// A sender has posted the shape before the value, a receiver has waited for it
/// before it waits for the value.
bool MpiMachine::isShapeKnown(int rank, const Step &step) const {
  const Ops &ops = program.ranks[rank];
  if (!ops[step.op].isMessage() ||
      step.posts != (ops[step.op].kind == OpKind::Send))
    return true;
  int shape = shapeOf(ops, ops[step.op]);
  return shape < 0 || std::any_of(threads[rank].begin(), threads[rank].end(),
                                  [&](const Step &other) {
                                    return other.op == shape &&
                                           other.posts == step.posts &&
                                           other.at < step.at;
                                  });
}

/// Records what a rank finds when it waits for an operation whose other ends
/// are posted.
void MpiMachine::meet(int rank, const Step &step) const {
  const Op &op = program.ranks[rank][step.op];
  for (auto [other, place] : step.others) {
    if (op.isTransfer())
      deliver(opOf(other, place), op);
    if (op.kind == OpKind::AllReduce &&
        op.reduction != opOf(other, place).reduction)
      seen.insert(Outcome::WrongDelivery);
  }
}

std::vector<Machine::State> MpiMachine::moves(const State &state) const {
  std::vector<State> result;
  for (int rank = 0; rank < static_cast<int>(threads.size()); ++rank) {
    if (at(state, rank) == threads[rank].size())
      continue;
    const Step &step = threads[rank][at(state, rank)];
    if (!step.posts) {
      bool isPosted = !step.others.empty();
      for (auto [other, place] : step.others)
        isPosted &= at(state, other) > place;
      if (!isPosted)
        continue;
      meet(rank, step);
    }
    if (!isShapeKnown(rank, step))
      seen.insert(Outcome::UnknownShape);
    go(result.emplace_back(state), rank);
  }
  return result;
}

std::unique_ptr<Machine>
veeline::schedule::communication::makeMpiMachine(const Program &program) {
  return std::make_unique<MpiMachine>(program);
}
