//===- TimelinePage.cpp - timelines as a page -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Names.h"
#include "Timeline.h"
#include "veeline/Base/Text.h"
#include "veeline/Page/Page.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace veeline;
using namespace veeline::artifact;
using namespace veeline::engine;

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

static std::string roleOf(OpKind kind) {
  switch (kind) {
  case OpKind::forward:
  case OpKind::backward:
  case OpKind::backwardInput:
  case OpKind::backwardWeight:
  case OpKind::recomputation:
  case OpKind::send:
  case OpKind::recv:
    return std::string(artifact::name(kind));
  case OpKind::allReduce:
  case OpKind::allReduceWait:
  case OpKind::allGather:
  case OpKind::allGatherWait:
    return "sync";
  case OpKind::update:
  case OpKind::norm:
  case OpKind::validate:
    return "other";
  case OpKind::offload:
  case OpKind::reload:
    return "copy";
  }
  return "other";
}

static std::string legendOf(OpKind kind) {
  switch (kind) {
  case OpKind::forward:
    return "F, forward";
  case OpKind::backward:
    return "BW, whole backward";
  case OpKind::backwardInput:
    return "B, gradient of inputs";
  case OpKind::backwardWeight:
    return "W, gradient of weights";
  case OpKind::recomputation:
    return "R, recomputation";
  case OpKind::offload:
    return "offload, to the host's memory";
  case OpKind::reload:
    return "reload, back from it";
  default:
    return std::string(artifact::name(kind));
  }
}

/// Returns the name, the colour and the relations of `op`.
static page::Kind kindOf(const Program &program, const Op &op) {
  page::Kind kind{.name = std::string(artifact::name(op.kind)),
                  .legend = legendOf(op.kind),
                  .letter = 0,
                  .role = roleOf(op.kind),
                  .isLate = op.late};
  if (op.channel >= 0) {
    const Channel &channel = program.channels[op.channel];
    kind.name += " " + std::string(enumName(channel.kind));
    kind.letter = isOfParam(channel.kind) ? 'p' : 'e';
    kind.isGradient = channel.kind == ChannelKind::gradient;
    // Other messages carry no value of an edge.
    if (channel.kind != ChannelKind::activation && !kind.isGradient)
      kind.role = "sync";
  } else if (op.param >= 0) {
    kind.letter = 'p';
  } else if (op.chunk >= 0 || op.reduction >= 0) {
    kind.letter = 'c';
  }
  return kind;
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

namespace {
class GraphMaker {
public:
  GraphMaker(const Metadata &metadata, const Program &program)
      : metadata(metadata), program(program) {}

  page::Graph make(const std::vector<std::vector<Event>> &ranks);

private:
  int entryOf(size_t rank, const Op &op);
  int shadeOf(int32_t chunk) const;
  page::Lane laneOf(size_t rank);
  void addPredicted();
  void addMeasured(const std::vector<std::vector<Event>> &ranks);

  const Metadata &metadata;
  const Program &program;
  page::Graph graph;
  std::map<std::pair<std::string, bool>, int> kinds;
  std::map<std::pair<int, int>, int> entries; ///< By kind and number.
};
} // namespace

/// The number of a chunk on its stage.
int GraphMaker::shadeOf(int32_t chunk) const {
  if (chunk < 0 || chunk >= static_cast<int32_t>(program.chunks.size()))
    return 0;
  auto end = program.chunks.begin() + chunk;
  return static_cast<int>(
      std::count_if(program.chunks.begin(), end, [&](const Chunk &other) {
        return other.stage == end->stage;
      }));
}

int GraphMaker::entryOf(size_t rank, const Op &op) {
  page::Kind kind = kindOf(program, op);
  auto [place, isNewKind] = kinds.emplace(std::pair(kind.name, kind.isLate),
                                          static_cast<int>(graph.kinds.size()));
  if (isNewKind)
    graph.kinds.push_back(kind);
  page::Entry entry{.kind = place->second};
  if (op.channel >= 0) {
    entry.number = program.channels[op.channel].edge;
    entry.bytes = program.channels[op.channel].messageBytes;
  } else if (op.param >= 0) {
    entry.number = op.param;
  } else if (op.reduction >= 0) {
    const Reduction &reduction = program.ranks[rank].reductions[op.reduction];
    entry.number = reduction.chunk;
    for (const ReducedPiece &piece : reduction.pieces)
      entry.bytes += piece.numElements * byteSize(piece.type);
  } else if (op.chunk >= 0) {
    entry.number = op.chunk;
    entry.shade = std::min(shadeOf(op.chunk), graph.shades - 1);
  }
  auto [it, isNew] = entries.emplace(std::pair(entry.kind, entry.number),
                                     static_cast<int>(graph.entries.size()));
  if (isNew)
    graph.entries.push_back(entry);
  return it->second;
}

/// The bytes of an arena that are in use when each op begins.
static std::vector<int64_t> liveBytes(const Rank &rank) {
  auto numOps = static_cast<int32_t>(rank.ops.size());
  std::vector<int64_t> changes(rank.ops.size() + 1);
  auto add = [&](int32_t first, int32_t last, int64_t bytes) {
    changes[first] += bytes;
    changes[last + 1] -= bytes;
  };
  for (const Region &region : rank.regions) {
    if (numOps == 0)
      break;
    if (region.firstOp < 0) {
      add(0, numOps - 1, region.bytes);
    } else if (region.firstOp <= region.lastOp) {
      add(region.firstOp, region.lastOp, region.bytes);
    } else {
      add(region.firstOp, numOps - 1, region.bytes);
      add(0, region.lastOp, region.bytes);
    }
  }
  changes.pop_back();
  for (size_t i = 1; i < changes.size(); ++i)
    changes[i] += changes[i - 1];
  return changes;
}

page::Lane GraphMaker::laneOf(size_t rank) {
  page::Lane lane{.name = "rank " + std::to_string(rank),
                  .group = program.placeOf(rank).replica};
  const std::vector<Op> &ops = program.ranks[rank].ops;
  std::vector<int64_t> live = liveBytes(program.ranks[rank]);
  if (!live.empty())
    lane.before = live.front();
  for (size_t i = 0; i < ops.size(); ++i)
    lane.operations.push_back({.entry = entryOf(rank, ops[i]),
                               .microbatch = ops[i].microbatch,
                               .held = live[i],
                               .after = live[i]});
  return lane;
}

/// Events are encoded and drawn in the order of their begins.
static void sortEvents(std::vector<page::Event> &events) {
  std::stable_sort(events.begin(), events.end(),
                   [](const page::Event &a, const page::Event &b) {
                     return a.begin < b.begin;
                   });
}

void GraphMaker::addPredicted() {
  page::Times times{.name = "predicted", .tick = 1e-3};
  bool isThere = false;
  for (const Rank &rank : program.ranks) {
    std::vector<page::Event> events;
    for (size_t i = 0; i < rank.ops.size(); ++i)
      if (const Op &op = rank.ops[i]; op.predictedBegin >= 0)
        events.push_back({.operation = static_cast<int>(i),
                          .begin = op.predictedBegin,
                          .end = op.predictedEnd});
    isThere |= !events.empty();
    sortEvents(events);
    times.lanes.push_back(std::move(events));
  }
  if (isThere)
    graph.times.push_back(std::move(times));
}

void GraphMaker::addMeasured(const std::vector<std::vector<Event>> &ranks) {
  int64_t origin = INT64_MAX;
  for (const std::vector<Event> &events : ranks)
    for (const Event &event : events)
      origin = std::min(origin, event.begin);
  page::Times times{.name = "measured", .tick = 1e-3};
  times.lanes.resize(program.ranks.size());
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const Event &event : ranks[rank])
      if (event.op != Event::idle && !event.isVoid)
        times.lanes[rank].push_back(
            {.operation = event.op,
             .step = event.step,
             .begin = double(event.begin - origin) / 1e3,
             .end = double(event.end - origin) / 1e3});
    sortEvents(times.lanes[rank]);
  }
  if (origin != INT64_MAX)
    graph.times.push_back(std::move(times));
}

