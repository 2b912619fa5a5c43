//===- StallTest.cpp - ranks that make no progress ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stall.h"

#include <gtest/gtest.h>

using namespace veeline;
using namespace veeline::net;
using engine::Pulse;

static Time at(int seconds) { return Time() + std::chrono::seconds(seconds); }

static constexpr std::chrono::seconds limit(5);

//===----------------------------------------------------------------------===//
// Deadlock
//===----------------------------------------------------------------------===//

TEST(Deadlock, AllWaitForAsLongAsTheLimit) {
  Deadlock deadlock(2);
  for (int i = 1; i <= 6; ++i) {
    deadlock.hear(0, 7, "rank 0 waits", at(i));
    deadlock.hear(1, 3, "rank 1 waits", at(i));
    EXPECT_EQ(deadlock.find(limit).value_or(""),
              i < 6 ? "" : "deadlock: rank 0 waits; rank 1 waits");
  }
}

TEST(Deadlock, WhoMovesBeginsAnew) {
  Deadlock deadlock(2);
  for (int i = 1; i <= 20; ++i) {
    deadlock.hear(0, 7, "rank 0 waits", at(i));
    deadlock.hear(1, i / 4, "rank 1 waits", at(i));
    EXPECT_FALSE(deadlock.find(limit));
  }
}

TEST(Deadlock, WhoComputesIsWaitedFor) {
  Deadlock deadlock(2);
  for (int i = 1; i <= 20; ++i) {
    deadlock.hear(0, 7, "rank 0 waits", at(i));
    deadlock.hear(1, 3, "", at(i));
    EXPECT_FALSE(deadlock.find(limit));
  }
}

/// What a rank has said does not hold once it is silent.
TEST(Deadlock, WhoIsSilentIsNotKnownToWait) {
  Deadlock deadlock(2);
  deadlock.hear(1, 3, "rank 1 waits", at(1));
  deadlock.hear(1, 3, "rank 1 waits", at(3));
  for (int i = 1; i <= 20; ++i) {
    deadlock.hear(0, 7, "rank 0 waits", at(i));
    EXPECT_FALSE(deadlock.find(limit));
  }
}

TEST(Deadlock, ClearForgets) {
  Deadlock deadlock(1);
  deadlock.hear(0, 7, "rank 0 waits", at(1));
  deadlock.clear();
  deadlock.hear(0, 7, "rank 0 waits", at(20));
  EXPECT_FALSE(deadlock.find(limit));
}

//===----------------------------------------------------------------------===//
// Stall
//===----------------------------------------------------------------------===//

static constexpr Stall::Limits limits = {std::chrono::seconds(5),
                                         std::chrono::seconds(50)};

/// What is found in second `last`; before, nothing may be found.
static std::string lookUntil(int last, Pulse (*pulseAt)(int)) {
  Stall stall(limits);
  for (int i = 0; i < last; ++i)
    if (std::optional<std::string> found = stall.look(pulseAt(i), at(i)))
      return "too early: " + *found;
  return stall.look(pulseAt(last), at(last)).value_or("");
}

static constexpr const char *sleeps =
    "has done nothing for 5 s: its thread sleeps";
static constexpr const char *computes =
    "has made no progress for 50 s (--stall-timeout)";

TEST(Stall, AThreadThatSleeps) {
  auto asleep = [](int) { return Pulse{Pulse::computing, 1, 77, false}; };
  EXPECT_EQ(lookUntil(5, asleep), sleeps);
}

/// A machine may have others to run; a thread may sleep a little.
TEST(Stall, AThreadThatComputes) {
  auto ready = [](int) { return Pulse{Pulse::computing, 1, 77, true}; };
  EXPECT_EQ(lookUntil(50, ready), computes);
  auto computing = [](int i) {
    return Pulse{Pulse::computing, 1, i * int64_t(2'000'000), false};
  };
  EXPECT_EQ(lookUntil(50, computing), computes);
}

/// Waits for other processes have other limits.
TEST(Stall, AThreadThatWaits) {
  auto waits = [](int) { return Pulse{Pulse::waiting, 1, 77, false}; };
  EXPECT_EQ(lookUntil(200, waits), "");
}

/// Reading and writing between steps may take long.
TEST(Stall, BetweenSteps) {
  auto reads = [](int) { return Pulse{Pulse::elsewhere, 1, 0, true}; };
  EXPECT_EQ(lookUntil(50, reads), computes);
}

TEST(Stall, WhoMovesBeginsAnew) {
  auto moves = [](int i) {
    return Pulse{Pulse::computing, static_cast<uint32_t>(i / 4), 77, false};
  };
  EXPECT_EQ(lookUntil(200, moves), "");
}
