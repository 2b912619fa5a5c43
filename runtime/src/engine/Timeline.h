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
  int64_t gemm; ///< Nanoseconds of it in matrix products and convolutions.
  int64_t length = 0; ///< The length of the microbatch, if it varies.
  /// The processor time in nanoseconds; negative if it is not known.
  int64_t processor = -1;
  bool isVoid = false; ///< Belongs to a turn that began anew.
};

/// The last events of one rank, in a ring that is allocated once.
class Timeline {
public:
  explicit Timeline(size_t capacity) : ring(capacity) {}

  void setStep(int32_t number) { step = number; }
  void beginTurn() { turnBegin = numAdded; }
  /// Marks the events of the current turn as void, because the turn begins
  /// anew.
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
  /// called while a step runs.
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

/// Returns the name of an op of `rank`, such as "F c3 m2", "recv activation e1
/// m0" or "all-reduce c3". A late op has a prime, as in "W c3 m2'".
std::string nameOfOp(const artifact::Program &program, int32_t rank,
                     const artifact::Op &op);

/// Returns a line for each event of `rank`: its step, its begin and its
/// duration, in microseconds since the first one.
std::string toText(const artifact::Program &program, int32_t rank,
                   const std::vector<Event> &events);

/// Returns a Chrome trace (about:tracing, Perfetto) with one lane per rank, or
/// one for each compute stream of a rank that has several.
///
/// Events are named by op, chunk and microbatch, as in "F c3 m2". An op with
/// matrix products or convolutions has their time (`gemm_us`), a message has
/// its `bytes`, and an op of a microbatch whose length varies has its `length`.
/// Times are microseconds since the first event. If the program has predicted
/// times, a second process shows them, for one step.
std::string toChromeTrace(const artifact::Metadata &metadata,
                          const artifact::Program &program,
                          const std::vector<std::vector<Event>> &ranks);

/// Returns the same timeline for a page (veeline/Page/Page.h). It also has the
/// bytes that each rank holds as planned, and lacks idle times, which are
/// between operations. Without events, there are only predicted times.
page::Graph toGraph(const artifact::Metadata &metadata,
                    const artifact::Program &program,
                    const std::vector<std::vector<Event>> &ranks);

/// Returns the content of a timeline file: a page if its name ends in ".html",
/// else a Chrome trace.
std::string timelineFor(const std::string &path,
                        const artifact::Metadata &metadata,
                        const artifact::Program &program,
                        const std::vector<std::vector<Event>> &ranks);

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_TIMELINE_H
