//===- OptionChecks.cpp - consistency of compile's options ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OptionChecks.h"

#include "veeline/Analysis/Recompute.h"
#include "veeline/Base/Optimizers.h"
#include "veeline/Base/Suggest.h"
#include "veeline/Base/Text.h"
#include "veeline/Pipelines/Limits.h"
#include "veeline/Schedule/Formats/Formats.h"
#include "veeline/Schedule/Generators.h"
#include "veeline/Schedule/ProblemOptions.h"
#include "veeline/Schedule/Text.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>

using namespace veeline;
using namespace veeline::compiler;

/// Takes over the sizes of a schedule file. Returns why they contradict the
/// command line, or an empty string.
static std::string readSizes(const CLI::App &app, const std::string &path,
                             CompileCommand &command) {
  auto file = schedule::readScheduleFile(path);
  if (!file)
    return "--schedule: " + file.error().message;
  const schedule::Placement &placement = file->placement;
  if (placement.kind() == schedule::PlacementKind::List)
    return "--schedule: '" + path +
           "' does not place its chunks linear, interleaved, v or wave, which "
           "are the placements of compiled models";
  if (!file->schedule.offloads.empty() && !app.count("--offload"))
    return "--schedule: '" + path +
           "' offloads activations, and nothing says how fast copies to the "
           "host's memory are; give --offload with a bandwidth such as 25GB/s, "
           "or an order without";
  if (!file->widths.empty()) {
    std::vector<int64_t> found(file->widths.begin(), file->widths.end());
    if (app.count("--stage-replicas") && command.stageReplicas != found)
      return "'" + path + "' has rows for" +
             schedule::ranksNote(file->widths).substr(1) +
             ", but --stage-replicas says others";
    command.stageReplicas = std::move(found);
  }
  struct Size {
    const char *option, *one;
    int64_t found;
    int64_t &value;
  };
  for (const Size &size :
       {Size{"--stages", "stage", placement.stages(), command.stages},
        Size{"--chunks-per-stage", "chunk", placement.chunksPerStage(),
             command.chunksPerStage},
        Size{"--microbatches", "microbatch", file->microbatches,
             command.microbatches}}) {
    if (app.count(size.option) && size.value != size.found)
      return "'" + path + "' has " + counted(size.found, size.one) +
             (&size.value == &command.chunksPerStage ? " per stage" : "") +
             ", but " + size.option + " says " + std::to_string(size.value);
    size.value = size.found;
  }
  return "";
}

/// Returns why `value` is not one of the names, or an empty string.
static std::string checkName(const char *what, const std::string &value,
                             const std::vector<std::string> &names) {
  if (std::find(names.begin(), names.end(), value) != names.end())
    return "";
  std::string small = value;
  std::ranges::transform(small, small.begin(),
                         [](unsigned char c) { return std::tolower(c); });
  std::string near = nearest(small, names);
  return std::string("unknown ") + what + " '" + value + "'; " +
         (near.empty()
              ? what + std::string("s: ")
              : "did you mean '" + near + "'? Known " + what + "s are ") +
         joinNames(names);
}

/// Returns why an option has no effect on forwards alone, or an empty string.
static std::string checkForwardOnly(const CLI::App &app) {
  for (const char *name :
       {"--schedule", "--objective", "--profile", "--optimizer",
        "--error-feedback", "--clip-sync", "--loss-scaling", "--recompute",
        "--memory-limit", "--compute-streams", "--no-deterministic",
        "--shard-optimizer", "--offload", "--recompute-ahead", "--sums"})
    if (app.count(name))
      return std::string(name) +
             " is about training, and --forward-only compiles forwards alone; "
             "leave one of them out, or take --evaluation, which compiles both";
  return "";
}

/// Returns why there is no such schedule, or an empty string. Forwards alone
/// have a schedule of their own.
static std::string checkSchedule(const CLI::App &app, CompileCommand &command) {
  if (command.forwardOnly) {
    command.schedule = schedule::forwardOrderName;
    return checkForwardOnly(app);
  }
  if (auto path = schedule::scheduleFilePath(command.schedule))
    return readSizes(app, *path, command);
  auto placement = schedule::placementFor(command.schedule, command.stages,
                                          command.chunksPerStage);
  return placement ? "" : placement.error().message;
}

/// Returns why --objective has no effect, or an empty string.
static std::string checkObjective(const CompileCommand &command) {
  auto known = schedule::findGenerator(command.schedule);
  if (command.objective.empty() || (known && (*known)->hasObjective))
    return "";
  std::vector<std::string> users;
  for (const schedule::Generator &generator : schedule::generators())
    if (generator.hasObjective)
      users.emplace_back(generator.name);
  return "--objective makes no difference to schedule '" + command.schedule +
         "'; it is for " + joinNames(users);
}

