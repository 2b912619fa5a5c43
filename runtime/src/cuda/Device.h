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

/// A GPU with its primary context, and the kernels of one artifact, which are
/// loaded on demand. The device has to be current when something is allocated
/// or freed on it.
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

  /// Fails if `code` does not run on this GPU. The error lists the chips that
  /// it is for.
  Status checkCode(const artifact::DeviceCode &code) const;
  /// Sets the artifact, which must outlive the device, and checks its code.
  /// Nothing is loaded yet.
  Status setCode(const artifact::Artifact &artifact);
  /// Whether kernel `index` has been loaded.
  bool hasKernel(size_t index) const {
    return functions[index].load(std::memory_order_acquire);
  }
  /// Loads a kernel, and the image with the first one, unless they have been
  /// loaded. Any thread may call this while the device is current, but not
  /// during a capture of a stream: loading may wait for all work on the GPU.
  Status findKernel(size_t index);
  /// A kernel that has been loaded.
  api::Function kernel(size_t index) const {
    return functions[index].load(std::memory_order_acquire);
  }

  /// Calls setCode, then loads all kernels.
  Status loadKernels(const artifact::Artifact &artifact);

  /// Whether streams can fill memory of the host, also while they are captured.
  bool fillsHostMemory() const { return fills; }

  /// Free and total memory in bytes. The device has to be current.
  Status freeBytes(int64_t &available, int64_t &total) const;
  /// Memory in use by all programs. The device has to be current.
  Status usedBytes(int64_t &bytes) const;
  /// The uses of its memory.
  MemoryBook &book() { return memory; }
  const MemoryBook &book() const { return memory; }

  /// The name in the form "GPU 0 (NVIDIA H100)".
  std::string name() const;

private:
  Device(const Driver &driver, int ordinal)
      : cuda(driver), ordinal(ordinal), memory(*this) {}
  Status retain();
  Status tryToFill();
  Status loadModule();
  Status loadKernel(const artifact::Kernel &kernel, api::Function &function);

  const Driver cuda;
  const int ordinal;
  api::Device device = 0;
  api::Context context = nullptr;
  const artifact::Artifact *artifact = nullptr;
  std::mutex loading;
  api::Module module = nullptr;
  /// For each kernel, null until it is loaded.
  std::unique_ptr<std::atomic<api::Function>[]> functions;
  std::string model;
  int chip = 0; ///< 90 for sm_90.
  bool fills = true;
  MemoryBook memory;
};

/// An allocation on a GPU, such as a rank's arena.
class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;
  ~DeviceMemory();

  /// Allocates memory. The error says how much is free.
  Status allocate(const Device &device, int64_t bytes);
  /// Allocates memory. If there is too little, that is not an error, but
  /// isThere() is false.
  Status allocateIfFree(const Device &device, int64_t bytes);
  bool isThere() const { return driver; }
  api::DevicePointer address() const { return place; }
  char *data() const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address on the GPU.
    return reinterpret_cast<char *>(place);
  }
  bool contains(const void *address, int64_t count) const;
  /// Fails unless the driver has this memory as one allocation of the requested
  /// size, rounded up to whole pages.
  Status checkSize() const;

private:
  const Driver *driver = nullptr;
  api::DevicePointer place = 0;
  int64_t size = 0;
};

/// Page-locked memory of the host that a GPU can access. It is zero at first.
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

/// Whether the device has done all work in `streams`. Does not wait. Fails if
/// that work has failed.
Expected<bool> areDone(const Driver &driver,
                       const std::vector<Stream> &streams);

/// Words of the host that streams write, also from a graph, and any thread
/// reads. They are zero at first.
class Marks {
public:
  Status allocate(const Device &device, size_t count);
  /// Makes `stream` write `value` to `count` words, from word `first` on.
  Status write(api::Stream stream, size_t first, uint32_t value,
               size_t count = 1) const;
  uint32_t read(size_t word) const;
  int64_t bytes() const { return words.bytes(); }

private:
  const Driver *driver = nullptr;
  PinnedMemory words;
  bool fills = true;
};

class Event {
public:
  Event() = default;
  Event(Event &&other) noexcept;
  ~Event();

  /// Creates the event. A timed event has a time stamp, and takes longer.
  Status create(const Device &device, bool isTimed = false);
  api::Event get() const { return event; }
  /// Records the event: it happens once `stream` has done everything that was
  /// issued to it so far.
  Status record(api::Stream stream) const;
  /// Makes everything that is issued to `stream` from now on wait for the
  /// event.
  Status holdUp(api::Stream stream) const;
  /// Whether the event has happened as often as it was recorded. Does not wait.
  /// Fails if work of the device has failed.
  Expected<bool> hasHappened() const;

private:
  const Driver *driver = nullptr;
  api::Event event = nullptr;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_DEVICE_H
