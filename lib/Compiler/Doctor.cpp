//===- Doctor.cpp - veeline doctor ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calibration.h"
#include "Diagnostics.h"

#include "veeline/Compiler/Compiler.h"
#include "veeline/Compiler/MachineChoice.h"
#include "veeline/Schedule/Result.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include "veeline/Base/File.h"
#include "veeline/Base/ProcessLimits.h"
#include "veeline/Base/Text.h"
#include "veeline/gemm.h"

#include <algorithm>
#include <ctime>
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

static void printMachine() {
  int64_t bytes = getAllowedMemory().value_or(0);
  llvm::outs() << "CPU      " << getCpuName() << ", "
               << counted(countUsableCores(), "core") << '\n'
               << llvm::formatv("memory   {0:f1} GiB\n",
                                bytes / double(1 << 30))
               << "library  " << productLibrary()
               << ", for matrix products and convolutions\n";
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

/// Prints the machine and the table as docs/tools.md describes.
static void printJson(const std::string &path,
                      const std::optional<MachineTable> &table) {
  llvm::json::Object object{{"version", 1},
                            {"cpu", getCpuName()},
                            {"cores", countUsableCores()},
                            {"memory_bytes", getAllowedMemory().value_or(0)},
                            {"library", productLibrary()},
                            {"table_path", path},
                            {"table", nullptr}};
  if (table)
    object["table"] = llvm::json::Object{
        {"cpu", table->cpu}, {"cores", table->cores}, {"date", table->date}};
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(object)))
               << '\n';
}

/// Prints the properties of this machine, and the table at `path` if there is
/// one. Fails after a message.
static mlir::LogicalResult report(const DoctorCommand &command,
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
    printJson(path, table);
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
  return status.ok() ? report(command, path) : printError(status.message());
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
  if (!command.json)
    printMachine();
  if (!command.calibrate)
    return failed(report(command, path));
  catchInterrupts();
  return failed(writeTable(command, path));
}
