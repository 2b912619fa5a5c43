//===- Svg.cpp - a picture of a schedule for a paper ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// There is a lane for each stage over a time axis. All operations of one colour
// are one path, so that files stay small.
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/Svg.h"
#include "Drawing.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Schedule/Memory.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace veeline;
using namespace veeline::schedule;

namespace {
/// All lengths, in the units of the picture. These are points when it is
/// printed at its natural size.
struct Layout {
  double width = 960;
  double left = 64, right = 16, top = 62;
  double lane, gap;
  /// The height of the memory curve below each lane; 0 if memory is not drawn.
  double curve = 0;

  double pitch() const { return lane + curve + gap; }
  double plotWidth() const { return width - left - right; }
};

class SvgWriter {
public:
  SvgWriter(const Solution &solution, const SvgOptions &options);
  std::string write();

private:
  double x(double time) const {
    return layout.left + time / span * layout.plotWidth();
  }
  double laneTop(int stage) const {
    return layout.top + stage * layout.pitch();
  }
  double bottom() const { return laneTop(problem.ranks()) - layout.gap; }

  void addHeader();
  void addLegend();
  double addLegendEntry(double x, OpKind kind);
  double addLimitEntry(double x);
  void addAxis();
  void addLaneNames();
  void addLane(int stage);
  void addOperation(int stage, int step, const LaneShare &share);
  void addLabel(double left, double right, double middle, double height,
                const std::string &fill, int microbatch);
  void flushOperations();
  void addMemory(int stage);

  const Solution &solution;
  const Problem &problem;
  const Schedule &schedule;
  const Simulation &simulation;
  Layout layout;
  /// The span of the time axis. This is the makespan, unless that is 0.
  double span;
  std::int64_t highestMemory = 0;
  Svg svg;
  /// Paths by colour, and labels by colour and size.
  std::map<std::string, SvgPath> paths;
  std::map<std::string, std::string> labels;
  std::size_t operations = 0;
};
} // namespace

SvgWriter::SvgWriter(const Solution &solution, const SvgOptions &options)
    : solution(solution), problem(solution.problem),
      schedule(solution.schedule), simulation(solution.simulation),
      span(simulation.makespan > 0 ? simulation.makespan : 1) {
  int stages = problem.ranks();
  layout.lane = stages <= 8 ? 26 : stages <= 16 ? 20 : stages <= 32 ? 14 : 9;
  layout.gap = stages <= 16 ? 3 : 1;
  for (int stage = 0; stage < stages; ++stage) {
    highestMemory =
        std::max(highestMemory, simulation.stages[stage].peakMemory);
    if (auto limit = problem.memoryLimit(problem.stageOfRank(stage)))
      highestMemory = std::max(highestMemory, *limit);
    operations += schedule.stages[stage].size();
  }
  if (options.memory && highestMemory > 0) {
    layout.curve = std::max(0.7 * layout.lane, 10.0);
    layout.gap = stages <= 16 ? 6 : 3;
  }
}

void SvgWriter::addHeader() {
  svg.addText(layout.left, 20, 15, schedule.name, " font-weight=\"bold\"");
  svg.addText(layout.width - layout.right, 20, 11.5,
              sizeLine(solution) + "; makespan " +
                  shortNumber(simulation.makespan) + "; bubble " +
                  formatted("%.4f", simulation.bubbleMakespan) + " (of span " +
                  formatted("%.4f", simulation.bubbleSpan) + "); peak memory " +
                  formatMemory(problem, simulation.peakMemory()),
              " text-anchor=\"end\" fill=\"#555\"");
}

/// Adds a square for each chunk of a stage, and the meaning of the colour.
double SvgWriter::addLegendEntry(double x, OpKind kind) {
  int v = problem.chunksPerStage(), shown = std::min(v, 4);
  for (int i = 0; i < shown; ++i) {
    int local = shown > 1 ? i * (v - 1) / (shown - 1) : 0;
    svg.addRectangle(x, 33, 11, 11, fillColor(kind, local, v));
    x += 12;
  }
  std::string name = legendName(kind);
  svg.addText(x + 4, 42.5, 11, name);
  return x + 4 + Svg::widthOf(name) + 16;
}

static constexpr const char *limitStroke =
    " stroke=\"#c0392b\" stroke-width=\"0.7\" stroke-dasharray=\"4 3\"";

double SvgWriter::addLimitEntry(double x) {
  constexpr std::string_view name = "memory limit";
  svg.addPath(limitStroke, SvgPath().moveTo(x, 38.5).horizontalBy(20));
  svg.addText(x + 24, 42.5, 11, name);
  return x + 24 + Svg::widthOf(name) + 16;
}

void SvgWriter::addLegend() {
  bool isUsed[numOpKinds] = {};
  for (const std::vector<Op> &ops : schedule.stages)
    for (const Op &op : ops)
      isUsed[static_cast<int>(op.kind)] = true;
  double x = layout.left;
  for (OpKind kind : drawnKinds)
    if (isUsed[static_cast<int>(kind)])
      x = addLegendEntry(x, kind);
  if (layout.curve > 0 && !problem.memoryLimits.empty())
    x = addLimitEntry(x);
  if (problem.chunksPerStage() > 1)
    svg.addText(x, 42.5, 11, "light to dark: first to last chunk of the stage",
                " fill=\"#555\"");
}

