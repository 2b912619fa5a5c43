//===- Doctor.cpp - veeline doctor ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calibration.h"
#include "Diagnostics.h"

#include "veeline/Compiler/Compiler.h"
#include "veeline/Compiler/MachineChoice.h"
#include "veeline/Conversion/GpuTarget.h"
#include "veeline/Conversion/HostTarget.h"
#include "veeline/Import/StableHlo.h"
#include "veeline/Schedule/Result.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include "veeline/Base/File.h"
#include "veeline/Base/ProcessLimits.h"
#include "veeline/Base/Text.h"
#include "veeline/gemm.h"
#include "veeline/inventory.h"

#include <algorithm>
#include <ctime>
#include <dlfcn.h>
#include <optional>

using namespace veeline;
using namespace veeline::compiler;

static std::string getToday() {
  std::time_t now = std::time(nullptr);
  std::tm date;
  char text[16];
  gmtime_r(&now, &date);
  std::strftime(text, sizeof(text), "%Y-%m-%d", &date);
  return text;
}

/// The extensions of the instruction set that this CPU has and LLVM knows,
/// sorted.
static std::vector<std::string> getCpuFeatures() {
  std::vector<std::string> features;
  for (const auto &entry : llvm::sys::getHostCPUFeatures())
    if (entry.getValue())
      features.push_back(entry.getKey().str());
  llvm::sort(features);
  return features;
}

/// Those that decide how fast kernels and the library's products are.
static std::string summarizeFeatures() {
  static constexpr llvm::StringLiteral wanted[] = {
      "avx2",       "fma",        "avx512f",  "avx512bf16",
      "avx512fp16", "avx512vnni", "amx-tile", "amx-bf16",
      "neon",       "sve",        "sve2",     "bf16"};
  std::vector<std::string> features = getCpuFeatures();
  std::string text;
  for (llvm::StringRef name : wanted)
    if (llvm::is_contained(features, name))
      text += (text.empty() ? "" : ", ") + name.str();
  return text;
}

/// The directory of Veeline's modules, of which this code is one.
static std::string getModuleDirectory() {
  Dl_info info;
  if (!::dladdr(reinterpret_cast<const void *>(&getModuleDirectory), &info))
    return "";
  return llvm::sys::path::parent_path(info.dli_fname).str();
}

namespace {

/// The libraries and tools that `veeline` may use on this machine, and its
/// GPUs.
struct Machine : Inventory {
  explicit Machine(const DoctorCommand &command);
};

} // namespace

/// A tool of the compiler that is found, or is not.
static LibraryReport reportTool(const char *name, const char *loss,
                                llvm::Expected<std::string> found) {
  LibraryReport report{name, {}, {}, loss};
  if (found)
    report.version = *found;
  else
    report.problem = llvm::toString(found.takeError());
  return report;
}

Machine::Machine(const DoctorCommand &command) {
  libraries.push_back({"LLVM", LLVM_VERSION_STRING, {}, {}}); // And MLIR.
  libraries.push_back(
      reportTool("linker", "nothing can be compiled", findLinker({})));
  Inventory inventory = takeInventory(command.libraries, getModuleDirectory());
  devices = std::move(inventory.devices);
  llvm::append_range(libraries, inventory.libraries);
  GpuTargetOptions options;
  options.toolkit = command.cudaToolkit;
  libraries.push_back(reportTool(
      "toolkit",
      "programs for GPUs need --gpu-chips ptx, for the driver to compile",
      findToolkit(options)));
  std::string lowering = findStableHloOpt();
  libraries.push_back(
      {"StableHLO", lowering,
       lowering.empty() ? "there is no stablehlo-opt in PATH" : "",
       "models in StableHLO cannot be read"});
}

static void printMachine(const Machine &machine) {
  int64_t bytes = getAllowedMemory().value_or(0);
  std::string features = summarizeFeatures();
  llvm::outs() << "CPU      " << getCpuName() << ", "
               << counted(countUsableCores(), "core")
               << (features.empty() ? "" : "; ") << features << '\n'
               << llvm::formatv("memory   {0:f1} GiB\n",
                                bytes / double(1 << 30))
               << "library  " << productLibrary()
               << ", for matrix products and convolutions\n";
  llvm::outs() << toText(machine);
  llvm::outs().flush();
}

/// Prints whether there is a table at `path`, and which one.
static void printTable(const std::string &path,
                       const std::optional<MachineTable> &table) {
  llvm::outs() << "table    ";
  if (!table)
    llvm::outs() << "none at '" << path
                 << "'; veeline doctor --calibrate measures this machine\n";
  else
    llvm::outs() << "'" << path << "', "
                 << (table->cpu == getCpuName()
                         ? "of this machine"
                         : "of another CPU, '" + table->cpu + "'")
                 << ", " << counted(table->cores, "core") << ", " << table->date
                 << '\n';
}

