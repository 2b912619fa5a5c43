//===- Gemm.cpp - matrix products of a rank -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Library/Gemm.h"
#include "veeline/Library/OneThread.h"

#include "veeline/gemm.h"

using namespace veeline;
using namespace veeline::library;

Expected<std::unique_ptr<PreparedCall>>
library::prepareGemm(const artifact::Gemm &gemm) {
  if (gemm.type == artifact::DataType::f64)
    return prepareGemmF64(gemm);
  return prepareGemmF32(gemm);
}

Status library::prepareGemms(const std::vector<artifact::Gemm> &gemms,
                             CallTable &table) {
  for (const artifact::Gemm &gemm : gemms) {
    VEELINE_TRY_VALUE(std::unique_ptr<PreparedCall> prepared,
                      prepareGemm(gemm));
    table.add(std::move(prepared), gemm.scratchBytes);
  }
  return Status::success();
}

Expected<int64_t> veeline::gemmScratchBytes(const artifact::Gemm &gemm) {
  // The library's plan depends on the number of threads.
  OneThread oneThread;
  VEELINE_TRY_VALUE(std::unique_ptr<PreparedCall> prepared, prepareGemm(gemm));
  return prepared->scratchBytes();
}
