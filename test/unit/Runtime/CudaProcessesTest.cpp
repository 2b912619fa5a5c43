//===- CudaProcessesTest.cpp - ranks with a GPU each, over NCCL -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProcessesInThreads.h"

#include "DeviceWatch.h"

#include "veeline/Base/Check.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <unistd.h>

using namespace veeline;
using namespace veeline::test;
using artifact::DataType;

using CudaProcesses = OnFourDevices;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static constexpr int32_t numMessages = 3;

/// Sends what it computes, and goes on with the answer. Overwrites what it has
/// sent, which must not change the message.
static void sendFirst(veeline_rank *rank, char *arena, const void *const *) {
  char *value = placeOf(arena, 0), *back = placeOf(arena, 1);
  for (int32_t i = 0; i < numMessages; ++i) {
    veeline_op_begin(rank, i);
    launchStep(rank, value, value);
    veeline_send(rank, 0, i, value);
    veeline_recv_post(rank, 1, back);
    veeline_zero(rank, value, messageBytes);
    veeline_recv_wait(rank, 1);
    veeline_copy(rank, value, back, messageBytes);
    veeline_op_end(rank, i);
  }
}

static void answer(veeline_rank *rank, char *arena, const void *const *) {
  char *value = placeOf(arena, 0), *result = placeOf(arena, 1);
  for (int32_t i = 0; i < numMessages; ++i) {
    veeline_op_begin(rank, i);
    veeline_recv_post(rank, 0, value);
    veeline_recv_wait(rank, 0);
    launchStep(rank, result, value);
    veeline_zero(rank, value, messageBytes);
    veeline_send(rank, 1, i, result);
    veeline_op_end(rank, i);
  }
}

/// Both directions at once, between neighbours: neither could go first.
static void exchange(veeline_rank *rank, char *arena, const void *const *) {
  char *value = placeOf(arena, 0), *other = placeOf(arena, 1);
  bool isFirst = rank->index == 0;
  for (int32_t i = 0; i < numMessages; ++i) {
    launchStep(rank, value, value);
    veeline_group_begin(rank);
    veeline_recv_post(rank, isFirst ? 1 : 0, other);
    veeline_send(rank, isFirst ? 0 : 1, i, value);
    veeline_group_end(rank);
    veeline_recv_wait(rank, isFirst ? 1 : 0);
    veeline_copy(rank, value, other, messageBytes);
  }
}

/// The same, as operations that say what each message is.
static void exchangeInOps(veeline_rank *rank, char *arena,
                          const void *const *) {
  bool isFirst = rank->index == 0;
  for (int32_t i = 0; i < numMessages; ++i) {
    veeline_op_begin(rank, i);
    veeline_group_begin(rank);
    veeline_recv_post(rank, isFirst ? 1 : 0, placeOf(arena, 1));
    veeline_send(rank, isFirst ? 0 : 1, i, placeOf(arena, 0));
    veeline_group_end(rank);
    veeline_recv_wait(rank, isFirst ? 1 : 0);
    veeline_op_end(rank, i);
  }
}

static void makeTwo(cts::Fixture &fixture,
                    const std::vector<veeline_step_fn> &steps,
                    Processes &processes, int32_t stream = 1) {
  fixture.metadata().microbatches = numMessages;
  for (int32_t from = 0; from < 2; ++from) {
    fixture.addChannel(from, 1 - from, messageBytes, numMessages);
    fixture.program().channels.back().type = DataType::f32;
    fixture.program().channels.back().shape = {numNumbers};
    fixture.program().channels.back().stream = stream;
  }
  for (size_t i = 0; i < 2; ++i)
    fixture.rank(i).ops = {{artifact::OpKind::recv, 0, 0},
                           {artifact::OpKind::recv, 0, 1},
                           {artifact::OpKind::recv, 0, 2}};
  addStep(fixture);
  processes.options.steps = steps;
}

TEST_F(CudaProcesses, MessagesUnderEveryOrder) {
  constexpr int64_t numSteps = 4;
  bool isEager = false;
  for (const std::string &order : allOrders(6)) {
    standin::setOrder(order);
    isEager = !isEager;
    for (int32_t stream : {0, 1}) {
      cts::Fixture fixture({sendFirst, answer}, 2 * messageBytes);
      Processes processes(fixture);
      makeTwo(fixture, {sendFirst, answer}, processes, stream);
      processes.options.isEager = isEager;
      processes.before = [](cuda::CudaExecutor &executor, int32_t rank) {
        fill(executor, rank, 0);
      };
      processes.after = [](cuda::CudaExecutor &executor, int32_t rank) {
        if (rank == 0)
          expectAll(executor, rank, expected(0, 2 * numMessages * numSteps));
      };
      EXPECT_EQ(processes.run(fixture.program(), numSteps), allWell) << order;
    }
  }
}

