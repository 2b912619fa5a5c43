//===- WorkTest.cpp - copies, zeros, loads and sends ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Suite.h"

#include <cstring>

using namespace veeline;
using namespace veeline::cts;

static std::vector<char> readAll(Fixture &fixture, int32_t rank, int64_t size) {
  std::vector<char> bytes(static_cast<size_t>(size));
  EXPECT_TRUE(fixture.executor().read(rank, 0, bytes.data(), size).ok());
  return bytes;
}

/// Byte i of the arena is i.
static void fillWithPlaces(Fixture &fixture, int32_t rank, int64_t size) {
  std::vector<char> bytes;
  for (int64_t i = 0; i < size; ++i)
    bytes.push_back(static_cast<char>(i));
  ASSERT_TRUE(fixture.executor().write(rank, 0, bytes.data(), size).ok());
}

/// Nothing but the bytes that are named, from odd places on.
TEST(Work, CopiesAndZeros) {
  auto step = [](veeline_rank *rank, char *arena, const void *const *) {
    veeline_copy(rank, arena + 101, arena + 3, 33);
    veeline_zero(rank, arena + 3, 7);
    veeline_copy(rank, arena + 200, arena + 101, 9);
    veeline_zero(rank, arena + 250, 0);
    veeline_copy(rank, arena + 251, arena, 0);
  };
  Fixture fixture({step}, 256);
  ASSERT_NO_FATAL_FAILURE(fixture.create());
  fillWithPlaces(fixture, 0, 256);
  ASSERT_TRUE(fixture.step().ok());
  std::vector<char> bytes = readAll(fixture, 0, 256);
  for (int i = 0; i < 256; ++i) {
    int expected = i;
    if (i >= 101 && i < 134)
      expected = i - 98;
    else if (i >= 3 && i < 10)
      expected = 0;
    else if (i >= 200 && i < 209)
      expected = i - 197;
    EXPECT_EQ(bytes[i], static_cast<char>(expected)) << "byte " << i;
  }
}

/// What was there before all that is asked for later, of 1 to 8 bytes.
TEST(Work, LoadsWaitForWhatIsBefore) {
  auto step = [](veeline_rank *rank, char *arena, const void *const *) {
    int wrong = 0;
    uint64_t expected = 0;
    for (int32_t bytes = 1; bytes <= 8; ++bytes) {
      expected |= uint64_t(63 + bytes) << (8 * (bytes - 1));
      wrong += veeline_load(rank, arena + 64, bytes) != expected;
    }
    veeline_copy(rank, arena + 8, arena + 64, 8);
    wrong += veeline_load(rank, arena + 8, 8) != expected;
    veeline_zero(rank, arena + 9, 1);
    wrong += veeline_load(rank, arena + 8, 2) != 64;
    // A branch on what was computed.
    if (veeline_load(rank, arena + 9, 1) == 0)
      veeline_copy(rank, arena + 16, arena + 65, 1);
    wrong += veeline_load(rank, arena + 16, 1) != 65;
    veeline_zero(rank, arena + 16, wrong ? 8 : 4);
  };
  Fixture fixture({step}, 256);
  ASSERT_NO_FATAL_FAILURE(fixture.create());
  fillWithPlaces(fixture, 0, 256);
  ASSERT_TRUE(fixture.step().ok());
  std::vector<char> bytes = readAll(fixture, 0, 256);
  EXPECT_EQ(bytes[16], 0);
  EXPECT_EQ(bytes[20], 20) << "a load was wrong";
}

/// Results of both types, of all microbatches.
TEST(Work, Reports) {
  auto step = [](veeline_rank *rank, char *arena, const void *const *) {
    for (int32_t microbatch = 0; microbatch < 2; ++microbatch) {
      veeline_report(rank, 0, microbatch, arena + 4 * microbatch);
      veeline_report(rank, 1, microbatch, arena + 8 + 8 * microbatch);
      // It was taken when it was reported.
      veeline_zero(rank, arena + 4 * microbatch, 4);
    }
  };
  Fixture fixture({step}, 256);
  fixture.metadata().microbatches = 2;
  fixture.metadata().results.push_back({"metric", artifact::DataType::f64});
  ASSERT_NO_FATAL_FAILURE(fixture.create());
  for (int i = 0; i < 3; ++i) {
    float losses[] = {1.5f + static_cast<float>(i), -2};
    double metrics[] = {1e300, 0.1 * i};
    ASSERT_TRUE(fixture.executor().write(0, 0, losses, sizeof(losses)).ok());
    ASSERT_TRUE(fixture.executor().write(0, 8, metrics, sizeof(metrics)).ok());
    ASSERT_TRUE(fixture.step().ok());
    EXPECT_EQ(fixture.result().results,
              (std::vector<double>{1.5 + i, -2, 1e300, 0.1 * i}));
  }
}

static constexpr int32_t numMessages = 6;

/// A value may be overwritten once the next one is on its way.
static void sendCopies(veeline_rank *rank, char *arena, const void *const *) {
  for (int32_t i = 0; i < numMessages; ++i) {
    char *place = arena + 512 + 64 * (i % 2);
    veeline_copy(rank, place, arena + 64 * (i + 1), 64);
    veeline_group_begin(rank);
    veeline_send(rank, 0, i, place);
    veeline_group_end(rank);
  }
}

static void receiveCopies(veeline_rank *rank, char *arena,
                          const void *const *) {
  for (int32_t i = 0; i < numMessages; ++i) {
    veeline_group_begin(rank);
    veeline_recv_post(rank, 0, arena);
    veeline_group_end(rank);
    veeline_recv_wait(rank, 0);
    veeline_copy(rank, arena + 64 * (i + 1), arena, 64);
  }
}

TEST(Work, SendsFromElsewhere) {
  Fixture fixture({sendCopies, receiveCopies}, 1024);
  fixture.metadata().microbatches = numMessages;
  fixture.addChannel(0, 1, 64, numMessages);
  ASSERT_NO_FATAL_FAILURE(fixture.create());
  for (int step = 0; step < 50; ++step) {
    std::vector<char> sent(64 * numMessages);
    for (size_t i = 0; i < sent.size(); ++i)
      sent[i] = static_cast<char>(i * 7 + static_cast<size_t>(step));
    ASSERT_TRUE(
        fixture.executor().write(0, 64, sent.data(), 64 * numMessages).ok());
    Status status = fixture.step();
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<char> received(sent.size());
    ASSERT_TRUE(
        fixture.executor().read(1, 64, received.data(), 64 * numMessages).ok());
    ASSERT_EQ(received, sent) << "step " << step;
  }
}
