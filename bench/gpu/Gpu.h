//===- Gpu.h - a GPU that is measured --------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BENCH_GPU_GPU_H
#define VEELINE_BENCH_GPU_GPU_H

#include "Device.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <string>
#include <thread>

namespace veeline::bench {

/// Which libraries and which GPU.
struct GpuOptions {
  std::string driver, blasLt, nccl;
  int ordinal = 0;
  /// How long the GPU may take for what it is given at once.
  double stallSeconds = 30;
};

/// Ends the process, with a row that says why, when the GPU has not done its
/// work in time. After that, no call of the driver needs to return.
class Watch {
public:
  explicit Watch(double seconds) : seconds(seconds) {}

  /// The GPU begins `what`, unless it is busy with something before it.
  void begin(const std::string &what);
  /// The GPU has done everything.
  void end();

private:
  void run(const std::stop_token &stop);

  const std::chrono::duration<double> seconds;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::atomic<bool> isBusy = false;
  std::string what;
  std::chrono::steady_clock::time_point last;
  std::jthread thread{[this](const std::stop_token &stop) { run(stop); }};
};

/// A GPU with one stream.
class Gpu {
public:
  static Expected<std::unique_ptr<Gpu>> open(const GpuOptions &options);
  ~Gpu();

  const cuda::Driver &driver() const { return cuda; }
  cuda::Device &device() { return *gpu; }
  cuda::api::Stream stream() const { return work.get(); }
  Status synchronize();

  Status launch(const artifact::Kernel &kernel, size_t index,
                const std::vector<uint64_t> &arguments, unsigned gridX = 0);
  Status upload(cuda::api::DevicePointer target, const void *source,
                int64_t bytes);
  Status download(void *target, cuda::api::DevicePointer source, int64_t bytes);
  Status set(cuda::api::DevicePointer target, unsigned char value,
             int64_t bytes);
  /// Fills `bytes` at `target` with `pattern`, again and again.
  Status repeat(cuda::api::DevicePointer target, const std::string &pattern,
                int64_t bytes);

  /// Microseconds of `call`, which issues work: the median of several rounds of
  /// calls one after the other, timed by the GPU.
  Expected<double> measure(const std::function<Status()> &call);
  /// Microseconds in which the GPU copies `bytes` to another place on it.
  Expected<double> measureCopy(int64_t bytes);

private:
  Gpu(const cuda::Driver &driver, double stallSeconds)
      : cuda(driver), watch(stallSeconds) {}
  Status prepare(int ordinal);
  Expected<double> time(const std::function<Status()> &call, int64_t count);

  const cuda::Driver cuda;
  std::shared_ptr<cuda::Device> gpu;
  cuda::Stream work;
  cuda::api::Event first = nullptr, last = nullptr;
  std::map<int64_t, double> copies; ///< Microseconds by bytes.
  Watch watch;
};

/// Prints a row for bench/gpu/run: what, a number and its unit, a note.
void printRow(const std::string &what, double value, const std::string &unit,
              const std::string &note = "");
/// The same, of something that has failed.
void printFailure(const std::string &what, const std::string &why);

} // namespace veeline::bench

#endif // VEELINE_BENCH_GPU_GPU_H
