//===- Edges.h - what flows between the chunks of a pipeline ----*- C++ -*-===//
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

/// The uses of `value` by chunks, each the chunk and the number of its operand,
/// ascending.
llvm::SmallVector<std::pair<int64_t, unsigned>> getChunkUses(mlir::Value value);

/// A value on its way from one chunk to another.
struct Edge {
  /// For a value of a chunk: the chunk and its result. For a tied parameter:
  /// the first chunk that uses it (its home), and no result.
  int64_t producer;
  std::optional<unsigned> result;
  /// For a tied parameter: its number among the pipeline's parameters.
  std::optional<unsigned> param;
  /// The chunk that uses it, and as which operand.
  int64_t consumer;
  unsigned operand;
  mlir::RankedTensorType type;
  /// Norms on their way between stages that follow each other: the ends are
  /// chunks of these, which do not use it.
  bool isNorms = false;

  bool isParameter() const { return param.has_value(); }
  /// A value of a chunk, one for each microbatch; others travel once a step.
  bool isValue() const { return !isParameter() && !isNorms; }
};

/// The edges of a pipeline, by number. First the values of chunks, ascending by
/// (producer, result, consumer); then the tied parameters, ascending by
/// (parameter, consumer), one for each user after the first; then, with
/// `clip_sync(barrier)`, one from each stage to the next one.
///
/// A value edge carries one activation forward and, where its element type is
/// a float, one gradient back for each microbatch; a parameter edge carries the
/// new value forward and the accumulated gradient back once a step, an edge of
/// norms those of the stages so far forward, and those of all stages back.
class EdgeTable {
public:
  explicit EdgeTable(PipelineOp pipeline);

  llvm::ArrayRef<Edge> getEdges() const { return edges; }
  const Edge &operator[](int64_t edge) const { return edges[edge]; }
  int64_t size() const { return edges.size(); }

  /// The edge that feeds `operand` of `consumer`, or none where the operand is
  /// an input, or a parameter at its first user.
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