TEST_F(CudaProcesses, GroupsOfBothDirections) {
  for (const char *order : {"late", "random:1", "random:2"}) {
    standin::setOrder(order);
    cts::Fixture fixture({exchange, exchange}, 2 * messageBytes);
    Processes processes(fixture);
    makeTwo(fixture, {exchange, exchange}, processes);
    processes.before = [](cuda::CudaExecutor &executor, int32_t rank) {
      fill(executor, rank, static_cast<float>(rank));
    };
    processes.after = [](cuda::CudaExecutor &executor, int32_t rank) {
      // Nine swaps: each has what the other one began with.
      expectAll(executor, rank,
                expected(static_cast<float>(1 - rank), 3 * numMessages));
    };
    int64_t launches = standin::countCalls("cuGraphLaunch");
    EXPECT_EQ(processes.run(fixture.program(), 3), allWell) << order;
    // Of either process, the second step and the third.
    EXPECT_EQ(standin::countCalls("cuGraphLaunch"), launches + 4);
  }
}

/// What each process ends with. If `isDamaged`, the table of operations of the
/// first one is wrong.
static std::vector<std::string> checkMessages(bool isDamaged, bool isGroup,
                                              int64_t numSteps) {
  std::vector<veeline_step_fn> steps = {sendFirst, answer};
  if (isGroup)
    steps = {exchangeInOps, exchangeInOps};
  cts::Fixture fixture(steps, 2 * messageBytes);
  Processes processes(fixture);
  makeTwo(fixture, steps, processes);
  std::vector<artifact::Op> &ops = fixture.rank(0).ops;
  if (isDamaged)
    std::swap(ops[0].microbatch, ops[1].microbatch);
  processes.options.checkMessages = true;
  return processes.run(fixture.program(), numSteps);
}

/// The identity of each message goes ahead of it and is compared, in graphs,
/// too.
TEST_F(CudaProcesses, MessagesAreWhatIsExpected) {
  for (bool isGroup : {false, true})
    EXPECT_EQ(checkMessages(false, isGroup, 4), allWell) << isGroup;
}

/// Both ends see that the first rank's table is wrong. The one that is first
/// ends the step of the other.
TEST_F(CudaProcesses, MessageOfAnotherMicrobatch) {
  const std::string ofFirst =
      "rank 0, op 0: channel 1: activation 1 of microbatch 0 with 48000 bytes "
      "arrived, expected activation 1 of microbatch 1 with 48000 bytes";
  const std::string ofSecond =
      "rank 1, op 0: channel 0: activation 0 of microbatch 1 with 48000 bytes "
      "arrived, expected activation 0 of microbatch 0 with 48000 bytes";
  for (bool isGroup : {false, true})
    for (const std::string &end : checkMessages(true, isGroup, 4))
      EXPECT_TRUE(end.find(ofFirst) != std::string::npos ||
                  end.find(ofSecond) != std::string::npos)
          << end;
}

//===----------------------------------------------------------------------===//
// Replicas
//===----------------------------------------------------------------------===//

/// Two reductions at once, of two pieces and of one.
static void addUp(veeline_rank *rank, char *arena, const void *const *) {
  veeline_copy(rank, arena, arena + 16384, 4 * numSummed);
  veeline_copy(rank, arena + 65536, arena + 16384, 4 * numSummed);
  veeline_group_begin(rank);
  veeline_reduce_post(rank, 0);
  veeline_reduce_post(rank, 1);
  veeline_group_end(rank);
  veeline_zero(rank, arena + 98304, 64);
  veeline_reduce_wait(rank, 1);
  veeline_reduce_wait(rank, 0);
  veeline_copy(rank, arena + 32768, arena, 4 * numSummed);
  veeline_copy(rank, arena + 81920, arena + 65536, 4 * numSummed);
  veeline_zero(rank, arena, 4 * numSummed);
}

