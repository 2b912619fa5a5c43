//===- Gemm.h - matrix products of a rank -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIBRARY_GEMM_H
#define VEELINE_LIBRARY_GEMM_H

#include "veeline/Library/PreparedCall.h"

#include "veeline/artifact.h"

namespace veeline::library {

/// Prepares an f32 product by oneDNN. Operands with strides for which oneDNN
/// has no fast implementation are packed first.
Expected<std::unique_ptr<PreparedCall>>
prepareGemmF32(const artifact::Gemm &gemm);

/// Prepares an f64 product by our own kernel, since oneDNN does not support
/// f64. It sums over k in ascending order, without contraction.
std::unique_ptr<PreparedCall> prepareGemmF64(const artifact::Gemm &gemm);

Expected<std::unique_ptr<PreparedCall>> prepareGemm(const artifact::Gemm &gemm);

/// Fills a rank's table. Must be called on the thread that will run the calls;
/// uses one OpenMP thread.
Status prepareGemms(const std::vector<artifact::Gemm> &gemms, CallTable &table);

} // namespace veeline::library

#endif // VEELINE_LIBRARY_GEMM_H
