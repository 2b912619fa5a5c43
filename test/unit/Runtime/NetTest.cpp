//===- NetTest.cpp - messages between processes by TCP, and threads -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TwoProcesses.h"

#include "veeline/Base/Check.h"

#include <asio/read.hpp>
#include <asio/write.hpp>
#include <cstring>
#include <future>
#include <set>
#include <thread>

using namespace veeline;
using namespace veeline::net;

TEST(Net, MessagesArrive) { EXPECT_EQ(runBoth({}, {}), (Ends{"", ""})); }

TEST(Net, MessageOfAnotherMicrobatch) {
  Process sender;
  damageMicrobatch(sender);
  Ends ends = runBoth(std::move(sender), {});
  EXPECT_TRUE(has(ends[1], "rank 1, op 0: channel 0: activation 0 of "
                           "microbatch 1 with 64 bytes arrived, expected "
                           "activation 0 of microbatch 0 with 64 bytes"));
  EXPECT_TRUE(has(ends[0], "rank 1 has failed"));
}

/// Sends a message of another microbatch between threads; whether that is an
/// error.
static Status runDamagedThreads(bool checkMessages) {
  Process process;
  damageMicrobatch(process);
  process.checkMessages = checkMessages;
  return runStep(process, nullptr);
}

/// Messages are checked if that is asked for, and always in builds with checks.
TEST(Threads, MessageOfAnotherMicrobatch) {
  EXPECT_TRUE(has(runDamagedThreads(true).message(),
                  "activation 0 of microbatch 1 with 64 bytes arrived, "
                  "expected activation 0 of microbatch 0 with 64 bytes"));
  EXPECT_EQ(runDamagedThreads(false).ok(), !checksEnabled);
}

static void expectUnexpected(Process sender, const std::string &what) {
  Ends ends = runBoth(std::move(sender), {});
  EXPECT_TRUE(has(ends[1], "rank 0 sent message 0 of channel 0 (" + what +
                               "), which is not the one that is expected"));
  EXPECT_NE(ends[0], "");
}

TEST(Net, MessageOfAnotherEdge) {
  Process sender;
  sender.program().ranks[0].ops[0].channel = 1;
  expectUnexpected(std::move(sender), "edge 1, 64 bytes");
}

TEST(Net, MessageOfAnotherDirection) {
  Process sender;
  sender.program().channels[0].kind = artifact::ChannelKind::gradient;
  expectUnexpected(std::move(sender), "edge 0, 64 bytes");
}

TEST(Net, MessageOfAnotherSize) {
  Process sender;
  sender.program().channels[0].messageBytes = 128;
  sender.program().channels[0].shape = {128};
  expectUnexpected(std::move(sender), "edge 0, 128 bytes");
}

/// A process that ends its part of the run in good order while another one is
/// in a step, and waits for it.
TEST(Net, GoodbyeInAStep) {
  static std::promise<void> inStep;
  auto receiveAndSay = [](veeline_rank *rank, char *arena,
                          const void *const *batch) {
    inStep.set_value();
    receiveAll(rank, arena, batch);
  };
  Process leaver, receiver;
  receiver.steps[1] = receiveAndSay;
  leaver.instead = [](Mesh &) {
    inStep.get_future().wait();
    return Status::success();
  };
  Ends ends = runBoth(std::move(leaver), std::move(receiver));
  EXPECT_EQ(ends[0], "");
  // The goodbye may come before the receiver waits.
  std::string said = "rank 0 has ended its part of the run; rank 1 is ";
  std::set<std::string> all = {said + "before recv, microbatch 0",
                               said + "at recv, microbatch 0",
                               said + "at recv, microbatch 0, and waits for a "
                                      "message of rank 0 (channel 0, "
                                      "activation 0)"};
  EXPECT_TRUE(all.count(ends[1])) << ends[1];
}