/// Returns why --clip-sync contradicts other options, or an empty string.
static std::string checkClipSync(const CompileCommand &command) {
  if (command.clipSync == "none")
    return "";
  std::string option = "--clip-sync " + command.clipSync;
  auto known = schedule::findGenerator(command.schedule);
  if (known && (*known)->slips && command.clipSync == "barrier")
    return option +
           " makes updates depend on all gradients of their step, and "
           "schedule '" +
           command.schedule +
           "' runs some W in the next one; take --clip-sync optimistic, which "
           "waits for none, or 'zb-v'";
  if (known && (*known)->semantics != schedule::UpdateSemantics::Synchronous)
    return option +
           " makes updates depend on all gradients of their step, and with "
           "schedule '" +
           command.schedule + "' no step waits for these; '1f1b' does";
  if (command.target == "cuda" && command.clipSync == "optimistic")
    return option +
           " has the host decide in the middle of a step whether its updates "
           "were right, which steps on GPUs do not wait for; take --clip-sync "
           "barrier";
  return "";
}

/// Returns why --shard-optimizer contradicts other options, or an empty string.
static std::string checkShards(const CompileCommand &command) {
  if (!command.shardOptimizer)
    return "";
  std::string option = "--shard-optimizer ";
  const std::vector<int64_t> &widths = command.stageReplicas;
  bool isShared = command.replicas > 1 ||
                  std::any_of(widths.begin(), widths.end(),
                              [](int64_t width) { return width > 1; });
  if (!isShared)
    return option + "shares updates out over the ranks that add up gradients, "
                    "and here each rank has parameters of its own; give "
                    "--replicas or --stage-replicas";
  auto known = schedule::findGenerator(command.schedule);
  if (known && (*known)->semantics == schedule::UpdateSemantics::WeightStashing)
    return option +
           "has ranks wait for each other's updates, and with schedule '" +
           command.schedule +
           "' each microbatch has some; leave it out, or take "
           "'pipedream-2bw'";
  return "";
}

/// Returns why --loss-weight contradicts other options, or an empty string.
static std::string checkLossWeight(const CompileCommand &command) {
  auto known = schedule::findGenerator(command.schedule);
  if (command.lossWeight.empty() || !known ||
      (*known)->semantics != schedule::UpdateSemantics::WeightStashing)
    return "";
  return "--loss-weight makes microbatches count more or less than the others "
         "of their step, and with schedule '" +
         command.schedule +
         "' each of them has an update of its own, of the mean over its own "
         "tokens; leave it out, or take 'pipedream-2bw', which updates once a "
         "step";
}

/// Returns what is wrong with --stage-replicas, or an empty string.
static std::string checkWidths(const CompileCommand &command) {
  const std::vector<int64_t> &widths = command.stageReplicas;
  std::string option = "--stage-replicas: ";
  if (widths.empty())
    return "";
  if (static_cast<int64_t>(widths.size()) != command.stages)
    return option + "found " + counted(widths.size(), "number") +
           ", expected one for each of " + counted(command.stages, "stage");
  int64_t widest = *std::max_element(widths.begin(), widths.end());
  if (widest > command.microbatches)
    return option + "a stage of " + counted(widest, "rank") +
           " needs as many microbatches, found " +
           std::to_string(command.microbatches) + "; give --microbatches";
  return "";
}

/// Returns what is wrong with --offload, or an empty string.
static std::string checkOffload(const CLI::App &app,
                                const CompileCommand &command) {
  if (!app.count("--offload"))
    return "";
  if (auto bandwidth = schedule::parseBandwidth(command.offload); !bandwidth)
    return "--offload: " + bandwidth.error().message;
  if (command.computeStreams == "chunk")
    return "--offload orders copies after one compute stream, and "
           "--compute-streams chunk has several; leave one of them out";
  return "";
}

/// Returns what is wrong with --recompute-ahead, or an empty string.
static std::string checkRecomputeAhead(const CompileCommand &command,
                                       const std::vector<Recompute> &policies) {
  if (!command.recomputeAhead)
    return "";
  auto known = schedule::findGenerator(command.schedule);
  if (known && (*known)->semantics != schedule::UpdateSemantics::Synchronous)
    return "--recompute-ahead needs backwards of the same step, and those of "
           "schedule " +
           command.schedule + " may be of the step before";
  bool recomputes =
      std::any_of(policies.begin(), policies.end(), [](const Recompute &it) {
        return it.kind != RecomputeKind::None &&
               it.kind != RecomputeKind::Balanced;
      });
  return recomputes
             ? ""
             : "--recompute-ahead: backwards recompute only what is cheap, "
               "which stays inside of them; say with --recompute what else, "
               "such as full";
}

/// Returns what is wrong with the options about memory, or an empty string.
static std::string checkMemory(const CompileCommand &command) {
  std::vector<Recompute> policies;
  std::string misfit = parseRecompute(
      command.recompute, command.stages * command.chunksPerStage, policies);
  if (!misfit.empty())
    return "--recompute: " + misfit;
  misfit = checkRecomputeAhead(command, policies);
  if (!misfit.empty())
    return misfit;
  if (command.memoryLimits.empty()) {
    bool isAuto = std::find(policies.begin(), policies.end(),
                            Recompute{RecomputeKind::Auto}) != policies.end();
    return isAuto ? "--recompute: 'auto' is a choice within a limit of memory; "
                    "give one with --memory-limit"
                  : "";
  }
  std::vector<int64_t> limits;
  misfit = parseMemoryLimits(command.memoryLimits, command.stages, limits);
  return misfit.empty() ? "" : "--memory-limit: " + misfit;
}

