//===- Inventory.cpp - the libraries and GPUs of a machine ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/inventory.h"

#include "Cudnn.h"
#include "Driver.h"
#include "MpiLibrary.h"
#include "Nccl.h"

#include <algorithm>
#include <dlfcn.h>

using namespace veeline;

/// "9.19.0" of 91900, where a part after the first has two digits.
static std::string versionOf(size_t version) {
  return std::to_string(version / 10000) + "." +
         std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

/// The first line of what MPI calls itself. It may be asked before MPI starts.
static std::string getMpiVersion() {
  constexpr int mostBytes = 8192; // MPI_MAX_LIBRARY_VERSION_STRING at most.
  using Ask = int(char *text, int *bytes);
  auto *ask =
      reinterpret_cast<Ask *>(::dlsym(RTLD_DEFAULT, "MPI_Get_library_version"));
  std::string text(mostBytes, 0);
  int bytes = 0;
  if (!ask || ask(text.data(), &bytes) != 0 || bytes <= 0 || bytes > mostBytes)
    return "of an unknown version";
  text.resize(bytes);
  return text.substr(0, text.find_first_of(",\n"));
}

static LibraryReport reportMpi(const std::string &modules) {
  LibraryReport report{"MPI", {}, {}, "processes meet by TCP alone"};
  auto library = net::loadMpi(modules);
  if (library.ok())
    report.version = getMpiVersion();
  else
    report.problem = library.message();
  return report;
}

/// Loads a library by its `load`; `getVersion` gives the text of its version.
template <typename Library, typename GetVersion>
static LibraryReport report(const char *name, const char *loss,
                            const std::string &path, GetVersion getVersion) {
  LibraryReport report{name, {}, {}, loss};
  auto library = Library::load(path);
  if (library.ok())
    report.version = getVersion(*library);
  else
    report.problem = library.message();
  return report;
}

static std::vector<DeviceReport> listDevices(const cuda::Driver &driver) {
  std::vector<DeviceReport> devices;
  int count = 0;
  if (driver.cuDeviceGetCount(&count) != cuda::api::success)
    return devices;
  for (int i = 0; i < count; ++i) {
    cuda::api::Device device = 0;
    char name[256] = {};
    int major = 0, minor = 0;
    if (driver.cuDeviceGet(&device, i) == cuda::api::success &&
        driver.cuDeviceGetName(name, sizeof(name) - 1, device) ==
            cuda::api::success &&
        driver.cuDeviceGetAttribute(&major, cuda::api::computeCapabilityMajor,
                                    device) == cuda::api::success &&
        driver.cuDeviceGetAttribute(&minor, cuda::api::computeCapabilityMinor,
                                    device) == cuda::api::success)
      devices.push_back({name, "sm_" + std::to_string(10 * major + minor)});
  }
  return devices;
}

Inventory veeline::takeInventory(const LibraryFiles &files,
                                 const std::string &modules) {
  Inventory inventory;
  auto &libraries = inventory.libraries;
  libraries.push_back(reportMpi(modules));
  libraries.push_back(report<cuda::Driver>(
      "CUDA", "programs for GPUs can be compiled, but not run",
      files.cudaDriver, [&](const cuda::Driver &driver) {
        inventory.devices = listDevices(driver);
        return cuda::versionText(driver.version);
      }));
  libraries.push_back(report<cuda::BlasLt>(
      "cuBLASLt", "no program for GPUs with matrix products runs",
      files.cublasLt,
      [](const cuda::BlasLt &blas) { return versionOf(blas.version); }));
  libraries.push_back(report<cuda::Nccl>(
      "NCCL", "GPUs of several processes cannot send to each other", files.nccl,
      [](const cuda::Nccl &nccl) { return versionOf(nccl.version); }));
  libraries.push_back(report<cuda::Cudnn>(
      "cuDNN",
      "convolutions become matrix products, and attention uses kernels of "
      "Veeline",
      files.cudnn,
      [](const cuda::Cudnn &dnn) { return versionOf(dnn.version); }));
  return inventory;
}

/// `name` in a column of `width` characters.
static std::string padded(std::string name, size_t width) {
  name.resize(std::max(name.size(), width), ' ');
  return name;
}

std::string veeline::toText(const Inventory &inventory) {
  std::string text;
  for (const LibraryReport &library : inventory.libraries) {
    text += padded(library.name, 8) + " ";
    text += library.version.empty()
                ? "missing: " + library.loss + "\n         (" +
                      library.problem + ")\n"
                : library.version + "\n";
  }
  for (size_t i = 0; i < inventory.devices.size(); ++i)
    text += padded("GPU " + std::to_string(i), 9) + inventory.devices[i].name +
            ", " + inventory.devices[i].chip + "\n";
  return text;
}
