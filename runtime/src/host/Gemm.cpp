//===- Gemm.cpp - matrix products of a rank -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gemm.h"

#include "veeline/gemm.h"

#include <algorithm>
#include <omp.h>

using namespace veeline;
using namespace veeline::host;

Expected<std::unique_ptr<PreparedGemm>>
host::prepareGemm(const artifact::Gemm &gemm) {
  if (gemm.type == artifact::DataType::f64)
    return prepareGemmF64(gemm);
  return prepareGemmF32(gemm);
}

Status GemmTable::prepare(const std::vector<artifact::Gemm> &gemms) {
  int64_t extra = 0;
  for (const artifact::Gemm &gemm : gemms) {
    Expected<std::unique_ptr<PreparedGemm>> prepared = prepareGemm(gemm);
    if (!prepared.ok())
      return prepared.status();
    int64_t wanted = (*prepared)->scratchBytes();
    bool usesExtra = wanted > gemm.scratchBytes;
    if (usesExtra)
      extra = std::max(extra, wanted);
    entries.push_back({std::move(*prepared), usesExtra, 0});
  }
  extraScratch.resize(static_cast<size_t>(extra));
  return Status::success();
}

std::map<std::string, int64_t> GemmTable::runsByImplementation() const {
  std::map<std::string, int64_t> runs;
  for (const Entry &entry : entries)
    runs[entry.gemm->implementation()] += entry.runs;
  return runs;
}

Expected<int64_t> veeline::gemmScratchBytes(const artifact::Gemm &gemm) {
  // The library plans for the threads that it may use where it is asked.
  int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  Expected<std::unique_ptr<PreparedGemm>> prepared = prepareGemm(gemm);
  omp_set_num_threads(threads);
  if (!prepared.ok())
    return prepared.status();
  return (*prepared)->scratchBytes();
}
