//===- GemmF64.cpp - matrix products in f64 -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// oneDNN 2.6 has no f64. As f64 is only used to check numerics, this kernel is
// simple: panels of a and b are packed, and a tile of c is summed in registers.
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/Numbers.h"
#include "veeline/Base/Vectors.h"
#include "veeline/Library/Gemm.h"

using namespace veeline;
using namespace veeline::library;

static constexpr int64_t tileRows = 4;
static constexpr int64_t tileColumns = 8;

using Tile = double[tileRows][tileColumns];

/// Computes tile = a * b for panels with tileRows and tileColumns values for
/// each k. The sums are a local array, so that they stay in registers.
static VEELINE_KERNEL void multiplyPanels(const double *a, const double *b,
                                          int64_t k, Tile &tile) {
  Tile sums = {};
  for (int64_t p = 0; p < k; ++p, a += tileRows, b += tileColumns)
    for (int64_t i = 0; i < tileRows; ++i)
      for (int64_t j = 0; j < tileColumns; ++j)
        sums[i][j] += a[i] * b[j];
  for (int64_t i = 0; i < tileRows; ++i)
    for (int64_t j = 0; j < tileColumns; ++j)
      tile[i][j] = sums[i][j];
}

#define DEFINE_VARIANT(name, attribute)                                        \
  attribute static void name(const double *a, const double *b, int64_t k,      \
                             Tile &tile) {                                     \
    multiplyPanels(a, b, k, tile);                                             \
  }
DEFINE_VARIANT(multiplyBaseline, )
DEFINE_VARIANT(multiplyAvx2, VEELINE_VECTORS_256)
DEFINE_VARIANT(multiplyAvx512, VEELINE_VECTORS_512)
#undef DEFINE_VARIANT

using Multiply = void(const double *a, const double *b, int64_t k, Tile &tile);

static Multiply *widestMultiply() {
  int bits = widestVectorBits();
  return bits == 512   ? multiplyAvx512
         : bits == 256 ? multiplyAvx2
                       : multiplyBaseline;
}

/// Packs `lines` lines of a matrix into panels of `width`. Lines after the end
/// are zero.
static void packPanels(const double *source, int64_t lines, int64_t lineStride,
                       int64_t k, int64_t kStride, int64_t width,
                       double *target) {
  for (int64_t first = 0; first < lines; first += width)
    for (int64_t p = 0; p < k; ++p)
      for (int64_t i = first; i < first + width; ++i)
        *target++ = i < lines ? source[i * lineStride + p * kStride] : 0;
}

namespace {
class GemmF64 final : public PreparedCall {
public:
  explicit GemmF64(const artifact::Gemm &gemm)
      : gemm(gemm), aPanelElements(roundUp(gemm.m, tileRows) * gemm.k),
        bPanelElements(roundUp(gemm.n, tileColumns) * gemm.k) {}

  Status run(const void *a, const void *b, void *c, void *scratch) override {
    runBatch(0, static_cast<const double *>(a), static_cast<const double *>(b),
             static_cast<double *>(c), static_cast<double *>(scratch));
    return Status::success();
  }

  int64_t scratchBytes() const override {
    return (aPanelElements + bPanelElements) *
           static_cast<int64_t>(sizeof(double));
  }

  std::string implementation() const override { return "veeline:f64"; }

private:
  void runBatch(size_t dimension, const double *a, const double *b, double *c,
                double *scratch) const {
    if (dimension == gemm.batch.size())
      return runMatrix(a, b, c, scratch);
    for (int64_t i = 0; i < gemm.batch[dimension]; ++i)
      runBatch(dimension + 1, a + i * gemm.aStrides[dimension],
               b + i * gemm.bStrides[dimension],
               c + i * gemm.cStrides[dimension], scratch);
  }

  void runMatrix(const double *a, const double *b, double *c,
                 double *scratch) const {
    size_t d = gemm.batch.size();
    double *aPanels = scratch;
    double *bPanels = scratch + aPanelElements;
    packPanels(a, gemm.m, gemm.aStrides[d], gemm.k, gemm.aStrides[d + 1],
               tileRows, aPanels);
    packPanels(b, gemm.n, gemm.bStrides[d + 1], gemm.k, gemm.bStrides[d],
               tileColumns, bPanels);
    Tile tile;
    for (int64_t i = 0; i < gemm.m; i += tileRows)
      for (int64_t j = 0; j < gemm.n; j += tileColumns) {
        multiply(aPanels + i * gemm.k, bPanels + j * gemm.k, gemm.k, tile);
        storeTile(tile, i, j, c);
      }
  }

  void storeTile(const Tile &tile, int64_t row, int64_t column,
                 double *c) const {
    size_t d = gemm.batch.size();
    for (int64_t i = 0; i < tileRows && row + i < gemm.m; ++i)
      for (int64_t j = 0; j < tileColumns && column + j < gemm.n; ++j)
        c[(row + i) * gemm.cStrides[d] + (column + j) * gemm.cStrides[d + 1]] =
            tile[i][j];
  }

  const artifact::Gemm gemm;
  const int64_t aPanelElements, bPanelElements;
  Multiply *const multiply = widestMultiply();
};
} // namespace

std::unique_ptr<PreparedCall>
library::prepareGemmF64(const artifact::Gemm &gemm) {
  return std::make_unique<GemmF64>(gemm);
}
