//===- InsertCommunication.cpp - --pipe-insert-communication --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sender computes straight into the receiver's memory, so it waits, before
// it starts to produce a value, until the receive is posted. A receive is
// therefore posted before the first op of its rank that in the simulated
// schedule is not over when the producer starts, and before that op waits for
// anything.
//
// No deadlock: order all work ops by their simulated start. An op waits for ops
// before it on its rank, for the producers of its inputs, and for receives
// that stand before an op of another rank whose predecessors are all over when
// it starts. All of these start earlier, so some op can always run.
//
//===----------------------------------------------------------------------===//

#include "PipelineTables.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/ProgramBuilder.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/Steps.h"
#include "veeline/Schedule/Simulator.h"

#include <map>
#include <tuple>

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPEINSERTCOMMUNICATION
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

/// The simulated begin and end of a work op.
static std::pair<double, double> getPredicted(Operation *op) {
  auto times = op->getAttrOfType<DenseF64ArrayAttr>(predictedAttrName);
  return {times[0], times[1]};
}

static bool isPredicted(Operation *op) {
  auto times = op->getAttrOfType<DenseF64ArrayAttr>(predictedAttrName);
  return times && times.size() == 2;
}

/// Every stage has one program.
static LogicalResult verifyStages(PipelineOp pipeline,
                                  ArrayRef<ProgramOp> programs) {
  uint64_t next = 0;
  for (ProgramOp program : programs) {
    if (program.getStage() == next) {
      ++next;
      continue;
    }
    if (program.getStage() > next)
      break;
    ProgramOp other = programs[next - 1];
    InFlightDiagnostic diagnostic =
        program.emitOpError() << "is a second program of stage "
                              << program.getStage() << "; a stage runs one";
    diagnostic.attachNote(other.getLoc()) << "the other one is here";
    return diagnostic;
  }
  if (next == pipeline.getStages())
    return success();
  return pipeline.emitOpError()
         << "has " << pipeline.getStages()
         << (pipeline.getStages() == 1 ? " stage" : " stages") << ", but stage "
         << next
         << " has no program; run --pipe-schedule, or write one for each";
}

/// Simulates programs that say nothing about times, as those written by hand.
static LogicalResult predict(PipelineOp pipeline, ArrayRef<ProgramOp> programs,
                             const schedule::Problem &problem,
                             const schedule::Schedule &order) {
  auto simulation = schedule::simulate(problem, order);
  if (!simulation)
    return pipeline.emitOpError() << simulation.error().str();
  Builder builder(pipeline.getContext());
  for (size_t stage = 0; stage != programs.size(); ++stage) {
    ProgramOp program = programs[stage];
    size_t step = 0;
    for (Operation &op : program.getBody().front()) {
      std::optional<schedule::Op> work = getScheduleOp(&op);
      if (!work)
        continue;
      while (!(order.stages[stage][step] == *work))
        ++step;
      op.setAttr(predictedAttrName,
                 builder.getDenseF64ArrayAttr({simulation->start[stage][step],
                                               simulation->end[stage][step]}));
    }
  }
  return success();
}

namespace {

/// The messages of one pipeline.
class CommunicationInserter {
public:
  CommunicationInserter(PipelineTables &tables, ArrayRef<ProgramOp> programs)
      : tables(tables), programs(programs) {}

  LogicalResult run();

private:
  using Key = std::tuple<int64_t, Direction, int64_t>;

  void addSends(Operation *op);
  void addSend(OpBuilder &builder, Value value, int64_t edge,
               Direction direction, int64_t microbatch);
  LogicalResult replaceEdgeValues(ProgramOp program);

  PipelineTables &tables;
  ArrayRef<ProgramOp> programs;
  std::map<Key, EdgeValueOp> wanted;
  /// The producers of all values that are wanted elsewhere.
  std::map<Key, Operation *> producers;
};

} // namespace

void CommunicationInserter::addSend(OpBuilder &builder, Value value,
                                    int64_t edge, Direction direction,
                                    int64_t microbatch) {
  Key key{edge, direction, microbatch};
  if (!wanted.count(key))
    return;
  producers[key] = value.getDefiningOp();
  SendOp::create(builder, value.getLoc(), value, edge, direction, microbatch);
}

