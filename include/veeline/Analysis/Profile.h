//===- Profile.h - measured times of a model's pieces -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `veeline train --profile` has written, for another compilation of the
// same model, which may cut it elsewhere.
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

/// What measured times of F, B and W are of the cost model's estimates.
using CostScale = std::array<double, 3>;

/// A value that goes from one chunk to another: the piece of the model behind
/// the producer's last, the consumer's first, and its bytes.
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

  /// Counts in parts of pieces, `parts` of each.
  void refine(llvm::ArrayRef<int64_t> parts);

  /// How long F, B and W of each piece take together, in nanoseconds, where
  /// `estimates`, one for each piece, say how the time of a chunk is shared by
  /// its pieces.
  std::vector<double> getTimes(llvm::ArrayRef<double> estimates) const;

  /// The scale of a chunk of pieces [begin, end): the mean of theirs, weighted
  /// with `estimates`.
  CostScale getScale(int64_t begin, int64_t end,
                     llvm::ArrayRef<double> estimates) const;

  /// What a message of each of the edges takes, in nanoseconds: forward, then
  /// its gradient. Where the same edge was measured between the same pieces, it
  /// is what was measured; else the mean of all messages. Empty where none was
  /// measured.
  std::vector<double> getTransfers(llvm::ArrayRef<PieceEdge> edges) const;

  /// The bytes of an all-reduce, and the nanoseconds that it took; none where
  /// none was measured.
  std::optional<std::array<double, 2>> getAllReduce() const {
    return allReduce;
  }

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

  std::string model, fingerprint;
  std::vector<Chunk> chunks;
  std::vector<Edge> edges;
  /// Of all messages.
  std::optional<double> meanTransfer;
  std::optional<std::array<double, 2>> allReduce;
};

} // namespace veeline

#endif // VEELINE_ANALYSIS_PROFILE_H
