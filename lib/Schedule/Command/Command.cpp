//===- Command.cpp - the `veeline schedule` subcommand --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// This file and Options.cpp are the only ones of the library that include
// CLI11, which throws. No exception leaves them.
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Command/Command.h"

#include "Request.h"
#include "Table.h"
#include "veeline/Base/ProgressLine.h"
#include "veeline/Base/Text.h"
#include "veeline/Schedule/Formats/CommunicationCells.h"
#include "veeline/Schedule/Loop.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <unistd.h>

using namespace veeline;
using namespace veeline::schedule;

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
  auto pause = ProgressLine::pause();
  err << "veeline: error: " << printable(error.str()) << "\n";
  if (code == ExitUsage)
    err << "try 'veeline schedule --help'\n";
  return code;
}

static void warn(const std::vector<std::string> &warnings, std::ostream &err) {
  for (const std::string &warning : warnings)
    err << "veeline: warning: " << printable(warning) << "\n";
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
  std::string text = printable(
      toText(problem, schedule, simulation,
             {view, options.width, answer.seconds, answer.processorSeconds}));
  if (answer.task.keepsPlacement)
    text += "\n" + answer.task.name + " keeps placement " +
            toString(problem.placement.kind()) +
            " of the compiled model; --placement names another, --compare "
            "tries all\n";
  return text;
}

