//===- Rank.h - what the C ABI works on ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_HOST_RANK_H
#define VEELINE_RUNTIME_HOST_RANK_H

#include "Arena.h"
#include "Channel.h"
#include "Fault.h"
#include "Network.h"
#include "PreparedCall.h"
#include "Reduction.h"
#include "TensorTrace.h"
#include "Timeline.h"
#include "Update.h"

#include "veeline/artifact.h"
#include "veeline/runtime.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

/// Touched only by the rank's own thread while a step runs.
struct veeline_rank {
  int32_t index = 0;
  const veeline::artifact::Program *program = nullptr;
  const veeline::artifact::Rank *description = nullptr;
  veeline::host::Fault *fault = nullptr;
  veeline::host::Network *network = nullptr; ///< Null: ranks are threads.
  const veeline::host::Arena *arena = nullptr;

  /// Set once this rank has seen a fault: every call returns at once.
  bool failed = false;
  // Written by the rank's thread, until it has seen a fault; a handler of
  // signals reads them, too.
  /// The entry of the table of operations that runs; -1 between them.
  std::atomic<int32_t> currentOp{-1};
  /// The last one of this step that has ended, or -1.
  std::atomic<int32_t> lastOp{-1};
  /// What the rank waits for, as Group::waitFor has it, or -1.
  std::atomic<int32_t> awaited{-1};
  /// Counts begins and ends of operations and waits: who gets on, moves.
  std::atomic<uint32_t> moves{0};
  /// From the begin of a step to its end on this rank.
  std::atomic<bool> isInStep{false};
  /// It prints, which may wait for who reads it.
  std::atomic<bool> isPrinting{false};

  /// Those of the rank's replica, as in a file.
  std::vector<veeline::host::Channel *> channels;
  int32_t firstChannel = 0; ///< The program's number of the first one.
  /// The pieces of each reduction of the rank's table.
  std::vector<std::vector<std::unique_ptr<veeline::host::Reduction>>>
      reductions;
  /// Some are posted and not waited for.
  int32_t reductionsUnderWay = 0;
  std::vector<char> discard; ///< Where sends write after a fault.
  veeline::host::CallTable gemms;
  veeline::host::CallTable convolutions;
  std::vector<veeline::host::ParamUpdate> updates;
  const veeline::StepSettings *settings = nullptr;
  int32_t microbatches = 1;    ///< Of the rank's replica.
  int32_t allMicrobatches = 1; ///< Of all replicas.

  /// What microbatches can have as their length, and for each one what it has
  /// in this step: an index, or -1 as long as nobody has said so.
  const std::vector<int64_t> *lengths = nullptr;
  std::vector<int32_t> versions;
  /// Of the rank's own data, for each microbatch.
  const int64_t *dataLengths = nullptr;

  /// [result][microbatch of all], of all ranks, from the first one of the
  /// rank's replica on; each entry is reported once a step.
  double *results = nullptr;
  const std::vector<veeline::artifact::Result> *resultTypes = nullptr;

  std::unique_ptr<veeline::host::Timeline> timeline; ///< Null: not asked for.
  std::unique_ptr<veeline::host::TensorTrace> trace; ///< The same.

  /// True where the `bytes` at `place` lie inside of this rank's arena.
  bool owns(const void *place, int64_t bytes) const {
    return arena->contains(place, bytes);
  }

  void move() {
    // One thread writes, so that no locked instruction is needed.
    moves.store(moves.load(std::memory_order_relaxed) + 1,
                std::memory_order_release);
  }

  /// Says that the rank waits for `what` (see Group::waitFor), or no more (-1).
  void await(int32_t what) {
    awaited.store(what, std::memory_order_relaxed);
    move();
  }

  /// Helps what is under way while the rank computes.
  void progress() {
    if (network)
      network->progress();
    progressReductions();
  }
  void progressReductions() {
    if (reductionsUnderWay == 0)
      return;
    for (auto &pieces : reductions)
      for (auto &piece : pieces)
        piece->progress(*this);
  }

  /// The length of a microbatch; 0 where it is not known, or does not vary.
  int64_t lengthOf(int32_t microbatch) const {
    bool isKnown = microbatch >= 0 &&
                   static_cast<size_t>(microbatch) < versions.size() &&
                   versions[microbatch] >= 0;
    return isKnown ? (*lengths)[versions[microbatch]] : 0;
  }

  /// The bytes of what `channel` carries of a microbatch; those of the shortest
  /// where its length is not known.
  int64_t microbatchBytes(const veeline::artifact::Channel &channel,
                          int32_t microbatch) const {
    bool varies = !channel.lengthShapes.empty();
    return channel.bytesOf(varies ? std::max(versions[microbatch], 0) : 0);
  }

  /// The number of the length of message `number` of `channel`, counted since
  /// the start; 0 where it is not known, or does not vary.
  size_t messageLength(const veeline::artifact::Channel &channel,
                       uint32_t number) const {
    int32_t version = channel.lengthShapes.empty()
                          ? 0
                          : versions[channel.microbatchOf(number)];
    return version < 0 ? 0 : static_cast<size_t>(version);
  }
  int64_t messageBytes(const veeline::artifact::Channel &channel,
                       uint32_t number) const {
    return channel.bytesOf(messageLength(channel, number));
  }

  /// Records the first fault of the program and stops this rank.
  void fail(const std::string &message);
};

#endif // VEELINE_RUNTIME_HOST_RANK_H
