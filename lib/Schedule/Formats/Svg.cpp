//===- Svg.cpp - a picture of a schedule for a paper ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lane a stage over a time axis. Operations of one colour are one path, so
// that files stay small.
//
//===----------------------------------------------------------------------===//

#include "../Memory.h"
#include "Drawing.h"
#include "Numbers.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace veeline::schedule;

namespace {
/// All lengths in the units of the picture, which are points when printed at
/// its natural size.
struct Layout {
  double width = 960;
  double left = 64, right = 16, top = 62;
  double lane, gap;
  /// Below each lane; 0 where memory is not drawn.
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

  void addText(double x, double y, double size, const std::string &text,
               const std::string &attributes = "");
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
  /// Of the time axis; the makespan, if that is not 0.
  double span;
  std::int64_t highestMemory = 0;
  std::string body;
  /// Paths by colour, and labels by colour and size.
  std::map<std::string, std::string> paths;
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

void SvgWriter::addText(double x, double y, double size,
                        const std::string &text,
                        const std::string &attributes) {
  body += "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) +
          "\" font-size=\"" + coordinate(size) + "\"" + attributes + ">" +
          escapedText(text) + "</text>\n";
}

static std::string fourDigits(double rate) {
  char text[64];
  std::snprintf(text, sizeof text, "%.4f", rate);
  return text;
}

void SvgWriter::addHeader() {
  std::int64_t peak = 0;
  for (const StageStatistics &stage : simulation.stages)
    peak = std::max(peak, stage.peakMemory);
  addText(layout.left, 20, 15, schedule.name, " font-weight=\"bold\"");
  addText(layout.width - layout.right, 20, 11.5,
          sizeLine(solution) + "; makespan " +
              shortNumber(simulation.makespan) + "; bubble " +
              fourDigits(simulation.bubbleMakespan) + " (of span " +
              fourDigits(simulation.bubbleSpan) + "); peak memory " +
              formatMemory(problem, peak),
          " text-anchor=\"end\" fill=\"#555\"");
}

/// A square for each chunk of a stage, and what the colour means.
double SvgWriter::addLegendEntry(double x, OpKind kind) {
  int v = problem.chunksPerStage(), shown = std::min(v, 4);
  for (int i = 0; i < shown; ++i) {
    int local = shown > 1 ? i * (v - 1) / (shown - 1) : 0;
    body += "<rect x=\"" + coordinate(x) +
            "\" y=\"33\" width=\"11\" "
            "height=\"11\" fill=\"" +
            fillColor(kind, local, v) + "\"/>\n";
    x += 12;
  }
  std::string name = legendName(kind);
  addText(x + 4, 42.5, 11, name);
  return x + 4 + 6.1 * name.size() + 16;
}

static constexpr const char *limitStroke =
    "<path stroke=\"#c0392b\" stroke-width=\"0.7\" stroke-dasharray=\"4 3\" "
    "d=\"M";

double SvgWriter::addLimitEntry(double x) {
  constexpr std::string_view name = "memory limit";
  body += limitStroke + coordinate(x) + " 38.5h20\"/>\n";
  addText(x + 24, 42.5, 11, std::string(name));
  return x + 24 + 6.1 * name.size() + 16;
}

void SvgWriter::addLegend() {
  bool isUsed[4] = {};
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
    addText(x, 42.5, 11, "light to dark: first to last chunk of the stage",
            " fill=\"#555\"");
}

void SvgWriter::addAxis() {
  double y = bottom() + 6;
  body += "<path fill=\"none\" stroke=\"#444\" stroke-width=\"0.8\" d=\"M" +
          coordinate(layout.left) + " " + coordinate(y) + "H" +
          coordinate(layout.width - layout.right);
  double distance = tickDistance(span, 10);
  int ticks = static_cast<int>(std::floor(span / distance * (1 + 1e-9)));
  for (int i = 0; i <= ticks; ++i)
    body += "M" + coordinate(x(i * distance)) + " " + coordinate(y) + "v4";
  body += "\"/>\n";
  for (int i = 0; i <= ticks; ++i)
    addText(x(i * distance), y + 15, 10.5, shortNumber(i * distance),
            " text-anchor=\"middle\" fill=\"#333\"");
  addText(layout.left + layout.plotWidth() / 2, y + 30, 11, "time",
          " text-anchor=\"middle\" fill=\"#333\"");
}

/// Every name where there is room, else every second, fourth...
void SvgWriter::addLaneNames() {
  int every = 1;
  while (every * layout.pitch() < 11)
    every *= 2;
  double size = std::min(11.5, 0.6 * layout.lane + 4);
  for (int stage = 0; stage < problem.ranks(); stage += every)
    addText(layout.left - 8, laneTop(stage) + layout.lane / 2 + 0.35 * size,
            size, problem.labelOfRank(stage),
            " text-anchor=\"end\" fill=\"#333\"");
}

/// The number of the microbatch, where it fits.
void SvgWriter::addLabel(double left, double right, double middle,
                         double height, const std::string &fill,
                         int microbatch) {
  std::string text = std::to_string(microbatch);
  // As if all had as many digits: some with numbers and some without would
  // look like two kinds.
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
  paths[fill] += "M" + coordinate(left) + " " + coordinate(top) + "H" +
                 coordinate(right) + "v" + coordinate(height) + "H" +
                 coordinate(left) + "z";
  addLabel(left, right, top + height / 2, height, fill, op.microbatch);
}

void SvgWriter::addLane(int stage) {
  body += "<rect x=\"" + coordinate(layout.left) + "\" y=\"" +
          coordinate(laneTop(stage)) + "\" width=\"" +
          coordinate(layout.plotWidth()) + "\" height=\"" +
          coordinate(layout.lane) + "\" fill=\"#f1f1ef\"/>\n";
  std::vector<LaneShare> shares = laneShares(schedule, stage);
  for (int step = 0, e = shares.size(); step < e; ++step)
    addOperation(stage, step, shares[step]);
}

void SvgWriter::flushOperations() {
  // A thin line between operations, unless they are about as thin.
  double mean = layout.plotWidth() * problem.ranks() /
                std::max<std::size_t>(operations, 1);
  double line = std::clamp((mean - 2) / 12, 0.0, 0.7);
  // Edges of very thin ones would let the background through.
  body += "<g stroke=\"#ffffff\" stroke-width=\"" + coordinate(line) +
          (mean < 3 ? "\" shape-rendering=\"crispEdges\">\n" : "\">\n");
  for (const auto &[fill, path] : paths)
    body += "<path fill=\"" + fill + "\" d=\"" + path + "\"/>\n";
  body += "</g>\n<g text-anchor=\"middle\">\n";
  for (const auto &[style, texts] : labels)
    body += "<g " + style + ">" + texts + "</g>\n";
  body += "</g>\n";
}

void SvgWriter::addMemory(int stage) {
  double base = laneTop(stage) + layout.lane + layout.curve;
  auto y = [&](std::int64_t amount) {
    return base - (layout.curve - 1) * amount / highestMemory;
  };
  std::string path = "M" + coordinate(layout.left) + " " + coordinate(base);
  for (const MemoryPoint &point : drawnMemory(solution, stage))
    path += "H" + coordinate(x(point.time)) + "V" + coordinate(y(point.memory));
  body += "<path fill=\"#cfcfcb\" stroke=\"#8a8a85\" stroke-width=\"0.5\" "
          "d=\"" +
          path + "V" + coordinate(base) + "z\"/>\n";
  if (auto limit = problem.memoryLimit(problem.stageOfRank(stage)))
    body += limitStroke + coordinate(layout.left) + " " +
            coordinate(y(*limit)) + "H" +
            coordinate(layout.width - layout.right) + "\"/>\n";
  if (layout.curve >= 12)
    addText(layout.left - 8, base - 1, 9,
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
  double height = bottom() + 46;
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
         coordinate(layout.width) + "\" height=\"" + coordinate(height) +
         "\" viewBox=\"0 0 " + coordinate(layout.width) + " " +
         coordinate(height) +
         "\" font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu "
         "Sans', sans-serif\" fill=\"#1a1a1a\">\n<title>" +
         escapedText(schedule.name + ": " + sizeLine(solution)) +
         "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" +
         body + "</svg>\n";
}

std::string veeline::schedule::toSvg(const Solution &solution,
                                     const SvgOptions &options) {
  return SvgWriter(solution, options).write();
}
