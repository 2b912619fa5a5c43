//===- StreamOrder.h - compute streams of a program -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_STREAMORDER_H
#define VEELINE_DIALECT_PIPE_TRANSFORMS_STREAMORDER_H

#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

/// On a program for a GPU with several compute streams, an array of two: the
/// number of these streams, and the number of events that order them.
inline constexpr llvm::StringLiteral computeStreamsAttrName =
    "pipe.compute_streams";
/// On ops of such a program: the stream that they are issued to; 0 if absent.
inline constexpr llvm::StringLiteral computeStreamAttrName =
    "pipe.compute_stream";
/// On ops of such a program: the event that is recorded after the op. It covers
/// all that is issued to the op's stream from the begin of the step up to the
/// op.
inline constexpr llvm::StringLiteral recordedEventAttrName =
    "pipe.recorded_event";
/// On ops of such a program: the events for which the op's stream waits before
/// the op. Of each event, the latest record before the op counts.
inline constexpr llvm::StringLiteral awaitedEventsAttrName =
    "pipe.awaited_events";

int64_t getComputeStream(mlir::Operation *op);
/// Empty if it waits for none.
llvm::ArrayRef<int64_t> getAwaitedEvents(mlir::Operation *op);
std::optional<int64_t> getRecordedEvent(mlir::Operation *op);

/// The numbers of streams and events of a program; 1 and 0 without the
/// attribute.
struct StreamCounts {
  int64_t streams = 1;
  int64_t events = 0;
};
/// Reads these numbers. Fails with a diagnostic if the attributes of the
/// program and its ops are not as described above.
mlir::FailureOr<StreamCounts> getStreamCounts(ProgramOp program);

/// Tells which ops of a program have certainly ended when another one begins.
/// That follows from the order of each stream, from events, from waits for
/// posted operations, and from what the sender of an awaited message knew when
/// it sent. At the begin of the step all streams wait for the first one.
///
/// Ops are numbered in the order of the program. The knowledge at the begin of
/// an op is one number for each stream: that of its last op that has ended.
/// These are O(ops * streams) numbers in all.
class StreamOrder {
public:
  /// For each stream the number of an op; -1: none.
  using Point = llvm::SmallVector<int64_t, 4>;

  /// An empty order, to which ops are appended one by one.
  explicit StreamOrder(int64_t numStreams);

  /// Appends `op`. It begins when all of `awaited`, which must have been
  /// appended, have ended, and also all ops up to the point `received` if it is
  /// given.
  void append(mlir::Operation *op, llvm::ArrayRef<mlir::Operation *> awaited,
              llvm::ArrayRef<int64_t> received = {});
  /// Whether `earlier` has ended when the next op of `stream` begins.
  bool isKnown(int64_t stream, mlir::Operation *earlier) const;

  /// Whether `earlier` has ended when `op` has ended.
  bool isOverWith(mlir::Operation *earlier, mlir::Operation *op) const;

  int64_t getNumStreams() const { return static_cast<int64_t>(known.size()); }
  int64_t getNumOps() const { return static_cast<int64_t>(atBegin.size()); }
  int64_t getNumber(mlir::Operation *op) const { return numbers.lookup(op); }

  Point getNone() const { return Point(getNumStreams(), -1); }
  /// Moves `point` to the end of `op` where that is later.
  void include(Point &point, mlir::Operation *op) const;
  /// The number of the first op of `stream` that begins after all of `point`
  /// has ended; the total number of ops if there is none.
  int64_t findFirstAfter(const Point &point, int64_t stream) const;

private:
  Point getEnd(mlir::Operation *op) const;

  llvm::DenseMap<mlir::Operation *, int64_t> numbers;
  /// For each op, what has ended when it begins.
  std::vector<Point> atBegin;
  /// For each stream, what has ended when its next op begins.
  std::vector<Point> known;
  /// For each stream, the numbers of its ops.
  std::vector<std::vector<int64_t>> opsOf;
};

/// The orders of all programs of `pipeline`, by their attributes. A rank that
/// receives a message knows what its sender knew when it sent it. So streams of
/// one rank may also be ordered through other ranks. O(ops * streams of all
/// ranks) if a rank has more than one stream.
mlir::FailureOr<std::vector<StreamOrder>>
getStreamOrders(PipelineOp pipeline, llvm::ArrayRef<ProgramOp> programs);

/// Computes, for the ops of a program in order, which earlier ops must have
/// ended when an op begins. That follows from values, from accumulators and
/// from parameters: an update or assignment comes after all earlier readers of
/// the parameter, and before all later ops. The order of a post and its wait is
/// not included, since the wait enforces it.
class ProgramDependences {
public:
  explicit ProgramDependences(ProgramOp program);

  /// The earlier ops that must have ended when `op`, the next one, begins.
  llvm::SmallVector<mlir::Operation *> next(mlir::Operation *op);

private:
  void addSource(mlir::Value value,
                 llvm::SmallVectorImpl<mlir::Operation *> &sources);
  void addAccumulation(int64_t chunk,
                       llvm::SmallVectorImpl<mlir::Operation *> &sources);

  /// For each op that waits for a reduction, the first op that does.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> firstWaits;
  llvm::DenseMap<int64_t, mlir::Operation *> lastOfChunk, lastOfStream;
  mlir::Operation *lastWrite = nullptr; ///< The last write of a parameter.
  mlir::Operation *previous = nullptr;
};

/// Checks that `order` implies all dependences of `program`. Fails with a
/// diagnostic.
mlir::LogicalResult verifyStreamOrder(ProgramOp program,
                                      const StreamOrder &order);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_STREAMORDER_H
