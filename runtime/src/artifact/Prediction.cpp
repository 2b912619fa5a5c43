//===- Prediction.cpp - how long a step will take -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/prediction.h"

#include <algorithm>
#include <utility>
#include <vector>

using namespace veeline;
using namespace veeline::artifact;

std::optional<double> veeline::predictStep(const Program &program,
                                           int64_t cores) {
  double end = 0;
  /// When ranks begin to work, +1, and stop, -1.
  std::vector<std::pair<double, int64_t>> changes;
  for (const Rank &rank : program.ranks)
    for (const Op &op : rank.ops) {
      if (op.chunk >= 0 && op.predictedEnd < 0)
        return std::nullopt;
      end = std::max(end, op.predictedEnd);
      if (op.chunk < 0)
        continue;
      changes.emplace_back(op.predictedBegin, 1);
      changes.emplace_back(op.predictedEnd, -1);
    }
  std::sort(changes.begin(), changes.end());
  // The replicas of a rank do the same at the same time. Unless `ranks` has
  // them all, it has those of one.
  int64_t replicas = program.places.empty() ? program.replicas : 1;
  double lost = 0, last = 0;
  int64_t working = 0;
  for (auto [time, change] : changes) {
    double share = double(working * replicas) / double(cores);
    lost += (time - last) * std::max(0.0, share - 1);
    last = time;
    working += change;
  }
  return end + lost;
}