TEST_F(CudaProcesses, ReplicasAddUpInTheirOrder) {
  for (const char *order : {"late", "random:1", "random:2", "random:3"}) {
    standin::setOrder(order);
    cts::Fixture fixture({addUp, addUp, addUp}, 1 << 17);
    auto makePiece = [](int64_t offset, int64_t count, int64_t buffer) {
      return artifact::ReducedPiece{DataType::f32, offset, count, buffer, 4096};
    };
    // The last piece has two elements: one rank has nothing to add up.
    fixture.program() =
        makeReplicas(fixture, {{0, {makePiece(0, numSummed - 2, 49152)}, 1, 1},
                               {1,
                                {makePiece(65536, numSummed, 57344),
                                 makePiece(4 * (numSummed - 2), 2, 99328)},
                                1,
                                1}});
    Processes processes(fixture);
    processes.options.steps = {addUp, addUp, addUp};
    processes.before = writeContribution;
    processes.after = [](cuda::CudaExecutor &executor, int32_t rank) {
      for (int64_t offset : {32768, 81920})
        expectSums(executor, rank, offset);
    };
    EXPECT_EQ(processes.run(fixture.program(), 3), std::vector<std::string>(3));
  }
}

TEST_F(CudaProcesses, WhoBelongsToACommunicator) {
  artifact::Program program;
  program.stages = 2;
  program.replicas = 2;
  program.ranks.resize(2);
  program.channels.resize(1);
  program.channels[0].toRank = 1;
  program.ranks[1].reductions = {{0, {{}}, 1, 2}};
  auto all = artifact::withAllReplicas(program, "stages-first");
  ASSERT_TRUE(all.ok());
  std::map<int32_t, std::vector<int32_t>> members = {{0, {0, 1, 2, 3}},
                                                     {2, {1, 3}}};
  EXPECT_EQ(cuda::membersOfCommunicators(*all), members);
}

//===----------------------------------------------------------------------===//
// What goes wrong
//===----------------------------------------------------------------------===//

namespace {
/// Two ranks that exchange messages.
class Pair {
public:
  explicit Pair(const std::vector<veeline_step_fn> &steps = {sendFirst, answer})
      : fixture(steps, 2 * messageBytes), processes(fixture) {
    makeTwo(fixture, steps, processes);
  }

  std::vector<std::string> run() { return processes.run(fixture.program(), 3); }

  cts::Fixture fixture;
  Processes processes;
};
} // namespace

static bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// All end with an error; one of them says `text`.
static void expectFailure(Pair &pair, const std::string &text) {
  std::vector<std::string> messages = pair.run();
  EXPECT_TRUE(has(messages[0], text) || has(messages[1], text))
      << "expected: " << text << "\nfound:    " << messages[0]
      << "\nand:      " << messages[1];
  for (const std::string &message : messages)
    EXPECT_NE(message, "") << text;
  EXPECT_EQ(standin::countLive(), 0) << text;
}

TEST_F(CudaProcesses, LibrariesThatAreNotThere) {
  Pair pair;
  pair.processes.options.nccl = "/nowhere/libnccl.so.2";
  expectFailure(pair,
                "program 'suite': cannot load NCCL, which carries messages "
                "between processes: tried '/nowhere/libnccl.so.2': "
                "/nowhere/libnccl.so.2: cannot open shared object file: No "
                "such file or directory; install NCCL 2.18 or later, or name "
                "its file with --nccl");
  pair.processes.options.nccl = VEELINE_STANDIN_CUDA;
  expectFailure(pair, "has no function ncclGetVersion: it is not NCCL of "
                      "version 2.18 or later");
  pair.processes.options.nccl = VEELINE_STANDIN_NCCL;
  {
    Environment old("VEELINE_STANDIN_NCCL", "21705");
    expectFailure(pair, "has version 2.17.5, and 2.18.0 or later is needed; "
                        "install a newer one, or name its file with --nccl");
  }
  Environment old("VEELINE_STANDIN_NCCL", "2604");
  expectFailure(pair, "has version 2.6.4, and 2.18.0 or later is needed");
}

