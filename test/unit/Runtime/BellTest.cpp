//===- BellTest.cpp - waking a rank that waits ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bells.h"
#include "HostRank.h"
#include "MpiChannel.h"
#include "RemoteReduction.h"
#include "Waiting.h"

#include <array>
#include <chrono>
#include <gtest/gtest.h>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>

using namespace veeline;
using namespace veeline::net;

/// So long that a test which sleeps for it fails.
static constexpr int64_t aMinute = 60'000'000'000;
static constexpr int64_t aMillisecond = 1'000'000;

//===----------------------------------------------------------------------===//
// Bells
//===----------------------------------------------------------------------===//

/// Reads how another process describes its bell.
static std::string readDescription(int pipe) {
  std::array<char, 100> text = {};
  return ::read(pipe, text.data(), text.size() - 1) > 0 ? text.data() : "";
}

/// The sleep of another process.
TEST(Bell, EndsASleep) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  pid_t sleeper = ::fork();
  ASSERT_GE(sleeper, 0);
  if (sleeper == 0) {
    Bells bells;
    std::string description = bells.describe();
    bells.own().arm();
    bool isSaid = ::write(pipe[1], description.data(), description.size()) > 0;
    ::_exit(isSaid && bells.own().sleep(aMinute) ? 0 : 1);
  }
  Bells bells;
  bells.connect(0, {bells.describe(), readDescription(pipe[0])});
  EXPECT_EQ(bells.of(0), &bells.own());
  EXPECT_TRUE(bells.everyoneRings());
  Bell *bell = bells.of(1);
  ASSERT_NE(bell, nullptr);
  EXPECT_TRUE(bell->isArmed());
  // By now it sleeps; if not, this is EndsASleepThatHasNotBegun.
  ::usleep(20'000);
  bell->ring();
  int status = -1;
  EXPECT_EQ(::waitpid(sleeper, &status, 0), sleeper);
  EXPECT_EQ(status, 0);
  for (int end : pipe)
    ::close(end);
}

/// A description may be of a process of another host or container, or of none.
TEST(Bells, AreNotTakenForOthers) {
  Bells other;
  std::string known = other.describe();
  std::string another = known;
  another.back() = another.back() == '0' ? '1' : '0';
  std::string process = std::to_string(::getpid());
  int file = ::memfd_create("something else", MFD_CLOEXEC);
  Bells bells;
  bells.connect(0, {"", known, another, "", "garbage", process + " 0 1 1",
                    process + " " + std::to_string(file) + " 0 0",
                    process + " -1 0 0", "2147483647 3 0 0"});
  EXPECT_NE(bells.of(1), nullptr);
  for (int32_t rank = 2; rank <= 8; ++rank)
    EXPECT_EQ(bells.of(rank), nullptr) << rank;
  EXPECT_FALSE(bells.everyoneRings());
  ::close(file);
}

/// The bell rings after the last look, and before the sleep.
TEST(Bell, EndsASleepThatHasNotBegun) {
  Bell bell;
  bell.arm();
  EXPECT_TRUE(bell.isArmed());
  bell.ring();
  EXPECT_FALSE(bell.isArmed());
  EXPECT_TRUE(bell.sleep(aMinute));
}

/// A ring before `arm` is not kept: the look after `arm` sees what it was for.
TEST(Bell, RingsOnlyForWhoHasArmedIt) {
  Bell bell;
  bell.ring();
  bell.arm();
  EXPECT_FALSE(bell.sleep(aMillisecond));
  EXPECT_FALSE(bell.isArmed());
}

TEST(Bell, IsDisarmedByWhoDoesNotSleep) {
  Bell bell;
  bell.arm();
  EXPECT_TRUE(bell.disarm());
  EXPECT_FALSE(bell.isArmed());
  EXPECT_FALSE(bell.disarm());
}

/// Yields after some spins, so that the other thread makes progress if there is
/// no core for both.
template <typename Predicate> static void spinUntil(Predicate isDone) {
  for (int32_t spins = 0; !isDone(); ++spins)
    spins < 200 ? pauseSpin() : std::this_thread::yield();
}

