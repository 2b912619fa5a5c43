//===- Launches.cpp - what a launch of a kernel takes ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "veeline/Base/Median.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace veeline;
using namespace veeline::bench;
namespace api = veeline::cuda::api;

static constexpr int numRounds = 9;

namespace {
/// Launches of a kernel, whose arguments all point to zeros.
class Launcher {
public:
  explicit Launcher(Gpu &gpu) : gpu(gpu) {}
  ~Launcher();

  Status prepare(const artifact::Artifact &file, const std::string &only,
                 int64_t count);
  Status launchAll();
  Status capture();
  Status launchGraph() {
    return VEELINE_CALL(gpu.driver(), cuGraphLaunch, executable, gpu.stream());
  }
  const std::string &name() const { return kernel.name; }

private:
  Gpu &gpu;
  artifact::Kernel kernel;
  size_t index = 0;
  int64_t count = 0;
  cuda::DeviceMemory memory;
  std::vector<uint64_t> arguments;
  api::Graph graph = nullptr;
  api::GraphExec executable = nullptr;
};
} // namespace

Launcher::~Launcher() {
  if (executable)
    (void)gpu.driver().cuGraphExecDestroy(executable);
  if (graph)
    (void)gpu.driver().cuGraphDestroy(graph);
}

static int64_t threadsOf(const artifact::Kernel &kernel) {
  int64_t threads = 1;
  for (int32_t size : kernel.grid)
    threads *= size;
  for (int32_t size : kernel.block)
    threads *= size;
  return threads;
}

Status Launcher::prepare(const artifact::Artifact &file,
                         const std::string &only, int64_t numLaunches) {
  count = numLaunches;
  const auto &table = file.metadata.device->kernels;
  bool isFound = false;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table[i].name.find(only) == std::string::npos ||
        (isFound && threadsOf(table[i]) >= threadsOf(kernel)))
      continue;
    isFound = true;
    kernel = table[i];
    index = i;
  }
  if (!isFound)
    return Status::error("the artifact has no kernel '" + only + "'");
  VEELINE_TRY(gpu.device().loadKernels(file));
  // More than the few threads of the smallest kernel need.
  constexpr int64_t bytes = 1 << 20;
  VEELINE_TRY(memory.allocate(gpu.device(), bytes * kernel.numArguments));
  VEELINE_TRY(gpu.set(memory.address(), 0, bytes * kernel.numArguments));
  for (int32_t i = 0; i < kernel.numArguments; ++i)
    arguments.push_back(memory.address() + static_cast<uint64_t>(i * bytes));
  return gpu.synchronize();
}

Status Launcher::launchAll() {
  for (int64_t i = 0; i < count; ++i)
    VEELINE_TRY(gpu.launch(kernel, index, arguments));
  return Status::success();
}

Status Launcher::capture() {
  const cuda::Driver &driver = gpu.driver();
  VEELINE_TRY(VEELINE_CALL(driver, cuStreamBeginCapture_v2, gpu.stream(),
                           api::captureThreadLocal));
  Status launched = launchAll();
  Status ended = VEELINE_CALL(driver, cuStreamEndCapture, gpu.stream(), &graph);
  VEELINE_TRY(launched);
  VEELINE_TRY(ended);
  return VEELINE_CALL(driver, cuGraphInstantiateWithFlags, &executable, graph,
                      0);
}

/// Microseconds by the clock of the host, until all is done.
static Expected<double> timeOnHost(Gpu &gpu,
                                   const std::function<Status()> &call) {
  std::vector<double> rounds;
  for (int i = 0; i <= numRounds; ++i) {
    auto begin = std::chrono::steady_clock::now();
    VEELINE_TRY(call());
    VEELINE_TRY(gpu.synchronize());
    std::chrono::duration<double, std::micro> taken =
        std::chrono::steady_clock::now() - begin;
    // The first round loads what is loaded lazily.
    if (i > 0)
      rounds.push_back(taken.count());
  }
  return medianOf(rounds);
}

Status bench::measureLaunches(const GpuOptions &options,
                              const KernelFiles &files, int64_t count) {
  Expected<artifact::Artifact> file = artifact::readArtifact(files.artifact);
  if (!file.ok())
    return file.status();
  if (!file->metadata.device)
    return Status::error("'" + files.artifact + "' is not for a GPU");
  Expected<std::unique_ptr<Gpu>> gpu = Gpu::open(options);
  if (!gpu.ok())
    return gpu.status();
  Launcher launcher(**gpu);
  VEELINE_TRY(launcher.prepare(*file, files.only, count));
  Expected<double> eager =
      timeOnHost(**gpu, [&] { return launcher.launchAll(); });
  if (!eager.ok())
    return eager.status();
  VEELINE_TRY(launcher.capture());
  Expected<double> graph =
      timeOnHost(**gpu, [&] { return launcher.launchGraph(); });
  if (!graph.ok())
    return graph.status();
  auto each = static_cast<double>(count);
  std::string note = std::to_string(count) + " launches of " + launcher.name();
  printRow("a launch", *eager / each, "us", note);
  printRow("a launch in a graph", *graph / each, "us", note);
  return Status::success();
}
