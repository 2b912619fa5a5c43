//===- Options.cpp - the command lines of compile and inspect -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Compiler/Options.h"
#include "OptionChecks.h"

#include "veeline/Analysis/Recompute.h"
#include "veeline/Base/CommandLine.h"
#include "veeline/Base/Completion.h"
#include "veeline/Pipelines/Limits.h"
#include "veeline/Schedule/Formats/Formats.h"
#include "veeline/Schedule/Generators.h"
#include "veeline/Schedule/Text.h"

#include "veeline/Base/Suggest.h"
#include "veeline/artifact.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>

using namespace veeline;
using namespace veeline::compiler;

static void addImportOptions(CLI::App &app, ImportCommand &command) {
  std::string group = "Model";
  app.add_option("--entry", command.entry,
                 "The model function (default: the only candidate)")
      ->group(group);
  app.add_option(
         "--params", command.params,
         "The arguments that are parameters, in place of those that look like "
         "weights: positions from 0, ranges or name patterns, such as "
         "1,3-5,w*. Constants of these names are parameters, too. For files "
         "whose arguments do not say what they are")
      ->delimiter(',')
      ->group(group);
  app.add_option("--freeze", command.freeze,
                 "Parameters that are not trained: names, patterns, positions "
                 "or ranges")
      ->delimiter(',')
      ->group(group);
  app.add_option("--buffer", command.buffer,
                 "Arguments that are the same for all data, such as tables of "
                 "positions: names, patterns, positions or ranges (default: "
                 "those that look like it; none: no argument)")
      ->delimiter(',')
      ->group(group);
  app.add_option("--joint", command.joint,
                 "The model also computes its derivative, and its last results "
                 "are the gradients or the new values (updates) of --params, "
                 "in their order. For files whose results do not say so")
      ->check(CLI::IsMember({"gradients", "updates"}))
      ->needs(app.get_option("--params"))
      ->group(group);
  app.add_option("--loss", command.loss,
                 "Loss to attach to a result: cross-entropy, mse or sum")
      ->check(CLI::IsMember({"cross-entropy", "mse", "sum"}))
      ->group(group);
  app.add_option("--result", command.result,
                 "Number of the result that the loss is made of (default: the "
                 "first, or the only one of floats)")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 20))
      ->group(group);
  app.add_option("--microbatch-size", command.microbatchSize,
                 "For a model of one sample: how many samples a microbatch has")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
      ->group(group);
  app.add_option("--retype", command.retype,
                 "f64: compute everything in f64 that the file computes in "
                 "smaller floats, to check gradients")
      ->check(CLI::IsMember({"f64"}))
      ->group(group);
  app.add_flag("--verbose", command.verbose,
               "Report each argument of the model, not each kind of arguments")
      ->group(group);
}

static void addMachineTable(CLI::App &app, MachineTableOption &option,
                            const std::string &when) {
  app.add_option("--machine-table", option.path,
                 when + " the times of products, convolutions and loops from "
                        "this file of veeline doctor --calibrate, or none "
                        "(default: that of the user's cache, where it is of "
                        "this CPU)")
      ->type_name("FILE")
      ->check(commandline::checkFileName);
}

/// Adds a flag that sets `value` to false. CLI11's own form of such a flag,
/// "!--no-x", would appear as "--no-x{false}" in --help.
static void addNoFlag(CLI::App &app, const char *name, bool &value,
                      const char *description) {
  app.add_flag_callback(
      name, [&value] { value = false; }, description);
}

static void addSizeOptions(CLI::App &app, CompileCommand &command) {
  app.add_option("--stages", command.stages,
                 "Stages p, one rank each (see --stage-replicas)")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{4096}));
  app.add_option("--chunks-per-stage", command.chunksPerStage,
                 "Chunks of each stage v")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{4096}));
  app.add_option("--microbatches", command.microbatches,
                 "Microbatches of a step m")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20));
  app.add_option("--replicas", command.replicas,
                 "Pipelines side by side d (data parallelism), with p ranks "
                 "and m microbatches each; their gradients are added up")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{4096}));
  app.add_option("--stage-replicas", command.stageReplicas,
                 "Ranks of each stage, as 2,1,1: microbatches go to them "
                 "round-robin, and their gradients are added up (default: one "
                 "each)")
      ->delimiter(',')
      ->check(CLI::Range(int64_t{1}, int64_t{4096}));
  app.add_option("--length-bound", command.lengthBound,
                 "For a model whose batch arguments have a dynamic dimension: "
                 "the largest length of a microbatch")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20));
  app.add_option("--length-multiple", command.lengthMultiple,
                 "With --length-bound: lengths are rounded up to a multiple of "
                 "this; the model is compiled for each such length")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20));
}

