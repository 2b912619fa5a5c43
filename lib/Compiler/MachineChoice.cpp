//===- MachineChoice.cpp - choosing the machine's table -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Compiler/MachineChoice.h"
#include "Diagnostics.h"

#include "veeline/Analysis/MachineTable.h"
#include "llvm/Support/FileSystem.h"

#include "veeline/Base/ProcessLimits.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;

/// Chooses the table at `path`. Code for this CPU will run on the cores that
/// are available now, other code on those of the table's machine.
static MachineTableOption use(const std::string &path,
                              const MachineTable &table, bool isOfThisCpu) {
  bool runsHere = isOfThisCpu && table.cpu == getCpuName();
  return {path, table.date, runsHere ? countUsableCores() : table.cores};
}

static FailureOr<MachineTableOption> useNamed(const std::string &path,
                                              bool isOfThisCpu) {
  llvm::Expected<MachineTable> table = MachineTable::read(path);
  if (table)
    return use(path, *table, isOfThisCpu);
  return printError("--machine-table '" + path +
                    "': " + llvm::toString(table.takeError()));
}

/// The table in the user's cache. The user did not ask for it, so a bad table
/// is not an error.
static MachineTableOption useCached(bool quiet) {
  std::string path = getDefaultMachinePath();
  if (path.empty() || !llvm::sys::fs::exists(path))
    return {};
  llvm::Expected<MachineTable> table = MachineTable::read(path);
  if (!table) {
    printWarning("the machine table '" + path +
                 "' is not used: " + llvm::toString(table.takeError()));
    return {};
  }
  if (table->cpu == getCpuName())
    return use(path, *table, /*isOfThisCpu=*/true);
  if (!quiet)
    printRemark("the machine table '" + path + "' is not used: it is of '" +
                table->cpu + "', and this is '" + getCpuName() +
                "'; veeline doctor --calibrate measures this one");
  return {};
}

static LogicalResult choose(MachineTableOption &option, bool isOfThisCpu,
                            bool quiet) {
  if (option.path == "none") {
    option = {};
  } else if (!option.path.empty()) {
    FailureOr<MachineTableOption> named = useNamed(option.path, isOfThisCpu);
    if (failed(named))
      return failure();
    option = *named;
  } else if (isOfThisCpu) {
    option = useCached(quiet);
  }
  return success();
}

LogicalResult veeline::compiler::chooseMachineTable(CompileCommand &command) {
  bool isOfTable = command.target == "host" && command.profile.empty();
  if (!isOfTable) {
    command.machineTable = {};
    return success();
  }
  return choose(command.machineTable, command.cpu == "native", command.quiet);
}

LogicalResult veeline::compiler::chooseMachineTable(InspectCommand &command) {
  return choose(command.machineTable, /*isOfThisCpu=*/true, /*quiet=*/false);
}
