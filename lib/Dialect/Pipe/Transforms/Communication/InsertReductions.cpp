//===- InsertReductions.cpp - all-reduces of gradients --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InsertReductions.h"

#include "mlir/IR/Builders.h"
#include "veeline/Dialect/Pipe/IR/Edges.h"
#include "veeline/Dialect/Pipe/Transforms/ProgramBuilder.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

int64_t veeline::pipe::getFreeGroup(ProgramOp program) {
  int64_t next = 0;
  program.walk([&](Operation *op) {
    if (auto group = op->getAttrOfType<IntegerAttr>("group"))
      next = std::max(next, group.getInt() + 1);
  });
  return next;
}

/// The place to post the sums of `chunk`, or of all chunks if it is none: after
/// the last W, and after the messages that follow it, because other ranks wait
/// for those sooner.
static Operation *findEndOfGradients(ProgramOp program,
                                     std::optional<int64_t> chunk) {
  Operation *last = nullptr;
  for (Operation &op : program.getBody().front()) {
    std::optional<schedule::Op> work = getScheduleOp(&op);
    if (work && !work->late && (!chunk || work->chunk == *chunk) &&
        isa<BackwardOp, BackwardWeightOp>(op))
      last = &op;
  }
  while (last && last->getNextNode() &&
         isa<SendOp, RecvOp>(last->getNextNode()))
    last = last->getNextNode();
  return last;
}

namespace {

/// Inserts the reductions of gradients over the ranks of a stage. All of these
/// ranks have the same reductions and post them in the same order: that of the
/// chunks' last W. For each chunk, the rank that runs it last counts.
class ReductionInserter {
public:
  ReductionInserter(PipelineOp pipeline, ArrayRef<ProgramOp> programs,
                    int stream, bool blocks)
      : pipeline(pipeline), programs(programs), stream(stream), blocks(blocks),
        edges(pipeline) {}

  void run() {
    for (ProgramOp program : programs)
      collectEnds(program);
    for (ProgramOp program : programs)
      if (pipeline.getNumMembers(program.getStage()) > 1)
        addReductions(program);
  }

private:
  /// A chunk; 1 if its gradients are those of the step before; and the
  /// microbatch of the gradients, or -1.
  using Key = std::tuple<int64_t, int, int64_t>;
  using Gradients = llvm::MapVector<Key, SmallVector<GradientOp>>;

  void collectEnds(ProgramOp program);
  void addReductions(ProgramOp program);
  void receiveTotalsAfter(Operation *last);
  Operation *findPlace(ProgramOp program, int64_t chunk, Operation *previous);
  Operation *addReduction(OpBuilder &builder, Key key,
                          MutableArrayRef<GradientOp> gradients,
                          IntegerAttr group);
  void findScattered(ProgramOp program);

  PipelineOp pipeline;
  ArrayRef<ProgramOp> programs;
  int stream;
  bool blocks;
  EdgeTable edges;
  /// The predicted end of the last W of each chunk, over all ranks.
  llvm::DenseMap<int64_t, double> ends;
  /// The gradients of which a rank needs the sums of its share alone.
  llvm::DenseSet<Operation *> scattered;
};

} // namespace

void ReductionInserter::collectEnds(ProgramOp program) {
  for (Operation &op : program.getBody().front())
    if (isa<BackwardOp, BackwardWeightOp>(op)) {
      double &end = ends[getScheduleOp(&op)->chunk];
      end = std::max(end, getPredicted(&op).second);
    }
}

/// The op after which the sums of `chunk` are posted: `previous` or a later op.
/// Null if no op adds to them.
///
/// If a post blocks later ops, a rank that shares its stage waits for the other
/// ranks when it posts. It must not delay ranks for which these wait, so it
/// first sends the values of all its microbatches.
Operation *ReductionInserter::findPlace(ProgramOp program, int64_t chunk,
                                        Operation *previous) {
  // Replicas of the pipeline have the same program, so they choose the same
  // place.
  if (pipeline.getWidth(program.getStage()) == 1)
    return findEndOfGradients(program, chunk);
  Operation *place =
      findEndOfGradients(program, blocks ? std::nullopt : std::optional(chunk));
  if (!previous || (place && previous->isBeforeInBlock(place)))
    return place;
  return previous;
}

