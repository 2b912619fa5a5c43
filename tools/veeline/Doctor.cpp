//===- Doctor.cpp - `veeline doctor` without the compiler -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler's library has the whole command. This is what can be said on a
// machine that only trains.
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Json.h"

#include "veeline/Base/ProcessLimits.h"
#include "veeline/Base/Text.h"
#include "veeline/Compiler/Options.h"
#include "veeline/gemm.h"
#include "veeline/inventory.h"

#include <cstdio>
#include <fstream>

using namespace veeline;

/// As the kernel has it, or an empty string.
static std::string getCpuName() {
  std::ifstream file("/proc/cpuinfo");
  std::string line, key = "model name";
  while (std::getline(file, line))
    if (size_t colon = line.find(": ");
        line.starts_with(key) && colon != line.npos)
      return line.substr(colon + 2);
  return "";
}

static void printText(const Inventory &inventory) {
  std::string cpu = getCpuName();
  std::printf("CPU      %s%s%s\n", cpu.c_str(), cpu.empty() ? "" : ", ",
              counted(countUsableCores(), "core").c_str());
  std::printf("memory   %.1f GiB\n",
              double(getAllowedMemory().value_or(0)) / double(1 << 30));
  std::printf("library  %s, for matrix products and convolutions\n",
              productLibrary().c_str());
  std::fputs(toText(inventory).c_str(), stdout);
}

/// As docs/tools.md describes it.
static void printJson(const Inventory &inventory) {
  using Json = nlohmann::json;
  Json libraries = Json::array(), devices = Json::array();
  for (const LibraryReport &library : inventory.libraries) {
    Json entry{{"name", library.name}, {"found", !library.version.empty()}};
    if (library.version.empty()) {
      entry["problem"] = library.problem;
      entry["loss"] = library.loss;
    } else {
      entry["version"] = library.version;
    }
    libraries.push_back(std::move(entry));
  }
  for (const DeviceReport &device : inventory.devices)
    devices.push_back({{"name", device.name}, {"chip", device.chip}});
  driver::printObject({{"format", "veeline-machine"},
                       {"version", 1},
                       {"cpu", getCpuName()},
                       {"cores", countUsableCores()},
                       {"memory_bytes", getAllowedMemory().value_or(0)},
                       {"library", productLibrary()},
                       {"libraries", std::move(libraries)},
                       {"devices", std::move(devices)}});
}

void driver::describeMachine(const compiler::DoctorCommand &command,
                             const std::string &compilerProblem) {
  Inventory inventory = takeInventory(command.libraries, libraryDirectory());
  inventory.libraries.insert(
      inventory.libraries.begin(),
      {"compiler", "", compilerProblem + "; install veeline-tools",
       "models and artifacts can neither be compiled nor inspected"});
  if (command.json)
    printJson(inventory);
  else
    printText(inventory);
}
