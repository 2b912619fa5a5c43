//===- GemmLt.h - matrix products of a rank on a GPU ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_GEMMLT_H
#define VEELINE_RUNTIME_CUDA_GEMMLT_H

#include "Driver.h"

#include "veeline/artifact.h"

#include <span>
#include <vector>

namespace veeline::cuda {

/// One batched product in the form of cuBLASLt, and the loops that repeat it
/// for the other products of its entry. cuBLASLt's matrices are column-major,
/// so a matrix that is stored by rows is its transpose there. The result is a b
/// or, if it is stored by rows, (a b)^T = b^T a^T.
struct GemmPlan {
  struct Matrix {
    uint64_t rows = 0, columns = 0; ///< The sizes of the column-major form.
    int64_t leadingDimension = 0;
    int operation = api::operationN;
    int64_t batchStride = 0; ///< In elements.
  };
  Matrix first, second, result;
  bool isSwapped = false; ///< Whether `first` is b, and `second` a.
  int32_t batch = 1;
  /// A loop around the product: its extent, and the strides of a, b and c in
  /// elements.
  struct Loop {
    int64_t extent, a, b, c;
  };
  std::vector<Loop> loops;
};

/// The types of a product that cuBLASLt supports, as our names and as
/// cuBLASLt's.
struct ProductTypes {
  artifact::DataType type, cType;
  artifact::ComputeType compute;
  int operands, result; ///< cudaDataType_t
  int arithmetic;       ///< cublasComputeType_t
  int factors;          ///< The cudaDataType_t of alpha and beta.
};

/// All types that cuBLASLt supports.
std::span<const ProductTypes> allProductTypes();
/// The types of `gemm`, or null if cuBLASLt does not support such a product.
const ProductTypes *findProductTypes(const artifact::Gemm &gemm);

/// Plans a product. Fails if cuBLASLt does not support it, for example because
/// an operand has no unit stride.
Expected<GemmPlan> planGemm(const artifact::Gemm &gemm);

/// The operands of a product, on the device.
struct GemmOperands {
  const void *a, *b;
  void *c;
  const void *bias = nullptr;
  void *aux = nullptr; ///< A matrix like c that the epilogue writes or reads.
  void *scratch = nullptr; ///< The entry's own scratch memory, or null.
};

/// A rank's table of matrix products, each with the algorithm that cuBLASLt
/// proposed when it was loaded.
class GemmTable {
public:
  GemmTable() = default;
  GemmTable(const GemmTable &) = delete;
  GemmTable &operator=(const GemmTable &) = delete;
  ~GemmTable();

  /// Prepares the table. `libraryBytes` is the size of the workspace for
  /// products without their own scratch memory. The rank's device has to be
  /// current.
  Status prepare(const BlasLt &blas, const std::vector<artifact::Gemm> &gemms,
                 int64_t libraryBytes);

  /// Issues a product. `library` is that workspace.
  Status run(int32_t index, const GemmOperands &operands, void *library,
             api::Stream stream);

  size_t size() const { return entries.size(); }
  /// False for a product with an epilogue for which cuBLASLt has no algorithm.
  bool has(int32_t index) const { return entries[index].isThere; }
  size_t countMissing() const;
  bool hasBias(int32_t index) const {
    return artifact::hasBias(entries[index].epilogue);
  }
  bool hasAux(int32_t index) const {
    return artifact::hasAux(entries[index].epilogue);
  }

private:
  struct Entry {
    GemmPlan plan;
    api::MatmulDesc desc = nullptr;
    api::MatrixLayout first = nullptr, second = nullptr, result = nullptr;
    api::MatmulAlgo algo = {};
    size_t workspaceBytes = 0;
    int64_t width = 0, resultWidth = 0; ///< The bytes of an element.
    const ProductTypes *types = nullptr;
    bool accumulates = false;
    bool isThere = true;
    artifact::Epilogue epilogue = artifact::Epilogue::none;
  };
  Status prepare(const artifact::Gemm &gemm, int64_t libraryBytes,
                 Entry &entry);
  Status describe(const artifact::Gemm &gemm, Entry &entry);
  Status describeEpilogue(const artifact::Gemm &gemm, Entry &entry);
  template <typename T>
  Status set(const Entry &entry, int attribute, const T &value);
  Status makeLayout(const GemmPlan::Matrix &matrix, int32_t batch, int type,
                    api::MatrixLayout &layout);
  Status choose(const artifact::Gemm &gemm, Entry &entry);
  Status runOne(const Entry &entry, const GemmOperands &operands,
                void *workspace, api::Stream stream);

  const BlasLt *blas = nullptr;
  api::BlasHandle handle = nullptr;
  std::vector<Entry> entries;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_GEMMLT_H
