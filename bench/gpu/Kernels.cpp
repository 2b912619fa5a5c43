//===- Kernels.cpp - kernels on a GPU and their host twins ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelCheck.h"
#include "Parts.h"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace veeline;
using namespace veeline::bench;
using gpu::Arguments;
using gpu::KernelParam;

/// Lies between buffers on the GPU; no kernel may change its bytes.
static constexpr int64_t guardBytes = 1024;
static constexpr unsigned char guard = 0xff;
/// The number of elements where only the run time says it.
static constexpr int64_t chosenCount = 100'003, chosenPerBlock = 1024;
/// Kernels with more elements are checked briefly.
static constexpr int64_t largeCount = int64_t(1) << 24;

namespace {
/// The kernels of an artifact that have a twin, on a GPU.
class Kernels {
public:
  static Expected<std::unique_ptr<Kernels>> open(const GpuOptions &options,
                                                 const KernelFiles &files);

  /// An entry of the artifact's table.
  struct Entry {
    artifact::Kernel kernel;
    size_t index = 0;
    gpu::Kernel code;
    unsigned gridX = 0; ///< Not 0: in place of the table's.
  };

  std::unique_ptr<Gpu> gpu;
  std::vector<Entry> entries;
  /// Kernels without a twin.
  std::vector<std::string> others;

private:
  artifact::Artifact file;
  std::unique_ptr<gpu::KernelLibrary> library;
};
} // namespace

static int64_t bytesOf(const KernelParam &param) {
  return param.count * gpu::bytesOf(*param.kind);
}

/// Gives a value to sizes that only the run time knows.
static void chooseExtents(Kernels::Entry &entry) {
  std::vector<KernelParam> &params = entry.code.info.params;
  bool isDynamic = std::any_of(params.begin(), params.end(),
                               [](auto &param) { return param.count < 0; });
  if (!isDynamic)
    return;
  // The one number that such a kernel takes is the count.
  for (KernelParam &param : params)
    if (param.count < 0)
      param.count = chosenCount;
    else if (!param.isBuffer)
      param.value = chosenCount;
  entry.gridX = (chosenCount + chosenPerBlock - 1) / chosenPerBlock;
}

Expected<std::unique_ptr<Kernels>> Kernels::open(const GpuOptions &options,
                                                 const KernelFiles &files) {
  auto kernels = std::make_unique<Kernels>();
  Expected<artifact::Artifact> file = artifact::readArtifact(files.artifact);
  if (!file.ok())
    return file.status();
  kernels->file = std::move(*file);
  if (!kernels->file.metadata.device)
    return Status::error("'" + files.artifact + "' is not for a GPU");
  std::string message;
  kernels->library = gpu::KernelLibrary::open(files.twins, message);
  if (!kernels->library)
    return Status::error("cannot load the twins: " + message);
  Expected<std::unique_ptr<Gpu>> gpu = Gpu::open(options);
  if (!gpu.ok())
    return gpu.status();
  kernels->gpu = std::move(*gpu);
  VEELINE_TRY(kernels->gpu->device().loadKernels(kernels->file));
  const auto &table = kernels->file.metadata.device->kernels;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table[i].name.find(files.only) == std::string::npos ||
        files.done.count(table[i].name))
      continue;
    Entry entry{table[i], i, {}, 0};
    if (!kernels->library->find(table[i].name, entry.code)) {
      kernels->others.push_back(table[i].name);
      continue;
    }
    chooseExtents(entry);
    kernels->entries.push_back(std::move(entry));
  }
  return kernels;
}

//===----------------------------------------------------------------------===//
// Are they right?
//===----------------------------------------------------------------------===//

namespace {
/// The buffers of a kernel on the GPU, apart from each other.
class DeviceArguments {
public:
  DeviceArguments(Gpu &gpu, const std::vector<KernelParam> &params);

  Status run(const Kernels::Entry &entry, Arguments &arguments);

private:
  Status copyTo(const Arguments &arguments);
  Status checkGuards();
  std::vector<uint64_t> collect(const Arguments &arguments) const;

  Gpu &gpu;
  const std::vector<KernelParam> &params;
  cuda::DeviceMemory memory;
  std::vector<uint64_t> offsets; ///< Of buffers.
  uint64_t size = guardBytes;
};
} // namespace

DeviceArguments::DeviceArguments(Gpu &gpu,
                                 const std::vector<KernelParam> &params)
    : gpu(gpu), params(params) {
  for (const KernelParam &param : params) {
    // A multiple of 16 bytes, but not of 32.
    uint64_t place = (size + 31) / 32 * 32 + 16;
    offsets.push_back(param.isBuffer ? place : 0);
    if (param.isBuffer)
      size = place + static_cast<uint64_t>(bytesOf(param)) + guardBytes;
  }
}

