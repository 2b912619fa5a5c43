//===- Html.cpp - one page to look around in ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page itself is in Page/; here is what it shows.
//
//===----------------------------------------------------------------------===//

#include "Drawing.h"
#include "Page.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Base/Text.h"

#include <algorithm>

using namespace veeline;
using namespace veeline::schedule;

/// "[a,b]" of what `format` makes of 0..count-1.
template <typename Function>
static std::string list(std::size_t count, Function format) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) {
    text += i > 0 ? "," : "";
    text += format(i);
  }
  return text + "]";
}

/// Twelve digits are more than a screen can show of a time.
static std::string number(double value) { return formatted("%.12g", value); }

static std::string sharesObject(const Schedule &schedule, int stage) {
  std::vector<LaneShare> shares = laneShares(schedule, stage);
  std::string text;
  for (std::size_t step = 0; step < shares.size(); ++step)
    if (shares[step].height < 1)
      text += (text.empty() ? "\"" : ",\"") + std::to_string(step) + "\":[" +
              number(shares[step].top) + "," + number(shares[step].height) +
              "]";
  return "{" + text + "}";
}

static std::string stageObject(const Solution &solution, int stage) {
  const auto &[problem, schedule, simulation] = solution;
  const std::vector<Op> &ops = schedule.stages[stage];
  auto each = [&](auto format) {
    return list(ops.size(), [&](std::size_t step) { return format(step); });
  };
  std::vector<MemoryPoint> curve = drawnMemory(solution, stage);
  std::string text = "{\"kinds\":" + each([&](std::size_t i) {
                       return jsonString(toString(ops[i].kind));
                     });
  text += ",\"chunks\":" +
          each([&](std::size_t i) { return std::to_string(ops[i].chunk); });
  text +=
      ",\"locals\":" + each([&, &placement = problem.placement](std::size_t i) {
        return std::to_string(placement.localChunk(ops[i].chunk));
      });
  text += ",\"microbatches\":" + each([&](std::size_t i) {
            return std::to_string(ops[i].microbatch);
          });
  const Simulation &times = solution.simulation;
  text += ",\"start\":" +
          each([&](std::size_t i) { return number(times.start[stage][i]); });
  text += ",\"end\":" +
          each([&](std::size_t i) { return number(times.end[stage][i]); });
  text += ",\"memory\":" + each([&](std::size_t i) {
            return std::to_string(times.memory[stage][i]);
          });
  text += ",\"curve\":" + list(curve.size(), [&](std::size_t i) {
            return "[" + number(curve[i].time) + "," +
                   std::to_string(curve[i].memory) + "]";
          });
  return text + ",\"shares\":" + sharesObject(schedule, stage) +
         ",\"peak\":" + std::to_string(simulation.stages[stage].peakMemory) +
         "}";
}

/// By kind, one value of `format` for each local chunk.
template <typename Function> static std::string byKind(int v, Function format) {
  std::string text;
  for (OpKind kind : drawnKinds)
    text += (text.empty() ? "{" : ",") + jsonString(toString(kind)) + ":" +
            list(v, [&](std::size_t local) {
              return jsonString(format(fillColor(kind, local, v)));
            });
  return text + "}";
}

static std::string solutionObject(const Solution &solution) {
  const auto &[problem, schedule, simulation] = solution;
  std::int64_t highest = simulation.peakMemory();
  for (std::int64_t limit : problem.memoryLimits)
    highest = std::max(highest, limit);
  std::string text = "{\"name\":" + jsonString(schedule.name);
  auto member = [&](const char *name, const std::string &value) {
    text += ",\"" + std::string(name) + "\":" + value;
  };
  const std::vector<std::int64_t> &limits = problem.memoryLimits;
  int v = problem.chunksPerStage();
  member("size", jsonString(sizeLine(solution)));
  member("chunksPerStage", std::to_string(v));
  member("makespan", number(simulation.makespan));
  member("bubble", number(simulation.bubbleMakespan));
  member("bubbleOfSpan", number(simulation.bubbleSpan));
  member("unit", "{\"size\":" + std::to_string(problem.memoryUnit.size) +
                     ",\"name\":" + jsonString(problem.memoryUnit.name) + "}");
  member("limits", list(limits.empty() ? 0 : problem.ranks(),
                        [&, &problem = problem](std::size_t i) {
                          return std::to_string(limits[problem.stageOfRank(i)]);
                        }));
  member("highestMemory", std::to_string(highest));
  member("colors", byKind(v, [](const std::string &fill) { return fill; }));
  member("ink", byKind(v, textColor));
  member("lanes", list(problem.ranks(), [&problem = problem](std::size_t i) {
           return jsonString(problem.labelOfRank(i));
         }));
  member("stages", list(problem.ranks(), [&](std::size_t stage) {
           return stageObject(solution, stage);
         }));
  return text + "}";
}

static std::string dataObject(std::span<const Solution> solutions) {
  std::string names;
  for (OpKind kind : drawnKinds)
    names += (names.empty() ? "" : ",") + jsonString(toString(kind)) + ":" +
             jsonString(legendName(kind));
  return "{\"kindNames\":{" + names + "},\n\"solutions\":" +
         list(solutions.size(),
              [&](std::size_t i) {
                return "\n" + solutionObject(solutions[i]);
              }) +
         "}";
}

std::string veeline::schedule::toHtml(std::span<const Solution> solutions) {
  std::string title;
  for (const Solution &solution : solutions)
    title += (title.empty() ? "" : " and ") + solution.schedule.name;
  std::string page;
  std::string_view rest = pageTemplate;
  // "@NAME@" stands for something; what is put in is not looked at again.
  while (true) {
    std::size_t begin = rest.find('@');
    page += rest.substr(0, begin);
    if (begin == rest.npos)
      return page;
    std::size_t end = rest.find('@', begin + 1);
    std::string_view name = rest.substr(begin + 1, end - begin - 1);
    page += name == "TITLE"   ? escapedText(title)
            : name == "STYLE" ? std::string(pageStyle)
            : name == "DATA"  ? dataObject(solutions)
                              : std::string(pageScript);
    rest.remove_prefix(end + 1);
  }
}
