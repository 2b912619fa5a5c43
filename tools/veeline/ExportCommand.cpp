//===- ExportCommand.cpp - `veeline export` -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "Checkpoint.h"
#include "veeline/Base/CommandLine.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

using namespace veeline;

namespace {
struct ExportCommand {
  std::string checkpoint, output, names;
};
} // namespace

static int runExport(const ExportCommand &command) {
  driver::catchInterrupts();
  Expected<data::NameMap> names = command.names.empty()
                                      ? data::NameMap()
                                      : data::NameMap::open(command.names);
  Expected<std::unique_ptr<data::Checkpoint>> checkpoint =
      names.ok() ? data::Checkpoint::open(command.checkpoint) : names.status();
  Status status =
      checkpoint.ok()
          ? data::exportParameters(**checkpoint, command.output, *names)
          : checkpoint.status();
  if (!status.ok()) {
    commandline::printError(status.message());
    return 1;
  }
  const data::CheckpointIndex &index = (*checkpoint)->index();
  std::printf("%s: %zu parameters of '%s' after step %ld\n",
              command.output.c_str(), index.params.size(), index.model.c_str(),
              long(index.step));
  return 0;
}

std::function<int()> driver::addExportCommand(CLI::App &app) {
  auto command = std::make_shared<ExportCommand>();
  CLI::App &subcommand = *app.add_subcommand(
      "export", "Write the parameters of a checkpoint as one file");
  subcommand
      .add_option("checkpoint", command->checkpoint,
                  "A checkpoint, or a folder of checkpoints, of which the last "
                  "one is taken")
      ->required()
      ->type_name("DIR");
  subcommand
      .add_option("-o,--output", command->output, "The .safetensors file")
      ->required()
      ->type_name("FILE")
      ->check(commandline::checkFileName);
  subcommand
      .add_option(
          "--names", command->names,
          "A file of the names to write, in the form of train --init-names")
      ->type_name("FILE")
      ->check(commandline::checkFileName);
  return [command] { return runExport(*command); };
}
