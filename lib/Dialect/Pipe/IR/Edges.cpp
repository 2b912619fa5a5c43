//===- Edges.cpp - the edges between the chunks of a pipeline -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Dialect/Pipe/IR/Edges.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace veeline::pipe;

RankedTensorType veeline::pipe::getLengthType(MLIRContext *context) {
  return RankedTensorType::get({}, IntegerType::get(context, 64));
}

RankedTensorType veeline::pipe::getNormType(MLIRContext *context) {
  return RankedTensorType::get({}, Float64Type::get(context));
}

RankedTensorType veeline::pipe::getNormsType(PipelineOp pipeline) {
  return RankedTensorType::get(
      static_cast<int64_t>(pipeline.getParams().size()),
      Float64Type::get(pipeline.getContext()));
}

SmallVector<std::pair<int64_t, unsigned>>
veeline::pipe::getChunkUses(Value value) {
  SmallVector<std::pair<int64_t, unsigned>> uses;
  for (OpOperand &use : value.getUses())
    if (auto chunk = dyn_cast<ChunkOp>(use.getOwner()))
      uses.push_back({chunk.getIndex(), use.getOperandNumber()});
  llvm::sort(uses);
  return uses;
}

EdgeTable::EdgeTable(PipelineOp pipeline) {
  auto add = [&](Edge edge) {
    incoming[{edge.consumer, edge.operand}] = edges.size();
    if (edge.result)
      outgoing[{edge.producer, *edge.result}].push_back(edges.size());
    edges.push_back(edge);
  };
  for (ChunkOp chunk : pipeline.getChunks())
    for (OpResult result : chunk->getResults())
      for (auto [consumer, operand] : getChunkUses(result))
        add({static_cast<int64_t>(chunk.getIndex()), result.getResultNumber(),
             std::nullopt, consumer, operand,
             cast<RankedTensorType>(result.getType())});
  for (auto [number, param] : llvm::enumerate(pipeline.getParams())) {
    auto users = getChunkUses(param.getValue());
    for (auto [consumer, operand] : ArrayRef(users).drop_front(!users.empty()))
      add({users.front().first, std::nullopt, static_cast<unsigned>(number),
           consumer, operand,
           cast<RankedTensorType>(param.getValue().getType())});
  }
  addNorms(pipeline);
}

/// The first chunk of a stage stands for the stage.
void EdgeTable::addNorms(PipelineOp pipeline) {
  firstNorms = size();
  if (pipeline.getClipSync() != ClipSync::Barrier)
    return;
  SmallVector<int64_t> first(pipeline.getStages(), -1);
  for (int64_t chunk = pipeline.getNumChunks(); chunk-- > 0;)
    first[pipeline.getStageOf(chunk)] = chunk;
  RankedTensorType type = getNormsType(pipeline);
  for (size_t stage = 0; stage + 1 < first.size(); ++stage)
    edges.push_back({first[stage], std::nullopt, std::nullopt, first[stage + 1],
                     0, type, /*isNorms=*/true});
}

std::optional<int64_t> EdgeTable::getIncoming(int64_t consumer,
                                              unsigned operand) const {
  auto it = incoming.find({consumer, operand});
  if (it == incoming.end())
    return std::nullopt;
  return it->second;
}

ArrayRef<int64_t> EdgeTable::getOutgoing(int64_t producer,
                                         unsigned result) const {
  auto it = outgoing.find({producer, result});
  if (it == outgoing.end())
    return {};
  return it->second;
}
