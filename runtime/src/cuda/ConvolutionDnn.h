//===- ConvolutionDnn.h - convolutions of a rank, by cuDNN ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_CONVOLUTIONDNN_H
#define VEELINE_RUNTIME_CUDA_CONVOLUTIONDNN_H

#include "ConvolutionPlan.h"
#include "Cudnn.h"

#include <map>

namespace veeline::cuda {

/// A rank's table of convolutions, with the algorithms that were chosen when it
/// was loaded. For each entry, this is the first algorithm, in the order of
/// cuDNN's heuristics, whose results are the same in every run and that needs
/// no more memory than is planned.
class ConvolutionTable {
public:
  ConvolutionTable() = default;
  ConvolutionTable(const ConvolutionTable &) = delete;
  ConvolutionTable &operator=(const ConvolutionTable &) = delete;
  ~ConvolutionTable();

  /// Prepares the table. The device of `newStream` has to be current. Without
  /// cuDNN, `newContext` is null. An entry is missing without cuDNN, or if
  /// cuDNN cannot compute it with `libraryBytes` of workspace. Writes to
  /// `library`.
  Status prepare(const Driver &driver, DnnContext *newContext,
                 const std::vector<artifact::Convolution> &convolutions,
                 void *library, int64_t libraryBytes, api::Stream newStream);

  size_t size() const { return entries.size(); }
  bool has(int32_t index) const { return entries[index].isThere; }
  size_t countMissing() const;

  /// Issues a convolution. Operands are those of veeline_convolution. `scratch`
  /// is the entry's own. `library` is the workspace that all library calls of
  /// `newStream` share.
  Status run(int32_t index, const void *a, const void *b, void *c,
             void *scratch, void *library, api::Stream newStream);

private:
  /// A copy of an operand, in scratch memory.
  struct Copy {
    bool isUsed = false;
    DnnCopy plan;
    int64_t width = 0; ///< The bytes of an element.
    api::TensorDesc given = nullptr, copied = nullptr;
    /// Whether the copy is larger than the operand, and so is zeroed first.
    bool isZeroed = false;
  };
  struct Entry {
    artifact::ConvolutionKind kind = artifact::ConvolutionKind::forward;
    bool isThere = false;
    api::TensorDesc x = nullptr, y = nullptr;
    api::FilterDesc w = nullptr;
    api::ConvolutionDesc desc = nullptr;
    Copy copyOfX, copyOfW;
    int algo = 0;
    size_t workspaceBytes = 0;
  };
  Status prepare(const artifact::Convolution &convolution, void *library,
                 int64_t libraryBytes, Entry &entry);
  Status tryCopy(int dataType, void *library, int64_t libraryBytes,
                 bool &works);
  Status canCopy(const DnnTypes &types, void *library, int64_t libraryBytes,
                 bool &works);
  DnnResult describe(const DnnConvolution &plan, Entry &entry);
  DnnResult makeTensor(const DnnTensor &tensor, int dataType,
                       api::TensorDesc &desc);
  DnnResult makeCopy(const std::optional<DnnCopy> &plan, const DnnTypes &types,
                     Copy &copy);
  Status choose(const Entry &entry, size_t limit, int &algo, size_t &bytes,
                bool &isFound);
  api::DnnStatus findAlgorithms(const Entry &entry, int *found,
                                api::ConvolutionAlgo *algos) const;
  api::DnnStatus measure(const Entry &entry, int algo, size_t *bytes) const;
  Status convolve(const Entry &entry, void *x, void *w, void *y,
                  void *workspace);
  static char *contentOf(const Copy &copy, char *place);
  Status fill(const Copy &copy, const void *given, char *place);
  Status transform(api::TensorDesc sourceDesc, const void *source,
                   api::TensorDesc targetDesc, void *target);

  const Driver *driver = nullptr;
  DnnContext *context = nullptr;
  const Cudnn *dnn = nullptr;
  api::DnnHandle handle = nullptr;
  api::Stream stream = nullptr;
  /// For each type, whether cuDNN copies its elements.
  std::map<int, bool> copies;
  std::vector<Entry> entries;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_CONVOLUTIONDNN_H
