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

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPEVERIFYCOMMUNICATION
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;
namespace comm = schedule::communication;

namespace {

/// Reads programs; remembers which op each operation stands for.
class ProgramReader {
public:
  explicit ProgramReader(PipelineOp pipeline)
      : pipeline(pipeline), edges(pipeline) {
    int64_t stages = pipeline.getStages(), ranks = pipeline.getNumRanks();
    int64_t replicas = pipeline.getReplicas();
    read.ranks.resize(ranks * replicas);
    origins.resize(ranks * replicas);
    if (stages == ranks * replicas)
      return;
    // The first communicator has all ranks, the others those of one stage.
    read.communicators.resize(1 + stages);
    for (int64_t stage = 0; stage != stages; ++stage)
      for (int64_t i = 0; i != replicas; ++i)
        for (int64_t rank = pipeline.getFirstRank(stage);
             rank != pipeline.getFirstRank(stage + 1); ++rank)
          read.communicators[1 + stage].push_back(i * ranks + rank);
  }

  /// What its rank in a replica issues.
  void addProgram(ProgramOp program, int replica);
  const comm::Program &getProgram() const { return read; }
  InFlightDiagnostic report(const comm::Error &error) const;

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
  void add(const comm::Op &op, Operation *origin) {
    read.ranks[rank].push_back(op);
    origins[rank].push_back(origin);
  }
  int getType(Type type);

  PipelineOp pipeline;
  EdgeTable edges;
  comm::Program read;
  SmallVector<SmallVector<Operation *>> origins;
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
  bool toConsumer = (kind == comm::OpKind::Receive) == isGradient;
  message.peer = replica * pipeline.getNumRanks() +
                 pipeline.getRankOf(toConsumer ? edge.consumer : edge.producer,
                                    op.getMicrobatch());
  return message;
}

/// What is computed straight into the receiver's memory waits for it first.
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

void ProgramReader::addProgram(ProgramOp program, int number) {
  replica = number;
  rank = replica * pipeline.getNumRanks() + pipeline.getRankOf(program);
  handles.clear();
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
    } else if (auto wait = dyn_cast<WaitOp>(op)) {
      comm::Op waiting;
      waiting.kind = comm::OpKind::Wait;
      waiting.handle = handles.lookup(wait.getHandle());
      add(waiting, &op);
    } else {
      addReady(&op);
      add(comm::Op(), &op);
    }
  }
}

InFlightDiagnostic ProgramReader::report(const comm::Error &error) const {
  InFlightDiagnostic diagnostic =
      origins[error.at.rank][error.at.op]->emitOpError(error.message);
  for (const comm::Error::Note &note : error.notes) {
    const comm::Op &op = read.ranks[note.at.rank][note.at.op];
    diagnostic.attachNote(origins[note.at.rank][note.at.op]->getLoc())
        << "rank " << note.at.rank << ": " << describe(op) << ' ' << note.text;
  }
  return diagnostic;
}

/// Where lengths vary, every value of a chunk that is received has its shape
/// sent ahead of it. In which order, the library verifies.
static LogicalResult verifyShapes(PipelineOp pipeline, ProgramOp program) {
  EdgeTable edges(pipeline);
  DenseSet<std::pair<uint64_t, uint64_t>> shapes;
  for (auto recv : program.getBody().front().getOps<RecvOp>())
    if (recv.getDirection() == Direction::Shape)
      shapes.insert({recv.getEdge(), recv.getMicrobatch()});
  for (auto recv : program.getBody().front().getOps<RecvOp>())
    if (recv.getDirection() == Direction::Activation &&
        !edges[recv.getEdge()].isParameter() &&
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
  ProgramReader reader(pipeline);
  int replicas = pipeline.getReplicas();
  for (int replica = 0; replica != replicas; ++replica)
    for (ProgramOp program : getPrograms(pipeline))
      reader.addProgram(program, replica);
  if (auto error = comm::verify(reader.getProgram(), model))
    return reader.report(*error);
  return success();
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