/// Finds the gradients that only updates take: each rank needs the sums of its
/// share of them alone. Norms that limit gradients are of whole gradients, and
/// so is what stages tell each other.
void ReductionInserter::findScattered(ProgramOp program) {
  if (pipeline.getShards(program.getStage()) == 1)
    return;
  auto isOwn = [](Value gradient) {
    return gradient.getDefiningOp<GradientOp>() && gradient.hasOneUse();
  };
  for (auto update : program.getBody().front().getOps<UpdateOp>())
    if (!update.getMicrobatch() && llvm::all_of(update.getGradients(), isOwn))
      for (Value gradient : update.getGradients())
        scattered.insert(gradient.getDefiningOp());
}

/// Posts the sums of a chunk as one group, and waits for them where they are
/// read.
Operation *
ReductionInserter::addReduction(OpBuilder &builder, Key key,
                                MutableArrayRef<GradientOp> gradients,
                                IntegerAttr group) {
  // Post all sums of a group before the first wait, which may come directly
  // after.
  SmallVector<Value> handles;
  int64_t chunk = std::get<0>(key);
  for (GradientOp gradient : gradients) {
    auto type = cast<RankedTensorType>(gradient.getValue().getType());
    handles.push_back(AllReduceOp::create(
        builder, gradient.getLoc(), HandleType::get(type.getContext(), type),
        gradient.getParam(), chunk, stream, 1 + pipeline.getStageOf(chunk),
        group, gradient.getLate(), gradient.getMicrobatchAttr(),
        scattered.contains(gradient)));
  }
  for (auto [gradient, handle] : llvm::zip_equal(gradients, handles)) {
    OpBuilder atUse(gradient);
    Value sum = WaitOp::create(atUse, gradient.getLoc(),
                               gradient.getValue().getType(), handle);
    gradient.getValue().replaceAllUsesWith(sum);
    gradient.erase();
  }
  return handles.back().getDefiningOp();
}

void ReductionInserter::addReductions(ProgramOp program) {
  findScattered(program);
  Gradients byChunk;
  for (auto gradient : program.getBody().front().getOps<GradientOp>())
    byChunk[{gradient.getChunk(), int(gradient.getLate()),
             static_cast<int64_t>(gradient.getMicrobatch().value_or(-1))}]
        .push_back(gradient);
  SmallVector<Key> order = llvm::to_vector(llvm::make_first_range(byChunk));
  auto rankOf = [&](Key key) {
    auto [chunk, late, microbatch] = key;
    return std::tuple(!late, ends.lookup(chunk), chunk, microbatch);
  };
  llvm::sort(order, [&](Key a, Key b) { return rankOf(a) < rankOf(b); });
  int64_t nextGroup = getFreeGroup(program);
  Operation *previous = nullptr;
  for (Key key : order) {
    SmallVector<GradientOp> &gradients = byChunk[key];
    OpBuilder builder(program.getContext());
    auto [chunk, late, microbatch] = key;
    // Late sums, and sums for each microbatch, are updated directly after the
    // last W.
    Operation *place =
        late || microbatch >= 0 ? nullptr : findPlace(program, chunk, previous);
    if (place)
      builder.setInsertionPointAfter(place);
    else
      builder.setInsertionPoint(gradients.front());
    IntegerAttr group = gradients.size() > 1
                            ? builder.getI64IntegerAttr(nextGroup++)
                            : IntegerAttr();
    previous = addReduction(builder, key, gradients, group);
  }
  if (previous && blocks && pipeline.getWidth(program.getStage()) > 1)
    receiveTotalsAfter(previous);
}

/// Moves receives of parameters' gradients and values, and of norms, after the
/// sum `last`. Otherwise they would delay it on its stream, and the messages
/// that they wait for may come after the same sum on another rank of the stage.
void ReductionInserter::receiveTotalsAfter(Operation *last) {
  Operation *place = last;
  for (Operation &op : llvm::make_early_inc_range(*last->getBlock())) {
    if (&op == last)
      return;
    auto recv = dyn_cast<RecvOp>(op);
    if (!recv || edges[recv.getEdge()].isValue())
      continue;
    recv->moveAfter(place);
    place = recv;
  }
}

void veeline::pipe::insertReductions(PipelineOp pipeline,
                                     ArrayRef<ProgramOp> programs, int stream,
                                     bool blocks) {
  ReductionInserter(pipeline, programs, stream, blocks).run();
}
