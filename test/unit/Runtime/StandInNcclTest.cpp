//===- StandInNcclTest.cpp - the stand-in of NCCL keeps its rules ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaBackend.h"

#include "Nccl.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

using namespace veeline;
using namespace veeline::cuda;

static constexpr int internalError = 3, invalidArgument = 4, invalidUsage = 5,
                     floatType = 7, intType = 2;

namespace {
/// A rank with a device of its own. All ranks are of one thread: what a device
/// does is done by whoever asks it.
struct Rank {
  std::shared_ptr<Device> device;
  DeviceMemory memory;
  Stream first, second;
};

class StandInNccl : public testing::Test {
protected:
  void SetUp() override {
    ::setenv("VEELINE_STANDIN_DEVICES", "4", 1);
    Expected<Driver> loadedDriver = Driver::load(VEELINE_STANDIN_CUDA);
    ASSERT_TRUE(loadedDriver.ok()) << loadedDriver.message();
    driver = *loadedDriver;
    Expected<Nccl> loaded = Nccl::load(VEELINE_STANDIN_NCCL);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    nccl = *loaded;
    for (int i = 0; i < 2; ++i) {
      Expected<std::shared_ptr<Device>> opened = Device::open(driver, i);
      ASSERT_TRUE(opened.ok()) << opened.message();
      ranks[i].device = *opened;
      ASSERT_TRUE(ranks[i].memory.allocate(**opened, 4096).ok());
      ASSERT_TRUE(ranks[i].first.create(**opened).ok());
      ASSERT_TRUE(ranks[i].second.create(**opened).ok());
    }
  }

  void TearDown() override {
    for (auto &pair : all)
      for (api::Comm comm : pair)
        EXPECT_EQ(comm ? nccl.ncclCommAbort(comm) : 0, 0);
    for (Rank &rank : ranks) {
      EXPECT_TRUE(rank.device->makeCurrent().ok());
      EXPECT_EQ(driver.cuStreamSynchronize(rank.first.get()), 0);
    }
    ::unsetenv("VEELINE_STANDIN_DEVICES");
    ::unsetenv("VEELINE_STANDIN_CONNECT");
    ::unsetenv("VEELINE_STANDIN_GROUPS");
  }

  api::UniqueId makeId() {
    api::UniqueId id = {};
    EXPECT_EQ(nccl.ncclGetUniqueId(&id), 0);
    return id;
  }

  int join(api::Comm &comm, int numRanks, const api::UniqueId &id, int rank,
           int device) {
    EXPECT_TRUE(ranks[device].device->makeCurrent().ok());
    api::NcclConfig config;
    config.blocking = 0;
    return nccl.ncclCommInitRankConfig(&comm, numRanks, id, rank, &config);
  }

  int stateOf(api::Comm comm) {
    int state = -1;
    EXPECT_EQ(nccl.ncclCommGetAsyncError(comm, &state), 0);
    return state;
  }
  /// The state that `comm` ends with, if it does within some time: a group has
  /// a thread.
  int settle(api::Comm comm) {
    int state = stateOf(comm);
    for (int i = 0; i < 10 * patience && state == api::ncclInProgress; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      state = stateOf(comm);
    }
    return state;
  }

  /// A communicator of both ranks; returns its number.
  size_t connect() {
    api::UniqueId id = makeId();
    auto &pair = all.emplace_back();
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(join(pair[i], 2, id, i, i), api::ncclInProgress);
    for (api::Comm comm : pair)
      EXPECT_EQ(settle(comm), 0);
    return all.size() - 1;
  }

  char *place(int rank, int64_t offset) {
    return ranks[rank].memory.data() + offset;
  }
  void fill(int rank, int64_t offset, unsigned char value, api::Stream stream) {
    EXPECT_TRUE(ranks[rank].device->makeCurrent().ok());
    EXPECT_EQ(driver.cuMemsetD8Async(ranks[rank].memory.address() +
                                         static_cast<uint64_t>(offset),
                                     value, 64, stream),
              0);
  }
  int readByte(int rank, int64_t offset) {
    unsigned char byte = 0;
    EXPECT_TRUE(ranks[rank].device->makeCurrent().ok());
    Stream stream;
    EXPECT_TRUE(stream.create(*ranks[rank].device).ok());
    EXPECT_EQ(driver.cuMemcpyDtoHAsync_v2(&byte,
                                          ranks[rank].memory.address() +
                                              static_cast<uint64_t>(offset),
                                          1, stream.get()),
              0);
    return byte;
  }

