//===- Reference.h - a slow, simple simulator and verifier ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written only from the definitions in Problem.h, with maps and repeated
// passes, to be compared to the library.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_SCHEDULE_REFERENCE_H
#define VEELINE_TEST_UNIT_SCHEDULE_REFERENCE_H

#include "veeline/Schedule/Simulator.h"

#include <optional>

namespace veeline::schedule::reference {

/// Simulates buffered messages. No value if the order cannot run to its end.
std::optional<Simulation> simulate(const Problem &problem,
                                   const Schedule &schedule,
                                   bool contention = false);

/// Simulates blocking calls with `messages` in this order. No value if they
/// deadlock.
std::optional<Simulation>
simulateRendezvous(const Problem &problem, const Schedule &schedule,
                   const std::vector<Message> &messages);

/// Whether `verify` has to accept the schedule.
bool isValid(const Problem &problem, const Schedule &schedule);

} // namespace veeline::schedule::reference

#endif // VEELINE_TEST_UNIT_SCHEDULE_REFERENCE_H
