//===- Text.h - escaping and splitting of text ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_TEXT_H
#define VEELINE_BASE_TEXT_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace veeline {

/// Quotes a string as JSON, in ASCII and without '<', so that it can be
/// embedded in a script of a page. Bytes that are not UTF-8 are replaced.
std::string jsonString(std::string_view text);
/// Escapes text for XML and HTML in UTF-8. Control characters, and bytes that
/// are not UTF-8, become '?'.
std::string escapedText(std::string_view text);
/// Escapes text for a terminal: control characters other than the line feed are
/// written as in "\x1B".
std::string printable(std::string_view text);

/// The parts of `text` between separators; n separators give n + 1 parts.
std::vector<std::string_view> splitAt(std::string_view text, char separator);
/// `text` without blanks, tabs and carriage returns at both ends.
std::string_view strip(std::string_view text);

/// "1 microbatch", "2 microbatches": `one` is the singular.
std::string counted(std::int64_t count, std::string_view one);

} // namespace veeline

#endif // VEELINE_BASE_TEXT_H
