//===- runtime-overhead.cpp - what the host runtime adds ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints what each call of a compiled step costs where nothing waits, what a
// message takes from commit to the end of the wait, and how fast the products
// of a GPT's layouts are. The medians of several runs; one core per rank.
//
//===----------------------------------------------------------------------===//

#include "HostExecutor.h"
#include "veeline/Base/Median.h"
#include "veeline/Library/Gemm.h"

#include <cstdio>
#include <fstream>

using namespace veeline;
using artifact::DataType;

static constexpr int32_t numCalls = 2000;
static constexpr int numRuns = 21;

/// Nanoseconds per call that the last step measured. Global, since steps are
/// plain functions.
static double measured;

static void measure(int64_t begin, int32_t calls) {
  measured = double(nanoseconds() - begin) / calls;
}

//===----------------------------------------------------------------------===//
// Running steps
//===----------------------------------------------------------------------===//

static artifact::Artifact makeArtifact(size_t numRanks, int64_t arenaBytes) {
  artifact::Artifact artifact;
  artifact.metadata.results = {{"loss", DataType::f32}};
  artifact.metadata.params = {{"p", {1}, DataType::f32, {}}};
  artifact.metadata.optimizer = Optimizer::adamw;
  artifact::Program program;
  program.name = "bench";
  program.stages = static_cast<int32_t>(numRanks);
  program.ranks.resize(numRanks);
  for (artifact::Rank &rank : program.ranks) {
    rank.stepSymbol = "step";
    rank.arenaBytes = arenaBytes;
    rank.ops.resize(1);
  }
  program.ranks[0].params = {{0, 0, 64, {}, true}};
  artifact.metadata.programs = {program};
  artifact.objects = {""};
  return artifact;
}

static void addChannel(artifact::Artifact &artifact, int32_t from, int32_t to) {
  artifact.metadata.programs[0].channels.push_back(
      {artifact::ChannelKind::activation, 0, from, to, 64, numCalls});
}

static void fail(const Status &status) {
  std::fprintf(stderr, "bench-runtime: error: %s\n", status.message().c_str());
  std::exit(1);
}

/// The median of what the steps measure.
static double run(const artifact::Artifact &artifact,
                  std::vector<veeline_step_fn> steps,
                  size_t timelineEvents = 0) {
  host::HostOptions options;
  options.steps = std::move(steps);
  options.timelineEvents = timelineEvents;
  Expected<std::unique_ptr<host::HostExecutor>> executor =
      host::HostExecutor::create(artifact, artifact.metadata.programs[0],
                                 options);
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
  return medianOf(std::move(values));
}

static void print(const char *what, double nanoseconds) {
  std::printf("%-58s %9.3f us\n", what, nanoseconds / 1e3);
}

//===----------------------------------------------------------------------===//
// Calls that do not wait
//===----------------------------------------------------------------------===//

static void bracketStep(veeline_rank *rank, char *, const void *const *) {
  int64_t begin = nanoseconds();
  for (int32_t i = 0; i < numCalls; ++i) {
    veeline_op_begin(rank, 0);
    veeline_op_end(rank, 0);
  }
  measure(begin, numCalls);
}

static void updateStep(veeline_rank *rank, char *arena, const void *const *) {
  const void *gradients[] = {arena + 256};
  int64_t begin = nanoseconds();
  for (int32_t i = 0; i < numCalls; ++i)
    veeline_update(rank, 0, arena, arena + 64, gradients, 1);
  measure(begin, numCalls);
}

static void gemmStep(veeline_rank *rank, char *arena, const void *const *) {
  int64_t begin = nanoseconds();
  for (int32_t i = 0; i < numCalls; ++i)
    veeline_gemm(rank, 0, arena, arena + 64, arena + 128, arena + 192);
  measure(begin, numCalls);
}

/// An empty step: what remains is starting and ending it.
static void emptyStep(veeline_rank *, char *, const void *const *) {}

static double runEmptySteps(const artifact::Artifact &artifact) {
  const artifact::Program &program = artifact.metadata.programs[0];
  host::HostOptions options;
  options.steps.assign(program.ranks.size(), emptyStep);
  Expected<std::unique_ptr<host::HostExecutor>> executor =
      host::HostExecutor::create(artifact, program, options);
  if (!executor.ok())
    fail(executor.status());
  StepResult result;
  int64_t begin = nanoseconds();
  for (int32_t i = 0; i < numCalls; ++i)
    if (!(*executor)->begin(nullptr, {}).ok() ||
        !(*executor)->finish(result).ok())
      fail(Status::error("an empty step failed"));
  return double(nanoseconds() - begin) / numCalls;
}

