//===- NetByMpiTest.cpp - ranks as processes, by MPI ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TwoProcesses.h"

#include "veeline/Base/Check.h"

#include <chrono>
#include <cstring>
#include <list>
#include <thread>

using namespace veeline;
using namespace veeline::net;

namespace {
/// A request. As with MPI, messages of one tag arrive in the order of their
/// sends.
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
  int32_t ends = 0;            ///< Calls of `finalize`.
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
  // What has not arrived before MPI failed never does.
  *done = !started->target || (!post().error && !arrived.empty());
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

static const char *endPost() {
  std::lock_guard<std::mutex> lock(post().mutex);
  ++post().ends;
  return nullptr;
}

/// As MPI does, takes what has arrived to where the receiver expects it.
static const char *endReceiver() {
  std::lock_guard<std::mutex> lock(post().mutex);
  for (Request &request : post().requests)
    if (std::list<std::string> &arrived = post().underWay[request.tag];
        request.target && !arrived.empty()) {
      std::memcpy(request.target, arrived.front().data(),
                  arrived.front().size());
      arrived.pop_front();
    }
  ++post().ends;
  return nullptr;
}

static const MpiLibrary &postLibrary() {
  static const MpiLibrary library = {
      nullptr, nullptr, sendByPost, receiveByPost, testPost, helpPost, endPost};
  post().underWay.clear();
  post().requests.clear();
  post().sent.clear();
  post().helps = post().ends = 0;
  post().error = nullptr;
  return library;
}

static Ends runByPost(const std::function<void(Process &)> &damage) {
  Process sender, receiver;
  sender.mpi = receiver.mpi = &postLibrary();
  damage(sender);
  return runBoth(std::move(sender), std::move(receiver));
}

/// Runs two processes that are alike.
static Ends runAlikeByPost(Process process) {
  process.mpi = &postLibrary();
  return runBoth(process, process);
}

TEST(NetByMpi, MessagesArrive) {
  EXPECT_EQ(runByPost([](Process &) {}), (Ends{"", ""}));
  EXPECT_EQ(post().ends, 2);
}

/// Hears of the receiver's fault, but says nothing yet.
static void sendAllAndRest(veeline_rank *rank, char *arena,
                           const void *const *inputs) {
  sendAll(rank, arena, inputs);
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
}

/// It would write what still arrives to memory that is gone.
TEST(NetByMpi, MpiIsNotEndedAfterAFault) {
  Process sender, receiver;
  MpiLibrary senders = postLibrary(), receivers = senders;
  senders.finalize = [] { return static_cast<const char *>(nullptr); };
  receivers.finalize = endReceiver;
  sender.mpi = &senders;
  receiver.mpi = &receivers;
  damageMicrobatch(sender);
  sender.steps[0] = sendAllAndRest;
  EXPECT_TRUE(has(runBoth(std::move(sender), std::move(receiver))[1],
                  "activation 0 of microbatch 1"));
  EXPECT_EQ(post().ends, 0);
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
  for (const std::string &end : runBoth(process, process))
    EXPECT_TRUE(has(end, "out of luck"));
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

/// An identity and a part alternately, each as long as it has to be.
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
