//===- NetTest.cpp - two processes' ends in one process -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two meshes that are connected through the loopback stand for two processes,
// which may differ in what a launcher's processes never do.
//
//===----------------------------------------------------------------------===//

#include "HostExecutor.h"
#include "HostRank.h"
#include "Mesh.h"

#include "veeline/Support/Check.h"

#include <algorithm>
#include <array>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <cstring>
#include <functional>
#include <future>
#include <gtest/gtest.h>
#include <list>
#include <set>

using namespace veeline;
using namespace veeline::net;

static constexpr int64_t messageBytes = 64;
static constexpr int32_t numMessages = 2;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static void sendAll(veeline_rank *rank, char *, const void *const *) {
  for (int32_t i = 0; i < numMessages; ++i) {
    veeline_op_begin(rank, i);
    std::memset(veeline_send_acquire(rank, 0), i + 1, messageBytes);
    veeline_send_commit(rank, 0);
    veeline_op_end(rank, i);
  }
}

/// The same, out of memory of its own.
static void sendCopies(veeline_rank *rank, char *arena, const void *const *) {
  for (int32_t i = 0; i < numMessages; ++i) {
    veeline_op_begin(rank, i);
    std::memset(arena, i + 1, messageBytes);
    veeline_send_copy(rank, 0, i, veeline_send_acquire(rank, 0), arena);
    veeline_op_end(rank, i);
  }
}

static void receiveAll(veeline_rank *rank, char *arena, const void *const *) {
  for (int32_t i = 0; i < numMessages; ++i)
    veeline_recv_post(rank, 0, arena + i * messageBytes);
  float sum = 0;
  for (int32_t i = 0; i < numMessages; ++i) {
    veeline_op_begin(rank, i);
    veeline_recv_wait(rank, 0);
    veeline_op_end(rank, i);
    // What comes after a fault may be arriving now.
    if (rank->failed)
      return;
    const char *message = arena + i * messageBytes;
    auto right = std::count(message, message + messageBytes, i + 1);
    sum += right == messageBytes ? i + 1 : 100;
  }
  veeline_report(rank, 0, 0, &sum);
}

/// The bytes of a message of each length.
static constexpr std::array<int64_t, 2> lengthBytes = {40, messageBytes};
/// Microbatch i has lengths[i].
static constexpr std::array<int64_t, numMessages> lengths = {1, 2};

static void sendVarying(veeline_rank *rank, char *arena, const void *const *) {
  for (int32_t i = 0; i < numMessages; ++i) {
    veeline_op_begin(rank, i);
    veeline_length_of_data(rank, i);
    for (int32_t k = 0; k < messageBytes; ++k)
      arena[k] = static_cast<char>(i + k);
    veeline_send_copy(rank, 0, i, veeline_send_acquire(rank, 0), arena);
    veeline_op_end(rank, i);
  }
}

/// Posts before it knows how long messages are, or after.
template <bool knowsLengths>
static void receiveVarying(veeline_rank *rank, char *arena,
                           const void *const *) {
  for (int32_t i = 0; i < numMessages; ++i) {
    if (knowsLengths)
      veeline_length_of_data(rank, i);
    veeline_recv_post(rank, 0, arena + i * messageBytes);
  }
  float sum = 0;
  for (int32_t i = 0; i < numMessages; ++i) {
    veeline_length_of_data(rank, i);
    veeline_op_begin(rank, i);
    veeline_recv_wait(rank, 0);
    veeline_op_end(rank, i);
    bool isRight = true;
    for (int32_t k = 0; k < lengthBytes[lengths[i] - 1]; ++k)
      isRight &= arena[i * messageBytes + k] == static_cast<char>(i + k);
    sum += isRight ? i + 1 : 100;
  }
  veeline_report(rank, 0, 0, &sum);
}

//===----------------------------------------------------------------------===//
// Two processes
//===----------------------------------------------------------------------===//

/// A program of two ranks; messages go from rank 0 to rank 1, by channel 0.
static artifact::Artifact makeArtifact() {
  artifact::Artifact artifact;
  artifact.metadata.results = {{"loss", artifact::DataType::f32}};
  artifact.metadata.microbatches = numMessages;
  artifact::Program program;
  program.name = "net";
  program.stages = 2;
  program.ranks.resize(2);
  for (artifact::Rank &rank : program.ranks) {
    rank.stepSymbol = "step";
    rank.arenaBytes = 4096;
  }
  for (int32_t edge = 0; edge < 2; ++edge)
    program.channels.push_back({artifact::ChannelKind::activation,
                                edge,
                                0,
                                1,
                                messageBytes,
                                numMessages,
                                artifact::DataType::i8,
                                {messageBytes}});
  for (int32_t i = 0; i < numMessages; ++i) {
    program.ranks[0].ops.push_back({artifact::OpKind::send, -1, i, 0, -1});
    program.ranks[1].ops.push_back({artifact::OpKind::recv, -1, i, 0, -1});
  }
  artifact.metadata.programs = {program};
  artifact.objects = {""};
  return artifact;
}