static void addScheduleOptions(CLI::App &app, CompileCommand &command) {
  app.add_option("--schedule", command.schedule,
                 "Name of the schedule, or file:PATH with an order in .csv or "
                 ".json")
      ->capture_default_str()
      ->check(commandline::offer(schedule::scheduleNames()));
  app.add_option(
         "--objective", command.objective,
         "What a schedule with a choice minimises: period (the time from one "
         "step to the next), makespan (the time of a single step) or span (the "
         "same of its slowest rank) [default: period]")
      ->check(CLI::IsMember({"period", "makespan", "span"}))
      ->option_text("period|makespan|span");
  app.add_option("--placement", command.placement,
                 "linear, interleaved, v or wave (default: the schedule's)")
      ->check(commandline::offer({"linear", "interleaved", "v", "wave"}));
  app.add_option("--partition", command.pieces,
                 "Pieces of each chunk in model order, as 12,13,13,11 (see "
                 "veeline inspect --pieces, and --fine-pieces; default: chosen "
                 "by cost)")
      ->delimiter(',');
  app.add_option("--profile", command.profile,
                 "Choose cuts and schedule by the times of pieces and messages "
                 "in this file of veeline train --profile")
      ->type_name("FILE")
      ->check(commandline::checkFileName);
  addMachineTable(app, command.machineTable, "Without a profile: take");
  app.add_option("--script", command.script,
                 "Run the transform script in this file on the model, and then "
                 "what the script has not done, as the other options say")
      ->type_name("FILE")
      ->check(commandline::checkFileName);
  app.add_option("--optimizer", command.optimizer,
                 listOptimizers() + "; it determines the state that is kept")
      ->capture_default_str()
      ->check(commandline::offer(optimizerNames()));
  app.add_flag(
      "--shard-optimizer", command.shardOptimizer,
      "With --replicas or --stage-replicas: each rank of a stage updates only "
      "a share of the parameters, and keeps only that share of the optimiser's "
      "state; results are the same to the bit");
  app.add_flag("--error-feedback", command.errorFeedback,
               "Each update corrects itself by the update before, against the "
               "delay of asynchronous schedules; this needs memory for one "
               "more copy of the parameters");
  app.add_option("--clip-sync", command.clipSync,
                 "How updates learn the norm of all gradients, for train "
                 "--clip-norm and --skip-nonfinite: none, barrier (every "
                 "update waits for the gradients of all ranks) or optimistic "
                 "(updates do not wait, and are repeated if they were wrong)")
      ->check(commandline::offer({"none", "barrier", "optimistic"}))
      ->capture_default_str();
  app.add_flag("--loss-scaling", command.lossScaling,
               "Multiply the loss by the number that train --loss-scale sets, "
               "so that small gradients do not vanish in f16");
  app.add_option("--loss-weight", command.lossWeight,
                 "The result of the model, such as metric1, that is the weight "
                 "of a microbatch, such as its number of tokens: the loss of a "
                 "step, and gradients, are means weighted by it (default: all "
                 "microbatches count alike)")
      ->type_name("NAME");
}

static void addCommunicationOptions(CLI::App &app, CompileCommand &command) {
  app.add_option("--communication", command.communication,
                 "How messages are sent and received: p2p, batched, ring, "
                 "overlap, or duplex (experimental), for GPUs that can run two "
                 "NCCL operations at once")
      ->capture_default_str()
      ->check(CLI::IsMember({"p2p", "batched", "ring", "overlap", "duplex"}))
      ->option_text("p2p|batched|ring|overlap|duplex [overlap]");
  app.add_option(
         "--verify-communication", command.rules,
         "The rules under which messages are planned and proved (default: on a "
         "GPU nccl, or nccl-duplex for duplex; on a host mpi for overlap and "
         "duplex, otherwise nccl, which is correct under both)")
      ->check(CLI::IsMember({"mpi", "nccl", "nccl-duplex"}))
      ->option_text("mpi|nccl|nccl-duplex");
  app.add_option("--split-messages", command.splitMessages,
                 "Number of parts of a message: while one part travels, the "
                 "next is copied")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{1024}));
}

