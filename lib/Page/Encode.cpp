//===- Encode.cpp - graphs as compact JSON --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes what View/data.js reads. Numbers are bytes of seven bits each, the
// least significant first, with a bit that says whether another byte follows
// (LEB128). Signed numbers alternate between positive and negative (zigzag).
// The bytes of a rank are one string in base64.
//
// Each operation or event begins with a number whose lowest bits say which of
// its members differ from what is expected. The differences follow.
//
//===----------------------------------------------------------------------===//

#include "veeline/Page/Page.h"

#include "veeline/Base/Numbers.h"
#include "veeline/Base/Text.h"

#include <cmath>

using namespace veeline;
using namespace veeline::page;

namespace {
class ByteWriter {
public:
  void addUnsigned(std::uint64_t value) {
    for (; value >= 128; value >>= 7)
      bytes += static_cast<char>(value | 128);
    bytes += static_cast<char>(value);
  }
  void addSigned(std::int64_t value) {
    addUnsigned(static_cast<std::uint64_t>(value) << 1 ^
                static_cast<std::uint64_t>(value >> 63));
  }
  /// Adds a number: `first` times `2^differences.size()`, plus a bit for each
  /// difference that is not 0. Then adds these differences.
  void add(std::uint64_t first,
           std::initializer_list<std::int64_t> differences) {
    std::uint64_t flags = 0;
    int bit = 0;
    for (std::int64_t difference : differences)
      flags |= static_cast<std::uint64_t>(difference != 0) << bit++;
    addUnsigned(first << bit | flags);
    for (std::int64_t difference : differences)
      if (difference != 0)
        addSigned(difference);
  }

  std::string base64() const;

private:
  std::string bytes;
};
} // namespace

std::string ByteWriter::base64() const {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "abcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t j = 0; j < 3; ++j)
      three = three << 8 |
              (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j)
      text += j <= count ? digits[three >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

/// For each entry, expects the next microbatch, and the same changes of memory
/// as before.
static std::string encodeOperations(const Graph &graph, const Lane &lane) {
  struct Before {
    int microbatch = -1;
    std::int64_t rise = 0, fall = 0;
  };
  std::vector<Before> before(graph.entries.size());
  ByteWriter writer;
  std::int64_t level = lane.before;
  for (const Operation &operation : lane.operations) {
    Before &last = before[operation.entry];
    Before now{operation.microbatch, operation.held - level,
               operation.after - operation.held};
    writer.add(operation.entry, {now.microbatch - last.microbatch - 1,
                                 now.rise - last.rise, now.fall - last.fall});
    last = now;
    level = operation.after;
  }
  return writer.base64();
}

/// Expects the next operation of the same step, right after the one before,
/// with the duration that the entry had last.
static std::string encodeEvents(const Graph &graph, const Times &times,
                                std::size_t lane) {
  std::vector<std::int64_t> durations(graph.entries.size());
  ByteWriter writer;
  std::int64_t operation = -1, step = 0, free = 0;
  for (const Event &event : times.lanes[lane]) {
    std::int64_t begin = std::llround(event.begin / times.tick);
    std::int64_t end = std::llround(event.end / times.tick);
    int entry = graph.lanes[lane].operations[event.operation].entry;
    writer.add(0, {event.operation - operation - 1, event.step - step,
                   begin - free, end - begin - durations[entry]});
    operation = event.operation;
    step = event.step;
    free = end;
    durations[entry] = end - begin;
  }
  return writer.base64();
}

/// Joins the members of `range`, formatted by `format`, to "[a,b]".
template <typename Range, typename Function>
static std::string list(const Range &range, Function format) {
  std::string text = "[";
  for (const auto &member : range)
    text += (text.size() > 1 ? "," : "") + format(member);
  return text + "]";
}

static std::string quoted(const std::string &bytes) {
  return "\"" + bytes + "\"";
}

static std::string kindObject(const Kind &kind) {
  std::string letter(kind.letter ? 1 : 0, kind.letter);
  return "{\"name\":" + jsonString(kind.name) +
         ",\"legend\":" + jsonString(kind.legend) +
         ",\"letter\":" + jsonString(letter) +
         ",\"role\":" + jsonString(kind.role) +
         ",\"gradient\":" + (kind.isGradient ? "1" : "0") +
         ",\"late\":" + (kind.isLate ? "1" : "0") + "}";
}

static std::string entryList(const Entry &entry) {
  return "[" + std::to_string(entry.kind) + "," + std::to_string(entry.number) +
         "," + std::to_string(entry.shade) + "," + std::to_string(entry.bytes) +
         "]";
}

static std::string laneObject(const Graph &graph, const Lane &lane) {
  return "{\"name\":" + jsonString(lane.name) +
         ",\"group\":" + std::to_string(lane.group) +
         ",\"limit\":" + (lane.limit ? std::to_string(*lane.limit) : "null") +
         ",\"before\":" + std::to_string(lane.before) +
         ",\"count\":" + std::to_string(lane.operations.size()) +
         ",\"operations\":" + quoted(encodeOperations(graph, lane)) + "}";
}

static std::string timesObject(const Graph &graph, const Times &times) {
  std::string text = "{\"name\":" + jsonString(times.name) +
                     ",\"tick\":" + exactNumber(times.tick) + ",\"lanes\":[";
  for (std::size_t lane = 0; lane < times.lanes.size(); ++lane)
    text += std::string(lane > 0 ? "," : "") +
            "{\"count\":" + std::to_string(times.lanes[lane].size()) +
            ",\"events\":" + quoted(encodeEvents(graph, times, lane)) + "}";
  return text + "]}";
}

std::string veeline::page::encode(const Graph &graph) {
  auto edge = [](const Edge &edge) {
    return "[" + std::to_string(edge.from) + "," + std::to_string(edge.to) +
           "," + (edge.carriesGradient ? "1" : "0") + "," +
           std::to_string(edge.bytes) + "]";
  };
  return "{\"name\":" + jsonString(graph.name) +
         ",\"size\":" + jsonString(graph.size) +
         ",\"timeUnit\":" + jsonString(graph.timeUnit) +
         ",\"memoryUnit\":{\"name\":" + jsonString(graph.memoryUnit) +
         ",\"size\":" + std::to_string(graph.memoryUnitSize) +
         "},\"shades\":" + std::to_string(graph.shades) +
         ",\"kinds\":" + list(graph.kinds, kindObject) +
         ",\"entries\":" + list(graph.entries, entryList) +
         ",\"edges\":" + list(graph.edges, edge) + ",\"lanes\":" +
         list(graph.lanes,
              [&](const Lane &lane) { return laneObject(graph, lane); }) +
         ",\"times\":" +
         list(graph.times,
              [&](const Times &times) { return timesObject(graph, times); }) +
         "}";
}
