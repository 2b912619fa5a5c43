//===- ScheduleProblem.cpp - pipelines as scheduling problems -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"

#include "mlir/IR/BuiltinOps.h"
#include "veeline/Analysis/CostModel.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/Dialect/Pipe/IR/Edges.h"
#include "veeline/Dialect/Pipe/IR/Frozen.h"
#include "veeline/Dialect/Pipe/Transforms/ChunkCosts.h"
#include "veeline/Schedule/Offload.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

/// The cost of a message in shared memory, about: waking a thread.
static constexpr double transferNanoseconds = 2000.0;

int64_t veeline::pipe::getNumPieces(ChunkOp chunk) {
  auto pieces = chunk->getAttrOfType<IntegerAttr>(piecesAttrName);
  return pieces ? pieces.getInt() : 1;
}

namespace {

/// The bytes that a chunk's backward functions take from earlier operations, by
/// role.
class KeptBytes {
public:
  void add(ChunkOp chunk, func::FuncOp func) {
    if (!func)
      return;
    FailureOr<ChunkSignature> signature = getChunkSignature(func);
    if (failed(signature))
      return;
    for (const ChunkValue &value : getCarried(chunk, signature->arguments))
      if (seen.insert({static_cast<int>(value.kind), value.index}).second)
        bytes[static_cast<int>(value.kind)] += getByteSize(value.type);
  }
  /// The bytes of all values except those of the kinds in `without`.
  int64_t total(ArrayRef<RoleKind> without) const {
    int64_t sum = 0;
    for (auto [kind, count] : llvm::enumerate(bytes))
      if (!llvm::is_contained(without, static_cast<RoleKind>(kind)))
        sum += count;
    return sum;
  }

private:
  llvm::SmallSet<std::pair<int, unsigned>, 16> seen;
  int64_t bytes[getMaxEnumValForRoleKind() + 1] = {};
};

} // namespace

/// The edge operands whose gradients the chunk's backward computes.
static SmallVector<unsigned>
getOperandGradients(ChunkOp chunk, SymbolTableCollection &symbols) {
  SmallVector<unsigned> operands;
  for (auto kind :
       {ChunkFunctionKind::Backward, ChunkFunctionKind::BackwardInput}) {
    func::FuncOp func = getFunction(symbols, chunk, kind);
    if (!func)
      continue;
    FailureOr<ChunkSignature> signature = getChunkSignature(func);
    if (failed(signature))
      return operands;
    for (const ChunkValue &value : signature->results)
      if (value.kind == RoleKind::OperandGrad)
        operands.push_back(value.index);
    return operands;
  }
  return operands;
}

schedule::Chunk veeline::pipe::describeChunk(ChunkOp chunk,
                                             SymbolTableCollection &symbols) {
  schedule::Chunk result;
  CostAttr cost = *chunk.getCost();
  result.forward = cost.getForward();
  result.backwardInput = cost.getBackwardInput();
  result.backwardWeight = cost.getBackwardWeight();
  result.backwardShared = cost.getBackwardShared();
  auto function = [&](ChunkFunctionKind kind) {
    return getFunction(symbols, chunk, kind);
  };
  KeptBytes afterForward, afterRecompute, afterInput;
  for (auto kind :
       {ChunkFunctionKind::Backward, ChunkFunctionKind::BackwardInput,
        ChunkFunctionKind::BackwardWeight}) {
    afterForward.add(chunk, function(kind));
    afterRecompute.add(chunk, function(kind));
  }
  afterForward.add(chunk, function(ChunkFunctionKind::Recomputation));
  afterInput.add(chunk, function(ChunkFunctionKind::BackwardWeight));
  // After F, gradients, saved values and recomputed values do not exist yet.
  int64_t kept = afterForward.total(
      {RoleKind::ResultGrad, RoleKind::Saved, RoleKind::Recomputed});
  int64_t whole = afterRecompute.total({RoleKind::ResultGrad, RoleKind::Saved});
  bool isSplit = chunk.getBackwardInput() || chunk.getBackwardWeight();
  int64_t left = isSplit ? afterInput.total({}) : whole;
  result.forwardMemory = kept;
  result.backwardInputMemory = left - whole;
  result.backwardWeightMemory = -left;
  if (chunk.getRecomputation()) {
    result.hasRecompute = true;
    result.recompute = cost.getRecomputation();
    result.recomputeMemory = whole - kept;
  }
  if (getOperandGradients(chunk, symbols).empty())
    return result.withoutBackwardInput();
  return result;
}

