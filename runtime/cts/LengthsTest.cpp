//===- LengthsTest.cpp - ranks agree on lengths, or end with an error -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Suite.h"

#include <algorithm>
#include <cstring>

using namespace veeline;
using namespace veeline::cts;

static constexpr int64_t maxBytes = 256;

/// What rank 1 has seen of each of two microbatches.
static int64_t seenLengths[2];
static int32_t seenVersions[2];
static int64_t seenBytes[2];

/// Says what its data say, and sends a value.
static void tell(veeline_rank *rank, char *arena, const void *const *) {
  char *value = arena + maxBytes;
  std::memset(value, 7, maxBytes);
  for (int32_t i = 0; i < 2; ++i) {
    veeline_length_of_data(rank, i);
    veeline_length(rank, i, arena);
    std::memcpy(veeline_send_acquire(rank, 0), arena, 8);
    veeline_send_commit(rank, 0);
    veeline_send_copy(rank, 1, i, veeline_send_acquire(rank, 1), value);
  }
}

/// Says 80, whatever its data say.
static void tellTooMuch(veeline_rank *rank, char *, const void *const *) {
  int64_t length = 80;
  for (int32_t i = 0; i < 2; ++i) {
    std::memcpy(veeline_send_acquire(rank, 0), &length, 8);
    veeline_send_commit(rank, 0);
  }
}

static void listen(veeline_rank *rank, char *arena, const void *const *) {
  char *value = arena + maxBytes;
  for (int32_t i = 0; i < 2; ++i) {
    std::memset(value, 0, maxBytes);
    veeline_recv_post(rank, 1, value);
    veeline_recv_post(rank, 0, arena);
    veeline_recv_wait(rank, 0);
    veeline_length_received(rank, i, arena);
    veeline_length(rank, i, &seenLengths[i]);
    seenVersions[i] = veeline_version(rank, i);
    veeline_recv_wait(rank, 1);
    // They stand at the begin, without gaps.
    seenBytes[i] = std::find(value, value + maxBytes, 0) - value;
    seenBytes[i] += std::count(value + seenBytes[i], value + maxBytes, 7);
  }
}

/// Knows better than what it is told.
static void contradict(veeline_rank *rank, char *arena, const void *const *) {
  veeline_recv_post(rank, 0, arena);
  veeline_recv_wait(rank, 0);
  int64_t other = 16;
  veeline_length_received(rank, 0, &other);
  veeline_length_received(rank, 0, arena);
}

/// Two ranks, and between them a channel of shapes and one of values.
static void addChannels(Fixture &fixture, std::vector<int32_t> microbatches) {
  auto count = static_cast<int32_t>(microbatches.size());
  fixture.metadata().lengths = {8, 16, 64};
  fixture.addChannel(0, 1, 8, count);
  fixture.program().channels.back().kind = artifact::ChannelKind::shape;
  fixture.addChannel(0, 1, maxBytes, count);
  artifact::Channel &channel = fixture.program().channels.back();
  channel.lengthShapes = {{32}, {64}, {maxBytes}};
  channel.microbatches = std::move(microbatches);
}

static Status run(veeline_step_fn first, veeline_step_fn second,
                  std::vector<int64_t> lengths, int32_t parts = 1) {
  Fixture fixture({first, second});
  fixture.metadata().microbatches = 2;
  addChannels(fixture, {0, 1});
  fixture.program().channels.back().parts = parts;
  fixture.lengths = std::move(lengths);
  fixture.create();
  return fixture.step();
}

TEST(Lengths, AreThoseOfTheMessage) {
  for (int32_t parts : {1, 5}) {
    Status status = run(tell, listen, {64, 8}, parts);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(seenLengths[0], 64);
    EXPECT_EQ(seenLengths[1], 8);
    EXPECT_EQ(seenVersions[0], 2);
    EXPECT_EQ(seenVersions[1], 0);
    EXPECT_EQ(seenBytes[0], maxBytes);
    EXPECT_EQ(seenBytes[1], 32);
  }
}

/// Those of a stage of several ranks have every second microbatch, say, and an
/// order from a file may have the later one first.
static constexpr int32_t someMicrobatches[] = {3, 1};

static void tellSome(veeline_rank *rank, char *arena, const void *const *) {
  char *value = arena + maxBytes;
  std::memset(value, 7, maxBytes);
  for (int32_t i : someMicrobatches) {
    veeline_length_of_data(rank, i);
    veeline_length(rank, i, arena);
    std::memcpy(veeline_send_acquire(rank, 0), arena, 8);
    veeline_send_commit(rank, 0);
    veeline_send_copy(rank, 1, i, veeline_send_acquire(rank, 1), value);
  }
}

static void listenToSome(veeline_rank *rank, char *arena, const void *const *) {
  char *value = arena + maxBytes;
  for (int32_t k = 0; k < 2; ++k) {
    std::memset(value, 0, maxBytes);
    veeline_recv_post(rank, 0, arena);
    veeline_recv_wait(rank, 0);
    veeline_length_received(rank, someMicrobatches[k], arena);
    veeline_recv_post(rank, 1, value);
    veeline_recv_wait(rank, 1);
    seenBytes[k] = std::count(value, value + maxBytes, 7);
  }
}

TEST(Lengths, OfSomeMicrobatches) {
  for (int32_t parts : {1, 5}) {
    Fixture fixture({tellSome, listenToSome});
    fixture.metadata().microbatches = 4;
    addChannels(fixture, {3, 1});
    fixture.program().channels.back().parts = parts;
    fixture.lengths = {64, 8, 64, 16};
    fixture.create();
    for (int step = 0; step < 3; ++step) {
      Status status = fixture.step();
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(seenBytes[0], 64);
      EXPECT_EQ(seenBytes[1], 32);
    }
  }
}

TEST(Lengths, BeyondTheBoundOfData) {
  EXPECT_EQ(run(tell, listen, {8, 65}).message(),
            "rank 0: microbatch 1 has length 65 by its data, but the bound of "
            "the artifact is 64; compile with a greater --length-bound");
}

TEST(Lengths, BeyondTheBoundOfAMessage) {
  EXPECT_EQ(run(tellTooMuch, listen, {8, 8}).message(),
            "rank 1: microbatch 0 has length 80 by what another rank says, but "
            "the bound of the artifact is 64; compile with a greater "
            "--length-bound");
}

TEST(Lengths, WithoutAVersion) {
  EXPECT_EQ(run(tell, listen, {8, 9}).message(),
            "rank 0: microbatch 1 has length 9 by its data, which the artifact "
            "was not compiled for; the nearest one is 16");
}

TEST(Lengths, Contradictions) {
  EXPECT_EQ(run(tell, contradict, {8, 8}).message(),
            "rank 1: microbatch 0 has length 8 by what another rank says, but "
            "16 by what the rank knew before; all ranks have to read the same "
            "lengths");
}
