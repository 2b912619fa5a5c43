//===- Page.h - timelines as an interactive page ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A page is one self-contained HTML file. It shows graphs: the operations of
// all ranks, with predicted times, measured times, or both.
// docs/timeline-page.md is for its readers.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_PAGE_PAGE_H
#define VEELINE_PAGE_PAGE_H

#include "veeline/status.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace veeline::page {

/// A kind of operations, which have the same name and colour.
struct Kind {
  std::string name;   ///< "F", "send activation".
  std::string legend; ///< "F, forward".
  /// The meaning of the number in a name: 'c' a chunk, 'e' an edge, 'p' a
  /// parameter; 0: no number.
  char letter = 'c';
  /// The role of the kind for programs that read the data: "F", "R", "B", "W"
  /// or "BW"; "send" or "recv" of an `activation` or a `gradient`; "copy" to
  /// the host's memory or back; "sync" or "other".
  std::string role;
  /// For messages over edges: whether they are gradients, which go from `to` to
  /// `from`.
  bool isGradient = false;
  bool isLate = false; ///< Belongs to the previous step.
};

/// The common data of the operations of one kind on one chunk, edge or
/// parameter.
struct Entry {
  int kind = 0;           ///< Index into Graph::kinds.
  int number = 0;         ///< The chunk, edge or parameter.
  int shade = 0;          ///< From light to dark, below Graph::shades.
  std::int64_t bytes = 0; ///< The size of a message; 0: unknown.
};

/// An operation. Its index in the list of its rank is its id.
struct Operation {
  int entry = 0;                    ///< Index into Graph::entries.
  int microbatch = -1;              ///< -1 if it runs once a step.
  std::int64_t held = 0, after = 0; ///< Memory while it runs, and afterwards.
};

struct Lane {
  std::string name;
  /// The replica. Only ranks with the same number exchange messages.
  int group = 0;
  std::optional<std::int64_t> limit = std::nullopt; ///< Memory limit.
  std::int64_t before = 0; ///< Memory before the first operation.
  std::vector<Operation> operations = {};
};

/// When an operation ran.
struct Event {
  int operation = 0; ///< Index into Lane::operations.
  int step = 0;
  double begin = 0, end = 0;
};

/// The times of the operations of a graph, by rank.
struct Times {
  std::string name; ///< "predicted" or "measured"; empty: only predicted.
  /// The resolution: times are written as multiples of it.
  double tick = 1;
  std::vector<std::vector<Event>> lanes = {}; ///< Ordered by their begins.
};

/// A value that one chunk produces and a later one uses.
struct Edge {
  int from = 0, to = 0;
  bool carriesGradient = true;
  std::int64_t bytes = 0; ///< The size of a message; 0: unknown.
};

struct Graph {
  std::string name;     ///< The name of a schedule ("1f1b") or a model.
  std::string size;     ///< "4 stages of 2 chunks, 8 microbatches".
  std::string timeUnit; ///< "us"; empty if times have no unit.
  std::string memoryUnit = "B";
  std::int64_t memoryUnitSize = 1; ///< One unit, as a number in `held`.
  int shades = 1;
  std::vector<Kind> kinds;
  std::vector<Entry> entries;
  std::vector<Edge> edges;
  std::vector<Lane> lanes;
  std::vector<Times> times;
};

/// Encodes a graph for a page, as a line of JSON without '<'. Each operation is
/// coded as a difference from the previous one of its entry, so that it takes
/// two bytes in regular schedules. O(operations + events).
std::string encode(const Graph &graph);

/// The page with these graphs, which are results of `encode`.
std::string toPage(std::span<const std::string> graphs);

/// "net 1f1b (predicted, measured)", for a result of `encode`.
std::string describe(const std::string &graph);

/// Reads the graphs of a page that `toPage` made, from the file at `path`. The
/// error names the file and says why it is no such page.
Expected<std::vector<std::string>> readPage(const std::string &path);

/// Whether `path` has the extension of pages, ".html".
bool isPagePath(std::string_view path);

} // namespace veeline::page

#endif // VEELINE_PAGE_PAGE_H