  /// Sends or receives in a group of its own.
  int move(bool isSend, size_t pair, int rank, int64_t offset,
           api::Stream stream, int type = floatType, size_t count = 16) {
    EXPECT_TRUE(ranks[rank].device->makeCurrent().ok());
    api::Comm comm = all[pair][rank];
    EXPECT_EQ(nccl.ncclGroupStart(), 0);
    int result = isSend ? nccl.ncclSend(place(rank, offset), count, type,
                                        1 - rank, comm, stream)
                        : nccl.ncclRecv(place(rank, offset), count, type,
                                        1 - rank, comm, stream);
    int end = nccl.ncclGroupEnd();
    if (result != 0)
      return result;
    return end == api::ncclInProgress ? settle(comm) : end;
  }

  /// Calls `call` in a group of its own.
  int callAlone(size_t pair, int rank,
                const std::function<int(api::Comm)> &call) {
    EXPECT_TRUE(ranks[rank].device->makeCurrent().ok());
    api::Comm comm = all[pair][rank];
    EXPECT_EQ(nccl.ncclGroupStart(), 0);
    int result = call(comm);
    int end = nccl.ncclGroupEnd();
    if (result != 0)
      return result;
    return end == api::ncclInProgress ? settle(comm) : end;
  }

  int query(int rank, api::Stream stream) {
    EXPECT_TRUE(ranks[rank].device->makeCurrent().ok());
    return driver.cuStreamQuery(stream);
  }
  /// Whether both come to their ends.
  bool finish(api::Stream first, api::Stream second) {
    for (int i = 0; i < 100; ++i)
      if (query(0, first) + query(1, second) == 0)
        return true;
    return false;
  }

