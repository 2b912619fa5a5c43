//===- Reference.h - a slow, obvious simulator and verifier -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written from the definitions in Problem.h alone, with maps and repeated
// passes, to be compared with the library.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_SCHEDULE_REFERENCE_H
#define VEELINE_TEST_UNIT_SCHEDULE_REFERENCE_H

#include "veeline/Schedule/Simulator.h"

#include <optional>

namespace veeline::schedule::reference {

/// Simulates buffered messages. No value: the order cannot run to its end.
std::optional<Simulation> simulate(const Problem &problem,
                                   const Schedule &schedule,
                                   bool contention = false);

/// Simulates calls that block, `messages` in this order. No value: they
/// deadlock.
std::optional<Simulation>
simulateRendezvous(const Problem &problem, const Schedule &schedule,
                   const std::vector<Message> &messages);

/// Whether `verify` has to accept.
bool isValid(const Problem &problem, const Schedule &schedule);

} // namespace veeline::schedule::reference

#endif // VEELINE_TEST_UNIT_SCHEDULE_REFERENCE_H
