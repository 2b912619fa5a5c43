//===- Report.cpp - descriptions of artifacts as text ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Compiler/Report.h"

#include "veeline/Schedule/Result.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/raw_ostream.h"

#include "veeline/Base/ProcessLimits.h"
#include "veeline/Base/Text.h"
#include "veeline/prediction.h"

#include <algorithm>

using namespace veeline;
using namespace veeline::compiler;

static double toMiB(int64_t bytes) { return bytes / 1048576.0; }

static int64_t countElements(const artifact::Metadata &metadata) {
  int64_t count = 0;
  for (const artifact::Parameter &param : metadata.params)
    count += artifact::numElements(param.shape);
  return count;
}

/// Prints the part for GPUs: chips, kernels, and the toolkit that compiled
/// them.
static void printDevice(llvm::raw_ostream &os,
                        const artifact::DeviceCode &device,
                        llvm::StringRef target) {
  os << "target " << target << ", native code for "
     << (device.chips.empty() ? "no chip" : llvm::join(device.chips, ", "));
  if (!device.ptx.empty())
    os << ", PTX for " << device.ptx << " and later";
  if (!device.toolkit.empty())
    os << ", toolkit " << device.toolkit;
  os << ", " << counted(device.kernels.size(), "kernel") << '\n';
}

static void printChunks(llvm::raw_ostream &os,
                        const artifact::Program &program) {
  bool hasRecomputation =
      llvm::any_of(program.chunks, [](const artifact::Chunk &chunk) {
        return chunk.hasRecomputation;
      });
  os << "chunk  stage       F ms" << (hasRecomputation ? "       R ms" : "")
     << "       B ms       W ms  residuals MiB\n";
  for (auto [k, chunk] : llvm::enumerate(program.chunks)) {
    os << llvm::format("%5zu %6d %10.3f", k, chunk.stage,
                       chunk.forwardCost / 1e3);
    if (hasRecomputation)
      os << llvm::format(" %10.3f", chunk.recomputationCost / 1e3);
    os << llvm::format(" %10.3f %10.3f %14.2f\n", chunk.backwardInputCost / 1e3,
                       chunk.backwardWeightCost / 1e3,
                       toMiB(chunk.residualBytes));
  }
}

/// A time in microseconds as reports have it.
static std::string toMs(double microseconds) {
  return llvm::formatv("{0:f3}", microseconds / 1e3).str();
}

/// The busy time of a rank, in microseconds.
static double getBusy(const artifact::Rank &rank) {
  double busy = 0;
  for (const artifact::Op &op : rank.ops)
    if (isPredictedWork(op))
      busy += op.predictedEnd - op.predictedBegin;
  return busy;
}

static void printRanks(llvm::raw_ostream &os,
                       const artifact::Program &program) {
  double makespan = predictStep(program).value_or(0), least = 0;
  os << "rank   ops  busy ms (predicted)  arena MiB  peak live MiB  ratio\n";
  for (auto [i, rank] : llvm::enumerate(program.ranks)) {
    double busy = getBusy(rank);
    least = i == 0 ? busy : std::min(least, busy);
    os << llvm::format(
        "%4zu %5zu %20.3f %10.2f %14.2f %6.3f\n", i, rank.ops.size(),
        busy / 1e3, toMiB(rank.arenaBytes), toMiB(rank.peakLiveBytes),
        rank.peakLiveBytes
            ? static_cast<double>(rank.arenaBytes) / rank.peakLiveBytes
            : 1.0);
  }
  int64_t host = 0, parts = 0;
  for (const artifact::Rank &rank : program.ranks) {
    host = std::max(host, rank.hostBytes);
    parts = std::max(parts, int64_t(rank.numOffloads));
  }
  if (host > 0)
    os << llvm::format("up to %.2f MiB of a rank wait in the host's memory, "
                       "of up to %lld F a step\n",
                       toMiB(host), static_cast<long long>(parts));
  if (makespan > 0)
    os << llvm::format(
        "predicted step %.3f ms, bubble of the worst rank %.1f%% (of the "
        "makespan of all ranks)\n",
        // The maximum is needed because equal sums may differ in their last
        // bits.
        makespan / 1e3, 100.0 * std::max(0.0, 1.0 - least / makespan));
  std::optional<double> period = predictPeriod(program);
  if (period && *period > 0 && toMs(*period) != toMs(makespan))
    os << llvm::format("steps that follow one another %.3f ms each, bubble of "
                       "the worst rank %.1f%%\n",
                       *period / 1e3,
                       100.0 * std::max(0.0, 1.0 - least / *period));
}

static std::string getOption(const artifact::Metadata &metadata,
                             llvm::StringRef name) {
  for (const auto &[key, value] : metadata.options)
    if (key == name)
      return value;
  return "";
}

