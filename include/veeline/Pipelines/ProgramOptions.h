//===- ProgramOptions.h - what decides a model's programs -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain C++, no MLIR types: what the command line of `veeline compile` and
// `--pipe-compile` have in common.
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
  /// Ranks of each stage; empty: one each.
  std::vector<int64_t> stageReplicas;
  /// Whether updates depend on the norm of all gradients, and how: none,
  /// barrier or optimistic.
  std::string clipSync = "none";
  /// Whether the runtime multiplies the loss by a number that it chooses.
  bool lossScaling = false;
  /// The result of the model that says how much a microbatch counts, as
  /// metric1; empty: all count alike.
  std::string lossWeight;
  /// The greatest length of a microbatch, of a model with a dynamic length (0:
  /// it is static); and what every length is a multiple of.
  int64_t lengthBound = 0;
  int64_t lengthMultiple = 1;
  /// A name or file:PATH.
  std::string schedule = "1f1b";
  /// Empty: the one that the schedule is made for.
  std::string placement;
  /// Pieces of each chunk; empty: chosen.
  std::vector<int64_t> pieces;
  /// What veeline train --profile has written; empty: nothing was measured.
  std::string profile;
  std::string optimizer = "adamw";
  /// Whether updates know the one before, and correct by it.
  bool errorFeedback = false;
  /// The ranks that add up gradients share out updates, and their state.
  bool shardOptimizer = false;
  /// Parts in which a message travels.
  int64_t splitMessages = 1;
  /// What backwards compute again: one for all chunks or one for each; empty:
  /// the default.
  std::vector<std::string> recompute;
  /// What arenas may have, one for all stages or one for each; empty: no limit.
  std::vector<std::string> memoryLimits;
  /// On a GPU: take only what gives the same bits in every run.
  bool deterministic = true;
  /// On a GPU: fuse what follows products into the library's calls.
  bool epilogues = true;
};

} // namespace veeline

#endif // VEELINE_PIPELINES_PROGRAMOPTIONS_H