Status DeviceArguments::copyTo(const Arguments &arguments) {
  VEELINE_TRY(gpu.set(memory.address(), guard, static_cast<int64_t>(size)));
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i].isBuffer)
      VEELINE_TRY(gpu.upload(memory.address() + offsets[i],
                             arguments.buffers[i].data(), bytesOf(params[i])));
  return Status::success();
}

std::vector<uint64_t>
DeviceArguments::collect(const Arguments &arguments) const {
  std::vector<uint64_t> values;
  for (size_t i = 0; i < params.size(); ++i) {
    uint64_t value = memory.address() + offsets[i];
    if (!params[i].isBuffer) {
      value = 0;
      std::memcpy(&value, arguments.buffers[i].data(),
                  static_cast<size_t>(bytesOf(params[i])));
    }
    values.push_back(value);
  }
  return values;
}

Status DeviceArguments::checkGuards() {
  std::vector<char> bytes(guardBytes);
  const std::vector<char> whole(guardBytes, static_cast<char>(guard));
  for (size_t i = 0; i < params.size(); ++i) {
    if (!params[i].isBuffer)
      continue;
    uint64_t begin = memory.address() + offsets[i];
    for (uint64_t place : {begin - guardBytes,
                           begin + static_cast<uint64_t>(bytesOf(params[i]))}) {
      VEELINE_TRY(gpu.download(bytes.data(), place, guardBytes));
      if (bytes != whole)
        return Status::error("memory beside argument " + std::to_string(i) +
                             " is written");
    }
  }
  return Status::success();
}

Status DeviceArguments::run(const Kernels::Entry &entry, Arguments &arguments) {
  VEELINE_TRY(memory.allocate(gpu.device(), static_cast<int64_t>(size)));
  VEELINE_TRY(copyTo(arguments));
  VEELINE_TRY(
      gpu.launch(entry.kernel, entry.index, collect(arguments), entry.gridX));
  VEELINE_TRY(gpu.synchronize());
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i].isBuffer)
      VEELINE_TRY(gpu.download(arguments.buffers[i].data(),
                               memory.address() + offsets[i],
                               bytesOf(params[i])));
  return checkGuards();
}

namespace {
/// Checks kernels in several threads, which share the GPU and the memory of the
/// host.
class Checker {
public:
  explicit Checker(Kernels &kernels)
      : kernels(kernels),
        freeBytes(::sysconf(_SC_AVPHYS_PAGES) * ::sysconf(_SC_PAGESIZE) / 2) {}

  Status run(unsigned jobs);

private:
  void work();
  void check(const Kernels::Entry &entry);
  std::string launch(const Kernels::Entry &entry, Arguments &arguments);

  Kernels &kernels;
  std::mutex mutex, onGpu;
  std::condition_variable changed;
  int64_t freeBytes;
  int64_t numRunning = 0;
  size_t next = 0;
  bool isBroken = false;
};
} // namespace

/// The memory of the host that a check takes.
static int64_t hostBytes(const Kernels::Entry &entry) {
  int64_t bytes = 0;
  for (const KernelParam &param : entry.code.info.params)
    bytes += 5 * bytesOf(param) + (param.isWritten ? 8 * param.count : 0);
  return bytes;
}

static int64_t elementsOf(const Kernels::Entry &entry) {
  int64_t count = 0;
  for (const KernelParam &param : entry.code.info.params)
    count += param.count;
  return count;
}

std::string Checker::launch(const Kernels::Entry &entry, Arguments &arguments) {
  std::lock_guard<std::mutex> lock(onGpu);
  Status status = kernels.gpu->device().makeCurrent();
  if (status.ok())
    status = DeviceArguments(*kernels.gpu, entry.code.info.params)
                 .run(entry, arguments);
  // A context that has failed cannot be used again.
  if (!status.ok() && !kernels.gpu->synchronize().ok())
    isBroken = true;
  return status.ok() ? "" : status.message();
}

void Checker::check(const Kernels::Entry &entry) {
  gpu::CheckOptions options;
  options.seed = 1;
  options.isBrief = elementsOf(entry) > largeCount;
  options.run = [&](Arguments &arguments) { return launch(entry, arguments); };
  gpu::KernelVerdict verdict = gpu::checkKernel(entry.code, options);
  std::lock_guard<std::mutex> lock(mutex);
  if (!verdict.difference.empty())
    return printFailure(entry.kernel.name, verdict.difference);
  printRow(entry.kernel.name, verdict.hasSameBits ? 0 : verdict.worst,
           "of what is allowed", verdict.hasSameBits ? "same bits" : "");
}