void veeline::compiler::printSource(llvm::raw_ostream &os,
                                    const std::string &profile,
                                    const std::string &table,
                                    const std::string &tableDate,
                                    const std::string &sharedCores,
                                    bool isOnDevice) {
  os << "times are ";
  if (!profile.empty())
    os << "from the profile '" << profile << "'\n";
  else if (!table.empty())
    os << "from the machine table '" << table << "' of " << tableDate
       << (sharedCores.empty()
               ? "\n"
               : ", messages those of ranks that share " + sharedCores +
                     (sharedCores == "1" ? " core\n" : " cores\n"));
  else
    os << "default numbers: "
       << (isOnDevice ? "veeline train --profile measures this model\n"
                      : "veeline doctor --calibrate measures this "
                        "machine, veeline train --profile this model\n");
}

/// Prints the predicted period for this machine if it has fewer cores than the
/// program has ranks. All other predictions assume one core for each rank.
static void printSharing(llvm::raw_ostream &os,
                         const artifact::Metadata &metadata,
                         const artifact::Program &program) {
  int64_t ranks = program.replicas * int64_t(program.ranks.size());
  int64_t cores = countUsableCores();
  std::optional<double> step = predictPeriod(program, cores);
  if (metadata.device || ranks <= cores || !step || *step <= 0 ||
      toMs(*step) == toMs(predictPeriod(program).value_or(0)))
    return;
  os << llvm::formatv("{0} ranks are more than the {1} of this machine: here "
                      "steps that follow one another take {2:f3} ms each\n",
                      ranks, counted(cores, "core"), *step / 1e3);
}

/// Says how stages can work at the same time, if that is why they do not. Where
/// steps wait for no update, those of other steps fill the gaps.
static void printTooFewMicrobatches(llvm::raw_ostream &os,
                                    const artifact::Metadata &metadata,
                                    const artifact::Program &program) {
  if (metadata.microbatches >= program.stages || program.forwardOnly ||
      program.asynchronous != artifact::Asynchronous::none)
    return;
  os << "with " << counted(metadata.microbatches, "microbatch") << ", "
     << (metadata.microbatches == 1 ? "only one stage works at a time"
                                    : "some stages are idle at any time")
     << "; --microbatches " << program.stages
     << " or more lets all of them work\n";
}

/// Prints one line about forwards alone, also for an artifact that trains.
static void printEvaluation(llvm::raw_ostream &os,
                            const artifact::Program &program) {
  int64_t largest = 0;
  for (const artifact::Rank &rank : program.ranks)
    largest = std::max(largest, rank.arenaBytes);
  os << "evaluation, forwards alone: "
     << llvm::format("arenas of at most %.2f MiB", toMiB(largest));
  if (std::optional<double> step = predictStep(program); step && *step > 0)
    os << llvm::format(", predicted step %.3f ms", *step / 1e3);
  os << '\n';
}

void veeline::compiler::printSummary(llvm::raw_ostream &os,
                                     const std::string &path,
                                     const artifact::Metadata &metadata) {
  os << path << ": model " << metadata.model << ", "
     << counted(metadata.params.size(), "parameter") << " with "
     << counted(countElements(metadata), "element");
  if (metadata.findProgram("pipeline"))
    os << ", optimizer "
       << describeOptimizer(metadata.optimizer, metadata.errorFeedback);
  os << ", CPU " << metadata.cpu << '\n';
  if (metadata.device)
    printDevice(os, *metadata.device, metadata.target);
  for (const artifact::Program &program : metadata.programs) {
    bool isOnly = metadata.programs.size() == 1;
    if (program.forwardOnly && !program.weighs && !isOnly)
      printEvaluation(os, program);
    if (program.name != "pipeline" && !(program.forwardOnly && isOnly))
      continue;
    os << "schedule " << program.schedule << ", "
       << counted(program.stages, "stage") << " of "
       << counted(program.chunksPerStage, "chunk") << ", "
       << counted(metadata.microbatches, "microbatch");
    if (!program.stageReplicas.empty())
      os << ", " << llvm::interleaved(program.stageReplicas, "+") << " ranks";
    if (program.replicas > 1)
      os << ", " << program.replicas << " replicas on "
         << program.replicas * program.ranks.size() << " ranks";
    if (program.sums == Sums::nccl)
      os << ", whose gradients NCCL adds up if they are processes";
    os << '\n';
    if (!metadata.lengths.empty())
      os << "lengths up to the bound " << metadata.lengths.back()
         << ", in multiples of " << metadata.lengths.front() << '\n';
    if (metadata.scalesLoss())
      os << "the loss is multiplied by what train --loss-scale says\n";
    if (metadata.lossWeight)
      os << "losses of microbatches are weighted by "
         << metadata.results[metadata.lossWeight].name << '\n';
    os << '\n';
    printChunks(os, program);
    os << '\n';
    printRanks(os, program);
    printTooFewMicrobatches(os, metadata, program);
    printSource(os, getOption(metadata, "profile"),
                getOption(metadata, "machine-table"),
                getOption(metadata, "machine-table-date"),
                getOption(metadata, "shared-cores"),
                metadata.device.has_value());
    printSharing(os, metadata, program);
  }
}