static void postAll(veeline_rank *rank, char *arena, int32_t channel) {
  for (int32_t i = 0; i < numCalls; ++i)
    veeline_recv_post(rank, channel, arena);
}

static void sendAll(veeline_rank *rank, int32_t channel) {
  for (int32_t i = 0; i < numCalls; ++i) {
    veeline_send_acquire(rank, channel);
    veeline_send_commit(rank, channel);
  }
}

// The ranks take turns, so that the one that measures finds its peer's part
// done: channel 1 tells it.

static void sendReadyStep(veeline_rank *rank, char *arena,
                          const void *const *) {
  veeline_recv_post(rank, 1, arena);
  veeline_recv_wait(rank, 1);
  int64_t begin = nanoseconds();
  sendAll(rank, 0);
  measure(begin, numCalls);
}

static void receiveLateStep(veeline_rank *rank, char *arena,
                            const void *const *) {
  postAll(rank, arena, 0);
  veeline_send_acquire(rank, 1);
  veeline_send_commit(rank, 1);
  for (int32_t i = 0; i < numCalls; ++i)
    veeline_recv_wait(rank, 0);
}

static void sendEarlyStep(veeline_rank *rank, char *, const void *const *) {
  sendAll(rank, 0);
  veeline_send_acquire(rank, 1);
  veeline_send_commit(rank, 1);
}

static void receiveReadyStep(veeline_rank *rank, char *arena,
                             const void *const *) {
  veeline_recv_post(rank, 1, arena);
  int64_t begin = nanoseconds();
  postAll(rank, arena, 0);
  int64_t posting = nanoseconds() - begin;
  veeline_recv_wait(rank, 1);
  begin = nanoseconds() - posting;
  for (int32_t i = 0; i < numCalls; ++i)
    veeline_recv_wait(rank, 0);
  measure(begin, numCalls);
}

static void benchCalls() {
  artifact::Artifact one = makeArtifact(1, 1 << 16);
  one.metadata.programs[0].ranks[0].gemms = {
      {DataType::f32, {}, 1, 1, 1, {1, 1}, {1, 1}, {1, 1}, 1 << 12}};
  std::printf("calls that do not wait\n");
  print("op_begin + op_end, no timeline", run(one, {bracketStep}));
  print("op_begin + op_end, with a timeline", run(one, {bracketStep}, 1000));
  print("update of one element", run(one, {updateStep}));
  print("gemm of 1x1x1 (the library's call included)", run(one, {gemmStep}));
  artifact::Artifact sending = makeArtifact(2, 1 << 16);
  addChannel(sending, 0, 1);
  addChannel(sending, 1, 0);
  print("send_acquire + send_commit, slot posted",
        run(sending, {sendReadyStep, receiveLateStep}));
  artifact::Artifact receiving = makeArtifact(2, 1 << 16);
  addChannel(receiving, 1, 0);
  addChannel(receiving, 1, 0);
  print("recv_post + recv_wait, message there",
        run(receiving, {receiveReadyStep, sendEarlyStep}));
  print("a whole empty step, one rank", runEmptySteps(one));
  print("a whole empty step, two ranks", runEmptySteps(sending));
}

//===----------------------------------------------------------------------===//
// Messages that are waited for
//===----------------------------------------------------------------------===//

static constexpr int32_t numRounds = 500;

/// Half of a round trip between two ranks; `first` starts it.
template <int32_t out, bool first>
static void pingPongStep(veeline_rank *rank, char *arena, const void *const *) {
  constexpr int32_t in = out ^ 1;
  int64_t begin = nanoseconds();
  for (int32_t i = 0; i < numRounds; ++i) {
    veeline_recv_post(rank, in, arena);
    if (!first)
      veeline_recv_wait(rank, in);
    veeline_send_acquire(rank, out);
    veeline_send_commit(rank, out);
    if (first)
      veeline_recv_wait(rank, in);
  }
  if (out == 0)
    measure(begin, 2 * numRounds);
}

