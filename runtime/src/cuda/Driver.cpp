//===- Driver.cpp - the CUDA driver and cuBLASLt --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include "Library.h"

#include <cstdlib>

using namespace veeline;
using namespace veeline::cuda;

/// From CUDA 12.2 on, drivers load kernels lazily by default, also those of
/// libraries.
static constexpr int firstLazyDriver = 12020;

/// CUDA 12.0, and the cuBLASLt that came with it.
static constexpr int leastDriver = 12000;
static constexpr size_t leastBlasLt = 120000;

std::string cuda::versionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

Status Driver::check(const std::string &call, api::Result result) const {
  if (result == api::success)
    return Status::success();
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(result, &name) != api::success || !name)
    name = "an unknown error";
  if (cuGetErrorString(result, &text) != api::success || !text)
    text = "the driver has no words for it";
  return Status::error(call + ": " + name + " (" + std::to_string(result) +
                       "): " + text);
}

/// Calls cuInit. Errors say what to do.
static Status initialize(const Driver &driver, const std::string &path) {
  api::Result result = driver.cuInit(0);
  if (result == api::stubLibrary)
    return Status::error(
        "'" + path +
        "' is the stub of the CUDA toolkit, which programs are only linked "
        "with; name the driver's libcuda.so.1 with --cuda-driver");
  if (result == api::noDevice)
    return Status::error("the CUDA driver '" + path +
                         "' finds no GPU; nvidia-smi lists those that it "
                         "knows, and CUDA_VISIBLE_DEVICES hides some");
  if (Status status = driver.check("cuInit", result); !status.ok())
    return Status::error("cannot start the CUDA driver '" + path +
                         "': " + status.message());
  return Status::success();
}

Expected<Driver> Driver::load(const std::string &path) {
  VEELINE_TRY_VALUE(Library library, Library::open({"the CUDA driver",
                                                    "--cuda-driver",
                                                    "install NVIDIA's driver",
                                                    {"libcuda.so.1"}},
                                                   path));
  Driver driver;
#define VEELINE_FIND(name, parameters)                                         \
  VEELINE_TRY(library.find(#name, driver.name,                                 \
                           "a CUDA driver of version 12.0 or later"));
  VEELINE_CUDA_FUNCTIONS(VEELINE_FIND)
#undef VEELINE_FIND
#define VEELINE_FIND(name, parameters) library.findIfThere(#name, driver.name);
  VEELINE_CUDA_LATER_FUNCTIONS(VEELINE_FIND)
#undef VEELINE_FIND
  // This call is allowed before cuInit, which fails for an old driver with a
  // new GPU.
  VEELINE_TRY(VEELINE_CALL(driver, cuDriverGetVersion, &driver.version));
  if (driver.version < leastDriver)
    return Status::error("the CUDA driver '" + library.path() +
                         "' supports CUDA " + versionText(driver.version) +
                         ", and " + versionText(leastDriver) +
                         " or later is needed; install a newer one");
  // cuInit reads this variable. A value that the user has set is kept.
  if (driver.version < firstLazyDriver)
    ::setenv("CUDA_MODULE_LOADING", "LAZY", /*overwrite=*/0);
  VEELINE_TRY(initialize(driver, library.path()));
  return driver;
}

//===----------------------------------------------------------------------===//
// cuBLASLt
//===----------------------------------------------------------------------===//

Status BlasLt::check(const std::string &call, api::BlasStatus status) const {
  if (status == api::blasSuccess)
    return Status::success();
  const char *name = cublasLtGetStatusName(status);
  const char *text = cublasLtGetStatusString(status);
  return Status::error(call + ": " + (name ? name : "an unknown error") + " (" +
                       std::to_string(status) +
                       "): " + (text ? text : "cuBLASLt has no words for it"));
}

Expected<BlasLt> BlasLt::load(const std::string &path) {
  VEELINE_TRY_VALUE(Library library,
                    Library::open({"cuBLASLt, which computes matrix products",
                                   "--cublaslt",
                                   "install the libraries of CUDA 12 or 13",
                                   {"libcublasLt.so.13", "libcublasLt.so.12"}},
                                  path));
  BlasLt blas;
#define VEELINE_FIND(type, name, parameters)                                   \
  VEELINE_TRY(                                                                 \
      library.find(#name, blas.name, "cuBLASLt of version 12.0 or later"));
  VEELINE_BLASLT_FUNCTIONS(VEELINE_FIND)
#undef VEELINE_FIND
  blas.version = blas.cublasLtGetVersion();
  if (blas.version < leastBlasLt)
    return Status::error("cuBLASLt '" + library.path() + "' has version " +
                         std::to_string(blas.version / 10000) + "." +
                         std::to_string(blas.version / 100 % 100) +
                         ", and 12.0 or later is needed; install a newer one");
  return blas;
}
