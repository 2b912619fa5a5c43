//===- InsertCommunication.cpp - --pipe-insert-communication --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If receives are posted ahead, a sender computes directly into the receiver's
// memory. So before it starts to produce a value, it waits until the receive is
// posted. When is a receive posted? Take the first op of the receiving rank
// that, in the simulated schedule, is not over when the producer starts. The
// receive is posted before this op, and before this op waits for anything.
//
// There is no deadlock. Order all work ops by their simulated start. An op
// waits for earlier ops of its rank, for the producers of its inputs, and for
// receives. A receive is posted before some op of another rank. All ops of that
// rank before this op are over when the waiting op starts, and so started
// before it. So a cycle of waits would go back to ever earlier ops, or be a
// cycle in the schedule itself.
//
// If steps follow one another, order ops by step first: no op waits for an op
// of a later step. Late ops belong to the turn that runs them; other ops never
// wait for them.
//
// For all other strategies, the schedule library plans messages
// (Communication/Plan.h).
//
//===----------------------------------------------------------------------===//

#include "InsertGathers.h"
#include "InsertReductions.h"
#include "MessageTable.h"
#include "Schedule/PipelineTables.h"
#include "VerifyPrograms.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "veeline/Dialect/Pipe/Transforms/Lengths.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/ProgramBuilder.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/Step.h"
#include "veeline/Dialect/Pipe/Transforms/Steps.h"
#include "veeline/Schedule/Loop.h"

#include <limits>
#include <map>
#include <tuple>

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPEINSERTCOMMUNICATION
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

static bool isPredicted(Operation *op) {
  auto times = op->getAttrOfType<DenseF64ArrayAttr>(predictedAttrName);
  return times && times.size() == 2;
}

/// Simulates programs without predicted times, such as those written by hand.
static LogicalResult predict(PipelineOp pipeline, ArrayRef<ProgramOp> programs,
                             const schedule::Problem &problem,
                             const schedule::Schedule &order) {
  auto predicted = schedule::turnTimes(problem, order);
  if (!predicted)
    return pipeline.emitOpError() << predicted.error().str();
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
                 builder.getDenseF64ArrayAttr({predicted->start[stage][step],
                                               predicted->end[stage][step]}));
    }
  }
  return success();
}

namespace {

namespace comm = schedule::communication;

/// The stream of messages, which do not delay computations. If receives have
/// another stream, this is the one of sends. There is one communicator.
constexpr int asynchronousStream = comm::sendStream;
constexpr int communicator = 0;

comm::Direction toLibrary(Direction direction) {
  switch (direction) {
  case Direction::Activation:
    return comm::Direction::Activation;
  case Direction::Gradient:
    return comm::Direction::Gradient;
  case Direction::Shape:
    return comm::Direction::Shape;
  }
  llvm_unreachable("a direction that the library does not have");
}

} // namespace

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

/// The place where the length of a forward's microbatch is determined: before
/// the forward, and before the values that it gets from other stages.
static Operation *findLengthPlace(ForwardOp forward) {
  Operation *place = forward;
  for (Value operand : forward.getOperands())
    if (auto value = operand.getDefiningOp<EdgeValueOp>())
      if (value->isBeforeInBlock(place))
        place = value;
  return place;
}

/// Whether the chunk reads a batch argument with a dynamic length.
static bool readsLength(ChunkOp chunk) {
  return llvm::any_of(chunk.getOperands(), [](Value operand) {
    auto batch = operand.getDefiningOp<BatchOp>();
    return batch && getLengthDim(batch);
  });
}

/// Inserts a pipe.length before every forward of `program`. The lengths that
/// other stages send are further edge values.
static void addLengths(ProgramOp program, const PipelineTables &tables) {
  DenseSet<uint64_t> known;
  RankedTensorType type = getLengthType(program.getContext());
  for (auto forward :
       llvm::to_vector(program.getBody().front().getOps<ForwardOp>())) {
    ChunkOp chunk = tables.chunks[forward.getChunk()];
    OpBuilder builder(findLengthPlace(forward));
    SmallVector<Value> received;
    for (unsigned i = 0; i != chunk.getNumOperands(); ++i) {
      auto edge = tables.edges.getIncoming(forward.getChunk(), i);
      if (!edge || tables.edges[*edge].isParameter() ||
          PipelineOp(tables.pipeline)
                  .getStageOf(tables.edges[*edge].producer) ==
              static_cast<int64_t>(program.getStage()))
        continue;
      received.push_back(EdgeValueOp::create(builder, forward.getLoc(), type,
                                             *edge, Direction::Shape,
                                             forward.getMicrobatch()));
    }
    // If nothing has determined the length yet, the data does, even if the
    // chunk does not read any.
    bool isKnown = !known.insert(forward.getMicrobatch()).second;
    bool fromData = readsLength(chunk) || (!isKnown && received.empty());
    LengthOp::create(builder, forward.getLoc(), type, fromData,
                     forward.getChunk(), forward.getMicrobatch(), received);
  }
}