static void benchMessages() {
  std::printf("\nmessages, from commit to the end of the wait\n");
  artifact::Artifact artifact = makeArtifact(2, 4096);
  addChannel(artifact, 0, 1);
  addChannel(artifact, 1, 0);
  print("two ranks",
        run(artifact, {pingPongStep<0, true>, pingPongStep<1, false>}));
  artifact = makeArtifact(4, 4096);
  addChannel(artifact, 0, 1);
  addChannel(artifact, 1, 0);
  addChannel(artifact, 2, 3);
  addChannel(artifact, 3, 2);
  print("four ranks, two pairs at once",
        run(artifact, {pingPongStep<0, true>, pingPongStep<1, false>,
                       pingPongStep<2, true>, pingPongStep<3, false>}));
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

static constexpr int64_t operandBytes = 4 << 20;

static void productStep(veeline_rank *rank, char *arena, const void *const *) {
  constexpr int32_t repeats = 5;
  int64_t begin = nanoseconds();
  for (int32_t i = 0; i < repeats; ++i)
    veeline_gemm(rank, 0, arena, arena + operandBytes, arena + 2 * operandBytes,
                 arena + 3 * operandBytes);
  measure(begin, repeats);
}

static void benchProduct(const char *what, artifact::Gemm gemm) {
  gemm.scratchBytes = operandBytes;
  artifact::Artifact artifact = makeArtifact(1, 4 * operandBytes);
  artifact.metadata.programs[0].ranks[0].gemms = {gemm};
  Expected<std::unique_ptr<library::PreparedCall>> prepared =
      library::prepareGemm(gemm);
  if (!prepared.ok())
    fail(prepared.status());
  double time = run(artifact, {productStep});
  double operations = 2.0 * double(gemm.m * gemm.n * gemm.k) *
                      double(artifact::numElements(gemm.batch));
  std::printf("%-44s %9.1f us %8.1f GFLOP/s  %s\n", what, time / 1e3,
              operations / time, (*prepared)->implementation().c_str());
}

static void benchProducts() {
  std::printf("\nmatrix products m x n x k, one core\n");
  constexpr DataType f32 = DataType::f32;
  benchProduct("512x1280x320",
               {f32, {}, 512, 1280, 320, {320, 1}, {1280, 1}, {1280, 1}});
  benchProduct("512x1280x320, b transposed",
               {f32, {}, 512, 1280, 320, {320, 1}, {1, 320}, {1280, 1}});
  benchProduct("320x1280x512, a transposed",
               {f32, {}, 320, 1280, 512, {1, 320}, {1280, 1}, {1280, 1}});
  benchProduct("320x1280x512, c transposed",
               {f32, {}, 320, 1280, 512, {512, 1}, {1280, 1}, {1, 320}});
  benchProduct("512x1280x320, a without a unit stride",
               {f32, {}, 512, 1280, 320, {640, 2}, {1280, 1}, {1280, 1}});
  benchProduct("20 x 128x128x64", {f32,
                                   {20},
                                   128,
                                   128,
                                   64,
                                   {8192, 64, 1},
                                   {8192, 128, 1},
                                   {16384, 128, 1}});
  benchProduct(
      "20 x 128x128x64, b transposed",
      {f32, {20}, 128, 128, 64, {8192, 64, 1}, {8192, 1, 64}, {16384, 128, 1}});
  benchProduct("4x5 heads in rows, 128x128x64", {f32,
                                                 {4, 5},
                                                 128,
                                                 128,
                                                 64,
                                                 {40960, 64, 320, 1},
                                                 {40960, 64, 1, 320},
                                                 {81920, 16384, 128, 1}});
  benchProduct("4x5 heads in rows with gaps, 128x64x128",
               {f32,
                {4, 5},
                128,
                64,
                128,
                {81920, 16384, 1, 128},
                {40960, 8192, 64, 1},
                {122880, 64, 960, 1}});
  benchProduct(
      "512x1280x320 in f64",
      {DataType::f64, {}, 512, 1280, 320, {320, 1}, {1280, 1}, {1280, 1}});
}

static std::string machineName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      return line.substr(line.find(':') + 2);
  return "unknown CPU";
}

int main() {
  std::printf("%s, %u cores\n\n", machineName().c_str(),
              std::thread::hardware_concurrency());
  benchCalls();
  benchMessages();
  benchProducts();
  return 0;
}
