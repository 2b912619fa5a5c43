//===- bench-transport.cpp - messages between ranks -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Half of a round trip and the bandwidth of a stream of messages between two
// ranks, by size: as threads, and as processes by TCP; under `mpirun -np 2` as
// processes by MPI, beside the same messages by calls of MPI alone that poll
// alike. Beside all of them memcpy. Medians of several runs.
//
// With --parts, large messages in several parts, as computed in place and as
// copied from elsewhere.
//
//===----------------------------------------------------------------------===//

#include "HostExecutor.h"
#include "Mesh.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

using namespace veeline;
using host::nanoseconds;

static constexpr int numRuns = 9;
static constexpr int64_t sizes[] = {64, 4096, 65536, 1 << 20, 16 << 20};
/// Messages of a stream that are posted ahead.
static constexpr int32_t ahead = 4;

/// Of the running measurement; steps are plain functions.
static int32_t numRounds;
static int64_t messageBytes;
static double measured; ///< Nanoseconds of a message.
static int32_t numParts = 1;
static bool isCopied = false; ///< From elsewhere, and not computed in place.

static void fail(const Status &status) {
  std::fprintf(stderr, "bench-transport: error: %s\n",
               status.message().c_str());
  std::exit(1);
}

static int32_t roundsOf(int64_t bytes) {
  return static_cast<int32_t>(std::clamp<int64_t>((64 << 20) / bytes, 16, 500));
}

//===----------------------------------------------------------------------===//
// Our messages
//===----------------------------------------------------------------------===//

