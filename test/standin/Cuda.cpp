//===- Cuda.cpp - the functions of the CUDA driver, without a GPU ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaCall.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace veeline;
using namespace veeline::standin;
namespace api = veeline::cuda::api;

static constexpr int notInitialized = 3, invalidDevice = 101,
                     invalidContext = 201, illegalState = 401,
                     captureUnsupported = 900, captureInvalidated = 901,
                     captureUnjoined = 904, captureIsolation = 905,
                     capturedEvent = 907, captureOfAnotherThread = 908;

/// The device whose context is current, from 1; 0: none.
static thread_local int currentContext = 0;

int standin::currentDevice() { return currentContext - 1; }

Call::Call(const char *function, bool needsContext)
    : engine(Engine::get()), lock(engine.mutex) {
  code = engine.enter(function);
  if (code == 0 && !engine.isInitialized)
    code = notInitialized;
  if (code == 0 && needsContext &&
      (currentContext == 0 || engine.contexts[currentContext - 1] == 0))
    code = invalidContext;
}

static standin::Event *eventOf(Engine &engine, api::Event handle) {
  auto *event = reinterpret_cast<standin::Event *>(handle);
  return engine.events.count(event) ? event : nullptr;
}

static void enqueueWork(Engine &engine, standin::Stream *stream,
                        std::function<void()> work) {
  Op op;
  op.work = std::move(work);
  engine.enqueue(stream, std::move(op));
}

static void enqueueFill(Engine &engine, standin::Stream *stream, char *to,
                        uint32_t value, size_t count) {
  enqueueWork(engine, stream, [=] {
    auto *words = reinterpret_cast<uint32_t *>(to);
    // The host may poll these words.
    for (size_t i = 0; i < count; ++i)
      std::atomic_ref<uint32_t>(words[i]).store(value,
                                                std::memory_order_release);
  });
}