/// The op during which a value is produced. For a length, the forward before
/// whose results it is sent.
static Operation *getMaker(Operation *producer) {
  auto length = dyn_cast<LengthOp>(producer);
  if (!length)
    return producer;
  Operation *next = producer;
  while (!isa<ForwardOp>(next))
    next = next->getNextNode();
  return next;
}

//===----------------------------------------------------------------------===//
// Receives that are posted ahead
//===----------------------------------------------------------------------===//

/// Inserts sends directly after the ops that compute the values.
static void addSends(const MessageTable &messages) {
  Operation *last = nullptr, *producer = nullptr;
  for (const auto &[key, value] : messages.getProduced()) {
    auto [edge, direction, microbatch] = key;
    if (value.getDefiningOp() != producer)
      last = producer = value.getDefiningOp();
    OpBuilder builder(producer->getContext());
    builder.setInsertionPointAfter(last);
    last = SendOp::create(builder, value.getLoc(), value, edge, direction,
                          microbatch, asynchronousStream, communicator,
                          IntegerAttr(), /*copying=*/false, /*parts=*/1,
                          isLate(producer));
  }
}

/// The time at which the op begins that produces a value. For a gradient or an
/// update in time, that is the end of the step. For a late one, it is not
/// earlier than the work before it.
static double getBegin(Operation *producer) {
  if (!getScheduleOp(producer) && !isLate(producer))
    return std::numeric_limits<double>::infinity();
  while (producer && !getScheduleOp(producer))
    producer = producer->getPrevNode();
  return producer ? getPredicted(producer).first
                  : -std::numeric_limits<double>::infinity();
}

/// Whether only late ops of the next turn take the value, as one argument.
static bool isOnlyCarried(EdgeValueOp value) {
  return value->hasOneUse() && isa<CarryOp>(*value->getUsers().begin());
}

/// The argument of the next turn that has a value that is only carried.
static BlockArgument getArgument(EdgeValueOp value) {
  OpOperand &use = *value->use_begin();
  return value->getBlock()->getArgument(use.getOperandNumber());
}

/// For a value that is only carried: the last op that takes the value of the
/// turn before. After this op, its memory can be received into.
static Operation *findLastUseOfBefore(EdgeValueOp value) {
  Operation *last = nullptr;
  for (Operation *user : getArgument(value).getUsers())
    if (!last || last->isBeforeInBlock(user))
      last = user;
  return last;
}

/// Carries the handle instead of the value. The next turn waits just before the
/// first late op that takes the value; this turn does not wait.
static void carryHandle(EdgeValueOp value, Value handle) {
  BlockArgument argument = getArgument(value);
  Operation *first = nullptr;
  for (Operation *user : argument.getUsers())
    if (!first || user->isBeforeInBlock(first))
      first = user;
  Type type = argument.getType();
  argument.setType(handle.getType());
  OpBuilder builder(first);
  auto wait = WaitOp::create(builder, value.getLoc(), type, argument);
  argument.replaceAllUsesExcept(wait.getValue(), wait);
  value.getValue().replaceAllUsesWith(handle);
}