/// Sends what other stages want of the results of `op`.
void CommunicationInserter::addSends(Operation *op) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  if (std::optional<ChunkFunctionKind> kind = getFunctionKind(op)) {
    schedule::Op work = *getScheduleOp(op);
    const Carried &carried = tables.get(work.chunk, *kind);
    for (auto [i, value] : llvm::enumerate(carried.results)) {
      Value result = op->getResult(i);
      if (value.kind == RoleKind::Result)
        for (int64_t edge : tables.edges.getOutgoing(work.chunk, value.index))
          addSend(builder, result, edge, Direction::Activation,
                  work.microbatch);
      if (value.kind == RoleKind::OperandGrad)
        if (auto edge = tables.edges.getIncoming(work.chunk, value.index))
          addSend(builder, result, *edge, Direction::Gradient, work.microbatch);
    }
    return;
  }
  auto gradient = dyn_cast<GradientOp>(op);
  auto update = dyn_cast<UpdateOp>(op);
  for (const auto &[number, edge] : llvm::enumerate(tables.edges.getEdges())) {
    if (gradient && edge.param == gradient.getParam() &&
        edge.consumer == static_cast<int64_t>(gradient.getChunk()))
      addSend(builder, gradient.getValue(), number, Direction::Gradient, 0);
    if (update && edge.param == update.getParam())
      addSend(builder, update.getValue(), number, Direction::Activation, 0);
  }
}

/// Posts the receives of one program and waits where their values are used.
LogicalResult CommunicationInserter::replaceEdgeValues(ProgramOp program) {
  Block &body = program.getBody().front();
  // Entry i: the end of work op i, and the op before which to post what is to
  // be posted once i work ops are over. That is before all waits for the next
  // one's inputs.
  SmallVector<double> ends;
  SmallVector<Operation *> anchors = {&body.front()};
  for (Operation &op : body)
    if (getScheduleOp(&op)) {
      ends.push_back(getPredicted(&op).second);
      anchors.push_back(op.getNextNode());
    }
  struct Receive {
    EdgeValueOp value;
    double begin;
  };
  SmallVector<Receive> receives;
  for (auto value : body.getOps<EdgeValueOp>()) {
    auto it = producers.find(
        {value.getEdge(), value.getDirection(), value.getMicrobatch()});
    if (it == producers.end())
      return value.emitOpError(
          "is a value that no program of the pipeline computes");
    bool isWork = getScheduleOp(it->second).has_value();
    receives.push_back({value, isWork
                                   ? getPredicted(it->second).first
                                   : std::numeric_limits<double>::infinity()});
  }
  llvm::stable_sort(receives, [](const Receive &a, const Receive &b) {
    return a.begin < b.begin;
  });
  size_t next = 0;
  for (auto [value, begin] : receives) {
    while (next != ends.size() && ends[next] <= begin)
      ++next;
    Operation *anchor = anchors[next];
    OpBuilder builder(program.getContext());
    if (anchor && anchor->isBeforeInBlock(value))
      builder.setInsertionPoint(anchor);
    else
      builder.setInsertionPoint(value);
    auto type =
        HandleType::get(builder.getContext(), value.getValue().getType());
    Value handle =
        RecvOp::create(builder, value.getLoc(), type, value.getEdge(),
                       value.getDirection(), value.getMicrobatch());
    // Behind the value, which may be where further receives are posted: they
    // must not stand behind a wait.
    builder.setInsertionPointAfter(value);
    Value waited = WaitOp::create(builder, value.getLoc(),
                                  value.getValue().getType(), handle);
    value.getValue().replaceAllUsesWith(waited);
  }
  for (auto [value, begin] : receives)
    value.erase();
  return success();
}

LogicalResult CommunicationInserter::run() {
  for (ProgramOp program : programs)
    for (auto value : program.getBody().front().getOps<EdgeValueOp>()) {
      Key key{value.getEdge(), value.getDirection(), value.getMicrobatch()};
      auto [it, inserted] = wanted.try_emplace(key, value);
      if (inserted)
        continue;
      InFlightDiagnostic diagnostic =
          value.emitOpError("stands twice; a value travels once");
      diagnostic.attachNote(it->second.getLoc()) << "the first one is here";
      return diagnostic;
    }
  for (ProgramOp program : programs)
    for (Operation &op : llvm::make_early_inc_range(program.getBody().front()))
      addSends(&op);
  for (ProgramOp program : programs)
    if (failed(replaceEdgeValues(program)))
      return failure();
  return success();
}