static schedule::PlacementKind getPlacementKind(Placement placement) {
  switch (placement) {
  case Placement::Linear:
    return schedule::PlacementKind::Linear;
  case Placement::Interleaved:
    return schedule::PlacementKind::Interleaved;
  case Placement::V:
    return schedule::PlacementKind::V;
  case Placement::Wave:
    return schedule::PlacementKind::Wave;
  }
  return schedule::PlacementKind::Linear;
}

static int64_t countRanks(PipelineOp pipeline) {
  std::optional<ArrayRef<int64_t>> widths = pipeline.getStageReplicas();
  int64_t ranks =
      widths ? std::accumulate(widths->begin(), widths->end(), int64_t(0))
             : pipeline.getStages();
  return ranks * pipeline.getReplicas();
}

/// The time of a message that was not measured. Ranks that share cores sleep
/// until it arrives. A machine's table has the time to wake up.
static double estimateTransfer(PipelineOp pipeline) {
  auto table = getMachineTable(pipeline);
  // setChunkCosts reports errors of the table.
  if (!table)
    llvm::consumeError(table.takeError());
  else if (*table && countRanks(pipeline) > (*table)->cores)
    return (*table)->wakeNanoseconds;
  return transferNanoseconds;
}

/// The times of messages: two for each edge.
static FailureOr<SmallVector<double>> getTransfers(PipelineOp pipeline,
                                                   int64_t numEdges) {
  Attribute attr = pipeline->getAttr(transfersAttrName);
  if (!attr)
    return SmallVector<double>(2 * numEdges, estimateTransfer(pipeline));
  auto times = dyn_cast<DenseF64ArrayAttr>(attr);
  if (times && times.size() == 2 * numEdges)
    return SmallVector<double>(times.asArrayRef());
  return pipeline.emitOpError()
         << "attribute '" << transfersAttrName
         << "' has to be an array of two times, of a message and of its "
            "gradient, for each of the "
         << numEdges << " edges, found " << attr;
}

double veeline::pipe::estimateAllReduce(PipelineOp pipeline, int64_t bytes,
                                        int64_t members) {
  auto measured = pipeline->getAttrOfType<DenseF64ArrayAttr>(allReduceAttrName);
  if (measured && measured.size() == 2 && measured[0] > 0)
    return measured[1] * bytes / measured[0];
  double message = estimateTransfer(pipeline);
  auto transfers =
      pipeline->getAttrOfType<DenseF64ArrayAttr>(transfersAttrName);
  if (transfers && !transfers.empty())
    message = std::accumulate(transfers.asArrayRef().begin(),
                              transfers.asArrayRef().end(), 0.0) /
              transfers.size();
  double others = 1.0 - 1.0 / members;
  return 2 * (message + others * bytes / Machine().bytesPerNs);
}

/// The sets of chunks that share a parameter and add up its gradients.
static std::vector<std::vector<int>> getTied(PipelineOp pipeline) {
  llvm::EquivalenceClasses<int> classes;
  for (ParamOp param : pipeline.getParams()) {
    if (isFrozen(param))
      continue;
    std::optional<int> first;
    for (auto [chunk, operand] : getChunkUses(param.getValue())) {
      if (!first)
        first = chunk;
      classes.unionSets(*first, static_cast<int>(chunk));
    }
  }
  std::vector<std::vector<int>> tied;
  for (const auto *leader : classes)
    if (leader->isLeader()) {
      auto members = classes.members(*leader);
      if (std::vector<int> set(members.begin(), members.end()); set.size() > 1)
        tied.push_back(std::move(set));
    }
  return tied;
}