extern "C" {

//===----------------------------------------------------------------------===//
// Errors, devices
//===----------------------------------------------------------------------===//

VEELINE_STANDIN int cuInit(unsigned) {
  Engine &engine = Engine::get();
  std::lock_guard<std::mutex> lock(engine.mutex);
  engine.configure();
  const char *mode = std::getenv("CUDA_MODULE_LOADING");
  engine.loadingMode = mode ? mode : "";
  if (int code = engine.enter("cuInit"))
    return code;
  return engine.numDevices > 0 ? api::success : api::noDevice;
}

VEELINE_STANDIN int cuDriverGetVersion(int *version) {
  Engine &engine = Engine::get();
  std::lock_guard<std::mutex> lock(engine.mutex);
  engine.configure();
  if (int code = engine.enter("cuDriverGetVersion"))
    return code;
  *version = engine.driverVersion;
  return api::success;
}

VEELINE_STANDIN int cuGetErrorName(int error, const char **name) {
  *name = nullptr;
#define ERROR(text, code)                                                      \
  if (error == code)                                                           \
    *name = #text;
#include "CudaErrors.inc"
#undef ERROR
  return *name ? api::success : invalidValue;
}

VEELINE_STANDIN int cuGetErrorString(int, const char **text) {
  *text = "the stand-in was told to say so";
  return api::success;
}

VEELINE_STANDIN int cuDeviceGetCount(int *count) {
  ENTER("cuDeviceGetCount", false);
  *count = engine.numDevices;
  return api::success;
}

VEELINE_STANDIN int cuDeviceGet(api::Device *device, int ordinal) {
  ENTER("cuDeviceGet", false);
  *device = ordinal;
  return ordinal >= 0 && ordinal < engine.numDevices ? api::success
                                                     : invalidDevice;
}

VEELINE_STANDIN int cuDeviceGetName(char *name, int bytes, api::Device) {
  ENTER("cuDeviceGetName", false);
  std::strncpy(name, "stand-in", static_cast<size_t>(bytes));
  return api::success;
}

VEELINE_STANDIN int cuDeviceGetAttribute(int *value, int attribute,
                                         api::Device) {
  ENTER("cuDeviceGetAttribute", false);
  if (attribute == api::computeCapabilityMajor)
    *value = engine.chip / 10;
  else if (attribute == api::computeCapabilityMinor)
    *value = engine.chip % 10;
  else
    return invalidValue;
  return api::success;
}

VEELINE_STANDIN int cuDeviceGetUuid_v2(api::Uuid *uuid, api::Device device) {
  ENTER("cuDeviceGetUuid_v2", false);
  *uuid = {};
  // The same in all processes of the machine.
  std::snprintf(uuid->bytes, sizeof(uuid->bytes), "stand-in %d", device);
  return api::success;
}

VEELINE_STANDIN int cuDevicePrimaryCtxRetain(api::Context *context,
                                             api::Device device) {
  ENTER("cuDevicePrimaryCtxRetain", false);
  ++engine.contexts[device];
  // NOLINTNEXTLINE(performance-no-int-to-ptr): nothing is read there.
  *context = reinterpret_cast<api::Context>(static_cast<intptr_t>(device + 1));
  return api::success;
}

VEELINE_STANDIN int cuDevicePrimaryCtxRelease_v2(api::Device device) {
  ENTER("cuDevicePrimaryCtxRelease_v2", false);
  if (engine.contexts[device] == 0)
    return invalidContext;
  --engine.contexts[device];
  return api::success;
}

VEELINE_STANDIN int cuCtxSetCurrent(api::Context context) {
  ENTER("cuCtxSetCurrent", false);
  currentContext = static_cast<int>(reinterpret_cast<intptr_t>(context));
  return api::success;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

VEELINE_STANDIN int cuMemGetInfo_v2(size_t *available, size_t *total) {
  ENTER("cuMemGetInfo_v2");
  *total = static_cast<size_t>(engine.deviceBytes);
  int64_t used =
      engine.allocatedBytes(currentContext - 1) + engine.reservedBytes;
  *available = *total - std::min(*total, static_cast<size_t>(used));
  return api::success;
}

VEELINE_STANDIN int cuMemAlloc_v2(api::DevicePointer *place, size_t bytes) {
  ENTER("cuMemAlloc_v2");
  if (bytes == 0)
    return invalidValue;
  Allocation *allocation =
      engine.allocate(static_cast<int64_t>(bytes), currentContext - 1);
  if (!allocation)
    return api::outOfMemory;
  *place = reinterpret_cast<api::DevicePointer>(allocation->address);
  return api::success;
}

VEELINE_STANDIN int cuMemFree_v2(api::DevicePointer place) {
  ENTER("cuMemFree_v2");
  return engine.release(toHost(place)) ? api::success : invalidValue;
}

VEELINE_STANDIN int cuMemGetAddressRange_v2(api::DevicePointer *first,
                                            size_t *bytes,
                                            api::DevicePointer place) {
  ENTER("cuMemGetAddressRange_v2");
  const Allocation *allocation = engine.allocationOf(toHost(place));
  if (!allocation)
    return invalidValue;
  *first = reinterpret_cast<api::DevicePointer>(allocation->address);
  *bytes = static_cast<size_t>(allocation->bytes);
  return api::success;
}

VEELINE_STANDIN int cuMemHostAlloc(void **place, size_t bytes, unsigned) {
  ENTER("cuMemHostAlloc");
  *place = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!*place)
    return api::outOfMemory;
  engine.pinned[static_cast<const char *>(*place)] =
      static_cast<int64_t>(bytes);
  return api::success;
}

VEELINE_STANDIN int cuMemFreeHost(void *place) {
  ENTER("cuMemFreeHost");
  if (!engine.pinned.erase(static_cast<const char *>(place)))
    return invalidValue;
  std::free(place);
  return api::success;
}

VEELINE_STANDIN int cuMemcpyHtoDAsync_v2(api::DevicePointer target,
                                         const void *source, size_t bytes,
                                         api::Stream handle) {
  ENTER("cuMemcpyHtoDAsync_v2");
  standin::Stream *stream = streamOf(engine, handle);
  char *to = engine.find(toHost(target), static_cast<int64_t>(bytes));
  if (!stream)
    return invalidHandle;
  if (!to)
    return invalidValue;
  if (engine.isPinned(source, static_cast<int64_t>(bytes))) {
    // The source is read when the stream comes to the copy.
    enqueueWork(engine, stream, [=] { std::memcpy(to, source, bytes); });
    return api::success;
  }
  auto *from = static_cast<const char *>(source);
  std::vector<char> copy(from, from + bytes);
  enqueueWork(engine, stream, [to, copy = std::move(copy)] {
    // Nothing may be copied: memcpy takes no null pointer even then.
    std::copy(copy.begin(), copy.end(), to);
  });
  return api::success;
}

VEELINE_STANDIN int cuMemcpyDtoHAsync_v2(void *target,
                                         api::DevicePointer source,
                                         size_t bytes, api::Stream handle) {
  ENTER("cuMemcpyDtoHAsync_v2");
  standin::Stream *stream = streamOf(engine, handle);
  const char *from = engine.find(toHost(source), static_cast<int64_t>(bytes));
  if (!stream)
    return invalidHandle;
  if (!from)
    return invalidValue;
  bool isPinned = engine.isPinned(target, static_cast<int64_t>(bytes));
  if (stream->capture && !isPinned)
    return captureUnsupported;
  enqueueWork(engine, stream, [=] { std::memcpy(target, from, bytes); });
  // Memory that is not pinned is copied before the call returns.
  if (!isPinned)
    engine.finish(stream);
  return api::success;
}

VEELINE_STANDIN int cuMemcpyDtoDAsync_v2(api::DevicePointer target,
                                         api::DevicePointer source,
                                         size_t bytes, api::Stream handle) {
  ENTER("cuMemcpyDtoDAsync_v2");
  standin::Stream *stream = streamOf(engine, handle);
  char *to = engine.find(toHost(target), static_cast<int64_t>(bytes));
  const char *from = engine.find(toHost(source), static_cast<int64_t>(bytes));
  if (!stream)
    return invalidHandle;
  if (!to || !from)
    return invalidValue;
  enqueueWork(engine, stream, [=] { std::memcpy(to, from, bytes); });
  return api::success;
}

VEELINE_STANDIN int cuMemsetD8Async(api::DevicePointer target,
                                    unsigned char value, size_t count,
                                    api::Stream handle) {
  ENTER("cuMemsetD8Async");
  standin::Stream *stream = streamOf(engine, handle);
  char *to = engine.find(toHost(target), static_cast<int64_t>(count));
  if (!stream)
    return invalidHandle;
  if (!to)
    return invalidValue;
  enqueueWork(engine, stream, [=] { std::memset(to, value, count); });
  return api::success;
}

/// `target` is memory of a device, or pinned memory.
VEELINE_STANDIN int cuMemsetD32Async(api::DevicePointer target, unsigned value,
                                     size_t count, api::Stream handle) {
  ENTER("cuMemsetD32Async");
  standin::Stream *stream = streamOf(engine, handle);
  auto bytes = static_cast<int64_t>(4 * count);
  char *to = engine.find(toHost(target), bytes);
  if (!to && engine.isPinned(toHost(target), bytes)) {
    to = const_cast<char *>(toHost(target));
    if (stream && stream->capture && engine.capturesNoFills) {
      stream->capture->isInvalid = true;
      return invalidValue;
    }
  }
  if (!stream)
    return invalidHandle;
  if (!to)
    return invalidValue;
  enqueueFill(engine, stream, to, value, count);
  return api::success;
}

/// `target` is as in cuMemsetD32Async.
VEELINE_STANDIN int cuStreamWriteValue32_v2(api::Stream handle,
                                            api::DevicePointer target,
                                            unsigned value, unsigned flags) {
  ENTER("cuStreamWriteValue32_v2");
  standin::Stream *stream = streamOf(engine, handle);
  char *to = engine.find(toHost(target), 4);
  if (!to && engine.isPinned(toHost(target), 4))
    to = const_cast<char *>(toHost(target));
  if (!stream)
    return invalidHandle;
  if (!to || flags != 0)
    return invalidValue;
  enqueueFill(engine, stream, to, value, 1);
  return api::success;
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

VEELINE_STANDIN int cuStreamCreate(api::Stream *handle, unsigned) {
  ENTER("cuStreamCreate");
  auto *stream = new standin::Stream();
  static uint64_t numStreams = 0;
  stream->number = numStreams++;
  engine.streams.insert(stream);
  *handle = reinterpret_cast<api::Stream>(stream);
  return api::success;
}

VEELINE_STANDIN int cuStreamDestroy_v2(api::Stream handle) {
  ENTER("cuStreamDestroy_v2");
  standin::Stream *stream = streamOf(engine, handle);
  if (!stream)
    return invalidHandle;
  engine.finish(stream);
  engine.streams.erase(stream);
  delete stream;
  return api::success;
}

VEELINE_STANDIN int cuStreamSynchronize(api::Stream handle) {
  ENTER("cuStreamSynchronize");
  standin::Stream *stream = streamOf(engine, handle);
  if (!stream)
    return invalidHandle;
  if (stream->capture)
    return captureUnsupported;
  engine.finish(stream);
  return api::success;
}

VEELINE_STANDIN int cuStreamQuery(api::Stream handle) {
  ENTER("cuStreamQuery");
  standin::Stream *stream = streamOf(engine, handle);
  if (!stream)
    return invalidHandle;
  if (stream->capture)
    return captureUnsupported;
  return engine.advance(stream) ? api::success : api::notReady;
}

VEELINE_STANDIN int cuStreamWaitEvent(api::Stream handle,
                                      api::Event eventHandle, unsigned) {
  ENTER("cuStreamWaitEvent");
  standin::Stream *stream = streamOf(engine, handle);
  standin::Event *event = eventOf(engine, eventHandle);
  if (!stream || !event)
    return invalidHandle;
  if (event->capture && event->capture->isOver)
    return capturedEvent;
  // The event takes the stream into its capture. The stream must not be in
  // another one.
  if (event->capture && !stream->capture)
    stream->capture = event->capture;
  if (event->capture != stream->capture)
    return captureIsolation;
  // Nobody waits for an event that was never recorded.
  if (event->recorded == 0)
    return api::success;
  Op op;
  op.awaited = event;
  op.turn = event->recorded;
  engine.enqueue(stream, std::move(op));
  return api::success;
}

VEELINE_STANDIN int cuEventCreate(api::Event *handle, unsigned flags) {
  ENTER("cuEventCreate");
  auto *event = new standin::Event();
  event->isTimed = !(flags & api::disableTiming);
  engine.events.insert(event);
  *handle = reinterpret_cast<api::Event>(event);
  return api::success;
}

VEELINE_STANDIN int cuEventDestroy_v2(api::Event handle) {
  ENTER("cuEventDestroy_v2");
  standin::Event *event = eventOf(engine, handle);
  if (!event)
    return invalidHandle;
  // Streams may still refer to it.
  engine.finishAll();
  engine.events.erase(event);
  delete event;
  return api::success;
}

VEELINE_STANDIN int cuEventRecord(api::Event handle, api::Stream streamHandle) {
  ENTER("cuEventRecord");
  standin::Event *event = eventOf(engine, handle);
  standin::Stream *stream = streamOf(engine, streamHandle);
  if (!stream || !event)
    return invalidHandle;
  // Before an event moves to another stream, its last record is completed.
  if (event->stream && event->stream != stream && !event->capture)
    engine.finish(event, event->recorded);
  event->stream = stream;
  event->capture = stream->capture;
  Op op;
  op.recorded = event;
  op.turn = ++event->recorded;
  engine.enqueue(stream, std::move(op));
  return api::success;
}

VEELINE_STANDIN int cuEventQuery(api::Event handle) {
  ENTER("cuEventQuery");
  standin::Event *event = eventOf(engine, handle);
  if (!event)
    return invalidHandle;
  if (event->capture)
    return captureUnsupported;
  return engine.advance(event, event->recorded) ? api::success : api::notReady;
}

VEELINE_STANDIN int cuEventElapsedTime(float *milliseconds,
                                       api::Event beginHandle,
                                       api::Event endHandle) {
  ENTER("cuEventElapsedTime");
  standin::Event *begin = eventOf(engine, beginHandle);
  standin::Event *end = eventOf(engine, endHandle);
  for (standin::Event *event : {begin, end}) {
    if (!event || !event->isTimed || event->recorded == 0 || event->capture)
      return invalidHandle;
    if (event->completed < event->recorded)
      return api::notReady;
  }
  *milliseconds =
      std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return api::success;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

VEELINE_STANDIN int cuStreamBeginCapture_v2(api::Stream handle, int mode) {
  ENTER("cuStreamBeginCapture_v2");
  standin::Stream *stream = streamOf(engine, handle);
  if (!stream)
    return invalidHandle;
  if (stream->capture || mode != api::captureThreadLocal)
    return illegalState;
  engine.captures.push_back(std::make_unique<Capture>());
  stream->capture = engine.captures.back().get();
  stream->capture->origin = stream;
  stream->capture->thread = std::this_thread::get_id();
  return api::success;
}

VEELINE_STANDIN int cuStreamEndCapture(api::Stream handle, api::Graph *graph) {
  ENTER("cuStreamEndCapture");
  standin::Stream *stream = streamOf(engine, handle);
  if (!stream)
    return invalidHandle;
  Capture *capture = stream->capture;
  if (!capture || capture->origin != stream)
    return illegalState;
  if (capture->thread != std::this_thread::get_id())
    return captureOfAnotherThread;
  bool isJoined = capture->isJoined();
  capture->isOver = true;
  for (standin::Stream *each : engine.streams)
    if (each->capture == capture)
      each->capture = nullptr;
  *graph = nullptr;
  if (capture->isInvalid)
    return captureInvalidated;
  auto lists = std::move(capture->lists);
  if (!isJoined)
    return captureUnjoined;
  auto made = std::make_shared<Graph>();
  std::map<uint64_t, std::vector<standin::Op> *> byNumber;
  for (auto &[each, ops] : lists)
    byNumber[each->number] = &ops;
  for (auto &[number, ops] : byNumber)
    made->lists.push_back(std::move(*ops));
  engine.graphs[made.get()] = made;
  *graph = reinterpret_cast<api::Graph>(made.get());
  return api::success;
}

VEELINE_STANDIN int cuGraphInstantiateWithFlags(api::GraphExec *executable,
                                                api::Graph graph,
                                                unsigned long long) {
  ENTER("cuGraphInstantiateWithFlags");
  auto known = engine.graphs.find(graph);
  if (known == engine.graphs.end())
    return invalidHandle;
  auto copy = std::make_shared<Graph>(*known->second);
  engine.graphs[copy.get()] = copy;
  *executable = reinterpret_cast<api::GraphExec>(copy.get());
  return api::success;
}

VEELINE_STANDIN int cuGraphLaunch(api::GraphExec executable,
                                  api::Stream handle) {
  ENTER("cuGraphLaunch");
  standin::Stream *stream = streamOf(engine, handle);
  auto known = engine.graphs.find(executable);
  if (!stream || known == engine.graphs.end())
    return invalidHandle;
  Op op;
  op.shared = [&engine, graph = known->second]() -> Progress {
    return [run = std::make_shared<GraphRun>(engine, graph)] {
      return run->advance();
    };
  };
  engine.enqueue(stream, std::move(op));
  return api::success;
}

VEELINE_STANDIN int cuGraphDestroy(api::Graph graph) {
  ENTER("cuGraphDestroy");
  return engine.graphs.erase(graph) ? api::success : invalidHandle;
}

VEELINE_STANDIN int cuGraphExecDestroy(api::GraphExec executable) {
  ENTER("cuGraphExecDestroy");
  return engine.graphs.erase(executable) ? api::success : invalidHandle;
}

} // extern "C"
