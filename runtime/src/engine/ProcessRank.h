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

/// The place where a parameter is updated: the first rank of its home, and its
/// entry in the rank's table. The other ranks of a stage have the same
/// gradients.
struct Home {
  size_t rank, entry;
};

/// Returns the homes by parameter.
std::vector<Home> homesOf(const artifact::Program &program);

/// Returns the sum of the squared gradient norms of all parameters.
/// `squareOf(rank, i)` is that of parameter i of the rank's table. Adds in the
/// order of parameters, so that the sum has the same bits for every schedule.
double addSquares(const std::vector<Home> &homes,
                  const std::function<double(size_t, size_t)> &squareOf);

/// Gives each process what all processes have reported. This process has
/// `results`, and `squares`, the squared norms of its gradients in the order of
/// the rank's table of parameters.
Status shareStep(Network &network, const artifact::Program &program,
                 const std::vector<double> &results,
                 const std::vector<double> &squares, StepResult &result);

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_PROCESSRANK_H
