//===- ProgramOptions.h - options that determine programs -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The options that `veeline compile` and `--pipe-compile` have in common. Plain
// C++, no MLIR types.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_PIPELINES_PROGRAMOPTIONS_H
#define VEELINE_PIPELINES_PROGRAMOPTIONS_H

#include <cstdint>
#include <string>
#include <vector>

namespace veeline {

struct ProgramOptions {
  int64_t stages = 1;
  int64_t chunksPerStage = 1;
  int64_t microbatches = 1;
  int64_t replicas = 1;
  /// The number of ranks of each stage; empty: one each.
  std::vector<int64_t> stageReplicas;
  /// How updates depend on the norm of all gradients: none, barrier or
  /// optimistic.
  std::string clipSync = "none";
  /// Whether the runtime multiplies the loss by a factor that it chooses.
  bool lossScaling = false;
  /// The result of the model that is the weight of a microbatch, such as
  /// metric1; empty: all weights are equal.
  std::string lossWeight;
  /// For a model with a dynamic length: the greatest length of a microbatch,
  /// and a divisor of all lengths. The bound is 0 for a static model.
  int64_t lengthBound = 0;
  int64_t lengthMultiple = 1;
  /// A name or file:PATH.
  std::string schedule = "1f1b";
  /// Empty: the default placement of the schedule.
  std::string placement;
  /// The number of pieces of each chunk; empty: chosen by cost.
  std::vector<int64_t> pieces;
  /// A file of veeline train --profile; empty: none.
  std::string profile;
  std::string optimizer = "adamw";
  /// Whether updates use error feedback: each is corrected by the previous one.
  bool errorFeedback = false;
  /// Whether the ranks that add up gradients divide updates, and the
  /// optimiser's state, among each other.
  bool shardOptimizer = false;
  /// On a GPU: whether NCCL adds up gradients between processes. Otherwise the
  /// ranks do, in their order.
  bool ncclSums = true;
  /// The number of parts in which a message is sent.
  int64_t splitMessages = 1;
  /// What backwards recompute, one policy for all chunks or one for each;
  /// empty: the default.
  std::vector<std::string> recompute;
  /// Limits of arenas, one for all stages or one for each; empty: no limit.
  std::vector<std::string> memoryLimits;
  /// On a GPU: use only kernels and library calls that give the same bits in
  /// every run.
  bool deterministic = true;
  /// On a GPU: fuse ops on a product's result into the library call.
  bool epilogues = true;
};

} // namespace veeline

#endif // VEELINE_PIPELINES_PROGRAMOPTIONS_H
