//===- ProgramMetadata.cpp - the metadata of a program --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetadataTypes.h"
#include "RankMetadata.h"

#include "veeline/Analysis/CostModel.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/Dialect/Pipe/Transforms/ChunkCosts.h"
#include "veeline/Dialect/Pipe/Transforms/Lengths.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/Steps.h"
#include "veeline/prediction.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;
using namespace veeline::pipe;

static std::vector<artifact::Chunk> describeChunks(PipelineOp pipeline) {
  std::vector<artifact::Chunk> chunks;
  SymbolTableCollection symbols;
  for (ChunkOp chunk : pipeline.getChunks()) {
    artifact::Chunk entry;
    entry.name = chunk.getPrimal().str();
    entry.stage = pipeline.getStageOf(chunk.getIndex());
    if (std::optional<CostAttr> cost = chunk.getCost()) {
      entry.forwardCost = cost->getForward() / 1000.0;
      entry.backwardInputCost = cost->getBackwardInput() / 1000.0;
      entry.backwardWeightCost = cost->getBackwardWeight() / 1000.0;
      entry.backwardSharedCost = cost->getBackwardShared() / 1000.0;
    }
    CostScale scale = getCostScale(chunk);
    entry.forwardScale = scale[0];
    entry.backwardInputScale = scale[1];
    entry.backwardWeightScale = scale[2];
    std::array<int64_t, 4> repeated = getRepeatedCost(chunk);
    entry.forwardInInput = repeated[0] / 1000.0;
    entry.forwardInWeight = repeated[1] / 1000.0;
    entry.inputInWeight = repeated[2] / 1000.0;
    entry.forwardInFused = repeated[3] / 1000.0;
    entry.pieces = getNumPieces(chunk);
    func::FuncOp forward =
        getFunction(symbols, chunk, ChunkFunctionKind::Forward);
    FailureOr<ChunkSignature> signature =
        forward ? getChunkSignature(forward)
                : FailureOr<ChunkSignature>(failure());
    if (succeeded(signature))
      for (const ChunkValue &value : signature->results)
        if (value.kind == RoleKind::Residual)
          entry.residualBytes += getByteSize(value.type);
    chunks.push_back(std::move(entry));
  }
  return chunks;
}

/// Describes the problem that the schedule solves: the costs and memory of
/// chunks, and the edges between them.
static LogicalResult describeProblem(PipelineOp pipeline,
                                     const EdgeTable &edges,
                                     artifact::Program &program) {
  SymbolTableCollection symbols;
  FailureOr<schedule::Problem> problem =
      buildProblem(pipeline, pipeline.getMicrobatches().value_or(1), symbols);
  if (failed(problem))
    return failure();
  for (auto [chunk, entry] : llvm::zip_equal(problem->chunks, program.chunks)) {
    entry.hasBackwardInput = chunk.hasBackwardInput;
    entry.backwardInputCost = chunk.backwardInput / 1000.0;
    entry.backwardWeightCost = chunk.backwardWeight / 1000.0;
    entry.backwardSharedCost = chunk.backwardShared / 1000.0;
    entry.forwardMemory = chunk.forwardMemory;
    entry.backwardInputMemory = chunk.backwardInputMemory;
    entry.backwardWeightMemory = chunk.backwardWeightMemory;
    entry.hasRecomputation = chunk.hasRecompute;
    entry.recomputationCost = chunk.recompute / 1000.0;
    entry.recomputationMemory = chunk.recomputeMemory;
  }
  std::vector<int64_t> bytes;
  for (const Edge &edge : edges.getEdges())
    if (edge.isValue())
      bytes.push_back(getByteSize(edge.type));
  for (auto [edge, size] : llvm::zip_equal(problem->edges, bytes))
    program.edges.push_back(
        {edge.from, edge.to, size, edge.forwardTransfer / 1000.0,
         edge.backwardTransfer / 1000.0, edge.carriesGradient});
  return success();
}

static artifact::ChannelKind getKind(const Channel &channel, const Edge &edge) {
  using Kind = artifact::ChannelKind;
  bool isGradient = channel.direction == Direction::Gradient;
  if (channel.direction == Direction::Shape)
    return Kind::shape;
  if (edge.isNorms)
    return Kind::norms;
  if (edge.isParameter())
    return isGradient ? Kind::paramGradient : Kind::paramValue;
  return isGradient ? Kind::gradient : Kind::activation;
}

