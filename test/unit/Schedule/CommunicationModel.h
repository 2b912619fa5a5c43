//===- CommunicationModel.h - executable rules of transports ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_SCHEDULE_COMMUNICATIONMODEL_H
#define VEELINE_TEST_UNIT_SCHEDULE_COMMUNICATIONMODEL_H

#include "TestUtilities.h"
#include "veeline/Schedule/Communication/Program.h"

#include <set>

namespace veeline::schedule::communication {

/// The errors that running a program can show.
enum class Outcome {
  /// The program cannot be run.
  Malformed,
  Group,
  Handle,
  Duplicate,
  /// A rank has two units under way at the same time.
  AtOnce,
  /// A receive got another message than its own.
  WrongDelivery,
  /// A receive got elements of another type, or another number of bytes or
  /// extents, than it has room for; or the contributions to a sum do not match.
  WrongElements,
  WrongExtents,
  /// A rank had to know the length of a value before it was told, or sent a
  /// value before its length.
  UnknownShape,
  /// No rank can go on, and not all have finished.
  Stuck,
};

struct Judgement {
  /// Empty if the program is right.
  std::set<Outcome> seen;
  /// Whether all interleavings were run, instead of random ones.
  bool isExhaustive = true;
};

/// Runs a program literally by the rules of `model`, with messages that have
/// elements and extents. Runs every interleaving if there are at most
/// `maxStates` states, else random ones. It shares no code with the verifier,
/// and may be slow.
Judgement judge(const Program &program, Model model, Random &random,
                std::size_t maxStates = 20'000);

/// Whether an error that the verifier found is one of those that were seen.
bool isSeen(ErrorKind kind, const Judgement &judgement);

} // namespace veeline::schedule::communication

#endif // VEELINE_TEST_UNIT_SCHEDULE_COMMUNICATIONMODEL_H
