//===- Timeline.cpp - times of a rank's operations ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Timeline.h"

#include "Names.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

using namespace veeline;
using namespace veeline::artifact;
using namespace veeline::engine;

void Timeline::voidTurn() {
  size_t first =
      std::max(turnBegin, numAdded - std::min(numAdded, ring.size()));
  for (size_t i = first; i < numAdded; ++i)
    ring[i % ring.size()].isVoid = true;
  beginTurn();
}

std::vector<Event> Timeline::lastEvents(int32_t steps) const {
  std::vector<Event> result;
  size_t first = numAdded > ring.size() ? numAdded - ring.size() : 0;
  for (size_t i = first; i < numAdded; ++i)
    if (const Event &event = ring[i % ring.size()]; event.step > step - steps)
      result.push_back(event);
  return result;
}

//===----------------------------------------------------------------------===//
// Chrome trace
//===----------------------------------------------------------------------===//

static std::string messageName(const Channel &channel) {
  return std::string(enumName(channel.kind)) +
         (isOfParam(channel.kind) ? " p" : " e") + std::to_string(channel.edge);
}

std::string engine::nameOfOp(const Program &program, int32_t rank,
                             const Op &op) {
  std::string name(artifact::name(op.kind));
  if (op.reduction >= 0)
    name += " c" +
            std::to_string(program.ranks[rank].reductions[op.reduction].chunk);
  if (op.channel >= 0)
    name += " " + messageName(program.channels[op.channel]);
  if (op.param >= 0)
    name += " p" + std::to_string(op.param);
  if (op.chunk >= 0)
    name += " c" + std::to_string(op.chunk);
  if (op.microbatch >= 0)
    name += " m" + std::to_string(op.microbatch);
  if (op.late)
    name += "'";
  return name;
}

/// Colours of the trace viewer that make F, B, W and waiting look different.
static const char *colourOf(OpKind kind) {
  switch (kind) {
  case OpKind::forward:
    return "thread_state_running";
  case OpKind::backward:
  case OpKind::backwardInput:
    return "thread_state_iowait";
  case OpKind::backwardWeight:
    return "thread_state_runnable";
  case OpKind::recomputation:
    return "thread_state_uninterruptible";
  case OpKind::send:
  case OpKind::recv:
  case OpKind::allReduce:
  case OpKind::allReduceWait:
  case OpKind::allGather:
  case OpKind::allGatherWait:
  case OpKind::validate:
  case OpKind::offload:
  case OpKind::reload:
    return "rail_load";
  case OpKind::update:
  case OpKind::norm:
    return "rail_idle";
  }
  return "generic_work";
}

namespace {
using Json = nlohmann::ordered_json;

class TraceWriter {
public:
  TraceWriter(const Metadata &metadata, const Program &program)
      : metadata(metadata), program(program) {
    for (const Rank &rank : program.ranks)
      mostStreams = std::max(mostStreams, rank.computeStreams);
    nameLane(measuredProcess, -1, 0, metadata.model + ": measured");
  }

  void addMeasured(size_t rank, const Event &event, int64_t origin) {
    double begin = double(event.begin - origin) / 1e3;
    double end = double(event.end - origin) / 1e3;
    if (event.op == Event::idle)
      add(measuredProcess, laneOf(rank, 0), "idle", "idle", "grey", begin, end);
    else
      addOp(measuredProcess, rank, event.op,
            program.ranks[rank].ops[event.op].stream, begin, end);
    events.back()["args"]["step"] = event.step;
    if (event.isVoid)
      events.back()["args"]["void"] = true;
    if (event.gemm > 0)
      events.back()["args"]["gemm_us"] = double(event.gemm) / 1e3;
    if (event.length > 0)
      events.back()["args"]["length"] = event.length;
    if (event.op != Event::idle)
      addBytes(program.ranks[rank].ops[event.op], event.length);
  }

  void addPredicted(size_t rank) {
    const std::vector<Op> &ops = program.ranks[rank].ops;
    for (size_t i = 0; i < ops.size(); ++i)
      if (ops[i].predictedBegin >= 0)
        addOp(predictedProcess, rank, static_cast<int32_t>(i), 0,
              ops[i].predictedBegin, ops[i].predictedEnd);
  }

