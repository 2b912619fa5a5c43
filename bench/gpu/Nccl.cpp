//===- Nccl.cpp - messages by NCCL ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nccl.h"
#include "Parts.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <thread>

using namespace veeline;
using namespace veeline::bench;
namespace api = veeline::cuda::api;

/// ncclInt8.
static constexpr int bytesType = 0;

/// Shares the id by a file, which must not be there: other ranks would read the
/// id of an earlier run. The first rank writes it under another name, so that
/// nobody reads half of it.
static Expected<api::UniqueId> meet(const cuda::Nccl &nccl,
                                    const NcclOptions &ranks) {
  api::UniqueId id = {};
  if (ranks.rank == 0)
    VEELINE_TRY(VEELINE_CALL(nccl, ncclGetUniqueId, &id));
  if (ranks.numRanks == 1)
    return id;
  if (ranks.rank == 0) {
    if (std::ifstream(ranks.file))
      return Status::error("'" + ranks.file +
                           "' is there already, of an earlier run: remove it");
    std::string other = ranks.file + ".new";
    std::ofstream stream(other, std::ios::binary);
    stream.write(id.internal, sizeof(id.internal));
    stream.close();
    if (!stream || std::rename(other.c_str(), ranks.file.c_str()) != 0)
      return Status::error("cannot write '" + ranks.file + "'");
    return id;
  }
  auto last = std::chrono::steady_clock::now() +
              std::chrono::duration<double>(ranks.timeoutSeconds);
  while (std::chrono::steady_clock::now() < last) {
    std::ifstream stream(ranks.file, std::ios::binary);
    if (stream.read(id.internal, sizeof(id.internal)))
      return id;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return Status::error("rank 0 has not written '" + ranks.file + "'");
}

namespace {
/// What a stream was given while it was captured.
class Graph {
public:
  explicit Graph(Gpu &gpu) : gpu(gpu) {}
  ~Graph();

  Status capture(const std::function<Status()> &call);
  Status launch() {
    return VEELINE_CALL(gpu.driver(), cuGraphLaunch, executable, gpu.stream());
  }

private:
  Gpu &gpu;
  api::Graph graph = nullptr;
  api::GraphExec executable = nullptr;
};

/// Messages of each rank to the next one.
class Ring {
public:
  Ring(Gpu &gpu, const cuda::Nccl &nccl, const NcclOptions &ranks)
      : gpu(gpu), nccl(nccl), ranks(ranks) {}
  ~Ring() {
    if (comm)
      (void)nccl.ncclCommDestroy(comm);
  }

  Status prepare();
  Status settle();
  Status exchange(int64_t bytes);
  Status check(int64_t bytes, const std::function<Status()> &call);
  Status measure(int64_t bytes, const std::string &how,
                 const std::function<Status()> &call);
  Status measure(int64_t bytes);

private:
  int previous() const {
    return (ranks.rank + ranks.numRanks - 1) % ranks.numRanks;
  }

  Gpu &gpu;
  const cuda::Nccl &nccl;
  const NcclOptions &ranks;
  api::Comm comm = nullptr;
  cuda::DeviceMemory from, to;
};
} // namespace

/// What rank `rank` sends: of a prime number of bytes, so that no place of a
/// message looks like another one.
static std::string patternOf(int rank) {
  std::string bytes(1009, '\0');
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] =
        static_cast<char>((i * 7 + static_cast<size_t>(rank) * 13) % 251);
  return bytes;
}

Graph::~Graph() {
  if (executable)
    (void)gpu.driver().cuGraphExecDestroy(executable);
  if (graph)
    (void)gpu.driver().cuGraphDestroy(graph);
}

/// Ends the capture even if `call` fails.
Status Graph::capture(const std::function<Status()> &call) {
  const cuda::Driver &driver = gpu.driver();
  VEELINE_TRY(VEELINE_CALL(driver, cuStreamBeginCapture_v2, gpu.stream(),
                           api::captureThreadLocal));
  Status called = call();
  Status ended = VEELINE_CALL(driver, cuStreamEndCapture, gpu.stream(), &graph);
  VEELINE_TRY(called);
  VEELINE_TRY(ended);
  return VEELINE_CALL(driver, cuGraphInstantiateWithFlags, &executable, graph,
                      0);
}

