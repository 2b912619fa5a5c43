//===- Problem.h - the scheduling problem -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scheduling problem: the placement of chunks, the time and memory of their
// operations, and the data flow between chunks.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_PROBLEM_H
#define VEELINE_SCHEDULE_PROBLEM_H

#include "veeline/Schedule/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace veeline::schedule {

enum class PlacementKind {
  /// v = 1: chunk k on stage k.
  Linear,
  /// Chunk k on stage k mod p.
  Interleaved,
  /// v = 2: chunk k on stage k going down, chunk 2p-1-k on stage k coming back.
  V,
  /// v >= 2: down and up repeatedly; V is the wave with v = 2.
  Wave,
  /// As listed by the user.
  List,
};

/// "linear", "interleaved", "v", "wave" or "list".
const char *toString(PlacementKind kind);
/// The inverse of `toString`; an error lists the known names.
Expected<PlacementKind> parsePlacementKind(std::string_view name);

/// The stage of each chunk. Every stage holds exactly `chunksPerStage()`
/// chunks; its local chunks 0..v-1 are in model order.
class Placement {
public:
  /// A placement by a rule. Errors: p or v below 1, a v that the rule does not
  /// allow, more than `maxChunks` chunks, or `PlacementKind::List`.
  static Expected<Placement> get(PlacementKind kind, int stages,
                                 int chunksPerStage);
  /// `stageOfChunk[k]` is the stage of chunk k. Errors: a stage out of range,
  /// or stages that hold different numbers of chunks.
  static Expected<Placement> fromList(int stages,
                                      std::vector<int> stageOfChunk);

  static constexpr int maxChunks = 1 << 16;

  PlacementKind kind() const { return placementKind; }
  int stages() const { return numStages; }
  int chunksPerStage() const { return perStage; }
  int chunks() const { return static_cast<int>(stageOfChunk.size()); }

  int stageOf(int chunk) const { return stageOfChunk[chunk]; }
  /// The number in [0, v) of a chunk on its own stage.
  int localChunk(int chunk) const { return localOfChunk[chunk]; }
  /// The inverse of (`stageOf`, `localChunk`).
  int globalChunk(int stage, int local) const {
    return chunkOfSlot[stage * perStage + local];
  }

  /// The same placement with the kind of its rule, if there is a rule for it.
  Placement named() const;
  /// Whether every chunk is on the same stage in both, whatever the kinds.
  friend bool operator==(const Placement &a, const Placement &b) {
    return a.numStages == b.numStages && a.stageOfChunk == b.stageOfChunk;
  }

private:
  Placement(PlacementKind kind, int stages, std::vector<int> stageOfChunk);

  PlacementKind placementKind;
  int numStages;
  int perStage;
  std::vector<int> stageOfChunk, localOfChunk, chunkOfSlot;
};

/// The time and memory of one chunk's operations, for one microbatch.
///
/// Times are in any unit, and results are in the same unit. Memory is in any
/// integral unit (bytes, for a compiled model). It is a difference: positive
/// for what an operation adds, negative for what it releases. Memory is added
/// when the operation starts and released when it ends, so the peak is the
/// greatest partial sum in order. A chunk without parameters still has a W
/// here; it costs nothing, and programs leave it out.
struct Chunk {
  double forward = 0;
  double backwardInput = 0;
  double backwardWeight = 0;
  /// False for a chunk that needs no input gradient, such as the first one. It
  /// has no BackwardInput: its whole backward is BackwardWeight, which then
  /// waits for the gradients of the chunk's outputs. `backwardInput` and
  /// `backwardInputMemory` are 0.
  bool hasBackwardInput = true;

  std::int64_t forwardMemory = 0;
  std::int64_t backwardInputMemory = 0;
  std::int64_t backwardWeightMemory = 0;

  /// How much less time a fused Backward takes than B and W together, because
  /// it computes once what both recompute. At most the time of either.
  double backwardShared = 0;

  /// Whether each microbatch has an R before its backwards, for what they
  /// recompute; the time of an R, and the memory that it adds, which backwards
  /// release. Both are 0 for a chunk without R.
  bool hasRecompute = false;
  double recompute = 0;
  std::int64_t recomputeMemory = 0;

  /// How much of what F adds may be offloaded to the host's memory until the
  /// backward (Offload.h), and the time of a copy in either direction.
  std::int64_t offloadMemory = 0;
  double offloadTime = 0;

  /// The time of one operation. That of a fused Backward is the sum of B and W,
  /// less what they share.
  double cost(OpKind kind) const;
  /// The memory that one operation adds. A fused Backward adds that of B and W.
  std::int64_t memory(OpKind kind) const;
  /// The same chunk without a BackwardInput, whose costs move into W.
  Chunk withoutBackwardInput() const;
  /// The same chunk without R: the backward that comes after it does its work.
  Chunk withRecomputeInside() const;
};

/// A value that chunk `from` produces and a later chunk `to` uses, and its
/// gradient in the other direction. Transfers take time only between different
/// stages.
struct Edge {
  int from;
  int to;
  /// The time from the end of the producer to the earliest start of the
  /// consumer.
  double forwardTransfer = 0;
  double backwardTransfer = 0;
  /// False if the value has no gradient, as a mask.
  bool carriesGradient = true;
};

/// How to print memory: `size` memory units are one `name`.
struct MemoryUnit {
  std::int64_t size = 1;
  std::string name = "B";
};

