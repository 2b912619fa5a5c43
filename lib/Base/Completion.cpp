//===- Completion.cpp - shell completion of command lines -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/Completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

using namespace veeline;

bool commandline::isCompleting(int argc, const char *const *argv) {
  return argc > 1 && argv[1] == completionRequest;
}

CLI::Validator commandline::offer(const std::vector<std::string> &values) {
  // The set is the validator's name, because help prints only its description.
  return {[](std::string &) { return std::string(); }, "",
          "{" + CLI::detail::join(values, ",") + "}"};
}

/// The words of "{a,b}", which is the form of IsMember's description and of the
/// name that `offer` gives.
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
    return {}; // There is no other argument.
  }
}

static bool takesValue(const CLI::Option &option) {
  return option.get_items_expected_max() > 0;
}

/// The option whose full name is `word`, or null.
static CLI::Option *findOption(CLI::App &app, const std::string &word) {
  return word.starts_with("-") ? app.get_option_no_throw(word) : nullptr;
}

static std::vector<CLI::App *> subcommandsOf(CLI::App &app) {
  return app.get_subcommands([](CLI::App *) { return true; });
}

/// Returns the first line of `help`, because a shell shows one line for each
/// candidate.
static std::string describe(const std::string &help) {
  return help.substr(0, help.find('\n'));
}

static std::vector<commandline::Candidate> namesOf(CLI::App &app,
                                                   bool ofOptions) {
  std::vector<commandline::Candidate> names;
  if (!ofOptions)
    for (const CLI::App *subcommand : subcommandsOf(app))
      names.push_back(
          {subcommand->get_name(), describe(subcommand->get_description())});
  else
    for (const CLI::Option *option : app.get_options())
      for (const std::string &name : option->get_lnames())
        names.push_back({"--" + name, describe(option->get_description())});
  return names;
}

std::vector<commandline::Candidate>
commandline::complete(CLI::App &app, std::vector<std::string> words) {
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
  std::vector<Candidate> candidates;
  if (before && takesValue(*before))
    for (const std::string &value : valuesOf(*before))
      candidates.push_back({value, ""});
  else
    candidates = namesOf(*active, last.starts_with("-"));
  if (!last.starts_with("-") && !(before && takesValue(*before)))
    for (CLI::Option *option : active->get_options())
      if (option->get_positional())
        for (const std::string &value : valuesOf(*option))
          candidates.push_back({value, ""});
  std::erase_if(candidates, [&](const Candidate &candidate) {
    return !candidate.word.starts_with(last);
  });
  std::sort(
      candidates.begin(), candidates.end(),
      [](const Candidate &a, const Candidate &b) { return a.word < b.word; });
  return candidates;
}

// The scripts ask for candidates with the word `completionRequest`.
static constexpr std::string_view bashScript = R"(_veeline() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]/#\~/$HOME}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
}
complete -o default -F _veeline veeline
)";

static constexpr std::string_view zshScript = R"(#compdef veeline
_veeline() {
  local -a given found
  given=("${(@Q)words[2,CURRENT]}")
  if [[ $PREFIX == --*=* ]]; then
    given[-1]=("${PREFIX%%=*}" "${PREFIX#*=}")
    compset -P '*='
  fi
  found=("${(@f)$("${words[1]/#\~/$HOME}" __complete "${given[@]}" 2>/dev/null)}")
  if [[ -z $found[1] ]]; then
    _files
    return
  fi
  found=("${(@)found//:/\\:}")
  found=("${(@)found/$'\t'/:}")
  _describe veeline found
}
# zsh reads a file of completions when it needs it first, and wants the answer.
if [[ $funcstack[1] == _veeline ]]; then
  _veeline "$@"
else
  compdef _veeline veeline
fi
)";

static constexpr std::string_view fishScript = R"(function __veeline_complete
    set -l given (commandline -opc)
    set -l last (commandline -ct)
    set -l name ''
    if string match -q -- '--*=*' $last
        set name (string split -m 1 -f 1 = -- $last)=
        set -a given (string trim -r -c = -- $name)
        set last (string split -m 1 -f 2 = -- $last)
    end
    for line in ($given[1] __complete $given[2..] "$last" 2>/dev/null)
        echo $name$line
    end
end
complete -c veeline -a '(__veeline_complete)'
)";

static constexpr std::pair<std::string_view, std::string_view> scripts[] = {
    {"bash", bashScript}, {"fish", fishScript}, {"zsh", zshScript}};

const std::vector<std::string> &commandline::completedShells() {
  static const std::vector<std::string> shells = [] {
    std::vector<std::string> names;
    for (const auto &[shell, script] : scripts)
      names.emplace_back(shell);
    return names;
  }();
  return shells;
}

std::string_view commandline::completionScript(std::string_view shell) {
  const auto *it =
      std::find_if(std::begin(scripts), std::end(scripts),
                   [&](const auto &entry) { return entry.first == shell; });
  return it == std::end(scripts) ? "" : it->second;
}
