//===- Profile.h - measured times of a model's pieces -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads what `veeline train --profile` has written, for another compilation of
// the same model, which may cut it elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_PROFILE_H
#define VEELINE_ANALYSIS_PROFILE_H

#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace veeline {

/// Measured times of F, B and W, as multiples of the cost model's estimates.
using CostScale = std::array<double, 3>;

/// A value that goes from one chunk to another, and its bytes. `from` is the
/// piece after the producer's last one, `to` the consumer's first one.
struct PieceEdge {
  int64_t from = 0;
  int64_t to = 0;
  int64_t bytes = 0;

  friend bool operator==(const PieceEdge &, const PieceEdge &) = default;
};

class Profile {
public:
  /// Reads a file. The error says what is wrong with it, without its path.
  static llvm::Expected<Profile> read(llvm::StringRef path);

  const std::string &getModel() const { return model; }
  const std::string &getFingerprint() const { return fingerprint; }
  /// Of the whole model.
  int64_t getNumPieces() const;

  /// Counts in fine pieces from here on: piece i becomes `parts[i]`.
  void refine(llvm::ArrayRef<int64_t> parts);

  /// The time of F, B and W together of each piece, in nanoseconds. The time of
  /// a chunk is divided among its pieces in proportion to `estimates`, one for
  /// each.
  std::vector<double> getTimes(llvm::ArrayRef<double> estimates) const;

  /// The scale of a chunk of pieces [begin, end): the mean of theirs, weighted
  /// with `estimates`.
  CostScale getScale(int64_t begin, int64_t end,
                     llvm::ArrayRef<double> estimates) const;

  /// The times of messages in nanoseconds, two for each of the edges: that of
  /// the activation, then that of the gradient. For an edge that was measured
  /// between the same pieces they are what was measured, for others the mean of
  /// all messages. Empty where no message was measured.
  std::vector<double> getTransfers(llvm::ArrayRef<PieceEdge> edges) const;

  /// The bytes of an all-reduce, and the nanoseconds that it took; none where
  /// none was measured.
  std::optional<std::array<double, 2>> getAllReduce() const {
    return allReduce;
  }
  /// The bytes that the updates of a step read and write, and the nanoseconds
  /// that they took; none where none was measured.
  std::optional<std::array<double, 2>> getUpdates() const { return updates; }
  /// The optimiser of these, as describeOptimizer says it.
  const std::string &getOptimizer() const { return optimizer; }

private:
  friend class ProfileReader;
  struct Chunk {
    int64_t pieces = 0;
    double nanoseconds = 0;
    CostScale scale = {1, 1, 1};
  };

  struct Edge {
    PieceEdge pieces;
    std::optional<double> activation, gradient;
  };

  std::string model, fingerprint, optimizer;
  std::vector<Chunk> chunks;
  std::vector<Edge> edges;
  /// Of all messages.
  std::optional<double> meanTransfer;
  std::optional<std::array<double, 2>> allReduce, updates;
};

} // namespace veeline

#endif // VEELINE_ANALYSIS_PROFILE_H
