//===- CommandLine.cpp - what the subcommands share -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "Suggest.h"

#include <CLI/CLI.hpp>
#include <climits>
#include <iostream>
#include <unistd.h>

using namespace veeline;

void driver::printError(const std::string &message) {
  std::cerr << "veeline: error: " << message << "\n";
}

std::string driver::libraryDirectory() {
  char path[PATH_MAX];
  ssize_t length = ::readlink("/proc/self/exe", path, sizeof(path));
  std::string program(path, length > 0 ? static_cast<size_t>(length) : 0);
  return program.substr(0, program.rfind('/') + 1) + "../lib";
}

/// The subcommand that was named, or `app` itself.
static CLI::App &activeApp(CLI::App &app) {
  std::vector<CLI::App *> named = app.get_subcommands();
  return named.empty() ? app : *named.front();
}

static std::vector<std::string> optionNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

static std::vector<std::string> subcommandNames(CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *subcommand :
       app.get_subcommands([](CLI::App *) { return true; }))
    names.push_back(subcommand->get_name());
  return names;
}

static std::string describeUnknown(CLI::App &app, const std::string &argument) {
  CLI::App &active = activeApp(app);
  std::string name = argument.substr(0, argument.find('='));
  if (argument.starts_with("-"))
    return "unknown option '" + name + "'" +
           suggestion(name, optionNames(active));
  return "unexpected argument '" + argument + "'";
}

static int usage(CLI::App &app, const std::string &message) {
  driver::printError(message);
  CLI::App &active = activeApp(app);
  std::string command = &active == &app ? "" : active.get_name() + " ";
  std::cerr << "try 'veeline " << command << "--help'\n";
  return driver::usageError;
}

int driver::parse(CLI::App &app, int argc, char **argv, bool &finished) {
  finished = true;
  std::vector<std::string> known = subcommandNames(app);
  if (argc < 2) {
    std::cerr << app.help();
    return usageError;
  }
  std::string first = argv[1];
  if (!first.starts_with("-") &&
      std::find(known.begin(), known.end(), first) == known.end())
    return usage(app, "unknown subcommand '" + first + "', there are " +
                          joinNames(known) + suggestion(first, known));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    std::cout << activeApp(app).help(&activeApp(app) == &app ? "" : "veeline");
    return 0;
  } catch (const CLI::CallForVersion &version) {
    std::cout << version.what() << "\n";
    return 0;
  } catch (const CLI::ExtrasError &) {
    return usage(app, describeUnknown(app, app.remaining(true).front()));
  } catch (const CLI::ParseError &error) {
    return usage(app, error.what());
  }
  finished = false;
  return 0;
}
