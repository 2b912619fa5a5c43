//===- Drawing.h - shared code of pictures of schedules ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_FORMATS_DRAWING_H
#define VEELINE_LIB_SCHEDULE_FORMATS_DRAWING_H

#include "veeline/Schedule/Formats/Formats.h"

#include <array>

namespace veeline::schedule {

inline constexpr std::array<OpKind, numOpKinds> drawnKinds{
    OpKind::Forward, OpKind::Recompute, OpKind::BackwardInput,
    OpKind::BackwardWeight, OpKind::Backward};

/// "F, forward", "B, gradient of inputs", ...: for a legend.
const char *legendName(OpKind kind);

/// "#rrggbb" for an operation on local chunk `local` of `v`: one hue a kind,
/// from light for the first chunk to dark for the last.
std::string fillColor(OpKind kind, int local, int v);
/// Black or white, whichever can be read on `fill`.
const char *textColor(const std::string &fill);

/// The part of its lane, from 0 at the top to 1, that an operation covers: half
/// of it in an overlapped block.
struct LaneShare {
  double top = 0;
  double height = 1;
};
std::vector<LaneShare> laneShares(const Schedule &schedule, int stage);

/// `memoryCurve` of a stage, to the end of the step.
std::vector<MemoryPoint> drawnMemory(const Solution &solution, int stage);

/// "8 stages of 2 chunks, 24 microbatches", and how messages pass, where that
/// is not the default.
std::string sizeLine(const Solution &solution);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_FORMATS_DRAWING_H
