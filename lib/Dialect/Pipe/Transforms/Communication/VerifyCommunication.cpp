//===- VerifyCommunication.cpp - --pipe-verify-communication --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinOps.h"
#include "veeline/Analysis/CostModel.h"
#include "veeline/Dialect/Pipe/IR/Edges.h"
#include "veeline/Dialect/Pipe/Transforms/Lengths.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/Step.h"
#include "veeline/Dialect/Pipe/Transforms/Steps.h"

#include <map>

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPEVERIFYCOMMUNICATION
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;
namespace comm = schedule::communication;

namespace {

/// Converts programs to those of the schedule library, and remembers the origin
/// of each operation.
class ProgramReader {
  /// The handle of norms. Other handles count from 0.
  static constexpr int normsHandle = 1 << 30;

public:
  /// With `validates`, also adds the waits of ranks for the norms of the last
  /// step.
  ProgramReader(PipelineOp pipeline, bool validates)
      : pipeline(pipeline), edges(pipeline), validates(validates) {
    int64_t stages = pipeline.getStages(), ranks = pipeline.getNumRanks();
    int64_t replicas = pipeline.getReplicas();
    read.ranks.resize(ranks * replicas);
    origins.resize(ranks * replicas);
    if (stages == ranks * replicas)
      return;
    // The first communicator has all ranks; each of the others has those of one
    // stage.
    read.communicators.resize(1 + stages);
    for (int64_t stage = 0; stage != stages; ++stage)
      for (int64_t i = 0; i != replicas; ++i)
        for (int64_t rank = pipeline.getFirstRank(stage);
             rank != pipeline.getFirstRank(stage + 1); ++rank)
          read.communicators[1 + stage].push_back(i * ranks + rank);
  }

  /// Adds the operations of the rank of `program` in a replica.
  void addProgram(ProgramOp program, int replica);
  /// The added programs, with a message for each part.
  comm::SplitProgram split() const;
  InFlightDiagnostic report(const comm::SplitProgram &split,
                            const comm::Error &error) const;

private:
  template <typename OpT>
  comm::Op getTransfer(OpT op, comm::OpKind kind, Type type);
  template <typename OpT>
  comm::Op getMessage(OpT op, comm::OpKind kind, Type type);
  void addPosted(const comm::Op &op, Operation *origin, Value handle) {
    add(op, origin);
    read.ranks[rank].back().handle = handles.size();
    handles[handle] = handles.size();
  }
  void addReady(Operation *work);
  void addWait(Value handle, Operation *origin) {
    addWait(handles.lookup(handle), origin);
  }
  void addWait(int handle, Operation *origin) {
    comm::Op waiting;
    waiting.kind = comm::OpKind::Wait;
    waiting.handle = handle;
    add(waiting, origin);
  }
  void addNorms(Operation *origin);
  void add(const comm::Op &op, Operation *origin) {
    read.ranks[rank].push_back(op);
    origins[rank].push_back(origin);
  }
  int getType(Type type);

  PipelineOp pipeline;
  EdgeTable edges;
  bool validates;
  comm::Program read;
  SmallVector<SmallVector<Operation *>> origins;
  /// The number of parts of messages, by edge and direction.
  std::map<std::pair<int, comm::Direction>, int> parts;
  llvm::DenseMap<Type, int> types;
  llvm::DenseMap<Value, int> handles;
  int rank = 0, replica = 0;
};

} // namespace

int ProgramReader::getType(Type type) {
  auto [it, isNew] = types.try_emplace(type, read.types.size());
  if (isNew) {
    std::string name;
    llvm::raw_string_ostream(name) << type;
    read.types.push_back({name, static_cast<int64_t>(getByteSize(type))});
  }
  return it->second;
}

