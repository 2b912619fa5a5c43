//===- OffloadTest.cpp - values that wait in the host's memory ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Suite.h"

using namespace veeline;
using namespace veeline::cts;

static constexpr int64_t arenaBytes = 1024;

static std::vector<char> readAll(Fixture &fixture) {
  std::vector<char> bytes(arenaBytes);
  EXPECT_TRUE(fixture.executor().read(0, 0, bytes.data(), arenaBytes).ok());
  return bytes;
}

static void writeAll(Fixture &fixture, const std::vector<char> &bytes) {
  ASSERT_TRUE(fixture.executor().write(0, 0, bytes.data(), arenaBytes).ok());
}

static std::vector<char> places() {
  std::vector<char> bytes;
  for (int64_t i = 0; i < arenaBytes; ++i)
    bytes.push_back(static_cast<char>(i * 7 + i / 256));
  return bytes;
}

/// Two parts, one of two values, whose memory is written after they have left.
/// They come back elsewhere, in another order.
static void moveAround(veeline_rank *rank, char *arena, const void *const *) {
  veeline_offload(rank, 0, 64, arena, 50);
  veeline_offload(rank, 0, 128, arena + 101, 33);
  veeline_offload(rank, 1, 0, arena + 300, 60);
  veeline_offload(rank, 1, 192, arena + 300, 0);
  veeline_release(rank, 0);
  veeline_zero(rank, arena, 50);
  veeline_zero(rank, arena + 101, 33);
  veeline_release(rank, 1);
  veeline_zero(rank, arena + 300, 60);
  veeline_reload(rank, 1, arena + 512, 0, 60);
  veeline_reload(rank, 0, arena + 640, 64, 50);
  veeline_reload(rank, 0, arena + 705, 128, 33);
  veeline_restore(rank, 0);
  // It takes the values as soon as they are restored.
  veeline_copy(rank, arena + 800, arena + 640, 50);
  veeline_restore(rank, 1);
  veeline_copy(rank, arena + 900, arena + 512, 60);
}

TEST(Offload, ValuesComeBackAsTheyLeft) {
  Fixture fixture({moveAround}, arenaBytes);
  fixture.rank(0).hostBytes = 256;
  fixture.rank(0).numOffloads = 2;
  for (artifact::OpKind kind :
       {artifact::OpKind::offload, artifact::OpKind::reload})
    for (int i = 0; i < 2; ++i) {
      artifact::Op op;
      op.kind = kind;
      fixture.rank(0).ops.push_back(op);
    }
  ASSERT_NO_FATAL_FAILURE(fixture.create());
  for (int step = 0; step < 3; ++step) {
    std::vector<char> before = places(), expected = before;
    auto move = [&](int64_t to, int64_t from, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        expected[to + i] = before[from + i];
    };
    for (auto [to, from, count] : {std::tuple(512, 300, 60),
                                   {640, 0, 50},
                                   {705, 101, 33},
                                   {800, 0, 50},
                                   {900, 300, 60}})
      move(to, from, count);
    for (auto [from, count] : {std::pair(0, 50), {101, 33}, {300, 60}})
      std::fill_n(expected.begin() + from, count, 0);
    ASSERT_NO_FATAL_FAILURE(writeAll(fixture, before));
    ASSERT_TRUE(fixture.step().ok());
    EXPECT_EQ(readAll(fixture), expected) << "step " << step;
  }
}