/// What is copied lies after the places of what is received.
static void send(veeline_rank *rank, int32_t channel, char *arena) {
  void *slot = veeline_send_acquire(rank, channel);
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

static void streamStep(veeline_rank *rank, char *arena, const void *const *) {
  for (int32_t i = 0; i < numRounds; ++i)
    send(rank, 0, arena);
}

static void drainStep(veeline_rank *rank, char *arena, const void *const *) {
  int64_t begin = nanoseconds();
  for (int32_t i = 0; i < numRounds + ahead; ++i) {
    if (i < numRounds)
      veeline_recv_post(rank, 0, arena + (i % ahead) * messageBytes);
    if (i >= ahead)
      veeline_recv_wait(rank, 0);
  }
  measured = double(nanoseconds() - begin) / numRounds;
}

static artifact::Artifact makeArtifact(bool bothWays) {
  artifact::Artifact artifact;
  artifact::Program program;
  program.name = "bench";
  program.stages = 2;
  program.ranks.resize(2);
  for (artifact::Rank &rank : program.ranks) {
    rank.stepSymbol = "step";
    rank.arenaBytes = (ahead + 1) * messageBytes;
  }
  for (int32_t from = 0; from < (bothWays ? 2 : 1); ++from)
    program.channels.push_back({artifact::ChannelKind::activation,
                                from,
                                from,
                                1 - from,
                                messageBytes,
                                numRounds,
                                artifact::DataType::i8,
                                {messageBytes},
                                {},
                                numParts});
  artifact.metadata.programs = {program};
  artifact.objects = {""};
  return artifact;
}

/// The median of what rank `measuring` sees; every process gets it.
static double run(host::Network *network, int32_t measuring,
                  std::vector<veeline_step_fn> steps) {
  artifact::Artifact artifact = makeArtifact(measuring == 0);
  host::HostOptions options;
  options.steps = std::move(steps);
  options.network = network;
  auto executor = host::HostExecutor::create(
      artifact, artifact.metadata.programs[0], options);
  if (!executor.ok())
    fail(executor.status());
  std::vector<double> values;
  for (int i = 0; i < numRuns; ++i) {
    StepResult result;
    Status status = (*executor)->begin(nullptr, {});
    if (status.ok())
      status = (*executor)->finish(result);
    if (!status.ok())
      fail(status);
    values.push_back(measured);
  }
  std::sort(values.begin(), values.end());
  double median = values[values.size() / 2];
  if (!network)
    return median;
  auto all = network->exchange(std::to_string(median));
  if (!all.ok())
    fail(all.status());
  return std::atof((*all)[static_cast<size_t>(measuring)].c_str());
}

//===----------------------------------------------------------------------===//
// What they are compared with
//===----------------------------------------------------------------------===//

static double copyTime() {
  std::vector<char> from(static_cast<size_t>(messageBytes), 1), to = from;
  std::vector<double> values;
  for (int i = 0; i < numRuns; ++i) {
    int64_t begin = nanoseconds();
    for (int32_t round = 0; round < numRounds; ++round) {
      std::memcpy(to.data(), from.data(), from.size());
      asm volatile("" ::"r"(to.data()) : "memory");
    }
    values.push_back(double(nanoseconds() - begin) / numRounds);
  }
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

namespace {
/// The same messages by nothing but MPI.
class PlainMpi {
public:
  PlainMpi(const net::MpiLibrary &mpi, int32_t rank)
      : mpi(mpi), rank(rank), bytes(static_cast<size_t>(ahead * messageBytes)) {
  }

  double pingPong() {
    int64_t begin = nanoseconds();
    for (int32_t i = 0; i < numRounds; ++i)
      for (int32_t from : {0, 1})
        finish(from == rank ? send(0) : receive(0));
    return double(nanoseconds() - begin) / (2 * numRounds);
  }

  double stream() {
    int64_t begin = nanoseconds();
    std::vector<void *> requests;
    for (int32_t i = 0; i < numRounds; ++i) {
      requests.push_back(rank == 0 ? send(i % ahead) : receive(i % ahead));
      if (i >= ahead)
        finish(requests[static_cast<size_t>(i - ahead)]);
    }
    for (int32_t i = std::max(0, numRounds - ahead); i < numRounds; ++i)
      finish(requests[static_cast<size_t>(i)]);
    return double(nanoseconds() - begin) / numRounds;
  }

private:
  void check(const char *error) {
    if (error)
      fail(Status::error(error));
  }
  void *send(int32_t slot) {
    void *request = nullptr;
    check(mpi.send(bytes.data() + slot * messageBytes, messageBytes, 1 - rank,
                   1000, &request));
    return request;
  }
  void *receive(int32_t slot) {
    void *request = nullptr;
    check(mpi.receive(bytes.data() + slot * messageBytes, messageBytes,
                      1 - rank, 1000, &request));
    return request;
  }
  void finish(void *request) {
    for (bool done = false; !done;)
      check(mpi.test(request, &done, nullptr));
  }

  const net::MpiLibrary &mpi;
  const int32_t rank;
  std::vector<char> bytes;
};
} // namespace

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

static std::pair<double, double> measureOurs(host::Network *network) {
  double latency = run(network, 0, {pingPongStep<0>, pingPongStep<1>});
  return {latency, run(network, 1, {streamStep, drainStep})};
}

static constexpr int64_t splitSizes[] = {1 << 20, 16 << 20};

/// One row for each number of parts.
static void benchParts(host::Network *network, const char *how) {
  bool prints = !network || network->rank() == 0;
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

static void printPartsHead() {
  std::printf("| bytes | messages by | parts | computed in place: half of a "
              "round trip | stream | copied: half of a round trip | stream |\n"
              "|---|---|---|---|---|---|---|\n");
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

static void benchMpi(const net::Place &place, const std::string &directory,
                     bool isSplit) {
  auto loaded = net::loadMpi(directory);
  if (!loaded.ok())
    fail(loaded.status());
  const net::MpiLibrary &mpi = **loaded;
  int32_t rank = 0, numRanks = 0;
  mpi.initialize(&rank, &numRanks);
  std::unique_ptr<net::Mesh> mesh = openMesh(place, &mpi);
  if (isSplit) {
    if (rank == 0)
      printPartsHead();
    return benchParts(mesh.get(), "MPI");
  }
  if (rank == 0)
    printHead("MPI alone");
  forEachSize([&] {
    auto [latency, stream] = measureOurs(mesh.get());
    std::vector<double> latencies, streams;
    PlainMpi plain(mpi, rank);
    for (int i = 0; i < numRuns; ++i) {
      latencies.push_back(plain.pingPong());
      streams.push_back(plain.stream());
    }
    std::sort(latencies.begin(), latencies.end());
    std::sort(streams.begin(), streams.end());
    double reference = streams[numRuns / 2];
    if (rank != 0)
      return;
    print("MPI, of ranks", latency, stream, reference);
    print("MPI alone", latencies[numRuns / 2], reference, reference);
  });
}

static void benchThreadsAndTcp(bool isSplit) {
  isSplit ? printPartsHead() : printHead("memcpy");
  std::fflush(stdout);
  int32_t child = ::fork();
  net::Place place;
  place.rank = child == 0 ? 1 : 0;
  place.numRanks = 2;
  place.port =
      static_cast<uint16_t>(20000 + (child ? ::getpid() : ::getppid()) % 20000);
  {
    std::unique_ptr<net::Mesh> mesh = openMesh(place, nullptr);
    if (isSplit)
      benchParts(mesh.get(), "TCP");
    else
      forEachSize([&] {
        auto [latency, stream] = measureOurs(mesh.get());
        if (place.rank == 0)
          print("TCP", latency, stream, copyTime());
      });
  }
  if (child == 0)
    ::_exit(0);
  ::waitpid(child, nullptr, 0);
  if (isSplit)
    return benchParts(nullptr, "shared memory");
  forEachSize([] {
    auto [latency, stream] = measureOurs(nullptr);
    double copy = copyTime();
    print("shared memory", latency, stream, copy);
    print("memcpy", copy, copy, copy);
  });
}

int main(int count, char **arguments) {
  std::string program = arguments[0];
  bool isSplit = count == 2 && std::strcmp(arguments[1], "--parts") == 0;
  if (count > 1 && !isSplit)
    fail(Status::error(std::string("unknown argument '") + arguments[1] +
                       "'; there is --parts"));
  auto place = net::findPlace();
  if (!place.ok())
    fail(place.status());
  if (*place)
    benchMpi(**place, program.substr(0, program.rfind('/') + 1) + "../lib",
             isSplit);
  else
    benchThreadsAndTcp(isSplit);
  return 0;
}