/// Describes an initialiser in the form "normal(0, 0.02)".
static std::string describeInit(const artifact::Initializer &init) {
  using Kind = artifact::Initializer::Kind;
  std::string text;
  llvm::raw_string_ostream os(text);
  switch (init.kind) {
  case Kind::zeros:
    return "zeros";
  case Kind::ones:
    return "ones";
  case Kind::constant:
    os << llvm::format("constant(%g)", init.first);
    return text;
  case Kind::normal:
    os << llvm::format("normal(%g, %g)", init.first, init.second);
    return text;
  case Kind::uniform:
    os << llvm::format("uniform(%g, %g)", init.first, init.second);
    return text;
  case Kind::values:
    return "from file" +
           (init.stored ? ", " + std::string(artifact::name(init.stored->type))
                        : std::string());
  }
  return text;
}

static std::string toText(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

void veeline::compiler::printParameters(llvm::raw_ostream &os,
                                        const artifact::Metadata &metadata) {
  os << "type  shape             init                      name\n";
  for (const artifact::Parameter &param : metadata.params) {
    std::string shape = toText(param.shape);
    std::string type(artifact::name(param.type));
    os << llvm::format("%-5s %-17s %-25s ", type.c_str(), shape.c_str(),
                       describeInit(param.init).c_str())
       << param.name << (param.frozen ? ", frozen\n" : "\n");
  }
}

void veeline::compiler::printKernels(llvm::raw_ostream &os,
                                     const artifact::DeviceCode &device) {
  auto toText = [](const std::array<int32_t, 3> &sizes) {
    return llvm::formatv("{0}x{1}x{2}", sizes[0], sizes[1], sizes[2]).str();
  };
  os << "kernel  blocks            threads      shared B  arguments  name\n";
  for (auto [i, kernel] : llvm::enumerate(device.kernels))
    os << llvm::format("%6zu  %-17s %-12s %8d  %9d  ", i,
                       toText(kernel.grid).c_str(),
                       toText(kernel.block).c_str(), kernel.sharedBytes,
                       kernel.numArguments)
       << kernel.name << '\n';
}

void veeline::compiler::printSchedule(llvm::raw_ostream &os,
                                      const artifact::Program &program) {
  for (auto [i, rank] : llvm::enumerate(program.ranks)) {
    os << "rank " << i << ':';
    for (const artifact::Op &op : rank.ops)
      if (op.chunk >= 0)
        os << ' ' << artifact::name(op.kind) << op.chunk << '.'
           << op.microbatch;
    os << '\n';
  }
}

llvm::json::Array
veeline::compiler::getParametersAsJson(const artifact::Metadata &metadata) {
  llvm::json::Array params;
  for (const artifact::Parameter &param : metadata.params)
    params.push_back(
        llvm::json::Object{{"name", llvm::json::fixUTF8(param.name)},
                           {"type", std::string(artifact::name(param.type))},
                           {"shape", llvm::json::Array(param.shape)},
                           {"init", describeInit(param.init)},
                           {"frozen", param.frozen}});
  return params;
}

llvm::json::Array
veeline::compiler::getKernelsAsJson(const artifact::DeviceCode &device) {
  llvm::json::Array kernels;
  for (const artifact::Kernel &kernel : device.kernels)
    kernels.push_back(
        llvm::json::Object{{"name", kernel.name},
                           {"blocks", llvm::json::Array(kernel.grid)},
                           {"threads", llvm::json::Array(kernel.block)},
                           {"shared_bytes", kernel.sharedBytes},
                           {"arguments", kernel.numArguments}});
  return kernels;
}

llvm::json::Array
veeline::compiler::getScheduleAsJson(const artifact::Program &program) {
  llvm::json::Array ranks;
  for (auto [i, rank] : llvm::enumerate(program.ranks)) {
    llvm::json::Array ops;
    for (const artifact::Op &op : rank.ops)
      if (op.chunk >= 0)
        ops.push_back(
            llvm::json::Object{{"kind", std::string(artifact::name(op.kind))},
                               {"chunk", op.chunk},
                               {"microbatch", op.microbatch}});
    ranks.push_back(llvm::json::Object{{"rank", i}, {"ops", std::move(ops)}});
  }
  return ranks;
}
