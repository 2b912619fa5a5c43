//===- bench-transport.cpp - messages between ranks -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures half of a round trip and the bandwidth of a stream of messages
// between two ranks, by size. Ranks are threads, processes by TCP or, under
// `mpirun -np 2`, processes by MPI. Beside these run the same messages by calls
// of MPI alone, which pause between looks as ranks do, or never; beside all of
// them memcpy. Prints medians of several runs; what is compared runs
// alternately.
//
// With --parts, large messages in several parts, as computed in place and as
// copied from elsewhere. With --computing, how long a message takes whose
// sender computes afterwards. With --waiting, under mpirun, how long one takes
// to a rank that has waited for it, and what of a core it has taken meanwhile.
//
//===----------------------------------------------------------------------===//

#include "HostExecutor.h"
#include "PlainMpi.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace veeline;
using namespace veeline::bench;

namespace {
enum class What { messages, parts, computing, waiting };
} // namespace

//===----------------------------------------------------------------------===//
// Our messages
//===----------------------------------------------------------------------===//

/// Sends a message. If it is copied, its source lies after the places of
/// received messages.
static void send(veeline_rank *rank, int32_t channel, char *arena) {
  void *slot = veeline_send_acquire(rank, channel);
  if (isFirst)
    std::memset(slot, 1, static_cast<size_t>(messageBytes));
  if (isCopied)
    veeline_send_copy(rank, channel, 0, slot, arena + ahead * messageBytes);
  else
    veeline_send_commit(rank, channel);
}

/// Rank 0 sends by channel 0, rank 1 by channel 1.
template <int32_t out>
static void pingPongStep(veeline_rank *rank, char *arena, const void *const *) {
  constexpr int32_t in = out ^ 1;
  int64_t begin = nanoseconds();
  for (int32_t i = 0; i < numRounds; ++i) {
    veeline_recv_post(rank, in, arena);
    if (out == 1)
      veeline_recv_wait(rank, in);
    send(rank, out, arena);
    if (out == 0)
      veeline_recv_wait(rank, in);
  }
  measured = double(nanoseconds() - begin) / (2 * numRounds);
}

/// A stream begins when both ranks are awake: each waits for a word of the
/// other one, by channels 1 and 2.
static void meet(veeline_rank *rank, char *arena, bool isSender) {
  char *place = arena + (ahead + 1) * messageBytes;
  veeline_recv_post(rank, isSender ? 1 : 2, place);
  if (!isSender)
    veeline_recv_wait(rank, 2);
  veeline_send_acquire(rank, isSender ? 2 : 1);
  veeline_send_commit(rank, isSender ? 2 : 1);
  if (isSender)
    veeline_recv_wait(rank, 1);
}

static void streamStep(veeline_rank *rank, char *arena, const void *const *) {
  meet(rank, arena, true);
  for (int32_t i = 0; i < numRounds; ++i)
    send(rank, 0, arena);
}

static void drainStep(veeline_rank *rank, char *arena, const void *const *) {
  meet(rank, arena, false);
  int64_t begin = nanoseconds();
  for (int32_t i = 0; i < numRounds + ahead; ++i) {
    if (i >= ahead)
      veeline_recv_wait(rank, 0);
    if (i < numRounds)
      veeline_recv_post(rank, 0, arena + (i % ahead) * messageBytes);
  }
  measured = double(nanoseconds() - begin) / numRounds;
}

static artifact::Channel makeChannel(int32_t index, int32_t from, int64_t bytes,
                                     int32_t messages, int32_t parts) {
  artifact::Channel channel;
  channel.edge = index;
  channel.fromRank = from;
  channel.toRank = 1 - from;
  channel.messageBytes = bytes;
  channel.messagesPerStep = messages;
  channel.type = artifact::DataType::i8;
  channel.shape = {bytes};
  channel.parts = parts;
  return channel;
}

