//===- FlatProblem.h - a problem in flat arrays, for search -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search of `auto` evaluates millions of orders. So operations are
// numbered, and their data are in arrays. A *kind* is F, B or W of one chunk. A
// *node* is a kind and a microbatch.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_AUTO_FLATPROBLEM_H
#define VEELINE_LIB_SCHEDULE_AUTO_FLATPROBLEM_H

#include "veeline/Schedule/Schedule.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace veeline::schedule {

class FlatProblem {
public:
  explicit FlatProblem(const Problem &problem);

  /// A kind that another kind waits for, or one that waits for another.
  struct Link {
    int kind;
    double transfer;
  };
  struct Kind {
    int stage = 0;
    double cost = 0;
    std::int64_t memory = 0;
    /// False for the BackwardInput of a chunk that has none.
    bool exists = true;
    int inputBegin = 0, inputEnd = 0, userBegin = 0, userEnd = 0;
  };

  static int kindOf(int chunk, OpKind kind) {
    return chunk * 3 + static_cast<int>(kind);
  }
  int node(int kind, int microbatch) const {
    return kind * numMicrobatches + microbatch;
  }
  Op op(int node) const;

  int stages() const { return static_cast<int>(limits.size()); }
  int microbatches() const { return numMicrobatches; }
  int chunksPerStage() const { return perStage; }
  int kinds() const { return static_cast<int>(table.size()); }
  int nodes() const { return kinds() * numMicrobatches; }
  const Kind &kind(int number) const { return table[number]; }
  /// The kinds that a kind waits for. This includes those on its own stage: F
  /// for B, B for W.
  std::span<const Link> inputs(int kind) const {
    return {inputLinks.data() + table[kind].inputBegin,
            inputLinks.data() + table[kind].inputEnd};
  }
  std::span<const Link> users(int kind) const {
    return {userLinks.data() + table[kind].userBegin,
            userLinks.data() + table[kind].userEnd};
  }
  /// The memory limit of a stage; `unlimited` if it has none.
  std::int64_t limit(int stage) const { return limits[stage]; }
  /// The sum of the costs of all operations of a stage.
  double busy(int stage) const { return busyTimes[stage]; }
  /// The 2v kinds of a stage in the order in which a microbatch passes them: F
  /// of the local chunks, ascending, then B, descending.
  std::span<const int> passes(int stage) const {
    return {passKinds.data() + 2 * perStage * stage,
            static_cast<std::size_t>(2 * perStage)};
  }

  /// The number of a chunk's group. Tied chunks are in one group.
  int group(int chunk) const { return groups[chunk]; }
  /// Whether W of a chunk may run in the next step (`verify`).
  bool maySlip(int chunk) const { return slips[chunk] != 0; }

  static constexpr std::int64_t unlimited =
      std::numeric_limits<std::int64_t>::max() / 4;

private:
  void addInputs(const Problem &problem);
  void addGroups(const Problem &problem);
  void link(std::vector<std::vector<Link>> &inputs);

  int numMicrobatches, perStage;
  std::vector<Kind> table;
  std::vector<Link> inputLinks, userLinks;
  std::vector<std::int64_t> limits;
  std::vector<double> busyTimes;
  std::vector<int> passKinds;
  std::vector<int> groups;
  std::vector<char> slips;
};

/// The nodes of each stage, in order.
using FlatOrders = std::vector<std::vector<int>>;

/// Finds the W that belong to the step before, and what each stage holds for
/// them when its step begins. These are the W that precede, on their own stage,
/// the operation that they wait for.
void findLate(const FlatProblem &flat, const FlatOrders &orders,
              std::vector<char> &late, std::vector<std::int64_t> &carried);

/// Whether, in every turn of a cyclic order, memory is sufficient and
/// parameters are updated in time.
bool fitsLoop(const FlatProblem &flat, const FlatOrders &orders);

/// Returns the schedule as nodes, with all backwards split. None if it has
/// overlapped blocks, if the forwards of a chunk do not ascend, or if fused
/// backwards exceed the limits once they are split.
std::optional<FlatOrders> flatten(const FlatProblem &flat,
                                  const Schedule &schedule);
/// The inverse of `flatten`. Orders in which W precede their backwards are
/// cyclic.
Schedule unflatten(const FlatProblem &flat, const FlatOrders &turned);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_AUTO_FLATPROBLEM_H
