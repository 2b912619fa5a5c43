//===- Inspect.cpp - veeline inspect --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "veeline/Analysis/Pieces.h"
#include "veeline/Autodiff/Loops.h"
#include "veeline/Compiler/Compiler.h"
#include "veeline/Compiler/MachineChoice.h"
#include "veeline/Compiler/Report.h"
#include "veeline/Dialect/Pipe/Transforms/ChunkCosts.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/Transforms.h"
#include "veeline/Pipelines/Pipelines.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include "veeline/Base/File.h"
#include "veeline/Base/Suggest.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;

/// Whether the model can be differentiated. An op without a derivative is
/// reported at its place. Also true for a model that cannot be cut as it is,
/// for example because its length is unbounded: nothing is known about it.
static bool isDifferentiable(ModuleOp module, const std::string &entry) {
  OwningOpRef<ModuleOp> copy = module.clone();
  CompileOptions options;
  options.entry = entry;
  {
    ScopedDiagnosticHandler silent(module.getContext(),
                                   [](Diagnostic &) { return success(); });
    if (failed(runPhase(*copy, [&](OpPassManager &passManager) {
          buildPartitionPipeline(passManager, options);
        })))
      return true;
  }
  return succeeded(runPhase(*copy, [](OpPassManager &passManager) {
    passManager.addPass(pipe::createPipeDifferentiate());
  }));
}

/// Gives a model with a dynamic dimension the length for which it is printed.
static LogicalResult bindLength(ModuleOp module,
                                const InspectCommand &command) {
  if (!command.lengthBound)
    return success();
  pipe::PipeBindLengthsOptions lengths;
  lengths.entry = command.import.entry;
  lengths.bound = lengths.multiple = command.lengthBound;
  return runPhase(module, [&](OpPassManager &passManager) {
    passManager.addPass(pipe::createPipeBindLengths(lengths));
  });
}

static void printJson(func::FuncOp model, const InspectCommand &command,
                      const MachineTable *table) {
  llvm::json::Value source = nullptr;
  if (table)
    source = command.machineTable.path;
  llvm::json::Object object{
      {"format", "veeline-pieces"},
      {"version", 1},
      {"model", model.getSymName()},
      {"machine_table", std::move(source)},
      {"pieces", getPiecesAsJson(model, command.finePieces, table)}};
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(object)))
               << '\n';
}

static LogicalResult inspectModel(InspectCommand command) {
  Model model;
  if (failed(chooseMachineTable(command)) || failed(model.load(command.file)) ||
      failed(model.import(command.import)) ||
      failed(bindLength(model.getModule(), command)))
    return failure();
  FailureOr<func::FuncOp> entry =
      pipe::findModel(model.getModule(), command.import.entry);
  if (failed(entry))
    return failure();
  bool hasGradient = isDifferentiable(model.getModule(), command.import.entry);
  if (failed(autodiff::prepareModel(*entry)) ||
      failed(pipe::verifyModel(*entry)))
    return failure();
  const MachineTableOption &option = command.machineTable;
  auto table = pipe::readMachineTable(*entry, option.path);
  if (failed(table))
    return failure();
  bool isReached = succeeded(pipe::verifyGradients(*entry));
  const MachineTable *times = *table ? &**table : nullptr;
  if (command.json) {
    printJson(*entry, command, times);
  } else {
    printPieces(*entry, llvm::outs(), command.finePieces, times);
    printSource(llvm::outs(), /*profile=*/"", option.path, option.date,
                /*sharedCores=*/"", /*isOnDevice=*/false);
  }
  if (hasGradient && isReached)
    return success();
  return printError("'" + command.file + "' cannot be trained: " +
                    (isReached ? "the op above has no derivative"
                               : "no gradient reaches its parameters"));
}

