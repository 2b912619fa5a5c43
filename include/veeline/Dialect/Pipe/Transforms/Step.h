//===- Step.h - what a lowered step and its metadata agree on ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_STEP_H
#define VEELINE_DIALECT_PIPE_TRANSFORMS_STEP_H

#include "veeline/Dialect/Pipe/IR/Edges.h"

namespace veeline::pipe {

/// One edge in one direction between two ranks.
struct Channel {
  int64_t edge;
  Direction direction;
  int64_t fromRank, toRank; ///< Of one replica.
  int64_t parts;            ///< Of a message.
  int64_t sendStream, receiveStream, communicator;
  /// Of the messages of a step, in order.
  llvm::SmallVector<int64_t> microbatches;
};

/// The channels of a pipeline's programs: those edges and directions that
/// carry a message, ascending by (edge, direction, ranks).
class ChannelTable {
public:
  ChannelTable(PipelineOp pipeline, llvm::ArrayRef<ProgramOp> programs);

  llvm::ArrayRef<Channel> getChannels() const { return channels; }
  /// The index of the channel that a `pipe.send` or `pipe.recv` uses.
  template <typename OpT> int64_t find(OpT op) const {
    return find(op.getEdge(), op.getDirection(), op.getMicrobatch());
  }

private:
  int64_t find(int64_t edge, Direction direction, int64_t microbatch) const;
  std::pair<int64_t, int64_t> getRanks(int64_t edge, Direction direction,
                                       int64_t microbatch) const;

  PipelineOp pipeline;
  EdgeTable edges;
  llvm::SmallVector<Channel> channels;
};

/// All-reduces that a program issues as one: a group, or one that is in none.
struct Reduction {
  llvm::SmallVector<AllReduceOp> ops;
  /// The first and the last op that waits for one of them; null where none
  /// does.
  WaitOp firstWait, lastWait;
};

/// Those of a program, in order. Their position here is their number.
llvm::SmallVector<Reduction> getReductions(ProgramOp program);

/// Says on the first wait of each reduction of `programs`, those of all ranks,
/// which have predicted times, from when to when the rank waits.
void predictReductions(PipelineOp pipeline, llvm::ArrayRef<ProgramOp> programs);

/// The ops of a program that the runtime's timeline knows: work, sends, waits,
/// updates, and of each reduction its last all-reduce and its first wait. Their
/// position here is their number.
llvm::SmallVector<mlir::Operation *> getTimelineOps(ProgramOp program);

/// True for a result of work that its op computes straight into the receiver's
/// memory, because nothing but a send that does not copy uses it.
bool isComputedAtReceiver(mlir::OpResult value);

/// True for an op that makes, sends or receives a length, which is the host's
/// also where values are in the memory of a GPU.
bool isLength(mlir::Operation *op);

/// For each send of `program` the last op during which what it sends has to
/// stay, where messages leave while the rank goes on, as on a GPU: the first op
/// of its compute stream in the next unit of messages (not of lengths) on its
/// stream of messages that has one, which waits for the send, or the last op.
llvm::DenseMap<mlir::Operation *, mlir::Operation *>
findSendEnds(ProgramOp program);

/// Moves the receives of every group of `program` before its sends: where
/// memory is shared that is what makes a group of them.
void postGroupsAtOnce(ProgramOp program);

/// Moves waits of `program` up until those of a channel come in the order of
/// its receives. A channel hands its messages over in one order, so what was
/// sent before the awaited message is there as well.
void waitInOrder(ProgramOp program, const ChannelTable &channels);

/// Receives of a channel are in the order of its sends, and so are their waits.
mlir::LogicalResult verifyChannelOrder(llvm::ArrayRef<ProgramOp> programs,
                                       const ChannelTable &channels);

/// `<program>_step`.
std::string getStepName(ProgramOp program);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_STEP_H
