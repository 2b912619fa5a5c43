//===- MessagesTest.cpp - channels under every order of calls -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Suite.h"

#include <algorithm>
#include <cstring>
#include <random>

using namespace veeline;
using namespace veeline::cts;

static constexpr int32_t numMessages = 8;

static int64_t load(const void *place) {
  int64_t value;
  std::memcpy(&value, place, sizeof(value));
  return value;
}

static void send(veeline_rank *rank, int32_t channel, int64_t value) {
  void *slot = veeline_send_acquire(rank, channel);
  std::memcpy(slot, &value, sizeof(value));
  veeline_send_commit(rank, channel);
}

static int64_t receive(veeline_rank *rank, int32_t channel, char *slot) {
  veeline_recv_post(rank, channel, slot);
  veeline_recv_wait(rank, channel);
  return load(slot);
}

static void reportSum(veeline_rank *rank, int64_t sum) {
  float value = static_cast<float>(sum);
  veeline_report(rank, 0, 0, &value);
}

//===----------------------------------------------------------------------===//
// One channel
//===----------------------------------------------------------------------===//

static void sendAll(veeline_rank *rank, char *, const void *const *batch) {
  int64_t base = load(batch[0]);
  for (int64_t i = 0; i < numMessages; ++i)
    send(rank, 0, base + i);
}

/// Posts everything ahead, then waits in order.
static void receiveAhead(veeline_rank *rank, char *arena,
                         const void *const *batch) {
  int64_t base = load(batch[0]), sum = 0;
  for (int64_t i = 0; i < numMessages; ++i)
    veeline_recv_post(rank, 0, arena + 64 * i);
  for (int64_t i = 0; i < numMessages; ++i) {
    veeline_recv_wait(rank, 0);
    sum += load(arena + 64 * i) == base + i ? 1 : 1000;
  }
  reportSum(rank, sum);
}

/// One slot for all messages: the sender must wait for it.
static void receiveOneByOne(veeline_rank *rank, char *arena,
                            const void *const *batch) {
  int64_t base = load(batch[0]), sum = 0;
  for (int64_t i = 0; i < numMessages; ++i)
    sum += receive(rank, 0, arena) == base + i ? 1 : 1000;
  reportSum(rank, sum);
}

static void runManySteps(veeline_step_fn receiver) {
  Fixture fixture({sendAll, receiver});
  fixture.addChannel(0, 1, 8, numMessages);
  ASSERT_NO_FATAL_FAILURE(fixture.create());
  for (int64_t step = 0; step < 500; ++step) {
    int64_t base = step * 100;
    Status status = fixture.step(&base);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(fixture.result().results[0], numMessages) << "step " << step;
  }
}

TEST(Messages, PostedAhead) { runManySteps(receiveAhead); }
TEST(Messages, OneSlotForAll) { runManySteps(receiveOneByOne); }

/// Several acquired before the first is committed.
static void sendInPairs(veeline_rank *rank, char *, const void *const *batch) {
  int64_t base = load(batch[0]);
  for (int64_t i = 0; i < numMessages; i += 2) {
    void *slots[] = {veeline_send_acquire(rank, 0),
                     veeline_send_acquire(rank, 0)};
    for (int64_t j = 0; j < 2; ++j) {
      int64_t value = base + i + j;
      std::memcpy(slots[j], &value, sizeof(value));
      veeline_send_commit(rank, 0);
    }
  }
}