namespace {
struct Process {
  artifact::Artifact artifact = makeArtifact();
  artifact::Program &program() { return artifact.metadata.programs[0]; }

  std::vector<veeline_step_fn> steps = {sendAll, receiveAll};
  const MpiLibrary *mpi = nullptr;
  uint64_t maxExchangeBytes = 1 << 20;
  bool checkMessages = true;
  /// In place of a step, where given.
  std::function<Status(Mesh &)> instead;
};

/// How each of two processes ended: "", or its error.
using Ends = std::array<std::string, 2>;
} // namespace

static Status runStep(Process &process, Mesh &mesh) {
  host::HostOptions options;
  options.steps = process.steps;
  options.network = &mesh;
  options.checkMessages = process.checkMessages;
  Expected<std::unique_ptr<host::HostExecutor>> executor =
      host::HostExecutor::create(process.artifact, process.program(), options);
  if (!executor.ok())
    return executor.status();
  if (process.instead)
    return process.instead(mesh);
  StepResult result;
  const void *inputs[] = {lengths.data()};
  if (Status status = (*executor)->begin(inputs, {}); !status.ok())
    return status;
  Status status = (*executor)->finish(result);
  if (status.ok() && result.results[0] != 3)
    return Status::error("what arrived is not what was sent");
  return status;
}

static Ends runBoth(Process first, Process second) {
  Process *processes[] = {&first, &second};
  Ends ends;
  std::promise<uint16_t> port;
  std::shared_future<uint16_t> knownPort = port.get_future().share();
  std::vector<std::thread> threads;
  threads.reserve(2);
  for (int32_t rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      MeetingOptions options;
      options.place.rank = rank;
      options.place.numRanks = 2;
      options.timeoutSeconds = 20;
      options.maxExchangeBytes = processes[rank]->maxExchangeBytes;
      options.sharePort = [&](uint16_t &shared) {
        if (rank == 0)
          port.set_value(shared);
        shared = knownPort.get();
        return Status::success();
      };
      Expected<std::unique_ptr<Mesh>> mesh =
          Mesh::create(options, processes[rank]->mpi);
      Status status =
          mesh.ok() ? runStep(*processes[rank], **mesh) : mesh.status();
      ends[rank] = status.ok() ? "" : status.message();
    });
  for (std::thread &thread : threads)
    thread.join();
  return ends;
}