  /// Begins a send of rank 0 to rank 1, and asks nobody about it.
  void beginSend(api::Comm comm, api::Stream stream) {
    EXPECT_TRUE(ranks[0].device->makeCurrent().ok());
    EXPECT_EQ(nccl.ncclGroupStart(), 0);
    EXPECT_EQ(nccl.ncclSend(place(0, 0), 16, floatType, 1, comm, stream), 0);
    EXPECT_EQ(nccl.ncclGroupEnd(), api::ncclInProgress);
  }
  /// Whether rank 0's stream gets something within some time.
  bool isInStream(api::Stream stream) {
    for (int i = 0; i < 100 && query(0, stream) == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return query(0, stream) == api::notReady;
  }

  /// Milliseconds that a communicator may be in progress.
  int patience = 20000;
  test::OrderGuard guard;
  Driver driver = {};
  Nccl nccl = {};
  Rank ranks[2];
  std::vector<std::array<api::Comm, 2>> all;
};
} // namespace

TEST_F(StandInNccl, NothingIsDoneWhenACallReturns) {
  ::setenv("VEELINE_STANDIN_GROUPS", "late", 1);
  api::UniqueId id = makeId();
  auto &pair = all.emplace_back();
  ASSERT_EQ(join(pair[0], 2, id, 0, 0), api::ncclInProgress);
  // The other one is not there.
  patience = 10;
  EXPECT_EQ(settle(pair[0]), api::ncclInProgress);
  patience = 20000;
  ASSERT_EQ(join(pair[1], 2, id, 1, 1), api::ncclInProgress);
  EXPECT_EQ(settle(pair[0]), 0);
  // A rank that has not asked cannot go on.
  EXPECT_EQ(nccl.ncclGroupStart(), 0);
  EXPECT_EQ(nccl.ncclSend(place(1, 0), 1, floatType, 0, pair[1],
                          ranks[1].first.get()),
            invalidUsage);
  EXPECT_EQ(nccl.ncclGroupEnd(), 0);
  EXPECT_EQ(settle(pair[1]), 0);
  // Nor is a group in its stream, here before it is asked about.
  api::Stream stream = ranks[0].first.get();
  beginSend(pair[0], stream);
  EXPECT_FALSE(isInStream(stream));
  EXPECT_EQ(settle(pair[0]), 0);
  EXPECT_EQ(query(0, stream), api::notReady);
}

/// A group may be in its stream before anybody asks, or not before: its thread
/// decides. Until its outcome is known, the communicator takes nothing else.
TEST_F(StandInNccl, GroupsHaveThreads) {
  size_t pair = connect();
  api::Comm comm = all[pair][0];
  api::Stream from = ranks[0].first.get(), to = ranks[1].first.get();
  int numEarly = 0, numLate = 0;
  for (int round = 0; round < 12; ++round) {
    beginSend(comm, from);
    ++(isInStream(from) ? numEarly : numLate);
    EXPECT_EQ(nccl.ncclGroupStart(), 0);
    EXPECT_EQ(nccl.ncclSend(place(0, 0), 16, floatType, 1, comm, from),
              invalidUsage);
    EXPECT_EQ(nccl.ncclGroupEnd(), 0);
    EXPECT_EQ(nccl.ncclCommFinalize(comm), invalidUsage);
    ASSERT_EQ(settle(comm), 0);
    EXPECT_EQ(query(0, from), api::notReady);
    ASSERT_EQ(move(false, pair, 1, 128, to), 0);
    ASSERT_TRUE(finish(from, to));
  }
  EXPECT_GT(numEarly, 0);
  EXPECT_GT(numLate, 0);
}

/// All communicators of a group are connected before any of it is issued.
TEST_F(StandInNccl, GroupsOfTwoCommunicators) {
  ::setenv("VEELINE_STANDIN_CONNECT", "together", 1);
  size_t one = connect(), other = connect();
  api::Stream from = ranks[0].first.get(), to = ranks[1].first.get();
  EXPECT_EQ(nccl.ncclGroupStart(), 0);
  patience = 10;
  EXPECT_EQ(move(true, one, 0, 0, from), 0);
  EXPECT_EQ(move(true, other, 0, 64, from), 0);
  EXPECT_EQ(nccl.ncclGroupEnd(), api::ncclInProgress);
  EXPECT_EQ(move(false, one, 1, 0, to), 0);
  EXPECT_EQ(settle(all[one][0]), api::ncclInProgress);
  EXPECT_FALSE(isInStream(from));
  patience = 20000;
  EXPECT_EQ(move(false, other, 1, 64, to), 0);
  EXPECT_EQ(settle(all[one][0]), 0);
  EXPECT_EQ(settle(all[other][0]), 0);
  EXPECT_TRUE(finish(from, to));
}

TEST_F(StandInNccl, SendsWaitForTheirReceives) {
  size_t pair = connect();
  api::Stream from = ranks[0].first.get(), to = ranks[1].first.get();
  for (int round = 0; round < 3; ++round) {
    fill(0, 0, static_cast<unsigned char>(round + 5), from);
    ASSERT_EQ(move(true, pair, 0, 0, from), 0);
    EXPECT_EQ(query(0, from), api::notReady);
    ASSERT_EQ(move(false, pair, 1, 128, to), 0);
    ASSERT_TRUE(finish(from, to));
    EXPECT_EQ(readByte(1, 128), round + 5);
  }
}

/// The n-th send meets the n-th receive, whatever they are for.
TEST_F(StandInNccl, MessagesMeetInTheirOrder) {
  size_t pair = connect();
  api::Stream from = ranks[0].first.get(), to = ranks[1].first.get();
  for (int i = 0; i < 3; ++i) {
    fill(0, 64 * i, static_cast<unsigned char>(i + 1), from);
    ASSERT_EQ(move(true, pair, 0, 64 * i, from), 0);
  }
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(move(false, pair, 1, 512 - 64 * i, to), 0);
  ASSERT_TRUE(finish(from, to));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(readByte(1, 512 - 64 * i), i + 1);
}

/// Two communicators on two streams: the device runs one unit at a time, and
/// the ranks begin with different ones.
TEST_F(StandInNccl, StreamsPromiseNoProgress) {
  size_t one = connect(), other = connect();
  api::Stream first = ranks[0].first.get(), second = ranks[0].second.get();
  ASSERT_EQ(move(true, one, 0, 0, first), 0);
  EXPECT_EQ(query(0, first), api::notReady);
  ASSERT_EQ(move(true, other, 0, 64, second), 0);
  ASSERT_EQ(move(false, other, 1, 64, ranks[1].second.get()), 0);
  EXPECT_FALSE(finish(second, ranks[1].second.get()));
  // Once the first one is over, the second one makes progress.
  ASSERT_EQ(move(false, one, 1, 0, ranks[1].first.get()), 0);
  EXPECT_FALSE(finish(first, ranks[1].first.get()))
      << "rank 1 runs the receive of the other communicator";
}

/// The device has room for units of two streams. A third one waits.
TEST_F(StandInNccl, RoomForTwo) {
  ::setenv("VEELINE_STANDIN_UNITS", "2", 1);
  size_t one = connect(), other = connect(), third = connect();
  api::Stream first = ranks[0].first.get(), second = ranks[0].second.get();
  Stream last;
  ASSERT_TRUE(ranks[0].device->makeCurrent().ok());
  ASSERT_TRUE(last.create(*ranks[0].device).ok());
  ASSERT_EQ(move(true, one, 0, 0, first), 0);
  ASSERT_EQ(move(true, other, 0, 64, second), 0);
  EXPECT_EQ(query(0, first), api::notReady);
  EXPECT_EQ(query(0, second), api::notReady);
  ASSERT_EQ(move(true, third, 0, 128, last.get()), 0);
  ASSERT_EQ(move(false, third, 1, 128, ranks[1].second.get()), 0);
  EXPECT_FALSE(finish(last.get(), ranks[1].second.get()));
  ASSERT_EQ(move(false, other, 1, 64, ranks[1].first.get()), 0);
  EXPECT_TRUE(finish(second, ranks[1].first.get()));
  EXPECT_TRUE(finish(last.get(), ranks[1].second.get()));
  ASSERT_EQ(move(false, one, 1, 0, ranks[1].first.get()), 0);
  EXPECT_TRUE(finish(first, ranks[1].first.get()));
  ::unsetenv("VEELINE_STANDIN_UNITS");
}

/// NCCL connects two ranks in the host, when both come to their first message.
TEST_F(StandInNccl, FirstMessagesMeetInTheHost) {
  ::setenv("VEELINE_STANDIN_CONNECT", "together", 1);
  size_t pair = connect();
  api::Stream from = ranks[0].first.get(), to = ranks[1].first.get();
  patience = 10;
  EXPECT_EQ(move(true, pair, 0, 0, from), api::ncclInProgress);
  patience = 20000;
  EXPECT_EQ(query(0, from), 0);
  EXPECT_EQ(move(false, pair, 1, 0, to), 0);
  EXPECT_EQ(settle(all[pair][0]), 0);
  EXPECT_TRUE(finish(from, to));
  // From then on nobody waits.
  EXPECT_EQ(move(true, pair, 0, 0, from), 0);
  EXPECT_EQ(query(0, from), api::notReady);
  EXPECT_EQ(move(false, pair, 1, 0, to), 0);
  EXPECT_TRUE(finish(from, to));
  ::unsetenv("VEELINE_STANDIN_CONNECT");
}

/// Two ranks connect both directions at once, or each by itself. If one does
/// this and the other does that, they make no progress.
TEST_F(StandInNccl, DirectionsAreConnectedAlike) {
  auto both = [&](size_t pair, int rank, api::Stream stream) {
    EXPECT_EQ(nccl.ncclGroupStart(), 0);
    EXPECT_EQ(move(true, pair, rank, 64 * rank, stream), 0);
    EXPECT_EQ(move(false, pair, rank, 64 * (1 - rank), stream), 0);
    EXPECT_EQ(nccl.ncclGroupEnd(), api::ncclInProgress);
    return settle(all[pair][rank]);
  };
  api::Stream first = ranks[0].first.get(), second = ranks[1].first.get();
  size_t alike = connect();
  EXPECT_EQ(both(alike, 0, first), 0);
  EXPECT_EQ(both(alike, 1, second), 0);
  EXPECT_TRUE(finish(first, second));
  size_t apart = connect();
  EXPECT_EQ(both(apart, 0, first), 0);
  EXPECT_EQ(move(false, apart, 1, 0, second), internalError);
}

TEST_F(StandInNccl, EndsThatDiffer) {
  for (auto [type, count] :
       {std::pair(intType, 16), std::pair(floatType, 15)}) {
    size_t pair = connect();
    api::Stream from = ranks[0].first.get(), to = ranks[1].first.get();
    ASSERT_EQ(move(true, pair, 0, 0, from), 0);
    ASSERT_EQ(move(false, pair, 1, 0, to, type, static_cast<size_t>(count)), 0);
    (void)finish(from, to);
    EXPECT_EQ(stateOf(all[pair][1]), invalidUsage);
    EXPECT_NE(std::strstr(nccl.ncclGetLastError(all[pair][1]),
                          "message 1 from rank 0: a receive of "),
              nullptr);
  }
}

TEST_F(StandInNccl, ToItself) {
  auto &pair = all.emplace_back();
  ASSERT_EQ(join(pair[0], 1, makeId(), 0, 0), api::ncclInProgress);
  ASSERT_EQ(settle(pair[0]), 0);
  api::Stream stream = ranks[0].first.get();
  fill(0, 0, 9, stream);
  fill(0, 64, 1, stream);
  EXPECT_EQ(nccl.ncclGroupStart(), 0);
  EXPECT_EQ(nccl.ncclSend(place(0, 0), 16, floatType, 0, pair[0], stream), 0);
  EXPECT_EQ(nccl.ncclRecv(place(0, 64), 16, floatType, 0, pair[0], stream), 0);
  EXPECT_EQ(nccl.ncclGroupEnd(), api::ncclInProgress);
  EXPECT_EQ(settle(pair[0]), 0);
  EXPECT_EQ(driver.cuStreamSynchronize(stream), 0);
  EXPECT_EQ(readByte(0, 64), 9);
}

TEST_F(StandInNccl, TwoRanksOnOneDevice) {
  api::UniqueId id = makeId();
  auto &pair = all.emplace_back();
  ASSERT_EQ(join(pair[0], 2, id, 0, 1), api::ncclInProgress);
  ASSERT_EQ(join(pair[1], 2, id, 1, 1), api::ncclInProgress);
  EXPECT_EQ(settle(pair[0]), invalidUsage);
  EXPECT_STREQ(nccl.ncclGetLastError(pair[0]),
               "duplicate GPU: two ranks have one");
}

TEST_F(StandInNccl, AbortEndsWhatIsUnderWay) {
  size_t pair = connect();
  api::Stream from = ranks[0].first.get();
  ASSERT_EQ(move(true, pair, 0, 0, from), 0);
  EXPECT_EQ(query(0, from), api::notReady);
  EXPECT_EQ(nccl.ncclCommAbort(all[pair][0]), 0);
  all[pair][0] = nullptr;
  EXPECT_EQ(query(0, from), 0);
}

/// Nothing of a group that is in progress reaches its stream any more.
TEST_F(StandInNccl, AbortEndsWhatIsInProgress) {
  for (const char *when : {"late", "random:3"}) {
    ::setenv("VEELINE_STANDIN_GROUPS", when, 1);
    ::setenv("VEELINE_STANDIN_CONNECT", "together", 1);
    for (int round = 0; round < 4; ++round) {
      size_t pair = connect();
      api::Stream from = ranks[0].first.get();
      beginSend(all[pair][0], from);
      EXPECT_EQ(nccl.ncclCommAbort(all[pair][0]), 0);
      all[pair][0] = nullptr;
      EXPECT_FALSE(isInStream(from)) << when << " " << round;
    }
  }
}

/// What an eager step has not connected cannot be captured.
TEST_F(StandInNccl, CapturesConnectNobody) {
  size_t pair = connect();
  api::Stream stream = ranks[0].first.get();
  ASSERT_TRUE(ranks[0].device->makeCurrent().ok());
  ASSERT_EQ(driver.cuStreamBeginCapture_v2(stream, api::captureThreadLocal), 0);
  EXPECT_EQ(move(true, pair, 0, 0, stream), 1);
  EXPECT_STREQ(nccl.ncclGetLastError(all[pair][0]),
               "rank 1 is connected while a stream is captured");
  api::Graph graph = nullptr;
  EXPECT_EQ(driver.cuStreamEndCapture(stream, &graph), 0);
  EXPECT_EQ(driver.cuGraphDestroy(graph), 0);
}

/// The device goes on while its host is busy elsewhere.
TEST_F(StandInNccl, DevicesNeedNoHost) {
  size_t pair = connect();
  api::Stream from = ranks[0].first.get(), to = ranks[1].first.get();
  fill(0, 0, 7, from);
  ASSERT_EQ(move(true, pair, 0, 0, from), 0);
  ASSERT_EQ(move(false, pair, 1, 0, to), 0);
  int byte = 0;
  for (int i = 0; i < 200 && byte != 7; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    byte = readByte(1, 0);
  }
  EXPECT_EQ(byte, 7);
}

/// What a call may be given, and what is refused.
TEST_F(StandInNccl, ArgumentsOfCollectives) {
  size_t pair = connect();
  api::Stream stream = ranks[0].first.get();
  auto refuse = [&](int code, const std::function<int(api::Comm)> &call) {
    EXPECT_EQ(callAlone(pair, 0, call), code);
  };
  for (auto [type, operation] : {std::pair(floatType, 1), std::pair(99, 0),
                                 std::pair(intType, api::ncclSum)})
    refuse(invalidArgument, [&, type = type, operation = operation](auto comm) {
      return nccl.ncclAllReduce(place(0, 0), place(0, 0), 16, type, operation,
                                comm, stream);
    });
  for (int root : {-1, 2}) {
    refuse(invalidArgument, [&](auto comm) {
      return nccl.ncclReduce(place(0, 0), place(0, 0), 16, floatType,
                             api::ncclSum, root, comm, stream);
    });
    refuse(invalidArgument, [&](auto comm) {
      return nccl.ncclBroadcast(place(0, 0), place(0, 0), 16, floatType, root,
                                comm, stream);
    });
  }
  // Buffers that overlap, where rank 0 does not work in place.
  refuse(invalidArgument, [&](auto comm) {
    return nccl.ncclAllReduce(place(0, 0), place(0, 4), 16, floatType,
                              api::ncclSum, comm, stream);
  });
  refuse(invalidArgument, [&](auto comm) {
    return nccl.ncclReduceScatter(place(0, 0), place(0, 64), 16, floatType,
                                  api::ncclSum, comm, stream);
  });
  refuse(invalidArgument, [&](auto comm) {
    return nccl.ncclAllGather(place(0, 64), place(0, 0), 16, floatType, comm,
                              stream);
  });
  // Beyond the memory that there is.
  refuse(invalidArgument, [&](auto comm) {
    return nccl.ncclAllGather(place(0, 0), place(0, 0), 600, floatType, comm,
                              stream);
  });
}

/// What one call of a group writes, no other one may use.
TEST_F(StandInNccl, GroupsRunSideBySide) {
  size_t pair = connect();
  api::Stream stream = ranks[0].first.get();
  for (auto [offset, code] : {std::pair(64, 0), std::pair(60, invalidUsage)}) {
    ASSERT_TRUE(ranks[0].device->makeCurrent().ok());
    EXPECT_EQ(nccl.ncclGroupStart(), 0);
    for (auto [first, expected] : {std::pair(0, 0), std::pair(offset, code)})
      EXPECT_EQ(nccl.ncclReduce(place(0, first), place(0, first), 16, floatType,
                                api::ncclSum, first == 0 ? 0 : 1, all[pair][0],
                                stream),
                expected);
    EXPECT_EQ(nccl.ncclGroupEnd(), api::ncclInProgress);
    EXPECT_EQ(settle(all[pair][0]), 0);
  }
}

/// A call waits for those of all other ranks.
TEST_F(StandInNccl, CollectivesWaitForAll) {
  size_t pair = connect();
  api::Stream streams[] = {ranks[0].first.get(), ranks[1].first.get()};
  for (int rank = 0; rank < 2; ++rank) {
    fill(rank, 64 * rank, static_cast<unsigned char>(7 + rank), streams[rank]);
    EXPECT_EQ(callAlone(pair, rank,
                        [&, rank](auto comm) {
                          return nccl.ncclAllGather(
                              place(rank, 64 * rank), place(rank, 0), 16,
                              floatType, comm, streams[rank]);
                        }),
              0);
    if (rank == 0)
      EXPECT_EQ(query(0, streams[0]), api::notReady);
  }
  ASSERT_TRUE(finish(streams[0], streams[1]));
  for (int rank = 0; rank < 2; ++rank)
    for (int64_t from : {0, 1})
      EXPECT_EQ(readByte(rank, 64 * from), 7 + from);
}

/// The n-th call of one rank is the n-th of all.
TEST_F(StandInNccl, CollectivesThatDiffer) {
  size_t pair = connect();
  api::Stream from = ranks[0].first.get(), to = ranks[1].first.get();
  EXPECT_EQ(callAlone(pair, 0,
                      [&](auto comm) {
                        return nccl.ncclReduce(place(0, 0), place(0, 0), 16,
                                               floatType, api::ncclSum, 1, comm,
                                               from);
                      }),
            0);
  EXPECT_EQ(callAlone(pair, 1,
                      [&](auto comm) {
                        return nccl.ncclAllReduce(place(1, 0), place(1, 0), 16,
                                                  floatType, api::ncclSum, comm,
                                                  to);
                      }),
            0);
  (void)finish(from, to);
  EXPECT_EQ(stateOf(all[pair][1]), invalidUsage);
  std::string text = nccl.ncclGetLastError(all[pair][1]);
  EXPECT_NE(
      text.find("collective 1: rank 1 calls ncclAllReduce of 16 elements "
                "of type 7, and rank 0 calls ncclReduce of 16 elements of "
                "type 7, root 1"),
      std::string::npos)
      << text;
}