static artifact::Artifact makeArtifact(bool bothWays) {
  artifact::Artifact artifact;
  artifact::Program program;
  program.name = "bench";
  program.stages = 2;
  program.ranks.resize(2);
  for (artifact::Rank &rank : program.ranks) {
    rank.stepSymbol = "step";
    rank.arenaBytes = (ahead + 1) * messageBytes + wordBytes;
  }
  auto add = [&](int32_t from, int64_t bytes, int32_t messages, int32_t parts) {
    program.channels.push_back(
        makeChannel(static_cast<int32_t>(program.channels.size()), from, bytes,
                    messages, parts));
  };
  add(0, messageBytes, numRounds, numParts);
  if (bothWays)
    add(1, messageBytes, numRounds, numParts);
  for (int32_t from = 1; from >= 0 && !bothWays; --from)
    add(from, wordBytes, 1, 1);
  artifact.metadata.programs = {program};
  artifact.objects = {""};
  return artifact;
}

/// What process `rank` has measured; every process gets it.
static double seenBy(engine::Network &network, int32_t rank, double value) {
  auto all = network.exchange(std::to_string(value));
  if (!all.ok())
    fail(all.status());
  return std::strtod((*all)[static_cast<size_t>(rank)].c_str(), nullptr);
}

namespace {
/// Two ranks that run the same steps again and again.
class Ranks {
public:
  Ranks(engine::Network *network, int32_t measuring,
        std::vector<veeline_step_fn> steps)
      : network(network), measuring(measuring),
        artifact(makeArtifact(measuring == 0)) {
    host::HostOptions options;
    options.steps = std::move(steps);
    options.network = network;
    auto created = host::HostExecutor::create(
        artifact, artifact.metadata.programs[0], options);
    if (!created.ok())
      fail(created.status());
    executor = std::move(*created);
    isFirst = true;
    run();
    isFirst = false;
  }

  /// What rank `measuring` sees.
  double run() {
    StepResult result;
    Status status = executor->begin(nullptr, {});
    if (status.ok())
      status = executor->finish(result);
    if (!status.ok())
      fail(status);
    return network ? seenBy(*network, measuring, measured) : measured;
  }

private:
  engine::Network *network;
  int32_t measuring;
  artifact::Artifact artifact;
  std::unique_ptr<host::HostExecutor> executor;
};
} // namespace

static double medianOfRuns(engine::Network *network, int32_t measuring,
                           std::vector<veeline_step_fn> steps) {
  Ranks ranks(network, measuring, std::move(steps));
  std::vector<double> values;
  values.reserve(numRuns);
  for (int i = 0; i < numRuns; ++i)
    values.push_back(ranks.run());
  return medianOf(std::move(values));
}

//===----------------------------------------------------------------------===//
// Messages to who waits
//===----------------------------------------------------------------------===//

static void waitStep(veeline_rank *rank, char *arena, const void *const *) {
  for (int32_t i = 0; i < numRounds; ++i) {
    veeline_recv_post(rank, 1, arena);
    send(rank, 0, arena);
    Watch watch;
    veeline_recv_wait(rank, 1);
    watch.end(arena);
  }
}

static void computeAndSendStep(veeline_rank *rank, char *arena,
                               const void *const *) {
  for (int32_t i = 0; i < numRounds; ++i) {
    veeline_recv_post(rank, 0, arena);
    veeline_recv_wait(rank, 0);
    compute(static_cast<char *>(veeline_send_acquire(rank, 1)));
    veeline_send_commit(rank, 1);
  }
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static std::string gigabytes(double nanosecondsOfMessage) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f GB/s",
                double(messageBytes) / nanosecondsOfMessage);
  return text;
}

static void print(const char *how, double latency, double stream,
                  double reference) {
  std::printf("| %lld | %s | %.2f us | %s | %.2f |\n",
              static_cast<long long>(messageBytes), how, latency / 1e3,
              gigabytes(stream).c_str(), reference / stream);
  std::fflush(stdout);
}

