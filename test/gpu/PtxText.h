//===- PtxText.h - words of PTX ---------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_PTXTEXT_H
#define VEELINE_TEST_GPU_PTXTEXT_H

#include "Ptx.h"

#include <charconv>
#include <optional>

namespace veeline::gpu {

inline constexpr std::string_view whitespace = " \t\r\n";

std::string_view trim(std::string_view text);
/// Cuts off and returns what precedes the first of `ends`, trimmed.
std::string_view takeUntil(std::string_view &text, std::string_view ends);
/// Cuts off the first line, and returns it without its comment.
std::string_view takeLine(std::string_view &text);
/// Cuts off "(a, b)," and returns what is in the parentheses; nothing, if the
/// text begins otherwise.
std::vector<std::string_view> takeGroup(std::string_view &text);
/// Splits at commas outside of braces.
std::vector<std::string_view> splitOperands(std::string_view text);

template <typename T>
std::optional<T> parseWhole(std::string_view text, int base = 10) {
  T value{};
  const char *begin = std::to_address(text.begin());
  const char *end = begin + text.size();
  auto [rest, error] = std::from_chars(begin, end, value, base);
  return error == std::errc() && rest == end ? std::optional(value)
                                             : std::nullopt;
}

/// A number: 12, -1, 0x3F80, 0f3F800000, which are the bits of an f32, or 0d
/// with those of an f64.
std::optional<uint64_t> parseNumber(std::string_view text);

/// A variable of the memory space `space`, as in
/// `.extern .shared .align 16 .b8 name[64]`: without a number in brackets the
/// launch says the size, and without brackets it is one element.
std::optional<Variable> parseVariable(std::string_view line,
                                      std::string_view space);

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_PTXTEXT_H