void Checker::work() {
  std::unique_lock<std::mutex> lock(mutex);
  while (next < kernels.entries.size() && !isBroken) {
    const Kernels::Entry &entry = kernels.entries[next++];
    int64_t bytes = hostBytes(entry);
    // A check that is too large for all of the memory runs alone.
    changed.wait(lock, [&] { return bytes <= freeBytes || numRunning == 0; });
    freeBytes -= bytes;
    ++numRunning;
    lock.unlock();
    if (!isBroken)
      check(entry);
    lock.lock();
    freeBytes += bytes;
    --numRunning;
    changed.notify_all();
  }
}

Status Checker::run(unsigned jobs) {
  for (const std::string &name : kernels.others)
    printFailure(name, "it has no twin among those that were built");
  std::vector<std::thread> threads;
  threads.reserve(jobs);
  for (unsigned i = 0; i < jobs; ++i)
    threads.emplace_back([this] { work(); });
  for (std::thread &thread : threads)
    thread.join();
  return isBroken ? Status::error("the GPU cannot go on in this process")
                  : Status::success();
}

Status bench::checkKernels(const GpuOptions &options, const KernelFiles &files,
                           unsigned jobs) {
  Expected<std::unique_ptr<Kernels>> kernels = Kernels::open(options, files);
  if (!kernels.ok())
    return kernels.status();
  return Checker(**kernels).run(std::max(1u, jobs));
}

//===----------------------------------------------------------------------===//
// Are they fast?
//===----------------------------------------------------------------------===//

/// The bytes that a kernel reads and writes at least.
static int64_t movedBytes(const Kernels::Entry &entry) {
  int64_t bytes = 0;
  for (const KernelParam &param : entry.code.info.params)
    if (param.isBuffer)
      bytes += bytesOf(param) * (int(param.isRead) + int(param.isWritten));
  return bytes;
}

/// Up to a megabyte of data like those of checks.
static std::string makePattern(const KernelParam &param, int64_t bound) {
  std::vector<KernelParam> params = {param};
  params[0].count =
      std::min(param.count, (int64_t(1) << 20) / gpu::bytesOf(*param.kind));
  Arguments arguments(params, 64);
  arguments.fill(gpu::Style::signedValues, bound, 1);
  return std::string(arguments.buffers[0].data(),
                     static_cast<size_t>(arguments.buffers[0].bytes()));
}

static Expected<double> timeKernel(Gpu &gpu, const Kernels::Entry &entry) {
  std::vector<std::unique_ptr<cuda::DeviceMemory>> buffers;
  std::vector<uint64_t> values;
  for (const KernelParam &param : entry.code.info.params) {
    if (!param.isBuffer) {
      values.push_back(static_cast<uint64_t>(param.value.value_or(1)));
      continue;
    }
    buffers.push_back(std::make_unique<cuda::DeviceMemory>());
    VEELINE_TRY(buffers.back()->allocate(gpu.device(), bytesOf(param)));
    values.push_back(buffers.back()->address());
    VEELINE_TRY(gpu.repeat(buffers.back()->address(),
                           makePattern(param, entry.code.info.indexedSize),
                           bytesOf(param)));
  }
  return gpu.measure([&] {
    return gpu.launch(entry.kernel, entry.index, values, entry.gridX);
  });
}

static Status measureKernel(Gpu &gpu, const Kernels::Entry &entry,
                            int64_t bytes) {
  Expected<double> taken = timeKernel(gpu, entry);
  if (!taken.ok())
    return taken.status();
  Expected<double> copy = gpu.measureCopy(bytes / 2);
  if (!copy.ok())
    return copy.status();
  char note[160];
  std::snprintf(note, sizeof(note),
                "%.1f MiB in %.1f us, %.0f GB/s; a copy of as many %.1f us",
                static_cast<double>(bytes) / (1 << 20), *taken,
                static_cast<double>(bytes) / *taken / 1000, *copy);
  printRow(entry.kernel.name, 100 * *copy / *taken, "%", note);
  return Status::success();
}

Status bench::measureKernels(const GpuOptions &options,
                             const KernelFiles &files, int64_t leastBytes) {
  Expected<std::unique_ptr<Kernels>> opened = Kernels::open(options, files);
  if (!opened.ok())
    return opened.status();
  Kernels &kernels = **opened;
  for (const Kernels::Entry &entry : kernels.entries) {
    int64_t bytes = movedBytes(entry);
    if (bytes < leastBytes)
      continue;
    if (Status status = measureKernel(*kernels.gpu, entry, bytes);
        !status.ok()) {
      printFailure(entry.kernel.name, status.message());
      if (!kernels.gpu->synchronize().ok())
        return Status::error("the GPU cannot go on in this process");
    }
  }
  return Status::success();
}
