//===- Options.cpp - the options of `veeline schedule` --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "veeline/Base/Completion.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Base/Suggest.h"
#include "veeline/Base/Text.h"
#include "veeline/Schedule/Formats/Formats.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <charconv>
#include <limits>

using namespace veeline;
using namespace veeline::schedule;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Returns why a text is not a valid value, or an empty text.
using Check = std::function<std::string(const std::string &)>;

static std::string expected(const std::string &what, const std::string &text) {
  return "expected " + what + ", found '" + text + "'";
}

/// Accepts only decimal digits without leading zeros, because 010 may mean 8 or
/// 10.
static Check wholeNumber(std::uint64_t least, std::uint64_t most) {
  return [=](const std::string &text) -> std::string {
    std::uint64_t value = 0;
    const char *last = text.data() + text.size();
    auto [end, error] = std::from_chars(text.data(), last, value);
    bool isPlain = text.size() == 1 || !text.starts_with('0');
    if (error == std::errc() && end == last && isPlain && value >= least &&
        value <= most)
      return "";
    return expected("a whole number from " + std::to_string(least) + " to " +
                        std::to_string(most),
                    text);
  };
}

static Check number(double least, double most) {
  return [=](const std::string &text) -> std::string {
    std::optional<double> value = parseNumber(text);
    if (value && *value >= least && *value <= most)
      return "";
    return expected("a number from " + shortNumber(least) + " to " +
                        shortNumber(most),
                    text);
  };
}