TEST_F(CudaProcesses, Devices) {
  Pair pair;
  pair.processes.options.devices = {3, 3};
  expectFailure(pair, "ranks 0 and 1 are processes on one GPU, and NCCL takes "
                      "one process for each; say which with --device, or run "
                      "all ranks as threads of one process, without a "
                      "launcher");
  pair.processes.options.devices = {1, 7};
  expectFailure(pair,
                "there is no GPU 7: the CUDA driver finds 4, numbered from 0");
  pair.processes.options.devices = {3, 2};
  EXPECT_EQ(pair.run(), allWell);
  pair.processes.options.devices = {};
  pair.processes.options.localRank = 9;
  expectFailure(pair, "is process 9 of its machine, from 0, and the CUDA "
                      "driver finds 4 GPUs there: one is needed for each "
                      "process");
  cts::Fixture three({answer, answer, answer}, 4096);
  makeForGpu(three.whole());
  Processes processes(three);
  processes.options.devices = {0, 1};
  EXPECT_TRUE(has(processes.run(three.program(), 1)[2],
                  "there are 3 ranks, and --device names GPUs for 2 of them; "
                  "it takes the GPU of this process, or that of each rank"));
}

TEST_F(CudaProcesses, ChannelsOfNccl) {
  Pair pair;
  pair.processes.options.minNcclChannels = 1;
  pair.processes.options.maxNcclChannels = 4;
  EXPECT_EQ(pair.run(), allWell);
  // The stand-in takes at most 64.
  pair.processes.options.maxNcclChannels = 65;
  expectFailure(pair, "NCCL's communicator 0: ncclCommInitRankConfig: "
                      "ncclInvalidArgument (4)");
}

TEST_F(CudaProcesses, MemoryIsToldApart) {
  Pair pair;
  pair.processes.after = [](cuda::CudaExecutor &executor, int32_t rank) {
    auto use = executor.memoryOf(rank);
    ASSERT_TRUE(use.ok()) << use.message();
    // A megabyte for each communicator of both processes, which share the
    // stand-in.
    EXPECT_GE(use->messages, 1 << 20);
    // The other process may have loaded its image meanwhile, which takes memory
    // of either GPU: 64 KiB, and 4 of its function.
    EXPECT_GE(use->arenas, 2 * messageBytes);
    EXPECT_LE(use->arenas, 2 * messageBytes + (64 + 4) * 1024);
    EXPECT_EQ(use->firstRank, rank);
    EXPECT_EQ(use->device, "GPU " + std::to_string(rank) + " (stand-in)");
  };
  pair.processes.options.poison = true;
  EXPECT_EQ(pair.run(), allWell);
}

TEST_F(CudaProcesses, EveryCodeOfNccl) {
  Pair pair;
  const char *calls[] = {"ncclSend", "ncclGroupEnd", "ncclCommInitRankConfig",
                         "asyncError"};
#define ERROR(name, number)                                                    \
  for (const char *call : calls) {                                             \
    standin::failCall(call, 1, number);                                        \
    expectFailure(                                                             \
        pair,                                                                  \
        (std::string(call) == "asyncError" ? "in the background" : call) +     \
            std::string(": ") + #name + " (" + std::to_string(number) +        \
            "): the stand-in was told");                                       \
  }
  VEELINE_NCCL_ERRORS(ERROR)
#undef ERROR
}

/// Streams count what has ended where a driver does not capture memsets of the
/// host's memory, too.
TEST_F(CudaProcesses, WithoutMemsetsOfTheHost) {
  test::Environment refused("VEELINE_STANDIN_FILLS", "device");
  int64_t writes = standin::countCalls("cuStreamWriteValue32_v2");
  Pair pair;
  EXPECT_EQ(pair.run(), allWell);
  EXPECT_GT(standin::countCalls("cuStreamWriteValue32_v2"), writes);
}

static bool isOfSums(const std::string &call) {
  return has(call, "Reduce") || has(call, "Gather") || has(call, "Broadcast");
}

/// Each call fails once, at its first and at its last time.
TEST_F(CudaProcesses, EveryCall) {
#define NAME(type, name, parameters) #name,
  const std::string calls[] = {VEELINE_NCCL_FUNCTIONS(NAME) "asyncError",
                               "cuStreamQuery", "cuEventQuery",
                               "cuMemsetD32Async", "cuDeviceGetUuid_v2"};
#undef NAME
  Pair pair;
  for (const std::string &call : calls) {
    int64_t before = standin::countCalls(call);
    ASSERT_EQ(pair.run(), allWell) << call;
    int64_t count = standin::countCalls(call) - before;
    // Calls for texts do not fail. Those of sums are in CudaSumsTest.cpp.
    bool isText = has(call, "Get") && has(call, "Error") &&
                  call != "ncclCommGetAsyncError";
    if (isText || isOfSums(call))
      continue;
    EXPECT_TRUE(count > 0 || call == "ncclCommAbort") << call;
    if (call == "ncclCommAbort")
      continue;
    bool isEnd = call == "ncclCommFinalize" || call == "ncclCommDestroy";
    // The number of polls differs between runs.
    bool isPolled = call == "ncclCommGetAsyncError" || call == "asyncError" ||
                    call == "cuStreamQuery" || call == "cuEventQuery";
    for (int64_t time : {int64_t(1), isPolled ? int64_t(1) : count}) {
      // A memset that is refused would not be an error.
      standin::failCall(call, time, call == "cuMemsetD32Async" ? 700 : 1);
      std::vector<std::string> messages = pair.run();
      EXPECT_EQ(messages == allWell, isEnd) << call << " " << time;
      // At its last time the other process may have ended.
      for (const std::string &message : messages)
        EXPECT_TRUE(isEnd || time == count || !message.empty()) << call;
      EXPECT_EQ(standin::countLive(), 0) << call;
      standin::failCall("", 0, 0);
    }
  }
}