void SvgWriter::addAxis() {
  double y = bottom() + 6;
  SvgPath path;
  path.moveTo(layout.left, y).horizontalTo(layout.width - layout.right);
  double distance = tickDistance(span, 10);
  int ticks = static_cast<int>(std::floor(span / distance * (1 + 1e-9)));
  for (int i = 0; i <= ticks; ++i)
    path.moveTo(x(i * distance), y).verticalBy(4);
  svg.addPath(" fill=\"none\" stroke=\"#444\" stroke-width=\"0.8\"", path);
  for (int i = 0; i <= ticks; ++i)
    svg.addText(x(i * distance), y + 15, 10.5, shortNumber(i * distance),
                " text-anchor=\"middle\" fill=\"#333\"");
  svg.addText(layout.left + layout.plotWidth() / 2, y + 30, 11, "time",
              " text-anchor=\"middle\" fill=\"#333\"");
}

/// Adds every name if there is room, else every second, fourth and so on.
void SvgWriter::addLaneNames() {
  int every = 1;
  while (every * layout.pitch() < 11)
    every *= 2;
  double size = std::min(11.5, 0.6 * layout.lane + 4);
  for (int stage = 0; stage < problem.ranks(); stage += every)
    svg.addText(layout.left - 8, laneTop(stage) + layout.lane / 2 + 0.35 * size,
                size, problem.labelOfRank(stage),
                " text-anchor=\"end\" fill=\"#333\"");
}

/// Adds the number of the microbatch if it fits.
void SvgWriter::addLabel(double left, double right, double middle,
                         double height, const std::string &fill,
                         int microbatch) {
  std::string text = std::to_string(microbatch);
  // Room is checked as if all numbers had the same length. If only some
  // operations had numbers, they would look like two kinds.
  double digits = std::to_string(problem.microbatches - 1).size();
  double room = (right - left - 2) / (0.58 * digits);
  double size = std::floor(2 * std::min({room, 0.62 * height, 11.0})) / 2;
  if (size < 5.5)
    return;
  labels["font-size=\"" + coordinate(size) + "\" fill=\"" + textColor(fill) +
         "\""] += "<text x=\"" + coordinate((left + right) / 2) + "\" y=\"" +
                  coordinate(middle + 0.36 * size) + "\">" + text + "</text>";
}

void SvgWriter::addOperation(int stage, int step, const LaneShare &share) {
  const Op &op = schedule.stages[stage][step];
  double left = x(simulation.start[stage][step]);
  double right = x(simulation.end[stage][step]);
  double top = laneTop(stage) + share.top * layout.lane;
  double height = share.height * layout.lane;
  if (right - left <= 0)
    return;
  std::string fill = fillColor(op.kind, problem.placement.localChunk(op.chunk),
                               problem.chunksPerStage());
  paths[fill]
      .moveTo(left, top)
      .horizontalTo(right)
      .verticalBy(height)
      .horizontalTo(left)
      .close();
  addLabel(left, right, top + height / 2, height, fill, op.microbatch);
}

void SvgWriter::addLane(int stage) {
  svg.addRectangle(layout.left, laneTop(stage), layout.plotWidth(), layout.lane,
                   "#f1f1ef");
  std::vector<LaneShare> shares = laneShares(schedule, stage);
  for (int step = 0, e = shares.size(); step < e; ++step)
    addOperation(stage, step, shares[step]);
}

void SvgWriter::flushOperations() {
  // There is a thin line between operations, unless they are about as thin.
  double mean = layout.plotWidth() * problem.ranks() /
                std::max<std::size_t>(operations, 1);
  double line = std::clamp((mean - 2) / 12, 0.0, 0.7);
  // Otherwise the background would show at the edges of very thin operations.
  svg.add("<g stroke=\"#ffffff\" stroke-width=\"" + coordinate(line) +
          (mean < 3 ? "\" shape-rendering=\"crispEdges\">\n" : "\">\n"));
  for (const auto &[fill, path] : paths)
    svg.addPath(" fill=\"" + fill + "\"", path);
  svg.add("</g>\n<g text-anchor=\"middle\">\n");
  for (const auto &[style, texts] : labels) {
    svg.add("<g " + style + ">");
    svg.add(texts);
    svg.add("</g>\n");
  }
  svg.add("</g>\n");
}

void SvgWriter::addMemory(int stage) {
  double base = laneTop(stage) + layout.lane + layout.curve;
  auto y = [&](std::int64_t amount) {
    return base - (layout.curve - 1) * amount / highestMemory;
  };
  SvgPath path;
  path.moveTo(layout.left, base);
  for (const MemoryPoint &point : drawnMemory(solution, stage))
    path.horizontalTo(x(point.time)).verticalTo(y(point.memory));
  svg.addPath(" fill=\"#cfcfcb\" stroke=\"#8a8a85\" stroke-width=\"0.5\"",
              path.verticalTo(base).close());
  if (auto limit = problem.memoryLimit(problem.stageOfRank(stage)))
    svg.addPath(limitStroke, SvgPath()
                                 .moveTo(layout.left, y(*limit))
                                 .horizontalTo(layout.width - layout.right));
  if (layout.curve >= 12)
    svg.addText(
        layout.left - 8, base - 1, 9,
        formatMemoryNumber(problem, simulation.stages[stage].peakMemory),
        " text-anchor=\"end\" fill=\"#777\"");
}

std::string SvgWriter::write() {
  addHeader();
  addLegend();
  addLaneNames();
  for (int stage = 0; stage < problem.ranks(); ++stage) {
    addLane(stage);
    if (layout.curve > 0)
      addMemory(stage);
  }
  flushOperations();
  addAxis();
  return svg.finish(layout.width, bottom() + 46,
                    schedule.name + ": " + sizeLine(solution));
}

std::string veeline::schedule::toSvg(const Solution &solution,
                                     const SvgOptions &options) {
  return SvgWriter(solution, options).write();
}
