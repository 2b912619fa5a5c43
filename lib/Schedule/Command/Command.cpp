//===- Command.cpp - the `veeline schedule` subcommand --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only file of the library that includes CLI11, which throws; nothing of
// that leaves this file.
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Command.h"

#include "Request.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <unistd.h>

using namespace veeline::schedule;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static void addProblemOptions(CLI::App &command, CommandOptions &options) {
  command.add_option("--stages", options.stages, "Number of stages, p");
  command.add_option(
      "--chunks-per-stage", options.chunksPerStage,
      "Chunks of each stage, v (default: the least the schedule takes)");
  command.add_option("--microbatches", options.microbatches,
                     "Microbatches of a step, m");
  CLI::Option *cost =
      command.add_option("--cost", options.cost,
                         "Time of a whole stage for one microbatch, as "
                         "F=<t>,B=<t>,W=<t>, shared evenly by its chunks "
                         "(default: F=1,B=1,W=1)");
  CLI::Option *chunkCost =
      command
          .add_option("--chunk-cost", options.chunkCost,
                      "Time of one chunk instead, as F=<t>,B=<t>,W=<t>")
          ->excludes(cost);
  CLI::Option *costFile =
      command
          .add_option("--cost-file", options.costFile,
                      "File with the times of one chunk on each line, as "
                      "F B W, and perhaps the memory that F and B add")
          ->excludes(cost)
          ->excludes(chunkCost);
  command
      .add_option("--from", options.from,
                  "Compiled model (.vee) to take costs, edges and bytes from")
      ->excludes(cost)
      ->excludes(chunkCost)
      ->excludes(costFile);
  command.add_option("--transfer", options.transfer,
                     "Time of a transfer between two stages (default: 0)");
  command
      .add_option("--transfers", options.transfers,
                  "How messages pass: buffered (default), while both stages "
                  "compute; rendezvous, both wait for each other and for the "
                  "message")
      ->check(CLI::IsMember({"buffered", "rendezvous"}))
      ->option_text("buffered|rendezvous");
  command.add_flag("--contention", options.contention,
                   "The link from one stage to another carries one message at "
                   "a time");
  command.add_option("--activation", options.activation,
                     "Memory that a stage's operations add, in activation "
                     "units (default: F=1,B=0,W=-1)");
  command.add_option("--memory-limit", options.memoryLimit,
                     "Memory limit of every stage, or one for each with "
                     "commas: in activation units; with --from in bytes, as "
                     "512MiB");
  command.add_option("--message-bytes", options.messageBytes,
                     "Bytes of a message between two stages, as 16MiB");
  command
      .add_option("--layers", options.layers,
                  "Layers of a stage, for the memory that --explain computes "
                  "with and without recomputing them")
      ->check(CLI::Range(0.0, 1e6));
  command.add_option("--layer-bytes", options.layerBytes,
                     "Bytes that one layer keeps of one microbatch");
}

static void addGeneratorOptions(CLI::App &command, CommandOptions &options) {
  command
      .add_option("--objective", options.objective,
                  "What to make small, where the schedule has a choice: "
                  "makespan (default), or span, the longest time of one stage")
      ->check(CLI::IsMember({"makespan", "span"}))
      ->option_text("makespan|span");
  command.add_flag("--overlap-blocks", options.overlapBlocks,
                   "Pair forwards and backwards to blocks that run together, "
                   "where the schedule can");
  command.add_option("--overlap", options.overlap,
                     "Share of the shorter operation of such a block that the "
                     "longer one hides, 0 to 1 (default: 0)");
  command
      .add_option("--time-budget", options.timeBudget,
                  "Seconds that a schedule may search (default: 1)")
      ->check(CLI::Range(0.0, 1e6));
  command.add_option("--seed", options.seed,
                     "Seed of its choices (default: 0)");
}

