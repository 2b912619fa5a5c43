//===- CudaConformanceTest.cpp - the cuda backend in the suite ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaBackend.h"

using namespace veeline;

namespace {
class CudaBackend final : public cts::Backend {
public:
  void adapt(artifact::Artifact &artifact) override {
    test::makeForGpu(artifact);
    test::addResults(artifact);
  }

  void addLibrary(artifact::Rank &rank) override { test::addLibrary(rank); }

  std::string reasonAgainst(const artifact::Gemm &gemm) override {
    Expected<cuda::GemmPlan> plan = cuda::planGemm(gemm);
    return plan.ok() ? "" : plan.message();
  }

  std::string reasonAgainst(const artifact::Convolution &convolution) override {
    auto plan = cuda::planConvolution(convolution);
    if (!plan)
      return "cuDNN copies no tensors of so many dimensions";
    return plan->scratchBytes > convolution.scratchBytes
               ? "operands are copied, and it has no scratch for that"
               : "";
  }

  std::vector<std::pair<artifact::DataType, artifact::ComputeType>>
  convolutionTypes() override {
    std::vector<std::pair<artifact::DataType, artifact::ComputeType>> types;
    for (const cuda::DnnTypes &row : cuda::allDnnTypes())
      types.emplace_back(row.type, row.compute);
    return types;
  }

  Expected<std::unique_ptr<Executor>>
  create(const artifact::Artifact &artifact,
         const std::vector<veeline_step_fn> &steps) override {
    cuda::CudaOptions options = test::standIns();
    options.steps = steps;
    Expected<std::unique_ptr<cuda::CudaExecutor>> created =
        cuda::CudaExecutor::create(artifact, artifact.metadata.programs[0],
                                   options);
    if (!created.ok())
      return created.status();
    return std::unique_ptr<Executor>(std::move(*created));
  }
};
} // namespace

cts::Backend &cts::backend() {
  static CudaBackend backend;
  return backend;
}
