//===- Device.cpp - a GPU and its allocations -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

using namespace veeline;
using namespace veeline::cuda;

/// The granularity of the driver's allocations.
static constexpr uint64_t pageBytes = uint64_t(2) << 20;

//===----------------------------------------------------------------------===//
// Device
//===----------------------------------------------------------------------===//

Expected<std::shared_ptr<Device>> Device::open(const Driver &driver,
                                               int ordinal) {
  int count = 0;
  VEELINE_TRY(VEELINE_CALL(driver, cuDeviceGetCount, &count));
  if (ordinal < 0 || ordinal >= count)
    return Status::error("there is no GPU " + std::to_string(ordinal) +
                         ": the CUDA driver finds " + std::to_string(count) +
                         (count == 1 ? " of them" : ", numbered from 0") +
                         "; choose others with --device");
  std::shared_ptr<Device> device(new Device(driver, ordinal));
  if (Status status = device->retain(); !status.ok())
    return Status::error(device->name() + ": " + status.message());
  return device;
}

Status Device::retain() {
  VEELINE_TRY(VEELINE_CALL(cuda, cuDeviceGet, &device, ordinal));
  char text[256] = {};
  VEELINE_TRY(
      VEELINE_CALL(cuda, cuDeviceGetName, text, sizeof(text) - 1, device));
  model = text;
  int major = 0, minor = 0;
  VEELINE_TRY(VEELINE_CALL(cuda, cuDeviceGetAttribute, &major,
                           api::computeCapabilityMajor, device));
  VEELINE_TRY(VEELINE_CALL(cuda, cuDeviceGetAttribute, &minor,
                           api::computeCapabilityMinor, device));
  chip = 10 * major + minor;
  VEELINE_TRY(VEELINE_CALL(cuda, cuDevicePrimaryCtxRetain, &context, device));
  VEELINE_TRY(makeCurrent());
  return tryToFill();
}

/// Finds out whether the driver captures a memset of the host's memory.
Status Device::tryToFill() {
  PinnedMemory word;
  Stream stream;
  VEELINE_TRY(word.allocate(*this, sizeof(uint32_t)));
  VEELINE_TRY(stream.create(*this));
  VEELINE_TRY(VEELINE_CALL(cuda, cuStreamBeginCapture_v2, stream.get(),
                           api::captureThreadLocal));
  api::Result result = cuda.cuMemsetD32Async(
      reinterpret_cast<api::DevicePointer>(word.data()), 0, 1, stream.get());
  fills = result != api::invalidValue && result != api::notSupported &&
          result != api::captureUnsupported;
  // What was refused may have ended the capture.
  api::Graph graph = nullptr;
  Status ended = VEELINE_CALL(cuda, cuStreamEndCapture, stream.get(), &graph);
  if (graph)
    (void)cuda.cuGraphDestroy(graph);
  if (!fills)
    return Status::success();
  VEELINE_TRY(cuda.check("cuMemsetD32Async", result));
  return ended;
}

Device::~Device() {
  if (!context)
    return;
  // Errors are ignored, because there is nobody to report them to.
  (void)makeCurrent().ok();
  if (module)
    (void)cuda.cuModuleUnload(module);
  (void)cuda.cuCtxSetCurrent(nullptr);
  (void)cuda.cuDevicePrimaryCtxRelease_v2(device);
}

Status Device::makeCurrent() const {
  return VEELINE_CALL(cuda, cuCtxSetCurrent, context);
}

Status Device::freeBytes(int64_t &available, int64_t &total) const {
  size_t free = 0, all = 0;
  VEELINE_TRY(VEELINE_CALL(cuda, cuMemGetInfo_v2, &free, &all));
  available = static_cast<int64_t>(free);
  total = static_cast<int64_t>(all);
  return Status::success();
}

Status Device::usedBytes(int64_t &bytes) const {
  int64_t available = 0, total = 0;
  VEELINE_TRY(freeBytes(available, total));
  bytes = total - available;
  return Status::success();
}

std::string Device::name() const {
  return "GPU " + std::to_string(ordinal) +
         (model.empty() ? "" : " (" + model + ")");
}

/// 90 for "sm_90" and "sm_90a".
static int numberOf(const std::string &chip) {
  return static_cast<int>(
      std::strtol(chip.c_str() + std::strlen("sm_"), nullptr, 10));
}

