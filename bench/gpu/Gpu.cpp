//===- Gpu.cpp - a GPU that is measured -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"

#include "veeline/Base/Median.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace veeline;
using namespace veeline::bench;
namespace api = veeline::cuda::api;

/// The length of a round, in which the driver's time for a launch does not
/// show.
static constexpr double roundMicroseconds = 5000;
static constexpr int64_t mostCalls = 200;
static constexpr int numRounds = 7;

//===----------------------------------------------------------------------===//
// What hangs
//===----------------------------------------------------------------------===//

void Watch::begin(const std::string &newWhat) {
  if (isBusy)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  what = newWhat;
  last =
      std::chrono::steady_clock::now() +
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(seconds);
  isBusy = true;
  changed.notify_all();
}

void Watch::end() {
  std::lock_guard<std::mutex> lock(mutex);
  isBusy = false;
  changed.notify_all();
}

void Watch::run(const std::stop_token &stop) {
  std::unique_lock<std::mutex> lock(mutex);
  while (changed.wait(lock, stop, [&] { return isBusy.load(); })) {
    auto end = last;
    if (changed.wait_until(lock, stop, end, [&] { return !isBusy; }))
      continue;
    // Other work may have begun meanwhile.
    if (stop.stop_requested() || std::chrono::steady_clock::now() < last)
      continue;
    char why[64];
    std::snprintf(why, sizeof(why), "the GPU has not ended it in %g s",
                  seconds.count());
    printFailure(what, why);
    std::fprintf(stderr, "error: the GPU cannot go on in this process\n");
    std::_Exit(1);
  }
}

//===----------------------------------------------------------------------===//
// A GPU
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<Gpu>> Gpu::open(const GpuOptions &options) {
  Expected<cuda::Driver> driver = cuda::Driver::load(options.driver);
  if (!driver.ok())
    return driver.status();
  std::unique_ptr<Gpu> opened(new Gpu(*driver, options.stallSeconds));
  VEELINE_TRY(opened->prepare(options.ordinal));
  return opened;
}

Status Gpu::prepare(int ordinal) {
  Expected<std::shared_ptr<cuda::Device>> opened =
      cuda::Device::open(cuda, ordinal);
  if (!opened.ok())
    return opened.status();
  gpu = *opened;
  VEELINE_TRY(work.create(*gpu));
  VEELINE_TRY(VEELINE_CALL(cuda, cuEventCreate, &first, 0));
  return VEELINE_CALL(cuda, cuEventCreate, &last, 0);
}

Gpu::~Gpu() {
  for (api::Event event : {first, last})
    if (event)
      (void)cuda.cuEventDestroy_v2(event);
}

Status Gpu::synchronize() {
  watch.begin("the GPU's work");
  Status status = VEELINE_CALL(cuda, cuStreamSynchronize, stream());
  watch.end();
  return status;
}

Status Gpu::launch(const artifact::Kernel &kernel, size_t index,
                   const std::vector<uint64_t> &arguments, unsigned gridX) {
  std::vector<void *> places;
  places.reserve(arguments.size());
  for (const uint64_t &argument : arguments)
    places.push_back(const_cast<uint64_t *>(&argument));
  auto size = [](int32_t number) { return static_cast<unsigned>(number); };
  watch.begin(kernel.name);
  return VEELINE_CALL(cuda, cuLaunchKernel, gpu->kernel(index),
                      gridX ? gridX : size(kernel.grid[0]),
                      size(kernel.grid[1]), size(kernel.grid[2]),
                      size(kernel.block[0]), size(kernel.block[1]),
                      size(kernel.block[2]), size(kernel.sharedBytes), stream(),
                      places.data(), nullptr);
}

Status Gpu::upload(api::DevicePointer target, const void *source,
                   int64_t bytes) {
  VEELINE_TRY(VEELINE_CALL(cuda, cuMemcpyHtoDAsync_v2, target, source,
                           static_cast<size_t>(bytes), stream()));
  return synchronize();
}

Status Gpu::download(void *target, api::DevicePointer source, int64_t bytes) {
  VEELINE_TRY(VEELINE_CALL(cuda, cuMemcpyDtoHAsync_v2, target, source,
                           static_cast<size_t>(bytes), stream()));
  return synchronize();
}

Status Gpu::set(api::DevicePointer target, unsigned char value, int64_t bytes) {
  return VEELINE_CALL(cuda, cuMemsetD8Async, target, value,
                      static_cast<size_t>(bytes), stream());
}

Status Gpu::repeat(api::DevicePointer target, const std::string &pattern,
                   int64_t bytes) {
  auto done = std::min(bytes, static_cast<int64_t>(pattern.size()));
  VEELINE_TRY(upload(target, pattern.data(), done));
  for (int64_t more; done < bytes; done += more) {
    more = std::min(done, bytes - done);
    VEELINE_TRY(VEELINE_CALL(cuda, cuMemcpyDtoDAsync_v2,
                             target + static_cast<uint64_t>(done), target,
                             static_cast<size_t>(more), stream()));
  }
  return Status::success();
}

Expected<double> Gpu::time(const std::function<Status()> &call, int64_t count) {
  VEELINE_TRY(VEELINE_CALL(cuda, cuEventRecord, first, stream()));
  for (int64_t i = 0; i < count; ++i)
    VEELINE_TRY(call());
  VEELINE_TRY(VEELINE_CALL(cuda, cuEventRecord, last, stream()));
  VEELINE_TRY(synchronize());
  float milliseconds = 0;
  VEELINE_TRY(
      VEELINE_CALL(cuda, cuEventElapsedTime, &milliseconds, first, last));
  return 1000.0 * static_cast<double>(milliseconds) /
         static_cast<double>(count);
}

Expected<double> Gpu::measure(const std::function<Status()> &call) {
  Expected<double> once = time(call, 2);
  if (once.ok())
    once = time(call, 2);
  if (!once.ok())
    return once;
  auto count = static_cast<int64_t>(roundMicroseconds / std::max(*once, 1.0));
  count = std::clamp<int64_t>(count, 1, mostCalls);
  std::vector<double> rounds;
  for (int i = 0; i < numRounds; ++i) {
    Expected<double> round = time(call, count);
    if (!round.ok())
      return round;
    rounds.push_back(*round);
  }
  return medianOf(rounds);
}

Expected<double> Gpu::measureCopy(int64_t bytes) {
  auto known = copies.find(bytes);
  if (known != copies.end())
    return known->second;
  cuda::DeviceMemory from, to;
  VEELINE_TRY(from.allocate(*gpu, bytes));
  VEELINE_TRY(to.allocate(*gpu, bytes));
  VEELINE_TRY(set(from.address(), 1, bytes));
  Expected<double> taken = measure([&] {
    return VEELINE_CALL(cuda, cuMemcpyDtoDAsync_v2, to.address(),
                        from.address(), static_cast<size_t>(bytes), stream());
  });
  if (taken.ok())
    copies[bytes] = *taken;
  return taken;
}

/// Removes tabs and line ends, which separate fields and rows.
static std::string onOneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\t', ' ');
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

void bench::printRow(const std::string &what, double value,
                     const std::string &unit, const std::string &note) {
  std::printf("row\t%s\t%.6g\t%s\t%s\n", onOneLine(what).c_str(), value,
              unit.c_str(), onOneLine(note).c_str());
  std::fflush(stdout);
}

void bench::printFailure(const std::string &what, const std::string &why) {
  std::printf("failed\t%s\t%s\n", onOneLine(what).c_str(),
              onOneLine(why).c_str());
  std::fflush(stdout);
}
