//===- CudaBackend.h - programs for a GPU over the stand-ins ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_RUNTIME_CUDABACKEND_H
#define VEELINE_TEST_UNIT_RUNTIME_CUDABACKEND_H

#include "CudaExecutor.h"
#include "StandIn.h"
#include "Suite.h"

namespace veeline::test {

/// The stand-ins, found as the real libraries are.
inline cuda::CudaOptions standIns() {
  cuda::CudaOptions options;
  options.driver = VEELINE_STANDIN_CUDA;
  options.blasLt = VEELINE_STANDIN_CUBLASLT;
  options.nccl = VEELINE_STANDIN_NCCL;
  options.cudnn = VEELINE_STANDIN_CUDNN;
  return options;
}

/// Makes `artifact` one for a GPU; it keeps what it has of that.
inline void makeForGpu(artifact::Artifact &artifact) {
  artifact.metadata.target = "cuda";
  if (!artifact.metadata.device)
    artifact.metadata.device.emplace();
  if (artifact.metadata.device->ptx.empty())
    artifact.metadata.device->ptx = "sm_80";
  if (artifact.image.empty())
    artifact.image = "image";
}

/// Gives the rank a workspace for libraries, behind all else.
inline void addLibrary(artifact::Rank &rank) {
  rank.libraryOffset = (rank.arenaBytes + 255) / 256 * 256;
  rank.libraryBytes = 1024;
  rank.arenaBytes = rank.libraryOffset + rank.libraryBytes;
}

/// Adds a kernel that is a function of the host, with one argument for each of
/// `numArguments`; returns its number.
inline int32_t addKernel(cts::Fixture &fixture, const std::string &name,
                         standin::Kernel kernel, int32_t numArguments,
                         std::array<int32_t, 3> grid = {1, 1, 1},
                         std::array<int32_t, 3> block = {1, 1, 1}) {
  makeForGpu(fixture.whole());
  standin::addKernel(name, kernel, numArguments);
  auto &kernels = fixture.metadata().device->kernels;
  kernels.push_back({name, grid, block, 0, numArguments});
  return static_cast<int32_t>(kernels.size()) - 1;
}

/// Argument i of a kernel.
template <typename T> T argument(const void *const *params, int i) {
  T value;
  __builtin_memcpy(&value, params[i], sizeof(value));
  return value;
}

/// The same, for a launch.
template <typename T> uint64_t toArgument(T value) {
  uint64_t place = 0;
  __builtin_memcpy(&place, &value, sizeof(value));
  return place;
}

/// Restores the order in which streams run.
class OrderGuard {
public:
  ~OrderGuard() { standin::setOrder("late"); }
};

} // namespace veeline::test

#endif // VEELINE_TEST_UNIT_RUNTIME_CUDABACKEND_H
