//===- CudaCall.h - a call of the stand-in of the CUDA driver ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_STANDIN_CUDACALL_H
#define VEELINE_TEST_STANDIN_CUDACALL_H

#include "Engine.h"

namespace veeline::standin {

// CUresult
inline constexpr int invalidValue = 1, invalidHandle = 400;

/// Begins a call of the driver: takes the lock, and finds out whether the call
/// fails at once.
class Call {
public:
  explicit Call(const char *function, bool needsContext = true);

  Engine &engine;
  int code = 0;

private:
  std::lock_guard<std::mutex> lock;
};

#define ENTER(...)                                                             \
  Call call(__VA_ARGS__);                                                      \
  if (call.code)                                                               \
    return call.code;                                                          \
  Engine &engine = call.engine;                                                \
  (void)engine

inline const char *toHost(cuda::api::DevicePointer place) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver's are numbers.
  return reinterpret_cast<const char *>(place);
}

inline Stream *streamOf(Engine &engine, cuda::api::Stream handle) {
  auto *stream = reinterpret_cast<Stream *>(handle);
  return engine.streams.count(stream) ? stream : nullptr;
}

} // namespace veeline::standin

#endif // VEELINE_TEST_STANDIN_CUDACALL_H
