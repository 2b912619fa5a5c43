//===- ConvolutionDnn.h - convolutions of a rank, by cuDNN -----*- C++ -*-===//
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
/// was loaded: the first one in the order of cuDNN's heuristics whose results
/// are the same in every run and that needs no more memory than is planned.
class ConvolutionTable {
public:
  ConvolutionTable() = default;
  ConvolutionTable(const ConvolutionTable &) = delete;
  ConvolutionTable &operator=(const ConvolutionTable &) = delete;
  ~ConvolutionTable();

  /// The device, to which `newStream` belongs, is current. An entry is missing
  /// without cuDNN (a null `newContext`), and if cuDNN has nothing for it
  /// within `libraryBytes`. Writes to `library`.
  Status prepare(const Driver &driver, DnnContext *newContext,
                 const std::vector<artifact::Convolution> &convolutions,
                 void *library, int64_t libraryBytes, api::Stream newStream);

  size_t size() const { return entries.size(); }
  bool has(int32_t index) const { return entries[index].isThere; }
  size_t countMissing() const;

  /// Operands are those of veeline_convolution. `scratch` is the entry's own,
  /// `library` is shared by library calls of `newStream`, into which it is
  /// issued.
  Status run(int32_t index, const void *a, const void *b, void *c,
             void *scratch, void *library, api::Stream newStream);

private:
  /// A copy of an operand, in scratch.
  struct Copy {
    bool isUsed = false;
    DnnCopy plan;
    int64_t width = 0; ///< Bytes of an element.
    api::TensorDesc given = nullptr, copied = nullptr;
    bool isZeroed = false; ///< The copy is larger than what is copied.
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
  std::map<int, bool> copies; ///< Whether cuDNN copies elements of a type.
  std::vector<Entry> entries;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_CONVOLUTIONDNN_H