static void printHead(const char *reference) {
  std::printf(
      "| bytes | messages by | half of a round trip | stream | of %s |\n"
      "|---|---|---|---|---|\n",
      reference);
}

template <typename Function> static void forEachSize(Function function) {
  for (int64_t bytes : sizes) {
    messageBytes = bytes;
    numRounds = roundsOf(bytes);
    function();
  }
}

static std::pair<double, double> measureOurs(engine::Network *network) {
  double latency = medianOfRuns(network, 0, {pingPongStep<0>, pingPongStep<1>});
  return {latency, medianOfRuns(network, 1, {streamStep, drainStep})};
}

static constexpr int64_t splitSizes[] = {1 << 20, 16 << 20};

/// One row for each number of parts.
static void benchParts(engine::Network *network, const char *how) {
  bool prints = !network || network->rank() == 0;
  if (prints)
    std::printf(
        "| bytes | messages by | parts | computed in place: half of a "
        "round trip | stream | copied: half of a round trip | stream |\n"
        "|---|---|---|---|---|---|---|\n");
  for (int64_t bytes : splitSizes)
    for (int32_t parts : {1, 2, 4, 8, 16, 64}) {
      messageBytes = bytes;
      numRounds = roundsOf(bytes);
      numParts = parts;
      isCopied = false;
      auto [latency, stream] = measureOurs(network);
      isCopied = true;
      auto [copiedLatency, copiedStream] = measureOurs(network);
      if (!prints)
        continue;
      std::printf("| %lld | %s | %d | %.0f us | %s | %.0f us | %s |\n",
                  static_cast<long long>(bytes), how, parts, latency / 1e3,
                  gigabytes(stream).c_str(), copiedLatency / 1e3,
                  gigabytes(copiedStream).c_str());
      std::fflush(stdout);
    }
}

static constexpr int64_t computingNanoseconds = 50'000'000;
static int64_t opNanoseconds;

/// Rank 0 sends the time, then computes in operations of `opNanoseconds`; rank
/// 1 waits for the message.
static void sendAndComputeStep(veeline_rank *rank, char *,
                               const void *const *) {
  for (int32_t i = 0; i < numRounds; ++i) {
    auto *slot = static_cast<char *>(veeline_send_acquire(rank, 0));
    int64_t begin = nanoseconds();
    std::memcpy(slot, &begin, sizeof(begin));
    veeline_send_commit(rank, 0);
    for (int64_t now = begin; now < begin + computingNanoseconds;) {
      veeline_op_begin(rank, 0);
      for (int64_t end = now + opNanoseconds; now < end;)
        now = nanoseconds();
      veeline_op_end(rank, 0);
    }
  }
}

static void arriveStep(veeline_rank *rank, char *arena, const void *const *) {
  measured = 0;
  for (int32_t i = 0; i < numRounds; ++i) {
    int64_t begin = 0;
    veeline_recv_post(rank, 0, arena);
    veeline_recv_wait(rank, 0);
    std::memcpy(&begin, arena, sizeof(begin));
    measured += double(nanoseconds() - begin) / numRounds;
  }
}

static void benchComputing(engine::Network *network, const char *how) {
  if (network->rank() == 0)
    std::printf("| bytes | messages by | from the send to the end of the wait, "
                "while the sender computes for 50 ms in one operation | in "
                "operations of 1 ms |\n|---|---|---|---|\n");
  for (int64_t bytes : splitSizes) {
    messageBytes = bytes;
    numRounds = 1;
    double milliseconds[2];
    for (int i = 0; i < 2; ++i) {
      opNanoseconds = i == 0 ? computingNanoseconds : 1'000'000;
      milliseconds[i] =
          medianOfRuns(network, 1, {sendAndComputeStep, arriveStep}) / 1e6;
    }
    if (network->rank() == 0)
      std::printf("| %lld | %s | %.2f ms | %.2f ms |\n",
                  static_cast<long long>(bytes), how, milliseconds[0],
                  milliseconds[1]);
    std::fflush(stdout);
  }
}

