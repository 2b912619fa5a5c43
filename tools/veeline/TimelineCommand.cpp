//===- TimelineCommand.cpp - `veeline timeline` ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Json.h"

#include "Timeline.h"
#include "veeline/Base/CommandLine.h"
#include "veeline/Base/File.h"
#include "veeline/Base/Text.h"
#include "veeline/Page/Page.h"
#include "veeline/artifact.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

using namespace veeline;

namespace {
struct TimelineCommand {
  std::vector<std::string> inputs;
  std::string output;
  bool json = false;
};
} // namespace

/// The predicted step of the program that trains or, if there is none, of the
/// one that evaluates.
static Expected<std::string> predictedOf(const std::string &path) {
  VEELINE_TRY_VALUE(artifact::Artifact artifact, artifact::readArtifact(path));
  const artifact::Metadata &metadata = artifact.metadata;
  const artifact::Program *program = metadata.findProgram("pipeline");
  if (!program)
    program = metadata.findProgram("evaluation");
  if (!program)
    return Status::error("'" + path +
                         "' has no program that trains or "
                         "evaluates");
  VEELINE_TRY_VALUE(artifact::Program all,
                    artifact::withAllReplicas(*program, "stages-first"));
  page::Graph graph = engine::toGraph(metadata, all, {});
  if (graph.times.empty())
    return Status::error("'" + path +
                         "' has no predicted times; veeline train --timeline "
                         "FILE.html writes measured ones");
  return page::encode(graph);
}

static Expected<std::vector<std::string>> graphsOf(const std::string &path) {
  if (!artifact::isArtifact(path))
    return page::readPage(path);
  VEELINE_TRY_VALUE(std::string graph, predictedOf(path));
  return std::vector<std::string>{std::move(graph)};
}

static Status writeTimelines(const TimelineCommand &command) {
  std::vector<std::string> graphs;
  for (const std::string &path : command.inputs) {
    VEELINE_TRY_VALUE(std::vector<std::string> found, graphsOf(path));
    for (std::string &graph : found)
      graphs.push_back(std::move(graph));
  }
  VEELINE_TRY(writeFileAtomically(command.output, page::toPage(graphs)));
  std::string names;
  nlohmann::json panels = nlohmann::json::array();
  for (const std::string &graph : graphs) {
    panels.push_back(page::describe(graph));
    names += (names.empty() ? "" : ", ") + page::describe(graph);
  }
  if (command.json) {
    driver::printObject({{"format", "veeline-timeline"},
                         {"version", 1},
                         {"file", command.output},
                         {"panels", std::move(panels)}});
    return Status::success();
  }
  std::printf("%s: %s\n", command.output.c_str(), printable(names).c_str());
  return Status::success();
}

static int runTimeline(const TimelineCommand &command) {
  driver::catchInterrupts();
  Status status = writeTimelines(command);
  if (status.ok())
    return 0;
  commandline::printError(status.message());
  return 1;
}

static std::string checkPageName(const std::string &path) {
  return page::isPagePath(path) ? "" : "'" + path + "' does not end in .html";
}

std::function<int()> driver::addTimelineCommand(CLI::App &app) {
  auto command = std::make_shared<TimelineCommand>();
  CLI::App &subcommand = *app.add_subcommand(
      "timeline", "Join predicted and measured steps in one page");
  subcommand
      .add_option("inputs", command->inputs,
                  "Artifacts, whose predicted step is shown, and pages: of "
                  "schedule -o FILE.html, of train or eval --timeline "
                  "FILE.html, or of this command")
      ->required()
      ->type_name("ARTIFACT|PAGE")
      ->check(commandline::checkFileName);
  subcommand
      .add_option("-o,--output", command->output, "The page, a .html file")
      ->required()
      ->type_name("FILE")
      ->check(commandline::checkFileName)
      ->check(checkPageName, "");
  subcommand.add_flag("--json", command->json,
                      "Print what is on the page as JSON");
  return [command] { return runTimeline(*command); };
}
