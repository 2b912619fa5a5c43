//===- Limits.h - parsing memory limits -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain C++, no MLIR types.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_PIPELINES_LIMITS_H
#define VEELINE_PIPELINES_LIMITS_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace veeline {

/// Parses one limit in bytes ("2GiB") for all stages, or one for each. Returns
/// an error message, or empty.
std::string parseMemoryLimits(std::span<const std::string> texts, int stages,
                              std::vector<int64_t> &limits);

} // namespace veeline

#endif // VEELINE_PIPELINES_LIMITS_H
