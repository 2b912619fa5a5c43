//===- CudaBackend.h - programs for a GPU with stand-ins --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_RUNTIME_CUDABACKEND_H
#define VEELINE_TEST_UNIT_RUNTIME_CUDABACKEND_H

#include "CudaExecutor.h"
#include "Elements.h"
#include "StandIn.h"
#include "Suite.h"

#include <cmath>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>

namespace veeline::test {

/// Options with the stand-ins, which are found in the same way as the real
/// libraries.
inline cuda::CudaOptions standIns() {
  cuda::CudaOptions options;
  options.driver = VEELINE_STANDIN_CUDA;
  options.blasLt = VEELINE_STANDIN_CUBLASLT;
  options.nccl = VEELINE_STANDIN_NCCL;
  options.cudnn = VEELINE_STANDIN_CUDNN;
  return options;
}

/// Gives the rank memory of its own after everything else. Returns its place.
inline int64_t addMemory(artifact::Rank &rank, int64_t bytes) {
  int64_t offset = (rank.arenaBytes + 255) / 256 * 256;
  rank.arenaBytes = offset + bytes;
  return offset;
}

/// Turns `artifact` into one for a GPU. Keeps members for GPUs that it already
/// has.
inline void makeForGpu(artifact::Artifact &artifact) {
  artifact.metadata.target = "cuda";
  if (!artifact.metadata.device)
    artifact.metadata.device.emplace();
  if (artifact.metadata.device->ptx.empty())
    artifact.metadata.device->ptx = "sm_80";
  if (artifact.image.empty())
    artifact.image = "image";
}

/// Makes room for the results that the ranks of the first program report.
inline void addResults(artifact::Artifact &artifact) {
  auto bytes =
      static_cast<int64_t>(8 * artifact.metadata.results.size() *
                           static_cast<size_t>(artifact.metadata.microbatches));
  for (artifact::Rank &rank : artifact.metadata.programs[0].ranks)
    if (rank.resultsOffset < 0)
      rank.resultsOffset = addMemory(rank, bytes);
}

/// Runs a step with one input of one byte.
inline Status runStep(cuda::CudaExecutor &executor) {
  char input = 0;
  const void *inputs[] = {&input};
  StepResult result;
  VEELINE_TRY(executor.begin(inputs, {}));
  return executor.finish(result);
}

/// Loads the first program of `artifact`, runs three steps of it, and calls
/// `inspect` after each. Returns the first error, or an empty string.
inline std::string runThreeSteps(
    artifact::Artifact &artifact, const cuda::CudaOptions &options,
    std::string &remark, const std::function<void()> &inspect = [] {}) {
  Status valid = artifact::validate(artifact);
  if (!valid.ok())
    return "not valid: " + valid.message();
  auto created = cuda::CudaExecutor::create(
      artifact, artifact.metadata.programs[0], options);
  if (!created.ok())
    return created.message();
  remark = (*created)->remark();
  for (int step = 0; step < 3; ++step) {
    if (Status status = runStep(**created); !status.ok())
      return "step: " + status.message();
    inspect();
  }
  return "";
}

/// Gives the rank a workspace for libraries, after everything else.
inline void addLibrary(artifact::Rank &rank) {
  rank.libraryBytes = 1024;
  rank.libraryOffset = addMemory(rank, rank.libraryBytes);
}

/// Adds a kernel that is a function of the host, with `numArguments` arguments.
/// Returns its number.
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
  __builtin_memcpy(static_cast<void *>(&value), params[i], sizeof(T));
  return value;
}

/// `value` as an argument of a launch.
template <typename T> uint64_t toArgument(T value) {
  uint64_t place = 0;
  __builtin_memcpy(&place, static_cast<const void *>(&value), sizeof(T));
  return place;
}

/// The stand-ins' name of a type of floats.
inline standin::Element elementOf(artifact::DataType type) {
  switch (type) {
  case artifact::DataType::f64:
    return standin::Element::f64;
  case artifact::DataType::f32:
    return standin::Element::f32;
  case artifact::DataType::f16:
    return standin::Element::f16;
  case artifact::DataType::bf16:
    return standin::Element::bf16;
  default:
    return standin::Element::none;
  }
}

/// Restores the order in which streams run.
class OrderGuard {
public:
  ~OrderGuard() { standin::setOrder("late"); }
};

