//===- Gemm.h - matrix products of a rank ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIBRARY_GEMM_H
#define VEELINE_LIBRARY_GEMM_H

#include "veeline/Library/PreparedCall.h"

#include "veeline/artifact.h"

namespace veeline::library {

/// f32: oneDNN. Strides that it has no fast implementation for are packed
/// first.
Expected<std::unique_ptr<PreparedCall>>
prepareGemmF32(const artifact::Gemm &gemm);

/// f64, which oneDNN does not have: our own kernel. Sums over k in ascending
/// order, without contraction.
std::unique_ptr<PreparedCall> prepareGemmF64(const artifact::Gemm &gemm);

Expected<std::unique_ptr<PreparedCall>> prepareGemm(const artifact::Gemm &gemm);

/// Fills a rank's table, on the thread that will run it, with one OpenMP
/// thread.
Status prepareGemms(const std::vector<artifact::Gemm> &gemms, CallTable &table);

} // namespace veeline::library

#endif // VEELINE_LIBRARY_GEMM_H
