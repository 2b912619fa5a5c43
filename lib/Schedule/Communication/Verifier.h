//===- Verifier.h - parts of the verifier of communication ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_COMMUNICATION_VERIFIER_H
#define VEELINE_LIB_SCHEDULE_COMMUNICATION_VERIFIER_H

#include "veeline/Schedule/Communication/Program.h"

namespace veeline::schedule::communication {

using Ops = std::vector<Op>;
using Result = std::optional<Error>;

inline int sizeOf(const Ops &ops) { return static_cast<int>(ops.size()); }

/// The end of the unit that begins with the transfer at `begin`.
inline int endOfUnit(const Ops &ops, int begin) {
  int end = begin + 1;
  if (ops[begin].group >= 0)
    while (end < sizeOf(ops) && ops[end].isTransfer() &&
           ops[end].group == ops[begin].group)
      ++end;
  return end;
}

inline std::string rankName(int rank) { return "rank " + std::to_string(rank); }

/// Finds the other end of every send and receive. That of a Ready is the
/// receive.
class Matching {
public:
  explicit Matching(const Program &program) : program(program) {
    for (const Ops &ops : program.ranks)
      others.emplace_back(ops.size(), Position{-1, -1});
  }

  /// Sets the ends, or reports an operation that has none or a wrong one.
  Result match();
  Position operator[](Position at) const { return others[at.rank][at.op]; }

private:
  struct End {
    MessageId id;
    OpKind kind;
    Position at;
  };
  /// All operations of one message, in this order: Readys, sends, receives.
  struct Ends {
    const End *begin, *sends, *receives, *end;
  };
  std::vector<End> collect() const;
  Result checkIdentity(const Ends &ends);
  Result matchMessage(const Ends &ends);
  Result matchEnds(Position send, Position receive);
  const Op &opAt(Position at) const { return program.ranks[at.rank][at.op]; }

  const Program &program;
  std::vector<std::vector<Position>> others;
};

/// Finds the all-reduces of the ranks of a communicator that belong together.
class Collectives {
public:
  explicit Collectives(const Program &program) : program(program) {
    for (const Ops &ops : program.ranks)
      numbers.emplace_back(ops.size(), -1);
  }

  /// Finds them, or reports one that the ranks do not all issue alike.
  Result match();
  /// The number of the all-reduce at `at`.
  int operator[](Position at) const { return numbers[at.rank][at.op]; }
  /// The operations of an all-reduce, by its number: one for each of its ranks.
  const std::vector<Position> &ends(int number) const { return all[number]; }
  int size() const { return static_cast<int>(all.size()); }

private:
  /// The all-reduces of one communicator, by rank.
  using Sequences = std::vector<std::vector<int>>;
  Result matchCommunicator(int communicator, const Sequences &sequences);
  Result matchEnd(Position first, Position other, int place);
  const Op &opAt(Position at) const { return program.ranks[at.rank][at.op]; }

  const Program &program;
  std::vector<std::vector<int>> numbers;
  std::vector<std::vector<Position>> all;
};

/// Executes the program until no operation can continue. Returns the cycle of
/// blocked operations if the program has not ended by then. Expects a program
/// that is otherwise right.
Result execute(const Program &program, const Matching &matching,
               const Collectives &collectives, Model model);

} // namespace veeline::schedule::communication

#endif // VEELINE_LIB_SCHEDULE_COMMUNICATION_VERIFIER_H
