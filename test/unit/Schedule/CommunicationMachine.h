//===- CommunicationMachine.h - transports as state machines ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_SCHEDULE_COMMUNICATIONMACHINE_H
#define VEELINE_TEST_UNIT_SCHEDULE_COMMUNICATIONMACHINE_H

#include "CommunicationModel.h"

#include <memory>
#include <string>
#include <vector>

namespace veeline::schedule::communication {

using Ops = std::vector<Op>;

std::vector<int> ranksOf(const Program &program, int communicator);

/// For each rank of the communicator, its operation of the same all-reduce, as
/// rank and operation. Empty if one of the ranks does not issue it.
std::vector<Position> endsOf(const Program &program, int rank, int op);

/// The operation of a rank on the message with the shape of the value of `op`,
/// or of its part. -1 if there is none.
int shapeOf(const Ops &ops, const Op &op);

/// The data that are sent, or for which there is room.
struct Payload {
  std::string element;
  std::vector<long> extents;
};

/// A machine has states and, from each state, moves. It records errors on the
/// way.
class Machine {
public:
  explicit Machine(const Program &program);
  virtual ~Machine() = default;
  using State = std::string;
  virtual State initial() const = 0;
  /// All states that one move leads to.
  virtual std::vector<State> moves(const State &state) const = 0;
  virtual bool isOver(const State &state) const = 0;

  mutable std::set<Outcome> seen;

protected:
  /// Records what is wrong with the data that the receiver, or a rank that
  /// sums, finds.
  void deliver(const Op &from, const Op &to) const;

private:
  std::vector<Payload> payloads;
};

/// A machine in which each rank is a thread that posts operations and waits for
/// their other ends.
std::unique_ptr<Machine> makeMpiMachine(const Program &program);

} // namespace veeline::schedule::communication

#endif // VEELINE_TEST_UNIT_SCHEDULE_COMMUNICATIONMACHINE_H
