//===- Model.h - costs of chunks, before a schedule is chosen ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_COMMAND_MODEL_H
#define VEELINE_LIB_SCHEDULE_COMMAND_MODEL_H

#include "veeline/Schedule/ProblemOptions.h"

namespace veeline::schedule {

/// A model, cut into chunks as finely as is known.
struct Model {
  std::vector<Chunk> chunks;
  std::vector<Edge> edges;
  /// Of one message on each edge; empty where nobody knows.
  std::vector<std::int64_t> edgeBytes = {};
  MemoryUnit unit = {};
  /// As Problem::tied.
  std::vector<std::vector<int>> tied = {};
};

/// Makes one set of all that have an element in common. Sets are ascending.
void joinOverlapping(std::vector<std::vector<int>> &sets);

/// The same model with `count` chunks, which divides how many it has: runs of
/// neighbours become one. A merged chunk has a BackwardInput if a gradient
/// leaves it; costs and memory add up. Edges inside of a chunk disappear.
Model merged(const Model &model, int count);

/// A model of `count` chunks on a chain, by the costs of the command line.
Expected<Model> uniformModel(const ProblemOptions &options, int count);

/// What a message takes on one edge.
struct EdgeTransfer {
  double forward, backward;
};
/// Parses "1", "1,0.5,2:3": one for all edges or one for each, where the two
/// directions may differ. Errors name --transfer.
Expected<std::vector<EdgeTransfer>> parseTransfers(std::string_view text);
/// Gives the edges of `model` these times, in their order. The error is that
/// there is neither one nor as many as edges.
Status setTransfers(Model &model, const std::vector<EdgeTransfer> &transfers);

struct CostFile {
  Model model;
  /// Whether every line says what memory its chunk adds.
  bool hasAllMemory;
};
/// Reads a file of costs: one line a chunk, "F B W" or "F B W MF MB", times and
/// activation units (default: what `options` says, shared evenly). The first B
/// may be "-", for a chunk that owes nobody an input gradient; "#" begins a
/// comment. `options` also has the transfer of the edges. Errors name line and
/// column.
Expected<CostFile> readCostFile(const std::string &path,
                                const ProblemOptions &options);

/// What a compiled model says about itself.
struct CompiledModel {
  Model model;
  std::string schedule;
  int stages;
  int microbatches;
  /// Ranks of each stage; empty where each has one.
  std::vector<int> widths = {};
  /// By chunk.
  std::vector<int> stageOfChunk = {};
  /// Whether anything waits in the host's memory, and how fast copies are, as
  /// the artifact's --offload says; empty where a script did.
  bool isOffloading = false;
  std::string offload = {};
};
/// Reads an artifact. Times are in microseconds, memory in bytes.
Expected<CompiledModel> readCompiledModel(const std::string &path);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_COMMAND_MODEL_H