static void addMemoryOptions(CLI::App &app, CompileCommand &command) {
  app.add_option("--recompute", command.recompute,
                 "What backwards recompute instead of keeping it: none, "
                 "balanced (the default), cheap, full, a ratio of a chunk's "
                 "pieces such as 0.5, a rate such as 64B/ns, or auto (as much "
                 "as --memory-limit requires); one for all chunks, or one for "
                 "each in model order, such as full,none")
      ->delimiter(',');
  app.add_flag("--recompute-ahead", command.recomputeAhead,
               "Recompute by operations of their own ahead of the backwards, "
               "so that ranks do it while they wait for gradients");
  app.add_option("--offload", command.offload,
                 "Let what chunks keep for their backwards wait in the host's "
                 "memory, as far as copies over a link of this bandwidth each "
                 "way cost no time, or as --memory-limit demands: as 25GB/s")
      ->type_name("BANDWIDTH");
  app.add_option("--memory-limit", command.memoryLimits,
                 "The largest arena of a rank, such as 2GiB; one limit for all "
                 "ranks, or one for the ranks of each stage")
      ->delimiter(',');
}

static void addTargetOptions(CLI::App &app, CompileCommand &command) {
  app.add_option("--target", command.target,
                 "What to compile for: host, or cuda for NVIDIA GPUs")
      ->capture_default_str()
      ->check(commandline::offer({"host", "cuda"}));
  app.add_option("--gpu-chips", command.gpuChips,
                 "With --target cuda: the chips to make native code for, such "
                 "as sm_80,sm_90 (default: sm_80,sm_90,sm_100), and PTX of the "
                 "last one for later chips; or ptx: only PTX, which the driver "
                 "compiles and which needs no toolkit")
      ->delimiter(',');
  app.add_option("--compute-streams", command.computeStreams,
                 "With --target cuda: one compute stream for each rank, or one "
                 "for each chunk of a rank (experimental), so that independent "
                 "operations of different chunks can run at the same time; the "
                 "order of operations and the results are the same")
      ->capture_default_str()
      ->check(CLI::IsMember({"one", "chunk"}))
      ->option_text("one|chunk [one]");
  app.add_option("--products", command.products,
                 "With --target cuda: the precision of f32 matrix products, "
                 "convolutions and attention: f32, or tf32, whose operands "
                 "have 10 bits after the point; sums are in f32")
      ->capture_default_str()
      ->check(CLI::IsMember({"f32", "tf32"}))
      ->option_text("f32|tf32 [f32]");
  app.add_option("--sums", command.sums,
                 "With --target cuda: how processes add up gradients: nccl, by "
                 "NCCL's own sums, or ordered, in the order of the replicas; "
                 "of more than two, only ordered has the bits of the "
                 "sequential program, and it needs memory for what the others "
                 "send")
      ->capture_default_str()
      ->check(CLI::IsMember({"nccl", "ordered"}))
      ->option_text("nccl|ordered [nccl]");
  addNoFlag(app, "--no-deterministic", command.deterministic,
            "With --target cuda: allow sums in any order, for gradients of "
            "embeddings (by atomic additions) and for cuDNN's gradients of "
            "queries; faster or in less memory, but two runs may differ");
  addNoFlag(app, "--no-epilogues", command.epilogues,
            "With --target cuda: compute biases, GELU and sums of gradients "
            "in kernels after a matrix product, not in cuBLASLt");
  app.add_option("--cuda-toolkit", command.cudaToolkit,
                 "With --target cuda: the directory of the CUDA toolkit "
                 "(default: $CUDA_HOME, $CUDA_PATH, /usr/local/cuda, or that "
                 "of ptxas on PATH)")
      ->type_name("DIR");
  app.add_option("--cpu", command.cpu,
                 "CPU to generate code for, by LLVM's name (znver4, "
                 "x86-64-v3, ...), or native")
      ->capture_default_str();
  app.add_option("-O,--optimize", command.optimizationLevel,
                 "How much to optimise code, 0 to 3; less compiles faster, and "
                 "results are the same to the bit")
      ->capture_default_str()
      ->check(CLI::Range(0u, 3u))
      ->option_text("LEVEL [3]");
}

