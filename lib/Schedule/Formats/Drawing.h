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

/// Returns the name of a kind for a legend, such as "F, forward" or "B,
/// gradient of inputs".
const char *legendName(OpKind kind);

/// Returns the colour "#rrggbb" of an operation on local chunk `local` of `v`.
/// Each kind has one hue, from light for the first chunk to dark for the last.
std::string fillColor(OpKind kind, int local, int v);
/// Returns black or white, whichever is legible on `fill`.
const char *textColor(const std::string &fill);

/// The part of its lane, from 0 at the top to 1, that an operation covers. An
/// operation in an overlapped block covers half of it.
struct LaneShare {
  double top = 0;
  double height = 1;
};
std::vector<LaneShare> laneShares(const Schedule &schedule, int stage);

/// Returns the `memoryCurve` of a stage, extended to the end of the step.
std::vector<MemoryPoint> drawnMemory(const Solution &solution, int stage);

/// Returns a text such as "8 stages of 2 chunks, 24 microbatches". It also says
/// how messages are transferred, unless that is the default.
std::string sizeLine(const Solution &solution);

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_FORMATS_DRAWING_H
