//===- InsertReductions.cpp - gradients of the ranks of a stage -----------===//
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

/// Where to post the sums of `chunk`, or of all chunks where there is none:
/// after the last W, and after the messages that follow it, for which others
/// wait sooner.
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
/// ranks have the same reductions and post them in one order: that of the
/// chunks' last W's, each on the rank that has it last.
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
  /// A chunk, 1 if its gradients are those of the step before, and the
  /// microbatch that they are of, or -1.
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
  /// The predicted end of the last W of a chunk, on all ranks.
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

/// The op after which the sums of `chunk` are posted, `previous` or a later
/// one; null where nothing adds to them.
///
/// Where a post holds up what comes after it, a rank that shares its stage
/// waits for the others when it posts. It must hold up nobody that these wait
/// for, so it sends the values of all its microbatches before.
Operation *ReductionInserter::findPlace(ProgramOp program, int64_t chunk,
                                        Operation *previous) {
  // Replicas of the pipeline have the same program, so places agree.
  if (pipeline.getWidth(program.getStage()) == 1)
    return findEndOfGradients(program, chunk);
  Operation *place =
      findEndOfGradients(program, blocks ? std::nullopt : std::optional(chunk));
  if (!previous || (place && previous->isBeforeInBlock(place)))
    return place;
  return previous;
}

/// Each rank needs no more than its share of a gradient which nothing but an
/// update takes. Norms that limit gradients are of the whole, and so is what
/// stages tell each other.
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

/// Posts the sums of a chunk as one, and waits for them where they are read.
Operation *
ReductionInserter::addReduction(OpBuilder &builder, Key key,
                                MutableArrayRef<GradientOp> gradients,
                                IntegerAttr group) {
  // All of a group before the first wait, which may stand right there.
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
    // What is late is updated right after its last W, and so is what has an
    // update for each microbatch.
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

/// Moves receives of parameters' gradients and values, and of norms, after
/// `last`, a sum. They would hold it up on its stream, and what they wait for
/// may come after the same sum on another rank of the stage.
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