static void addOutputOptions(CLI::App &app, CompileCommand &command) {
  addNoFlag(
      app, "--no-reference", command.reference,
      "Leave out the model without chunks, which train --verify compares with");
  CLI::Option *evaluation = app.add_flag(
      "--evaluation", command.evaluation,
      "Also compile a forward-only program, for train --eval-every and veeline "
      "eval; it has its own schedule and memory, on the same ranks");
  app.add_flag("--forward-only", command.forwardOnly,
               "Compile only a forward-only program, for veeline eval: ops "
               "need no derivative, and there is no memory for training")
      ->excludes(evaluation);
  app.add_option(
         "--dump-ir", command.dumpDirectory,
         "Write the IR of every phase to this directory, which is created if "
         "it does not exist; complete files stay if compiling fails")
      ->check(commandline::checkFileName);
  app.add_option("--cache", command.cacheDirectory,
                 "Keep machine code in this directory, and reuse it: functions "
                 "that have not changed since an earlier compilation are not "
                 "compiled again (default: none)")
      ->type_name("DIR")
      ->envname("VEELINE_CACHE")
      ->check(commandline::checkFileName);
  CLI::Option *quiet =
      app.add_flag("-q,--quiet", command.quiet, "Print nothing but errors");
  app.add_flag("--json", command.json,
               "Print what was made, and how long that took, as JSON, and no "
               "text")
      ->excludes(quiet);
}

static void addCompileOptions(CLI::App &app, CompileCommand &command) {
  app.add_option("model", command.model, "The model: MLIR as text or bytecode")
      ->required();
  app.add_option("-o,--output", command.output,
                 "The artifact (default: the model's name with .vee)")
      ->check(commandline::checkFileName);
  addImportOptions(app, command.import);
  addSizeOptions(app, command);
  addScheduleOptions(app, command);
  addCommunicationOptions(app, command);
  addMemoryOptions(app, command);
  addTargetOptions(app, command);
  addOutputOptions(app, command);
}

std::vector<commandline::OptionName> veeline::compiler::listCompileOptions() {
  CompileCommand command;
  CLI::App app;
  addCompileOptions(app, command);
  return commandline::listOptions(app);
}

/// Why the file with the order cannot be read, if that is so.
static std::optional<std::string> findWrongFile(const CompileCommand &command) {
  std::optional<std::string> path =
      schedule::scheduleFilePath(command.schedule);
  if (!path)
    return std::nullopt;
  auto file = schedule::readScheduleFile(*path);
  if (file)
    return std::nullopt;
  return "--schedule: " + file.error().message;
}

Parsed<CompileCommand>
veeline::compiler::parseCompile(int argc, const char *const *argv) {
  CompileCommand command;
  CLI::App app("Compile a model into an artifact for veeline train",
               "veeline compile");
  addCompileOptions(app, command);
  if (std::optional<int> code = commandline::parse(app, argc, argv))
    return {std::nullopt, *code};
  // A file that is wrong is no wrong command line.
  if (std::optional<std::string> wrong = findWrongFile(command)) {
    commandline::printError(*wrong);
    return {std::nullopt, 1};
  }
  std::string misfit = checkOptions(app, command);
  if (!misfit.empty())
    return {std::nullopt, commandline::failUsage(app, misfit)};
  if (command.output.empty())
    command.output =
        std::filesystem::path(command.model).replace_extension(".vee");
  return {command, 0};
}

std::vector<std::string> veeline::compiler::listMemoryOptions() {
  std::vector<std::string> names;
  for (const commandline::OptionName &option : listCompileOptions())
    if (option.name != "output" && option.name != "quiet" &&
        option.name != "json")
      names.push_back(option.name);
  return names;
}

std::optional<CompileCommand>
veeline::compiler::parseCompileOptions(const CompileOptionList &options,
                                       std::string &error) {
  std::vector<std::string> names = listMemoryOptions();
  std::vector<std::string> words{"compile", "model"};
  for (const auto &[name, value] : options) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      error = "there is no option '" + name + "' of compiling in memory" +
              suggestionOfOption(name, names);
      return std::nullopt;
    }
    words.push_back("--" + name + (value ? "=" + *value : ""));
  }
  std::vector<const char *> arguments(words.size());
  std::ranges::transform(words, arguments.begin(), &std::string::c_str);
  commandline::ErrorCapture capture;
  Parsed<CompileCommand> parsed =
      parseCompile(static_cast<int>(arguments.size()), arguments.data());
  error = capture.message;
  return std::move(parsed.command);
}

