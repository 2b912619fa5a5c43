//===- Split.cpp - messages in parts --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Communication/Program.h"

#include <algorithm>
#include <map>

using namespace veeline::schedule::communication;

namespace {
/// Splits the operations that one rank issues.
class Splitter {
public:
  Splitter(const std::vector<Op> &ops,
           const std::function<int(const Op &)> &partsOf);

  void run(std::vector<Op> &result, std::vector<int> &origins);

private:
  /// The handles of the parts of one transfer.
  struct Handles {
    int first, count;
  };
  int countParts(const Op &op) const;
  Handles handlesOf(const Op &op);

  const std::vector<Op> &ops;
  const std::function<int(const Op &)> &partsOf;
  std::map<int, Handles> handles;
  int nextHandle = 0;
};
} // namespace

int Splitter::countParts(const Op &op) const {
  return op.isMessage() || op.kind == OpKind::Ready ? std::max(1, partsOf(op))
                                                    : 1;
}

Splitter::Splitter(const std::vector<Op> &ops,
                   const std::function<int(const Op &)> &partsOf)
    : ops(ops), partsOf(partsOf) {
  for (const Op &op : ops) {
    if (!op.isTransfer() || op.handle < 0)
      continue;
    int count = countParts(op);
    if (handles.try_emplace(op.handle, Handles{nextHandle, count}).second)
      nextHandle += count;
  }
}

/// Returns the new handles for a handle. One that no operation makes becomes
/// another one that no operation makes.
Splitter::Handles Splitter::handlesOf(const Op &op) {
  auto it = handles.find(op.handle);
  return it == handles.end() ? Handles{nextHandle++, 1} : it->second;
}

void Splitter::run(std::vector<Op> &result, std::vector<int> &origins) {
  for (int i = 0; i < static_cast<int>(ops.size()); ++i) {
    const Op &op = ops[i];
    bool isWait = op.kind == OpKind::Wait;
    bool hasHandle = isWait || (op.isTransfer() && op.handle >= 0);
    Handles own = hasHandle ? handlesOf(op) : Handles{-1, 1};
    int parts = isWait ? own.count : countParts(op);
    for (int part = 0; part < parts; ++part) {
      Op &next = result.emplace_back(op);
      origins.push_back(i);
      if (hasHandle)
        next.handle = own.first + part;
      if (!isWait && parts > 1)
        next.message.part = part;
    }
  }
}

SplitProgram veeline::schedule::communication::splitMessages(
    const Program &program, const std::function<int(const Op &)> &partsOf) {
  SplitProgram split;
  split.program.types = program.types;
  split.program.communicators = program.communicators;
  for (const std::vector<Op> &ops : program.ranks)
    Splitter(ops, partsOf)
        .run(split.program.ranks.emplace_back(), split.origins.emplace_back());
  return split;
}
