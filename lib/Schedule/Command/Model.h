//===- Model.h - costs of chunks, before a schedule is chosen ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_COMMAND_MODEL_H
#define VEELINE_LIB_SCHEDULE_COMMAND_MODEL_H

#include "veeline/Schedule/ProblemOptions.h"

namespace veeline::schedule {

/// A model that is cut into chunks as finely as is known.
struct Model {
  std::vector<Chunk> chunks;
  std::vector<Edge> edges;
  /// The size of one message on each edge; empty if it is not known.
  std::vector<std::int64_t> edgeBytes = {};
  MemoryUnit unit = {};
  /// As Problem::tied.
  std::vector<std::vector<int>> tied = {};
};

/// Joins sets that have an element in common. The resulting sets are ascending.
void joinOverlapping(std::vector<std::vector<int>> &sets);

/// Returns the same model with `count` chunks, which divides the present number
/// of chunks. Runs of neighbours become one chunk each. A merged chunk has a
/// BackwardInput if a gradient leaves it; costs and memory are summed. Edges
/// inside of a chunk disappear.
Model merged(const Model &model, int count);

/// Returns a model of `count` chunks in a chain, with the costs of the command
/// line.
Expected<Model> uniformModel(const ProblemOptions &options, int count);

/// The times of a message on one edge.
struct EdgeTransfer {
  double forward, backward;
};
/// Parses a text such as "1" or "1,0.5,2:3": one time for all edges, or one for
/// each, where the two directions may differ. Errors name --transfer.
Expected<std::vector<EdgeTransfer>> parseTransfers(std::string_view text);
/// Gives the edges of `model` these times, in order. Fails unless there is one
/// time, or as many as edges.
Status setTransfers(Model &model, const std::vector<EdgeTransfer> &transfers);

struct CostFile {
  Model model;
  /// Whether every line specifies the memory that its chunk adds.
  bool hasAllMemory;
};
/// Reads a file of costs, with one line a chunk: "F B W" or "F B W MF MB",
/// which are times and activation units. The default of the latter is that of
/// `options`, divided evenly. The first B may be "-", for a chunk without an
/// input gradient. "#" begins a comment. `options` also has the transfers of
/// the edges. Errors name the line and the column.
Expected<CostFile> readCostFile(const std::string &path,
                                const ProblemOptions &options);

/// The description of a compiled model.
struct CompiledModel {
  Model model;
  std::string schedule;
  int stages;
  int microbatches;
  /// The number of ranks of each stage; empty if each has one.
  std::vector<int> widths = {};
  /// By chunk.
  std::vector<int> stageOfChunk = {};
  /// Whether any activations are offloaded, and the speed of copies according
  /// to the artifact's --offload. The latter is empty if a script has
  /// determined the offloads.
  bool isOffloading = false;
  std::string offload = {};
};
/// Reads an artifact. Times are in microseconds, memory in bytes.
Expected<CompiledModel> readCompiledModel(const std::string &path);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_COMMAND_MODEL_H
