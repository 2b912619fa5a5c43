//===- Page.h - timelines as a page to look around in -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A page is one file of HTML with everything in it. It shows graphs: the
// operations of all ranks, with the times that were predicted for them, that
// were measured, or both. docs/timeline-page.md is for its readers.
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

/// Operations that are named and coloured alike.
struct Kind {
  std::string name;   ///< "F", "send activation".
  std::string legend; ///< "F, forward".
  /// What the number in a name is of: 'c' a chunk, 'e' an edge, 'p' a
  /// parameter; 0: there is none.
  char letter = 'c';
  /// "F", "R", "B", "W" or "BW", "send" or "recv" of an `activation` or a
  /// `gradient`, "copy" to the host's memory or back, "sync" or "other": what a
  /// reader of the data has to know.
  std::string role;
  /// Of messages over edges: gradients go the other way.
  bool isGradient = false;
  bool isLate = false; ///< Of the step before.
};

/// What the operations of one kind on one chunk, edge or parameter share.
struct Entry {
  int kind = 0;           ///< Index into Graph::kinds.
  int number = 0;         ///< Of the chunk, edge or parameter.
  int shade = 0;          ///< From light to dark, below Graph::shades.
  std::int64_t bytes = 0; ///< Of a message; 0: not known.
};

/// Its place in the list of its rank is its id.
struct Operation {
  int entry = 0;                    ///< Index into Graph::entries.
  int microbatch = -1;              ///< -1 for what is done once a step.
  std::int64_t held = 0, after = 0; ///< Memory while it runs, and then.
};

struct Lane {
  std::string name;
  /// Ranks with the same number exchange messages: the replica.
  int group = 0;
  std::optional<std::int64_t> limit = std::nullopt; ///< Of memory.
  std::int64_t before = 0; ///< Memory before the first operation.
  std::vector<Operation> operations = {};
};

/// When an operation ran.
struct Event {
  int operation = 0; ///< Index into Lane::operations.
  int step = 0;
  double begin = 0, end = 0;
};

/// Times of the operations of a graph, by rank.
struct Times {
  std::string name; ///< "predicted" or "measured"; empty: just predicted.
  /// Times are written as multiples of it.
  double tick = 1;
  std::vector<std::vector<Event>> lanes = {}; ///< Ordered by their begins.
};

/// A value that one chunk makes and a later one uses.
struct Edge {
  int from = 0, to = 0;
  bool carriesGradient = true;
  std::int64_t bytes = 0; ///< Of a message; 0: not known.
};

struct Graph {
  std::string name;     ///< "1f1b", or of a model.
  std::string size;     ///< "4 stages of 2 chunks, 8 microbatches".
  std::string timeUnit; ///< "us", or empty where times have none.
  std::string memoryUnit = "B";
  std::int64_t memoryUnitSize = 1; ///< So many of `held` are one unit.
  int shades = 1;
  std::vector<Kind> kinds;
  std::vector<Entry> entries;
  std::vector<Edge> edges;
  std::vector<Lane> lanes;
  std::vector<Times> times;
};

/// What a page has of a graph: a line of JSON, without '<'. Operations are
/// coded as differences from the one before of their entry, so that regular
/// schedules take two bytes each. O(operations + events).
std::string encode(const Graph &graph);

/// A page of graphs that `encode` made.
std::string toPage(std::span<const std::string> graphs);

/// "net 1f1b (predicted, measured)", of a graph that `encode` made.
std::string describe(const std::string &graph);

/// The graphs of a page that `toPage` made. The error, for which `path` names
/// the file, says why it is none.
Expected<std::vector<std::string>> readPage(const std::string &path);

/// Whether `path` ends as pages do, in ".html".
bool isPagePath(std::string_view path);

} // namespace veeline::page

#endif // VEELINE_PAGE_PAGE_H