FailureOr<schedule::Problem>
veeline::pipe::buildProblem(PipelineOp pipeline, int64_t microbatches,
                            SymbolTableCollection &symbols) {
  auto placement = schedule::Placement::get(
      getPlacementKind(pipeline.getPlacement()), pipeline.getStages(),
      pipeline.getChunksPerStage());
  if (!placement)
    return pipeline.emitOpError() << placement.error().str();
  setChunkCosts(pipeline, symbols);
  schedule::Problem problem{*placement, static_cast<int>(microbatches), {}, {}};
  if (std::optional<ArrayRef<int64_t>> widths = pipeline.getStageReplicas())
    problem.widths.assign(widths->begin(), widths->end());
  SmallVector<ChunkOp> chunks = pipeline.getChunks();
  for (ChunkOp chunk : chunks) {
    if (!chunk.getForward())
      return chunk.emitOpError(
          "has no forward function; run --pipe-differentiate first");
    problem.chunks.push_back(describeChunk(chunk, symbols));
  }
  EdgeTable table(pipeline);
  auto edges = llvm::make_filter_range(
      table.getEdges(), [](const Edge &edge) { return edge.isValue(); });
  auto transfers = getTransfers(pipeline, llvm::range_size(edges));
  if (failed(transfers))
    return failure();
  for (auto [number, edge] : llvm::enumerate(edges))
    problem.edges.push_back(
        {static_cast<int>(edge.producer), static_cast<int>(edge.consumer),
         (*transfers)[2 * number], (*transfers)[2 * number + 1],
         llvm::is_contained(getOperandGradients(chunks[edge.consumer], symbols),
                            edge.operand)});
  if (auto bandwidth = pipeline->getAttrOfType<FloatAttr>(offloadAttrName))
    schedule::setOffload(problem, 1 / bandwidth.getValueAsDouble(),
                         /*share=*/1);
  problem.tied = getTied(pipeline);
  if (std::optional<Asynchronous> kind = pipeline.getAsynchronous())
    problem.updates = *kind == Asynchronous::DoubleBuffered
                          ? schedule::UpdateSemantics::DoubleBuffered
                          : schedule::UpdateSemantics::WeightStashing;
  if (auto status = schedule::check(problem); !status)
    return pipeline.emitOpError() << status.error().str();
  return problem;
}

std::optional<schedule::Op> veeline::pipe::getScheduleOp(Operation *op) {
  auto make = [](schedule::OpKind kind, auto op) -> schedule::Op {
    return {kind, static_cast<int>(op.getChunk()),
            static_cast<int>(op.getMicrobatch()), isLate(op)};
  };
  return llvm::TypeSwitch<Operation *, std::optional<schedule::Op>>(op)
      .Case([&](ForwardOp op) { return make(schedule::OpKind::Forward, op); })
      .Case([&](BackwardOp op) { return make(schedule::OpKind::Backward, op); })
      .Case([&](BackwardInputOp op) {
        return make(schedule::OpKind::BackwardInput, op);
      })
      .Case([&](BackwardWeightOp op) {
        return make(schedule::OpKind::BackwardWeight, op);
      })
      .Case([&](RecomputationOp op) {
        return make(schedule::OpKind::Recompute, op);
      })
      .Default([](Operation *) { return std::nullopt; });
}

ChunkFunctionKind veeline::pipe::getFunctionKind(schedule::OpKind kind) {
  switch (kind) {
  case schedule::OpKind::Forward:
    return ChunkFunctionKind::Forward;
  case schedule::OpKind::Backward:
    return ChunkFunctionKind::Backward;
  case schedule::OpKind::BackwardInput:
    return ChunkFunctionKind::BackwardInput;
  case schedule::OpKind::BackwardWeight:
    return ChunkFunctionKind::BackwardWeight;
  case schedule::OpKind::Recompute:
    return ChunkFunctionKind::Recomputation;
  }
  return ChunkFunctionKind::Forward;
}

std::optional<ChunkFunctionKind> veeline::pipe::getFunctionKind(Operation *op) {
  if (std::optional<schedule::Op> work = getScheduleOp(op))
    return getFunctionKind(work->kind);
  return std::nullopt;
}

bool veeline::pipe::hasFunction(ChunkOp chunk, schedule::OpKind kind) {
  return getFunctionName(chunk, getFunctionKind(kind)) != nullptr;
}

