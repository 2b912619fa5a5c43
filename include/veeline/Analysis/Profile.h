//===- Profile.h - measured times of a model's pieces -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the file that `veeline train --profile` wrote, for another compilation
// of the same model, which may be cut elsewhere.
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
/// piece after the producer's last piece, `to` is the consumer's first piece.
struct PieceEdge {
  int64_t from = 0;
  int64_t to = 0;
  int64_t bytes = 0;

  friend bool operator==(const PieceEdge &, const PieceEdge &) = default;
};

class Profile {
public:
  /// Reads a file. The error does not contain the path.
  static llvm::Expected<Profile> read(llvm::StringRef path);

  const std::string &getModel() const { return model; }
  const std::string &getFingerprint() const { return fingerprint; }
  /// The number of pieces of the whole model.
  int64_t getNumPieces() const;

  /// Divides piece i into `parts[i]` fine pieces. From then on pieces are
  /// counted as fine pieces.
  void refine(llvm::ArrayRef<int64_t> parts);

  /// The time of F, B and W together for each piece, in nanoseconds. The time
  /// of a chunk is divided among its pieces in proportion to `estimates`, which
  /// has a number for each piece.
  std::vector<double> getTimes(llvm::ArrayRef<double> estimates) const;

  /// The scale of a chunk of pieces [begin, end): the mean of the pieces'
  /// scales, weighted by `estimates`.
  CostScale getScale(int64_t begin, int64_t end,
                     llvm::ArrayRef<double> estimates) const;

  /// The times of messages in nanoseconds. Each edge has two, that of the
  /// activation, then that of the gradient. An edge that was measured between
  /// the same pieces has its measured times, other edges the mean of all
  /// messages. Empty if no message was measured.
  std::vector<double> getTransfers(llvm::ArrayRef<PieceEdge> edges) const;

  /// The bytes of an all-reduce and the nanoseconds that it took; none if none
  /// was measured.
  std::optional<std::array<double, 2>> getAllReduce() const {
    return allReduce;
  }
  /// The bytes that the updates of a step read and write, and the nanoseconds
  /// that they took; none if none was measured.
  std::optional<std::array<double, 2>> getUpdates() const { return updates; }
  /// The optimiser of these updates, in the form of `describeOptimizer`.
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
  /// The mean over all messages.
  std::optional<double> meanTransfer;
  std::optional<std::array<double, 2>> allReduce, updates;
};

} // namespace veeline

#endif // VEELINE_ANALYSIS_PROFILE_H
