//===- Rules.h - helpers for the rules of metadata --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ARTIFACT_RULES_H
#define VEELINE_RUNTIME_ARTIFACT_RULES_H

#include "veeline/artifact.h"

#include <cstdint>
#include <string>
#include <vector>

namespace veeline::artifact {

/// The most elements that a tensor may have: so many times the size of an
/// element fit an int64_t.
inline constexpr int64_t maxElements = int64_t(1) << 48;

inline bool isInteger(DataType type) {
  return type == DataType::i1 || type == DataType::i8 ||
         type == DataType::i16 || type == DataType::i32 ||
         type == DataType::i64;
}

/// Keeps the first rule that is broken, after where it is. These rules concern
/// an entry alone, whatever program and rank it is in.
class Rules {
protected:
  void require(bool condition, const std::string &where, const char *rule);
  void checkShape(const std::vector<int64_t> &shape, const std::string &where);
  void checkGemm(const Gemm &gemm, const std::string &where);
  void checkConvolution(const Convolution &convolution,
                        const std::string &where);

  /// Empty while no rule is broken.
  std::string message;

private:
  void checkWindow(const Convolution &convolution, size_t i,
                   const std::string &where);
};

} // namespace veeline::artifact

#endif // VEELINE_RUNTIME_ARTIFACT_RULES_H
