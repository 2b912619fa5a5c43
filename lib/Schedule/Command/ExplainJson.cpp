//===- ExplainJson.cpp - the output of --explain --json -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What Explain.cpp prints, except for the closed forms of the literature, as
// one object of JSON (docs/tools.md).
//
//===----------------------------------------------------------------------===//

#include "Request.h"
#include "Table.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Base/Text.h"
#include "veeline/Schedule/Bounds.h"
#include "veeline/Schedule/Explain.h"
#include "veeline/Schedule/Loop.h"

#include <string>

using namespace veeline;
using namespace veeline::schedule;

static Member number(const char *name, double value) {
  return {name, exactNumber(value)};
}

template <typename List, typename ToText>
static std::string array(const List &list, ToText toText) {
  std::string text;
  for (const auto &element : list)
    text += (text.empty() ? "\n   " : ",\n   ") + toText(element);
  return "[" + text + "]";
}

static std::string boundOf(const Bound &bound) {
  return jsonObject(
      {number("time", bound.time), {"by", toString(bound.kind), true}});
}

static std::string stageOf(const StageStatistics &stage) {
  const Waiting &waiting = stage.waiting;
  return jsonObject(
      {number("busy", stage.busy), number("fill", waiting.fill),
       number("forward", waiting.forward), number("gradient", waiting.gradient),
       number("send", waiting.send), number("offload", waiting.offload),
       number("drain", waiting.drain)});
}

static std::string stepOf(const Problem &problem, const Schedule &schedule,
                          const CriticalStep &step) {
  if (step.isMessage())
    return jsonObject(
        {{"message", step.gradient ? "gradient" : "activation", true},
         {"from", std::to_string(step.source)},
         {"to", std::to_string(step.stage)},
         number("start", step.start),
         number("end", step.end)});
  const std::vector<Op> &ops = schedule.stages[step.stage];
  return jsonObject(
      {{"stage", std::to_string(step.stage)},
       {"first", cellName(problem, ops[step.step]), true},
       {"last", cellName(problem, ops[step.step + step.size - 1]), true},
       {"operations", std::to_string(step.size)},
       number("start", step.start),
       number("end", step.end),
       number("waited", step.waited)});
}

static std::string changeOf(const Change &change) {
  if (!change.reason.empty())
    return jsonObject(
        {{"change", change.what, true}, {"reason", change.reason, true}});
  return jsonObject({{"change", change.what, true},
                     number("makespan", change.makespan),
                     number("gain", change.gain)});
}

/// The members that are known of every schedule.
static std::vector<Member> figuresOf(const Answer &answer,
                                     const Request &request) {
  const auto &[problem, schedule, simulation] = answer.solution;
  Traffic traffic = trafficOf(answer.task, request.messageBytes);
  Bounds bounds = lowerBounds(problem, {});
  std::vector<Member> members = {
      {"schedule", answer.task.name, true},
      number("makespan", simulation.makespan),
      number("longest_span", simulation.longestSpan()),
      {"messages", std::to_string(traffic.messages)},
      {"message_bytes", traffic.bytes ? std::to_string(*traffic.bytes) : ""},
      {"weight_versions", weightVersionsOf(answer), true},
      {"bound_of_makespan", boundOf(bounds.makespan)},
      {"bound_of_span", boundOf(bounds.span)},
      {"waiting", array(simulation.stages, stageOf)}};
  return members;
}

/// The members about the critical path of one step.
static void addPath(const Explanation &why, const Problem &problem,
                    const Schedule &schedule, std::vector<Member> &members) {
  std::vector<Member> kinds;
  for (int kind = 0; kind < numOpKinds; ++kind)
    if (why.shares.kinds[kind] > 0)
      kinds.push_back(
          number(toString(static_cast<OpKind>(kind)), why.shares.kinds[kind]));
  kinds.push_back(number("messages", why.shares.messages));
  const BubbleParts &bubble = why.bubble;
  auto step = [&](const CriticalStep &step) {
    return stepOf(problem, schedule, step);
  };
  members.insert(
      members.end(),
      {{"critical_path", array(why.path, step)},
       {"made_of", jsonObject(kinds)},
       {"idle_stage", std::to_string(why.bubbleStage)},
       number("idle", why.bubbleTime),
       {"idle_for", jsonObject({number("blocking", bubble.blocking),
                                number("messages", bubble.messages),
                                number("order", bubble.order),
                                number("memory", bubble.memory),
                                number("fill_and_drain", bubble.fillAndDrain),
                                number("imbalance", bubble.imbalance)})},
       {"changes", array(why.changes, changeOf)}});
}

Expected<std::string> veeline::schedule::explainAsJson(const Answer &answer,
                                                       const Request &request) {
  const auto &[problem, schedule, simulation] = answer.solution;
  std::vector<Member> members = figuresOf(answer, request);
  // As in the text: a loop has no critical path, and with offloads none is
  // shown.
  bool hasPath = simulation.makespan > 0 &&
                 request.generator.objective != Objective::Period &&
                 !isCyclic(schedule) && schedule.offloads.empty();
  if (hasPath) {
    Expected<Explanation> why =
        explain(problem, schedule, request.generator, simulation.options);
    if (!why)
      return why.takeError();
    addPath(*why, problem, schedule, members);
  }
  return jsonObject(members);
}
