//===- Suggest.h - did you mean ...? ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_SUGGEST_H
#define VEELINE_BASE_SUGGEST_H

#include <string>
#include <string_view>
#include <vector>

namespace veeline {

/// The name in `known` with the least edit distance to `text`; empty if none is
/// near enough to be what was meant.
std::string nearest(std::string_view text,
                    const std::vector<std::string> &known);

/// "; did you mean 'x'?", or nothing.
std::string suggestion(std::string_view text,
                       const std::vector<std::string> &known);

/// The same for the name of an option, with or without dashes in front. Knows
/// what other programs call it.
std::string suggestionOfOption(std::string_view text,
                               const std::vector<std::string> &known);

/// "a, b, c".
std::string joinNames(const std::vector<std::string> &names);

} // namespace veeline

#endif // VEELINE_BASE_SUGGEST_H
