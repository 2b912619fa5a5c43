//===- MessageTable.h - the messages of a pipeline --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_COMMUNICATION_MESSAGETABLE_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_COMMUNICATION_MESSAGETABLE_H

#include "Schedule/PipelineTables.h"

#include <map>
#include <tuple>

namespace veeline::pipe {

/// Identifies a message: edge, direction, microbatch.
using MessageKey = std::tuple<int64_t, Direction, int64_t>;

/// The messages of one pipeline: where each is needed, and which op computes
/// it.
class MessageTable {
public:
  MessageTable(PipelineTables &tables, llvm::ArrayRef<ProgramOp> programs)
      : tables(tables), programs(programs) {}

  mlir::LogicalResult collect();
  /// The value that a message carries. Fails with a diagnostic if no op
  /// computes it.
  mlir::FailureOr<mlir::Value> getProduced(EdgeValueOp use) const;
  /// The values of all messages, in the order of the programs.
  llvm::ArrayRef<std::pair<MessageKey, mlir::Value>> getProduced() const {
    return inOrder;
  }
  static MessageKey getKey(EdgeValueOp use) {
    return {use.getEdge(), use.getDirection(), use.getMicrobatch()};
  }

private:
  void collectProduced(mlir::Operation *op);
  void addOfStep(mlir::Operation *op, mlir::Value value, int64_t edge,
                 Direction direction);
  void addNorms(GatherNormsOp norms);
  void addProduced(mlir::Value value, int64_t edge, Direction direction,
                   int64_t microbatch);

  PipelineTables &tables;
  llvm::ArrayRef<ProgramOp> programs;
  std::map<MessageKey, EdgeValueOp> wanted;
  std::map<MessageKey, mlir::Value> produced;
  llvm::SmallVector<std::pair<MessageKey, mlir::Value>> inOrder;
};

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_COMMUNICATION_MESSAGETABLE_H
