//===- JsonFile.h - files of JSON that others have written ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_JSONFILE_H
#define VEELINE_ANALYSIS_JSONFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace veeline {

/// As llvm::json::parse, which calls itself for each list in a list and so ends
/// the program where a damaged file has many: what is nested deeper than files
/// of ours is an error.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

/// The same of a file of at most `maxBytes`. The error does not say its path.
llvm::Expected<llvm::json::Value> readJson(llvm::StringRef path,
                                           uint64_t maxBytes);

} // namespace veeline

#endif // VEELINE_ANALYSIS_JSONFILE_H