TEST(Messages, AcquiredInPairs) {
  Fixture fixture({sendInPairs, receiveAhead});
  fixture.addChannel(0, 1, 8, numMessages);
  ASSERT_NO_FATAL_FAILURE(fixture.create());
  int64_t base = 5;
  ASSERT_TRUE(fixture.step(&base).ok());
  EXPECT_EQ(fixture.result().results[0], numMessages);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static constexpr int64_t numElements = 11;

/// By turns computed in place and copied.
static void sendInParts(veeline_rank *rank, char *arena,
                        const void *const *batch) {
  int64_t base = load(batch[0]);
  for (int32_t i = 0; i < numMessages; ++i) {
    int64_t value[numElements];
    for (int64_t k = 0; k < numElements; ++k)
      value[k] = base + 100 * i + k;
    if (i % 2 == 0) {
      std::memcpy(veeline_send_acquire(rank, 0), value, sizeof(value));
      veeline_send_commit(rank, 0);
    } else {
      std::memcpy(arena, value, sizeof(value));
      veeline_send_copy(rank, 0, i, veeline_send_acquire(rank, 0), arena);
    }
  }
}

static void receiveParts(veeline_rank *rank, char *arena,
                         const void *const *batch) {
  int64_t base = load(batch[0]), right = 0;
  for (int32_t i = 0; i < numMessages; ++i)
    veeline_recv_post(rank, 0, arena + 128 * i);
  for (int32_t i = 0; i < numMessages; ++i) {
    veeline_recv_wait(rank, 0);
    for (int64_t k = 0; k < numElements; ++k)
      right += load(arena + 128 * i + 8 * k) == base + 100 * i + k;
  }
  reportSum(rank, right);
}

/// Whatever the number of parts, and whether it divides that of the elements.
TEST(Messages, InParts) {
  for (int32_t parts : {1, 2, 4, 11}) {
    Fixture fixture({sendInParts, receiveParts});
    fixture.addChannel(0, 1, 8 * numElements, numMessages);
    fixture.program().channels[0].type = artifact::DataType::i64;
    fixture.program().channels[0].shape = {numElements};
    fixture.program().channels[0].parts = parts;
    ASSERT_NO_FATAL_FAILURE(fixture.create());
    for (int64_t step = 0; step < 100; ++step) {
      int64_t base = step * 10000;
      Status status = fixture.step(&base);
      ASSERT_TRUE(status.ok()) << status.message();
      ASSERT_EQ(fixture.result().results[0], numMessages * numElements)
          << parts << " parts, step " << step;
    }
  }
}

//===----------------------------------------------------------------------===//
// Many ranks
//===----------------------------------------------------------------------===//

static constexpr int32_t ringSize = 4;

/// Passes a sum around a ring, forward on channels 0..3 and back on 4..7; with
/// four ranks on few cores, threads must let each other run.
template <int32_t index>
static void ringStep(veeline_rank *rank, char *arena, const void *const *) {
  int32_t previous = (index + ringSize - 1) % ringSize;
  int64_t sum = 0;
  for (int64_t round = 0; round < numMessages; ++round) {
    veeline_recv_post(rank, previous, arena);
    veeline_recv_post(rank, ringSize + index, arena + 64);
    if (index == 0) {
      send(rank, 0, 1);
      veeline_recv_wait(rank, previous);
      send(rank, ringSize + previous, load(arena));
      veeline_recv_wait(rank, ringSize + index);
      sum += load(arena + 64);
      continue;
    }
    veeline_recv_wait(rank, previous);
    send(rank, index, load(arena) + 1);
    veeline_recv_wait(rank, ringSize + index);
    send(rank, ringSize + previous, load(arena + 64) + 1);
  }
  if (index == 0)
    reportSum(rank, sum);
}

TEST(Messages, RingOfFourRanks) {
  Fixture fixture({ringStep<0>, ringStep<1>, ringStep<2>, ringStep<3>});
  for (int32_t i = 0; i < ringSize; ++i)
    fixture.addChannel(i, (i + 1) % ringSize, 8, numMessages);
  for (int32_t i = 0; i < ringSize; ++i)
    fixture.addChannel((i + 1) % ringSize, i, 8, numMessages);
  ASSERT_NO_FATAL_FAILURE(fixture.create());
  for (int step = 0; step < 200; ++step) {
    Status status = fixture.step();
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(fixture.result().results[0], numMessages * (2 * ringSize - 1));
  }
}

//===----------------------------------------------------------------------===//
// Random traffic
//===----------------------------------------------------------------------===//

namespace {
/// What one rank does, in order.
struct Action {
  enum Kind { send, post, wait } kind;
  int32_t channel;
  int64_t value; ///< That is sent or expected.
  int64_t work;  ///< Rounds of a loop before it.
};
struct Traffic {
  std::vector<Action> ranks[ringSize];
};
} // namespace

static constexpr int64_t trafficBytes = 256;
static constexpr int32_t trafficMessages = 64; ///< Of each channel.

static void act(veeline_rank *rank, const Action &action, char *slot) {
  for (int64_t i = 0; i < action.work; ++i)
    asm volatile(""); // A loop that no compiler removes.
  if (action.kind == Action::post)
    return veeline_recv_post(rank, action.channel, slot);
  if (action.kind == Action::wait)
    return veeline_recv_wait(rank, action.channel);
  void *place = veeline_send_acquire(rank, action.channel);
  for (int64_t i = 0; i < trafficBytes; i += 8)
    std::memcpy(static_cast<char *>(place) + i, &action.value, 8);
  veeline_send_commit(rank, action.channel);
}

template <int32_t index>
static void trafficStep(veeline_rank *rank, char *arena,
                        const void *const *batch) {
  const auto &traffic = *static_cast<const Traffic *>(batch[0]);
  std::vector<int64_t> posted(ringSize * ringSize), waited(posted);
  auto slotOf = [&](int32_t channel, int64_t message) {
    return arena + (channel * trafficMessages + message) * trafficBytes;
  };
  int64_t wrong = 0;
  for (const Action &action : traffic.ranks[index]) {
    int32_t channel = action.channel;
    act(rank, action,
        action.kind == Action::post ? slotOf(channel, posted[channel]++)
                                    : nullptr);
    if (action.kind != Action::wait)
      continue;
    const char *slot = slotOf(channel, waited[channel]++);
    for (int64_t i = 0; i < trafficBytes; i += 8)
      wrong += load(slot + i) != action.value;
  }
  float value = static_cast<float>(wrong);
  veeline_report(rank, index, 0, &value);
}

/// Messages of all channels in one order that every rank follows, so that none
/// can deadlock; receives are posted up to three messages ahead.
static Traffic makeTraffic(std::mt19937 &random,
                           const std::vector<artifact::Channel> &channels) {
  std::vector<int32_t> order;
  for (size_t i = 0; i < channels.size(); ++i)
    order.insert(order.end(), trafficMessages, static_cast<int32_t>(i));
  std::shuffle(order.begin(), order.end(), random);
  Traffic traffic;
  std::vector<int64_t> posted(channels.size()), waited(channels.size());
  for (int32_t channel : order) {
    auto work = [&] { return random() % 8 ? 0 : int64_t(random() % 2000); };
    int64_t value = int64_t(random());
    auto &receiver = traffic.ranks[channels[channel].toRank];
    int64_t ahead = std::min<int64_t>(waited[channel]++ + 1 + random() % 4,
                                      trafficMessages);
    for (; posted[channel] < ahead; ++posted[channel])
      receiver.push_back({Action::post, channel, 0, work()});
    receiver.push_back({Action::wait, channel, value, work()});
    traffic.ranks[channels[channel].fromRank].push_back(
        {Action::send, channel, value, work()});
  }
  return traffic;
}

TEST(Messages, RandomTrafficBetweenFourRanks) {
  Fixture fixture(
      {trafficStep<0>, trafficStep<1>, trafficStep<2>, trafficStep<3>},
      ringSize * ringSize * trafficMessages * trafficBytes);
  fixture.metadata().results.resize(ringSize, {"wrong", {}});
  for (int32_t from = 0; from < ringSize; ++from)
    for (int32_t to = 0; to < ringSize; ++to)
      if (from != to)
        fixture.addChannel(from, to, trafficBytes, trafficMessages);
  ASSERT_NO_FATAL_FAILURE(fixture.create());
  std::mt19937 random(17);
  for (int step = 0; step < 50; ++step) {
    Traffic traffic = makeTraffic(random, fixture.program().channels);
    Status status = fixture.step(&traffic);
    ASSERT_TRUE(status.ok()) << status.message();
    for (int32_t rank = 0; rank < ringSize; ++rank)
      ASSERT_EQ(fixture.result().results[rank], 0) << "step " << step;
  }
}

TEST(Messages, LargeMessageArrivesWhole) {
  static constexpr int64_t bytes = 1 << 20;
  auto sender = [](veeline_rank *rank, char *, const void *const *) {
    std::memset(veeline_send_acquire(rank, 0), 7, bytes);
    veeline_send_commit(rank, 0);
  };
  auto receiver = [](veeline_rank *rank, char *arena, const void *const *) {
    veeline_recv_post(rank, 0, arena);
    veeline_recv_wait(rank, 0);
    int64_t sum = 0;
    for (int64_t i = 0; i < bytes; ++i)
      sum += arena[i];
    reportSum(rank, sum);
  };
  Fixture fixture({sender, receiver}, bytes);
  fixture.addChannel(0, 1, bytes, 1);
  ASSERT_NO_FATAL_FAILURE(fixture.create());
  ASSERT_TRUE(fixture.step().ok());
  EXPECT_EQ(fixture.result().results[0], 7 * bytes);
}