/// Returns a text such as "4 stages of 1 chunk, 8 microbatches".
static std::string sizeLine(const Metadata &metadata, const Program &program) {
  std::string size =
      counted(program.stages, "stage") + " of " +
      counted(program.chunksPerStage, "chunk") + ", " +
      counted(program.microbatchesOf(metadata.microbatches), "microbatch");
  return program.replicas == 1
             ? size
             : size + ", " + counted(program.replicas, "replica");
}

page::Graph GraphMaker::make(const std::vector<std::vector<Event>> &ranks) {
  graph.name = metadata.model;
  if (!program.schedule.empty())
    graph.name += " " + program.schedule;
  graph.size = sizeLine(metadata, program);
  graph.timeUnit = "us";
  graph.memoryUnit = "MiB";
  graph.memoryUnitSize = 1 << 20;
  graph.shades = std::max(1, program.chunksPerStage);
  for (const artifact::Edge &edge : program.edges)
    graph.edges.push_back(
        {edge.from, edge.to, edge.carriesGradient, edge.bytes});
  for (size_t rank = 0; rank < program.ranks.size(); ++rank)
    graph.lanes.push_back(laneOf(rank));
  addPredicted();
  addMeasured(ranks);
  return std::move(graph);
}

page::Graph engine::toGraph(const Metadata &metadata, const Program &program,
                            const std::vector<std::vector<Event>> &ranks) {
  return GraphMaker(metadata, program).make(ranks);
}

std::string engine::timelineFor(const std::string &path,
                                const Metadata &metadata,
                                const Program &program,
                                const std::vector<std::vector<Event>> &ranks) {
  if (!page::isPagePath(path))
    return toChromeTrace(metadata, program, ranks);
  std::string graph = page::encode(toGraph(metadata, program, ranks));
  return page::toPage({&graph, 1});
}