Status Device::checkCode(const artifact::DeviceCode &code) const {
  // Native code runs on its chip and on later ones of the same generation; with
  // a suffix, such as in sm_90a, only on its chip. PTX runs on its chip and on
  // all later ones.
  bool isNative = false;
  std::string has;
  for (const std::string &name : code.chips) {
    int number = numberOf(name);
    bool isExact = name.back() == 'a' || name.back() == 'f';
    isNative |=
        isExact ? number == chip : number / 10 == chip / 10 && number <= chip;
    has += (has.empty() ? "" : ", ") + name;
  }
  bool isPtx = !code.ptx.empty() && numberOf(code.ptx) <= chip;
  if (!code.ptx.empty())
    has += (has.empty() ? "PTX for " : ", PTX for ") + code.ptx + " and later";
  if (!isNative && !isPtx)
    return Status::error(name() + " is of sm_" + std::to_string(chip) +
                         ", and the artifact has code for " + has +
                         "; compile the model again, for this chip");
  long toolkit = std::strtol(code.toolkit.c_str(), nullptr, 10);
  if (isNative && !isPtx && toolkit > cuda.version / 1000)
    return Status::error(
        "the CUDA driver supports CUDA " + versionText(cuda.version) +
        ", and the artifact's code was made by toolkit " + code.toolkit +
        "; install a newer driver, or compile the model again with an older "
        "toolkit");
  return Status::success();
}

Status Device::setCode(const artifact::Artifact &newArtifact) {
  const artifact::DeviceCode &code = *newArtifact.metadata.device;
  VEELINE_TRY(checkCode(code));
  artifact = &newArtifact;
  functions =
      std::make_unique<std::atomic<api::Function>[]>(code.kernels.size());
  return Status::success();
}

Status Device::loadModule() {
  if (module)
    return Status::success();
  // The log is for errors of the driver's compiler of PTX.
  char log[4096] = {};
  int options[] = {api::jitErrorLogBuffer, api::jitErrorLogBytes};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver wants it so.
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
  Status status = VEELINE_CALL(cuda, cuModuleLoadDataEx, &module,
                               artifact->image.c_str(), 2, options, values);
  if (status.ok())
    return status;
  module = nullptr;
  return Status::error(name() +
                       " cannot load the artifact's code: " + status.message() +
                       (log[0] ? std::string(": ") + log : ""));
}

Status Device::loadKernel(const artifact::Kernel &kernel,
                          api::Function &function) {
  VEELINE_TRY(VEELINE_CALL(cuda, cuModuleGetFunction, &function, module,
                           kernel.name.c_str()));
  // A kernel has 48 KiB, of both kinds of shared memory, unless it asks for
  // more.
  if (kernel.sharedBytes > 0)
    VEELINE_TRY(VEELINE_CALL(cuda, cuFuncSetAttribute, function,
                             api::maxDynamicSharedBytes, kernel.sharedBytes));
  // A driver that loads lazily would wait with the code until the first launch.
  return cuda.cuFuncLoad ? VEELINE_CALL(cuda, cuFuncLoad, function)
                         : Status::success();
}

Status Device::findKernel(size_t index) {
  if (hasKernel(index))
    return Status::success();
  std::lock_guard<std::mutex> lock(loading);
  // Another thread may have loaded it meanwhile.
  if (hasKernel(index))
    return Status::success();
  VEELINE_TRY(loadModule());
  const artifact::Kernel &kernel = artifact->metadata.device->kernels[index];
  api::Function function = nullptr;
  if (Status status = loadKernel(kernel, function); !status.ok())
    return Status::error(name() + ", kernel '" + kernel.name +
                         "': " + status.message());
  functions[index].store(function, std::memory_order_release);
  return Status::success();
}

