//===- CudaStreamsTest.cpp - ranks with several compute streams -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProcessesInThreads.h"

#include <cstring>
#include <set>

using namespace veeline;
using artifact::DataType;
using test::allOrders;
using test::allWell;
using test::argument;
using test::Processes;
using test::toArgument;

using CudaStreams = test::OnFourDevices;

static constexpr int64_t numNumbers = 64;
static constexpr int64_t bytes = 4 * numNumbers;
static constexpr int32_t numTurns = 4;
static constexpr int64_t numSteps = 3;

/// target[i] = source[i] * 3 + 1.
static void step(const void *const *params, const uint32_t *,
                 const uint32_t *) {
  auto *target = argument<float *>(params, 0);
  const auto *source = argument<const float *>(params, 1);
  for (int64_t i = 0; i < numNumbers; ++i)
    target[i] = source[i] * 3 + 1;
}

static float expected(float number, int64_t times) {
  for (int64_t i = 0; i < times; ++i)
    number = number * 3 + 1;
  return number;
}

static void launchStep(veeline_rank *rank, char *target, const char *source) {
  const uint64_t arguments[] = {toArgument(target), toArgument(source)};
  veeline_launch(rank, 0, arguments);
}

static char *placeOf(char *arena, int32_t number) {
  return arena + bytes * number;
}

static void fill(Executor &executor, int32_t rank, int32_t place,
                 float number) {
  std::vector<float> numbers(numNumbers, number);
  EXPECT_TRUE(executor.write(rank, bytes * place, numbers.data(), bytes).ok());
}

static float numberAt(Executor &executor, int32_t rank, int32_t place) {
  std::vector<float> numbers(numNumbers);
  EXPECT_TRUE(executor.read(rank, bytes * place, numbers.data(), bytes).ok());
  for (float number : numbers)
    EXPECT_EQ(number, numbers[0]);
  return numbers[0];
}

static void makeRanks(cts::Fixture &fixture, int32_t streams, int32_t events) {
  fixture.metadata().microbatches = numTurns;
  for (artifact::Rank &rank : fixture.program().ranks) {
    rank.computeStreams = streams;
    rank.events = events;
  }
  test::addKernel(fixture, "step", step, 2);
}