/// The orders "late" and "fifo", and `seeds` random ones.
inline std::vector<std::string> allOrders(int seeds) {
  std::vector<std::string> orders = {"late", "fifo"};
  for (int seed = 0; seed < seeds; ++seed)
    orders.push_back("random:" + std::to_string(seed));
  return orders;
}

//===----------------------------------------------------------------------===//
// Three replicas of one rank
//===----------------------------------------------------------------------===//

/// The number of elements of a sum over three ranks. They do not fill the
/// blocks of kernels.
inline constexpr int64_t numSummed = 2500;

/// Sums three contributions, with the arguments of the compiler's kernel:
/// result, contributions, count.
inline void addThree(const void *const *params, const uint32_t grid[3],
                     const uint32_t block[3]) {
  auto *result = argument<float *>(params, 0);
  auto count = argument<int64_t>(params, 4);
  EXPECT_EQ(int64_t(grid[0]), (count + 1023) / 1024);
  EXPECT_EQ(block[0], 256u);
  for (int64_t i = 0; i < count; ++i) {
    float sum = argument<const float *>(params, 1)[i];
    sum += argument<const float *>(params, 2)[i];
    sum += argument<const float *>(params, 3)[i];
    result[i] = sum;
  }
}

/// The contribution of replica r has 10^(4 - 4r) / (i + 3) at i, so that few
/// orders have the same sum.
inline float contribution(int32_t replica, int64_t i) {
  return std::pow(10.0f, static_cast<float>(4 - 4 * replica)) /
         static_cast<float>(i + 3);
}

/// A program of three replicas, which sum `reductions` by addThree.
inline artifact::Program
makeReplicas(cts::Fixture &fixture,
             std::vector<artifact::Reduction> reductions) {
  artifact::Program &program = fixture.program();
  program.stages = 1;
  program.replicas = 3;
  program.ranks.resize(1);
  int32_t kernel =
      addKernel(fixture, "add-three", addThree, 5, {1, 1, 1}, {256, 1, 1});
  for (artifact::Reduction &reduction : reductions)
    for (artifact::ReducedPiece &piece : reduction.pieces)
      piece.sumKernel = kernel;
  program.ranks[0].reductions = std::move(reductions);
  auto all = artifact::withAllReplicas(program, "stages-first");
  EXPECT_TRUE(all.ok()) << all.message();
  return *all;
}

/// A program with one reduction, of the accumulator with which the arena
/// begins.
inline artifact::Program makeReplicas(cts::Fixture &fixture, int32_t stream,
                                      int32_t communicator = 0) {
  return makeReplicas(fixture,
                      {{0,
                        {{artifact::DataType::f32, 0, numSummed, 49152, 4096}},
                        stream,
                        communicator}});
}

/// Writes a rank's contribution to the place from which steps copy it.
inline void writeContribution(Executor &executor, int32_t rank) {
  std::vector<float> numbers(numSummed);
  for (int64_t i = 0; i < numSummed; ++i)
    numbers[i] = contribution(rank, i);
  EXPECT_TRUE(executor.write(rank, 16384, numbers.data(), 4 * numSummed).ok());
}

inline void expectSums(Executor &executor, int32_t rank,
                       int64_t offset = 32768) {
  std::vector<float> numbers(numSummed), sums(numSummed);
  for (int64_t i = 0; i < numSummed; ++i)
    sums[i] = (contribution(0, i) + contribution(1, i)) + contribution(2, i);
  EXPECT_TRUE(executor.read(rank, offset, numbers.data(), 4 * numSummed).ok());
  EXPECT_EQ(numbers, sums) << "rank " << rank << " at " << offset;
}

//===----------------------------------------------------------------------===//
// Environment and errors
//===----------------------------------------------------------------------===//

/// Sets an environment variable for its own lifetime.
class Environment {
public:
  Environment(const char *name, const std::string &value) : name(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() { ::unsetenv(name); }

private:
  const char *name;
};

/// Expects `program` to end with an error that contains `expected`, and to
/// leave no resources behind.
template <typename Program>
void expectMessage(Program &program, const std::string &expected) {
  std::string message = program.run();
  EXPECT_NE(message.find(expected), std::string::npos)
      << "expected: " << expected << "\nfound:    " << message;
  EXPECT_EQ(standin::countLive(), 0) << "after: " << message;
}

/// A code that a library may return.
struct ErrorCode {
  const char *name;
  int code;
};

} // namespace veeline::test

#endif // VEELINE_TEST_UNIT_RUNTIME_CUDABACKEND_H
