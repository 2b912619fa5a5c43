//===- AssignStreams.cpp - --pipe-assign-streams --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/Step.h"
#include "veeline/Dialect/Pipe/Transforms/Steps.h"
#include "veeline/Dialect/Pipe/Transforms/StreamOrder.h"
#include "llvm/ADT/TypeSwitch.h"

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPEASSIGNSTREAMS
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

namespace {

/// Assigns streams and events to the ops of one program.
class StreamAssigner {
public:
  StreamAssigner(PipelineOp pipeline, ProgramOp program)
      : pipeline(pipeline), program(program), builder(program.getContext()) {}

  void run();

private:
  void numberChunks();
  int64_t getStream(Operation *op);
  int64_t getStreamOfValue(Value value);
  int64_t getStreamOfUser(Value value);
  void orderOps();
  void numberEvents();

  PipelineOp pipeline;
  ProgramOp program;
  Builder builder;
  llvm::DenseMap<int64_t, int64_t> streamOfChunk;
  /// For each op, the ops that wait for it, and those that it waits for.
  llvm::DenseMap<Operation *, SmallVector<Operation *>> waiters, awaited;
  int64_t numEvents = 1;
};

} // namespace

/// Gives chunk c of this rank, in model order, stream c.
void StreamAssigner::numberChunks() {
  for (ChunkOp chunk : pipeline.getChunks()) {
    int64_t number = chunk.getIndex(), local = streamOfChunk.size();
    if (pipeline.getStageOf(number) == static_cast<int64_t>(program.getStage()))
      streamOfChunk[number] = local;
  }
}

int64_t StreamAssigner::getStreamOfValue(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto gradient = dyn_cast<GradientOp>(op))
    return streamOfChunk.lookup(gradient.getChunk());
  return getStream(op);
}

/// The stream for what is received or summed: that of the first op that uses
/// it.
int64_t StreamAssigner::getStreamOfUser(Value value) {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers())
    if (!first || user->isBeforeInBlock(first))
      first = user;
  // A value that is sent on stays on its own stream.
  return first && !isa<SendOp>(first) ? getStream(first) : 0;
}

int64_t StreamAssigner::getStream(Operation *op) {
  if (std::optional<schedule::Op> work = getScheduleOp(op))
    return streamOfChunk.lookup(work->chunk);
  if (isLength(op))
    return 0;
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case([&](SendOp op) { return getStreamOfValue(op.getValue()); })
      .Case([&](RecvOp op) { return getStreamOfUser(op.getHandle()); })
      .Case([&](AddOp op) { return getStreamOfUser(op.getResult()); })
      .Case([&](AllReduceOp op) { return streamOfChunk.lookup(op.getChunk()); })
      .Case([&](WaitOp op) {
        Operation *posted = op.getHandle().getDefiningOp();
        return posted && isReduction(posted) ? 0
                                             : getStreamOfUser(op.getValue());
      })
      .Default([](Operation *) -> int64_t { return 0; });
}

/// Finds which ops have to wait for which, and leaves out waits that follow
/// from others.
void StreamAssigner::orderOps() {
  ProgramDependences dependences(program);
  StreamOrder order(streamOfChunk.size());
  for (Operation &op : program.getBody().front()) {
    int64_t stream = getComputeStream(&op);
    SmallVector<Operation *> sources = dependences.next(&op);
    // The latest source comes first, because it may imply all others.
    llvm::sort(sources, [&](Operation *a, Operation *b) {
      return order.getNumber(a) > order.getNumber(b);
    });
    SmallVector<Operation *> &chosen = awaited[&op];
    for (Operation *source : sources) {
      bool isOver = order.isKnown(stream, source) ||
                    llvm::any_of(chosen, [&](Operation *other) {
                      return order.isOverWith(source, other);
                    });
      if (isOver)
        continue;
      chosen.push_back(source);
      waiters[source].push_back(&op);
    }
    order.append(&op, chosen);
  }
}

/// Numbers events. An event can be reused after the last op that waits for it,
/// because a wait refers to the record before it.
void StreamAssigner::numberEvents() {
  llvm::DenseMap<Operation *, int64_t> eventOf;
  llvm::DenseMap<Operation *, size_t> waitsLeft;
  SmallVector<int64_t> freeEvents = {0};
  for (Operation &op : program.getBody().front()) {
    SmallVector<int64_t> events;
    for (Operation *source : awaited.lookup(&op)) {
      events.push_back(eventOf.lookup(source));
      if (--waitsLeft[source] == 0)
        freeEvents.push_back(events.back());
    }
    if (!events.empty())
      op.setAttr(awaitedEventsAttrName, builder.getDenseI64ArrayAttr(events));
    auto it = waiters.find(&op);
    if (it == waiters.end())
      continue;
    if (freeEvents.empty())
      freeEvents.push_back(numEvents++);
    eventOf[&op] = freeEvents.pop_back_val();
    waitsLeft[&op] = it->second.size();
    op.setAttr(recordedEventAttrName, builder.getI64IntegerAttr(eventOf[&op]));
  }
}

void StreamAssigner::run() {
  for (Operation &op : program.getBody().front())
    for (StringRef name :
         {computeStreamAttrName, awaitedEventsAttrName, recordedEventAttrName})
      op.removeAttr(name);
  program->removeAttr(computeStreamsAttrName);
  numberChunks();
  if (streamOfChunk.size() <= 1)
    return;
  for (Operation &op : program.getBody().front())
    if (int64_t stream = getStream(&op))
      op.setAttr(computeStreamAttrName, builder.getI64IntegerAttr(stream));
  orderOps();
  numberEvents();
  program->setAttr(
      computeStreamsAttrName,
      builder.getDenseI64ArrayAttr(
          {static_cast<int64_t>(streamOfChunk.size()), numEvents}));
}

void veeline::pipe::assignStreams(PipelineOp pipeline) {
  // In this schedule, all ops run one after the other.
  if (pipeline.getSchedule() == "sequential")
    return;
  for (ProgramOp program : getPrograms(pipeline))
    StreamAssigner(pipeline, program).run();
}

namespace {
struct PipeAssignStreams
    : veeline::pipe::impl::PipeAssignStreamsBase<PipeAssignStreams> {
  void runOnOperation() override {
    for (auto pipeline : getOperation().getOps<PipelineOp>())
      assignStreams(pipeline);
  }
};
} // namespace