/// Flushes the output. Reports an error if it could not be written.
static int finish(std::ostream &out, std::ostream &err) {
  out.flush();
  if (out)
    return ExitSuccess;
  return fail(
      {ErrorKind::InvalidProblem, "standard output could not be written"},
      ExitFailure, err);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Checks that the options about files fit together.
static Status checkOutputs(const CommandOptions &options) {
  auto usage = [](std::string message) {
    return Error{ErrorKind::InvalidProblem, std::move(message)};
  };
  bool hasCurves = false;
  for (const std::string &path : options.outputs) {
    Expected<Format> format = formatOf(path);
    if (!format)
      return format.takeError();
    if (!options.memoryDial.empty() && !isDialFormat(*format))
      return usage(
          "--memory-dial writes a table, as .txt, .csv or .json, not '" + path +
          "'");
    if (std::count(options.outputs.begin(), options.outputs.end(), path) > 1)
      return usage("-o '" + path + "' is given twice");
    hasCurves |= *format == Format::Svg || *format == Format::Html;
  }
  if (options.memoryCurves && !hasCurves)
    return usage("--memory-curves draws in .svg files, and .html pages have "
                 "them; there is no -o of either");
  return Status::success();
}

/// Checks that the files can be written, before a long search for their
/// contents.
static Status tryOutputs(const CommandOptions &options) {
  for (const std::string &path : options.outputs)
    if (Status status = tryFile(path); !status)
      return status;
  return Status::success();
}

/// Writes the result of `contents` for each format.
static Status
writeOutputs(const CommandOptions &options,
             const std::function<Expected<std::string>(Format)> &contents) {
  for (const std::string &path : options.outputs) {
    Expected<Format> format = formatOf(path);
    if (!format)
      return format.takeError();
    Expected<std::string> text = contents(*format);
    if (!text)
      return text.takeError();
    if (Status status = writeFile(path, *text); !status)
      return status;
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Prints a table. If it has no schedule, the table itself says why.
static int print(const Report &report, std::ostream &out, std::ostream &err) {
  out << report.text;
  int code = finish(out, err);
  return report.hasSchedule || code != ExitSuccess ? code : ExitFailure;
}

static int runCompare(Request &request, bool asJson, std::ostream &out,
                      std::ostream &err) {
  Expected<Report> report = compare(request, asJson);
  return report ? print(*report, out, err)
                : fail(report.error(), ExitUsage, err);
}

static int runDial(const Request &request, const CommandOptions &options,
                   std::ostream &out, std::ostream &err) {
  Expected<Dial> dial = turnDial(request, options.memoryDial);
  if (!dial)
    return fail(dial.error(), ExitUsage, err);
  Report report = toReport(*dial, request);
  auto contents = [&](Format format) {
    return format == Format::Text  ? report.text
           : format == Format::Csv ? toCsv(*dial)
                                   : toJson(*dial, request);
  };
  if (Status status = writeOutputs(options, contents); !status)
    return fail(status.error(), ExitFailure, err);
  if (options.json)
    report.text = toJson(*dial, request);
  return print(report, out, err);
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

namespace {
/// An answer, and its text for the terminal: what --show says, and what other
/// options ask for.
struct Shown {
  Answer answer;
  std::string text, asked;
};
} // namespace

static Expected<std::string> contents(Format format,
                                      const std::vector<Shown> &shown,
                                      const CommandOptions &options) {
  const Solution &first = shown.front().answer.solution;
  // A cyclic schedule is drawn as a few steps.
  auto picture = [](const Solution &solution) {
    Expected<Solution> steps = drawn(solution);
    return steps ? *steps : solution;
  };
  switch (format) {
  case Format::Text: {
    std::string text;
    for (const Shown &one : shown)
      text += (text.empty() ? "" : "\n") + one.text + one.asked;
    return text;
  }
  case Format::Csv:
    return toCsv(first.problem, first.schedule);
  case Format::CommunicationCsv:
    return communication::toCommunicationCsv(first.problem, first.schedule);
  case Format::Json:
    return toJson(first);
  case Format::Svg:
    return toSvg(picture(first), {options.memoryCurves});
  case Format::Html: {
    std::vector<Solution> solutions;
    solutions.reserve(shown.size());
    for (const Shown &one : shown)
      solutions.push_back(picture(one.answer.solution));
    return toHtml(solutions);
  }
  case Format::Trace:
    return toChromeTrace(picture(first));
  }
  return std::string();
}

/// Returns a line for each file that has the order but cannot represent its
/// offloads.
static std::vector<std::string> leftOutOfFiles(const CommandOptions &options,
                                               const Schedule &schedule) {
  std::vector<std::string> warnings;
  for (const std::string &path : options.outputs)
    if (Expected<Format> format = formatOf(path);
        format && !schedule.offloads.empty() &&
        (*format == Format::Csv || *format == Format::CommunicationCsv))
      warnings.push_back("'" + path +
                         "' has no room for what is offloaded; a .json file "
                         "keeps it");
  return warnings;
}

/// The report about a schedule that --explain and --verify-communication ask
/// for, as JSON.
static Expected<std::string> reportOf(const Answer &answer,
                                      const Request &request,
                                      const CommandOptions &options) {
  std::vector<Member> members = {{"format", "veeline-report", true},
                                 {"version", "1"},
                                 {"schedule", answer.task.name, true}};
  if (!options.verifyCommunication.empty()) {
    Expected<ProvenMessages> messages = proveCommunication(answer, options);
    if (!messages)
      return messages.takeError();
    members.push_back({"communication", messages->toJson()});
  }
  if (options.explain) {
    Expected<std::string> why = explainAsJson(answer, request);
    if (!why)
      return why.takeError();
    members.push_back({"explanation", std::move(*why)});
  }
  return jsonObject(members) + "\n";
}

static Expected<Shown> show(Answer answer, const Request &request,
                            const CommandOptions &options) {
  bool isReported = options.explain || !options.verifyCommunication.empty();
  if (options.json && isReported) {
    Expected<std::string> report = reportOf(answer, request, options);
    if (!report)
      return report.takeError();
    return Shown{std::move(answer), std::move(*report), ""};
  }
  std::string text =
      options.json ? toJson(answer.solution) : textOf(answer, options);
  std::string asked;
  if (!options.verifyCommunication.empty()) {
    Expected<ProvenMessages> messages = proveCommunication(answer, options);
    if (!messages)
      return messages.takeError();
    asked = "\n" + messages->toText();
  }
  Expected<std::string> why =
      options.explain ? explain(answer, request) : std::string();
  if (!why)
    return why.takeError();
  return Shown{std::move(answer), std::move(text), asked + printable(*why)};
}

static void print(const std::vector<Shown> &shown,
                  const CommandOptions &options, std::ostream &out) {
  bool hides = options.view == "nothing";
  for (const Shown &one : shown) {
    if (&one != &shown.front() && !(hides && one.asked.empty()))
      out << "\n";
    if (hides) {
      out << one.asked.substr(one.asked.starts_with("\n") ? 1 : 0);
      continue;
    }
    const Schedule &schedule = one.answer.solution.schedule;
    out << (!options.json && wantsColor(options, out)
                ? colored(one.text, schedule)
                : one.text)
        << one.asked;
  }
}

static int runSchedules(const Request &request, const CommandOptions &options,
                        std::ostream &out, std::ostream &err) {
  std::vector<Shown> shown;
  std::optional<ProgressLine> progress(std::in_place);
  for (const std::string &name : request.names()) {
    progress->set("solving: " + name);
    Expected<Task> task = request.task(name);
    if (!task)
      return fail(task.error(),
                  task.error().kind == ErrorKind::OutOfMemory ? ExitFailure
                                                              : ExitUsage,
                  err);
    Expected<Answer> answer = request.solve(std::move(*task));
    if (!answer)
      return fail(answer.error(), ExitFailure, err);
    Expected<Shown> one = show(std::move(*answer), request, options);
    if (!one)
      return fail(one.error(), ExitFailure, err);
    shown.push_back(std::move(*one));
  }
  progress.reset();
  auto contentsOf = [&](Format format) {
    return contents(format, shown, options);
  };
  if (Status status = writeOutputs(options, contentsOf); !status)
    return fail(status.error(), ExitFailure, err);
  warn(leftOutOfFiles(options, shown.front().answer.solution.schedule), err);
  for (const Shown &one : shown)
    warn(one.answer.solution.schedule.warnings, err);
  print(shown, options, out);
  return finish(out, err);
}

static int runCommand(const CommandOptions &options, std::ostream &out,
                      std::ostream &err) {
  for (auto check : {checkOptions, checkOutputs})
    if (Status status = check(options); !status)
      return fail(status.error(), ExitUsage, err);
  if (options.list) {
    printList(out);
    return finish(out, err);
  }
  ExitCode code = ExitUsage;
  Expected<Request> request = Request::get(options, code);
  if (!request)
    return fail(request.error(), code, err);
  if (Status status = tryOutputs(options); !status)
    return fail(status.error(), ExitFailure, err);
  warn(request->warnings, err);
  if (!options.compare.empty())
    return runCompare(*request, options.json, out, err);
  return options.memoryDial.empty() ? runSchedules(*request, options, out, err)
                                    : runDial(*request, options, out, err);
}

static constexpr const char *description =
    "Generate, check, simulate, compare and draw pipeline schedules";

std::function<int(std::ostream &, std::ostream &)>
veeline::schedule::addScheduleCommand(CLI::App &app) {
  auto options = std::make_shared<CommandOptions>();
  CLI::App *command = app.add_subcommand("schedule", description);
  addOptions(*command, *options);
  return [command, options](std::ostream &out, std::ostream &err) {
    noteGiven(*command, *options);
    return runCommand(*options, out, err);
  };
}

int veeline::schedule::scheduleMain(int argc, const char *const *argv,
                                    std::ostream &out, std::ostream &err) {
  try {
    CLI::App app(description, "veeline schedule");
    CommandOptions options;
    addOptions(app, options);
    try {
      app.parse(argc, argv);
    } catch (const CLI::CallForHelp &) {
      out << app.help();
      return ExitSuccess;
    }
    noteGiven(app, options);
    return runCommand(options, out, err);
  } catch (const std::exception &exception) {
    return fail({ErrorKind::InvalidProblem, exception.what()}, ExitUsage, err);
  }
}
