//===- Collective.h - what all members of a communicator do ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums, gathers and broadcasts, in rounds of as many bytes as fit into the
// memory that members share. The order in which a sum adds is that of a ring:
// it depends on where the elements are and on the root, so with more than two
// members it seldom is that of the ranks. Unless NCCL_NVLS_ENABLE is 0, it also
// changes from call to call, and from run to run.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_STANDIN_COLLECTIVE_H
#define VEELINE_TEST_STANDIN_COLLECTIVE_H

#include <atomic>
#include <cstdint>
#include <string>

namespace veeline::standin {

class Communicator;

/// NCCL's functions of this kind.
enum class CollectiveKind : int32_t {
  allReduce,
  reduceScatter,
  reduce,
  allGather,
  broadcast
};
/// "ncclAllReduce", ...
const char *nameOf(CollectiveKind kind);

/// One member's part.
struct Collective {
  CollectiveKind kind = CollectiveKind::allReduce;
  char *send = nullptr; ///< That the stand-in may touch, as `receive`.
  char *receive = nullptr;
  uint64_t count = 0; ///< As in the call.
  int type = 0;
  int root = 0; ///< 0 where there is none.

  bool adds() const {
    return kind == CollectiveKind::allReduce ||
           kind == CollectiveKind::reduceScatter ||
           kind == CollectiveKind::reduce;
  }
  bool hasRoot() const {
    return kind == CollectiveKind::reduce || kind == CollectiveKind::broadcast;
  }
  /// Elements of the larger one of the two buffers are numbered from 0 to this.
  uint64_t elements(int numRanks) const;
  uint64_t sendElements(int numRanks) const;
  uint64_t receiveElements(int numRanks) const;
};

/// What a member shows the others of its collectives, in memory of all.
struct CollectivePart {
  static constexpr uint64_t roundBytes = 16 * 1024;
  std::atomic<uint64_t> number{0}; ///< Of the collective, from 1.
  std::atomic<uint64_t> seed{0};   ///< That of member 0 counts for all.
  std::atomic<int32_t> kind{0}, type{0}, root{0};
  std::atomic<uint64_t> count{0};
  std::atomic<uint64_t> checked{0}; ///< The last one that was compared.
  /// Rounds since the start.
  std::atomic<uint64_t> written{0}, read{0};
  /// Kinds that it has ever been about to begin, as bits.
  std::atomic<uint32_t> isBeginning{0};
  alignas(16) char bytes[roundBytes];
};

/// A collective that is under way.
class CollectiveRun {
public:
  CollectiveRun(Communicator &communicator, const Collective &collective)
      : communicator(communicator), own(collective) {}

  /// True once it is over or has failed.
  bool advance();

private:
  enum Stage { posting, comparing, writing, reading, over };
  bool advanceOnce();
  bool post();
  bool compare();
  bool write();
  bool read();
  bool isRight(int member) const;
  std::string describe(int member) const;
  bool writes(int member) const;
  bool reads() const;
  uint64_t blockOf(uint64_t element) const;
  uint64_t roundElements() const;
  template <typename T> void add();
  void copy();
  char *placeOf(char *buffer, bool isWhole) const;

  Communicator &communicator;
  const Collective own;
  Stage stage = posting;
  uint64_t number = 0;
  uint64_t begin = 0;        ///< The first element of the round.
  uint64_t roundsBefore = 0; ///< Of earlier collectives.
  uint64_t round = 0;
};

} // namespace veeline::standin

#endif // VEELINE_TEST_STANDIN_COLLECTIVE_H
