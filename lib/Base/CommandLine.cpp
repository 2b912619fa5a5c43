//===- CommandLine.cpp - shared parts of command lines --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/CommandLine.h"

#include "veeline/Base/Suggest.h"

#include "veeline/Base/Completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

using namespace veeline;

static thread_local commandline::ErrorCapture *capture = nullptr;

commandline::ErrorCapture::ErrorCapture() { capture = this; }
commandline::ErrorCapture::~ErrorCapture() { capture = nullptr; }

void commandline::printError(const std::string &message) {
  if (capture) {
    if (capture->message.empty())
      capture->message = message;
    return;
  }
  std::cerr << "veeline: error: " << message << "\n";
}

void commandline::printRemark(const std::string &message) {
  std::cerr << "veeline: remark: " << message << "\n";
}

static constexpr char ofFlagWithValue[] =
    " takes no value; give it alone, or leave it out";

/// The subcommand that the user named, or `app` itself.
static CLI::App &activeApp(CLI::App &app) {
  std::vector<CLI::App *> named = app.get_subcommands();
  return named.empty() ? app : *named.front();
}

int commandline::failUsage(CLI::App &app, const std::string &message) {
  printError(message);
  if (capture)
    return usageError;
  CLI::App &active = activeApp(app);
  std::string command = &active == &app ? "" : " " + active.get_name();
  std::cerr << "try '" << app.get_name() << command << " --help'\n";
  return usageError;
}

static std::vector<std::string> optionNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

static std::string describeLetter(const std::string &name,
                                  const std::string &value) {
  return name + " takes its value without '=', as in " + name + " " + value;
}

/// Explains "-q=0" and "-o=file", which the parser takes for -q and an argument
/// "-=0", and for a file named "=file". Returns an empty string if there is
/// neither.
static std::string describeEquals(CLI::App &app,
                                  const std::vector<std::string> &words) {
  std::vector<std::string> extras = app.remaining(/*recurse=*/true);
  auto has = [](const std::vector<std::string> &all, const std::string &one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  for (const CLI::Option *option : activeApp(app).get_options())
    for (const std::string &letter : option->get_snames())
      for (const std::string &word : words) {
        std::string name = "-" + letter;
        if (!word.starts_with(name + "="))
          continue;
        std::string value = word.substr(name.size());
        if (has(extras, "-" + value))
          return name + ofFlagWithValue;
        if (has(option->results(), value))
          return describeLetter(name, value.substr(1));
      }
  return "";
}

/// Whether --json is unknown because the command has --log instead: commands
/// that run for long print a line of JSON for each event, all others one
/// object.
static bool printsJsonOtherwise(const std::string &name,
                                const std::vector<std::string> &known) {
  return name == "--json" && std::ranges::find(known, "--log") != known.end();
}

/// Describes an unknown option. Returns an empty string if there is none.
static std::string describeUnknownOption(CLI::App &app) {
  for (const std::string &argument : app.remaining(/*recurse=*/true)) {
    if (!argument.starts_with("-"))
      continue;
    std::string name = argument.substr(0, argument.find('='));
    std::vector<std::string> known = optionNames(activeApp(app));
    return "unknown option '" + name + "'" +
           (printsJsonOtherwise(name, known) ? "; did you mean '--log json'?"
                                             : suggestionOfOption(name, known));
  }
  return "";
}

/// Reports an unknown option first, because the argument after it was probably
/// meant as its value.
static std::string describeExtras(CLI::App &app) {
  std::string unknown = describeUnknownOption(app);
  return unknown.empty() ? "unexpected argument '" +
                               app.remaining(/*recurse=*/true).front() + "'"
                         : unknown;
}

/// A flag has no value. Without this check, "--flag=no" would silently unset
/// it.
static void refuseValuesOfFlags(CLI::App &app) {
  for (CLI::Option *option : app.get_options({}))
    if (option->get_expected_max() == 0)
      option->disable_flag_override();
  for (CLI::App *command : app.get_subcommands({}))
    refuseValuesOfFlags(*command);
}

/// Describes a value that is no number, where no check has said more.
static std::string describeConversion(const CLI::ConversionError &error) {
  std::string message = error.what(), begin = "Could not convert: ";
  size_t equals = message.find(" = ");
  if (!message.starts_with(begin) || equals == std::string::npos)
    return message;
  std::string value = message.substr(equals + 3);
  return message.substr(begin.size(), equals - begin.size()) + ": expected " +
         (value.find(',') == std::string::npos
              ? "a number"
              : "numbers with commas between them") +
         ", found '" + value + "'";
}

/// Describes an option that has more or fewer values than it takes.
static std::string describeMismatch(CLI::App &app,
                                    const CLI::ArgumentMismatch &error) {
  std::string message = error.what();
  std::string ofFlags = " was given a disallowed flag override";
  if (message.ends_with(ofFlags))
    return "--" + message.substr(0, message.size() - ofFlags.size()) +
           ofFlagWithValue;
  std::string name = message.substr(0, message.find(':'));
  const CLI::Option *option = activeApp(app).get_option_no_throw(name);
  if (!option)
    return message;
  size_t values = option->results().size();
  if (option->get_items_expected_max() == 1 && values > 1)
    return name + " is given " + std::to_string(values) +
           " times, expected once";
  return values == 0 ? name + ": expected a value, found none" : message;
}

std::vector<commandline::OptionName>
commandline::listOptions(const CLI::App &app) {
  std::vector<OptionName> names;
  for (const CLI::Option *option : app.get_options())
    for (const std::string &name : option->get_lnames())
      if (name != "help")
        names.push_back({name, option->get_expected_max() == 0,
                         option->get_delimiter() != '\0'});
  return names;
}

std::string commandline::checkFileName(const std::string &name) {
  return name.empty() ? "expected a name, found an empty one" : "";
}

std::optional<int> commandline::parse(CLI::App &app, int argc,
                                      const char *const *argv) {
  if (isCompleting(argc, argv)) {
    for (const Candidate &candidate : complete(app, {argv + 2, argv + argc}))
      std::cout << candidate.word << (candidate.description.empty() ? "" : "\t")
                << candidate.description << "\n";
    return 0;
  }
  refuseValuesOfFlags(app);
  std::vector<std::string> words(argv + 1, argv + std::max(argc, 1));
  try {
    app.parse(argc, argv);
    if (std::string message = describeEquals(app, words); !message.empty())
      return failUsage(app, message);
  } catch (const CLI::CallForHelp &) {
    CLI::App &active = activeApp(app);
    std::cout << active.help(&active == &app ? "" : app.get_name());
    return 0;
  } catch (const CLI::CallForVersion &version) {
    std::cout << version.what() << "\n";
    return 0;
  } catch (const CLI::ExtrasError &) {
    std::string message = describeEquals(app, words);
    return failUsage(app, message.empty() ? describeExtras(app) : message);
  } catch (const CLI::ArgumentMismatch &error) {
    return failUsage(app, describeMismatch(app, error));
  } catch (const CLI::ConversionError &error) {
    return failUsage(app, describeConversion(error));
  } catch (const CLI::RequiredError &error) {
    // What is missing may be there, behind a misspelt option.
    std::string unknown = describeUnknownOption(app);
    return failUsage(app, unknown.empty() ? error.what() : unknown);
  } catch (const CLI::ParseError &error) {
    return failUsage(app, error.what());
  }
  return std::nullopt;
}
