//===- Device.h - a GPU, and what is allocated on it -----------*- C++ -*-===//
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

/// A GPU with its primary context, and the kernels of one artifact, as far as
/// they are needed. What allocates on it, or frees, does so where it is
/// current.
class Device {
public:
  /// Number `ordinal` as the driver counts them.
  static Expected<std::shared_ptr<Device>> open(const Driver &driver,
                                                int ordinal);
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;
  ~Device();

  const Driver &driver() const { return cuda; }
  /// Makes it the one that the calling thread works on.
  Status makeCurrent() const;

  /// Whether the artifact has code for it; the error says what it has.
  Status checkCode(const artifact::DeviceCode &code) const;
  /// Takes the kernels of `artifact`, which outlives it. The code is checked,
  /// and nothing is loaded.
  Status setCode(const artifact::Artifact &artifact);
  /// Whether it is loaded.
  bool hasKernel(size_t index) const {
    return functions[index].load(std::memory_order_acquire);
  }
  /// Loads a kernel, and before the first one the image, where nobody has yet.
  /// By any thread where it is current, but never while a stream is captured;
  /// it may wait for all that the GPU has under way.
  Status findKernel(size_t index);
  /// One that is loaded.
  api::Function kernel(size_t index) const {
    return functions[index].load(std::memory_order_acquire);
  }

  /// setCode, and all kernels.
  Status loadKernels(const artifact::Artifact &artifact);

  /// What is left for whomever, and what there is in all, where it is current.
  Status freeBytes(int64_t &available, int64_t &total) const;
  /// By whomever, where it is current.
  Status usedBytes(int64_t &bytes) const;
  /// Who has taken what of it.
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
  int chip = 0; ///< 90 of sm_90.
  MemoryBook memory;
};

/// The one allocation of a rank on a GPU.
class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;
  ~DeviceMemory();

  /// The error says how much is free.
  Status allocate(const Device &device, int64_t bytes);
  /// That there is too little is no error, and nothing is there then.
  Status allocateIfFree(const Device &device, int64_t bytes);
  bool isThere() const { return driver; }
  api::DevicePointer address() const { return place; }
  char *data() const { return reinterpret_cast<char *>(place); }
  bool contains(const void *address, int64_t count) const;
  /// Whether the driver has it as one allocation of what was asked for, in
  /// pages of its own.
  Status checkSize() const;

private:
  const Driver *driver = nullptr;
  api::DevicePointer place = 0;
  int64_t size = 0;
};

/// Memory of the host that a GPU copies from and to by itself.
class PinnedMemory {
public:
  PinnedMemory() = default;
  PinnedMemory(const PinnedMemory &) = delete;
  PinnedMemory &operator=(const PinnedMemory &) = delete;
  ~PinnedMemory();

  Status allocate(const Device &device, int64_t bytes);
  char *data() const { return static_cast<char *>(place); }

private:
  const Driver *driver = nullptr;
  void *place = nullptr;
};

/// A stream that waits for none but those that it is told to.
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

/// Whether the device has done all that `streams` have, or what has failed
/// there. Does not wait.
Status areDone(const Driver &driver, const std::vector<api::Stream> &streams,
               bool &isOver);

class Event {
public:
  Event() = default;
  Event(Event &&other) noexcept;
  ~Event();

  /// One that is timed says when it was, and takes longer.
  Status create(const Device &device, bool isTimed = false);
  api::Event get() const { return event; }

private:
  const Driver *driver = nullptr;
  api::Event event = nullptr;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_DEVICE_H