/// Both, as docs/tools.md describes it.
static void printJson(const Machine &machine, const std::string &path,
                      const std::optional<MachineTable> &table) {
  llvm::json::Array libraries, devices;
  for (const LibraryReport &library : machine.libraries) {
    llvm::json::Object entry{{"name", library.name},
                             {"found", !library.version.empty()}};
    if (library.version.empty()) {
      entry["problem"] = llvm::json::fixUTF8(library.problem);
      entry["loss"] = library.loss;
    } else {
      entry["version"] = llvm::json::fixUTF8(library.version);
    }
    libraries.push_back(std::move(entry));
  }
  for (const DeviceReport &device : machine.devices)
    devices.push_back(llvm::json::Object{
        {"name", llvm::json::fixUTF8(device.name)}, {"chip", device.chip}});
  llvm::json::Object object{{"format", "veeline-machine"},
                            {"version", 1},
                            {"cpu", getCpuName()},
                            {"cpu_features", getCpuFeatures()},
                            {"cores", countUsableCores()},
                            {"memory_bytes", getAllowedMemory().value_or(0)},
                            {"library", productLibrary()},
                            {"libraries", std::move(libraries)},
                            {"devices", std::move(devices)},
                            {"table_path", path},
                            {"table", nullptr}};
  if (table)
    object["table"] = llvm::json::Object{
        {"cpu", table->cpu}, {"cores", table->cores}, {"date", table->date}};
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(object)))
               << '\n';
}

/// Prints which table there is at `path`; as JSON, together with what this
/// machine has. Fails after a message.
static mlir::LogicalResult report(const DoctorCommand &command,
                                  const Machine &machine,
                                  const std::string &path) {
  std::optional<MachineTable> table;
  if (llvm::sys::fs::exists(path)) {
    llvm::Expected<MachineTable> found = MachineTable::read(path);
    if (!found) {
      if (!command.json) {
        llvm::outs() << "table    '" << path << "' cannot be used\n";
        llvm::outs().flush();
      }
      return printError("'" + path + "': " + llvm::toString(found.takeError()));
    }
    table = std::move(*found);
  }
  if (command.json)
    printJson(machine, path, table);
  else
    printTable(path, table);
  return mlir::success();
}

static llvm::Expected<MachineTable> measureOn(int64_t cores) {
  MachineTable table;
  table.cpu = getCpuName();
  table.cores = countUsableCores();
  table.date = getToday();
  if (llvm::Error error = measureLibrary(table, cores))
    return std::move(error);
  if (llvm::Error error = measureLoops(table, cores))
    return std::move(error);
  measureMessages(table);
  return table;
}

static double mean(double a, double b) { return (a + b) / 2; }

/// Measures on one core, and on as many at once as possible.
static llvm::Expected<MachineTable> calibrate() {
  llvm::Expected<MachineTable> table = measureOn(1);
  if (!table)
    return table;
  llvm::Expected<MachineTable> together = measureOn(countMeasuredCores());
  if (!together)
    return together;
  table->together = countMeasuredCores();
  table->callNanoseconds =
      mean(table->callNanoseconds, together->callNanoseconds);
  table->wakeNanoseconds =
      mean(table->wakeNanoseconds, together->wakeNanoseconds);
  for (auto &[name, rates] : table->rates)
    for (auto [rate, other] : llvm::zip_equal(rates, together->rates[name]))
      rate.together = other.perNanosecond;
  return table;
}

/// Creates the directory of the default path. If the user named a file, its
/// directory must exist.
static std::error_code makeDirectory(const DoctorCommand &command,
                                     const std::string &path) {
  if (!command.output.empty())
    return {};
  return llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path));
}

static mlir::LogicalResult writeTable(const DoctorCommand &command,
                                      const Machine &machine,
                                      const std::string &path) {
  // This comes first, because measuring takes time.
  if (std::error_code code = makeDirectory(command, path))
    return printError("'" + llvm::sys::path::parent_path(path) +
                      "' cannot be made: " + code.message() +
                      "; name a file with --output, or another cache with "
                      "XDG_CACHE_HOME");
  AtomicFile file(path);
  Status status = file.open();
  if (!status.ok())
    return printError(status.message());
  llvm::Expected<MachineTable> table = calibrate();
  if (!table)
    return printError(llvm::toString(table.takeError()));
  status = file.write(table->toJson());
  if (status.ok())
    status = file.commit();
  return status.ok() ? report(command, machine, path)
                     : printError(status.message());
}

int veeline::compiler::doctorMain(int argc, const char *const *argv) {
  Parsed<DoctorCommand> parsed = parseDoctor(argc, argv);
  if (!parsed.command)
    return parsed.exitCode;
  const DoctorCommand &command = *parsed.command;
  std::string path =
      command.output.empty() ? getDefaultMachinePath() : command.output;
  if (path.empty())
    return failed(
        printError("there is no place for a table: neither XDG_CACHE_HOME nor "
                   "HOME names a directory; name a file with --output"));
  Machine machine(command);
  if (!command.json)
    printMachine(machine);
  if (!command.calibrate)
    return failed(report(command, machine, path));
  catchInterrupts();
  return failed(writeTable(command, machine, path));
}