/// Posts the receives of one program, and waits where their values are used.
static LogicalResult postReceives(ProgramOp program,
                                  const MessageTable &messages,
                                  bool carriesHandles) {
  Block &body = program.getBody().front();
  // Entry i of `times`: the times of work op i. Entry i of `anchors`: the op
  // before which to post the receives that are due once i work ops are over. It
  // comes before all waits for inputs of the next work op.
  SmallVector<std::pair<double, double>> times;
  SmallVector<Operation *> anchors = {&body.front()};
  for (Operation &op : body)
    if (getScheduleOp(&op)) {
      times.push_back(getPredicted(&op));
      anchors.push_back(op.getNextNode());
    }
  // An op that takes no time and begins with the producer is not over.
  auto isOver = [&](size_t work, double begin) {
    return times[work].second <= begin && times[work].first < begin;
  };
  struct Receive {
    EdgeValueOp value;
    double begin;
  };
  SmallVector<Receive> receives;
  for (auto value : body.getOps<EdgeValueOp>()) {
    FailureOr<Value> produced = messages.getProduced(value);
    if (failed(produced))
      return failure();
    receives.push_back({value, getBegin(getMaker(produced->getDefiningOp()))});
  }
  llvm::stable_sort(receives, [](const Receive &a, const Receive &b) {
    return a.begin < b.begin;
  });
  size_t next = 0;
  for (auto [value, begin] : receives) {
    while (next != times.size() && isOver(next, begin))
      ++next;
    Operation *anchor = anchors[next];
    OpBuilder builder(program.getContext());
    if (anchor && anchor->isBeforeInBlock(value))
      builder.setInsertionPoint(anchor);
    else
      builder.setInsertionPoint(value);
    bool isCarried = carriesHandles && isOnlyCarried(value);
    Operation *lastUse = isCarried ? findLastUseOfBefore(value) : nullptr;
    if (lastUse && !lastUse->isBeforeInBlock(&*builder.getInsertionPoint()))
      builder.setInsertionPointAfter(lastUse);
    auto type =
        HandleType::get(builder.getContext(), value.getValue().getType());
    Value handle = RecvOp::create(
        builder, value.getLoc(), type, value.getEdge(), value.getDirection(),
        value.getMicrobatch(), asynchronousStream, communicator, IntegerAttr(),
        /*parts=*/1, value.getLate());
    if (isCarried) {
      carryHandle(value, handle);
      continue;
    }
    // The wait comes after the value, because further receives may be posted
    // before the value, and these must not come after a wait.
    builder.setInsertionPointAfter(value);
    Value waited = WaitOp::create(builder, value.getLoc(),
                                  value.getValue().getType(), handle);
    value.getValue().replaceAllUsesWith(waited);
  }
  for (auto [value, begin] : receives)
    value.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Messages that the schedule library plans
//===----------------------------------------------------------------------===//

namespace {

/// Lets the schedule library plan the messages of one pipeline. The steps of a
/// rank are all ops of its program except edge values.
class PlannedInserter {
public:
  PlannedInserter(PipelineOp pipeline, ArrayRef<ProgramOp> programs,
                  const MessageTable &table)
      : pipeline(pipeline), programs(programs), table(table) {}

  LogicalResult run(comm::Strategy strategy, comm::Model model);

private:
  /// The value of a message, and the op that stands for it where it is used.
  struct Message {
    Value value;
    EdgeValueOp use;
  };

  void collectSteps(ProgramOp program);
  int getFirstUse(EdgeValueOp use) const;
  LogicalResult collectMessages(int rank);
  void write(int rank, ArrayRef<comm::Op> ops);
  void writeMessage(OpBuilder &builder, const comm::Op &op);
  void writeWait(OpBuilder &builder, RecvOp recv);

  PipelineOp pipeline;
  ArrayRef<ProgramOp> programs;
  const MessageTable &table;
  comm::Traffic traffic;
  /// For each rank, its steps in order; and the number of each op.
  SmallVector<SmallVector<Operation *>> steps;
  llvm::DenseMap<Operation *, int> numbers;
  std::map<comm::MessageId, Message> messages;
  llvm::DenseMap<Type, int> types;
  /// The handles of the rank that is being written, by number.
  llvm::DenseMap<int, RecvOp> handles;
};

} // namespace

/// Collects the steps of a rank with their times. Ops that are not work take no
/// time: they come right after the work before them, or at the end of the step.
void PlannedInserter::collectSteps(ProgramOp program) {
  SmallVector<Operation *> &list = steps.emplace_back();
  auto &times = traffic.ranks.emplace_back();
  double now = 0;
  for (Operation &op : program.getBody().front()) {
    if (isa<EdgeValueOp>(op))
      continue;
    numbers[&op] = list.size();
    list.push_back(&op);
    auto [begin, end] =
        getScheduleOp(&op) ? getPredicted(&op) : std::pair(now, now);
    if (isa<GradientOp, SquaredNormOp, GatherNormsOp, ClipOp, UpdateOp,
            AllGatherOp, WaitOp, AssignOp>(op) &&
        !isLate(&op))
      begin = end = std::numeric_limits<double>::infinity();
    times.push_back({begin, end});
    now = end;
  }
}

/// The first step that uses a value. If there is none, the next step.
int PlannedInserter::getFirstUse(EdgeValueOp use) const {
  Operation *next = use;
  while (next && isa<EdgeValueOp>(next))
    next = next->getNextNode();
  int first = std::numeric_limits<int>::max();
  for (Operation *user : use->getUsers())
    first = std::min(first, numbers.lookup(user));
  if (!use->use_empty())
    return first;
  return next ? numbers.lookup(next) : numbers.size();
}

LogicalResult PlannedInserter::collectMessages(int rank) {
  ProgramOp program = programs[rank];
  for (auto use : program.getBody().front().getOps<EdgeValueOp>()) {
    FailureOr<Value> value = table.getProduced(use);
    if (failed(value))
      return failure();
    Operation *producer = value->getDefiningOp();
    Type type = value->getType();
    auto [it, isNew] = types.try_emplace(type, traffic.types.size());
    if (isNew) {
      std::string name;
      llvm::raw_string_ostream(name) << type;
      traffic.types.push_back({name, 0});
    }
    comm::MessageId id{static_cast<int>(use.getEdge()),
                       toLibrary(use.getDirection()),
                       static_cast<int>(use.getMicrobatch())};
    auto source = cast<ProgramOp>(producer->getParentOp());
    traffic.messages.push_back({id, it->second,
                                static_cast<int>(pipeline.getRankOf(source)),
                                rank, numbers[producer] + 1, getFirstUse(use)});
    messages[id] = {*value, use};
  }
  return success();
}

void PlannedInserter::writeWait(OpBuilder &builder, RecvOp recv) {
  EdgeValueOp use =
      messages
          .at({static_cast<int>(recv.getEdge()), toLibrary(recv.getDirection()),
               static_cast<int>(recv.getMicrobatch())})
          .use;
  Value waited = WaitOp::create(builder, use.getLoc(), use.getValue().getType(),
                                recv.getHandle());
  use.getValue().replaceAllUsesWith(waited);
}

void PlannedInserter::writeMessage(OpBuilder &builder, const comm::Op &op) {
  const Message &message = messages.at(op.message);
  EdgeValueOp use = message.use;
  IntegerAttr group =
      op.group >= 0 ? builder.getI64IntegerAttr(op.group) : IntegerAttr();
  if (op.kind == comm::OpKind::Send) {
    SendOp::create(builder, message.value.getLoc(), message.value,
                   use.getEdge(), use.getDirection(), use.getMicrobatch(),
                   op.stream, op.communicator, group, /*copying=*/true,
                   /*parts=*/1, isLate(message.value.getDefiningOp()));
    return;
  }
  auto type = HandleType::get(builder.getContext(), use.getValue().getType());
  auto recv =
      RecvOp::create(builder, use.getLoc(), type, use.getEdge(),
                     use.getDirection(), use.getMicrobatch(), op.stream,
                     op.communicator, group, /*parts=*/1, use.getLate());
  handles[op.handle] = recv;
}

void PlannedInserter::write(int rank, ArrayRef<comm::Op> ops) {
  Block &body = ProgramOp(programs[rank]).getBody().front();
  handles.clear();
  auto next = steps[rank].begin();
  for (const comm::Op &op : ops) {
    if (op.kind == comm::OpKind::Compute) {
      ++next;
      continue;
    }
    OpBuilder builder(pipeline.getContext());
    if (next == steps[rank].end())
      builder.setInsertionPointToEnd(&body);
    else
      builder.setInsertionPoint(*next);
    // A pipe.send has no handle, because it includes the wait.
    if (op.kind != comm::OpKind::Wait)
      writeMessage(builder, op);
    else if (RecvOp recv = handles.lookup(op.handle))
      writeWait(builder, recv);
  }
}

LogicalResult PlannedInserter::run(comm::Strategy strategy, comm::Model model) {
  traffic.freeCommunicator = 1 + static_cast<int>(pipeline.getStages());
  for (ProgramOp program : programs)
    collectSteps(program);
  for (size_t rank = 0; rank != programs.size(); ++rank)
    if (failed(collectMessages(rank)))
      return failure();
  auto program = comm::plan(traffic, strategy, model);
  if (!program)
    return pipeline.emitOpError() << program.error().str();
  for (size_t rank = 0; rank != programs.size(); ++rank)
    write(rank, program->ranks[rank]);
  for (auto &[id, message] : messages)
    message.use.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Values of the step before
//===----------------------------------------------------------------------===//

/// The last late op that takes an argument of `program`, or null.
static Operation *findLastUse(BlockArgument argument) {
  Operation *last = nullptr;
  for (Operation *user : argument.getUsers())
    if (!last || last->isBeforeInBlock(user))
      last = user;
  return last;
}

/// The op that begins to write the memory of `value`.
static Operation *findFirstWrite(Value value) {
  auto wait = value.getDefiningOp<WaitOp>();
  return wait ? wait.getHandle().getDefiningOp() : value.getDefiningOp();
}

/// Copies values whose memory is written again before a late op has taken them.
/// After that op, the copy replaces the one of the turn before.
static void keepCarried(ProgramOp program) {
  Block &body = program.getBody().front();
  if (body.getNumArguments() == 0)
    return;
  auto carry = cast<CarryOp>(body.back());
  /// For each value, the last late op that takes it.
  llvm::MapVector<Value, Operation *> lastUses;
  for (auto [argument, value] :
       llvm::zip_equal(body.getArguments(), carry.getValues())) {
    Operation *use = findLastUse(argument);
    Operation *&last = lastUses[value];
    if (use && (!last || last->isBeforeInBlock(use)))
      last = use;
  }
  for (auto [value, last] : lastUses) {
    // The receive is placed after the ops that take the value of the turn
    // before.
    if (isa<HandleType>(value.getType()))
      continue;
    if (!last || last->isBeforeInBlock(findFirstWrite(value)))
      continue;
    Operation *source = value.getDefiningOp();
    OpBuilder builder(program.getContext());
    builder.setInsertionPointAfter(last->isBeforeInBlock(source) ? source
                                                                 : last);
    Value copy = CopyOp::create(builder, source->getLoc(), value);
    carry->replaceUsesOfWith(value, copy);
  }
}

//===----------------------------------------------------------------------===//
// insertCommunication
//===----------------------------------------------------------------------===//

/// Messages rely on the programs being a schedule. Programs may come from
/// anywhere, so this is verified here.
LogicalResult
veeline::pipe::insertCommunication(PipelineOp pipeline, comm::Strategy strategy,
                                   comm::Model model,
                                   SymbolTableCollection &symbols) {
  SmallVector<ProgramOp> programs = getPrograms(pipeline);
  if (programs.empty())
    return success();
  PipelineTables tables(pipeline, symbols);
  if (!tables.valid || failed(verifyPrograms(tables, programs)))
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
  if (!getLengths(pipeline).empty())
    for (ProgramOp program : programs)
      addLengths(program, tables);
  bool isOverlap = strategy == comm::Strategy::Overlap;
  bool isAhead = isOverlap || strategy == comm::Strategy::Duplex;
  int stream = isAhead ? asynchronousStream : comm::computeStream;
  insertGathers(pipeline, programs, stream);
  MessageTable messages(tables, programs);
  if (failed(messages.collect()))
    return failure();
  if (!isOverlap || isNccl(model)) {
    if (failed(
            PlannedInserter(pipeline, programs, messages).run(strategy, model)))
      return failure();
  } else {
    addSends(messages);
    for (ProgramOp program : programs)
      if (failed(postReceives(program, messages,
                              pipeline.getAsynchronous().has_value())))
        return failure();
  }
  ChannelTable channels(pipeline, programs);
  for (ProgramOp program : programs) {
    waitInOrder(program, channels);
    keepCarried(program);
  }
  settleGathers(pipeline, programs, /*inNextTurn=*/isAhead);
  // If each direction has a stream of its own, sums are on that of sends. A
  // send already has its value. A receive may be late, and would delay the sums
  // and the computations that wait for them.
  insertReductions(pipeline, programs, stream,
                   /*blocks=*/!isOverlap || isNccl(model));
  predictReductions(pipeline, programs);
  return success();
}

namespace {
struct PipeInsertCommunication
    : veeline::pipe::impl::PipeInsertCommunicationBase<
          PipeInsertCommunication> {
  using PipeInsertCommunicationBase::PipeInsertCommunicationBase;

  void runOnOperation() override {
    int64_t parts = splitMessages;
    if (parts < 1 || parts > maxMessageParts) {
      getOperation().emitError()
          << "messages cannot be split into " << parts
          << " parts; split-messages takes a number from 1 to "
          << maxMessageParts;
      return signalPassFailure();
    }
    SymbolTableCollection symbols;
    for (auto pipeline : getOperation().getOps<PipelineOp>())
      if (failed(insertCommunication(pipeline, strategy, model, symbols)) ||
          failed(pipe::splitMessages(pipeline, parts, symbols)))
        return signalPassFailure();
  }
};
} // namespace
