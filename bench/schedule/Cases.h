//===- Cases.h - published figures and peers' figures -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BENCH_SCHEDULE_CASES_H
#define VEELINE_BENCH_SCHEDULE_CASES_H

#include "veeline/Schedule/Generators.h"

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace veeline::bench {

/// A table with a header line; fields are not quoted.
class Csv {
public:
  static Csv read(const std::string &path);
  std::size_t size() const { return rows.size(); }
  const std::string &text(std::size_t row, const std::string &column) const;
  double number(std::size_t row, const std::string &column) const;

private:
  std::map<std::string, std::size_t> columns;
  std::vector<std::vector<std::string>> rows;
};

/// Costs of one chunk of a v=2 placement, as peers' figures give them.
struct Case {
  int stages, microbatches;
  double forward, backwardInput, backwardWeight, transfer;

  friend bool operator<(const Case &a, const Case &b) {
    return a.key() < b.key();
  }
  std::string name() const;

private:
  std::tuple<int, int, double, double, double, double> key() const {
    return {stages,        microbatches,   forward,
            backwardInput, backwardWeight, transfer};
  }
};

/// The problem of a case on a placement. With v = 1 a chunk has the costs of
/// both chunks. `limit` is in activations; 0: none.
schedule::Problem problemOf(const Case &shape, schedule::PlacementKind kind,
                            int chunksPerStage, double limit);

} // namespace veeline::bench

#endif // VEELINE_BENCH_SCHEDULE_CASES_H
