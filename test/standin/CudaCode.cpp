//===- CudaCode.cpp - kernels of the CUDA driver, without a GPU -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaCall.h"

#include <algorithm>
#include <cstring>

using namespace veeline;
using namespace veeline::standin;
namespace api = veeline::cuda::api;

static constexpr int invalidImage = 200, invalidPtx = 218, notFound = 500;

/// Of the arguments of a kernel, on all chips.
static constexpr int32_t mostArgumentBytes = 4096;

extern "C" {

VEELINE_STANDIN int cuModuleLoadDataEx(api::Module *handle, const void *image,
                                       unsigned numOptions, int *options,
                                       void **values) {
  ENTER("cuModuleLoadDataEx");
  if (int code = engine.beginLoading(/*isOfLibrary=*/false))
    return code;
  // Fails as a compiler of PTX would.
  static constexpr char message[] = "line 1: no PTX";
  if (std::strncmp(static_cast<const char *>(image), "broken", 6) == 0) {
    for (unsigned i = 0; i < numOptions; ++i)
      if (options[i] == api::jitErrorLogBuffer)
        std::memcpy(values[i], message, sizeof(message));
    return invalidImage;
  }
  auto *module = new standin::Module(static_cast<const char *>(image));
  engine.modules.insert(module);
  engine.reservedBytes += module->bytes();
  *handle = reinterpret_cast<api::Module>(module);
  return api::success;
}

VEELINE_STANDIN int cuModuleUnload(api::Module handle) {
  ENTER("cuModuleUnload");
  auto *module = reinterpret_cast<standin::Module *>(handle);
  if (!engine.modules.erase(module))
    return invalidHandle;
  engine.reservedBytes -= module->bytes();
  delete module;
  return api::success;
}

VEELINE_STANDIN int cuModuleGetFunction(api::Function *handle,
                                        api::Module moduleHandle,
                                        const char *name) {
  ENTER("cuModuleGetFunction");
  if (int code = engine.beginLoading(/*isOfLibrary=*/false))
    return code;
  auto *module = reinterpret_cast<standin::Module *>(moduleHandle);
  if (!engine.modules.count(module))
    return invalidHandle;
  std::optional<Function> kernel = engine.findKernel(*module, name);
  if (!kernel)
    return notFound;
  // A driver says so when it compiles the PTX.
  if (kernel->numArguments * 8 > mostArgumentBytes)
    return invalidPtx;
  engine.reservedBytes -= module->bytes();
  Function &function = module->functions[name] = *kernel;
  engine.reservedBytes += module->bytes();
  *handle = reinterpret_cast<api::Function>(&function);
  return api::success;
}

VEELINE_STANDIN int cuFuncLoad(api::Function handle) {
  ENTER("cuFuncLoad");
  return engine.load(*reinterpret_cast<Function *>(handle));
}

/// What a block may have of a chip's shared memory (CUDA C++ Programming Guide,
/// "Compute Capabilities").
static int mostSharedBytes(int64_t chip) {
  if (chip == 80 || chip == 87)
    return 163 << 10;
  return chip >= 90 && chip < 120 ? 227 << 10 : 99 << 10;
}

/// Whether a chip has grids and blocks of these sizes, from the same table.
static bool isLaunchable(const std::array<int64_t, 3> &grid,
                         const std::array<int64_t, 3> &block) {
  static constexpr std::array<int64_t, 3> mostBlocks = {2147483647, 65535,
                                                        65535};
  static constexpr std::array<int64_t, 3> mostThreads = {1024, 1024, 64};
  for (size_t i = 0; i < 3; ++i)
    if (grid[i] < 1 || grid[i] > mostBlocks[i] || block[i] < 1 ||
        block[i] > mostThreads[i])
      return false;
  return block[0] * block[1] * block[2] <= 1024;
}

VEELINE_STANDIN int cuFuncSetAttribute(api::Function handle, int attribute,
                                       int value) {
  ENTER("cuFuncSetAttribute");
  if (int code = engine.beginLoading(/*isOfLibrary=*/false))
    return code;
  auto *function = reinterpret_cast<Function *>(handle);
  if (attribute != api::maxDynamicSharedBytes || value < 0 ||
      value > mostSharedBytes(engine.chip) - function->staticSharedBytes)
    return invalidValue;
  function->mostSharedBytes = function->staticSharedBytes + value;
  return api::success;
}

VEELINE_STANDIN int cuLaunchKernel(api::Function handle, unsigned gridX,
                                   unsigned gridY, unsigned gridZ,
                                   unsigned blockX, unsigned blockY,
                                   unsigned blockZ, unsigned sharedBytes,
                                   api::Stream streamHandle, void **parameters,
                                   void **) {
  ENTER("cuLaunchKernel");
  standin::Stream *stream = streamOf(engine, streamHandle);
  auto *function = reinterpret_cast<Function *>(handle);
  if (!stream)
    return invalidHandle;
  if (int code = engine.load(*function))
    return code;
  if (!isLaunchable({gridX, gridY, gridZ}, {blockX, blockY, blockZ}) ||
      int64_t(sharedBytes) + function->staticSharedBytes >
          function->mostSharedBytes)
    return invalidValue;
  std::vector<uint64_t> arguments;
  for (int32_t i = 0; i < function->numArguments; ++i) {
    uint64_t value;
    std::memcpy(&value, parameters[i], sizeof(value));
    // An address of the device becomes one that can be read.
    if (char *alias = engine.find(toHost(value), 0))
      value = reinterpret_cast<uint64_t>(alias);
    arguments.push_back(value);
  }
  auto run = [=, kernel = function->run, arguments = std::move(arguments)] {
    std::vector<const void *> places;
    for (const uint64_t &argument : arguments)
      places.push_back(&argument);
    const uint32_t grid[3] = {gridX, gridY, gridZ};
    const uint32_t block[3] = {blockX, blockY, blockZ};
    kernel(places.data(), grid, block, sharedBytes);
    return true;
  };
  Op op;
  op.shared = [&engine, name = function->name,
               run = std::move(run)]() -> Progress {
    if (engine.isEndless(name))
      return [&engine, name] { return engine.mayEnd(name); };
    return run;
  };
  engine.enqueue(stream, std::move(op));
  return api::success;
}

} // extern "C"