/// Sender and receiver act at the same instant: if the receiver looks in vain,
/// it has armed the bell before it rings.
TEST(Bell, OrTheLookIsInTime) {
  constexpr int32_t numRounds = 20'000;
  Bell bell;
  std::atomic<int32_t> sent{0}, rung{0}, begun[2] = {0, 0};
  auto meet = [&](int32_t self, int32_t round) {
    begun[self].store(round, std::memory_order_release);
    spinUntil([&] { return begun[1 - self].load() >= round; });
  };
  std::thread sender([&] {
    for (int32_t i = 1; i <= numRounds; ++i) {
      meet(1, i);
      sent.store(i, std::memory_order_relaxed);
      bell.ring();
      rung.store(i, std::memory_order_release);
    }
  });
  int32_t numLate = 0, numLost = 0;
  for (int32_t i = 1; i <= numRounds; ++i) {
    meet(0, i);
    bell.arm();
    bool isLate = sent.load(std::memory_order_relaxed) < i;
    spinUntil([&] { return rung.load(std::memory_order_acquire) >= i; });
    bool isArmed = bell.disarm();
    numLate += isLate;
    numLost += isLate && isArmed;
  }
  sender.join();
  EXPECT_EQ(numLost, 0) << "of " << numLate;
}

/// Two threads wake each other, at all distances in time. No ring is lost if
/// every sleep is cut short.
TEST(Bell, IsNeverLost) {
  constexpr int32_t numMessages = 10'000;
  Bell bells[2];
  std::atomic<int32_t> sent[2] = {0, 0};
  std::atomic<int32_t> lost{0};
  auto run = [&](int32_t self) {
    std::minstd_rand random(static_cast<unsigned>(self + 1));
    for (int32_t i = 1; i <= numMessages && lost == 0; ++i) {
      if (self == 0 || i > 1)
        for (auto spins = random() % 400; spins > 0; --spins)
          pauseSpin();
      if (self == 0) {
        sent[1].store(i, std::memory_order_relaxed);
        bells[1].ring();
      }
      for (;;) {
        bells[self].arm();
        if (sent[self].load(std::memory_order_relaxed) >= i || lost != 0)
          break;
        if (!bells[self].sleep(aMinute))
          ++lost;
      }
      bells[self].disarm();
      if (self == 1) {
        sent[0].store(i, std::memory_order_relaxed);
        bells[0].ring();
      }
    }
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  EXPECT_EQ(lost, 0);
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

TEST(Waiting, ArmsTheBellInALongWait) {
  Bells bells;
  host::HostRank rank;
  std::atomic<bool> isAborted{false}, isThere{false};
  std::thread waiter([&] {
    EXPECT_TRUE(
        sleepUntil(rank, 0, bells, isAborted, [&] { return isThere.load(); }));
  });
  while (!bells.own().isArmed())
    std::this_thread::yield();
  isThere = true;
  bells.own().ring();
  waiter.join();
  EXPECT_FALSE(bells.own().isArmed());
  EXPECT_EQ(rank.awaited, -1);
}

/// A ring that is lost costs a pause only.
TEST(Waiting, EndsWithoutABell) {
  Bells bells;
  host::HostRank rank;
  std::atomic<bool> isAborted{false};
  int looks = 0;
  EXPECT_TRUE(
      sleepUntil(rank, 0, bells, isAborted, [&] { return ++looks == 1000; }));
  EXPECT_FALSE(bells.own().isArmed());
  std::thread aborter([&] { isAborted = true; });
  EXPECT_FALSE(sleepUntil(rank, 0, bells, isAborted, [] { return false; }));
  aborter.join();
  EXPECT_FALSE(bells.own().isArmed());
}

//===----------------------------------------------------------------------===//
// Who rings
//===----------------------------------------------------------------------===//

/// An MPI by which so many messages more come.
static int32_t numComing;
static int32_t numTests;
static char request;

static const char *sendNothing(const void *, int64_t, int32_t, int32_t,
                               void **started) {
  *started = &request;
  return nullptr;
}

static const char *receiveNothing(void *, int64_t, int32_t, int32_t,
                                  void **started) {
  *started = &request;
  return nullptr;
}

static const char *testNothing(void *, bool *done, int64_t *bytes) {
  ++numTests;
  *done = numComing > 0;
  numComing -= *done;
  if (bytes)
    *bytes = 64;
  return nullptr;
}

static const MpiLibrary mpiLibrary = {nullptr,        nullptr,     sendNothing,
                                      receiveNothing, testNothing, nullptr,
                                      nullptr};

namespace {
/// Rank 0 sends to rank 1 by channel 0. Either may have to ring the bell of the
/// other.
class Rings : public testing::Test {
protected:
  Rings() {
    artifact::Channel channel;
    channel.toRank = 1;
    channel.messageBytes = 64;
    channel.messagesPerStep = 3;
    channel.type = artifact::DataType::i8;
    channel.shape = {64};
    program.channels = {channel};
    program.ranks.resize(2);
    for (int32_t i = 0; i < 2; ++i) {
      ranks[i].index = i;
      ranks[i].program = &program;
      ranks[i].description = &program.ranks[static_cast<size_t>(i)];
    }
    own.connect(0, {own.describe(), other.describe()});
    bells[0] = &own.own();
    bells[1] = own.of(1);
    other.connect(1, {own.describe(), other.describe()});
    numComing = 0;
    numTests = 0;
  }

  artifact::Program program;
  engine::Group group{program, /*isWhole=*/false, /*checksMessages=*/false};
  host::HostRank ranks[2];
  Bells own, other; ///< Of ranks 0 and 1.
  Bell *bells[2];
  char slot[64];
};
} // namespace

TEST_F(Rings, WhoSends) {
  MpiChannel channel(mpiLibrary, own, 0, group, 0, program.channels[0]);
  bells[1]->arm();
  channel.acquire(ranks[0]);
  EXPECT_TRUE(bells[1]->isArmed());
  channel.commit(ranks[0]);
  EXPECT_FALSE(bells[1]->isArmed());
  numComing = 2;
}

TEST_F(Rings, WhoReceivesWhatHeWaitsFor) {
  MpiChannel channel(mpiLibrary, other, 1, group, 0, program.channels[0]);
  channel.post(ranks[1], slot);
  bells[0]->arm();
  numComing = 2;
  channel.wait(ranks[1]);
  EXPECT_FALSE(ranks[1].failed);
  EXPECT_FALSE(bells[0]->isArmed());
}

/// The channel remembers that it has come.
TEST_F(Rings, WhoReceivesWhatHeDoesNotWaitFor) {
  MpiChannel channel(mpiLibrary, other, 1, group, 0, program.channels[0]);
  channel.post(ranks[1], slot);
  channel.post(ranks[1], slot);
  channel.progress(ranks[1]);
  EXPECT_EQ(numTests, 0) << "the sender is awake";
  bells[0]->arm();
  channel.progress(ranks[1]);
  EXPECT_EQ(numTests, 1);
  EXPECT_TRUE(bells[0]->isArmed());
  numComing = 2;
  channel.progress(ranks[1]);
  EXPECT_EQ(numTests, 3);
  EXPECT_FALSE(bells[0]->isArmed());
  bells[0]->arm();
  channel.wait(ranks[1]);
  channel.wait(ranks[1]);
  EXPECT_FALSE(ranks[1].failed);
  EXPECT_EQ(numTests, 3);
  EXPECT_TRUE(bells[0]->isArmed());
}

/// The other end is on another host, and has no bell here.
TEST_F(Rings, NobodyWithoutABell) {
  Bells alone;
  alone.connect(0, {alone.describe(), ""});
  MpiChannel channel(mpiLibrary, alone, 0, group, 0, program.channels[0]);
  channel.acquire(ranks[0]);
  channel.commit(ranks[0]);
  numComing = 1;
  channel.flush(ranks[0]);
  EXPECT_FALSE(ranks[0].failed);
  EXPECT_TRUE(channel.isIdle(ranks[0]));
}

TEST_F(Rings, WhoAddsUpGradients) {
  artifact::ReducedPiece description;
  description.type = artifact::DataType::f32;
  description.numElements = 4;
  description.bufferOffset = 16;
  description.stride = 16;
  float arena[8] = {};
  MpiReduction reduction(
      {group, 0, description, {0, 1}, 0, reinterpret_cast<char *>(arena)},
      mpiLibrary, own, 1);
  bells[1]->arm();
  reduction.post(ranks[0]);
  EXPECT_FALSE(bells[1]->isArmed()) << "a contribution was sent";
  bells[1]->arm();
  reduction.progress(ranks[0]);
  EXPECT_TRUE(bells[1]->isArmed());
  // Both contributions and a sum; then the other sum, and nothing is sent.
  numComing = 3;
  reduction.progress(ranks[0]);
  EXPECT_FALSE(bells[1]->isArmed());
  bells[1]->arm();
  numComing = 1;
  reduction.progress(ranks[0]);
  EXPECT_FALSE(bells[1]->isArmed()) << "a sum has come";
  reduction.wait(ranks[0]);
  EXPECT_FALSE(ranks[0].failed);
}
