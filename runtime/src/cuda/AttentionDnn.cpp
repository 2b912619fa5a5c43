//===- AttentionDnn.cpp - attention of a rank, by cuDNN -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionDnn.h"

#include "veeline/attention.h"

#include <algorithm>
#include <limits>

using namespace veeline;
using namespace veeline::cuda;
using artifact::Attention;
using artifact::AttentionKind;
using artifact::DataType;

/// The identifiers of the operands in a graph.
enum Id : int64_t {
  queryId = 1,
  keyId,
  valueId,
  maskId,
  outputId,
  lseId,
  outputGradId,
  queryGradId,
  keyGradId,
  valueGradId,
  deltaId,
  queryGradSumsId,
  scaleId,
  oneId,
  hiddenId
};

static AttentionScratch scratchOf(const Attention &attention) {
  return {attention.batch, attention.heads, attention.queries, attention.depth,
          attention.deterministic};
}

int64_t veeline::cuda::attentionScratchBytes(const Attention &attention) {
  return attention.kind == AttentionKind::backward
             ? scratchOf(attention).bytes()
             : 0;
}

static int toDnn(DataType type) {
  return type == DataType::f16    ? api::dnnHalf
         : type == DataType::bf16 ? api::dnnBfloat16
                                  : api::dnnFloat;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

AttentionGraph::AttentionGraph(const Cudnn &dnn, const Attention &attention)
    : entry(attention), graph(dnn), type(toDnn(attention.type)),
      scaleNumber(static_cast<float>(attention.scale)), oneNumber(1),
      hiddenNumber(-std::numeric_limits<float>::infinity()) {
  query = addOperand(queryId,
                     {entry.batch, entry.heads, entry.queries, entry.depth},
                     entry.queryStrides);
  key = addTransposed(keyId,
                      {entry.batch, entry.keyHeads, entry.depth, entry.keys},
                      entry.keyStrides);
  scale = graph.addNumber(scaleId);
  ids.push_back(scaleId);
  if (entry.kind == AttentionKind::forward)
    buildForward();
  else
    buildBackward();
}

/// Adds an operand whose rows are contiguous.
AttentionGraph::Tensor AttentionGraph::addOperand(int64_t id,
                                                  const Sizes &sizes,
                                                  const Sizes &strides) {
  Sizes all = strides;
  all.push_back(1);
  ids.push_back(id);
  return graph.addOperand(id, type, sizes, all);
}

/// Adds the transpose of such an operand: its rows are the columns of `sizes`.
AttentionGraph::Tensor
AttentionGraph::addTransposed(int64_t id, const Sizes &sizes, Sizes strides) {
  strides.insert(strides.begin() + 2, 1);
  ids.push_back(id);
  return graph.addOperand(id, type, sizes, strides);
}

/// Adds an operand with one f32 for each query, contiguous.
AttentionGraph::Tensor AttentionGraph::addRows(int64_t id) {
  ids.push_back(id);
  return graph.addOperand(id, api::dnnFloat,
                          {entry.batch, entry.heads, entry.queries, 1},
                          {entry.heads * entry.queries, entry.queries, 1, 1});
}

/// Adds the mask. It has size 1 in dimensions along which it does not vary.
AttentionGraph::Tensor AttentionGraph::addMask() {
  Sizes sizes = {entry.batch, entry.heads, entry.queries, entry.keys};
  Sizes strides = entry.maskStrides;
  strides.push_back(1);
  for (size_t i = 3; i-- > 0;)
    if (strides[i] == 0) {
      sizes[i] = 1;
      strides[i] = sizes[i + 1] * strides[i + 1];
    }
  ids.push_back(maskId);
  return graph.addOperand(maskId, toDnn(entry.maskType), sizes, strides);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

AttentionGraph::Tensor AttentionGraph::hideFuture(const Tensor &scores) {
  Tensor row = graph.index(scores, 2), column = graph.index(scores, 3);
  Tensor hidden = graph.addNumber(hiddenId);
  ids.push_back(hiddenId);
  return graph.select(scores, hidden, graph.isAtLeast(row, column));
}

/// Adds the scores with their scale and mask, before keys after the query are
/// hidden.
AttentionGraph::Tensor AttentionGraph::addScores() {
  Tensor scores =
      graph.multiply(graph.matmul(query, key, api::dnnFloat), scale);
  if (entry.maskStrides.empty())
    return scores;
  Tensor mask = addMask();
  return graph.pointwise(api::pointwiseAdd, scores, &mask);
}

void AttentionGraph::buildForward() {
  Sizes rows = {entry.batch, entry.heads, entry.queries, 1};
  Tensor scores = addScores();
  if (entry.causal)
    scores = hideFuture(scores);
  Tensor maximum = graph.reduce(api::reduceMax, scores, rows);
  Tensor shifted = graph.pointwise(api::pointwiseSub, scores, &maximum);
  Tensor powers = graph.pointwise(api::pointwiseExp, shifted);
  Tensor sum = graph.reduce(api::reduceAdd, powers, rows);
  Tensor logarithm = graph.pointwise(api::pointwiseLog, sum);
  graph.pointwiseTo(addRows(lseId), api::pointwiseAdd, maximum, &logarithm);
  Tensor weights = graph.pointwise(api::pointwiseDiv, powers, &sum, type);
  Tensor value = addOperand(
      valueId, {entry.batch, entry.keyHeads, entry.keys, entry.valueDepth},
      entry.valueStrides);
  Tensor output = addOperand(
      outputId, {entry.batch, entry.heads, entry.queries, entry.valueDepth},
      entry.outputStrides);
  graph.matmulTo(output, weights, value);
}

/// Adds the sum of products in each row. cuDNN's pattern has a factor here, for
/// dropout, so the sum is multiplied by 1. Without a factor, cuDNN matches the
/// graph with another pattern, whose workspace is three times as large.
AttentionGraph::Tensor AttentionGraph::addDelta(const Tensor &output,
                                                const Tensor &outputGrad) {
  Tensor sums = graph.reduce(api::reduceAdd, graph.multiply(outputGrad, output),
                             {entry.batch, entry.heads, entry.queries, 1});
  Tensor one = graph.addNumber(oneId);
  ids.push_back(oneId);
  Tensor delta = addRows(deltaId);
  graph.pointwiseTo(delta, api::pointwiseMul, sums, &one);
  return delta;
}

void AttentionGraph::buildBackward() {
  Sizes outputs = {entry.batch, entry.heads, entry.queries, entry.valueDepth};
  Tensor output = addOperand(outputId, outputs, entry.outputStrides);
  Tensor outputGrad =
      addOperand(outputGradId, outputs, entry.outputGradStrides);
  Tensor delta = addDelta(output, outputGrad);
  Tensor lse = addRows(lseId);
  Tensor scores = graph.pointwise(api::pointwiseSub, addScores(), &lse);
  if (entry.causal)
    scores = hideFuture(scores);
  Tensor weights = graph.pointwise(api::pointwiseExp, scores);
  buildKeyGradient(valueGradId, graph.transpose(weights, type), outputGrad,
                   {entry.batch, entry.keyHeads, entry.keys, entry.valueDepth},
                   entry.valueGradStrides);
  Tensor value = addTransposed(
      valueId, {entry.batch, entry.keyHeads, entry.valueDepth, entry.keys},
      entry.valueStrides);
  Tensor weightGrad = graph.matmul(outputGrad, value, api::dnnFloat);
  Tensor centred = graph.pointwise(api::pointwiseSub, weightGrad, &delta);
  Tensor scoreGrad = graph.multiply(graph.multiply(centred, weights), scale);
  buildKeyGradient(keyGradId, graph.transpose(scoreGrad, type), query,
                   {entry.batch, entry.keyHeads, entry.keys, entry.depth},
                   entry.keyGradStrides);
  buildQueryGradient(scoreGrad);
}

/// Adds `transposed` * `of`, summed over the heads that share keys.
void AttentionGraph::buildKeyGradient(int64_t id, const Tensor &transposed,
                                      const Tensor &of, const Sizes &sizes,
                                      const Sizes &strides) {
  Tensor result = addOperand(id, sizes, strides);
  if (entry.heads == entry.keyHeads)
    return graph.matmulTo(result, transposed, of);
  graph.reduceTo(result, api::reduceAdd, graph.matmul(transposed, of, type));
}

/// cuDNN's kernels give each block some of the keys. With scratch memory, the
/// blocks add to sums of f32 in an undefined order. Without it, they leave the
/// gradients of scores to another kernel, in workspace that grows with both
/// lengths. The notes of the engines do not tell which of them they do.
void AttentionGraph::buildQueryGradient(const Tensor &scoreGrad) {
  Sizes sizes = {entry.batch, entry.heads, entry.queries, entry.depth};
  Tensor keys = graph.transpose(key, type);
  Tensor result = addOperand(queryGradId, sizes, entry.queryGradStrides);
  if (entry.deterministic)
    return graph.matmulTo(result, scoreGrad, keys);
  int64_t head = entry.queries * entry.depth;
  Tensor sums = graph.addOperand(queryGradSumsId, api::dnnFloat, sizes,
                                 {entry.heads * head, head, entry.depth, 1});
  ids.push_back(queryGradSumsId);
  graph.matmulTo(sums, scoreGrad, keys);
  graph.pointwiseTo(result, api::pointwiseIdentity, sums);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Status AttentionGraph::plan(const DnnTarget &target, int64_t maxWorkspace) {
  return graph.plan(target, entry.deterministic, maxWorkspace, made);
}

Status AttentionGraph::run(const Cudnn &dnn, api::DnnHandle handle,
                           const AttentionOperands &operands, void *library) {
  char *scratch = static_cast<char *>(operands.scratch);
  char *sums = scratch ? scratch + scratchOf(entry).deltaBytes : nullptr;
  // In the order of Id.
  void *const all[] = {operands.query,
                       operands.key,
                       operands.value,
                       operands.mask,
                       operands.output,
                       operands.lse,
                       operands.outputGrad,
                       operands.queryGrad,
                       operands.keyGrad,
                       operands.valueGrad,
                       scratch,
                       sums,
                       &scaleNumber,
                       &oneNumber,
                       &hiddenNumber};
  static_assert(std::size(all) == hiddenId);
  std::vector<void *> places;
  places.reserve(ids.size());
  for (int64_t id : ids)
    places.push_back(all[id - queryId]);
  DnnDescriptor pack;
  VEELINE_TRY(dnn.check(pack.create(dnn, api::backend::variantPack)));
  VEELINE_TRY(dnn.check(pack.set(api::attribute::packIds, ids)));
  VEELINE_TRY(dnn.check(
      pack.set(api::attribute::packPointers, api::attribute_type::pointer,
               static_cast<int64_t>(places.size()), places.data())));
  VEELINE_TRY(dnn.check(pack.set(api::attribute::packWorkspace,
                                 api::attribute_type::pointer, 1, &library)));
  VEELINE_TRY(dnn.check(pack.finalize()));
  return VEELINE_CALL(dnn, cudnnBackendExecute, handle, made.desc.get(),
                      pack.get());
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// Versions before 9.10.2 do not support minus infinity in masks, or compute
/// wrong results (9.10.0, 9.10.1). Up to 9.15.0, derivatives need padding
/// unless the number of keys is a multiple of 128.
bool veeline::cuda::isTrusted(size_t version, const Attention &attention) {
  constexpr size_t least = 91002, lastWithPadding = 91500;
  bool isForward = attention.kind == AttentionKind::forward;
  return version >= least &&
         (isForward || version > lastWithPadding || attention.keys % 128 == 0);
}

Status AttentionTable::prepare(DnnContext *newContext,
                               const std::vector<Attention> &attentions,
                               int64_t libraryBytes) {
  context = newContext;
  entries.resize(attentions.size());
  if (!context)
    return Status::success();
  for (size_t i = 0; i < attentions.size(); ++i) {
    const Attention &attention = attentions[i];
    // Our artifacts have the scratch memory; those of another compiler may not.
    if (!isTrusted(context->dnn().version, attention) ||
        attention.scratchBytes < attentionScratchBytes(attention))
      continue;
    auto graph = std::make_unique<AttentionGraph>(context->dnn(), attention);
    if (Status status = graph->plan({context->get()}, libraryBytes);
        !status.ok())
      return refuse("attention " + std::to_string(i), status.message());
    if (graph->isThere())
      entries[i] = std::move(graph);
  }
  return Status::success();
}

size_t AttentionTable::countMissing() const {
  return static_cast<size_t>(
      std::count(entries.begin(), entries.end(), nullptr));
}

Status AttentionTable::run(int32_t index, const AttentionOperands &operands,
                           void *library, api::Stream stream) {
  VEELINE_TRY(context->setStream(stream));
  return entries[index]->run(context->dnn(), context->get(), operands, library);
}
