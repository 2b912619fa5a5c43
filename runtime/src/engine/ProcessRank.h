//===- ProcessRank.h - a rank that is a process -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_PROCESSRANK_H
#define VEELINE_RUNTIME_ENGINE_PROCESSRANK_H

#include "Executor.h"
#include "Network.h"
#include "Rank.h"

#include <bit>
#include <functional>
#include <sys/types.h>
#include <thread>

namespace veeline::engine {

/// Marks a result that was not reported: a NaN that no computation produces.
inline const double notReported =
    std::bit_cast<double>(uint64_t(0x7ff8'7665'656c'696e));

/// What the rank of this process does. The rank runs on `thread`, whose
/// system-wide number is `number`.
Pulse pulseOf(const veeline_rank &rank, const std::thread &thread,
              pid_t number);

/// Computes the norm of all gradients from the numbers of ranks. For each entry
/// of its table of parameters, a rank has the squared norm of the gradient; or,
/// if gradients are scattered, the squared norms of its `ownNormParts`.
class NormSum {
public:
  NormSum(const artifact::Metadata &metadata, const artifact::Program &program);

  /// The place of the first number of each entry of the rank. The last element
  /// is the number of numbers of the rank.
  const std::vector<size_t> &placesOf(size_t rank) const {
    return places[rank];
  }
  /// Returns the norm, where `numbersOf(rank)` are the numbers of a rank. Adds
  /// in the order of parts, then of parameters, so that the norm has the same
  /// bits for every schedule and however gradients are scattered.
  double norm(const std::function<const double *(size_t)> &numbersOf) const;

private:
  /// The place where a parameter is updated: its entry in the rank's table, and
  /// the ranks that know parts of the norm, in their order. All of these have
  /// this entry.
  struct Home {
    size_t entry;
    std::vector<int32_t> ranks;
  };

  std::vector<Home> homes;                 ///< By parameter.
  std::vector<std::vector<size_t>> places; ///< By rank.
};

/// Gives each process what all processes have reported. This process has
/// `results`, and `squares`, its numbers for the norm.
Status shareStep(Network &network, const NormSum &norms,
                 const std::vector<double> &results,
                 const std::vector<double> &squares, StepResult &result);

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_PROCESSRANK_H