static void waitOnStream(veeline_rank *rank, int32_t stream, int32_t event) {
  veeline_stream(rank, stream);
  veeline_event_wait(rank, event);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

/// Passes a number around from stream to stream, and uses events again.
static void passAround(veeline_rank *rank, char *arena, const void *const *) {
  for (int32_t i = 0; i < numTurns; ++i) {
    launchStep(rank, placeOf(arena, 0), placeOf(arena, 2));
    veeline_event_record(rank, 0);
    waitOnStream(rank, 1, 0);
    launchStep(rank, placeOf(arena, 1), placeOf(arena, 0));
    veeline_event_record(rank, 1);
    waitOnStream(rank, 2, 1);
    launchStep(rank, placeOf(arena, 2), placeOf(arena, 1));
    veeline_event_record(rank, 0);
    waitOnStream(rank, 0, 0);
  }
}

TEST_F(CudaStreams, EventsOrderThem) {
  for (const std::string &order : allOrders(16)) {
    standin::setOrder(order);
    cts::Fixture fixture({passAround}, 4096);
    makeRanks(fixture, 3, 2);
    ASSERT_NO_FATAL_FAILURE(fixture.create());
    fill(fixture.executor(), 0, 2, 0);
    for (int64_t i = 0; i < numSteps; ++i)
      ASSERT_TRUE(fixture.step().ok());
    EXPECT_EQ(numberAt(fixture.executor(), 0, 2),
              expected(0, 3 * numTurns * numSteps))
        << order;
  }
}

/// Without events, one stream may overtake another. So the tests of this file
/// see where an event is missing.
TEST_F(CudaStreams, NothingElseOrdersThem) {
  auto overtake = [](veeline_rank *rank, char *arena, const void *const *) {
    launchStep(rank, placeOf(arena, 0), placeOf(arena, 1));
    veeline_stream(rank, 1);
    launchStep(rank, placeOf(arena, 1), placeOf(arena, 0));
  };
  std::set<float> seen;
  for (const std::string &order : allOrders(16)) {
    standin::setOrder(order);
    cts::Fixture fixture({overtake}, 4096);
    makeRanks(fixture, 2, 0);
    ASSERT_NO_FATAL_FAILURE(fixture.create());
    fill(fixture.executor(), 0, 0, 5);
    fill(fixture.executor(), 0, 1, 0);
    ASSERT_TRUE(fixture.step().ok());
    seen.insert(numberAt(fixture.executor(), 0, 1));
  }
  EXPECT_EQ(seen, (std::set<float>{expected(0, 2), expected(5, 1)}));
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Stream 0 makes numbers and sends them; stream 1 gets them back. Places are
/// used again as early as the streams allow.
static void sendOnOne(veeline_rank *rank, char *arena, const void *const *) {
  for (int32_t i = 0; i < numTurns; ++i) {
    veeline_stream(rank, 0);
    launchStep(rank, placeOf(arena, i % 2), placeOf(arena, (i + 1) % 2));
    veeline_op_begin(rank, 0);
    veeline_send(rank, 0, i, placeOf(arena, i % 2));
    veeline_op_end(rank, 0);
    veeline_stream(rank, 1);
    char *back = placeOf(arena, 2);
    veeline_recv_post(rank, 1, back);
    veeline_op_begin(rank, 1);
    veeline_recv_wait(rank, 1);
    veeline_op_end(rank, 1);
    veeline_copy(rank, placeOf(arena, 4 + i), back, bytes);
  }
}

/// Stream 0 receives and hands on to stream 1, which sends.
static void receiveOnOne(veeline_rank *rank, char *arena, const void *const *) {
  for (int32_t i = 0; i < numTurns; ++i) {
    char *place = placeOf(arena, 0), *answer = placeOf(arena, 1 + i % 2);
    veeline_stream(rank, 0);
    veeline_recv_post(rank, 0, place);
    veeline_recv_wait(rank, 0);
    // Once stream 1 has sent again, its last message but one has left.
    if (i > 1)
      veeline_event_wait(rank, 1);
    launchStep(rank, answer, place);
    veeline_event_record(rank, 0);
    waitOnStream(rank, 1, 0);
    veeline_send(rank, 1, i, answer);
    veeline_event_record(rank, 1);
  }
}

static void makeChannels(cts::Fixture &fixture, int32_t first, int32_t second) {
  for (int32_t from = 0; from < 2; ++from) {
    fixture.addChannel(from, 1 - from, bytes, numTurns);
    artifact::Channel &channel = fixture.program().channels.back();
    channel.type = DataType::f32;
    channel.shape = {numNumbers};
    channel.stream = from == 0 ? first : second;
  }
  for (size_t i = 0; i < 2; ++i) {
    // The other rank names no operations, and so no microbatches.
    fixture.rank(i).ops = {{artifact::OpKind::send, 0, -1},
                           {artifact::OpKind::recv, 0, -1}};
    fixture.rank(i).ops[0].channel = 0;
    fixture.rank(i).ops[1].channel = 1;
  }
}

/// The streams of two channels' messages: one stream or two, with that of
/// computations or without.
static const std::pair<int32_t, int32_t> allMessageStreams[] = {
    {1, 1}, {0, 0}, {1, 2}, {0, 1}, {2, 0}};

static void expectAnswers(Executor &executor, int64_t steps) {
  for (int32_t i = 0; i < numTurns; ++i)
    EXPECT_EQ(numberAt(executor, 0, 4 + i),
              expected(0, numTurns * (steps - 1) + i + 2))
        << i;
}

TEST_F(CudaStreams, MessagesOfThreads) {
  for (const std::string &order : allOrders(16))
    for (auto [first, second] : allMessageStreams) {
      SCOPED_TRACE(order);
      standin::setOrder(order);
      cts::Fixture fixture({sendOnOne, receiveOnOne}, 4096);
      makeRanks(fixture, 2, 2);
      makeChannels(fixture, first, second);
      ASSERT_NO_FATAL_FAILURE(fixture.create());
      fill(fixture.executor(), 0, 1, 0);
      for (int64_t i = 1; i <= numSteps; ++i) {
        ASSERT_TRUE(fixture.step().ok());
        expectAnswers(fixture.executor(), i);
      }
    }
}

TEST_F(CudaStreams, MessagesOfProcesses) {
  bool isEager = false;
  for (const std::string &order : allOrders(6)) {
    isEager = !isEager;
    for (auto [first, second] : allMessageStreams) {
      SCOPED_TRACE(order);
      standin::setOrder(order);
      cts::Fixture fixture({sendOnOne, receiveOnOne}, 4096);
      makeRanks(fixture, 2, 2);
      makeChannels(fixture, first, second);
      Processes processes(fixture);
      processes.options.steps = {sendOnOne, receiveOnOne};
      processes.options.isEager = isEager;
      processes.before = [](cuda::CudaExecutor &executor, int32_t rank) {
        fill(executor, rank, 1, 0);
      };
      processes.after = [](cuda::CudaExecutor &executor, int32_t rank) {
        if (rank == 0)
          expectAnswers(executor, numSteps);
      };
      EXPECT_EQ(processes.run(fixture.program(), numSteps), allWell);
    }
  }
}

/// Both directions at once: sends on stream 0, receives on stream 1.
static void exchange(veeline_rank *rank, char *arena, const void *const *) {
  int32_t out = rank->index == 0 ? 0 : 1;
  for (int32_t i = 0; i < numTurns; ++i) {
    char *value = placeOf(arena, 0), *sent = placeOf(arena, 1 + i % 2);
    char *place = placeOf(arena, 3), *kept = placeOf(arena, 4);
    veeline_stream(rank, 0);
    launchStep(rank, sent, value);
    veeline_group_begin(rank);
    veeline_stream(rank, 1);
    veeline_recv_post(rank, 1 - out, place);
    veeline_stream(rank, 0);
    veeline_send(rank, out, i, sent);
    veeline_group_end(rank);
    veeline_stream(rank, 1);
    if (i > 0)
      veeline_event_wait(rank, 1);
    veeline_recv_wait(rank, 1 - out);
    veeline_copy(rank, kept, place, bytes);
    veeline_event_record(rank, 0);
    waitOnStream(rank, 0, 0);
    veeline_copy(rank, value, kept, bytes);
    veeline_event_record(rank, 1);
  }
}

TEST_F(CudaStreams, GroupsOfTwoStreams) {
  for (const std::string &order : allOrders(16))
    for (int32_t stream : {0, 1}) {
      SCOPED_TRACE(order);
      standin::setOrder(order);
      cts::Fixture fixture({exchange, exchange}, 4096);
      makeRanks(fixture, 2, 2);
      makeChannels(fixture, stream, stream);
      ASSERT_NO_FATAL_FAILURE(fixture.create());
      for (int32_t rank = 0; rank < 2; ++rank)
        fill(fixture.executor(), rank, 0, static_cast<float>(rank));
      for (int64_t i = 0; i < numSteps; ++i)
        ASSERT_TRUE(fixture.step().ok());
      // An even number of swaps.
      for (int32_t rank = 0; rank < 2; ++rank)
        EXPECT_EQ(numberAt(fixture.executor(), rank, 0),
                  expected(static_cast<float>(rank), numTurns * numSteps));
    }
}

TEST_F(CudaStreams, GroupsOfProcesses) {
  for (const char *order : {"late", "fifo", "random:1", "random:2"})
    for (int32_t stream : {0, 1}) {
      SCOPED_TRACE(order);
      standin::setOrder(order);
      cts::Fixture fixture({exchange, exchange}, 4096);
      makeRanks(fixture, 2, 2);
      makeChannels(fixture, stream, stream);
      Processes processes(fixture);
      processes.options.steps = {exchange, exchange};
      processes.before = [](cuda::CudaExecutor &executor, int32_t rank) {
        fill(executor, rank, 0, static_cast<float>(rank));
      };
      processes.after = [](cuda::CudaExecutor &executor, int32_t rank) {
        EXPECT_EQ(numberAt(executor, rank, 0),
                  expected(static_cast<float>(rank), numTurns * numSteps));
      };
      EXPECT_EQ(processes.run(fixture.program(), numSteps), allWell);
    }
}

//===----------------------------------------------------------------------===//
// Replicas
//===----------------------------------------------------------------------===//

/// Stream 1 has the gradients, stream 0 their sums.
static void addUp(veeline_rank *rank, char *arena, const void *const *) {
  veeline_stream(rank, 1);
  veeline_copy(rank, arena, arena + 16384, 4 * test::numSummed);
  veeline_reduce_post(rank, 0);
  veeline_stream(rank, 0);
  veeline_reduce_wait(rank, 0);
  veeline_copy(rank, arena + 32768, arena, 4 * test::numSummed);
  veeline_zero(rank, arena, 4 * test::numSummed);
}

/// On two streams, with the messages of the sums on `stream`.
static artifact::Program makeReplicas(cts::Fixture &fixture, int32_t stream) {
  fixture.rank(0).computeStreams = 2;
  return test::makeReplicas(fixture, stream, 1);
}

TEST_F(CudaStreams, ReplicasOfThreads) {
  for (const std::string &order : allOrders(16))
    for (int32_t stream : {0, 3}) {
      SCOPED_TRACE(order);
      standin::setOrder(order);
      cts::Fixture fixture({addUp, addUp, addUp}, 1 << 17);
      ASSERT_NO_FATAL_FAILURE(fixture.create(makeReplicas(fixture, stream)));
      for (int32_t rank = 0; rank < 3; ++rank)
        test::writeContribution(fixture.executor(), rank);
      for (int64_t i = 0; i < numSteps; ++i)
        ASSERT_TRUE(fixture.step().ok());
      for (int32_t rank = 0; rank < 3; ++rank)
        test::expectSums(fixture.executor(), rank);
    }
}

TEST_F(CudaStreams, ReplicasOfProcesses) {
  for (const char *order : {"late", "random:1", "random:2", "random:3"})
    for (int32_t stream : {0, 1}) {
      SCOPED_TRACE(order);
      standin::setOrder(order);
      cts::Fixture fixture({addUp, addUp, addUp}, 1 << 17);
      fixture.program() = makeReplicas(fixture, stream);
      Processes processes(fixture);
      processes.options.steps = {addUp, addUp, addUp};
      processes.before = test::writeContribution;
      processes.after = [](cuda::CudaExecutor &executor, int32_t rank) {
        test::expectSums(executor, rank);
      };
      EXPECT_EQ(processes.run(fixture.program(), numSteps),
                std::vector<std::string>(3));
    }
}

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

/// Products of two streams side by side, each with a workspace. The stand-in
/// spoils products that share one.
static void multiplyOnBoth(veeline_rank *rank, char *arena,
                           const void *const *) {
  for (int32_t stream = 0; stream < 2; ++stream) {
    veeline_stream(rank, stream);
    for (int32_t i = 0; i < numTurns; ++i)
      veeline_gemm(rank, 0, arena, arena + 256, arena + 512 + 256 * stream,
                   nullptr);
  }
}

TEST_F(CudaStreams, EachHasAWorkspace) {
  for (const std::string &order : allOrders(16)) {
    SCOPED_TRACE(order);
    standin::setOrder(order);
    cts::Fixture fixture({multiplyOnBoth}, 4096);
    makeRanks(fixture, 2, 0);
    artifact::Rank &rank = fixture.rank(0);
    rank.gemms = {{DataType::f32, {}, 4, 4, 4, {4, 1}, {4, 1}, {4, 1}}};
    test::addLibrary(rank);
    rank.gemms[0].alignment = 16;
    ASSERT_NO_FATAL_FAILURE(fixture.create());
    std::vector<float> ones(numNumbers, 1);
    for (int64_t offset : {0, 256})
      ASSERT_TRUE(fixture.executor().write(0, offset, ones.data(), bytes).ok());
    for (int64_t i = 0; i < numSteps; ++i)
      ASSERT_TRUE(fixture.step().ok());
    for (int64_t offset : {512, 768}) {
      std::vector<float> product(16);
      ASSERT_TRUE(fixture.executor().read(0, offset, product.data(), 64).ok());
      EXPECT_EQ(product, std::vector<float>(16, 4));
    }
  }
}

//===----------------------------------------------------------------------===//
// What the host sees
//===----------------------------------------------------------------------===//

/// A number that the host asks for is that of the current stream.
TEST_F(CudaStreams, LoadsWaitForTheirStream) {
  static int numLoads;
  numLoads = 0;
  auto load = [](veeline_rank *rank, char *arena, const void *const *) {
    ++numLoads;
    veeline_stream(rank, 1);
    launchStep(rank, placeOf(arena, 0), placeOf(arena, 1));
    auto value = static_cast<uint32_t>(veeline_load(rank, arena, 4));
    float number;
    std::memcpy(&number, &value, sizeof(number));
    EXPECT_EQ(number, 16);
  };
  for (const std::string &order : allOrders(16)) {
    standin::setOrder(order);
    cts::Fixture fixture({load}, 4096);
    makeRanks(fixture, 2, 0);
    fixture.rank(0).readsBack = true;
    ASSERT_NO_FATAL_FAILURE(fixture.create());
    fill(fixture.executor(), 0, 1, 5);
    ASSERT_TRUE(fixture.step().ok());
  }
  EXPECT_EQ(numLoads, static_cast<int>(allOrders(16).size()));
}

/// Times are those of an operation's stream. The rank is not idle if one of its
/// streams waits.
TEST_F(CudaStreams, TimesAreOfTheirStream) {
  cts::Fixture fixture({sendOnOne, receiveOnOne}, 4096);
  makeRanks(fixture, 2, 2);
  makeChannels(fixture, 1, 1);
  fixture.rank(0).ops[1].stream = 1;
  cuda::CudaOptions options = test::standIns();
  options.steps = {sendOnOne, receiveOnOne};
  options.timelineEvents = 100;
  test::makeForGpu(fixture.whole());
  auto executor =
      cuda::CudaExecutor::create(fixture.whole(), fixture.program(), options);
  ASSERT_TRUE(executor.ok()) << executor.message();
  fill(**executor, 0, 1, 0);
  ASSERT_TRUE(test::runStep(**executor).ok());
  auto events = (*executor)->timeline(1);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_FALSE(events[0].empty());
  for (const engine::Event &event : events[0])
    EXPECT_NE(event.op, engine::Event::idle);
  std::string trace =
      engine::toChromeTrace(fixture.metadata(), fixture.program(), events);
  EXPECT_NE(trace.find("rank 0, stream 1"), std::string::npos);
  EXPECT_NE(trace.find("\"tid\":1,\"ts\""), std::string::npos);
}
