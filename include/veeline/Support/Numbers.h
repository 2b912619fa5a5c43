//===- Numbers.h - numbers as text ------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain C++, no MLIR types.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SUPPORT_NUMBERS_H
#define VEELINE_SUPPORT_NUMBERS_H

#include <optional>
#include <string>
#include <string_view>

namespace veeline {

/// A finite number that is all of `text`.
std::optional<double> parseNumber(std::string_view text);
/// The shortest text that reads back as the same number.
std::string exactNumber(double value);

} // namespace veeline

#endif // VEELINE_SUPPORT_NUMBERS_H
