//===- MemorySvg.cpp - live memory of ranks, as a picture -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryLive.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Base/Svg.h"
#include "veeline/Compiler/Report.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace veeline;
using namespace veeline::compiler;

namespace {

/// One lane for each rank, over the predicted time, with kinds stacked. Below
/// it, another lane for values in the host's memory.
class MemorySvg {
public:
  explicit MemorySvg(const artifact::Program &program);
  std::string write();

private:
  double x(double time) const {
    return left + time / makespan * (width - left - right);
  }
  double bottomOf(size_t number) const {
    return top + number * (lane + gap) + lane;
  }
  double y(size_t number, int64_t bytes) const {
    return bottomOf(number) - lane * bytes / highest;
  }
  void addText(double x, double y, const std::string &text,
               const char *attributes = "") {
    svg.addText(x, y, 11, text, attributes);
  }
  void addLegend();
  void addLane(size_t number);
  void addArea(size_t number, size_t kind);
  void addAxis();

  static constexpr double width = 960, left = 84, right = 16, top = 62,
                          lane = 90, gap = 14;
  struct Lane {
    const artifact::Rank &rank;
    std::string name;
    int64_t bytes;
    LiveBytes live;
  };
  const artifact::Program &program;
  std::vector<Lane> lanes;
  double makespan = 0;
  int64_t highest = 1;
  Svg svg;
};

} // namespace

MemorySvg::MemorySvg(const artifact::Program &program) : program(program) {
  for (auto [i, rank] : llvm::enumerate(program.ranks)) {
    lanes.push_back(
        {rank, "rank " + std::to_string(i), rank.arenaBytes, LiveBytes(rank)});
    if (!rank.hostRegions.empty())
      lanes.push_back({rank, "its host", rank.hostBytes,
                       LiveBytes(rank.hostRegions, rank.ops.size())});
    highest = std::max({highest, rank.arenaBytes, rank.hostBytes});
    for (const artifact::Op &op : rank.ops)
      makespan = std::max(makespan, op.predictedEnd);
  }
  if (makespan <= 0)
    makespan = 1;
}

void MemorySvg::addLegend() {
  double at = left;
  for (const auto &[number, kind] :
       llvm::enumerate(llvm::ArrayRef(memoryKinds).drop_back())) {
    auto hasKind = [number = number](const Lane &lane) {
      return lane.live.getPeak(number) > 0;
    };
    // Kinds that exist only on a GPU are shown only if some rank has them.
    if (kind.isOnDevice && llvm::none_of(lanes, hasKind))
      continue;
    svg.addRectangle(at, 33, 11, 11, kind.color);
    std::string name = kind.name;
    addText(at + 15, 42.5, name);
    at += 15 + Svg::widthOf(name) + 14;
  }
}

/// Draws the area of a kind from op to op: while the rank waits, its memory is
/// that of the op before. Ops that take no time are drawn, too.
void MemorySvg::addArea(size_t number, size_t kind) {
  auto sumBelow = [&](const Amounts &amounts, size_t end) {
    int64_t sum = 0;
    for (size_t k = 0; k != end; ++k)
      sum += amounts[k];
    return sum;
  };
  struct Step {
    double begin, end, low;
  };
  std::vector<Step> steps;
  SvgPath path;
  double time = 0;
  const auto &[rank, name, bytes, live] = lanes[number];
  for (auto [i, op] : llvm::enumerate(rank.ops)) {
    const Amounts &amounts = live.get()[i];
    double begin = op.predictedBegin >= 0 ? op.predictedBegin : time;
    double high = y(number, sumBelow(amounts, kind + 1));
    if (path.empty()) {
      path.moveTo(x(begin), high);
    } else {
      path.horizontalTo(x(begin)).lineTo(x(begin), high);
      steps.back().end = begin;
    }
    time = std::max(begin, op.predictedEnd);
    steps.push_back({begin, makespan, y(number, sumBelow(amounts, kind))});
  }
  if (path.empty())
    return;
  path.horizontalTo(x(makespan));
  for (const Step &step : llvm::reverse(steps))
    path.lineTo(x(step.end), step.low).horizontalTo(x(step.begin));
  svg.addPath(std::string(" fill=\"") + memoryKinds[kind].color + "\"",
              path.close());
}

void MemorySvg::addLane(size_t number) {
  const auto &[rank, name, bytes, live] = lanes[number];
  svg.addRectangle(left, bottomOf(number) - lane, width - left - right, lane,
                   "#f1f1ef");
  for (size_t kind = 0; kind != memoryKinds.size(); ++kind)
    if (live.getPeak(kind) > 0)
      addArea(number, kind);
  addText(left - 8, bottomOf(number) - lane / 2, name, " text-anchor=\"end\"");
  addText(left - 8, bottomOf(number) - lane / 2 + 14,
          formatted("%.2f MiB", bytes / 1048576.0),
          " text-anchor=\"end\" fill=\"#777\"");
}

void MemorySvg::addAxis() {
  double line = bottomOf(lanes.size() - 1) + 6;
  double distance = tickDistance(makespan, 10);
  svg.addPath(" fill=\"none\" stroke=\"#444\"",
              SvgPath().moveTo(left, line).horizontalTo(width - right));
  for (int i = 0; i * distance <= makespan; ++i)
    addText(x(i * distance), line + 15, shortNumber(i * distance / 1000),
            " text-anchor=\"middle\" fill=\"#333\"");
  addText(left + (width - left - right) / 2, line + 30, "milliseconds",
          " text-anchor=\"middle\" fill=\"#333\"");
}

std::string MemorySvg::write() {
  if (program.ranks.empty())
    return "";
  std::string title = program.schedule + ": memory of " +
                      std::to_string(program.ranks.size()) + " ranks";
  addText(left, 20, title, " font-weight=\"bold\"");
  addLegend();
  for (size_t number = 0; number != lanes.size(); ++number)
    addLane(number);
  addAxis();
  return svg.finish(width, bottomOf(lanes.size() - 1) + 46, title);
}

std::string veeline::compiler::drawMemory(const artifact::Program &program) {
  return MemorySvg(program).write();
}
