//===- ShortText.h - text without allocations -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_SHORTTEXT_H
#define VEELINE_RUNTIME_ENGINE_SHORTTEXT_H

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace veeline {

/// Text for signal handlers. Writing to it calls no function that is unsafe
/// there. Text that does not fit is left out.
class ShortText {
public:
  ShortText &operator<<(std::string_view text) {
    size_t fits = std::min(text.size(), sizeof(buffer) - used);
    std::copy_n(text.begin(), fits, buffer + used);
    used += fits;
    return *this;
  }

  ShortText &operator<<(int64_t number) {
    char digits[24];
    auto [end, error] = std::to_chars(digits, digits + sizeof(digits), number);
    return *this << std::string_view(digits, static_cast<size_t>(end - digits));
  }

  std::string_view view() const { return {buffer, used}; }

private:
  char buffer[1024];
  size_t used = 0;
};

} // namespace veeline

#endif // VEELINE_RUNTIME_ENGINE_SHORTTEXT_H
