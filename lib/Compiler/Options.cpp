//===- Options.cpp - the command lines of compile and inspect
//----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Compiler/Options.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <iostream>

using namespace veeline::compiler;

/// Runs `app` over the arguments; the exit code where the command is to stop.
static std::optional<int> parse(CLI::App &app, int argc,
                                const char *const *argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return app.exit(error, std::cout, std::cerr);
    std::cerr << "veeline: error: " << error.what() << "\ntry '"
              << app.get_name() << " --help'\n";
    return 2;
  }
  return std::nullopt;
}

static void addCompileOptions(CLI::App &app, CompileCommand &command) {
  app.add_option("model", command.model, "The model, textual MLIR")->required();
  app.add_option("-o,--output", command.output,
                 "The artifact (default: the model's name with .vee)");
  app.add_option("--entry", command.entry,
                 "The model function (default: the only public one)");
  app.add_option("--stages", command.stages, "Stages p, one rank each")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{4096}));
  app.add_option("--chunks-per-stage", command.chunksPerStage,
                 "Chunks of each stage v")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{4096}));
  app.add_option("--microbatches", command.microbatches,
                 "Microbatches of a step m")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20));
  app.add_option("--schedule", command.schedule, "Name of the schedule")
      ->capture_default_str();
  app.add_option("--placement", command.placement,
                 "linear, interleaved, v or wave (default: the schedule's)");
  app.add_option("--partition", command.pieces,
                 "Pieces of each chunk in model order, as 12,13,13,11 (see "
                 "veeline inspect --pieces; default: chosen by cost)")
      ->delimiter(',');
  app.add_option("--optimizer", command.optimizer,
                 "sgd, sgd-momentum or adamw: decides the memory of its state")
      ->capture_default_str();
  app.add_option("--cpu", command.cpu,
                 "CPU to generate code for, by LLVM's name (znver4, "
                 "x86-64-v3, ...), or native")
      ->capture_default_str();
  app.add_flag("!--no-reference", command.reference,
               "Leave the unpartitioned model out, which train --verify "
               "compares with");
  app.add_option("--dump-ir", command.dumpDirectory,
                 "Write the IR before and after memory planning to this "
                 "directory");
  app.add_flag("-q,--quiet", command.quiet, "Print nothing but errors");
}

Parsed<CompileCommand>
veeline::compiler::parseCompile(int argc, const char *const *argv) {
  CompileCommand command;
  CLI::App app("Compile a model into an artifact for veeline train",
               "veeline compile");
  addCompileOptions(app, command);
  if (std::optional<int> code = parse(app, argc, argv))
    return {std::nullopt, *code};
  if (command.output.empty())
    command.output =
        std::filesystem::path(command.model).replace_extension(".vee");
  return {command, 0};
}

Parsed<InspectCommand>
veeline::compiler::parseInspect(int argc, const char *const *argv) {
  InspectCommand command;
  CLI::App app("Print what is in a model or an artifact", "veeline inspect");
  app.add_option("file", command.file, "A model (.mlir) or an artifact")
      ->required();
  app.add_option("--entry", command.entry,
                 "The model function (default: the only public one)");
  app.add_flag("--pieces", command.pieces,
               "The pieces of a model, as --partition counts them");
  app.add_flag("--memory", command.memory, "The memory of each rank by kind");
  app.add_flag("--schedule", command.schedule, "The order of each rank");
  app.add_flag("--json", command.json, "The metadata of an artifact as JSON");
  if (std::optional<int> code = parse(app, argc, argv))
    return {std::nullopt, *code};
  return {command, 0};
}