/// Describes a channel. `versions` are the edges of the pipeline's versions for
/// other lengths.
static FailureOr<artifact::Channel>
describeChannel(PipelineOp pipeline, const Channel &channel, const Edge &edge,
                ArrayRef<EdgeTable> versions, bool isOnDevice) {
  artifact::Channel entry;
  entry.kind = getKind(channel, edge);
  entry.edge = edge.isParameter() ? *edge.param : channel.edge;
  entry.fromRank = channel.fromRank;
  entry.toRank = channel.toRank;
  bool isShape = channel.direction == Direction::Shape;
  Type messageType = isShape ? getLengthType(pipeline.getContext()) : edge.type;
  entry.messageBytes = getByteSize(messageType);
  entry.messagesPerStep = channel.microbatches.size();
  entry.lateMessages = channel.lateMessages;
  entry.parts = channel.parts;
  if (isOnDevice) {
    entry.stream = channel.sendStream;
    if (channel.receiveStream != channel.sendStream)
      entry.receiveStream = channel.receiveStream;
    entry.communicator = channel.communicator;
  }
  if (!isShape && edge.isValue())
    for (const EdgeTable &version : versions)
      entry.lengthShapes.push_back(getShape(version[channel.edge].type));
  if (!entry.lengthShapes.empty())
    entry.microbatches.assign(channel.microbatches.begin(),
                              channel.microbatches.end());
  FailureOr<artifact::DataType> type =
      getDataType(pipeline.getLoc(), messageType);
  if (failed(type))
    return failure();
  entry.type = *type;
  entry.shape = getShape(messageType);
  return entry;
}

/// Describes the channels of the pipeline, whose ranks have `programs`.
static LogicalResult describeChannels(PipelineOp pipeline,
                                      ArrayRef<ProgramOp> programs,
                                      const ChannelTable &channels,
                                      const EdgeTable &edges,
                                      artifact::Program &result) {
  SymbolTableCollection symbols;
  FailureOr<SmallVector<PipelineOp>> versions = getVersions(pipeline, symbols);
  if (failed(versions))
    return failure();
  std::vector<EdgeTable> versionEdges;
  for (PipelineOp version : *versions)
    versionEdges.emplace_back(version);
  bool isOnDevice = llvm::any_of(programs, [](ProgramOp program) {
    FailureOr<MemoryPlan> plan = MemoryPlan::get(program);
    return succeeded(plan) && plan->device;
  });
  for (const Channel &channel : channels.getChannels()) {
    auto entry = describeChannel(pipeline, channel, edges[channel.edge],
                                 versionEdges, isOnDevice);
    if (failed(entry))
      return failure();
    result.channels.push_back(std::move(*entry));
  }
  return success();
}

FailureOr<artifact::Program>
veeline::compiler::describeProgram(PipelineOp pipeline, StringRef name,
                                   int32_t firstObject,
                                   ConstantSections &constants) {
  artifact::Program result;
  result.name = name.str();
  result.schedule = pipeline.getSchedule().value_or("").str();
  result.stages = pipeline.getStages();
  result.chunksPerStage = pipeline.getChunksPerStage();
  result.replicas = pipeline.getReplicas();
  result.forwardOnly = isForwardOnly(pipeline);
  if (pipeline.getNcclSums())
    result.sums = Sums::nccl;
  if (std::optional<ArrayRef<int64_t>> widths = pipeline.getStageReplicas())
    result.stageReplicas.assign(widths->begin(), widths->end());
  if (std::optional<Asynchronous> kind = pipeline.getAsynchronous())
    result.asynchronous = *kind == Asynchronous::DoubleBuffered
                              ? artifact::Asynchronous::doubleBuffered
                              : artifact::Asynchronous::stashed;
  if (std::optional<ClipSync> sync = pipeline.getClipSync())
    result.clipSync = *sync == ClipSync::Barrier
                          ? artifact::ClipSync::barrier
                          : artifact::ClipSync::optimistic;
  result.chunks = describeChunks(pipeline);
  SmallVector<ProgramOp> programs = getPrograms(pipeline);
  ChannelTable channels(pipeline, programs);
  EdgeTable edges(pipeline);
  if (failed(describeProblem(pipeline, edges, result)) ||
      failed(describeChannels(pipeline, programs, channels, edges, result)))
    return failure();
  for (auto [i, program] : llvm::enumerate(programs)) {
    FailureOr<MemoryPlan> plan = MemoryPlan::get(program);
    if (failed(plan))
      return failure();
    auto rank = describeRank(pipeline, channels, program, *plan, constants,
                             firstObject + static_cast<int32_t>(i));
    if (failed(rank))
      return failure();
    result.ranks.push_back(std::move(*rank));
  }
  settleTimes(result);
  return result;
}
