//===- CommunicationModel.h - the rules of transports, executed -*- C++ -*-===//
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

/// What can be seen of a program by running it.
enum class Outcome {
  /// It cannot be run.
  Malformed,
  Group,
  Handle,
  Duplicate,
  /// A rank has two units under way at once.
  AtOnce,
  /// A receive got another message than its own.
  WrongDelivery,
  /// A receive got elements of another type, or another number of bytes or
  /// extents, than it has a place for; ranks add up what does not fit.
  WrongElements,
  WrongExtents,
  /// A rank had to know how long a value is before anybody had told it, or
  /// sent one before it told how long it is.
  UnknownShape,
  /// Nobody can go on, and not all have finished.
  Stuck,
};

struct Judgement {
  /// Empty for a program that is right.
  std::set<Outcome> seen;
  /// Whether all interleavings were run, not random ones.
  bool isExhaustive = true;
};

/// Runs a program literally by the rules of `model`, with messages that have
/// elements and extents. Runs every interleaving if there are at most
/// `maxStates` states, else random ones. Shares no code with the verifier and
/// does not care how long it takes.
Judgement judge(const Program &program, Model model, Random &random,
                std::size_t maxStates = 20'000);

/// Whether an error that the verifier found is one of what was seen.
bool isSeen(ErrorKind kind, const Judgement &judgement);

} // namespace veeline::schedule::communication

#endif // VEELINE_TEST_UNIT_SCHEDULE_COMMUNICATIONMODEL_H
