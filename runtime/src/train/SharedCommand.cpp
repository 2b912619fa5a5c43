//===- SharedCommand.cpp - options of both train and eval -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedCommand.h"

#include "veeline/Base/CommandLine.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <tuple>

using namespace veeline;
using namespace veeline::train;

std::string train::checkCount(const std::string &text) {
  int64_t count = 0;
  bool valid = CLI::detail::lexical_cast(text, count) && count >= 1;
  return valid ? "" : text + " is not a whole number of 1 or more";
}

void train::addDataOptions(CLI::App &app, SharedCommand &command) {
  Options &options = command.options;
  app.add_option("--data", options.inputs.specs,
                 "Data of an argument, once for each: NAME=FILE.npy, "
                 "NAME=FILE.safetensors:ENTRY, NAME=text:FILE or "
                 "NAME=text:FILE:shift=K (bytes as integers, random windows), "
                 "NAME=tokens:FILE.npy or NAME=tokens:FILE.bin:uint16 (windows "
                 "of tokens, of several files with commas), "
                 "NAME=random or NAME=random:fixed (see --synthetic)")
      ->type_name("NAME=SOURCE")
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--text", command.text,
                 "Short for --data tokens=text:FILE "
                 "--data labels=text:FILE:shift=1")
      ->type_name("FILE")
      ->check(commandline::checkFileName);
  app.add_option("--tokens", command.tokens,
                 "Short for --data tokens=tokens:FILES "
                 "--data labels=tokens:FILES:shift=1, where FILES are "
                 "FILE.npy or FILE.bin:uint16, with commas, and each may have "
                 "a weight, as in a.npy:weight=2,b.npy:weight=1")
      ->type_name("FILES")
      ->check(checkTokenFiles);
  app.add_option("--documents", command.documents,
                 "The token that ends a document of --tokens and "
                 "--eval-tokens. Arguments 'documents', 'positions' and "
                 "'inside' get what says so of each token: "
                 "NAME=tokens:FILES:NAME=TOKEN")
      ->type_name("TOKEN")
      ->check(CLI::Range(int64_t(0), int64_t(UINT32_MAX)));
  app.add_option("--synthetic", command.synthetic,
                 "Random data for all arguments without --data: new values in "
                 "each step (fresh), or one batch for all steps (fixed)")
      ->check(CLI::IsMember({"fixed", "fresh"}));
  app.add_option("--lengths", options.inputs.lengths,
                 "The length of each sample, as a .npy file of integers, for a "
                 "model compiled with --length-bound [default: the bound]")
      ->type_name("FILE")
      ->check(commandline::checkFileName);
  app.add_flag("--drop-last", options.inputs.dropLast,
               "Leave out the last samples if they do not fill a step");
  app.add_option(
         "--seed", options.inputs.seed,
         "Seed of initial parameters, the order of data, and random data")
      ->capture_default_str();
}

static std::string checkTimeout(const std::string &text) {
  double seconds = 0;
  bool valid = CLI::detail::lexical_cast(text, seconds) && seconds >= 0.1 &&
               seconds <= 86400;
  return valid ? "" : text + " is not a number of seconds from 0.1 to 86400";
}

/// A page under a name like "x.htm" would be a trace. Names without an ending
/// may be pipes.
static std::string checkTimelineName(const std::string &path) {
  std::string ending = std::filesystem::path(path).extension().string();
  if (ending.empty() || ending == ".html" || ending == ".json")
    return "";
  return "'" + path +
         "' ends neither in .html, for a page, nor in .json, for a trace";
}

void train::addTimelineOptions(CLI::App &app, Options &options,
                               const std::string &group) {
  CLI::Option *timeline =
      app.add_option("--timeline", options.timeline,
                     "Write the last steps, one lane per rank: an interactive "
                     "page if the name ends in .html, a Chrome trace if it "
                     "ends in .json")
          ->type_name("FILE")
          ->check(commandline::checkFileName)
          ->check(checkTimelineName, "")
          ->group(group);
  app.add_option("--timeline-steps", options.timelineSteps,
                 "How many steps the timeline has")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000))
      ->needs(timeline)
      ->group(group);
}

static constexpr const char *environmentHelp =
    "Ranks are threads, unless a launcher starts a process for each. The "
    "environment says\nwhich one this is:\n"
    "  mpirun, srun               Open MPI's and Slurm's own variables\n"
    "  RANK, WORLD_SIZE           Without these: which process of how many\n"
    "  LOCAL_RANK                 Which one of this machine; may be left out, "
    "and chooses\n"
    "                             nothing on the target host\n"
    "  MASTER_ADDR, MASTER_PORT   Where rank 0 listens "
    "[default: 127.0.0.1, 29500]\n"
    "  VEELINE_TOKEN              A secret that all processes share; needed "
    "where others can\n"
    "                             reach MASTER_ADDR";

void train::addProcessOptions(CLI::App &app, Options &options) {
  app.footer(environmentHelp);
  app.add_option("--transport", options.transport,
                 "How processes send messages: tcp, mpi, or auto, which is mpi "
                 "under mpirun")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "tcp", "mpi"}))
      ->group("Several processes");
  app.add_option("--rank-order", options.rankOrder,
                 "Which rank runs which stage of which replica: stages-first "
                 "(the stages of a replica have consecutive ranks), "
                 "replicas-first, or a list, such as 0,2,1,3: the ranks of all "
                 "stages of replica 0, then 1, ...")
      ->capture_default_str()
      ->type_name("ORDER")
      ->group("Several processes");
  app.add_option("--timeout", options.timeoutSeconds,
                 "Seconds within which all processes end after one of them is "
                 "gone or silent, or after all of them wait")
      ->capture_default_str()
      ->check(CLI::Validator(checkTimeout, "SECONDS"))
      ->group("Several processes");
  app.add_option("--stall-timeout", options.stallSeconds,
                 "Seconds without progress after which a process that "
                 "computes, reads or writes, a GPU, or the file system of a "
                 "checkpoint counts as failed")
      ->capture_default_str()
      ->check(CLI::Validator(checkTimeout, "SECONDS"))
      ->group("Several processes");
}

