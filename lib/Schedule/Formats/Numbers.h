//===- Numbers.h - numbers in files -----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_FORMATS_NUMBERS_H
#define VEELINE_LIB_SCHEDULE_FORMATS_NUMBERS_H

#include "veeline/Support/Numbers.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace veeline::schedule {

using veeline::exactNumber;
using veeline::parseNumber;

/// `value` as printf prints it.
std::string formatted(const char *format, double value);
/// At most `digits` significant digits; millions are whole numbers, without an
/// exponent.
std::string shortNumber(double value, int digits = 6);
/// At most two digits after the point and no zeros at the end: coordinates.
std::string coordinate(double value);
/// A string with its quotes as JSON, in ASCII and without '<', so that it may
/// stand in a script of a page; bytes that are no UTF-8 are replaced.
std::string jsonString(std::string_view text);
/// Text for XML and HTML.
std::string escapedText(std::string_view text);
/// Text for a terminal: control characters but the line feed as \x1B.
std::string printable(std::string_view text);
/// A distance for ticks, 1, 2 or 5 times a power of ten, that gives at most
/// `most` of them up to `length`.
double tickDistance(double length, int most);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_FORMATS_NUMBERS_H