/// As fork(2), but ends this process if there can be no other one: as a process
/// id, an error would be all processes.
static pid_t forkOrFail() {
  pid_t child = ::fork();
  if (child < 0)
    fail(Status::error(std::string("cannot make a process: ") +
                       std::strerror(errno)));
  return child;
}

/// Processes that do nothing but compute, one for each core.
namespace {
class Load {
public:
  Load() {
    for (long i = ::sysconf(_SC_NPROCESSORS_ONLN); i > 0; --i) {
      pid_t child = forkOrFail();
      if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile uint64_t count = 0;;)
          count = count + 1;
      }
      ::kill(child, SIGSTOP);
      children.push_back(child);
    }
  }
  ~Load() { tell(SIGKILL); }
  Load(const Load &) = delete;
  Load &operator=(const Load &) = delete;
  void tell(int signal) const {
    for (pid_t child : children)
      ::kill(child, signal);
  }

private:
  std::vector<pid_t> children;
};
} // namespace

static double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * double(values.size() - 1))];
}

static void printWaits(const char *load, const char *how, const Waits &seen) {
  std::printf(
      "| %g ms | %s | %s | %.0f us | %.0f us | %.1f %% |\n", waitMilliseconds,
      load, how, percentile(seen.latencies, 0.5) / 1e3,
      percentile(seen.latencies, 0.9) / 1e3, 100 * seen.processor / seen.wall);
  std::fflush(stdout);
}

/// Rank 0 waits, rank 1 computes and sends.
static void benchWaiting(net::Mesh &byMpi, net::Mesh &byTcp,
                         const net::MpiLibrary &mpi, const Load *load) {
  int32_t rank = byMpi.rank();
  messageBytes = wordBytes;
  numRounds = 1;
  waitMilliseconds = 1;
  Waits warming;
  waits = &warming;
  Ranks ours(&byMpi, 0, {waitStep, computeAndSendStep});
  Ranks tcp(&byTcp, 0, {waitStep, computeAndSendStep});
  PlainMpi looking(mpi, byMpi, false);
  std::function<void()> ways[] = {
      [&] { ours.run(); },
      [&] { tcp.run(); },
      [&] { rank == 0 ? looking.wait() : looking.computeAndSend(); },
  };
  const char *names[] = {"MPI, of ranks", "TCP", "MPI alone, without pauses"};
  if (rank == 0)
    std::printf("| wait | cores | messages by | from the send to the end of "
                "the wait, median | 90 %% | of a core while it waits |\n"
                "|---|---|---|---|---|---|\n");
  for (const char *cores : {"idle", "busy"}) {
    if (load && std::strcmp(cores, "busy") == 0)
      load->tell(SIGCONT);
    for (double wait : {1.0, 10.0, 100.0, 1000.0}) {
      waitMilliseconds = wait;
      numRounds = wait < 100 ? 40 : wait < 1000 ? 10 : 1;
      Waits seen[3];
      for (int i = 0; i < 5; ++i)
        for (int way = 0; way < 3; ++way) {
          waits = &seen[way];
          ways[way]();
        }
      for (int way = 0; way < 3 && rank == 0; ++way)
        printWaits(cores, names[way], seen[way]);
    }
  }
}

static std::unique_ptr<net::Mesh> openMesh(const net::Place &place,
                                           const net::MpiLibrary *mpi) {
  net::MeetingOptions options;
  options.place = place;
  auto mesh = net::Mesh::create(options, mpi);
  if (!mesh.ok())
    fail(mesh.status());
  return std::move(*mesh);
}