/// Parses the two numbers of a text such as "1,4"; none if it is different.
static std::optional<std::pair<int32_t, int32_t>>
parseChannels(const std::string &text) {
  constexpr int32_t most = 64; // NCCL has no more.
  int32_t least = 0, greatest = 0;
  const char *end = text.data() + text.size();
  auto [comma, error] = std::from_chars(text.data(), end, least);
  if (error != std::errc() || comma == end || *comma != ',')
    return std::nullopt;
  auto [rest, otherError] = std::from_chars(comma + 1, end, greatest);
  if (otherError != std::errc() || rest != end || least < 1 ||
      greatest < least || greatest > most)
    return std::nullopt;
  return std::pair(least, greatest);
}

static std::string checkChannels(const std::string &text) {
  return parseChannels(text) ? ""
                             : "'" + text +
                                   "' is not MIN,MAX, as in 1,4: two numbers "
                                   "from 1 to 64, the first one not the "
                                   "greater one";
}

void train::addDeviceOptions(CLI::App &app, SharedCommand &command) {
  cuda::CudaOptions &options = command.options.cuda;
  std::string group = "GPUs, for an artifact of the target cuda";
  app.add_option("--cuda-driver", options.driver,
                 "The CUDA driver's library [default: libcuda.so.1]")
      ->type_name("FILE")
      ->check(commandline::checkFileName)
      ->group(group);
  app.add_option("--cublaslt", options.blasLt,
                 "cuBLASLt's library [default: libcublasLt.so.13, then .12]")
      ->type_name("FILE")
      ->check(commandline::checkFileName)
      ->group(group);
  app.add_option(
         "--nccl", options.nccl,
         "NCCL's library, for ranks that are processes [default: libnccl.so.2]")
      ->type_name("FILE")
      ->check(commandline::checkFileName)
      ->group(group);
  app.add_option(
         "--nccl-channels", command.ncclChannels,
         "How many channels NCCL may use for a communicator, as MIN,MAX "
         "[default: NCCL chooses]")
      ->check(CLI::Validator(checkChannels, "MIN,MAX"))
      ->group(group);
  app.add_option("--cudnn", options.cudnn,
                 "cuDNN's library, or none: then, and if it is not installed, "
                 "convolutions are matrix products or kernels, and attention "
                 "uses our kernels [default: libcudnn.so.9]")
      ->type_name("FILE|none")
      ->check(commandline::checkFileName)
      ->group(group);
  app.add_option(
         "--device", options.devices,
         "The GPU of each rank, such as 0,0,1,1, or of this process [default: "
         "0 for threads, the number of the local rank for processes]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(0, 65535))
      ->type_name("GPU,...")
      ->group(group);
  app.add_flag("--eager", options.isEager,
               "Issue each step anew, without CUDA graphs")
      ->group(group);
}

void train::addInitNames(CLI::App &app, Options &options) {
  app.add_option("--init-names", options.initNames,
                 "The names that parameters have in the files of --init: lines "
                 "'PARAMETER NAME', or 'PARAMETER NAME transposed' or "
                 "permuted=3,2,0,1 (docs/checkpoints.md), where a * stands for "
                 "the same text in both")
      ->type_name("FILE")
      ->check(commandline::checkFileName)
      ->needs(app.get_option("--init"));
}

std::string train::checkTokenFiles(const std::string &files) {
  if (files.empty())
    return "names no file";
  for (const char *option :
       {":shift=", ":documents=", ":positions=", ":inside="})
    if (files.find(option) != std::string::npos)
      return std::string("takes files and their weights; '") + option +
             "' goes with --data" +
             (option == std::string_view(":shift=")
                  ? ""
                  : ", or give --documents and the token that ends one");
  return "";
}

void train::addWindows(const std::string &kind, const std::string &files,
                       std::vector<std::string> &specs) {
  if (files.empty())
    return;
  specs.push_back("tokens=" + kind + files);
  specs.push_back("labels=" + kind + files + ":shift=1");
}

std::string train::checkDocuments(const SharedCommand &command) {
  return command.documents && command.tokens.empty()
             ? "--documents says where documents of --tokens end, and there "
               "are none; give --tokens FILES, or 'documents=TOKEN' in --data"
             : "";
}

void train::addDocuments(const std::string &files,
                         std::optional<int64_t> separator,
                         std::vector<std::string> &specs) {
  if (files.empty() || !separator)
    return;
  for (const std::string name : {"documents", "positions", "inside"})
    specs.push_back(name + "=tokens:" + files + ":" + name + "=" +
                    std::to_string(*separator));
}

void train::resolveShared(SharedCommand &command) {
  Options &options = command.options;
  if (auto channels = parseChannels(command.ncclChannels))
    std::tie(options.cuda.minNcclChannels, options.cuda.maxNcclChannels) =
        *channels;
  addWindows("text:", command.text, options.inputs.specs);
  addWindows("tokens:", command.tokens, options.inputs.specs);
  addDocuments(command.tokens, command.documents, options.inputs.specsIfTaken);
  if (!command.synthetic.empty())
    options.inputs.otherwise =
        command.synthetic == "fixed" ? "random:fixed" : "random";
}
