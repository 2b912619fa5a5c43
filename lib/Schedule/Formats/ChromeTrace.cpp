//===- ChromeTrace.cpp - a predicted step as trace events -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// There is one thread for each rank. Operations are complete events, memory is
// shown by counters, and messages by flow arrows. A unit of time of the problem
// becomes a microsecond, the unit of trace events.
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/Numbers.h"
#include "veeline/Base/Text.h"
#include "veeline/Schedule/Formats/Formats.h"
#include "veeline/Schedule/Text.h"

using namespace veeline;
using namespace veeline::schedule;

namespace {
class TraceWriter {
public:
  explicit TraceWriter(const Solution &solution)
      : problem(solution.problem), schedule(solution.schedule),
        simulation(solution.simulation) {}

  std::string write();

private:
  void add(const std::string &members) {
    text += (isFirst ? "\n{" : ",\n{") + members + "}";
    isFirst = false;
  }
  void addName(const char *what, int thread, const std::string &name);
  void addOperation(int stage, int step);
  void addMemory(int stage);
  void addCopies(int rank);
  void addMessage(const Message &message, std::size_t number);

  const Problem &problem;
  const Schedule &schedule;
  const Simulation &simulation;
  std::string text;
  bool isFirst = true;
};
} // namespace

static std::string thread(int stage) {
  return "\"pid\":0,\"tid\":" + std::to_string(stage);
}

void TraceWriter::addName(const char *what, int stage,
                          const std::string &name) {
  add("\"ph\":\"M\",\"name\":\"" + std::string(what) + "\"," + thread(stage) +
      ",\"args\":{\"name\":" + jsonString(name) + "}");
}

void TraceWriter::addOperation(int stage, int step) {
  const Op &op = schedule.stages[stage][step];
  double start = simulation.start[stage][step];
  double end = simulation.end[stage][step];
  add("\"ph\":\"X\",\"name\":" + jsonString(cellName(problem, op)) +
      ",\"cat\":\"" + toString(op.kind) + "\"," + thread(stage) +
      ",\"ts\":" + exactNumber(start) + ",\"dur\":" + exactNumber(end - start) +
      ",\"args\":{\"kind\":\"" + toString(op.kind) +
      "\",\"chunk\":" + std::to_string(op.chunk) +
      ",\"microbatch\":" + std::to_string(op.microbatch) +
      ",\"step\":" + std::to_string(step) + "}");
}

void TraceWriter::addMemory(int stage) {
  for (const MemoryPoint &point :
       memoryCurve(problem, schedule, simulation, stage)) {
    double amount = static_cast<double>(point.memory) / problem.memoryUnit.size;
    add("\"ph\":\"C\",\"name\":" +
        jsonString("memory of " + problem.labelOfRank(stage)) + "," +
        thread(stage) + ",\"ts\":" + exactNumber(point.time) + ",\"args\":{" +
        jsonString(problem.memoryUnit.name) + ":" + exactNumber(amount) + "}");
  }
}

/// The links to and from the host's memory are threads of their own.
void TraceWriter::addCopies(int rank) {
  for (bool isBack : {false, true}) {
    int link = problem.ranks() + 2 * rank + (isBack ? 1 : 0);
    addName("thread_name", link,
            problem.nameOfRank(rank) + (isBack ? " from host" : " to host"));
    for (std::size_t i = 0; i < schedule.offloads[rank].size(); ++i) {
      const Offload &it = schedule.offloads[rank][i];
      const OffloadTimes &times = simulation.offloads[rank][i];
      double start = isBack ? times.backStart : times.outStart;
      double end = isBack ? times.backEnd : times.outEnd;
      Op op{OpKind::Forward, it.chunk, it.microbatch};
      add("\"ph\":\"X\",\"name\":" +
          jsonString(cellName(problem, op) + (isBack ? " back" : " away")) +
          ",\"cat\":\"offload\"," + thread(link) + ",\"ts\":" +
          exactNumber(start) + ",\"dur\":" + exactNumber(end - start) +
          ",\"args\":{\"chunk\":" + std::to_string(it.chunk) +
          ",\"microbatch\":" + std::to_string(it.microbatch) + "}");
    }
  }
}

/// Adds an arrow from the producer to the start of the consumer. A viewer
/// attaches the arrow to the event that runs where the arrow begins. So it
/// begins before the end of the producer, when the next operation may start.
void TraceWriter::addMessage(const Message &message, std::size_t number) {
  double start = simulation.start[message.sourceStage][message.sourceStep];
  double end = simulation.end[message.sourceStage][message.sourceStep];
  std::string common = ",\"cat\":\"message\",\"name\":\"" +
                       std::string(message.gradient ? "gradient" : "value") +
                       "\",\"id\":" + std::to_string(number) + ",";
  add("\"ph\":\"s\"" + common + thread(message.sourceStage) +
      ",\"ts\":" + exactNumber(start + 0.9 * (end - start)));
  add("\"ph\":\"f\",\"bp\":\"e\"" + common + thread(message.targetStage) +
      ",\"ts\":" +
      exactNumber(simulation.start[message.targetStage][message.targetStep]));
}

std::string TraceWriter::write() {
  text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  addName("process_name", 0, schedule.name);
  for (int stage = 0; stage < problem.ranks(); ++stage) {
    addName("thread_name", stage, problem.nameOfRank(stage));
    for (int step = 0, e = schedule.stages[stage].size(); step < e; ++step)
      addOperation(stage, step);
    addMemory(stage);
  }
  if (!schedule.offloads.empty())
    for (int rank = 0; rank < problem.ranks(); ++rank)
      addCopies(rank);
  // A valid schedule has an order of messages.
  if (Expected<std::vector<Message>> messages =
          communicationOrder(problem, schedule))
    for (std::size_t i = 0; i < messages->size(); ++i)
      addMessage((*messages)[i], i);
  return text + "\n]}\n";
}

std::string veeline::schedule::toChromeTrace(const Solution &solution) {
  return TraceWriter(solution).write();
}
