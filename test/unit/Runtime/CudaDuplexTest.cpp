//===- CudaDuplexTest.cpp - sends and receives side by side ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProcessesInThreads.h"

#include "DeviceWatch.h"

#include <chrono>

using namespace veeline;
using namespace veeline::test;
using artifact::DataType;

namespace {
class CudaDuplex : public OnFourDevices {
protected:
  Environment connects{"VEELINE_STANDIN_CONNECT", "together"};
};
} // namespace

static constexpr int32_t numTurns = 5;

/// Both ranks post receives first. A value that is sent stays only until the
/// next send.
static void exchangeAhead(veeline_rank *rank, char *arena,
                          const void *const *) {
  int32_t out = rank->index == 0 ? 0 : 1;
  char *kept = placeOf(arena, 0), *place = placeOf(arena, 1);
  for (int32_t i = 0; i < numTurns; ++i) {
    char *value = placeOf(arena, 2 + i % 2);
    veeline_op_begin(rank, 2 * i);
    veeline_recv_post(rank, 1 - out, place);
    launchStep(rank, value, kept);
    veeline_send(rank, out, i, value);
    veeline_op_end(rank, 2 * i);
    veeline_op_begin(rank, 2 * i + 1);
    veeline_recv_wait(rank, 1 - out);
    veeline_copy(rank, kept, place, messageBytes);
    veeline_op_end(rank, 2 * i + 1);
  }
}

/// The same, received on a compute stream of its own.
static void exchangeOnTwo(veeline_rank *rank, char *arena,
                          const void *const *) {
  int32_t out = rank->index == 0 ? 0 : 1;
  char *kept = placeOf(arena, 0), *place = placeOf(arena, 1);
  for (int32_t i = 0; i < numTurns; ++i) {
    char *value = placeOf(arena, 2 + i % 2);
    veeline_stream(rank, 1);
    veeline_recv_post(rank, 1 - out, place);
    veeline_stream(rank, 0);
    launchStep(rank, value, kept);
    veeline_send(rank, out, i, value);
    veeline_event_record(rank, 0);
    veeline_stream(rank, 1);
    veeline_recv_wait(rank, 1 - out);
    veeline_event_wait(rank, 0);
    veeline_copy(rank, kept, place, messageBytes);
    veeline_event_record(rank, 1);
    veeline_stream(rank, 0);
    veeline_event_wait(rank, 1);
  }
}

/// Gives each direction a communicator of its own, and receives stream 2.
static void makeTwo(cts::Fixture &fixture, bool isDuplex = true,
                    int32_t computeStreams = 1) {
  fixture.metadata().microbatches = numTurns;
  for (int32_t from = 0; from < 2; ++from) {
    fixture.addChannel(from, 1 - from, messageBytes, numTurns);
    artifact::Channel &channel = fixture.program().channels.back();
    channel.type = DataType::f32;
    channel.shape = {numNumbers};
    channel.communicator = isDuplex ? 3 + from : 0;
    channel.receiveStream = isDuplex ? 2 : -1;
  }
  for (int32_t i = 0; i < 2; ++i) {
    artifact::Rank &rank = fixture.rank(static_cast<size_t>(i));
    rank.computeStreams = computeStreams;
    rank.events = computeStreams;
    for (int32_t turn = 0; turn < numTurns; ++turn)
      for (auto kind : {artifact::OpKind::send, artifact::OpKind::recv}) {
        artifact::Op &op = rank.ops.emplace_back();
        op.kind = kind;
        op.chunk = -1;
        op.microbatch = turn;
        op.channel = kind == artifact::OpKind::send ? i : 1 - i;
      }
  }
  addStep(fixture);
}

static void fillWithRank(Executor &executor, int32_t rank) {
  fill(executor, rank, static_cast<float>(rank));
}

/// Expects numbers after an odd number of swaps.
static void expectSwapped(Executor &executor, int32_t rank) {
  expectAll(executor, rank,
            expected(static_cast<float>(1 - rank), 3 * numTurns));
}

