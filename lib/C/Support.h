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
#include <initializer_list>
#include <new>
#include <string>
#include <string_view>
#include <utility>

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

/// An error if one of the pointers that a function needs is null.
inline VeelineStatus
checkGiven(std::initializer_list<std::pair<const char *, const void *>> all) {
  for (auto [name, pointer] : all)
    if (!pointer)
      return failure(VeelineInvalid, std::string("'") + name + "' is null");
  return success();
}

/// An array for checkGiven. It may be null if nothing is in it.
inline const void *asArray(const void *array, size_t count) {
  return count == 0 ? "" : array;
}

/// Returns from a function if a pointer that it needs is null.
#define VEELINE_NEEDS(...)                                                     \
  if (VeelineStatus given_ = ::veeline::c::checkGiven(__VA_ARGS__);            \
      given_.code != VeelineOk)                                                \
  return given_

inline VeelineStatus give(std::string_view text, VeelineString *target) {
  VEELINE_NEEDS({{"the text's place", target}});
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