/// Joins texts in the form "2,1,1".
static std::string join(const std::vector<std::string> &texts) {
  std::string joined;
  for (const std::string &text : texts)
    joined += (joined.empty() ? "" : ",") + text;
  return joined;
}

static std::string join(const std::vector<int64_t> &numbers) {
  std::vector<std::string> texts;
  texts.reserve(numbers.size());
  for (int64_t number : numbers)
    texts.push_back(std::to_string(number));
  return join(texts);
}

std::vector<std::pair<std::string, std::string>>
veeline::compiler::describeOptions(const CompileCommand &command) {
  std::vector<std::pair<std::string, std::string>> options;
  auto add = [&](const char *name, const std::string &value,
                 const std::string &none = "") {
    if (!value.empty() && value != none)
      options.emplace_back(name, value);
  };
  auto addNumber = [&](const char *name, int64_t value, int64_t none) {
    add(name, std::to_string(value), std::to_string(none));
  };
  const ImportCommand &import = command.import;
  add("entry", import.entry);
  add("params", join(import.params));
  add("joint", import.joint);
  add("freeze", join(import.freeze));
  add("buffer", join(import.buffer));
  add("loss", import.loss);
  if (import.result)
    add("result", std::to_string(*import.result));
  addNumber("microbatch-size", import.microbatchSize, 1);
  add("retype", import.retype);
  add("stages", std::to_string(command.stages));
  add("chunks-per-stage", std::to_string(command.chunksPerStage));
  add("microbatches", std::to_string(command.microbatches));
  addNumber("replicas", command.replicas, 1);
  add("stage-replicas", join(command.stageReplicas));
  if (command.lengthBound) {
    add("length-bound", std::to_string(command.lengthBound));
    add("length-multiple", std::to_string(command.lengthMultiple));
  }
  add("schedule", command.schedule);
  if (!command.forwardOnly)
    add("objective", objectiveOf(command));
  add("placement", command.placement);
  add("partition", join(command.pieces));
  if (!command.forwardOnly)
    add("optimizer", command.optimizer);
  add("shard-optimizer", command.shardOptimizer ? "true" : "");
  add("error-feedback", command.errorFeedback ? "true" : "");
  add("clip-sync", command.clipSync, "none");
  add("loss-scaling", command.lossScaling ? "true" : "");
  add("loss-weight", command.lossWeight);
  add("communication", command.communication);
  add("verify-communication", command.rules);
  addNumber("split-messages", command.splitMessages, 1);
  add("recompute", join(command.recompute));
  add("recompute-ahead", command.recomputeAhead ? "true" : "");
  add("memory-limit", join(command.memoryLimits));
  add("offload", command.offload);
  add("cpu", command.cpu);
  addNumber("optimize", command.optimizationLevel, 3);
  add("target", command.target, "host");
  add("compute-streams", command.computeStreams, "one");
  add("products", command.products, "f32");
  add("sums", command.sums, "nccl");
  add("no-deterministic", command.deterministic ? "" : "true");
  add("no-epilogues", command.epilogues ? "" : "true");
  add("gpu-chips", join(command.gpuChips));
  add("no-reference", command.reference ? "" : "true");
  add("evaluation", command.evaluation ? "true" : "");
  add("forward-only", command.forwardOnly ? "true" : "");
  add("script", command.script);
  add("profile", command.profile);
  add("machine-table", command.machineTable.path, "none");
  return options;
}

/// Whether a file is a model, by its content, because models have all sorts of
/// names. A file called .vee is an artifact, even if its content is damaged.
static bool isModel(const std::string &path) {
  return !path.ends_with(".vee") && !artifact::isArtifact(path);
}

