//===- NewtonSchulz.cpp - the nearest orthogonal matrix, for Muon ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NewtonSchulz.h"

#include "veeline/Base/Optimizers.h"
#include "veeline/Library/Gemm.h"

#include <algorithm>
#include <cmath>

using namespace veeline;
using namespace veeline::host;

Expected<std::unique_ptr<NewtonSchulz>>
NewtonSchulz::create(artifact::DataType type, int64_t rows, int64_t columns) {
  auto result = std::make_unique<NewtonSchulz>();
  int64_t small = std::min(rows, columns), large = std::max(rows, columns);
  // A tall matrix is multiplied as its transpose.
  std::vector<int64_t> x = {columns, 1}, transposed = {1, columns};
  if (rows > columns)
    std::swap(x, transposed);
  std::vector<int64_t> symmetric = {small, 1};
  auto prepare = [&](int64_t n, int64_t k, const std::vector<int64_t> &a,
                     const std::vector<int64_t> &b,
                     const std::vector<int64_t> &c,
                     std::unique_ptr<library::PreparedCall> &call) {
    artifact::Gemm gemm;
    gemm.type = gemm.cType = type;
    gemm.compute = artifact::computeTypeOf(type);
    gemm.m = small;
    gemm.n = n;
    gemm.k = k;
    gemm.aStrides = a;
    gemm.bStrides = b;
    gemm.cStrides = c;
    VEELINE_TRY_VALUE(call, library::prepareGemm(gemm));
    auto bytes = static_cast<size_t>(call->scratchBytes());
    result->scratch.resize(std::max(result->scratch.size(), bytes));
    return Status::success();
  };
  result->type = type;
  result->small = small;
  result->numElements = rows * columns;
  VEELINE_TRY(prepare(small, large, x, transposed, symmetric, result->gram));
  VEELINE_TRY(
      prepare(small, small, symmetric, symmetric, symmetric, result->square));
  VEELINE_TRY(prepare(large, small, symmetric, x, x, result->apply));
  return result;
}

template <typename T>
Status NewtonSchulz::runTyped(T *x, double squares, T *workspace) {
  constexpr T a = T(newtonSchulzA), b = T(newtonSchulzB), c = T(newtonSchulzC);
  int64_t numSquare = small * small;
  T *gramOfX = workspace, *squared = gramOfX + numSquare;
  T *applied = squared + numSquare;
  auto scale = T(1 / (std::sqrt(squares) + 1e-7));
  for (int64_t i = 0; i < numElements; ++i)
    x[i] *= scale;
  for (int step = 0; step < newtonSchulzSteps; ++step) {
    VEELINE_TRY(multiply(*gram, x, x, gramOfX));
    VEELINE_TRY(multiply(*square, gramOfX, gramOfX, squared));
    for (int64_t i = 0; i < numSquare; ++i)
      gramOfX[i] = b * gramOfX[i] + c * squared[i];
    VEELINE_TRY(multiply(*apply, gramOfX, x, applied));
    for (int64_t i = 0; i < numElements; ++i)
      x[i] = a * x[i] + applied[i];
  }
  return Status::success();
}

Status NewtonSchulz::run(void *matrix, double squares, void *workspace) {
  if (numElements == 0)
    return Status::success();
  if (type == artifact::DataType::f64)
    return runTyped(static_cast<double *>(matrix), squares,
                    static_cast<double *>(workspace));
  return runTyped(static_cast<float *>(matrix), squares,
                  static_cast<float *>(workspace));
}
