//===- Device.h - a GPU and its allocations ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_DEVICE_H
#define VEELINE_RUNTIME_CUDA_DEVICE_H

#include "Driver.h"
#include "MemoryBook.h"

#include "veeline/artifact.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace veeline::cuda {

/// A GPU with its primary context, and the kernels of one artifact, loaded on
/// demand. It must be current where something is allocated or freed on it.
class Device {
public:
  /// Opens GPU `ordinal`, in the driver's numbering, and makes it current.
  static Expected<std::shared_ptr<Device>> open(const Driver &driver,
                                                int ordinal);
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  ~Device();

  const Driver &driver() const { return cuda; }
  /// Makes it the current device of the calling thread.
  Status makeCurrent() const;

  /// Fails if `code` does not run on it; the error says which chips it is for.
  Status checkCode(const artifact::DeviceCode &code) const;
  /// Uses the kernels of `artifact`, which must outlive it. Checks the code,
  /// and loads nothing yet.
  Status setCode(const artifact::Artifact &artifact);
  /// Whether kernel `index` is loaded.
  bool hasKernel(size_t index) const {
    return functions[index].load(std::memory_order_acquire);
  }
  /// Loads a kernel, and the image with the first one, unless they are loaded.
  /// Any thread may call it where the device is current, but not while a stream
  /// is captured: loading may wait for all work on the GPU.
  Status findKernel(size_t index);
  /// A kernel that is loaded.
  api::Function kernel(size_t index) const {
    return functions[index].load(std::memory_order_acquire);
  }

  /// setCode, then loads all kernels.
  Status loadKernels(const artifact::Artifact &artifact);

  /// Free and total memory in bytes. The device is current.
  Status freeBytes(int64_t &available, int64_t &total) const;
  /// Memory in use by all programs. The device is current.
  Status usedBytes(int64_t &bytes) const;
  /// What its memory is used for.
  MemoryBook &book() { return memory; }
  const MemoryBook &book() const { return memory; }

  /// "GPU 0 (NVIDIA H100)".
  std::string name() const;

private:
  Device(const Driver &driver, int ordinal)
      : cuda(driver), ordinal(ordinal), memory(*this) {}
  Status retain();
  Status loadModule();
  Status loadKernel(const artifact::Kernel &kernel, api::Function &function);

  const Driver cuda;
  const int ordinal;
  api::Device device = 0;
  api::Context context = nullptr;
  const artifact::Artifact *artifact = nullptr;
  std::mutex loading;
  api::Module module = nullptr;
  /// By kernel; null: not loaded.
  std::unique_ptr<std::atomic<api::Function>[]> functions;
  std::string model;
  int chip = 0; ///< 90 for sm_90.
  MemoryBook memory;
};

/// An allocation on a GPU, such as a rank's arena.
class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;
  ~DeviceMemory();

  /// The error says how much is free.
  Status allocate(const Device &device, int64_t bytes);
  /// If there is too little memory, this is no error, and isThere() is false.
  Status allocateIfFree(const Device &device, int64_t bytes);
  bool isThere() const { return driver; }
  api::DevicePointer address() const { return place; }
  char *data() const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address on the GPU.
    return reinterpret_cast<char *>(place);
  }
  bool contains(const void *address, int64_t count) const;
  /// Fails unless the driver has it as one allocation of the requested size,
  /// rounded up to whole pages.
  Status checkSize() const;

private:
  const Driver *driver = nullptr;
  api::DevicePointer place = 0;
  int64_t size = 0;
};

/// Page-locked memory of the host, at first zero, which a GPU can access.
class PinnedMemory {
public:
  PinnedMemory() = default;
  PinnedMemory(const PinnedMemory &) = delete;
  PinnedMemory &operator=(const PinnedMemory &) = delete;
  ~PinnedMemory();

  Status allocate(const Device &device, int64_t bytes);
  char *data() const { return static_cast<char *>(place); }
  int64_t bytes() const { return size; }

private:
  const Driver *driver = nullptr;
  void *place = nullptr;
  int64_t size = 0;
};

/// A stream that does not synchronise with the default stream.
class Stream {
public:
  Stream() = default;
  Stream(Stream &&other) noexcept;
  ~Stream();

  Status create(const Device &device);
  api::Stream get() const { return stream; }

private:
  const Driver *driver = nullptr;
  api::Stream stream = nullptr;
};

/// Whether the device has done all work in `streams`. Does not wait; fails if
/// that work has.
Expected<bool> areDone(const Driver &driver,
                       const std::vector<Stream> &streams);

/// Words of the host that streams write, also from a graph, and any thread
/// reads. At first they are zero.
class Marks {
public:
  Status allocate(const Device &device, size_t count);
  /// `stream` writes `value` to `count` words, from word `first` on.
  Status write(api::Stream stream, size_t first, uint32_t value,
               size_t count = 1) const;
  uint32_t read(size_t word) const;
  int64_t bytes() const { return words.bytes(); }

private:
  const Driver *driver = nullptr;
  PinnedMemory words;
};

class Event {
public:
  Event() = default;
  Event(Event &&other) noexcept;
  ~Event();

  /// A timed event has a time stamp, and takes longer.
  Status create(const Device &device, bool isTimed = false);
  api::Event get() const { return event; }
  /// It happens once `stream` has done all that was issued to it so far.
  Status record(api::Stream stream) const;
  /// What is issued to `stream` from now on begins after it.
  Status holdUp(api::Stream stream) const;
  /// Whether it has happened as often as it was recorded. Does not wait; fails
  /// if work of the device has.
  Expected<bool> hasHappened() const;

private:
  const Driver *driver = nullptr;
  api::Event event = nullptr;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_DEVICE_H
