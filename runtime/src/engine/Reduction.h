//===- Reduction.h - sums of gradients over replicas ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_REDUCTION_H
#define VEELINE_RUNTIME_ENGINE_REDUCTION_H

#include "Channel.h"

namespace veeline::engine {

/// One rank's part in the sum of a piece of accumulators over the ranks of its
/// stage, or in the gathering of a parameter; see veeline_reduce_post. A sum
/// that all ranks have posted completes, whatever else these ranks do or wait
/// for. Transports implement this class.
class Reduction {
public:
  virtual ~Reduction() = default;
  virtual void post(veeline_rank &rank) = 0;
  virtual void wait(veeline_rank &rank) = 0;
  /// Advances posted sums in a way that only the rank's own thread can. That
  /// thread calls it while it blocks, and between its operations.
  virtual void progress(veeline_rank &) {}
  /// Wakes the waiting rank, after which no wait blocks. From any thread.
  virtual void abort() = 0;
  /// Whether every post was waited for. Called by the rank's thread, between
  /// steps.
  bool isIdle() const { return numPosted == numWaited; }

protected:
  /// Counts a wait. Returns false after a fault: nothing is posted that the
  /// rank could wait for.
  bool countWait(veeline_rank &rank);

  uint32_t numPosted = 0, numWaited = 0;
};

/// The elements of a piece that member `k` of `count` sums.
struct Share {
  int64_t begin, end;
};
Share shareOf(int64_t numElements, int32_t k, int32_t count);
/// The elements that member `k` of `count` sums and, unless sums are scattered,
/// provides to the others: the share above or, if the piece is gathered, its
/// own shard.
Share shareOf(const artifact::ReducedPiece &piece, int32_t k, int32_t count);

/// Where sums are written, and the elements of them that are wanted there.
struct SumTarget {
  char *sums;
  Share wanted;
};

/// Computes sums[i] = parts[0][i] + parts[1][i] + ..., added in this order, for
/// the elements i of a share that a target wants. Parts and sums of one element
/// may be the same memory.
void addInOrder(artifact::DataType type, const std::vector<const char *> &parts,
                const std::vector<SumTarget> &targets, Share share);

/// The sum of a piece over the ranks of a stage that are threads, or the
/// gathering of their shares. The last rank that posts adds or copies, block by
/// block, and waiting ranks help.
class SharedSum {
public:
  /// `index` is the group's number of the reduction (`indexOf`). `accumulators`
  /// are in the order of Program::ranksOf.
  SharedSum(Group &group, int32_t index, const artifact::ReducedPiece &piece,
            std::vector<char *> accumulators);

private:
  friend class ThreadReduction;
  void add(uint32_t step);
  void copyShares(Share block) const;
  int64_t numBlocks() const;

  Group &group;
  const int32_t index;
  const artifact::ReducedPiece &piece;
  const std::vector<char *> sums;
  const std::vector<const char *> parts;
  std::vector<SumTarget> targets;
  std::atomic<uint64_t> arrivals{0};
  /// The step in the upper half, and the next block to add in the lower half.
  std::atomic<uint64_t> nextBlock{0};
  WaitWord complete; ///< Steps that all have posted, times two; bit 0: fault.
  std::atomic<int64_t> left{0}; ///< Blocks that are not yet added.
  WaitWord added;               ///< Steps that are added; otherwise the same.
};

class ThreadReduction final : public Reduction {
public:
  explicit ThreadReduction(std::shared_ptr<SharedSum> shared)
      : shared(std::move(shared)) {}

  void post(veeline_rank &rank) override;
  void wait(veeline_rank &rank) override;
  void abort() override;

private:
  std::shared_ptr<SharedSum> shared;
};

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_REDUCTION_H