/// Rejects empty values. No option has a meaning for them, and they often come
/// from a variable of a script that is not set.
static void rejectEmptyValues(CLI::App &command) {
  for (CLI::Option *option : command.get_options())
    if (option->get_items_expected_min() > 0)
      option->check(
          [](const std::string &text) {
            return text.empty() ? "expected a value, found ''" : "";
          },
          "");
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static void addSizeOptions(CLI::App &command, CommandOptions &options) {
  command.add_option("--stages", options.stages, "Number of stages, p")
      ->check(wholeNumber(1, Placement::maxChunks));
  command.add_option("--stage-replicas", options.stageReplicas,
                     "Ranks of each stage, such as 2,1,1, to which "
                     "microbatches go round-robin (default: one each; with "
                     "--from, those of the compiled model)");
  command
      .add_option("--chunks-per-stage", options.chunksPerStage,
                  "Chunks of each stage, v (default: the fewest that the "
                  "schedule accepts; auto chooses; with --cost-file and "
                  "--from, as many as there are and the schedule accepts)")
      ->check(wholeNumber(1, Placement::maxChunks));
  command
      .add_option("--placement", options.placement,
                  "Which chunk is on which stage: linear, interleaved, v or "
                  "wave (default: that of the schedule; auto chooses, except "
                  "for a compiled model, whose placement it keeps)")
      ->check(CLI::IsMember({"linear", "interleaved", "v", "wave"}))
      ->option_text("linear|interleaved|v|wave");
  command
      .add_option("--microbatches", options.microbatches,
                  "Microbatches of a step, m")
      ->check(wholeNumber(1, maxMicrobatches));
}

static void addCostOptions(CLI::App &command, CommandOptions &options) {
  CLI::Option *cost =
      command.add_option("--cost", options.cost,
                         "Time of a whole stage for one microbatch, as "
                         "F=<t>,B=<t>,W=<t>, shared evenly by its chunks "
                         "(default: F=1,B=1,W=1); with R=<t>, chunks "
                         "recompute ahead of B");
  CLI::Option *chunkCost =
      command
          .add_option("--chunk-cost", options.chunkCost,
                      "Time of one chunk instead, as F=<t>,B=<t>,W=<t>")
          ->excludes(cost);
  CLI::Option *costFile =
      command
          .add_option("--cost-file", options.costFile,
                      "File with a line for each chunk: the times F B W, and "
                      "optionally the memory that F and B add")
          ->excludes(cost)
          ->excludes(chunkCost);
  CLI::Option *from =
      command
          .add_option("--from", options.from,
                      "Compiled model (.vee) to take costs, edges and bytes "
                      "from")
          ->excludes(cost)
          ->excludes(chunkCost)
          ->excludes(costFile);
  command
      .add_option("--transfer", options.transfer,
                  "Time of a transfer between two stages (default: 0), or one "
                  "for each edge between two chunks with commas; 2:3 is 2 "
                  "forward and 3 backward")
      ->excludes(from);
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
  command
      .add_option("--activation", options.activation,
                  "Memory that a stage's operations add, in activation units "
                  "(default: F=1,B=0,W=-1); with R in the cost, R may be here")
      ->excludes(from);
}

static void addMemoryOptions(CLI::App &command, CommandOptions &options) {
  CLI::Option *memoryLimit = command.add_option(
      "--memory-limit", options.memoryLimit,
      "Memory limit of every stage, or one for each with commas: in "
      "activation units; with --from in bytes, as 512MiB");
  command
      .add_option(
          "--memory-dial", options.memoryDial,
          "Instead of one schedule, a table of schedules for several limits of "
          "all stages: a list of ascending limits, or all: from the smallest "
          "possible limit to the memory of the schedule without a limit")
      ->option_text("all|LIMITS")
      ->excludes(memoryLimit);
  command
      .add_option("--offload", options.offload,
                  "Let activations wait for their backward in the host's "
                  "memory: the time of a copy there, and of one back, of one "
                  "activation unit; with --from the bandwidth, as 25GB/s")
      ->option_text("TIME|BANDWIDTH");
  command
      .add_option("--offload-share", options.offloadShare,
                  "Share of what F adds that can be offloaded, 0 to 1 "
                  "(default: 1; with --from, what the model says)")
      ->check(number(0, 1));
  command.add_option("--message-bytes", options.messageBytes,
                     "Bytes of a message between two stages, as 16MiB");
  command
      .add_option("--layers", options.layers,
                  "Layers of a stage, for the memory that --explain computes "
                  "with and without recomputing them")
      ->check(number(0, 1e6));
  command.add_option("--layer-bytes", options.layerBytes,
                     "Bytes that one layer keeps of one microbatch");
}

static void addGeneratorOptions(CLI::App &command, CommandOptions &options) {
  command
      .add_option(
          "--objective", options.objective,
          "What a schedule with a choice minimises: makespan (default); span, "
          "the longest time of one stage; or period, the time from one step to "
          "the next if steps follow each other without a barrier")
      ->check(CLI::IsMember({"makespan", "span", "period"}))
      ->option_text("makespan|span|period");
  command.add_flag("--overlap-blocks", options.overlapBlocks,
                   "Pair forwards and backwards to blocks that run together, "
                   "if the schedule supports it");
  command
      .add_option("--overlap", options.overlap,
                  "Share of the shorter operation of such a block that the "
                  "longer one hides, 0 to 1 (default: 0)")
      ->check(number(0, 1));
  command
      .add_option("--time-budget", options.timeBudget,
                  "Seconds that a schedule may search (default: 1)")
      ->check(number(1e-3, 1e6));
  command
      .add_option("--seed", options.seed, "Seed of its choices (default: 0)")
      ->check(wholeNumber(0, std::numeric_limits<std::uint64_t>::max()));
}

static void addCommunicationOptions(CLI::App &command,
                                    CommandOptions &options) {
  command
      .add_option(
          "--verify-communication", options.verifyCommunication,
          "Prove that the messages of the schedule cannot deadlock under the "
          "rules of nccl, of mpi, or of nccl on a device that runs sends and "
          "receives side by side (nccl-duplex). The messages are those in the "
          "cells of a .csv file, or else those of --communication")
      ->check(CLI::IsMember({"nccl", "mpi", "nccl-duplex"}))
      ->option_text("nccl|mpi|nccl-duplex");
  command
      .add_option("--communication", options.communication,
                  "How messages are sent and received: p2p, batched, ring, "
                  "overlap (default) or duplex (experimental)")
      ->check(CLI::IsMember({"p2p", "batched", "ring", "overlap", "duplex"}))
      ->option_text("p2p|batched|ring|overlap|duplex");
}

static void addOutputOptions(CLI::App &command, CommandOptions &options) {
  command
      .add_option("-o,--output", options.outputs,
                  "File to write, by its ending: .txt, .csv and .comms.csv "
                  "(PyTorch's loader), .json, .svg, .html, .trace.json "
                  "(Perfetto); may be "
                  "repeated")
      ->allow_extra_args(false);
  command.add_flag("--json", options.json,
                   "Print JSON instead of text: the content of a .json file, "
                   "the table of --compare or --memory-dial, or what --explain "
                   "and --verify-communication find");
  command
      .add_option("--against", options.against,
                  "Another schedule, shown beside the first in .html files and "
                  "after it in the terminal; may be repeated")
      ->allow_extra_args(false);
  command.add_flag("--memory-curves", options.memoryCurves,
                   "Draw each stage's memory in .svg files (.html pages "
                   "always have it)");
  command
      .add_option(
          "--show", options.view,
          "What to print: the timeline (default) or the order above the "
          "summary, the summary alone, or nothing but what other "
          "options ask for")
      ->check(CLI::IsMember({"timeline", "order", "summary", "nothing"}))
      ->option_text("timeline|order|summary|nothing");
  command.add_flag(
      "--explain", options.explain,
      "Explain the figures: messages, lower bounds, and why stages wait");
  command
      .add_option("--width", options.width,
                  "Columns to print in (default: 100)")
      ->check(wholeNumber(40, 10000));
  command
      .add_option("--color", options.color,
                  "Colours: auto (default), on a terminal; always; never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->option_text("auto|always|never");
}

void veeline::schedule::addOptions(CLI::App &command, CommandOptions &options) {
  command.add_flag("--list", options.list, "List the schedules");
  CLI::Option *schedule = command.add_option(
      "--schedule", options.schedule,
      "Name of the schedule, or file:PATH with an order in .csv or .json: " +
          knownSchedules());
  schedule->check(commandline::offer(scheduleNames()));
  command
      .add_option("--compare", options.compare,
                  "Instead of one: all schedules side by side, or those "
                  "named with commas")
      ->option_text("all|NAMES")
      ->excludes(schedule);
  addSizeOptions(command, options);
  addCostOptions(command, options);
  addMemoryOptions(command, options);
  addGeneratorOptions(command, options);
  addCommunicationOptions(command, options);
  addOutputOptions(command, options);
  rejectEmptyValues(command);
}

static std::string nameOf(const CLI::Option &option) {
  return option.get_snames().empty() ? option.get_name()
                                     : "-" + option.get_snames().front();
}

void veeline::schedule::noteGiven(const CLI::App &command,
                                  CommandOptions &options) {
  for (const CLI::Option *option : command.get_options())
    if (option->count() > 0)
      options.given.insert(nameOf(*option));
}

std::string veeline::schedule::knownSchedules() {
  return joinNames(scheduleNames());
}

//===----------------------------------------------------------------------===//
// Combinations of options
//===----------------------------------------------------------------------===//

Error veeline::schedule::usage(std::string message) {
  return Error{ErrorKind::InvalidProblem, std::move(message)};
}

/// Joins names as in "a", "a and b", "a, b and c".
static std::string enumerate(std::vector<std::string> names) {
  if (names.size() < 2)
    return joinNames(names);
  std::string last = std::move(names.back());
  names.pop_back();
  return joinNames(names) + " and " + last;
}

/// Returns those of `names` that were given, as in "--a goes" or "--a and --b
/// go"; empty if there are none.
static std::string goes(const CommandOptions &options,
                        const std::vector<std::string> &names) {
  std::vector<std::string> found;
  for (const std::string &name : names)
    if (options.has(name))
      found.push_back(name);
  return found.empty()
             ? ""
             : enumerate(found) + (found.size() == 1 ? " goes" : " go");
}

/// Rejects options that show a single schedule together with a table.
static Status checkTable(const CommandOptions &options) {
  std::vector<std::string> single{
      "--against", "--explain", "--memory-curves",       "--show",
      "--width",   "--color",   "--verify-communication"};
  bool isDial = !options.memoryDial.empty();
  if (!isDial)
    single.insert(single.begin(), "-o");
  if (std::string others = goes(options, single); !others.empty())
    return usage((isDial ? "--memory-dial" : "--compare") +
                 (" prints a table; " + others) + " with " +
                 (isDial ? "one schedule" : "--schedule"));
  return Status::success();
}

/// Rejects options whose text would be printed beside JSON, which contains
/// everything.
static Status checkJson(const CommandOptions &options) {
  if (!options.json)
    return Status::success();
  std::string others =
      goes(options, {"--against", "--show", "--width", "--color"});
  if (!others.empty())
    return usage("--json is printed in place of words; " + others +
                 " with these");
  return Status::success();
}

/// Rejects options that only --explain uses.
static Status checkExplained(const CommandOptions &options) {
  if (options.explain)
    return Status::success();
  if (std::string layers = goes(options, {"--layers", "--layer-bytes"});
      !layers.empty())
    return usage(layers + " with --explain");
  if (options.has("--message-bytes") && options.compare.empty())
    return usage("--message-bytes goes with --explain or --compare, which show "
                 "bytes");
  return Status::success();
}

Status veeline::schedule::checkOptions(const CommandOptions &options) {
  if (options.list) {
    for (const std::string &name : options.given)
      if (name != "--list")
        return usage("--list stands alone, found " + name);
    return Status::success();
  }
  if (!options.compare.empty() && !options.memoryDial.empty())
    return usage("--memory-dial goes with --schedule, not with --compare");
  if (!options.compare.empty() || !options.memoryDial.empty())
    if (Status status = checkTable(options); !status)
      return status;
  if (Status status = checkJson(options); !status)
    return status;
  if (options.has("--offload-share") && options.offload.empty())
    return usage("--offload-share goes with --offload");
  if (!options.offload.empty() && options.transfers == "rendezvous")
    return usage("--offload is for buffered transfers; leave out --transfers");
  if (options.has("--communication") && options.verifyCommunication.empty())
    return usage("--communication goes with --verify-communication");
  return checkExplained(options);
}

//===----------------------------------------------------------------------===//
// Options that schedules use
//===----------------------------------------------------------------------===//

namespace {
/// An option that only some schedules use.
struct Trait {
  const char *name;
  bool Generator::*isUsed;
  /// Whether --explain also uses it for an order from a file.
  bool explainsFiles;
};
} // namespace

static constexpr Trait traits[] = {
    {"--objective", &Generator::hasObjective, true},
    {"--time-budget", &Generator::searches, true},
    {"--seed", &Generator::searches, true},
    {"--overlap-blocks", &Generator::pairsBlocks, false},
};

static Status checkTrait(const CommandOptions &options,
                         const std::vector<std::string> &names,
                         const Trait &trait) {
  // --explain finds what limits the step by the objective, whatever the
  // schedule.
  if (options.explain && trait.isUsed == &Generator::hasObjective)
    return Status::success();
  for (const std::string &name : names) {
    Expected<const Generator *> generator = findGenerator(name);
    bool isUsed = generator ? (*generator)->*trait.isUsed
                            : options.explain && trait.explainsFiles;
    // Schedules whose operations slip into the next step are made for periods.
    isUsed |= generator && (*generator)->slips &&
              trait.isUsed == &Generator::hasObjective &&
              options.objective == toString(Objective::Period);
    if (isUsed)
      return Status::success();
  }
  std::vector<std::string> users;
  for (const Generator &generator : generators())
    if (generator.*trait.isUsed)
      users.emplace_back(generator.name);
  return usage(std::string(trait.name) + " makes no difference to " +
               enumerate(names) + "; it is for " + enumerate(users));
}

Status veeline::schedule::checkOptions(const CommandOptions &options,
                                       const std::vector<std::string> &names) {
  bool hasFile = false;
  for (const std::string &name : names) {
    bool isFile = scheduleFilePath(name).has_value();
    hasFile |= isFile;
    if (isFile && !options.memoryDial.empty())
      return usage("--memory-dial makes a schedule for each limit; '" + name +
                   "' is one order");
    if (Expected<const Generator *> known = findGenerator(name);
        !isFile && !known)
      return known.takeError();
  }
  for (const Trait &trait : traits)
    if (options.has(trait.name))
      if (Status status = checkTrait(options, names, trait); !status)
        return status;
  if (options.objective == toString(Objective::Period) &&
      (options.contention || options.transfers == "rendezvous"))
    return usage("--objective period is of buffered transfers; leave out "
                 "--contention and --transfers");
  if (options.overlap && !options.overlapBlocks && !hasFile)
    return usage("--overlap is about blocks that run together, which schedules "
                 "have with --overlap-blocks");
  return Status::success();
}

static std::string describeTwice(const std::string &name,
                                 const std::string &list) {
  return "--compare: '" + name + "' stands twice in '" + list + "'";
}

Expected<std::vector<std::string>>
veeline::schedule::comparedNames(const std::string &list) {
  if (list == "all")
    return scheduleNames();
  std::vector<std::string> names;
  for (std::string_view part : splitAt(list, ',')) {
    std::string name(part);
    if (name.empty())
      return usage("--compare: expected all or names with commas between them, "
                   "found '" +
                   list + "'");
    if (name == "all")
      return usage("--compare: 'all' stands alone, found '" + list + "'");
    if (std::find(names.begin(), names.end(), name) != names.end())
      return usage(describeTwice(name, list));
    names.push_back(std::move(name));
  }
  return names;
}
