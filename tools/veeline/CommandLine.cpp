//===- CommandLine.cpp - shared code of the subcommands -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "veeline/Base/CommandLine.h"
#include "veeline/Base/Completion.h"
#include "veeline/Base/File.h"
#include "veeline/Base/ProgressLine.h"
#include "veeline/Base/Suggest.h"
#include "veeline/Compiler/Options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <climits>
#include <csignal>
#include <iostream>
#include <unistd.h>

using namespace veeline;

std::string driver::libraryDirectory() {
  char path[PATH_MAX];
  ssize_t length = ::readlink("/proc/self/exe", path, sizeof(path));
  std::string program(path, length > 0 ? static_cast<size_t>(length) : 0);
  return program.substr(0, program.rfind('/') + 1) + VEELINE_MODULE_DIRECTORY;
}

static void onSignal(int signal) {
  ProgressLine::erase();
  deleteTemporaryFiles();
  _exit(128 + signal);
}

void driver::catchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = onSignal;
  sigfillset(&action.sa_mask);
  for (int signal : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction before;
    // A signal that was ignored (nohup) is still ignored.
    if (sigaction(signal, nullptr, &before) == 0 &&
        before.sa_handler != SIG_IGN)
      sigaction(signal, &action, nullptr);
  }
}

static std::vector<std::string> subcommandNames(CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *subcommand :
       app.get_subcommands([](CLI::App *) { return true; }))
    names.push_back(subcommand->get_name());
  return names;
}

/// Returns what is wrong with an option of `compile` that is given to `train`
/// or `eval`; empty if there is none.
static std::string describeMisplaced(CLI::App &app, int argc, char **argv) {
  std::string command = argc > 1 ? argv[1] : "";
  if (command != "train" && command != "eval")
    return "";
  auto has = [](const std::vector<commandline::OptionName> &options,
                const std::string &name) {
    return std::ranges::find(options, name, &commandline::OptionName::name) !=
           options.end();
  };
  const auto own = commandline::listOptions(*app.get_subcommand(command));
  const auto others = compiler::listCompileOptions();
  for (int i = 2; i < argc; ++i) {
    std::string word = argv[i], name = word.substr(0, word.find('='));
    // Commands that run for long have --log instead of --json.
    if (name.starts_with("--") && name != "--json" &&
        !has(own, name.substr(2)) && has(others, name.substr(2)))
      return name +
             " is an option of veeline compile, which makes the artifact";
  }
  return "";
}

int driver::parse(CLI::App &app, int argc, char **argv, bool &finished) {
  finished = true;
  if (commandline::isCompleting(argc, argv))
    return commandline::parse(app, argc, argv).value_or(0);
  std::vector<std::string> known = subcommandNames(app);
  if (argc < 2) {
    std::cerr << app.help();
    return commandline::usageError;
  }
  std::string first = argv[1];
  if (first == "help" || first == "version")
    return commandline::failUsage(
        app, "unknown subcommand '" + first + "'; did you mean 'veeline " +
                 (argc > 2 ? argv[2] + std::string(" ") : "") + "--" + first +
                 "'?");
  if (!first.starts_with("-") &&
      std::find(known.begin(), known.end(), first) == known.end())
    return commandline::failUsage(app, "unknown subcommand '" + first +
                                           "', there are " + joinNames(known) +
                                           suggestion(first, known));
  if (std::string text = describeMisplaced(app, argc, argv); !text.empty()) {
    commandline::printError(text);
    std::cerr << "try 'veeline compile --help'\n";
    return commandline::usageError;
  }
  std::optional<int> status = commandline::parse(app, argc, argv);
  finished = status.has_value();
  return status.value_or(0);
}

std::string driver::quoted(const std::vector<std::string> &arguments) {
  std::string line;
  for (const std::string &argument : arguments) {
    bool isPlain = argument.find_first_not_of(
                       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                       "0123456789-_=./,:+@%") == std::string::npos;
    std::string inQuotes = "'";
    for (char c : argument)
      inQuotes += c == '\'' ? "'\\''" : std::string(1, c);
    line += (line.empty() ? "" : " ") + (isPlain ? argument : inQuotes + "'");
  }
  return line;
}