template <typename OpT>
comm::Op ProgramReader::getTransfer(OpT op, comm::OpKind kind, Type type) {
  comm::Op transfer;
  transfer.kind = kind;
  transfer.type = getType(type);
  transfer.stream = op.getStream();
  transfer.communicator = op.getCommunicator();
  transfer.group = op.getGroup() ? static_cast<int>(*op.getGroup()) : -1;
  return transfer;
}

template <typename OpT>
comm::Op ProgramReader::getMessage(OpT op, comm::OpKind kind, Type type) {
  const Edge &edge = edges[op.getEdge()];
  bool isGradient = op.getDirection() == Direction::Gradient;
  comm::Direction direction = isGradient ? comm::Direction::Gradient
                              : op.getDirection() == Direction::Shape
                                  ? comm::Direction::Shape
                                  : comm::Direction::Activation;
  comm::Op message = getTransfer(op, kind, type);
  message.message = {static_cast<int>(op.getEdge()), direction,
                     static_cast<int>(op.getMicrobatch()), replica};
  parts[{message.message.edge, direction}] = op.getParts();
  bool toConsumer = (kind == comm::OpKind::Receive) == isGradient;
  message.peer = replica * pipeline.getNumRanks() +
                 pipeline.getRankOf(toConsumer ? edge.consumer : edge.producer,
                                    op.getMicrobatch());
  return message;
}

/// If a value is computed directly in the receiver's memory, the sender waits
/// for the receiver first.
void ProgramReader::addReady(Operation *work) {
  for (OpResult result : work->getResults()) {
    if (!isComputedAtReceiver(result))
      continue;
    auto send = cast<SendOp>(*result.getUsers().begin());
    comm::Op ready =
        getMessage(send, comm::OpKind::Ready, send.getValue().getType());
    add(ready, send);
  }
}

/// Adds the point at which the norms of the last step are known on this rank.
/// All ranks wait for the norms of all ranks, as for an all-reduce.
void ProgramReader::addNorms(Operation *origin) {
  comm::Op norms;
  norms.kind = comm::OpKind::AllReduce;
  norms.type = getType(getNormsType(pipeline));
  norms.reduction = comm::ReductionId::ofNorms();
  norms.handle = normsHandle;
  add(norms, origin);
}

/// The last update of the step before, or null.
static Operation *findLastLateUpdate(ProgramOp program) {
  Operation *last = nullptr;
  for (auto update : program.getBody().getOps<UpdateOp>())
    if (update.getLate())
      last = update;
  return last;
}

void ProgramReader::addProgram(ProgramOp program, int number) {
  replica = number;
  rank = replica * pipeline.getNumRanks() + pipeline.getRankOf(program);
  handles.clear();
  Operation *lastUpdate = findLastLateUpdate(program);
  if (validates && !lastUpdate)
    addNorms(program);
  for (Operation &op : program.getBody().front()) {
    if (auto send = dyn_cast<SendOp>(op)) {
      add(getMessage(send, comm::OpKind::Send, send.getValue().getType()), &op);
    } else if (auto recv = dyn_cast<RecvOp>(op)) {
      addPosted(getMessage(recv, comm::OpKind::Receive,
                           recv.getHandle().getType().getValue()),
                &op, recv.getHandle());
    } else if (auto sum = dyn_cast<AllReduceOp>(op)) {
      comm::Op reduce = getTransfer(sum, comm::OpKind::AllReduce,
                                    sum.getHandle().getType().getValue());
      reduce.reduction = {static_cast<int>(sum.getChunk()),
                          static_cast<int>(sum.getParam())};
      addPosted(reduce, &op, sum.getHandle());
    } else if (auto gather = dyn_cast<AllGatherOp>(op)) {
      comm::Op all = getTransfer(gather, comm::OpKind::AllReduce,
                                 gather.getHandle().getType().getValue());
      all.reduction = comm::ReductionId::ofShares(gather.getParam());
      addPosted(all, &op, gather.getHandle());
    } else if (auto wait = dyn_cast<WaitOp>(op)) {
      // A message that the turn before has received is complete, because that
      // turn waits at its end.
      if (!isa<BlockArgument>(wait.getHandle()))
        addWait(wait.getHandle(), &op);
    } else if (isa<CarryOp>(op)) {
      for (Value value : op.getOperands())
        if (isa<HandleType>(value.getType()))
          addWait(value, &op);
    } else if (validates && isa<ValidateOp>(op)) {
      addWait(normsHandle, &op);
    } else {
      addReady(&op);
      add(comm::Op(), &op);
    }
    if (validates && &op == lastUpdate)
      addNorms(&op);
  }
}