Status Device::loadKernels(const artifact::Artifact &newArtifact) {
  VEELINE_TRY(setCode(newArtifact));
  for (size_t i = 0; i < artifact->metadata.device->kernels.size(); ++i)
    VEELINE_TRY(findKernel(i));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Status DeviceMemory::allocate(const Device &device, int64_t bytes) {
  VEELINE_TRY(allocateIfFree(device, bytes));
  if (isThere())
    return Status::success();
  int64_t available = 0, total = 0;
  VEELINE_TRY(device.freeBytes(available, total));
  return Status::error("it needs " + std::to_string(bytes) + " bytes of " +
                       device.name() + ", where " + std::to_string(available) +
                       " of " + std::to_string(total) + " are free");
}

Status DeviceMemory::allocateIfFree(const Device &device, int64_t bytes) {
  const Driver &cuda = device.driver();
  // The driver refuses to allocate 0 bytes.
  auto wanted = static_cast<size_t>(std::max<int64_t>(bytes, 256));
  api::Result result = cuda.cuMemAlloc_v2(&place, wanted);
  if (result == api::outOfMemory)
    return Status::success();
  VEELINE_TRY(cuda.check("cuMemAlloc_v2", result));
  driver = &cuda;
  size = bytes;
  return Status::success();
}

DeviceMemory::~DeviceMemory() {
  if (driver)
    (void)driver->cuMemFree_v2(place);
}

bool DeviceMemory::contains(const void *address, int64_t count) const {
  auto first = reinterpret_cast<api::DevicePointer>(address);
  return first >= place && count >= 0 && count <= size &&
         first - place <= static_cast<uint64_t>(size - count);
}

Status DeviceMemory::checkSize() const {
  api::DevicePointer first = 0;
  size_t count = 0;
  VEELINE_TRY(
      VEELINE_CALL(*driver, cuMemGetAddressRange_v2, &first, &count, place));
  auto planned = static_cast<uint64_t>(std::max<int64_t>(size, 256));
  if (first == place && count >= planned && count - planned < pageBytes)
    return Status::success();
  return Status::error("its arena is " + std::to_string(count) +
                       " bytes of an allocation, and " + std::to_string(size) +
                       " are planned");
}

Status PinnedMemory::allocate(const Device &device, int64_t bytes) {
  const Driver &cuda = device.driver();
  if (Status status = VEELINE_CALL(cuda, cuMemHostAlloc, &place,
                                   static_cast<size_t>(bytes), 0);
      !status.ok())
    return Status::error("cannot pin " + std::to_string(bytes) +
                         " bytes of the host: " + status.message());
  driver = &cuda;
  size = bytes;
  std::memset(place, 0, static_cast<size_t>(bytes));
  return Status::success();
}

PinnedMemory::~PinnedMemory() {
  if (driver)
    (void)driver->cuMemFreeHost(place);
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

Stream::Stream(Stream &&other) noexcept
    : driver(std::exchange(other.driver, nullptr)), stream(other.stream) {}

Stream::~Stream() {
  if (driver)
    (void)driver->cuStreamDestroy_v2(stream);
}

Status Stream::create(const Device &device) {
  VEELINE_TRY(VEELINE_CALL(device.driver(), cuStreamCreate, &stream,
                           api::nonBlockingStream));
  driver = &device.driver();
  return Status::success();
}

Expected<bool> cuda::areDone(const Driver &driver,
                             const std::vector<Stream> &streams) {
  for (const Stream &stream : streams) {
    api::Result result = driver.cuStreamQuery(stream.get());
    if (result == api::notReady)
      return false;
    VEELINE_TRY(driver.check("cuStreamQuery", result));
  }
  return true;
}

Status Marks::allocate(const Device &device, size_t count) {
  driver = &device.driver();
  fills = device.fillsHostMemory();
  return words.allocate(device, static_cast<int64_t>(count * sizeof(uint32_t)));
}

Status Marks::write(api::Stream stream, size_t first, uint32_t value,
                    size_t count) const {
  auto place = reinterpret_cast<api::DevicePointer>(words.data()) +
               first * sizeof(uint32_t);
  if (fills)
    return VEELINE_CALL(*driver, cuMemsetD32Async, place, value, count, stream);
  for (size_t i = 0; i < count; ++i)
    VEELINE_TRY(VEELINE_CALL(*driver, cuStreamWriteValue32_v2, stream,
                             place + i * sizeof(uint32_t), value, 0));
  return Status::success();
}

uint32_t Marks::read(size_t word) const {
  auto *place = reinterpret_cast<uint32_t *>(words.data()) + word;
  return std::atomic_ref<uint32_t>(*place).load(std::memory_order_acquire);
}

Event::Event(Event &&other) noexcept
    : driver(std::exchange(other.driver, nullptr)), event(other.event) {}

Event::~Event() {
  if (driver)
    (void)driver->cuEventDestroy_v2(event);
}

Status Event::create(const Device &device, bool isTimed) {
  VEELINE_TRY(VEELINE_CALL(device.driver(), cuEventCreate, &event,
                           isTimed ? 0 : api::disableTiming));
  driver = &device.driver();
  return Status::success();
}

Status Event::record(api::Stream stream) const {
  return VEELINE_CALL(*driver, cuEventRecord, event, stream);
}

Status Event::holdUp(api::Stream stream) const {
  return VEELINE_CALL(*driver, cuStreamWaitEvent, stream, event, 0);
}

Expected<bool> Event::hasHappened() const {
  api::Result result = driver->cuEventQuery(event);
  if (result == api::notReady)
    return false;
  VEELINE_TRY(driver->check("cuEventQuery", result));
  return true;
}
