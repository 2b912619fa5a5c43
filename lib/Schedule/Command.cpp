//===- Command.cpp - the `veeline schedule` subcommand --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only file of the library that includes CLI11, which throws; nothing of
// that leaves this file.
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Command.h"

#include "veeline/Schedule/Generators.h"
#include "veeline/Schedule/ProblemOptions.h"
#include "veeline/Schedule/Text.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

using namespace veeline::schedule;

namespace {
/// The options as the command line gives them.
struct CommandOptions {
  bool list = false;
  std::string schedule;
  int stages = 0, chunksPerStage = 0, microbatches = 0;
  std::string cost, chunkCost, activation;
  double transfer = 0, memoryLimit = 0;
  std::string objective = "makespan", view = "timeline";
  int width = TextOptions().width;
  /// Whether these were given: every number is a valid limit.
  CLI::Option *givenStages, *givenChunksPerStage, *givenMicrobatches,
      *givenMemoryLimit;
};
} // namespace

static std::string knownNames() {
  std::string names;
  for (const Generator &generator : generators()) {
    names += names.empty() ? "" : ", ";
    names += generator.name;
  }
  return names;
}

static std::shared_ptr<CommandOptions> addOptions(CLI::App &command) {
  auto options = std::make_shared<CommandOptions>();
  command.add_flag("--list", options->list, "List the schedules");
  command.add_option("--schedule", options->schedule,
                     "Name of the schedule: " + knownNames());
  options->givenStages =
      command.add_option("--stages", options->stages, "Number of stages, p");
  options->givenChunksPerStage = command.add_option(
      "--chunks-per-stage", options->chunksPerStage,
      "Chunks of each stage, v (default: the least the schedule takes)");
  options->givenMicrobatches = command.add_option(
      "--microbatches", options->microbatches, "Microbatches of a step, m");
  CLI::Option *cost =
      command.add_option("--cost", options->cost,
                         "Time of a whole stage for one microbatch, as "
                         "F=<t>,B=<t>,W=<t>, shared evenly by its chunks "
                         "(default: F=1,B=1,W=1)");
  command
      .add_option("--chunk-cost", options->chunkCost,
                  "Time of one chunk instead, as F=<t>,B=<t>,W=<t>")
      ->excludes(cost);
  command.add_option("--transfer", options->transfer,
                     "Time of a transfer between two stages (default: 0)");
  command.add_option("--activation", options->activation,
                     "Memory that a stage's operations add, in activation "
                     "units (default: F=1,B=0,W=-1)");
  options->givenMemoryLimit =
      command.add_option("--memory-limit", options->memoryLimit,
                         "Memory limit of every stage, in activation units");
  command
      .add_option("--objective", options->objective,
                  "What to make small, where the schedule has a choice: "
                  "makespan (default), or span, the longest time of one stage")
      ->check(CLI::IsMember({"makespan", "span"}))
      ->option_text("makespan|span");
  command
      .add_option("--show", options->view,
                  "What to print above the summary: timeline (default), "
                  "order, or nothing")
      ->check(CLI::IsMember({"timeline", "order", "nothing"}))
      ->option_text("timeline|order|nothing");
  command
      .add_option("--width", options->width,
                  "Columns to print in (default: 100)")
      ->check(CLI::Range(40, 10000));
  return options;
}

static void printList(std::ostream &out) {
  for (const Generator &generator : generators()) {
    constexpr std::size_t column = 28;
    std::string name(generator.name);
    name.resize(std::max(column, name.size() + 1), ' ');
    out << name << generator.summary << "\n"
        << std::string(column, ' ') << "placement "
        << (generator.anyPlacement ? "any" : toString(generator.placement))
        << "; " << generator.paper << "\n";
  }
}

static Error usage(std::string message) {
  return Error{ErrorKind::InvalidProblem, std::move(message)};
}

/// Parses the value of an option if it was given.
template <typename T>
static Status parseInto(const std::string &text, const char *option,
                        T &values) {
  if (text.empty())
    return Status::success();
  Expected<OpValues> parsed = parseOpValues(text);
  if (!parsed)
    return usage(std::string(option) + ": " + parsed.error().message);
  values = *parsed;
  return Status::success();
}

static Expected<ProblemOptions> toProblemOptions(const CommandOptions &given) {
  if (given.schedule.empty())
    return usage("--schedule is missing; known schedules are " + knownNames());
  if (given.givenStages->count() == 0)
    return usage("--stages is missing");
  if (given.givenMicrobatches->count() == 0)
    return usage("--microbatches is missing");
  ProblemOptions options;
  options.schedule = given.schedule;
  options.stages = given.stages;
  if (given.givenChunksPerStage->count() > 0)
    options.chunksPerStage = given.chunksPerStage;
  options.microbatches = given.microbatches;
  options.transfer = given.transfer;
  if (given.givenMemoryLimit->count() > 0)
    options.memoryLimit = given.memoryLimit;
  for (Status status :
       {parseInto(given.cost, "--cost", options.cost),
        parseInto(given.chunkCost, "--chunk-cost", options.chunkCost),
        parseInto(given.activation, "--activation", options.activation)})
    if (!status)
      return status.takeError();
  return options;
}

static int fail(const Error &error, int code, std::ostream &err) {
  err << "veeline schedule: " << error.str() << "\n";
  return code;
}

static int runCommand(const CommandOptions &given, std::ostream &out,
                      std::ostream &err) {
  if (given.list) {
    printList(out);
    return ExitSuccess;
  }
  Expected<ProblemOptions> options = toProblemOptions(given);
  if (!options)
    return fail(options.error(), ExitUsage, err);
  Expected<Problem> problem = makeProblem(*options);
  if (!problem)
    return fail(problem.error(), ExitUsage, err);

  auto begin = std::chrono::steady_clock::now();
  Expected<Schedule> schedule = generate(
      options->schedule, *problem,
      {given.objective == "span" ? Objective::Span : Objective::Makespan});
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - begin;
  if (!schedule)
    return fail(schedule.error(), ExitFailure, err);
  Expected<Simulation> simulation = simulate(*problem, *schedule);
  if (!simulation)
    return fail(simulation.error(), ExitFailure, err);
  for (const std::string &warning : schedule->warnings)
    err << "veeline schedule: warning: " << warning << "\n";
  View view = given.view == "order"      ? View::Order
              : given.view == "timeline" ? View::Timeline
                                         : View::Summary;
  out << toText(*problem, *schedule, *simulation,
                {view, given.width, elapsed.count()});
  return ExitSuccess;
}

static constexpr const char *description =
    "Generate, check and simulate a pipeline schedule, without a model";

std::function<int(std::ostream &, std::ostream &)>
veeline::schedule::addScheduleCommand(CLI::App &app) {
  std::shared_ptr<CommandOptions> options =
      addOptions(*app.add_subcommand("schedule", description));
  return [options](std::ostream &out, std::ostream &err) {
    return runCommand(*options, out, err);
  };
}

int veeline::schedule::scheduleMain(int argc, const char *const *argv,
                                    std::ostream &out, std::ostream &err) {
  try {
    CLI::App app(description, "veeline schedule");
    std::shared_ptr<CommandOptions> options = addOptions(app);
    try {
      app.parse(argc, argv);
    } catch (const CLI::CallForHelp &) {
      out << app.help();
      return ExitSuccess;
    }
    return runCommand(*options, out, err);
  } catch (const std::exception &exception) {
    err << "veeline schedule: " << exception.what() << "\n";
    return ExitUsage;
  }
}
