//===- Text.h - text for where it goes --------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_TEXT_H
#define VEELINE_BASE_TEXT_H

#include <string>
#include <string_view>

namespace veeline {

/// A string with its quotes as JSON, in ASCII and without '<', so that it may
/// stand in a script of a page; bytes that are no UTF-8 are replaced.
std::string jsonString(std::string_view text);
/// Text for XML and HTML.
std::string escapedText(std::string_view text);
/// Text for a terminal: control characters but the line feed as \x1B.
std::string printable(std::string_view text);

} // namespace veeline

#endif // VEELINE_BASE_TEXT_H
