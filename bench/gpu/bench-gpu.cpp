//===- bench-gpu.cpp - what bench/gpu/run measures by itself --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One part of the table in each call. Rows are lines of fields with tabs
// between them: "row", what, number, unit and note, or "failed", what and why.
//
//===----------------------------------------------------------------------===//

#include "Parts.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <thread>

using namespace veeline;
using namespace veeline::bench;

namespace {
struct Arguments {
  GpuOptions gpu;
  KernelFiles files;
  std::string done;
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
  int64_t leastBytes = int64_t(64) << 20;
  int64_t launches = 1000;
  std::vector<std::string> products;
  NcclOptions ranks;
};
} // namespace

/// A row for each GPU, and one for cuBLASLt.
static Status describeMachine(GpuOptions options) {
  Expected<cuda::Driver> driver = cuda::Driver::load(options.driver);
  if (!driver.ok())
    return driver.status();
  int count = 0;
  VEELINE_TRY(VEELINE_CALL(*driver, cuDeviceGetCount, &count));
  for (options.ordinal = 0; options.ordinal < count; ++options.ordinal) {
    Expected<std::unique_ptr<Gpu>> gpu = Gpu::open(options);
    if (!gpu.ok())
      return gpu.status();
    size_t available = 0, total = 0;
    VEELINE_TRY(VEELINE_CALL(*driver, cuMemGetInfo_v2, &available, &total));
    printRow("GPU", static_cast<double>(total >> 20) / 1024, "GiB",
             (*gpu)->device().name() + ", a driver for CUDA " +
                 cuda::versionText(driver->version));
  }
  Expected<cuda::BlasLt> blas = cuda::BlasLt::load(options.blasLt);
  if (!blas.ok())
    return blas.status();
  printRow("cuBLASLt", static_cast<double>(blas->version) / 10000, "");
  return Status::success();
}

static void addLibraries(CLI::App &app, GpuOptions &options) {
  app.add_option("--cuda-driver", options.driver, "As of veeline train");
  app.add_option("--cublaslt", options.blasLt, "As of veeline train");
  app.add_option("--nccl", options.nccl, "The library [default: libnccl.so.2]");
  app.add_option("--device", options.ordinal, "Which GPU")
      ->capture_default_str();
  app.add_option("--stall-timeout", options.stallSeconds,
                 "Seconds after which the GPU's work counts as hung")
      ->capture_default_str();
}

static void addFiles(CLI::App &app, Arguments &arguments, bool needsTwins) {
  app.add_option("artifact", arguments.files.artifact)->required();
  if (needsTwins) {
    app.add_option("twins", arguments.files.twins,
                   "What veeline-gpu-run -o has written")
        ->required();
    app.add_option("--done", arguments.done,
                   "A file of names of kernels to leave out");
  }
  app.add_option("--only", arguments.files.only,
                 "Kernels whose name has this in it");
}

static void addCommands(CLI::App &app, Arguments &arguments) {
  app.add_subcommand("about", "Which GPUs and libraries there are");
  CLI::App &check =
      *app.add_subcommand("check", "Whether kernels do what their twins do");
  addFiles(check, arguments, true);
  check.add_option("--jobs", arguments.jobs, "Threads of the host");
  CLI::App &bandwidth = *app.add_subcommand(
      "bandwidth", "What kernels take beside copies of as many bytes");
  addFiles(bandwidth, arguments, true);
  bandwidth.add_option("--least-bytes", arguments.leastBytes,
                       "Kernels that move as many or more");
  CLI::App &products = *app.add_subcommand(
      "products", "Matrix products beside the library called directly");
  products.add_option("products", arguments.products, "As 512x512x512:f32")
      ->required();
  CLI::App &launches =
      *app.add_subcommand("launches", "What a launch of a kernel takes");
  addFiles(launches, arguments, false);
  launches.add_option("--count", arguments.launches);
  CLI::App &nccl = *app.add_subcommand("nccl", "Messages by NCCL");
  nccl.add_option("--rank", arguments.ranks.rank);
  nccl.add_option("--ranks", arguments.ranks.numRanks);
  nccl.add_option("--file", arguments.ranks.file, "Where ranks meet");
  nccl.add_option("--bytes", arguments.ranks.sizes)->required();
}

static Status run(const CLI::App &app, Arguments &arguments) {
  std::ifstream done(arguments.done);
  for (std::string name; std::getline(done, name);)
    arguments.files.done.insert(name);
  if (app.got_subcommand("about"))
    return describeMachine(arguments.gpu);
  if (app.got_subcommand("check"))
    return checkKernels(arguments.gpu, arguments.files, arguments.jobs);
  if (app.got_subcommand("bandwidth"))
    return measureKernels(arguments.gpu, arguments.files, arguments.leastBytes);
  if (app.got_subcommand("products"))
    return measureProducts(arguments.gpu, arguments.products);
  if (app.got_subcommand("launches"))
    return measureLaunches(arguments.gpu, arguments.files, arguments.launches);
  return measureNccl(arguments.gpu, arguments.ranks);
}

int main(int argc, char **argv) {
  CLI::App app("What bench/gpu/run measures by itself");
  Arguments arguments;
  addLibraries(app, arguments.gpu);
  addCommands(app, arguments);
  app.require_subcommand(1);
  CLI11_PARSE(app, argc, argv);
  Status status = run(app, arguments);
  if (status.ok())
    return 0;
  std::fprintf(stderr, "error: %s\n", status.message().c_str());
  return 1;
}