/// The gradients of an update are those of all chunks that have one, in order.
static LogicalResult verifyGradients(UpdateOp update,
                                     const PipelineTables &tables) {
  auto users = tables.getGradientUsers(update.getParam());
  auto isGradient = [&](Value value, std::pair<int64_t, unsigned> user) {
    if (auto sum = value.getDefiningOp<GradientOp>())
      return sum.getParam() == update.getParam() &&
             static_cast<int64_t>(sum.getChunk()) == user.first;
    auto message = value.getDefiningOp<EdgeValueOp>();
    return message && message.getDirection() == Direction::Gradient &&
           tables.edges.getIncoming(user.first, user.second) ==
               static_cast<int64_t>(message.getEdge());
  };
  if (users.size() == update.getGradients().size() &&
      llvm::all_of(llvm::zip(update.getGradients(), users), [&](auto pair) {
        return isGradient(std::get<0>(pair), std::get<1>(pair));
      }))
    return success();
  InFlightDiagnostic diagnostic =
      update.emitOpError() << "does not add up the gradients of parameter "
                           << update.getParam() << ", which are those of chunk";
  llvm::interleave(
      users, [&](auto user) { diagnostic << ' ' << user.first; },
      [&] { diagnostic << ','; });
  return diagnostic << " in this order, each once";
}

/// Programs update no parameter, or each that has gradients at its home.
static LogicalResult verifyUpdates(const PipelineTables &tables,
                                   ArrayRef<ProgramOp> programs) {
  llvm::DenseMap<uint64_t, UpdateOp> updates;
  for (ProgramOp program : programs)
    for (auto update : program.getBody().getOps<UpdateOp>()) {
      std::optional<int64_t> home = tables.getHome(update.getParam());
      if (home && static_cast<int64_t>(program.getStage()) != *home)
        return update.emitOpError()
               << "is on stage " << program.getStage() << ", but parameter "
               << update.getParam() << " is updated on stage " << *home
               << ", where the first chunk is that uses it";
      if (failed(verifyGradients(update, tables)))
        return failure();
      updates[update.getParam()] = update;
    }
  if (updates.empty())
    return success();
  for (auto [number, param] : llvm::enumerate(tables.params)) {
    if (updates.contains(number) || tables.getGradientUsers(number).empty())
      continue;
    InFlightDiagnostic diagnostic = ParamOp(param).emitOpError()
                                    << "has gradients, but no program updates "
                                       "it, while others are updated";
    diagnostic.attachNote(updates.begin()->second.getLoc())
        << "another parameter is updated here";
    return diagnostic;
  }
  return success();
}

/// Programs may come from anywhere: that they are a schedule is what the
/// messages rely on.
LogicalResult
veeline::pipe::insertCommunication(PipelineOp pipeline,
                                   SymbolTableCollection &symbols) {
  SmallVector<ProgramOp> programs = getPrograms(pipeline);
  if (programs.empty())
    return success();
  PipelineTables tables(pipeline, symbols);
  if (!tables.valid || failed(verifyStages(pipeline, programs)) ||
      failed(verifyUpdates(tables, programs)))
    return failure();
  auto problem =
      buildProblem(pipeline, pipeline.getMicrobatches().value_or(1), symbols);
  if (failed(problem))
    return failure();
  schedule::Schedule order = readSchedule(pipeline, programs);
  if (auto status = schedule::verify(*problem, order); !status)
    return pipeline.emitOpError() << status.error().str();
  bool known = llvm::all_of(programs, [](ProgramOp program) {
    return llvm::all_of(program.getBody().front(), [](Operation &op) {
      return !getScheduleOp(&op) || isPredicted(&op);
    });
  });
  if (!known && failed(predict(pipeline, programs, *problem, order)))
    return failure();
  return CommunicationInserter(tables, programs).run();
}

namespace {
struct PipeInsertCommunication
    : veeline::pipe::impl::PipeInsertCommunicationBase<
          PipeInsertCommunication> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    for (auto pipeline : getOperation().getOps<PipelineOp>())
      if (failed(insertCommunication(pipeline, symbols)))
        return signalPassFailure();
  }
};
} // namespace
