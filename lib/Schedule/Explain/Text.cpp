//===- Text.cpp - an explanation in words ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Text.h"
#include "PathText.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Base/Text.h"
#include "veeline/Schedule/Asynchronous.h"
#include "veeline/Schedule/Memory.h"

#include <algorithm>
#include <cmath>

using namespace veeline;
using namespace veeline::schedule;

/// Smaller gains are printed as none.
static constexpr double noGain = 5e-5;

/// Joins parts as in "a, b and c".
static std::string joined(const std::vector<std::string> &parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

namespace {
class Writer {
public:
  Writer(const Problem &problem, const Schedule &schedule,
         const Explanation &explanation)
      : problem(problem), schedule(schedule), explanation(explanation) {}

  std::string heading() const;
  std::string stages() const;
  std::string parts() const;
  std::string waits() const;
  std::string memory() const;
  std::string bubble() const;
  std::string changes() const;
  std::string steady() const;
  std::string verdict() const;

private:
  struct Reason {
    double time;
    const char *what;
  };

  double length() const {
    return explanation.path.empty()
               ? 0
               : explanation.path.back().end - explanation.path.front().start;
  }
  /// Returns "stage", or "rank" if ranks are not stages.
  const char *kind() const { return problem.widths.empty() ? "stage" : "rank"; }
  std::string nameOf(int stage, int step) const {
    return cellName(problem, schedule.stages[stage][step]);
  }
  std::string waitsFor(WaitCause cause) const;
  std::vector<Reason> reasons(double least) const;
  bool isHeldByMemory() const;
  bool namesMemory() const;
  std::string whatWaits() const;
  std::string whatHelps() const;

  const Problem &problem;
  const Schedule &schedule;
  const Explanation &explanation;
};
} // namespace

std::string Writer::heading() const {
  std::size_t operations = 0;
  for (const CriticalStep &step : explanation.path)
    operations += step.size;
  std::string text = "critical path: " + counted(operations, "operation");
  const PathShares &shares = explanation.shares;
  for (OpKind kind : {OpKind::Forward, OpKind::Recompute, OpKind::BackwardInput,
                      OpKind::BackwardWeight, OpKind::Backward})
    if (double time = shares.kinds[static_cast<int>(kind)]; time > 0)
      text += ", " + percent(time, length()) + " " + toString(kind);
  if (shares.messages > 0)
    text += ", " + percent(shares.messages, length()) + " messages";
  return text + "\n";
}

/// Returns the shares of the stages with large parts, greatest first.
std::string Writer::stages() const {
  constexpr std::size_t most = 5;
  constexpr double least = 0.05;
  std::vector<std::pair<double, int>> work(problem.ranks());
  for (int stage = 0; stage < problem.ranks(); ++stage)
    work[stage].second = stage;
  for (const CriticalStep &step : explanation.path)
    if (!step.isMessage())
      work[step.stage].first -= step.end - step.start;
  std::sort(work.begin(), work.end());
  std::vector<std::string> named;
  double others = 0;
  int count = 0;
  for (auto [time, stage] : work) {
    if (named.size() < most && -time >= least * length()) {
      named.push_back(percent(-time, length()) + " on " +
                      problem.labelOfRank(stage));
      continue;
    }
    others -= time;
    count += time < 0;
  }
  if (count > 0)
    named.push_back(percent(others, length()) + " on " + std::to_string(count) +
                    (named.empty() ? "" : " more"));
  std::string text;
  for (const std::string &name : named)
    text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? ""
                      : summaryLine("on " + std::string(kind()) + "s", text);
}

/// Returns a text such as "24 work of stage 3, 3 before it, 6 after it".
std::string Writer::parts() const {
  const PathParts &parts = explanation.parts;
  std::string text =
      shortNumber(parts.work) + " work of " + problem.labelOfRank(parts.stage);
  for (auto [time, where] : {std::pair(parts.fill, " of others before it"),
                             {parts.drain, " of others after it"},
                             {parts.between, " of others between"},
                             {parts.messages, " messages"}})
    if (time > 0)
      text += ", " + shortNumber(time) + where;
  return summaryLine("made of", text);
}

static const char *describe(WaitCause cause) {
  switch (cause) {
  case WaitCause::Fill:
    return "for first inputs";
  case WaitCause::Forward:
    return "for forwards";
  case WaitCause::Gradient:
    return "for gradients";
  case WaitCause::Link:
    return "for busy links";
  case WaitCause::Send:
    return "in sends";
  case WaitCause::None:
    break;
  }
  return "";
}

/// Returns a text such as "3 times for gradients, longest 5 on stage 0 before
/// BW7". Different stages wait at the same time, so a sum would have no
/// meaning.
std::string Writer::waitsFor(WaitCause cause) const {
  int count = 0;
  const CriticalStep *longest = nullptr;
  for (const CriticalStep &step : explanation.path) {
    if (step.cause != cause || step.waited <= 0)
      continue;
    ++count;
    if (!longest || step.waited > longest->waited)
      longest = &step;
  }
  if (!longest)
    return "";
  std::string text = count == 1 ? "once " : std::to_string(count) + " times ";
  return text + describe(cause) + (count == 1 ? ", " : ", longest ") +
         shortNumber(longest->waited) + " on " +
         problem.labelOfRank(longest->stage) + " before " +
         nameOf(longest->stage, longest->step);
}

std::string Writer::waits() const {
  std::string text;
  for (WaitCause cause :
       {WaitCause::Fill, WaitCause::Forward, WaitCause::Gradient,
        WaitCause::Link, WaitCause::Send})
    if (std::string one = waitsFor(cause); !one.empty())
      text += summaryLine(text.empty() ? "waits on it" : "", one);
  return text;
}

/// Memory is mentioned only if more of it would help, because a schedule may
/// keep forwards back for other reasons.
std::string Writer::memory() const {
  bool helps = std::any_of(explanation.changes.begin(),
                           explanation.changes.end(), [](const Change &change) {
                             return change.kind == Change::Kind::Memory &&
                                    change.gain >= noGain;
                           });
  if (!explanation.memory || !helps)
    return "";
  const MemoryWait &wait = *explanation.memory;
  std::string text =
      problem.labelOfRank(wait.stage) + " waits " + shortNumber(wait.time) +
      " while its limit keeps back forwards that are ready; "
      "longest " +
      shortNumber(wait.longest) + ", when " + nameOf(wait.stage, wait.blocked) +
      " does not fit beside the " + formatMemory(problem, wait.held) + " held";
  if (wait.release >= 0)
    text += " until " + nameOf(wait.stage, wait.release) + " releases some";
  return summaryLine("memory", text);
}

static std::string gainOf(const Change &change) {
  return formatted("%.2f%%", 100 * std::abs(change.gain)) +
         (change.gain > 0 ? " less" : " more") + " time a microbatch";
}

/// Returns a short name for a change that has no effect.
static const char *shortName(Change::Kind kind) {
  switch (kind) {
  case Change::Kind::Microbatch:
    return "one more microbatch";
  case Change::Kind::Memory:
    return "more memory";
  case Change::Kind::Transfer:
    return "faster links";
  case Change::Kind::Balance:
    return "balance";
  case Change::Kind::Buffers:
    return "buffers";
  }
  return "";
}

std::string Writer::changes() const {
  std::string text, without;
  for (const Change &change : explanation.changes) {
    if (change.reason.empty() && std::abs(change.gain) >= noGain) {
      double bubble = explanation.objective == Objective::Makespan
                          ? change.bubbleMakespan
                          : change.bubbleSpan;
      text += "  " + change.what + ": " + gainOf(change) + ", bubble " +
              formatted("%.4f", bubble) + "\n";
      continue;
    }
    without += (without.empty() ? "" : ", ");
    without += shortName(change.kind);
    if (!change.reason.empty())
      without += " (" + change.reason + ")";
  }
  if (!without.empty())
    text += "  no effect: " + without + "\n";
  std::string solver = explanation.solver == schedule.name
                           ? ""
                           : ", solved by " + explanation.solver;
  return "what a change would bring" + solver + "\n" + text;
}

/// Returns the reasons why the stage waits, greatest first, without those below
/// this share.
std::vector<Writer::Reason> Writer::reasons(double least) const {
  const BubbleParts &parts = explanation.bubble;
  std::vector<Reason> result{
      {parts.fillAndDrain, "for fill and drain"},
      {parts.messages, "for the time of messages"},
      {parts.blocking, "for messages that block or queue"},
      {parts.imbalance, problem.widths.empty() ? "for stages with more work"
                                               : "for ranks with more work"},
      {parts.memory, "because of the memory limit"},
      {parts.order, isHeldByMemory()
                        ? "by its order, which the memory limit restricts"
                        : "by its order"}};
  std::erase_if(result, [&](const Reason &reason) {
    return reason.time < least * explanation.bubbleTime;
  });
  std::stable_sort(
      result.begin(), result.end(),
      [](const Reason &a, const Reason &b) { return a.time > b.time; });
  return result;
}

/// A smaller share is not mentioned in the verdict.
static constexpr double leastNamed = 0.01;

/// Returns all parts of the bubble, and their sum.
std::string Writer::bubble() const {
  double all = explanation.bubbleTime;
  if (all <= 1e-9 * explanation.value)
    return "";
  auto row = [&](double time, const std::string &what) {
    std::string number = shortNumber(time);
    number.insert(0, 10 - std::min<std::size_t>(number.size(), 10), ' ');
    return number + formatted("  %6.2f%%  ", 100 * time / all) + what + "\n";
  };
  std::string text = problem.labelOfRank(explanation.bubbleStage) + " waits " +
                     shortNumber(all) + " of " +
                     shortNumber(explanation.value) + "\n";
  for (const Reason &reason : reasons(1e-9))
    text += row(reason.time, reason.what);
  return text + row(all, "in all") + "\n";
}

/// Whether the verdict names the memory limit as a cause.
bool Writer::namesMemory() const {
  double least = leastNamed * explanation.bubbleTime;
  return explanation.bubble.memory >= least ||
         (isHeldByMemory() && explanation.bubble.order >= least);
}

/// Whether more memory would help most.
bool Writer::isHeldByMemory() const {
  const Change &best = explanation.changes.front();
  return best.kind == Change::Kind::Memory && best.gain >= noGain &&
         !problem.memoryLimits.empty();
}

std::string Writer::whatWaits() const {
  double value = explanation.value, bubble = explanation.bubbleTime;
  if (bubble <= 1e-9 * value)
    return "there is no bubble";
  std::string text =
      problem.labelOfRank(explanation.bubbleStage) + " waits " +
      shortNumber(bubble) + " of " +
      (explanation.objective == Objective::Span ? "its span, " : "") +
      shortNumber(value);
  std::vector<Reason> all = reasons(leastNamed);
  double others = bubble;
  std::vector<std::string> parts;
  for (const Reason &reason : all) {
    others -= reason.time;
    parts.push_back(shortNumber(reason.time) + " " + reason.what);
  }
  if (others > 1e-9 * bubble)
    parts.push_back(shortNumber(others) + " of other causes");
  if (parts.size() == 1)
    return text + ", " + all[0].what;
  return text + ": " + joined(parts);
}

std::string Writer::whatHelps() const {
  const Change &best = explanation.changes.front();
  if (!best.reason.empty() || best.gain < noGain)
    return "none of these changes would help";
  std::string text = best.what + " would help most: " + gainOf(best);
  if (best.kind != Change::Kind::Memory || namesMemory())
    return text;
  return text +
         (problem.memoryLimits.empty()
              ? " (there is no limit: its own rule keeps the schedule "
                "from holding more)"
              : " (the limit is no cause of its own: with more room, "
                "the " +
                    std::string(kind()) + " would wait less for the others)");
}

/// Returns the verdict on a schedule that never flushes, whose fill and drain
/// occur once. Empty if messages block, which the steady state does not cover.
std::string Writer::steady() const {
  std::optional<SteadyState> state = steadyStateOf(problem, schedule);
  if (!state || explanation.bubble.blocking > 0)
    return "";
  std::string text = "verdict: in the steady state a microbatch takes " +
                     shortNumber(state->period);
  if (state->bubble <= 1e-9)
    return text + " and no " + kind() +
           " waits; fill and drain come once, not in every "
           "step\n";
  double most = 0, busy = 0;
  for (int stage = 0; stage < problem.stages(); ++stage) {
    const Chunk &chunk = problem.chunks[stage];
    double work =
        (chunk.forward + chunk.cost(OpKind::Backward)) / problem.width(stage);
    most = std::max(most, work);
    busy = stage == state->stage ? work : busy;
  }
  std::vector<std::string> parts;
  if (most > busy)
    parts.push_back(shortNumber(most - busy) + " for stages with more work");
  if (double messages = state->period - most; messages > 1e-9 * most)
    parts.push_back(shortNumber(messages) + " for the time of messages");
  return text + ", of which stage " + std::to_string(state->stage) + " waits " +
         joined(parts) + "; fill and drain come once, not in every step\n";
}

std::string Writer::verdict() const {
  if (std::string text = steady(); !text.empty())
    return text;
  std::string text = "verdict: " + whatWaits() + "; " + whatHelps();
  if (explanation.gap < 1e-9)
    text += "; no schedule of this problem is shorter";
  return text + "\n";
}

std::string veeline::schedule::toText(const Problem &problem,
                                      const Schedule &schedule,
                                      const Explanation &explanation,
                                      int maxRows) {
  Writer writer(problem, schedule, explanation);
  return writer.heading() +
         pathTable(problem, schedule, explanation.path, maxRows) +
         writer.stages() + writer.parts() + writer.waits() + writer.memory() +
         "\n" + writer.bubble() + writer.changes() + "\n" + writer.verdict();
}
