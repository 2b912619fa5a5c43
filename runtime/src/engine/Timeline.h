//===- Timeline.h - times of a rank's operations ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_TIMELINE_H
#define VEELINE_RUNTIME_ENGINE_TIMELINE_H

#include "veeline/Base/Clock.h"
#include "veeline/artifact.h"

#include <vector>

namespace veeline::page {
struct Graph;
} // namespace veeline::page

namespace veeline::engine {

struct Event {
  static constexpr int32_t idle = -1;
  int32_t op;         ///< Index into Rank::ops; idle: the rank waited.
  int32_t step;       ///< From 1; of a late op, the step before.
  int64_t begin, end; ///< In nanoseconds().
  int64_t gemm; ///< Nanoseconds of that in matrix products and convolutions.
  int64_t length = 0; ///< Of the microbatch, where it varies.
  /// Nanoseconds of processor time; less than 0: not known.
  int64_t processor = -1;
  bool isVoid = false; ///< Of a turn that began anew.
};

/// The last events of one rank, in a ring that is allocated once.
class Timeline {
public:
  explicit Timeline(size_t capacity) : ring(capacity) {}

  void setStep(int32_t number) { step = number; }
  void beginTurn() { turnBegin = numAdded; }
  /// The turn computes nothing from somewhere on, and begins anew.
  void voidTurn();
  void beginOp() {
    opGemm = 0;
    opBegin = nanoseconds();
    opProcessor = processorNanoseconds();
  }
  void endOp(int32_t op, int64_t length) {
    int64_t processor = processorNanoseconds() - opProcessor;
    add({op, step, opBegin, nanoseconds(), opGemm, length, processor});
  }
  /// Counts a matrix product or a convolution in the op that runs.
  void addCall(int64_t begin, int64_t end) { opGemm += end - begin; }
  /// Adds an op that was timed elsewhere.
  void addOp(int32_t op, int64_t begin, int64_t end, int64_t length) {
    add({op, step, begin, end, 0, length});
  }
  void addIdle(int64_t begin, int64_t end) {
    add({Event::idle, step, begin, end, 0, 0});
  }

  /// The events of the last `steps` steps, in the order of their ends. Not
  /// while a step runs.
  std::vector<Event> lastEvents(int32_t steps) const;

private:
  void add(const Event &event) { ring[numAdded++ % ring.size()] = event; }

  std::vector<Event> ring;
  size_t numAdded = 0, turnBegin = 0;
  int32_t step = 0;
  int64_t opBegin = 0;
  int64_t opGemm = 0;
  int64_t opProcessor = 0;
};

/// "F c3 m2", "recv activation e1 m0", "all-reduce c3", of an op of `rank`. A
/// late one has a prime: "W c3 m2'".
std::string nameOfOp(const artifact::Program &program, int32_t rank,
                     const artifact::Op &op);

/// A line for each event of `rank`: its step, when it began and how long it
/// took, in microseconds since the first one.
std::string toText(const artifact::Program &program, int32_t rank,
                   const std::vector<Event> &events);

/// A Chrome trace (about:tracing, Perfetto) with one lane per rank, or for each
/// of its compute streams if it has several. Events are named by op, chunk and
/// microbatch as in "F c3 m2". An op with matrix products or convolutions has
/// their time (`gemm_us`), a message its `bytes`, and an op of a microbatch
/// whose length varies its `length`. If the program has predicted times, a
/// second process holds them, one step long. Times are microseconds since the
/// first event.
std::string toChromeTrace(const artifact::Metadata &metadata,
                          const artifact::Program &program,
                          const std::vector<std::vector<Event>> &ranks);

/// The same for a page (veeline/Page/Page.h), with the bytes that each rank
/// holds as planned, and without idle times, which are between operations.
/// Without events there are only predicted times.
page::Graph toGraph(const artifact::Metadata &metadata,
                    const artifact::Program &program,
                    const std::vector<std::vector<Event>> &ranks);

/// What a file of this name is to have: a page where it ends in ".html", a
/// Chrome trace otherwise.
std::string timelineFor(const std::string &path,
                        const artifact::Metadata &metadata,
                        const artifact::Program &program,
                        const std::vector<std::vector<Event>> &ranks);

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_TIMELINE_H