/// Adds the backwards of `schedule::turnOf` for a chunk that has none.
static void addBackwardsOfTurn(std::vector<schedule::Op> &order, int chunk,
                               int late, int microbatches) {
  std::vector<schedule::Op> whole;
  for (const schedule::Op &op : order) {
    whole.push_back(op);
    int i = op.microbatch;
    if (op.chunk == chunk && op.kind == schedule::OpKind::Forward)
      whole.push_back({schedule::OpKind::Backward, chunk,
                       i < late ? microbatches - late + i : i - late,
                       i < late});
  }
  order = std::move(whole);
}

namespace {
/// Reads the offloads of a rank, op by op.
class OffloadReader {
public:
  /// `step` is the number of operations before the op.
  void read(Operation *op, int step) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](OffloadOp offload) {
          numbers[getKey(offload)] = offloads.size();
          offloads.push_back({static_cast<int>(offload.getChunk()),
                              static_cast<int>(offload.getMicrobatch()), step,
                              step});
        })
        .Case([&](ReleaseOp release) {
          offloads[numbers.lookup(getKey(release))].leaves = step;
        })
        .Case([&](ReloadOp reload) {
          offloads[numbers.lookup(getKey(reload))].returns = step;
        });
  }
  std::vector<schedule::Offload> offloads;

private:
  template <typename OpT> std::pair<uint64_t, uint64_t> getKey(OpT op) {
    return {op.getChunk(), op.getMicrobatch()};
  }
  llvm::DenseMap<std::pair<uint64_t, uint64_t>, size_t> numbers;
};
} // namespace

schedule::Schedule veeline::pipe::readSchedule(PipelineOp pipeline,
                                               ArrayRef<ProgramOp> programs) {
  SmallVector<ChunkOp> chunks = pipeline.getChunks();
  schedule::Schedule result;
  result.name = pipeline.getSchedule().value_or("").str();
  bool isSplit = false;
  for (ProgramOp program : programs) {
    auto &order = result.stages.emplace_back();
    OffloadReader offloads;
    for (Operation &op : program.getBody().front()) {
      std::optional<schedule::Op> found = getScheduleOp(&op);
      if (!found) {
        offloads.read(&op, static_cast<int>(order.size()));
        continue;
      }
      order.push_back(*found);
      isSplit |= found->kind == schedule::OpKind::BackwardInput ||
                 found->kind == schedule::OpKind::BackwardWeight;
      if (found->kind == schedule::OpKind::BackwardInput &&
          !chunks[found->chunk].getBackwardWeight())
        order.push_back({schedule::OpKind::BackwardWeight, found->chunk,
                         found->microbatch});
    }
    result.offloads.push_back(std::move(offloads.offloads));
  }
  if (llvm::all_of(result.offloads,
                   [](const auto &ofRank) { return ofRank.empty(); }))
    result.offloads.clear();
  for (ChunkOp chunk : chunks) {
    if (chunk.getBackward())
      continue;
    int index = chunk.getIndex(), m = pipeline.getMicrobatches().value_or(1);
    if (pipeline.getAsynchronous()) {
      int64_t stage = pipeline.getStageOf(index);
      addBackwardsOfTurn(result.stages[stage], index,
                         pipeline.getStages() - 1 - stage, m);
      continue;
    }
    for (int i = 0; i != m; ++i)
      result.stages[pipeline.getRankOf(index, i)].push_back(
          {isSplit ? schedule::OpKind::BackwardWeight
                   : schedule::OpKind::Backward,
           index, i});
  }
  return result;
}

SmallVector<ProgramOp> veeline::pipe::getPrograms(PipelineOp pipeline) {
  SmallVector<ProgramOp> programs;
  for (auto program : pipeline->getParentOfType<ModuleOp>().getOps<ProgramOp>())
    if (program.getPipeline() == pipeline.getSymName())
      programs.push_back(program);
  llvm::sort(programs, [](ProgramOp a, ProgramOp b) {
    return std::pair(a.getStage(), a.getReplica()) <
           std::pair(b.getStage(), b.getReplica());
  });
  return programs;
}