comm::SplitProgram ProgramReader::split() const {
  return comm::splitMessages(read, [&](const comm::Op &op) {
    return parts.at({op.message.edge, op.message.direction});
  });
}

InFlightDiagnostic ProgramReader::report(const comm::SplitProgram &split,
                                         const comm::Error &error) const {
  auto getOrigin = [&](comm::Position at) {
    return origins[at.rank][split.origins[at.rank][at.op]];
  };
  InFlightDiagnostic diagnostic =
      getOrigin(error.at)->emitOpError(error.message);
  for (const comm::Error::Note &note : error.notes) {
    const comm::Op &op = split.program.ranks[note.at.rank][note.at.op];
    diagnostic.attachNote(getOrigin(note.at)->getLoc())
        << "rank " << note.at.rank << ": " << describe(op) << ' ' << note.text;
  }
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

namespace {
/// The common properties of a send and a receive.
struct MessageEnd {
  Operation *op = nullptr;
  bool isSend = false;
  uint64_t edge = 0, microbatch = 0, parts = 1;
  Direction direction = Direction::Activation;
};
} // namespace

template <typename OpT> static MessageEnd getEnd(OpT op) {
  return {op,
          isa<SendOp>(op.getOperation()),
          op.getEdge(),
          op.getMicrobatch(),
          op.getParts(),
          op.getDirection()};
}

/// Calls `visit` with each send and receive until it fails.
static LogicalResult
forEachEnd(PipelineOp pipeline,
           llvm::function_ref<LogicalResult(const MessageEnd &)> visit) {
  for (ProgramOp program : getPrograms(pipeline))
    for (Operation &op : program.getBody().front()) {
      LogicalResult result = success();
      if (auto send = dyn_cast<SendOp>(op))
        result = visit(getEnd(send));
      else if (auto recv = dyn_cast<RecvOp>(op))
        result = visit(getEnd(recv));
      if (failed(result))
        return failure();
    }
  return success();
}

static std::string countParts(uint64_t parts) {
  return std::to_string(parts) + (parts == 1 ? " part" : " parts");
}

/// Reports that `end` and `first`, which have the same edge and direction, have
/// different numbers of parts.
static LogicalResult reportParts(PipelineOp pipeline, const MessageEnd &end,
                                 const MessageEnd &first) {
  MessageEnd other;
  (void)forEachEnd(pipeline, [&](const MessageEnd &candidate) {
    if (candidate.isSend != end.isSend && candidate.edge == end.edge &&
        candidate.direction == end.direction &&
        candidate.microbatch == end.microbatch && candidate.parts != end.parts)
      other = candidate;
    return success();
  });
  InFlightDiagnostic diagnostic = end.op->emitOpError()
                                  << "has " << countParts(end.parts);
  if (other.op) {
    diagnostic << ", but the other end of its message has "
               << countParts(other.parts);
    diagnostic.attachNote(other.op->getLoc()) << "the other end is here";
    return diagnostic;
  }
  diagnostic << ", but another message of its edge and direction has "
             << countParts(first.parts) << "; all of them have as many";
  diagnostic.attachNote(first.op->getLoc()) << "the other one is here";
  return diagnostic;
}

/// Checks that all messages of an edge and direction have the same number of
/// parts on both ends, and that the shortest message has an element for each
/// part.
static LogicalResult verifyParts(PipelineOp pipeline) {
  SymbolTableCollection symbols;
  FailureOr<SmallVector<PipelineOp>> versions = getVersions(pipeline, symbols);
  if (failed(versions))
    return failure();
  std::vector<EdgeTable> edges;
  for (PipelineOp version : *versions)
    edges.emplace_back(version);
  std::map<std::pair<uint64_t, Direction>, MessageEnd> firsts;
  return forEachEnd(pipeline, [&](const MessageEnd &end) -> LogicalResult {
    auto [first, isNew] = firsts.try_emplace({end.edge, end.direction}, end);
    if (first->second.parts != end.parts)
      return reportParts(pipeline, end, first->second);
    if (!isNew || end.direction == Direction::Shape)
      return success();
    for (const EdgeTable &table : edges) {
      int64_t elements = table[end.edge].type.getNumElements();
      if (elements < static_cast<int64_t>(end.parts))
        return end.op->emitOpError()
               << "has " << countParts(end.parts)
               << ", but its value may be as short as " << elements
               << (elements == 1 ? " element" : " elements");
    }
    return success();
  });
}

/// If lengths vary, checks that the shape of every value that a chunk receives
/// is sent before it. The library verifies their order.
static LogicalResult verifyShapes(PipelineOp pipeline, ProgramOp program) {
  EdgeTable edges(pipeline);
  DenseSet<std::pair<uint64_t, uint64_t>> shapes;
  for (auto recv : program.getBody().front().getOps<RecvOp>())
    if (recv.getDirection() == Direction::Shape)
      shapes.insert({recv.getEdge(), recv.getMicrobatch()});
  for (auto recv : program.getBody().front().getOps<RecvOp>())
    if (recv.getDirection() == Direction::Activation &&
        edges[recv.getEdge()].isValue() &&
        !shapes.contains({recv.getEdge(), recv.getMicrobatch()}))
      return recv.emitOpError()
             << "receives a value whose length varies, but nothing says its "
                "shape: there is no receive of edge("
             << recv.getEdge() << ") shape microbatch(" << recv.getMicrobatch()
             << ")";
  return success();
}

LogicalResult veeline::pipe::verifyCommunication(PipelineOp pipeline,
                                                 comm::Model model) {
  if (!getLengths(pipeline).empty())
    for (ProgramOp program : getPrograms(pipeline))
      if (failed(verifyShapes(pipeline, program)))
        return failure();
  if (failed(verifyParts(pipeline)))
    return failure();
  auto verify = [&](bool validates, comm::Model rules) -> LogicalResult {
    ProgramReader reader(pipeline, validates);
    int replicas = pipeline.getReplicas();
    for (int replica = 0; replica != replicas; ++replica)
      for (ProgramOp program : getPrograms(pipeline))
        reader.addProgram(program, replica);
    comm::SplitProgram split = reader.split();
    if (auto error = comm::verify(split.program, rules))
      return reader.report(split, *error);
    return success();
  };
  if (failed(verify(/*validates=*/false, model)))
    return failure();
  // Only ranks of a host validate updates, so MPI's rules apply. If no update
  // is late, the norms are known before the turn begins.
  bool isLate = llvm::any_of(getPrograms(pipeline), findLastLateUpdate);
  if (pipeline.getClipSync() != ClipSync::Optimistic || !isLate)
    return success();
  return verify(/*validates=*/true, comm::Model::Mpi);
}

namespace {
struct PipeVerifyCommunication
    : veeline::pipe::impl::PipeVerifyCommunicationBase<
          PipeVerifyCommunication> {
  using PipeVerifyCommunicationBase::PipeVerifyCommunicationBase;

  void runOnOperation() override {
    for (auto pipeline : getOperation().getOps<PipelineOp>())
      if (failed(verifyCommunication(pipeline, model)))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
