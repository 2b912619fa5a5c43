//===- JsonFile.h - files of JSON from elsewhere ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_JSONFILE_H
#define VEELINE_ANALYSIS_JSONFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>

namespace veeline {

/// Parses JSON as llvm::json::parse does. That recurses for nested lists, so a
/// damaged file could overflow the stack. Therefore deeper nesting than in our
/// files is an error.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

/// Parses a file of at most `maxBytes`. The error does not contain the path.
llvm::Expected<llvm::json::Value> readJson(llvm::StringRef path,
                                           uint64_t maxBytes);

/// `value` as a diagnostic shows it: "none" for null.
std::string printJson(const llvm::json::Value *value);

/// Whether `value` is a number above 0 and at most `limit`.
inline bool isPositive(std::optional<double> value, double limit) {
  return value && *value > 0 && *value <= limit;
}

} // namespace veeline

#endif // VEELINE_ANALYSIS_JSONFILE_H
