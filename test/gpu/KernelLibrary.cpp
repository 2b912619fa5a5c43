//===- KernelLibrary.cpp - kernels as functions of a CPU ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelLibrary.h"

#include "AccessCheck.h"
#include "Fiber.h"

#include <bit>
#include <dlfcn.h>

using namespace veeline::gpu;

//===----------------------------------------------------------------------===//
// Twins
//===----------------------------------------------------------------------===//

namespace {

/// A twin that runs on a fiber, which never goes on after a wrong access.
struct Run {
  // The stack is large: twins keep rows on it.
  Run() : fiber(size_t(1) << 26) {}

  const Kernel *kernel = nullptr;
  const void *const *params = nullptr;
  Fiber fiber;
  std::unique_ptr<AccessCheck> check;
  std::string error;
};

} // namespace

static thread_local Run *current = nullptr;

static void enterTwin(void *) {
  uint32_t none[3] = {1, 1, 1};
  current->kernel->twin(current->params, none, none);
  Fiber::leave();
}

VEELINE_ON_FIBER static void checkAccess(const void *address, int64_t bytes,
                                         int64_t alignment, int32_t isWrite) {
  if (!current->check || !bytes || current->fiber.holds(address))
    return;
  bool isGarbage = false;
  std::string wrong = current->check->access(
      address, bytes, alignment,
      isWrite ? Device::Access::write : Device::Access::read,
      Device::Space::global, 0, isGarbage);
  if (wrong.empty())
    return;
  current->error = "the twin " + wrong;
  Fiber::leave();
}

std::string veeline::gpu::runTwin(const Kernel &kernel,
                                  const void *const *params,
                                  const RunOptions &options) {
  Run run;
  run.kernel = &kernel;
  run.params = params;
  if (!options.ranges.empty())
    run.check = std::make_unique<AccessCheck>(/*findRaces=*/false);
  for (const BufferRange &range : options.ranges)
    run.check->add(range, Device::Space::global);
  current = &run;
  run.fiber.start(enterTwin, nullptr);
  run.fiber.enter();
  current = nullptr;
  return run.error;
}

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

std::unique_ptr<KernelLibrary> KernelLibrary::open(const std::string &path,
                                                   std::string &message) {
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    message = dlerror();
    return nullptr;
  }
  std::unique_ptr<KernelLibrary> library(new KernelLibrary(handle));
  auto *function = static_cast<AccessFn *>(dlsym(handle, "veeline_gpu_access"));
  if (!function) {
    message = path + ": no library of kernels: veeline_gpu_access is missing";
    return nullptr;
  }
  *function = checkAccess;
  return library;
}

KernelLibrary::~KernelLibrary() { dlclose(handle); }

/// Flags of a parameter in NAME.info.
static constexpr int64_t bufferFlag = 1, readFlag = 2, writtenFlag = 4;

static int64_t flagsOf(const KernelParam &param) {
  return (param.isBuffer ? bufferFlag : 0) | (param.isRead ? readFlag : 0) |
         (param.isWritten ? writtenFlag : 0);
}

std::vector<int64_t> veeline::gpu::writeInfo(const KernelInfo &info) {
  std::vector<int64_t> words = {info.blockSize, info.grid[0],
                                info.grid[1],   info.grid[2],
                                info.numParams, info.sharedBytes};
  auto add = [&](std::initializer_list<int64_t> more) {
    words.insert(words.end(), more);
  };
  for (const KernelParam &param : info.params)
    add({param.kind ? static_cast<int64_t>(*param.kind) : -1, param.count,
         flagsOf(param), std::bit_cast<int64_t>(param.shift),
         std::bit_cast<int64_t>(param.positiveShift)});
  add({info.addsFloats, info.numAdded, std::bit_cast<int64_t>(info.unit),
       info.indexedSize, info.callsDoubleFunctions});
  return words;
}

static KernelInfo readInfo(const int64_t *words) {
  KernelInfo info;
  auto next = [&] { return *words++; };
  info.blockSize = next();
  for (int64_t &size : info.grid)
    size = next();
  info.numParams = next();
  info.sharedBytes = next();
  info.params.resize(static_cast<size_t>(info.numParams));
  for (KernelParam &param : info.params) {
    int64_t kind = next();
    if (kind >= 0)
      param.kind = static_cast<ElementKind>(kind);
    param.count = next();
    int64_t flags = next();
    param.isBuffer = flags & bufferFlag;
    param.isRead = flags & readFlag;
    param.isWritten = flags & writtenFlag;
    param.shift = std::bit_cast<double>(next());
    param.positiveShift = std::bit_cast<double>(next());
  }
  info.addsFloats = next() != 0;
  info.numAdded = next();
  info.unit = std::bit_cast<double>(next());
  info.indexedSize = next();
  info.callsDoubleFunctions = next() != 0;
  return info;
}

bool KernelLibrary::find(const std::string &name, Kernel &kernel) const {
  auto *info =
      static_cast<const int64_t *>(dlsym(handle, (name + ".info").c_str()));
  if (!info)
    return false;
  kernel.name = name;
  kernel.info = readInfo(info);
  kernel.twin = reinterpret_cast<Kernel::TwinFn>(dlsym(handle, name.c_str()));
  return kernel.twin != nullptr;
}
