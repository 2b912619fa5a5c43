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

/// The maximal number of elements of a tensor. Its size in bytes then fits into
/// an int64_t.
inline constexpr int64_t maxElements = int64_t(1) << 48;

inline bool isInteger(DataType type) {
  return type == DataType::i1 || type == DataType::i8 ||
         type == DataType::i16 || type == DataType::i32 ||
         type == DataType::i64;
}

inline bool isOfGather(OpKind kind) {
  return kind == OpKind::allGather || kind == OpKind::allGatherWait;
}

/// Whether a piece is the gradient of a parameter whose gradients are
/// scattered.
bool isScattered(const ReducedPiece &piece, const Rank &rank,
                 const std::vector<Parameter> &params);
/// Whether an accumulator of a rank is a piece whose sums are scattered.
bool isScatteredPiece(const Accumulator &sum, const Rank &rank);
/// Checks rules that concern an entry alone, independent of its program and
/// rank. Keeps the first rule that is broken, with its place in the metadata.
class Rules {
protected:
  void require(bool condition, const std::string &where, const char *rule);
  void checkShape(const std::vector<int64_t> &shape, const std::string &where);
  /// Which ops are late for clipping's sake, and which may not be.
  void checkClipSync(const Rank &rank, const Program &program,
                     const std::string &where);
  /// Each op that waits for a reduction follows one that posts it.
  void checkWaits(const std::vector<Op> &ops, const std::string &where);
  void checkGemm(const Gemm &gemm, const std::string &where);
  void checkConvolution(const Convolution &convolution,
                        const std::string &where);

  /// Empty as long as no rule is broken.
  std::string message;

private:
  void checkWindow(const Convolution &convolution, size_t i,
                   const std::string &where);
};

} // namespace veeline::artifact

#endif // VEELINE_RUNTIME_ARTIFACT_RULES_H
