//===- Optimizers.cpp - the names and sizes of optimisers -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/Optimizers.h"

#include "veeline/Base/Suggest.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>

using namespace veeline;

namespace {
struct Row {
  std::string_view name;
  /// The number of state tensors with the shape of the parameter.
  size_t stateTensors;
};
} // namespace

/// One row for each `Optimizer`, in the order of the enum.
static constexpr Row rows[] = {
    {"sgd", 0},  {"sgd-momentum", 1}, {"sgd-nesterov", 1},
    {"adam", 2}, {"adamw", 2},        {"nadamw", 2},
    {"lion", 1}, {"adafactor", 1},    {"muon", 2}};

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

using Shape = std::span<const int64_t>;

template <typename Visit>
static void forEachState(Optimizer optimizer, bool errorFeedback, Shape shape,
                         const Visit &visit) {
  if (optimizer == Optimizer::adafactor && shape.size() == 2) {
    visit(shape.first(1));
    visit(shape.last(1));
  } else {
    for (size_t i = 0; i < rowOf(optimizer).stateTensors; ++i)
      visit(shape);
  }
  if (errorFeedback)
    visit(shape);
}

std::vector<std::vector<int64_t>>
veeline::stateShapes(Optimizer optimizer, bool errorFeedback, Shape shape) {
  std::vector<std::vector<int64_t>> shapes;
  forEachState(optimizer, errorFeedback, shape,
               [&](Shape one) { shapes.emplace_back(one.begin(), one.end()); });
  return shapes;
}

int64_t veeline::stateElements(Optimizer optimizer, bool errorFeedback,
                               Shape shape) {
  int64_t sum = 0;
  forEachState(optimizer, errorFeedback, shape, [&](Shape one) {
    sum += std::accumulate(one.begin(), one.end(), int64_t(1),
                           std::multiplies<>());
  });
  return sum;
}

bool veeline::isElementwise(Optimizer optimizer) {
  return optimizer != Optimizer::muon && optimizer != Optimizer::adafactor;
}

Optimizer veeline::updateRule(Optimizer optimizer,
                              const std::vector<int64_t> &shape) {
  return optimizer == Optimizer::muon && shape.size() != 2 ? Optimizer::adamw
                                                           : optimizer;
}

UpdateTraffic veeline::updateTraffic(int64_t bytes, int64_t stateBytes,
                                     const UpdateKind &kind) {
  int64_t updated = bytes / kind.shards;
  int64_t written = updated + stateBytes;
  if (kind.keepsState)
    written += bytes + stateBytes;
  if (kind.keepsVersion)
    written += bytes;
  // All that is written or copied is also read before. If only a share of a
  // gradient is used, its norm takes a pass of its own.
  int64_t gradients = kind.numGradients * bytes;
  if (kind.shards > 1)
    gradients += kind.numGradients * updated;
  return {gradients + written, written};
}

int64_t veeline::newtonSchulzElements(int64_t rows, int64_t columns) {
  int64_t small = std::min(rows, columns);
  return 2 * small * small + rows * columns;
}