static LogicalResult refuseProgram(const InspectCommand &command,
                                   const artifact::Metadata &metadata) {
  std::vector<std::string> names;
  names.reserve(metadata.programs.size());
  for (const artifact::Program &program : metadata.programs)
    names.push_back(program.name);
  return printError("'" + command.file + "' has no program '" +
                    command.program + "', it has " + joinNames(names));
}

/// The chosen program, or else the one that is trained, or the only one. Null
/// if there is none of these.
static FailureOr<const artifact::Program *>
chooseProgram(const InspectCommand &command,
              const artifact::Metadata &metadata) {
  if (!command.program.empty()) {
    const artifact::Program *program = metadata.findProgram(command.program);
    if (!program)
      return refuseProgram(command, metadata);
    return program;
  }
  const artifact::Program *program = metadata.findProgram("pipeline");
  if (!program && metadata.programs.size() == 1)
    program = &metadata.programs.front();
  return program;
}

/// Prints the tables that are asked for as one object, or else the metadata.
static void printJson(const InspectCommand &command,
                      const artifact::Metadata &metadata,
                      const artifact::Program *program) {
  llvm::json::Object tables;
  if (command.parameters)
    tables["parameters"] = getParametersAsJson(metadata);
  if (command.kernels)
    tables["kernels"] = getKernelsAsJson(*metadata.device);
  if (program && command.schedule)
    tables["schedule"] = getScheduleAsJson(*program);
  if (program && command.communication)
    tables["communication"] = getCommunicationAsJson(*program);
  if (program && command.memory)
    tables["memory"] = getMemoryAsJson(*program);
  if (tables.empty()) {
    // The metadata itself is the content of an artifact, whose version is
    // elsewhere.
    std::string members = artifact::toJson(metadata);
    llvm::outs() << "{\n  \"format\": \"veeline-metadata\",\n"
                    "  \"version\": 1,"
                 << llvm::StringRef(members).drop_front() << '\n';
    return;
  }
  tables["format"] = "veeline-inspection";
  tables["version"] = 1;
  tables["model"] = llvm::json::fixUTF8(metadata.model);
  tables["program"] = program ? llvm::json::Value(program->name) : nullptr;
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(tables)))
               << '\n';
}

static void printTables(const InspectCommand &command,
                        const artifact::Metadata &metadata,
                        const artifact::Program *program) {
  printSummary(llvm::outs(), command.file, metadata);
  auto print = [](bool isChosen, auto print, const auto &what) {
    if (!isChosen)
      return;
    llvm::outs() << '\n';
    print(llvm::outs(), what);
  };
  print(command.parameters, printParameters, metadata);
  if (command.kernels)
    print(true, printKernels, *metadata.device);
  if (!program)
    return;
  print(command.schedule, printSchedule, *program);
  print(command.communication, printCommunication, *program);
  print(command.memory, printMemory, *program);
}

static LogicalResult inspectArtifact(const InspectCommand &command) {
  auto artifact = artifact::readArtifact(command.file);
  if (!artifact.ok())
    return printError(artifact.message());
  const artifact::Metadata &metadata = artifact->metadata;
  FailureOr<const artifact::Program *> program =
      chooseProgram(command, metadata);
  if (failed(program))
    return failure();
  if (command.kernels && !metadata.device)
    return printError("'" + command.file + "' has no kernels: its target is " +
                      metadata.target);
  if (*program && !command.memorySvg.empty()) {
    Status status =
        writeFileAtomically(command.memorySvg, drawMemory(**program));
    if (!status.ok())
      return printError(status.message());
  }
  if (command.json)
    printJson(command, metadata, *program);
  else
    printTables(command, metadata, *program);
  return success();
}

int veeline::compiler::inspectMain(int argc, const char *const *argv) {
  Parsed<InspectCommand> parsed = parseInspect(argc, argv);
  if (!parsed.command)
    return parsed.exitCode;
  const InspectCommand &command = *parsed.command;
  LogicalResult result =
      command.isModel ? inspectModel(command) : inspectArtifact(command);
  return failed(result) ? 1 : 0;
}