/// Returns why an option contradicts the file or another option, or an empty
/// string.
static std::string findMisfit(const CLI::App &app,
                              const InspectCommand &command) {
  bool isModel = command.isModel;
  for (std::string name :
       {"--pieces", "--fine-pieces", "--entry", "--params", "--joint",
        "--freeze", "--buffer", "--loss", "--result", "--microbatch-size",
        "--retype", "--verbose", "--length-bound", "--machine-table"})
    if (!isModel && app.count(name))
      return name + " is about a model, and '" + command.file +
             "' is an artifact";
  for (std::string name :
       {"--parameters", "--kernels", "--memory", "--memory-svg", "--schedule",
        "--communication", "--program"})
    if (isModel && app.count(name))
      return name + " is about an artifact, and '" + command.file +
             "' is a model; compile it first";
  return "";
}

Parsed<InspectCommand>
veeline::compiler::parseInspect(int argc, const char *const *argv) {
  InspectCommand command;
  CLI::App app("Print what is in a model or an artifact", "veeline inspect");
  app.add_option("file", command.file,
                 "A model (MLIR as text or bytecode) or an artifact")
      ->required();
  addImportOptions(app, command.import);
  app.add_flag("--pieces")
      ->description("The pieces of a model, as --partition counts them (the "
                    "default for a model)");
  app.add_option("--length-bound", command.lengthBound,
                 "For a model whose batch arguments have a dynamic dimension: "
                 "the length that it is printed for")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20));
  app.add_flag("--fine-pieces", command.finePieces,
               "The parts of pieces, which --partition counts if there are "
               "more chunks than pieces");
  addMachineTable(app, command.machineTable, "Of a model: take");
  app.add_flag("--parameters", command.parameters,
               "Every parameter: its type, its shape and how it starts");
  app.add_flag("--kernels", command.kernels,
               "Every kernel of an artifact for a GPU: its grid and block, its "
               "shared memory and its name");
  app.add_flag("--memory", command.memory,
               "The memory of each rank by kind, and over the predicted step");
  app.add_option("--memory-svg", command.memorySvg,
                 "Draw the memory of each rank to this .svg file")
      ->check(commandline::checkFileName);
  app.add_flag("--schedule", command.schedule, "The order of each rank");
  app.add_flag("--communication", command.communication,
               "How far ahead each receive is posted");
  app.add_option(
      "--program", command.program,
      "The program of --memory, --memory-svg, --schedule and --communication "
      "(default: the one that is trained, or the only one)");
  app.add_flag(
      "--json", command.json,
      "Print the pieces of a model, the tables of an artifact that are asked "
      "for, or else its metadata, as JSON");
  if (std::optional<int> code = commandline::parse(app, argc, argv))
    return {std::nullopt, *code};
  command.isModel = isModel(command.file);
  std::string misfit = findMisfit(app, command);
  if (!misfit.empty())
    return {std::nullopt, commandline::failUsage(app, misfit)};
  return {command, 0};
}

Parsed<DoctorCommand> veeline::compiler::parseDoctor(int argc,
                                                     const char *const *argv) {
  DoctorCommand command;
  CLI::App app("Describe this machine, and say whether it was measured",
               "veeline doctor");
  app.add_flag("--calibrate", command.calibrate,
               "Measure products, convolutions and loops, in about fifteen "
               "seconds, for the predictions of veeline compile");
  app.add_flag("--json", command.json, "Print it as JSON");
  app.add_option("-o,--output", command.output,
                 "The file of the table (default: veeline/machine.json in "
                 "$XDG_CACHE_HOME or ~/.cache)")
      ->type_name("FILE")
      ->check(commandline::checkFileName);
  auto addFile = [&](const char *name, std::string &file, const char *text) {
    app.add_option(name, file, text)
        ->type_name("FILE")
        ->check(commandline::checkFileName);
  };
  addFile("--cuda-driver", command.libraries.cudaDriver,
          "The CUDA driver's library (default: libcuda.so.1)");
  addFile("--cublaslt", command.libraries.cublasLt,
          "cuBLASLt's library (default: libcublasLt.so.13, then .12)");
  addFile("--nccl", command.libraries.nccl,
          "NCCL's library (default: libnccl.so.2)");
  addFile("--cudnn", command.libraries.cudnn,
          "cuDNN's library (default: libcudnn.so.9)");
  app.add_option("--cuda-toolkit", command.cudaToolkit,
                 "The directory of the CUDA toolkit (default: as compile)")
      ->type_name("DIR");
  if (std::optional<int> code = commandline::parse(app, argc, argv))
    return {std::nullopt, *code};
  return {command, 0};
}
