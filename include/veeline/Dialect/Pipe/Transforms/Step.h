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
  int64_t lateMessages; ///< The first ones, which are of the step before.
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

/// All-reduces, or all-gathers, that a program issues as one: a group, or one
/// that is in none.
struct Reduction {
  llvm::SmallVector<mlir::Operation *> ops;
  bool isGather() const { return mlir::isa<AllGatherOp>(ops.front()); }
  /// The first and the last op that waits for one of them; null where none
  /// does.
  WaitOp firstWait, lastWait;
};

/// Whether `op` posts a reduction, alone or with others.
inline bool isReduction(mlir::Operation *op) {
  return mlir::isa<AllReduceOp, AllGatherOp>(op);
}
/// The type of what such an op gives to all ranks, and the parameter.
inline mlir::RankedTensorType getReducedType(mlir::Operation *op) {
  return mlir::cast<mlir::RankedTensorType>(
      mlir::cast<HandleType>(op->getResult(0).getType()).getValue());
}
int64_t getReducedParam(mlir::Operation *op);

/// The reductions of a program, in order. Their position here is their number.
llvm::SmallVector<Reduction> getReductions(ProgramOp program);

/// Predicts when ranks wait for reductions: sets the times of the first wait
/// for each one. `programs` are those of all ranks, whose work has predicted
/// times.
void predictReductions(PipelineOp pipeline, llvm::ArrayRef<ProgramOp> programs);

/// The ops of a program that the runtime's timeline knows: work, sends, waits,
/// updates, and of each reduction its last all-reduce and its first wait. Their
/// position here is their number.
llvm::SmallVector<mlir::Operation *> getTimelineOps(ProgramOp program);

/// True for a result of work that its op computes straight into the receiver's
/// memory, because nothing but a send that does not copy uses it.
bool isComputedAtReceiver(mlir::OpResult value);

/// True for an op that makes, sends or receives a length. Lengths are in the
/// host's memory even where values are in that of a GPU.
bool isLength(mlir::Operation *op);

/// For each send of `program` the last op during which the sent value has to
/// stay in memory, where messages leave while the rank goes on, as on a GPU.
/// Messages but those of lengths are issued in units: a group, or one that is
/// in none. The next unit on the send's message stream that has ops of its
/// compute stream waits for the send: that is the first such op or, without
/// such a unit, the last op of the program. Late units end late sends, and
/// others the others, since either may run without the other.
llvm::DenseMap<mlir::Operation *, mlir::Operation *>
findSendEnds(ProgramOp program);

/// Moves the receives of every group of `program` before its sends. Where
/// memory is shared, that is all that a group needs.
void postGroupsAtOnce(ProgramOp program);

/// Moves waits of `program` up until those of a channel are in the order of its
/// receives. A channel hands its messages over in order: what was sent before
/// the awaited message is there as well.
void waitInOrder(ProgramOp program, const ChannelTable &channels);

/// Checks that the receives of a channel, and their waits, are in the order of
/// its sends. Fails with a diagnostic.
mlir::LogicalResult verifyChannelOrder(llvm::ArrayRef<ProgramOp> programs,
                                       const ChannelTable &channels);

/// The functions of a rank's step. Where ops of a program are late: the step
/// with what is late of the one before, the first step, which has none before
/// it, and what is late alone, which follows the last step.
enum class StepPart { Whole, First, Late };
bool hasLateOps(ProgramOp program);

/// What a value is in the step that makes it: of an argument of the program,
/// what the `pipe.carry` gives for it.
mlir::Value getSource(mlir::Value value);

/// The receive that `op`, a `pipe.wait`, waits for, perhaps one of the turn
/// before; else null.
RecvOp getReceive(mlir::Operation *op);
inline llvm::ArrayRef<StepPart> getStepParts(ProgramOp program) {
  static constexpr StepPart parts[] = {StepPart::Whole, StepPart::First,
                                       StepPart::Late};
  return llvm::ArrayRef(parts).take_front(hasLateOps(program) ? 3 : 1);
}
/// `<program>_step`, `<program>_first_step`, `<program>_late`.
std::string getStepName(ProgramOp program, StepPart part = StepPart::Whole);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_STEP_H