/// When weights are updated.
enum class UpdateSemantics {
  /// Once, after all microbatches of a step.
  Synchronous,
  /// After every microbatch. A backward uses the version that its forward used,
  /// so a stage keeps one version for each microbatch in flight (PipeDream).
  WeightStashing,
  /// After every group of microbatches, with the gradients of the version
  /// before the last one. A stage keeps two versions (PipeDream-2BW).
  DoubleBuffered,
};

/// A scheduling problem. Members can be assigned freely. `check` tells whether
/// they are consistent; all other functions expect that they are.
///
/// The operations of chunk k and microbatch i depend on others as follows:
///   F(k,i)       on F(j,i) for every edge j -> k;
///   B(k,i)       on F(k,i), and on the B (or fused Backward) of (l,i) for
///                every edge k -> l that carries a gradient;
///   W(k,i)       on B(k,i); where k has no BackwardInput, on what B(k,i) would
///                depend on;
///   Backward(k,i) as B(k,i);
///   R(k,i), if k has one, on F(k,i); and the first of the backwards of (k,i)
///   on
///                R(k,i).
/// The *reader* of (k,i) is the first operation that takes what F(k,i) keeps: R
/// if k has one, else the first of the backwards, which is B, or W if k has no
/// BackwardInput, or Backward.
struct Problem {
  Placement placement;
  int microbatches;
  /// One per chunk, in model order.
  std::vector<Chunk> chunks;
  /// Any edges with from < to; there may be several between two chunks.
  /// `chainEdges` gives k -> k+1.
  std::vector<Edge> edges;
  /// The memory limit of each stage, which holds for each of its ranks; empty:
  /// no limits. 0 is a limit like any other.
  std::vector<std::int64_t> memoryLimits = {};
  MemoryUnit memoryUnit = {};
  /// The share of the shorter operation of an overlapped block (see
  /// `Schedule::overlapped`) that the longer one hides, in [0, 1]: the block
  /// takes longer + (1 - overlap) * shorter.
  double overlap = 0;
  /// The number of ranks of each stage; empty: one each. Rank i of the w ranks
  /// of a stage runs microbatches i, i + w, i + 2w, ... (PipeDream's round
  /// robin). Ranks are numbered stage by stage.
  std::vector<int> widths = {};
  /// Sets of chunks that share a parameter. It is updated when all of them have
  /// added their gradients.
  std::vector<std::vector<int>> tied = {};
  /// Whether a step waits for the updates of the previous one. If not,
  /// backwards may be late (Loop.h).
  UpdateSemantics updates = UpdateSemantics::Synchronous;

  int stages() const { return placement.stages(); }
  /// The ranks of all stages.
  int ranks() const;
  int width(int stage) const { return widths.empty() ? 1 : widths[stage]; }
  int firstRankOf(int stage) const;
  int stageOfRank(int rank) const;
  /// The rank that runs a chunk on a microbatch.
  int rankOf(int chunk, int microbatch) const {
    int stage = placement.stageOf(chunk);
    return widths.empty() ? stage
                          : firstRankOf(stage) + microbatch % widths[stage];
  }
  /// The number of microbatches that a rank runs.
  int microbatchesOf(int rank) const;
  /// For messages: "stage 1", or "rank 3 (of stage 1)" if stages have several
  /// ranks.
  std::string nameOfRank(int rank) const;
  /// For tables: "stage 1", or "rank 3" if stages have several ranks.
  std::string labelOfRank(int rank) const;
  int chunksPerStage() const { return placement.chunksPerStage(); }
  int numChunks() const { return placement.chunks(); }
  std::optional<std::int64_t> memoryLimit(int stage) const {
    if (memoryLimits.empty())
      return std::nullopt;
    return memoryLimits[stage];
  }
};

/// The edges k -> k+1 of a chain of chunks, all with one transfer time.
std::vector<Edge> chainEdges(int chunks, double transfer);

/// A problem whose chunks are all equal, on a chain.
Problem uniformProblem(Placement placement, int microbatches,
                       const Chunk &chunk, double transfer);

/// One activation unit, which is what a whole stage holds for one microbatch,
/// in the memory units of a problem without bytes. It is divisible by every
/// practical v, so that the shares of chunks are exact.
constexpr std::int64_t activationUnit = 720720 * 1000;

constexpr int maxMicrobatches = 1 << 24;
/// The longest time of an operation or a transfer, so that no sum overflows.
constexpr double maxTime = 1e30;
/// The greatest memory limit. Sums over all chunks and microbatches stay below
/// it too, far from overflow.
constexpr std::int64_t maxMemory = std::int64_t(1) << 60;

/// Checks that the members are consistent. Errors (InvalidProblem) name the
/// member and the value:
/// - microbatches below 1 or above 2^24, too many operations, a memory unit
///   below 1;
/// - a wrong number of chunks, limits or widths, a width outside of 1 to the
///   number of microbatches;
/// - costs that are negative or above `maxTime`, a B and a W that share more
///   time than one of them takes;
/// - limits that are negative or above `maxMemory`, memory too large to be
///   summed, an overlap that is not in [0, 1];
/// - an edge that does not go forward or leaves the chunks;
/// - tied chunks that do not exist, are alone, or are in two sets;
/// - a chunk whose operations do not release exactly what they add or release
///   it too early, or that can offload more than F adds;
/// - a chunk without BackwardInput that has costs for it or an incoming edge
///   that carries a gradient.
Status check(const Problem &problem);

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_PROBLEM_H
