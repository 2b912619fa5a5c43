//===- Drawing.cpp - shared code of pictures of schedules -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Drawing.h"

#include "veeline/Base/Text.h"
#include "veeline/Schedule/Text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace veeline::schedule;

const char *veeline::schedule::legendName(OpKind kind) {
  switch (kind) {
  case OpKind::Forward:
    return "F, forward";
  case OpKind::BackwardInput:
    return "B, gradient of inputs";
  case OpKind::BackwardWeight:
    return "W, gradient of weights";
  case OpKind::Backward:
    return "BW, whole backward";
  case OpKind::Recompute:
    return "R, recomputation";
  }
  return "?";
}

namespace {
struct Color {
  double red, green, blue;
};
struct Hue {
  Color light, dark;
};
} // namespace

/// These hues also differ for colour-blind readers and in grey.
static Hue hueOf(OpKind kind) {
  switch (kind) {
  case OpKind::Forward:
    return {{174, 205, 240}, {58, 110, 178}};
  case OpKind::BackwardInput:
    return {{150, 214, 190}, {22, 128, 102}};
  case OpKind::BackwardWeight:
    return {{253, 220, 140}, {224, 150, 30}};
  case OpKind::Backward:
    return {{214, 186, 228}, {126, 82, 152}};
  case OpKind::Recompute:
    return {{226, 170, 140}, {150, 66, 28}};
  }
  return {};
}

std::string veeline::schedule::fillColor(OpKind kind, int local, int v) {
  auto [light, dark] = hueOf(kind);
  double share = v > 1 ? 0.85 * local / (v - 1) : 0;
  auto mix = [&](double from, double to) {
    return static_cast<int>(std::lround(from + share * (to - from)));
  };
  char text[64];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", mix(light.red, dark.red),
                mix(light.green, dark.green), mix(light.blue, dark.blue));
  return text;
}

const char *veeline::schedule::textColor(const std::string &fill) {
  long color = std::strtol(fill.c_str() + 1, nullptr, 16);
  double luminance = 0.299 * (color >> 16) + 0.587 * (color >> 8 & 255) +
                     0.114 * (color & 255);
  return luminance < 140 ? "#ffffff" : "#1a1a1a";
}

std::vector<LaneShare> veeline::schedule::laneShares(const Schedule &schedule,
                                                     int stage) {
  std::vector<LaneShare> shares(schedule.stages[stage].size());
  if (schedule.overlapped.empty())
    return shares;
  for (int step : schedule.overlapped[stage]) {
    shares[step] = {0, 0.5};
    shares[step + 1] = {0.5, 0.5};
  }
  return shares;
}

std::vector<MemoryPoint>
veeline::schedule::drawnMemory(const Solution &solution, int stage) {
  const auto &[problem, schedule, simulation] = solution;
  std::vector<MemoryPoint> curve =
      memoryCurve(problem, schedule, simulation, stage);
  curve.push_back({simulation.makespan, curve.back().memory});
  return curve;
}

std::string veeline::schedule::sizeLine(const Solution &solution) {
  const Problem &problem = solution.problem;
  return counted(problem.stages(), "stage") + " of " +
         counted(problem.chunksPerStage(), "chunk") + ", " +
         counted(problem.microbatches, "microbatch") +
         ranksNote(problem.widths) + transfersNote(solution.simulation.options);
}
