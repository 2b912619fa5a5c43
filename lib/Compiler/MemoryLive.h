//===- MemoryLive.h - live memory of a rank at each op ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_COMPILER_MEMORYLIVE_H
#define VEELINE_LIB_COMPILER_MEMORYLIVE_H

#include "veeline/artifact.h"

#include <array>

namespace veeline::compiler {

struct MemoryKind {
  artifact::RegionKind kind;
  const char *name;
  /// The letter for pictures as text, and the colour for others.
  char letter;
  const char *color;
  bool isOnDevice = false; ///< Whether only ranks of a GPU have this kind.
};

/// All kinds, in order of their lifetime. The longest-lived kind is drawn at
/// the bottom.
inline constexpr std::array<MemoryKind, 14> memoryKinds = {{
    {artifact::RegionKind::param, "parameters", 'P', "#3a6eb2"},
    {artifact::RegionKind::state, "state", 'S', "#7fa6d8"},
    {artifact::RegionKind::gradient, "gradients", 'G', "#aecdf0"},
    {artifact::RegionKind::input, "inputs", 'I', "#b2483a", true},
    {artifact::RegionKind::constant, "constants", 'C', "#d88a7f", true},
    {artifact::RegionKind::library, "library", 'L', "#8c6d1f", true},
    {artifact::RegionKind::settings, "settings", 'n', "#5f5f5b", true},
    {artifact::RegionKind::report, "reports", 'R', "#b5b5af", true},
    {artifact::RegionKind::residual, "residuals", 'r', "#168066"},
    {artifact::RegionKind::saved, "saved", 's', "#96d6be"},
    {artifact::RegionKind::edge, "edges", 'e', "#7e5298"},
    {artifact::RegionKind::message, "messages", 'm', "#d6bae4"},
    {artifact::RegionKind::workspace, "workspace", 'w', "#e0961e"},
    {artifact::RegionKind::other, "other", 'o', "#8a8a85"},
}};

/// Bytes of each kind, in the order of `memoryKinds`.
using Amounts = std::array<int64_t, memoryKinds.size()>;

int64_t sumOf(const Amounts &amounts);

/// The bytes that are live at each op of a rank, by kind.
class LiveBytes {
public:
  /// For the rank's arena.
  explicit LiveBytes(const artifact::Rank &rank)
      : LiveBytes(rank.regions, rank.ops.size()) {}
  /// For an arena with these regions, while the rank runs `numOps` ops.
  LiveBytes(const std::vector<artifact::Region> &regions, size_t numOps);

  const std::vector<Amounts> &get() const { return live; }
  int64_t getPeak(size_t kind) const;
  /// The op at which the most bytes are live, and their number.
  size_t getPeakOp() const;
  int64_t getPeak() const { return sumOf(live[getPeakOp()]); }

private:
  std::vector<Amounts> live;
};

} // namespace veeline::compiler

#endif // VEELINE_LIB_COMPILER_MEMORYLIVE_H