static void addOutputOptions(CLI::App &command, CommandOptions &options) {
  command.add_option("-o,--output", options.outputs,
                     "File to write, by its ending: .txt, .csv (PyTorch's "
                     "loader), .json, .svg, .html, .trace.json (Perfetto); "
                     "may be repeated");
  command.add_option("--against", options.against,
                     "Second schedule, shown beside the first in .html files "
                     "and after it in the terminal");
  command.add_flag("--memory-curves", options.memoryCurves,
                   "Draw each stage's memory in .svg files (.html pages "
                   "always have it)");
  command
      .add_option("--show", options.view,
                  "What to print above the summary: timeline (default), "
                  "order, or nothing")
      ->check(CLI::IsMember({"timeline", "order", "nothing"}))
      ->option_text("timeline|order|nothing");
  command.add_flag("--explain", options.explain,
                   "Say where the figures come from");
  command
      .add_option("--width", options.width,
                  "Columns to print in (default: 100)")
      ->check(CLI::Range(40, 10000));
  command
      .add_option("--color", options.color,
                  "Colours: auto (default), on a terminal; always; never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->option_text("auto|always|never");
}

static std::shared_ptr<CommandOptions> addOptions(CLI::App &command) {
  auto options = std::make_shared<CommandOptions>();
  command.add_flag("--list", options->list, "List the schedules");
  CLI::Option *schedule = command.add_option(
      "--schedule", options->schedule,
      "Name of the schedule, or file:PATH with an order in .csv or .json: " +
          knownSchedules());
  command
      .add_option("--compare", options->compare,
                  "Instead of one: all schedules side by side, or those "
                  "named with commas")
      ->option_text("all|NAMES")
      ->excludes(schedule);
  addProblemOptions(command, *options);
  addGeneratorOptions(command, *options);
  addOutputOptions(command, *options);
  return options;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

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

static int fail(const Error &error, int code, std::ostream &err) {
  err << "veeline: error: " << error.str() << "\n";
  if (code == ExitUsage)
    err << "try 'veeline schedule --help'\n";
  return code;
}

static bool wantsColor(const CommandOptions &options, std::ostream &out) {
  if (options.color != "auto")
    return options.color == "always";
  const char *no = std::getenv("NO_COLOR");
  return &out == &std::cout && ::isatty(STDOUT_FILENO) && !(no && *no);
}

static std::string textOf(const Answer &answer, const CommandOptions &options) {
  View view = options.view == "order"      ? View::Order
              : options.view == "timeline" ? View::Timeline
                                           : View::Summary;
  const auto &[problem, schedule, simulation] = answer.solution;
  return toText(problem, schedule, simulation,
                {view, options.width, answer.seconds});
}

static std::string contents(Format format, const std::vector<Solution> &shown,
                            const Answer &first,
                            const CommandOptions &options) {
  const Solution &solution = shown.front();
  switch (format) {
  case Format::Text:
    return textOf(first, options);
  case Format::Csv:
    return toCsv(solution.problem, solution.schedule);
  case Format::Json:
    return toJson(solution);
  case Format::Svg:
    return toSvg(solution, {options.memoryCurves});
  case Format::Html:
    return toHtml(shown);
  case Format::Trace:
    return toChromeTrace(solution);
  }
  return {};
}

static Status writeOutputs(const std::vector<Answer> &answers,
                           const CommandOptions &options) {
  if (options.outputs.empty())
    return Status::success();
  std::vector<Solution> shown;
  shown.reserve(answers.size());
  for (const Answer &answer : answers)
    shown.push_back(answer.solution);
  for (const std::string &path : options.outputs) {
    Expected<Format> format = formatOf(path);
    if (!format)
      return format.takeError();
    if (Status status =
            writeFile(path, contents(*format, shown, answers.front(), options));
        !status)
      return status;
  }
  return Status::success();
}

static int runCompare(Request &request, const CommandOptions &options,
                      std::ostream &out, std::ostream &err) {
  if (!options.outputs.empty() || !options.against.empty() || options.explain ||
      options.memoryCurves)
    return fail({ErrorKind::InvalidProblem,
                 "--compare prints a table; -o, --against, --explain and "
                 "--memory-curves go with --schedule"},
                ExitUsage, err);
  Expected<std::string> table = compare(request, options.compare);
  if (!table)
    return fail(table.error(), ExitUsage, err);
  out << *table;
  return ExitSuccess;
}

/// Whether what the options say about files has a file to be about.
static Status checkOutputs(const CommandOptions &options) {
  bool hasCurves = false;
  for (const std::string &path : options.outputs) {
    Expected<Format> format = formatOf(path);
    if (!format)
      return format.takeError();
    hasCurves |= *format == Format::Svg || *format == Format::Html;
  }
  if (options.memoryCurves && !hasCurves)
    return Error{ErrorKind::InvalidProblem,
                 "--memory-curves draws in .svg files, and .html pages have "
                 "them; there is no -o of either"};
  return Status::success();
}

static int runSchedules(const Request &request, const CommandOptions &options,
                        std::ostream &out, std::ostream &err) {
  if (Status status = checkOutputs(options); !status)
    return fail(status.error(), ExitUsage, err);
  std::vector<std::string> names{request.schedule()};
  if (!options.against.empty())
    names.push_back(options.against);
  std::vector<Answer> answers;
  for (const std::string &name : names) {
    Expected<Task> task = request.task(name);
    if (!task)
      return fail(task.error(), ExitUsage, err);
    Expected<Answer> answer = request.solve(std::move(*task));
    if (!answer)
      return fail(answer.error(), ExitFailure, err);
    answers.push_back(std::move(*answer));
  }
  if (Status status = writeOutputs(answers, options); !status)
    return fail(status.error(), ExitFailure, err);
  for (const Answer &answer : answers) {
    for (const std::string &warning : answer.solution.schedule.warnings)
      err << "veeline: warning: " << warning << "\n";
    std::string text = textOf(answer, options);
    out << (&answer == &answers.front() ? "" : "\n")
        << (wantsColor(options, out) ? colored(text, answer.solution.schedule)
                                     : text);
    if (options.explain)
      out << explain(answer, request);
  }
  return ExitSuccess;
}

static int runCommand(const CommandOptions &options, std::ostream &out,
                      std::ostream &err) {
  if (options.list) {
    printList(out);
    return ExitSuccess;
  }
  Expected<Request> request = Request::get(options);
  if (!request)
    return fail(request.error(), ExitUsage, err);
  int code = options.compare.empty() ? runSchedules(*request, options, out, err)
                                     : runCompare(*request, options, out, err);
  out.flush();
  if (code == ExitSuccess && !out)
    return fail({ErrorKind::InvalidProblem, "cannot write the output"},
                ExitFailure, err);
  return code;
}

static constexpr const char *description =
    "Generate, check, simulate, compare and draw pipeline schedules";

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
    return fail({ErrorKind::InvalidProblem, exception.what()}, ExitUsage, err);
  }
}
