//===- CommunicationMachine.cpp - transports as machines ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommunicationMachine.h"

#include <algorithm>

using namespace veeline;
using namespace veeline::schedule::communication;

std::vector<int>
veeline::schedule::communication::ranksOf(const Program &program,
                                          int communicator) {
  std::vector<int> all(program.ranks.size());
  std::iota(all.begin(), all.end(), 0);
  auto size = static_cast<int>(program.communicators.size());
  bool isListed = communicator >= 0 && communicator < size &&
                  !program.communicators[communicator].empty();
  return isListed ? program.communicators[communicator] : all;
}

/// How many all-reduces of a rank on a communicator stand before `op`.
static int placeOf(const Ops &ops, int op) {
  return std::count_if(ops.begin(), ops.begin() + op, [&](const Op &other) {
    return other.kind == OpKind::AllReduce &&
           other.communicator == ops[op].communicator;
  });
}

std::vector<Position>
veeline::schedule::communication::endsOf(const Program &program, int rank,
                                         int op) {
  const Op &one = program.ranks[rank][op];
  int place = placeOf(program.ranks[rank], op);
  std::vector<Position> ends;
  for (int other : ranksOf(program, one.communicator)) {
    const Ops &ops = program.ranks[other];
    for (int i = 0; i < static_cast<int>(ops.size()); ++i)
      if (ops[i].kind == OpKind::AllReduce &&
          ops[i].communicator == one.communicator && placeOf(ops, i) == place)
        ends.push_back({other, i});
  }
  bool isWhole = ends.size() == ranksOf(program, one.communicator).size();
  return isWhole ? ends : std::vector<Position>();
}

/// The payload of a type: of "tensor<2x4xf32>" the extents 2 and 4, of f32.
static Payload payloadOf(const std::string &type) {
  Payload payload;
  std::size_t begin = type.find('<') + 1, end = type.find('>');
  for (std::size_t x; (x = type.find('x', begin)) < end; begin = x + 1)
    payload.extents.push_back(std::stol(type.substr(begin, x - begin)));
  payload.element = type.substr(begin, end - begin);
  return payload;
}

Machine::Machine(const Program &program) {
  for (const Type &type : program.types)
    payloads.push_back(payloadOf(type.name));
}

void Machine::deliver(const Op &from, const Op &to) const {
  const Payload &sent = payloads[from.type], &place = payloads[to.type];
  if (sent.element != place.element)
    seen.insert(Outcome::WrongElements);
  if (sent.extents != place.extents)
    seen.insert(Outcome::WrongExtents);
}

int veeline::schedule::communication::shapeOf(const Ops &ops, const Op &op) {
  MessageId shape = op.message;
  shape.direction = Direction::Shape;
  shape.part = -1;
  for (int i = 0; i < static_cast<int>(ops.size()); ++i)
    if (op.message.direction == Direction::Activation &&
        ops[i].kind == op.kind && ops[i].message == shape)
      return i;
  return -1;
}
