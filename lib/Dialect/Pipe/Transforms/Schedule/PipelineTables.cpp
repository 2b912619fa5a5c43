//===- PipelineTables.cpp - tables of a pipeline's programs ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PipelineTables.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

PipelineTables::PipelineTables(PipelineOp pipeline,
                               SymbolTableCollection &symbols)
    : pipeline(pipeline), edges(pipeline), chunks(pipeline.getChunks()),
      params(pipeline.getParams()), carried(chunks.size()) {
  for (auto [index, chunk] : llvm::enumerate(chunks))
    for (unsigned kind = 0; kind != numChunkFunctionKinds; ++kind)
      read(index, chunk, static_cast<ChunkFunctionKind>(kind), symbols);
}

void PipelineTables::read(size_t index, ChunkOp chunk, ChunkFunctionKind kind,
                          SymbolTableCollection &symbols) {
  func::FuncOp func = getFunction(symbols, chunk, kind);
  if (!func)
    return;
  FailureOr<ChunkSignature> signature = getChunkSignature(func);
  if (failed(signature)) {
    valid = false;
    return;
  }
  carried[index][static_cast<unsigned>(kind)] = {
      getCarried(chunk, signature->arguments),
      getCarried(chunk, signature->results)};
  for (const ChunkValue &value : signature->results)
    if (value.kind == RoleKind::ParamGrad)
      paramGradients.push_back({static_cast<int64_t>(index), value.index});
}

SmallVector<std::pair<int64_t, unsigned>>
PipelineTables::getGradientUsers(unsigned param) const {
  auto users = getChunkUses(ParamOp(params[param]).getValue());
  llvm::erase_if(users, [&](auto user) {
    return !hasParamGradient(user.first, user.second);
  });
  return users;
}

std::optional<int64_t> PipelineTables::getHome(unsigned param) const {
  auto users = getChunkUses(ParamOp(params[param]).getValue());
  if (users.empty())
    return std::nullopt;
  return PipelineOp(pipeline).getStageOf(users.front().first);
}
