//===- ExportCommand.cpp - `veeline export` -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Json.h"

#include "Checkpoint.h"
#include "veeline/Base/CommandLine.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

using namespace veeline;

namespace {
struct ExportCommand {
  std::string checkpoint, output, names, dataType;
  std::string layout = "init";
  bool json = false;
};
} // namespace

static Expected<data::ExportOptions> getOptions(const ExportCommand &command) {
  data::ExportOptions options;
  options.asModel = command.layout == "model";
  if (!command.dataType.empty())
    options.type = artifact::parseDataType(command.dataType);
  if (!command.names.empty()) {
    VEELINE_TRY_VALUE(options.names, data::NameMap::open(command.names));
  }
  return options;
}

static Status exportCheckpoint(const ExportCommand &command) {
  VEELINE_TRY_VALUE(data::ExportOptions options, getOptions(command));
  VEELINE_TRY_VALUE(std::unique_ptr<data::Checkpoint> checkpoint,
                    data::Checkpoint::open(command.checkpoint));
  VEELINE_TRY(data::exportParameters(*checkpoint, command.output, options));
  const data::CheckpointIndex &index = checkpoint->index();
  bool isAsInit =
      !options.asModel && !index.params.empty() && index.params[0].inFile;
  if (command.json) {
    driver::printObject({{"format", "veeline-export"},
                         {"version", 1},
                         {"file", command.output},
                         {"model", index.model},
                         {"step", index.step},
                         {"parameters", index.params.size()},
                         {"as_init", isAsInit}});
    return Status::success();
  }
  std::printf("%s: %zu parameters of '%s' after step %ld%s\n",
              command.output.c_str(), index.params.size(), index.model.c_str(),
              long(index.step),
              isAsInit ? ", as in the file that training began with" : "");
  return Status::success();
}

static int runExport(const ExportCommand &command) {
  driver::catchInterrupts();
  Status status = exportCheckpoint(command);
  if (!status.ok())
    commandline::printError(status.message());
  return status.ok() ? 0 : 1;
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
      .add_option("--layout", command->layout,
                  "Names, types and order of dimensions: those of the file of "
                  "train --init, if training began with one, or the model's")
      ->capture_default_str()
      ->check(CLI::IsMember({"init", "model"}));
  subcommand
      .add_option(
          "--names", command->names,
          "A file of the names to write, in the form of train --init-names")
      ->type_name("FILE")
      ->check(commandline::checkFileName);
  subcommand
      .add_option("--dtype", command->dataType,
                  "The type to write, rounding to the nearest number [default: "
                  "those of --layout]")
      ->check(CLI::IsMember({"f32", "f64", "bf16", "f16"}));
  subcommand.add_flag("--json", command->json,
                      "Print what was written as JSON");
  return [command] { return runExport(*command); };
}