static testing::AssertionResult has(const std::string &text,
                                    const std::string &part) {
  if (text.find(part) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "'" << text << "' lacks '" << part << "'";
}

//===----------------------------------------------------------------------===//
// TCP
//===----------------------------------------------------------------------===//

TEST(Net, MessagesArrive) { EXPECT_EQ(runBoth({}, {}), (Ends{"", ""})); }

/// The sender's table of operations has another microbatch first.
static void damageMicrobatch(Process &sender) {
  std::swap(sender.program().ranks[0].ops[0].microbatch,
            sender.program().ranks[0].ops[1].microbatch);
}

TEST(Net, MessageOfAnotherMicrobatch) {
  Process sender;
  damageMicrobatch(sender);
  Ends ends = runBoth(std::move(sender), {});
  EXPECT_TRUE(has(ends[1], "rank 1, op 0: channel 0: activation 0 of "
                           "microbatch 1 with 64 bytes arrived, expected "
                           "activation 0 of microbatch 0 with 64 bytes"));
  EXPECT_TRUE(has(ends[0], "rank 1 has failed"));
}

/// Of another microbatch on its way, on threads; whether that is an error.
static Status runDamagedThreads(bool checkMessages) {
  Process process;
  damageMicrobatch(process);
  host::HostOptions options;
  options.steps = process.steps;
  options.checkMessages = checkMessages;
  Expected<std::unique_ptr<host::HostExecutor>> executor =
      host::HostExecutor::create(process.artifact, process.program(), options);
  if (!executor.ok())
    return executor.status();
  const void *inputs[] = {lengths.data()};
  StepResult result;
  if (Status status = (*executor)->begin(inputs, {}); !status.ok())
    return status;
  return (*executor)->finish(result);
}

/// Where it was asked for, and always in builds with checks.
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
/// A rank byte by byte, which has met rank 0 alone.
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

/// Who hears of a verdict first hands it on as one: it has not failed itself.
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

/// A message that is under way when a process gives up does not arrive in
/// memory that is not its any more.
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

static void splitMessages(Process &process, int32_t parts) {
  for (artifact::Channel &channel : process.program().channels)
    channel.parts = parts;
}

/// A sender and a receiver whose messages are longer and shorter.
static void varyLengths(Process &process) {
  process.artifact.metadata.lengths = {1, 2};
  artifact::Channel &channel = process.program().channels[0];
  channel.lengthShapes = {{lengthBytes[0]}, {lengthBytes[1]}};
  channel.microbatches = {0, 1};
  process.steps = {sendVarying, receiveVarying<false>};
}

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

/// A sender that thinks of another length: found out when it is waited for.
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

//===----------------------------------------------------------------------===//
// MPI
//===----------------------------------------------------------------------===//

namespace {
/// As MPI does, by tag: messages of one tag arrive in the order of their sends.
struct Request {
  std::string sent; ///< Empty of a receive.
  void *target = nullptr;
  int64_t bytes = 0;
  int32_t tag = 0;
};
struct Post {
  std::mutex mutex;
  std::map<int32_t, std::list<std::string>> underWay; ///< By tag.
  std::list<Request> requests; ///< After a fault some are never done.
  std::vector<int64_t> sent;   ///< Bytes of each message since the begin.
  int32_t helps = 0;           ///< Calls of `progress`.
  const char *error = nullptr; ///< What it says from now on.
};
} // namespace

static Post &post() {
  static Post post;
  return post;
}

static const char *sendByPost(const void *data, int64_t bytes, int32_t,
                              int32_t tag, void **request) {
  std::lock_guard<std::mutex> lock(post().mutex);
  post().underWay[tag].emplace_back(static_cast<const char *>(data), bytes);
  post().sent.push_back(bytes);
  *request = &post().requests.emplace_back();
  return nullptr;
}

static const char *receiveByPost(void *data, int64_t bytes, int32_t,
                                 int32_t tag, void **request) {
  std::lock_guard<std::mutex> lock(post().mutex);
  *request = &post().requests.emplace_back(Request{"", data, bytes, tag});
  return nullptr;
}

static const char *testPost(void *request, bool *done, int64_t *bytes) {
  auto *started = static_cast<Request *>(request);
  std::lock_guard<std::mutex> lock(post().mutex);
  std::list<std::string> &arrived = post().underWay[started->tag];
  *done = !started->target || !arrived.empty();
  if (!*done)
    return nullptr;
  if (started->target) {
    if (static_cast<int64_t>(arrived.front().size()) > started->bytes)
      return "the message is larger than its place";
    std::memcpy(started->target, arrived.front().data(),
                arrived.front().size());
    if (bytes)
      *bytes = static_cast<int64_t>(arrived.front().size());
    arrived.pop_front();
  }
  post().requests.remove_if(
      [&](const Request &request) { return &request == started; });
  return nullptr;
}

static const char *helpPost() {
  std::lock_guard<std::mutex> lock(post().mutex);
  ++post().helps;
  return post().error;
}

static const char *endPost() { return nullptr; }

static const MpiLibrary &postLibrary() {
  static const MpiLibrary library = {
      nullptr, nullptr, sendByPost, receiveByPost, testPost, helpPost, endPost};
  post().underWay.clear();
  post().requests.clear();
  post().sent.clear();
  post().helps = 0;
  post().error = nullptr;
  return library;
}

static Ends runByPost(const std::function<void(Process &)> &damage) {
  Process sender, receiver;
  sender.mpi = receiver.mpi = &postLibrary();
  damage(sender);
  return runBoth(std::move(sender), std::move(receiver));
}

/// Both alike.
static Ends runAlikeByPost(Process process) {
  process.mpi = &postLibrary();
  return runBoth(process, process);
}

TEST(NetByMpi, MessagesArrive) {
  EXPECT_EQ(runByPost([](Process &) {}), (Ends{"", ""}));
}

/// Before each operation of each rank.
TEST(NetByMpi, MessagesAreHelpedBetweenOperations) {
  EXPECT_EQ(runByPost([](Process &) {}), (Ends{"", ""}));
  EXPECT_EQ(post().helps, 2 * numMessages);
}

TEST(NetByMpi, MpiCannotGoOn) {
  Process process;
  process.mpi = &postLibrary();
  post().error = "out of luck";
  EXPECT_TRUE(has(runBoth(process, process)[1], "out of luck"));
}

TEST(NetByMpi, MessageOfAnotherMicrobatch) {
  EXPECT_TRUE(has(runByPost(damageMicrobatch)[1],
                  "activation 0 of microbatch 1 with 64 bytes arrived, "
                  "expected activation 0 of microbatch 0 with 64 bytes"));
}

/// In builds with checks without being asked.
TEST(NetByMpi, BuildsWithChecksAlwaysCheck) {
  Process sender, receiver;
  sender.mpi = receiver.mpi = &postLibrary();
  sender.checkMessages = receiver.checkMessages = false;
  damageMicrobatch(sender);
  std::string end = runBoth(std::move(sender), std::move(receiver))[1];
  if (checksEnabled)
    EXPECT_TRUE(has(end, "activation 0 of microbatch 1 with 64 bytes arrived"));
  else
    EXPECT_EQ(end, "");
}

TEST(NetByMpi, MessageOfAnotherEdge) {
  auto damage = [](Process &sender) {
    sender.program().ranks[0].ops[0].channel = 1;
  };
  EXPECT_TRUE(has(runByPost(damage)[1],
                  "activation 1 of microbatch 0 with 64 bytes arrived, "
                  "expected activation 0 of microbatch 0"));
}

TEST(NetByMpi, MessageOfAnotherDirection) {
  auto damage = [](Process &sender) {
    sender.program().channels[0].kind = artifact::ChannelKind::gradient;
  };
  EXPECT_TRUE(has(runByPost(damage)[1], "gradient 0 of microbatch 0"));
}

/// Without an identity ahead of it, too.
TEST(NetByMpi, MessageThatIsTooShort) {
  Process sender, receiver;
  sender.mpi = receiver.mpi = &postLibrary();
  sender.checkMessages = receiver.checkMessages = false;
  receiver.program().channels[0].messageBytes = 128;
  receiver.program().channels[0].shape = {128};
  Ends ends = runBoth(std::move(sender), std::move(receiver));
  EXPECT_TRUE(has(
      ends[1], "activation 0 of microbatch 0 with 64 bytes arrived, expected "
               "activation 0 of microbatch 0 with 128 bytes"));
}

/// Found out before the message itself comes into its place.
TEST(NetByMpi, MessageOfAnotherSize) {
  auto damage = [](Process &sender) {
    sender.program().channels[0].messageBytes = 128;
    sender.program().channels[0].shape = {128};
  };
  EXPECT_TRUE(has(runByPost(damage)[1],
                  "with 128 bytes arrived, expected activation 0 of microbatch "
                  "0 with 64 bytes"));
}

/// An identity and a part by turns, each as long as it has to be.
TEST(NetByMpi, MessagesInParts) {
  constexpr int64_t ahead = sizeof(engine::Identity);
  for (veeline_step_fn sender : {sendAll, sendCopies}) {
    Process process;
    splitMessages(process, 3);
    process.steps[0] = sender;
    EXPECT_EQ(runAlikeByPost(process), (Ends{"", ""}));
    EXPECT_EQ(post().sent,
              (std::vector<int64_t>{ahead, 22, ahead, 21, ahead, 21, //
                                    ahead, 22, ahead, 21, ahead, 21}));
  }
}

static constexpr veeline_step_fn varyingReceivers[] = {receiveVarying<false>,
                                                       receiveVarying<true>};

/// What is sent is split, and comes to where it belongs.
TEST(NetByMpi, PartsOfMessagesOfVaryingLength) {
  constexpr int64_t ahead = sizeof(engine::Identity);
  Process process;
  splitMessages(process, 3);
  varyLengths(process);
  for (veeline_step_fn receiver : varyingReceivers) {
    process.steps[1] = receiver;
    EXPECT_EQ(runAlikeByPost(process), (Ends{"", ""}));
    EXPECT_EQ(post().sent,
              (std::vector<int64_t>{ahead, 14, ahead, 13, ahead, 13, //
                                    ahead, 22, ahead, 21, ahead, 21}));
  }
}

/// A longer one and a shorter one than the receiver expects, known ahead or
/// not: there is room for the longest.
TEST(NetByMpi, PartsOfAnotherLength) {
  for (veeline_step_fn receiver : varyingReceivers)
    for (auto [bytes, part] : {std::pair(49, 17), std::pair(37, 13)}) {
      Process process;
      process.mpi = &postLibrary();
      process.checkMessages = false;
      splitMessages(process, 3);
      varyLengths(process);
      process.steps[1] = receiver;
      Process sender = process;
      sender.program().channels[0].lengthShapes = {{bytes}, {messageBytes}};
      EXPECT_TRUE(has(runBoth(std::move(sender), std::move(process))[1],
                      "activation 0 of microbatch 0, part 0 with " +
                          std::to_string(part) +
                          " bytes arrived, expected activation 0 of "
                          "microbatch 0, part 0 with 14 bytes"));
    }
}

TEST(NetByMpi, OtherParts) {
  auto damage = [](Process &sender) { splitMessages(sender, 2); };
  EXPECT_TRUE(has(runByPost(damage)[1],
                  "activation 0 of microbatch 0, part 0 with 32 bytes arrived, "
                  "expected activation 0 of microbatch 0 with 64 bytes"));
}