/// A device may also fail in a wait for what loading has computed.
TEST_F(CudaProcesses, WhoseDeviceFailsAtLoading) {
  Pair pair;
  int64_t before = standin::countCalls("cuStreamSynchronize");
  ASSERT_EQ(pair.run(), allWell);
  int64_t count = standin::countCalls("cuStreamSynchronize") - before;
  ASSERT_EQ(count, 4);
  for (int64_t time = 1; time <= count; ++time) {
    standin::failCall("cuStreamSynchronize", time, 700);
    for (const std::string &end : pair.run()) {
      size_t first = end.find("rank ");
      EXPECT_EQ(first, std::string("program 'suite': ").size()) << end;
      EXPECT_TRUE(has(end, "cuStreamSynchronize: CUDA_ERROR_ILLEGAL")) << end;
      EXPECT_FALSE(has(end, "rank 0: rank 0")) << end;
    }
  }
}

/// A rank allocates its arena in one piece, the identities of messages beside
/// it if these are compared, and a few bytes for a moment, while it is
/// connected.
TEST_F(CudaProcesses, OneAllocation) {
  Pair pair;
  for (bool isChecked : {false, true}) {
    pair.processes.options.checkMessages = isChecked;
    int64_t before = standin::countCalls("cuMemAlloc_v2");
    EXPECT_EQ(pair.run(), allWell);
    int64_t beside = isChecked || checksEnabled ? 2 : 0;
    const int64_t connecting = 2;
    EXPECT_EQ(standin::countCalls("cuMemAlloc_v2") - before,
              2 + connecting + beside);
  }
}

/// Without a length, NCCL would take as much as the other end sends, or wait
/// for ever.
TEST_F(CudaProcesses, LengthsThatNobodyKnows) {
  Pair pair;
  pair.fixture.metadata().lengths = {1, 2};
  artifact::Channel &channel = pair.fixture.program().channels[0];
  channel.lengthShapes = {{numNumbers / 2}, {numNumbers}};
  channel.microbatches = {0, 1, 2};
  expectFailure(pair, "step: rank 1, op 0: channel 0: a message is posted "
                      "before its length is known");
}

/// Rank 1 never comes to its message.
static void goAway(veeline_rank *, char *, const void *const *) {}

TEST_F(CudaProcesses, WhoeverWaitsIsWoken) {
  Pair pair({sendFirst, goAway});
  std::atomic<bool> hasSeen{false};
  pair.processes.meanwhile = [&](Hub &hub) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    hasSeen = true;
    hub.fail("rank 1 is gone", -1);
  };
  std::vector<std::string> messages = pair.run();
  EXPECT_TRUE(hasSeen);
  EXPECT_EQ(messages[0],
            "step: rank 1 is gone; rank 0 is at recv of chunk 0, microbatch 0, "
            "and waits for a place to send to from rank 1 (channel 0, "
            "activation 0)");
}

