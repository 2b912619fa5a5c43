//===- AttentionDnn.h - attention of a rank, by cuDNN -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_ATTENTIONDNN_H
#define VEELINE_RUNTIME_CUDA_ATTENTIONDNN_H

#include "DnnGraph.h"
#include "Rank.h"

namespace veeline::cuda {

/// One attention, or its derivative, as a graph of cuDNN.
///
/// cuDNN 9.19 also has attention as one operation, but that supports neither
/// masks nor causal attention. So the graph has products, pointwise operations
/// and reductions, in exactly the pattern and order that cuDNN's fused engines
/// recognise.
class AttentionGraph {
public:
  AttentionGraph(const Cudnn &dnn, const artifact::Attention &attention);

  /// Plans the graph for `target`, with at most `maxWorkspace` bytes of
  /// workspace.
  Status plan(const DnnTarget &target, int64_t maxWorkspace);

  bool isThere() const { return static_cast<bool>(made.desc); }
  int64_t workspaceBytes() const { return made.workspaceBytes; }

  /// Issues the graph into the stream of `handle`.
  Status run(const Cudnn &dnn, api::DnnHandle handle,
             const AttentionOperands &operands, void *library);

private:
  using Sizes = DnnGraph::Sizes;
  using Tensor = DnnGraph::Tensor;

  Tensor addOperand(int64_t id, const Sizes &sizes, const Sizes &strides);
  Tensor addTransposed(int64_t id, const Sizes &sizes, Sizes strides);
  Tensor addRows(int64_t id);
  Tensor addMask();
  Tensor hideFuture(const Tensor &scores);
  Tensor addScores();
  Tensor addDelta(const Tensor &output, const Tensor &outputGrad);
  void buildForward();
  void buildBackward();
  void buildKeyGradient(int64_t id, const Tensor &transposed, const Tensor &of,
                        const Sizes &sizes, const Sizes &strides);
  void buildQueryGradient(const Tensor &scoreGrad);

  const artifact::Attention entry;
  DnnGraph graph;
  int type;
  Tensor query, key, scale;
  /// The identifiers of operands in memory, and of scalars.
  std::vector<int64_t> ids;
  DnnPlan made;
  /// The scalars of the graph.
  float scaleNumber, oneNumber, hiddenNumber;
};

/// A rank's table of attentions, with the plans that were made when it was
/// loaded.
class AttentionTable {
public:
  /// Prepares the table. The rank's device has to be current. Without cuDNN,
  /// `newContext` is null. An entry is missing without cuDNN, or if cuDNN
  /// cannot compute it with `libraryBytes` of workspace.
  Status prepare(DnnContext *newContext,
                 const std::vector<artifact::Attention> &attentions,
                 int64_t libraryBytes);

  size_t size() const { return entries.size(); }
  bool has(int32_t index) const { return entries[index] != nullptr; }
  size_t countMissing() const;

  /// `library` is the workspace that all library calls in `stream` share.
  Status run(int32_t index, const AttentionOperands &operands, void *library,
             api::Stream stream);

private:
  DnnContext *context = nullptr;
  /// Null if cuDNN cannot compute an entry.
  std::vector<std::unique_ptr<AttentionGraph>> entries;
};

/// The bytes of scratch memory that `attention` needs, besides the workspace of
/// cuDNN's engines.
int64_t attentionScratchBytes(const artifact::Attention &attention);

/// Whether this version of cuDNN is known to compute `attention` correctly.
bool isTrusted(size_t version, const artifact::Attention &attention);

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_ATTENTIONDNN_H
