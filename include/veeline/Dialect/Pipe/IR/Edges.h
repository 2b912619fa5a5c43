//===- Edges.h - the edges between the chunks of a pipeline -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_IR_EDGES_H
#define VEELINE_DIALECT_PIPE_IR_EDGES_H

#include "veeline/Dialect/Pipe/IR/Pipe.h"

#include <optional>

namespace veeline::pipe {

/// The type of the length of a microbatch.
mlir::RankedTensorType getLengthType(mlir::MLIRContext *context);

/// The type of the norms of a pipeline's parameters.
mlir::RankedTensorType getNormsType(PipelineOp pipeline);

/// The uses of `value` by chunks, ascending: pairs of the chunk and the number
/// of its operand.
llvm::SmallVector<std::pair<int64_t, unsigned>> getChunkUses(mlir::Value value);

/// A value that is transferred from one chunk to another.
struct Edge {
  /// For a value of a chunk: the chunk and its result. For a tied parameter:
  /// the first chunk that uses it, which is its home, and no result.
  int64_t producer;
  std::optional<unsigned> result;
  /// For a tied parameter: its number in the pipeline.
  std::optional<unsigned> param;
  /// The chunk that uses the value, and the number of its operand.
  int64_t consumer;
  unsigned operand;
  mlir::RankedTensorType type;
  /// Whether it carries norms between consecutive stages. Its ends are chunks
  /// of these stages, which do not use it.
  bool isNorms = false;

  bool isParameter() const { return param.has_value(); }
  /// Whether it is a value of a chunk, which is sent for each microbatch.
  /// Others are sent once a step.
  bool isValue() const { return !isParameter() && !isNorms; }
};

/// The numbered edges of a pipeline. First the values of chunks, ascending by
/// (producer, result, consumer). Then the tied parameters, ascending by
/// (parameter, consumer), one for each user after the first. Then, with
/// `clip_sync(barrier)`, norms: one edge from each stage to the next one.
///
/// A value edge carries an activation forward for each microbatch and, if its
/// element type is a float, a gradient back. A parameter edge carries the new
/// value forward and the accumulated gradient back, once a step. An edge of
/// norms carries the norms of the stages so far forward, and those of all
/// stages back.
class EdgeTable {
public:
  explicit EdgeTable(PipelineOp pipeline);

  llvm::ArrayRef<Edge> getEdges() const { return edges; }
  const Edge &operator[](int64_t edge) const { return edges[edge]; }
  int64_t size() const { return edges.size(); }

  /// The edge that provides `operand` of `consumer`; none if the operand is an
  /// input, or a parameter at its first user.
  std::optional<int64_t> getIncoming(int64_t consumer, unsigned operand) const;

  /// The edges that leave `result` of `producer`, ascending by consumer.
  llvm::ArrayRef<int64_t> getOutgoing(int64_t producer, unsigned result) const;

  /// The edge of norms from `stage` to the next one.
  int64_t getNorms(int64_t stage) const { return firstNorms + stage; }

private:
  void addNorms(PipelineOp pipeline);

  llvm::SmallVector<Edge> edges;
  int64_t firstNorms = 0;
  llvm::DenseMap<std::pair<int64_t, unsigned>, int64_t> incoming;
  llvm::DenseMap<std::pair<int64_t, unsigned>, llvm::SmallVector<int64_t, 1>>
      outgoing;
};

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_IR_EDGES_H
