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

class Profile {
public:
  /// Reads a file. The error says what is wrong with it, without its path.
  static llvm::Expected<Profile> read(llvm::StringRef path);

  const std::string &getModel() const { return model; }
  /// Of the whole model.
  int64_t getNumPieces() const;

  /// How long F, B and W of each piece take together, in nanoseconds, where
  /// `estimates`, one for each piece, say how the time of a chunk is shared by
  /// its pieces.
  std::vector<double> getTimes(llvm::ArrayRef<double> estimates) const;

  /// The scale of a chunk of pieces [begin, end): the mean of theirs, weighted
  /// with `estimates`.
  CostScale getScale(int64_t begin, int64_t end,
                     llvm::ArrayRef<double> estimates) const;

  /// What a message takes, the mean of those that were measured, in
  /// nanoseconds; none where none was.
  std::optional<double> getTransfer() const { return transfer; }

private:
  friend class ProfileReader;
  struct Chunk {
    int64_t pieces = 0;
    double nanoseconds = 0;
    CostScale scale = {1, 1, 1};
  };

  std::string model;
  std::vector<Chunk> chunks;
  std::optional<double> transfer;
};

} // namespace veeline

#endif // VEELINE_ANALYSIS_PROFILE_H
