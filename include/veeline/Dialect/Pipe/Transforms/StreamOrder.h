//===- StreamOrder.h - compute streams of a program -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_STREAMORDER_H
#define VEELINE_DIALECT_PIPE_TRANSFORMS_STREAMORDER_H

#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

/// On a program for a GPU with several compute streams, an array of two: how
/// many there are, and how many events order them.
inline constexpr llvm::StringLiteral computeStreamsAttrName =
    "pipe.compute_streams";
/// On its ops, the stream that they are issued to; 0 where nothing is said.
inline constexpr llvm::StringLiteral computeStreamAttrName =
    "pipe.compute_stream";
/// On its ops, the event that is recorded after the op. It stands for all that
/// is issued to the op's stream from the begin of the step to the op's end.
inline constexpr llvm::StringLiteral recordedEventAttrName =
    "pipe.recorded_event";
/// On its ops, the events for which the op's stream waits before the op: of
/// each the latest record before the op.
inline constexpr llvm::StringLiteral awaitedEventsAttrName =
    "pipe.awaited_events";

int64_t getComputeStream(mlir::Operation *op);
/// Empty where it waits for none.
llvm::ArrayRef<int64_t> getAwaitedEvents(mlir::Operation *op);
std::optional<int64_t> getRecordedEvent(mlir::Operation *op);

/// The streams of a program and the events that order them; 1 and 0 where
/// nothing is said.
struct StreamCounts {
  int64_t streams = 1;
  int64_t events = 0;
};
/// Fails where the attributes of the program and its ops are not what is said
/// above, with a diagnostic.
mlir::FailureOr<StreamCounts> getStreamCounts(ProgramOp program);

/// Says which ops of a program are certainly over when another one begins. That
/// follows from the order of each stream, from events, from waits for what was
/// posted, and from what the sender of an awaited message knew when it sent. At
/// the begin of the step all streams wait for the first one.
///
/// Ops are numbered in the order of the program. What is known when an op
/// begins is one number for each stream, that of its last op that is over:
/// O(ops * streams) numbers in all.
class StreamOrder {
public:
  /// By stream the number of an op; -1: none.
  using Point = llvm::SmallVector<int64_t, 4>;

  /// An empty order, to which ops are appended one by one.
  explicit StreamOrder(int64_t numStreams);

  /// Appends `op`. It begins once all of `awaited`, which have been appended,
  /// are over, and all ops up to `received`, if it is given: one number for
  /// each stream.
  void append(mlir::Operation *op, llvm::ArrayRef<mlir::Operation *> awaited,
              llvm::ArrayRef<int64_t> received = {});
  /// Whether `earlier` is over when the next op of `stream` begins.
  bool isKnown(int64_t stream, mlir::Operation *earlier) const;

  /// Whether `earlier` is over once `op` is.
  bool isOverWith(mlir::Operation *earlier, mlir::Operation *op) const;

  int64_t getNumStreams() const { return static_cast<int64_t>(known.size()); }
  int64_t getNumOps() const { return static_cast<int64_t>(atBegin.size()); }
  int64_t getNumber(mlir::Operation *op) const { return numbers.lookup(op); }

  Point getNone() const { return Point(getNumStreams(), -1); }
  /// Moves `point` up to `op` where that is later.
  void include(Point &point, mlir::Operation *op) const;
  /// The number of the first op of `stream` that begins after all of `point`;
  /// the number of ops where none does.
  int64_t findFirstAfter(const Point &point, int64_t stream) const;

private:
  Point getEnd(mlir::Operation *op) const;

  llvm::DenseMap<mlir::Operation *, int64_t> numbers;
  /// By op what is over when it begins.
  std::vector<Point> atBegin;
  /// By stream what is over when its next op begins.
  std::vector<Point> known;
  /// By stream the numbers of its ops.
  std::vector<std::vector<int64_t>> opsOf;
};

/// The orders of all programs of `pipeline`, as their attributes say. A rank
/// that receives a message knows what its sender knew when it sent. So streams
/// of one rank may be ordered by way of other ranks, too. O(ops * streams of
/// all ranks), where a rank has more than one.
mlir::FailureOr<std::vector<StreamOrder>>
getStreamOrders(PipelineOp pipeline, llvm::ArrayRef<ProgramOp> programs);

/// Says, for the ops of a program in order, which earlier ones have to be over
/// when an op begins. That follows from values, from accumulators, and from
/// parameters: an update or assignment writes these after all that reads them
/// before, and before all that comes after it. The order of a post and its wait
/// is not listed: the wait enforces it.
class ProgramDependences {
public:
  explicit ProgramDependences(ProgramOp program);

  /// The earlier ops that have to be over when `op`, the next one, begins.
  llvm::SmallVector<mlir::Operation *> next(mlir::Operation *op);

private:
  void addSource(mlir::Value value,
                 llvm::SmallVectorImpl<mlir::Operation *> &sources);
  void addAccumulation(int64_t chunk,
                       llvm::SmallVectorImpl<mlir::Operation *> &sources);

  /// For each op that waits for a reduction, the first op that does.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> firstWaits;
  llvm::DenseMap<int64_t, mlir::Operation *> lastOfChunk, lastOfStream;
  mlir::Operation *lastWrite = nullptr; ///< Of a parameter.
  mlir::Operation *previous = nullptr;
};

/// Checks that by `order` all is over that has to be when an op begins. Fails
/// with a diagnostic.
mlir::LogicalResult verifyStreamOrder(ProgramOp program,
                                      const StreamOrder &order);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_STREAMORDER_H
