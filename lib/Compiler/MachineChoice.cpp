//===- MachineChoice.cpp - which table times are taken from ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Compiler/MachineChoice.h"

#include "veeline/Analysis/MachineTable.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;

namespace {
struct Choice {
  std::string path, date;
};
} // namespace

static FailureOr<Choice> useNamed(const std::string &path) {
  llvm::Expected<MachineTable> table = MachineTable::read(path);
  if (table)
    return Choice{path, table->date};
  llvm::WithColor::error(llvm::errs(), "veeline")
      << "--machine-table '" << path
      << "': " << llvm::toString(table.takeError()) << '\n';
  return failure();
}

/// Nobody asked for it: what is wrong with it stops nothing.
static Choice useCached(bool quiet) {
  std::string path = getDefaultMachinePath();
  if (path.empty() || !llvm::sys::fs::exists(path))
    return {};
  llvm::Expected<MachineTable> table = MachineTable::read(path);
  if (!table) {
    llvm::WithColor::warning(llvm::errs(), "veeline")
        << "the machine table '" << path
        << "' is not used: " << llvm::toString(table.takeError()) << '\n';
    return {};
  }
  if (table->cpu == getCpuName())
    return {path, table->date};
  if (!quiet)
    llvm::WithColor::remark(llvm::errs(), "veeline")
        << "the machine table '" << path << "' is not used: it is of '"
        << table->cpu << "', and this is '" << getCpuName()
        << "'; veeline doctor --calibrate measures this one\n";
  return {};
}

static FailureOr<Choice> choose(const CompileCommand &command) {
  const std::string &named = command.machineTable;
  if (named == "none" || command.target != "host" || !command.profile.empty())
    return Choice();
  if (!named.empty())
    return useNamed(named);
  return command.cpu == "native" ? useCached(command.quiet) : Choice();
}

LogicalResult veeline::compiler::chooseMachineTable(CompileCommand &command) {
  FailureOr<Choice> choice = choose(command);
  if (failed(choice))
    return failure();
  command.machineTable = choice->path;
  command.machineTableDate = choice->date;
  return success();
}
