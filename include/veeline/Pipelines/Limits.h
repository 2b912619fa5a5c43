//===- Limits.h - limits of memory as text ----------------------*- C++ -*-===//
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

/// Reads one limit in bytes ("2GiB") for all stages, or one for each. Returns
/// what is wrong, or empty.
std::string parseMemoryLimits(std::span<const std::string> texts, int stages,
                              std::vector<int64_t> &limits);

} // namespace veeline

#endif // VEELINE_PIPELINES_LIMITS_H