Status Ring::prepare() {
  Expected<api::UniqueId> id = meet(nccl, ranks);
  if (!id.ok())
    return id.status();
  api::NcclConfig config;
  // As the runtime has it.
  config.blocking = 0;
  Status met = VEELINE_CALL(nccl, ncclCommInitRankConfig, &comm, ranks.numRanks,
                            *id, ranks.rank, &config);
  if (met.ok())
    met = settle();
  if (ranks.rank == 0 && ranks.numRanks > 1)
    std::remove(ranks.file.c_str());
  VEELINE_TRY(met);
  int64_t most = *std::max_element(ranks.sizes.begin(), ranks.sizes.end());
  VEELINE_TRY(from.allocate(gpu.device(), most));
  VEELINE_TRY(to.allocate(gpu.device(), most));
  std::string pattern, once = patternOf(ranks.rank);
  while (static_cast<int64_t>(pattern.size()) < most)
    pattern += once;
  return gpu.upload(from.address(), pattern.data(), most);
}

/// Waits until NCCL has done on the host what it was called for.
Status Ring::settle() {
  for (;;) {
    api::NcclResult state = api::ncclSuccess;
    VEELINE_TRY(VEELINE_CALL(nccl, ncclCommGetAsyncError, comm, &state));
    if (state != api::ncclInProgress)
      return nccl.check("NCCL", state, comm);
    std::this_thread::yield();
  }
}

/// Closes the group even if a call in it fails.
Status Ring::exchange(int64_t bytes) {
  auto count = static_cast<size_t>(bytes);
  int next = (ranks.rank + 1) % ranks.numRanks;
  VEELINE_TRY(VEELINE_CALL(nccl, ncclGroupStart));
  Status sent = VEELINE_CALL(nccl, ncclSend, from.data(), count, bytesType,
                             next, comm, gpu.stream());
  Status received = VEELINE_CALL(nccl, ncclRecv, to.data(), count, bytesType,
                                 previous(), comm, gpu.stream());
  Status closed = VEELINE_CALL(nccl, ncclGroupEnd);
  VEELINE_TRY(sent);
  VEELINE_TRY(received);
  VEELINE_TRY(closed);
  return settle();
}

Status Ring::check(int64_t bytes, const std::function<Status()> &call) {
  VEELINE_TRY(gpu.set(to.address(), 0xff, bytes));
  VEELINE_TRY(call());
  std::string found(static_cast<size_t>(bytes), '\0');
  VEELINE_TRY(gpu.download(found.data(), to.address(), bytes));
  std::string pattern = patternOf(previous());
  for (size_t i = 0; i < found.size(); ++i)
    if (found[i] != pattern[i % pattern.size()])
      return Status::error("byte " + std::to_string(i) + " of what rank " +
                           std::to_string(previous()) + " has sent is wrong");
  return Status::success();
}

/// All ranks make the same calls, so their number is fixed.
Status Ring::measure(int64_t bytes, const std::string &how,
                     const std::function<Status()> &call) {
  constexpr int count = 50;
  VEELINE_TRY(check(bytes, call));
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i)
    VEELINE_TRY(call());
  VEELINE_TRY(gpu.synchronize());
  std::chrono::duration<double, std::micro> taken =
      std::chrono::steady_clock::now() - begin;
  VEELINE_TRY(settle());
  if (ranks.rank != 0)
    return Status::success();
  double each = taken.count() / count;
  char note[80];
  std::snprintf(note, sizeof(note), "%.2f GB/s each way, the same bytes",
                static_cast<double>(bytes) / each / 1000);
  printRow("send and receive of " + std::to_string(bytes) + " bytes" + how,
           each, "us", note);
  return Status::success();
}

/// Captures only after an eager exchange has connected the ranks.
Status Ring::measure(int64_t bytes) {
  auto eager = [&] { return exchange(bytes); };
  VEELINE_TRY(measure(bytes, "", eager));
  Graph graph(gpu);
  VEELINE_TRY(graph.capture(eager));
  return measure(bytes, ", in a graph", [&] { return graph.launch(); });
}

Status bench::measureNccl(const GpuOptions &options, const NcclOptions &ranks) {
  Expected<std::unique_ptr<Gpu>> gpu = Gpu::open(options);
  if (!gpu.ok())
    return gpu.status();
  Expected<cuda::Nccl> nccl = cuda::Nccl::load(options.nccl);
  if (!nccl.ok())
    return nccl.status();
  Ring ring(**gpu, *nccl, ranks);
  VEELINE_TRY(ring.prepare());
  int hundredths = nccl->version / 100;
  if (ranks.rank == 0)
    printRow("NCCL's version", hundredths / 100.0, "");
  for (int64_t bytes : ranks.sizes)
    VEELINE_TRY(ring.measure(bytes));
  return Status::success();
}
