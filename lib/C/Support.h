//===- Support.h - results across the C API ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_C_SUPPORT_H
#define VEELINE_LIB_C_SUPPORT_H

#include "veeline-c/Support.h"

#include <cstring>
#include <exception>
#include <new>
#include <string_view>

namespace veeline::c {

inline VeelineStatus success() { return {VeelineOk, nullptr}; }

/// A zero-terminated copy of `text` from malloc, or null if there is no memory.
inline char *copied(std::string_view text) {
  auto *bytes = static_cast<char *>(std::malloc(text.size() + 1));
  if (!bytes)
    return nullptr;
  std::memcpy(bytes, text.data(), text.size());
  bytes[text.size()] = '\0';
  return bytes;
}

inline VeelineStatus failure(VeelineCode code, std::string_view message) {
  char *text = copied(message);
  return {text ? code : VeelineNoMemory, text};
}

inline VeelineStatus give(std::string_view text, VeelineString *target) {
  char *bytes = copied(text);
  if (!bytes)
    return {VeelineNoMemory, nullptr};
  *target = {bytes, text.size()};
  return success();
}

// The compiler's library is built without exceptions, like MLIR.
#ifdef __cpp_exceptions
/// Runs `body` and returns its status. Exceptions of the C++ library become
/// errors, because they must not reach C.
template <typename Body> VeelineStatus guarded(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return {VeelineNoMemory, nullptr};
  } catch (const std::exception &error) {
    return failure(VeelineFailed, error.what());
  } catch (...) {
    return failure(VeelineFailed, "an exception of an unknown type");
  }
}
#endif

} // namespace veeline::c

#endif // VEELINE_LIB_C_SUPPORT_H