TEST(Net, ExchangeOfMoreThanThereIsToSay) {
  auto say = [](size_t bytes) {
    return [bytes](Mesh &mesh) {
      return mesh.exchange(std::string(bytes, 'x')).status();
    };
  };
  Process modest, talker;
  modest.maxExchangeBytes = talker.maxExchangeBytes = 1000;
  modest.instead = talker.instead = say(1000);
  EXPECT_EQ(runBoth(modest, talker), (Ends{"", ""}));
  talker.instead = say(1001);
  EXPECT_EQ(runBoth(modest, talker)[0],
            "rank 1 sent 1001 bytes, which is more than it has to say; rank 0 "
            "waits for what rank 1 has to tell all");
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {
/// A rank that talks byte by byte, and has met rank 0 alone.
class RawPeer {
public:
  explicit RawPeer(uint16_t port, int32_t rank = 1, int32_t numRanks = 2)
      : socket(io) {
    socket.connect({asio::ip::address_v4::loopback(), port});
    Hello hello = {};
    std::memcpy(hello.magic, magic, sizeof(magic));
    hello.rank = rank;
    hello.numRanks = numRanks;
    const std::string about = "job \n";
    hello.aboutBytes = static_cast<uint32_t>(about.size());
    asio::write(socket, asio::buffer(&hello, sizeof(hello)));
    asio::write(socket, asio::buffer(about));
    Welcome welcome;
    asio::read(socket, asio::buffer(&welcome, sizeof(welcome)));
    std::string text(welcome.bytes, ' ');
    asio::read(socket, asio::buffer(text));
  }
  void write(const void *data, size_t bytes) {
    asio::error_code ignored;
    asio::write(socket, asio::buffer(data, bytes), ignored);
  }
  /// The next frame that is no sign of life.
  Header read(std::string &text) {
    Header header;
    do {
      asio::read(socket, asio::buffer(&header, sizeof(header)));
      text.resize(header.bytes);
      asio::read(socket, asio::buffer(text));
    } while (header.kind == FrameKind::alive);
    return header;
  }
  void awaitCredit() {
    std::string text;
    while (read(text).kind != FrameKind::credit)
      ;
  }

private:
  asio::io_context io;
  asio::ip::tcp::socket socket;
};
} // namespace

/// The rank that hears of a verdict first hands it on as one: it has not failed
/// itself.
TEST(Net, VerdictIsHandedOn) {
  std::promise<uint16_t> port;
  std::shared_future<uint16_t> knownPort = port.get_future().share();
  MeetingOptions options;
  options.place.numRanks = 3;
  options.timeoutSeconds = 4;
  options.sharePort = [&](uint16_t &shared) {
    port.set_value(shared);
    return Status::success();
  };
  auto join = [&](int32_t rank) {
    return std::async(std::launch::async, [&knownPort, rank] {
      return std::make_unique<RawPeer>(knownPort.get(), rank, 3);
    });
  };
  std::future<std::unique_ptr<RawPeer>> joining[] = {join(1), join(2)};
  Expected<std::unique_ptr<Mesh>> mesh = Mesh::create(options, nullptr);
  std::unique_ptr<RawPeer> judge = joining[0].get(), other = joining[1].get();
  ASSERT_TRUE(mesh.ok());
  const std::string verdict = "deadlock: all wait";
  Header header = {};
  header.kind = FrameKind::verdict;
  header.bytes = verdict.size();
  judge->write(&header, sizeof(header));
  judge->write(verdict.data(), verdict.size());
  while (!(*mesh)->knownFailure())
    std::this_thread::yield();
  (*mesh)->announce("step 3: " + verdict + "; rank 0 waits");
  std::string text;
  EXPECT_EQ(other->read(text).kind, FrameKind::verdict);
  EXPECT_EQ(text, verdict);
}

/// A message that is under way when a process gives up must not arrive in
/// memory that is no longer the message's.
TEST(Net, MemoryIsLeftAlone) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "looks at memory that is being written";
#endif
  artifact::Artifact artifact = makeArtifact();
  const artifact::Program &program = artifact.metadata.programs[0];
  artifact::Channel channel = program.channels[0];
  std::swap(channel.fromRank, channel.toRank);
  engine::Group group(program, /*isWhole=*/false, /*checksMessages=*/true);
  std::promise<uint16_t> port;
  MeetingOptions options;
  options.place.numRanks = 2;
  options.timeoutSeconds = 4;
  options.sharePort = [&](uint16_t &shared) {
    port.set_value(shared);
    return Status::success();
  };
  std::optional<RawPeer> peer;
  std::thread joining([&] { peer.emplace(port.get_future().get()); });
  Expected<std::unique_ptr<Mesh>> mesh = Mesh::create(options, nullptr);
  joining.join();
  ASSERT_TRUE(mesh.ok());
  std::unique_ptr<engine::Channel> receiver =
      (*mesh)->connect(group, 0, channel);
  host::HostRank rank;
  std::array<std::atomic<char>, messageBytes> slot = {};
  receiver->post(rank, slot.data());
  peer->awaitCredit();
  Header header = {};
  header.kind = FrameKind::message;
  header.part = engine::wholeMessage;
  header.bytes = messageBytes;
  std::string ones(messageBytes, 1);
  peer->write(&header, sizeof(header));
  peer->write(ones.data(), messageBytes / 2);
  while (slot[messageBytes / 2 - 1] == 0)
    std::this_thread::yield();
  (*mesh)->disconnect();
  peer->write(ones.data(), messageBytes / 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(slot[messageBytes - 1], 0);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

TEST(Net, MessagesInParts) {
  for (int32_t parts : {2, 3, 64})
    for (veeline_step_fn sender : {sendAll, sendCopies}) {
      Process process;
      splitMessages(process, parts);
      process.steps[0] = sender;
      EXPECT_EQ(runBoth(process, process), (Ends{"", ""})) << parts;
    }
}

TEST(Net, PartsOfMessagesOfVaryingLength) {
  for (int32_t parts : {1, 3}) {
    Process process;
    splitMessages(process, parts);
    varyLengths(process);
    EXPECT_EQ(runBoth(process, process), (Ends{"", ""})) << parts;
  }
}

/// Both ranks have to split alike.
TEST(Net, OtherParts) {
  Process whole, two, three;
  splitMessages(two, 2);
  splitMessages(three, 3);
  auto expect = [](Process sender, Process receiver, const std::string &what) {
    Ends ends = runBoth(std::move(sender), std::move(receiver));
    EXPECT_TRUE(has(ends[1], "rank 0 sent message 0 of channel 0 (" + what +
                                 "), which is not the one that is expected"));
  };
  expect(two, three, "edge 0, part 0, 32 bytes");
  expect(two, whole, "edge 0, part 0, 32 bytes");
  expect(whole, two, "edge 0, 64 bytes");
}

/// A sender that assumes another length is found out when its message is waited
/// for.
TEST(Net, PartsOfAnotherLength) {
  Process sender;
  splitMessages(sender, 3);
  varyLengths(sender);
  Process receiver = sender;
  sender.program().channels[0].lengthShapes = {{43}, {64}};
  EXPECT_TRUE(has(runBoth(std::move(sender), std::move(receiver))[1],
                  "activation 0 of microbatch 0, part 0 with 15 bytes arrived, "
                  "expected activation 0 of microbatch 0, part 0 with 14 "
                  "bytes"));
}