  /// Names a lane; a `rank` of -1 stands for the process.
  void nameLane(int process, int64_t rank, int32_t stream,
                const std::string &name) {
    Json event = {{"ph", "M"}, {"pid", process}};
    event["name"] = rank < 0 ? "process_name" : "thread_name";
    if (rank >= 0)
      event["tid"] = laneOf(static_cast<size_t>(rank), stream);
    event["args"]["name"] = name;
    events.push_back(std::move(event));
  }

  std::string text() const {
    Json trace = {{"displayTimeUnit", "ms"}, {"traceEvents", events}};
    return trace.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }

  static constexpr int measuredProcess = 0;
  static constexpr int predictedProcess = 1;

private:
  /// A rank has a lane for each of its compute streams.
  size_t laneOf(size_t rank, int32_t stream) const {
    return rank * static_cast<size_t>(mostStreams) +
           static_cast<size_t>(stream);
  }

  void addOp(int process, size_t rank, int32_t index, int32_t stream,
             double begin, double end) {
    const Op &op = program.ranks[rank].ops[index];
    add(process, laneOf(rank, stream),
        nameOfOp(program, static_cast<int32_t>(rank), op),
        std::string(name(op.kind)), colourOf(op.kind), begin, end);
    events.back()["args"]["op"] = index;
  }

  void add(int process, size_t lane, const std::string &name,
           const std::string &category, const char *colour, double begin,
           double end) {
    events.push_back({{"ph", "X"},
                      {"name", name},
                      {"cat", category},
                      {"pid", process},
                      {"tid", lane},
                      {"ts", begin},
                      {"dur", end - begin},
                      {"cname", colour}});
  }

  /// Adds the size of a message of this length.
  void addBytes(const Op &op, int64_t length) {
    if (op.channel < 0)
      return;
    const Channel &channel = program.channels[op.channel];
    int64_t bytes = channel.messageBytes;
    auto it =
        std::find(metadata.lengths.begin(), metadata.lengths.end(), length);
    if (it != metadata.lengths.end())
      bytes =
          channel.bytesOf(static_cast<size_t>(it - metadata.lengths.begin()));
    events.back()["args"]["bytes"] = bytes;
  }

  const Metadata &metadata;
  const Program &program;
  int32_t mostStreams = 1;
  Json events = Json::array();
};
} // namespace

static int64_t firstBegin(const std::vector<std::vector<Event>> &ranks) {
  int64_t first = INT64_MAX;
  for (const std::vector<Event> &events : ranks)
    for (const Event &event : events)
      first = std::min(first, event.begin);
  return first;
}

static bool hasPredictions(const Program &program) {
  for (const Rank &rank : program.ranks)
    for (const Op &op : rank.ops)
      if (op.predictedBegin >= 0)
        return true;
  return false;
}

std::string engine::toText(const Program &program, int32_t rank,
                           const std::vector<Event> &events) {
  std::string text = "step      begin us         us\n";
  int64_t origin = firstBegin({events});
  for (const Event &event : events) {
    char line[64];
    std::snprintf(line, sizeof(line), "%4d %13.3f %10.3f  ", event.step,
                  double(event.begin - origin) / 1e3,
                  double(event.end - event.begin) / 1e3);
    text += line;
    text += event.op == Event::idle
                ? "idle"
                : nameOfOp(program, rank, program.ranks[rank].ops[event.op]);
    text += "\n";
  }
  return text;
}

std::string
engine::toChromeTrace(const Metadata &metadata, const Program &program,
                      const std::vector<std::vector<Event>> &ranks) {
  TraceWriter writer(metadata, program);
  bool predicted = hasPredictions(program);
  if (predicted)
    writer.nameLane(TraceWriter::predictedProcess, -1, 0,
                    metadata.model + ": predicted");
  int64_t origin = firstBegin(ranks);
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    std::string lane = "rank " + std::to_string(rank);
    int32_t streams = program.ranks[rank].computeStreams;
    for (int32_t stream = 0; stream < streams; ++stream)
      writer.nameLane(
          TraceWriter::measuredProcess, int64_t(rank), stream,
          streams == 1 ? lane : lane + ", stream " + std::to_string(stream));
    for (const Event &event : ranks[rank])
      writer.addMeasured(rank, event, origin);
    if (!predicted)
      continue;
    writer.nameLane(TraceWriter::predictedProcess, int64_t(rank), 0, lane);
    writer.addPredicted(rank);
  }
  return writer.text();
}