/// Measures our messages and MPI's own, alternately.
static void benchBesideMpi(net::Mesh &mesh, const net::MpiLibrary &mpi) {
  int32_t rank = mesh.rank();
  if (rank == 0)
    printHead("MPI alone");
  forEachSize([&] {
    Ranks pingPong(&mesh, 0, {pingPongStep<0>, pingPongStep<1>});
    Ranks stream(&mesh, 1, {streamStep, drainStep});
    PlainMpi pausing(mpi, mesh, true), looking(mpi, mesh, false);
    std::vector<double> latencies[3], streams[3];
    for (int i = 0; i < numRuns; ++i) {
      latencies[0].push_back(pingPong.run());
      latencies[1].push_back(pausing.pingPong());
      latencies[2].push_back(looking.pingPong());
      streams[0].push_back(stream.run());
      streams[1].push_back(seenBy(mesh, 1, pausing.stream()));
      streams[2].push_back(seenBy(mesh, 1, looking.stream()));
    }
    double reference = medianOf(streams[1]);
    const char *names[] = {"MPI, of ranks", "MPI alone, with our pauses",
                           "MPI alone, without pauses"};
    for (int i = 0; i < 3 && rank == 0; ++i)
      print(names[i], medianOf(latencies[i]), medianOf(streams[i]), reference);
  });
}

static void benchMpi(const net::Place &place, const std::string &directory,
                     What what) {
  std::optional<Load> load; // Forks before MPI starts.
  if (what == What::waiting && place.rank == 0)
    load.emplace();
  auto loaded = net::loadMpi(directory);
  if (!loaded.ok())
    fail(loaded.status());
  const net::MpiLibrary &mpi = **loaded;
  int32_t rank = 0, numRanks = 0;
  mpi.initialize(&rank, &numRanks);
  std::unique_ptr<net::Mesh> mesh = openMesh(place, &mpi);
  if (what == What::parts)
    return benchParts(mesh.get(), "MPI");
  if (what == What::computing)
    return benchComputing(mesh.get(), "MPI");
  if (what == What::waiting) {
    net::Place other = place;
    ++other.port;
    return benchWaiting(*mesh, *openMesh(other, nullptr), mpi,
                        load ? &*load : nullptr);
  }
  benchBesideMpi(*mesh, mpi);
}

static void benchTcp(engine::Network &network, What what) {
  if (what == What::parts)
    return benchParts(&network, "TCP");
  if (what == What::computing)
    return benchComputing(&network, "TCP");
  if (network.rank() == 0)
    printHead("memcpy");
  forEachSize([&] {
    auto [latency, stream] = measureOurs(&network);
    if (network.rank() == 0)
      print("TCP", latency, stream, copyTime());
  });
}

static void benchThreads(What what) {
  if (what == What::parts)
    benchParts(nullptr, "shared memory");
  if (what != What::messages)
    return;
  forEachSize([] {
    auto [latency, stream] = measureOurs(nullptr);
    double copy = copyTime();
    print("shared memory", latency, stream, copy);
    print("memcpy", copy, copy, copy);
  });
}

static void benchTcpAndThreads(What what) {
  pid_t child = forkOrFail();
  net::Place place;
  place.rank = child == 0 ? 1 : 0;
  place.numRanks = 2;
  place.port =
      static_cast<uint16_t>(20000 + (child ? ::getpid() : ::getppid()) % 20000);
  benchTcp(*openMesh(place, nullptr), what);
  if (child == 0)
    ::_exit(0);
  ::waitpid(child, nullptr, 0);
  benchThreads(what);
}

static What parseArguments(int count, char **arguments) {
  std::string argument = count > 1 ? arguments[1] : "";
  if (count == 2 && argument == "--parts")
    return What::parts;
  if (count == 2 && argument == "--computing")
    return What::computing;
  if (count == 2 && argument == "--waiting")
    return What::waiting;
  if (count > 1)
    fail(Status::error("unknown argument '" + argument +
                       "'; there are --parts, --computing and --waiting"));
  return What::messages;
}

int main(int count, char **arguments) {
  std::string program = arguments[0];
  What what = parseArguments(count, arguments);
  auto place = net::findPlace();
  if (!place.ok())
    fail(place.status());
  if (*place)
    benchMpi(**place, program.substr(0, program.rfind('/') + 1) + "../lib",
             what);
  else
    benchTcpAndThreads(what);
  return 0;
}
