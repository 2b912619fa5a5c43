//===- Completion.cpp - what a shell offers for a command line ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/Completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>

using namespace veeline;

bool commandline::isCompleting(int argc, const char *const *argv) {
  return argc > 1 && argv[1] == completionRequest;
}

CLI::Validator commandline::offer(const std::vector<std::string> &values) {
  // Help prints a validator's description, but not its name.
  return {[](std::string &) { return std::string(); }, "",
          "{" + CLI::detail::join(values, ",") + "}"};
}

/// The words of "{a,b}", the form of IsMember's description and of `offer`'s
/// name.
static std::vector<std::string> parseSet(const std::string &text) {
  std::vector<std::string> words;
  if (text.size() > 2 && text.front() == '{' && text.back() == '}')
    words = CLI::detail::split(text.substr(1, text.size() - 2), ',');
  return words;
}

static std::vector<std::string> valuesOf(CLI::Option &option) {
  try {
    for (int i = 0;; ++i) {
      CLI::Validator *validator = option.get_validator(i);
      for (const std::string &text :
           {validator->get_description(), validator->get_name()})
        if (std::vector<std::string> values = parseSet(text); !values.empty())
          return values;
    }
  } catch (const CLI::OptionNotFound &) {
    return {}; // There is no further one.
  }
}

static bool takesValue(const CLI::Option &option) {
  return option.get_items_expected_max() > 0;
}

/// The option that `word` names in full.
static CLI::Option *findOption(CLI::App &app, const std::string &word) {
  return word.starts_with("-") ? app.get_option_no_throw(word) : nullptr;
}

static std::vector<CLI::App *> subcommandsOf(CLI::App &app) {
  return app.get_subcommands([](CLI::App *) { return true; });
}

static std::vector<std::string> namesOf(CLI::App &app, bool ofOptions) {
  std::vector<std::string> names;
  if (!ofOptions)
    for (const CLI::App *subcommand : subcommandsOf(app))
      names.push_back(subcommand->get_name());
  else
    for (const CLI::Option *option : app.get_options())
      for (const std::string &name : option->get_lnames())
        names.push_back("--" + name);
  return names;
}

std::vector<std::string> commandline::complete(CLI::App &app,
                                               std::vector<std::string> words) {
  // bash splits --name=value into three words.
  if (!words.empty() && words.back() == "=")
    words.back().clear();
  else if (words.size() > 1 && words[words.size() - 2] == "=")
    words.erase(words.end() - 2);
  std::string last = words.empty() ? "" : words.back();
  CLI::App *active = &app;
  CLI::Option *before = nullptr;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    before = findOption(*active, words[i]);
    for (CLI::App *subcommand : subcommandsOf(*active))
      if (subcommand->get_name() == words[i])
        active = subcommand;
  }
  std::vector<std::string> candidates =
      before && takesValue(*before) ? valuesOf(*before)
                                    : namesOf(*active, last.starts_with("-"));
  std::erase_if(candidates, [&](const std::string &candidate) {
    return !candidate.starts_with(last);
  });
  std::sort(candidates.begin(), candidates.end());
  return candidates;
}

std::string commandline::completionScript() {
  return "_veeline() {\n"
         "  local IFS=$'\\n'\n"
         "  COMPREPLY=($(\"${COMP_WORDS[0]/#\\~/$HOME}\" " +
         std::string(completionRequest) +
         " \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null))\n"
         "}\n"
         "complete -o default -F _veeline veeline\n";
}
