//===- Step.h - tables of a step and its metadata ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_STEP_H
#define VEELINE_DIALECT_PIPE_TRANSFORMS_STEP_H

#include "veeline/Dialect/Pipe/IR/Edges.h"

namespace veeline::pipe {

/// A channel: one edge in one direction between two ranks.
struct Channel {
  int64_t edge;
  Direction direction;
  int64_t fromRank, toRank; ///< Ranks of one replica.
  int64_t parts;            ///< The number of parts of a message.
  int64_t sendStream, receiveStream, communicator;
  /// The microbatches of the messages of a step, in order.
  llvm::SmallVector<int64_t> microbatches;
  int64_t lateMessages; ///< How many, at the start, are of the previous step.
};

/// The channels of a pipeline's programs: all edges and directions that carry a
/// message, ascending by (edge, direction, ranks).
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

/// Whether `op` posts a reduction, alone or as part of a group.
inline bool isReduction(mlir::Operation *op) {
  return mlir::isa<AllReduceOp, AllGatherOp>(op);
}
/// The type of the result of such an op on all ranks, and its parameter.
inline mlir::RankedTensorType getReducedType(mlir::Operation *op) {
  return mlir::cast<mlir::RankedTensorType>(
      mlir::cast<HandleType>(op->getResult(0).getType()).getValue());
}
int64_t getReducedParam(mlir::Operation *op);
/// Whether each rank gets the sums of its share alone.
inline bool isScattered(mlir::Operation *op) {
  auto sum = mlir::dyn_cast<AllReduceOp>(op);
  return sum && sum.getScattered();
}
/// Whether an update takes gradients that are scattered.
bool takesScattered(UpdateOp update);

/// A reduction: all-reduces, or all-gathers, that a program issues together.
/// They are a group, or a single op outside of groups.
struct Reduction {
  llvm::SmallVector<mlir::Operation *> ops;
  bool isGather() const { return mlir::isa<AllGatherOp>(ops.front()); }
  /// The first and the last op that waits for one of them; null if none does.
  mlir::Operation *firstWait = nullptr, *lastWait = nullptr;

  /// Whether the sums of `param` are scattered.
  bool scatters(int64_t param) const {
    return llvm::any_of(ops, [&](mlir::Operation *op) {
      return isScattered(op) && getReducedParam(op) == param;
    });
  }
};

/// The reductions of a program, in order. The index is the number of the
/// reduction.
llvm::SmallVector<Reduction> getReductions(ProgramOp program);

/// Predicts when ranks wait for reductions: sets the times of the first wait
/// for each reduction. `programs` are those of all ranks; their work ops have
/// predicted times.
void predictReductions(PipelineOp pipeline, llvm::ArrayRef<ProgramOp> programs);

/// The ops of a program that are on the runtime's timeline: work, offloads,
/// sends, waits for receives, updates, and for each reduction its last op and
/// its first wait. The index is the number of the op.
llvm::SmallVector<mlir::Operation *> getTimelineOps(ProgramOp program);

/// True for a result of work that is computed directly into the receiver's
/// memory, because its only use is a send that does not copy.
bool isComputedAtReceiver(mlir::OpResult value);

/// True for an op that makes, sends or receives a length. Lengths are in the
/// host's memory even if values are in that of a GPU.
bool isLength(mlir::Operation *op);

/// For a target on which messages are sent while the rank continues, such as a
/// GPU: for each send of `program`, the last op during which the sent value
/// must stay in memory. Messages, except lengths, are issued in units; a unit
/// is a group, or a message outside of groups. A send has ended when the next
/// unit on its message stream is issued that has an op on its compute stream.
/// So the result is the first such op or, without such a unit, the last op of
/// the program. Only late units end late sends, and only others end other
/// sends, since late ops may run without the others and vice versa.
llvm::DenseMap<mlir::Operation *, mlir::Operation *>
findSendEnds(ProgramOp program);

/// Moves the receives of every group of `program` before its sends. With shared
/// memory, a group needs nothing else.
void postGroupsAtOnce(ProgramOp program);

/// Moves waits of `program` up, so that the waits of a channel are in the order
/// of its receives. This is correct because a channel delivers its messages in
/// order: all that was sent before the awaited message has arrived, too.
void waitInOrder(ProgramOp program, const ChannelTable &channels);

/// Checks that the receives of each channel, and their waits, are in the order
/// of its sends. Fails with a diagnostic.
mlir::LogicalResult verifyChannelOrder(llvm::ArrayRef<ProgramOp> programs,
                                       const ChannelTable &channels);

/// The functions of a rank's step. A program without late ops has only `Whole`.
/// With late ops there are three: `Whole` is a step with the late ops of the
/// previous one. `First` is the first step, which has no previous one. `Late`
/// has the late ops alone, and runs after the last step.
enum class StepPart { Whole, First, Late };
bool hasLateOps(ProgramOp program);

/// The value itself; for an argument of the program, the value that
/// `pipe.carry` passes to it from the previous turn.
mlir::Value getSource(mlir::Value value);

/// The receive that `op` waits for if it is a `pipe.wait`, perhaps a receive of
/// the previous turn; else null.
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
