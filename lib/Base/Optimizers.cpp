//===- Optimizers.cpp - the names and sizes of optimisers -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/Optimizers.h"

#include "veeline/Base/Suggest.h"

#include <algorithm>
#include <iterator>

using namespace veeline;

namespace {
struct Row {
  std::string_view name;
  int64_t stateSlots;
};
} // namespace

/// In the order of Optimizer.
static constexpr Row rows[] = {
    {"sgd", 0},   {"sgd-momentum", 1}, {"sgd-nesterov", 1}, {"adam", 2},
    {"adamw", 2}, {"nadamw", 2},       {"lion", 1},         {"muon", 2}};

static const Row &rowOf(Optimizer optimizer) {
  return rows[static_cast<size_t>(optimizer)];
}

std::string_view veeline::name(Optimizer optimizer) {
  return rowOf(optimizer).name;
}

std::string veeline::describeOptimizer(Optimizer optimizer,
                                       bool errorFeedback) {
  return std::string(name(optimizer)) +
         (errorFeedback ? " with error feedback" : "");
}

std::optional<Optimizer> veeline::parseOptimizer(std::string_view text) {
  for (size_t i = 0; i < std::size(rows); ++i)
    if (rows[i].name == text)
      return static_cast<Optimizer>(i);
  return std::nullopt;
}

std::vector<std::string> veeline::optimizerNames() {
  std::vector<std::string> names;
  for (const Row &row : rows)
    names.emplace_back(row.name);
  return names;
}

std::string veeline::listOptimizers() {
  std::vector<std::string> names = optimizerNames();
  std::string last = names.back();
  names.pop_back();
  return joinNames(names) + " or " + last;
}

int64_t veeline::stateSlots(Optimizer optimizer, bool errorFeedback) {
  return rowOf(optimizer).stateSlots + errorFeedback;
}

Optimizer veeline::updateRule(Optimizer optimizer,
                              const std::vector<int64_t> &shape) {
  return optimizer == Optimizer::muon && shape.size() != 2 ? Optimizer::adamw
                                                           : optimizer;
}

UpdateTraffic veeline::updateTraffic(int64_t bytes, int64_t stateBytes,
                                     const UpdateKind &kind) {
  int64_t written = bytes + stateBytes;
  if (kind.keepsState)
    written *= 2;
  if (kind.keepsVersion)
    written += bytes;
  // What is written, or copied, was read before.
  return {kind.numGradients * bytes + written, written};
}

int64_t veeline::newtonSchulzElements(int64_t rows, int64_t columns) {
  int64_t small = std::min(rows, columns);
  return 2 * small * small + rows * columns;
}