/// What each process ends with.
static std::vector<std::string>
runProcesses(veeline_step_fn function, bool isEager, int32_t computeStreams = 1,
             bool isDuplex = true, bool isChecked = false,
             int patience = 3000) {
  cts::Fixture fixture({function, function}, 4 * messageBytes);
  makeTwo(fixture, isDuplex, computeStreams);
  Processes processes(fixture);
  processes.options.steps = {function, function};
  processes.options.isEager = isEager;
  processes.options.checkMessages = isChecked;
  processes.before = fillWithRank;
  // Ends a run that hangs, which nobody else would.
  std::atomic<bool> isOver{false};
  processes.meanwhile = [&](Hub &hub) {
    for (int i = 0; i < patience && !isOver && !hub.hasFailed(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (!isOver)
      hub.fail("nobody goes on", -1);
  };
  std::atomic<int> numDone{0};
  processes.after = [&](cuda::CudaExecutor &executor, int32_t rank) {
    expectSwapped(executor, rank);
    if (++numDone == 2)
      isOver = true;
  };
  return processes.run(fixture.program(), 3);
}

TEST_F(CudaDuplex, Processes) {
  Environment units("VEELINE_STANDIN_UNITS", "2");
  for (const std::string &order : allOrders(4))
    for (bool isEager : {false, true}) {
      standin::setOrder(order);
      EXPECT_EQ(runProcesses(exchangeAhead, isEager), allWell) << order;
      EXPECT_EQ(runProcesses(exchangeOnTwo, isEager, 2), allWell) << order;
    }
}

/// The identity of each message is sent with it, in graphs, too.
TEST_F(CudaDuplex, MessagesAreWhatIsExpected) {
  Environment units("VEELINE_STANDIN_UNITS", "2");
  EXPECT_EQ(runProcesses(exchangeAhead, false, 1, true, true), allWell);
}

/// Devices with room for one unit run the receives, one of them at least, and
/// wait for ever.
TEST_F(CudaDuplex, WithoutRoomForTwo) {
  for (const char *units : {"1", "2"}) {
    Environment room("VEELINE_STANDIN_UNITS", units);
    // On one stream and communicator it is the same with room for two.
    bool isDuplex = std::string(units) == "1";
    Environment apart("VEELINE_STANDIN_CONNECT", "");
    std::vector<std::string> ends =
        runProcesses(exchangeAhead, true, 1, isDuplex, false, 30);
    for (const std::string &end : ends) {
      EXPECT_NE(end.find("nobody goes on"), std::string::npos) << end;
      // A message, or a place to send one to.
      EXPECT_NE(end.find(" waits for a "), std::string::npos) << end;
    }
  }
}

/// Rank 0 sends on stream 1, receives on stream 2, and sends on stream 0, which
/// runs beside neither. Rank 1 receives the last message first.
static void sendLast(veeline_rank *rank, char *arena, const void *const *) {
  if (rank->index == 0) {
    veeline_send(rank, 0, 0, placeOf(arena, 0));
    veeline_recv_post(rank, 1, placeOf(arena, 1));
    veeline_send(rank, 2, 0, placeOf(arena, 2));
    veeline_recv_wait(rank, 1);
    return;
  }
  veeline_send(rank, 1, 0, placeOf(arena, 1));
  for (int32_t channel : {2, 0}) {
    veeline_recv_post(rank, channel, placeOf(arena, channel));
    veeline_recv_wait(rank, channel);
  }
}

/// What is sent on stream 0 comes after all units of both other streams. A rank
/// that needs it before one of these waits for ever.
TEST_F(CudaDuplex, BehindBoth) {
  Environment units("VEELINE_STANDIN_UNITS", "2");
  Environment apart("VEELINE_STANDIN_CONNECT", "");
  for (const std::string &order : allOrders(2)) {
    standin::setOrder(order);
    cts::Fixture fixture({sendLast, sendLast}, 4 * messageBytes);
    makeTwo(fixture, true, 2);
    artifact::Channel third = fixture.program().channels[0];
    third.stream = third.receiveStream = 0;
    third.communicator = 5;
    fixture.program().channels.push_back(third);
    Processes processes(fixture);
    processes.options.steps = {sendLast, sendLast};
    processes.meanwhile = [](Hub &hub) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      hub.fail("nobody goes on", -1);
    };
    for (const std::string &end : processes.run(fixture.program(), 1))
      EXPECT_NE(end.find("nobody goes on"), std::string::npos) << end;
  }
}

/// Threads, whose messages are copies: streams of receives have nothing to do.
TEST_F(CudaDuplex, Threads) {
  for (const std::string &order : allOrders(8))
    for (bool isOnTwo : {false, true}) {
      standin::setOrder(order);
      veeline_step_fn function = isOnTwo ? exchangeOnTwo : exchangeAhead;
      cts::Fixture fixture({function, function}, 4 * messageBytes);
      makeTwo(fixture, true, isOnTwo ? 2 : 1);
      ASSERT_NO_FATAL_FAILURE(fixture.create());
      for (int32_t rank = 0; rank < 2; ++rank)
        fillWithRank(fixture.executor(), rank);
      for (int64_t i = 0; i < 3; ++i)
        ASSERT_TRUE(fixture.step().ok());
      for (int32_t rank = 0; rank < 2; ++rank)
        expectSwapped(fixture.executor(), rank);
    }
}

/// Calls fail at several of their times, also at those of the first messages.
TEST_F(CudaDuplex, ErrorsOfSendsAndReceives) {
  Environment units("VEELINE_STANDIN_UNITS", "2");
  for (const char *call :
       {"ncclSend", "ncclRecv", "ncclGroupStart", "ncclGroupEnd"}) {
    int64_t before = standin::countCalls(call);
    ASSERT_EQ(runProcesses(exchangeAhead, true), allWell);
    int64_t count = standin::countCalls(call) - before;
    ASSERT_GT(count, 0);
    for (int64_t time : {int64_t(1), int64_t(3), count / 2}) {
      standin::failCall(call, time, 1);
      bool isSaid = false;
      for (const std::string &end : runProcesses(exchangeAhead, true)) {
        EXPECT_NE(end, "") << call << " " << time;
        isSaid |= end.find(call) != std::string::npos;
      }
      EXPECT_TRUE(isSaid) << call << " " << time;
      EXPECT_EQ(standin::countLive(), 0) << call << " " << time;
      standin::failCall("", 0, 0);
    }
  }
}

/// NCCL may report the error of any communicator first, of sends or of
/// receives.
TEST_F(CudaDuplex, ErrorsInTheBackground) {
  Environment units("VEELINE_STANDIN_UNITS", "2");
  for (int64_t time : {1, 2, 3, 4, 20, 21, 22, 23}) {
    standin::failCall("asyncError", time, 6);
    bool isSaid = false;
    for (const std::string &end : runProcesses(exchangeAhead, true)) {
      EXPECT_NE(end, "") << time;
      isSaid |= end.find("ncclRemoteError (6)") != std::string::npos;
    }
    EXPECT_TRUE(isSaid) << time;
    EXPECT_EQ(standin::countLive(), 0) << time;
    standin::failCall("", 0, 0);
  }
}

/// A graph that has messages of two communicators.
TEST_F(CudaDuplex, ErrorsOfGraphs) {
  Environment units("VEELINE_STANDIN_UNITS", "2");
  for (const std::string &order : allOrders(2)) {
    standin::setOrder(order);
    cts::Fixture fixture({exchangeAhead, exchangeAhead}, 4 * messageBytes);
    makeTwo(fixture);
    Processes processes(fixture);
    processes.options.steps = {exchangeAhead, exchangeAhead};
    for (const std::string &end : processes.failReplay(fixture.program()))
      EXPECT_NE(end.find("in the background: ncclRemoteError (6)"),
                std::string::npos)
          << end;
    EXPECT_FALSE(cuda::hasAbandonedWork());
    EXPECT_EQ(standin::countLive(), 0) << order;
  }
}

/// Rank 1 never sends. The error says what rank 0 is at, whatever it has sent.
TEST_F(CudaDuplex, WhoeverWaitsIsWoken) {
  Environment units("VEELINE_STANDIN_UNITS", "2");
  auto goAway = [](veeline_rank *, char *, const void *const *) {};
  cts::Fixture fixture({exchangeAhead, goAway}, 4 * messageBytes);
  makeTwo(fixture);
  Processes processes(fixture);
  processes.options.steps = {exchangeAhead, goAway};
  Environment apart("VEELINE_STANDIN_CONNECT", "");
  processes.meanwhile = [](Hub &hub) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    hub.fail("rank 1 is gone", -1);
  };
  std::vector<std::string> ends = processes.run(fixture.program(), 1);
  EXPECT_EQ(ends[0],
            "step: rank 1 is gone; rank 0 is at send, microbatch 0, and waits "
            "for a message of rank 1 (channel 1, activation 1)");
}