/// NCCL reports an error while a rank waits for its device.
TEST_F(CudaProcesses, ErrorsInTheBackground) {
  Pair pair({sendFirst, goAway});
  standin::failCall("asyncError", 100, 6);
  pair.processes.meanwhile = [](Hub &hub) {
    // Comes here only if nobody looks.
    for (int i = 0; i < 1000 && !hub.hasFailed(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    hub.fail("nobody has seen it", -1);
  };
  expectFailure(pair,
                "step: rank 0, op 0: in the background: ncclRemoteError (6): "
                "the stand-in was told to say so; it came later; rank 0 is at "
                "recv of chunk 0, microbatch 0, and waits for a place to send "
                "to from rank 1 (channel 0, activation 0)");
}

/// NCCL does not give back a communicator that is in a graph.
TEST_F(CudaProcesses, ErrorsOfGraphs) {
  for (const char *order : {"late", "fifo", "random:1"}) {
    standin::setOrder(order);
    Pair pair;
    std::vector<std::string> ends =
        pair.processes.failReplay(pair.fixture.program());
    for (const std::string &end : ends)
      EXPECT_TRUE(has(end, "in the background: ncclRemoteError (6)")) << end;
    EXPECT_FALSE(cuda::hasAbandonedWork());
    EXPECT_EQ(standin::countLive(), 0) << order;
  }
}

/// Messages on one communicator, and sums on another one.
static void sendAndAddUp(veeline_rank *rank, char *arena, const void *const *) {
  if (rank->index % 2 == 0) {
    veeline_send(rank, 0, 0, arena);
  } else {
    veeline_recv_post(rank, 0, arena);
    veeline_recv_wait(rank, 0);
  }
  veeline_reduce_post(rank, 0);
  veeline_reduce_wait(rank, 0);
}

TEST_F(CudaProcesses, ErrorsOfGraphsOfReplicas) {
  const std::vector<veeline_step_fn> steps(4, sendAndAddUp);
  cts::Fixture fixture(steps, 1 << 17);
  fixture.program().stages = 2;
  fixture.program().replicas = 2;
  fixture.program().ranks.resize(2);
  fixture.addChannel(0, 1, 4 * numSummed, 1);
  fixture.program().channels[0].type = DataType::f32;
  fixture.program().channels[0].shape = {numSummed};
  int32_t kernel =
      addKernel(fixture, "add-two", addTwo<float>, 4, {1, 1, 1}, {256, 1, 1});
  artifact::ReducedPiece piece{DataType::f32, 16384, numSummed, 49152, 4096};
  piece.sumKernel = kernel;
  for (int32_t stage : {0, 1})
    fixture.rank(static_cast<size_t>(stage)).reductions = {
        {stage, {piece}, 1, 1 + stage}};
  auto all = artifact::withAllReplicas(fixture.program(), "stages-first");
  ASSERT_TRUE(all.ok()) << all.message();
  fixture.program() = *all;
  Processes processes(fixture);
  processes.options.steps = steps;
  for (const std::string &end : processes.failReplay(fixture.program()))
    EXPECT_TRUE(has(end, "in the background: ncclRemoteError (6)")) << end;
  EXPECT_FALSE(cuda::hasAbandonedWork());
}

//===----------------------------------------------------------------------===//
// What does not end
//===----------------------------------------------------------------------===//

static void sendAndCompute(veeline_rank *rank, char *arena,
                           const void *const *) {
  veeline_send(rank, 0, 0, arena);
  launchStep(rank, placeOf(arena, 1), arena);
}

static void receive(veeline_rank *rank, char *arena, const void *const *) {
  veeline_recv_post(rank, 0, arena);
  veeline_recv_wait(rank, 0);
}

/// A kernel of the third step never ends, so that NCCL does not abort. Exits
/// with 7 if the other rank hears of the error before the abort is given up.
static void failWithoutEnd() {
  Pair pair({sendAndCompute, receive});
  pair.processes.options.timeoutSeconds = 8;
  standin::neverEnd("step", 3, SIZE_MAX);
  pair.processes.meanwhile = [](Hub &hub) {
    auto wait = [](auto isThere) {
      for (int i = 0; i < 5000 && !isThere(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    wait([] { return standin::countCalls("cuGraphLaunch") >= 4; });
    // By then the receiver is done with its GPU, and waits for the other's
    // results.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    standin::failCall("asyncError", 1, 6);
    wait([&] { return hub.hasFailed(); });
    bool isEarly = !cuda::hasAbandonedWork();
    wait(cuda::hasAbandonedWork);
    // Does not return: in one process either rank would wait for the other's
    // GPU.
    ::_exit(isEarly && cuda::hasAbandonedWork() ? 7 : 8);
  };
  (void)pair.run();
}

TEST(CudaProcessesDeathTest, OthersHearBeforeAnAbortIsGivenUp) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  Environment devices("VEELINE_STANDIN_DEVICES", "2");
  EXPECT_EXIT(failWithoutEnd(), testing::ExitedWithCode(7), "");
}