/// Returns what is wrong with the options about lengths, or an empty string.
static std::string checkLengths(const CLI::App &app,
                                const CompileCommand &command) {
  if (!command.lengthBound)
    return app.count("--length-multiple") ? "--length-multiple says which "
                                            "lengths there are up to a bound; "
                                            "give one with --length-bound"
                                          : "";
  if (command.lengthBound % command.lengthMultiple != 0)
    return "--length-bound " + std::to_string(command.lengthBound) +
           " is no multiple of --length-multiple " +
           std::to_string(command.lengthMultiple);
  return "";
}

/// Whether some work of a step runs in the next step.
static bool isLate(const schedule::Generator &generator) {
  return generator.slips ||
         generator.semantics != schedule::UpdateSemantics::Synchronous;
}

/// Returns what is wrong with the options about GPUs, or an empty string.
static std::string checkGpu(const CLI::App &app,
                            const CompileCommand &command) {
  bool isCuda = command.target == "cuda";
  for (const char *name :
       {"--gpu-chips", "--compute-streams", "--products", "--no-deterministic",
        "--no-epilogues", "--cuda-toolkit", "--sums"})
    if (!isCuda && app.count(name))
      return std::string(name) + " is about GPUs; give --target cuda";
  if (isCuda && command.rules == "mpi")
    return "--verify-communication: messages between GPUs go by NCCL's rules; "
           "leave it out, or give nccl";
  auto known = schedule::findGenerator(command.schedule);
  if (isCuda && known && isLate(**known) && command.computeStreams == "chunk")
    return "--compute-streams chunk is for steps that end before the next one "
           "begins, and schedule '" +
           command.schedule +
           "' runs a part of them in the next one; leave it out, or take "
           "'zb-v'";
  std::vector<std::string> chips = command.gpuChips;
  std::sort(chips.begin(), chips.end());
  if (auto twice = std::adjacent_find(chips.begin(), chips.end());
      twice != chips.end())
    return "--gpu-chips: '" + *twice + "' is there twice";
  if (chips.size() > 1 &&
      std::find(chips.begin(), chips.end(), "ptx") != chips.end())
    return "--gpu-chips: ptx means PTX alone; beside native code it is there "
           "anyway";
  return "";
}

/// Returns what is wrong with the options about the source of times, or an
/// empty string.
static std::string checkTimes(const CompileCommand &command) {
  const std::string &table = command.machineTable.path;
  if (table.empty() || table == "none")
    return "";
  if (!command.profile.empty())
    return "--machine-table is for models without a profile, and --profile "
           "names one; give one of them";
  return command.target == "host"
             ? ""
             : "--machine-table is of a CPU, and --target is " + command.target;
}

/// Returns what is wrong with --script, or an empty string. The script may
/// determine sizes, so options that depend on these are checked by passes.
static std::string checkScript(const CLI::App &app, CompileCommand &command) {
  for (const CLI::Option *option : app.get_options())
    if (option->count() > 0)
      for (const std::string &name : option->get_lnames())
        command.given.push_back(name);
  return app.count("--length-bound")
             ? "--length-bound makes a version of the model for each length, "
               "and a script works on one function; leave one of them out"
             : "";
}

/// Returns what is wrong with options that depend on sizes, or an empty string.
static std::string checkSizes(const CLI::App &app, CompileCommand &command) {
  std::string misfit = checkOffload(app, command);
  if (!misfit.empty())
    return misfit;
  if (!command.script.empty())
    return checkScript(app, command);
  misfit = checkSchedule(app, command);
  if (misfit.empty())
    misfit = checkObjective(command);
  if (misfit.empty())
    misfit = checkLengths(app, command);
  if (misfit.empty())
    misfit = checkWidths(command);
  if (misfit.empty())
    misfit = checkShards(command);
  return misfit.empty() ? checkMemory(command) : misfit;
}

std::string compiler::checkOptions(const CLI::App &app,
                                   CompileCommand &command) {
  std::string misfit = checkName("target", command.target, {"host", "cuda"});
  if (misfit.empty())
    misfit = checkGpu(app, command);
  if (misfit.empty())
    misfit = checkName("optimizer", command.optimizer, optimizerNames());
  if (misfit.empty())
    misfit = checkTimes(command);
  if (misfit.empty() && !command.placement.empty())
    misfit = checkName("placement", command.placement,
                       {"linear", "interleaved", "v", "wave"});
  if (misfit.empty())
    misfit = checkSizes(app, command);
  if (misfit.empty())
    misfit = checkName("clip-sync", command.clipSync,
                       {"none", "barrier", "optimistic"});
  if (misfit.empty())
    misfit = checkClipSync(command);
  return misfit.empty() ? checkLossWeight(command) : misfit;
}
