//===- ProblemOptions.cpp - a problem from a few numbers ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/ProblemOptions.h"

#include "veeline/Base/Numbers.h"
#include "veeline/Base/Text.h"
#include "veeline/Schedule/Generators.h"

#include <array>
#include <charconv>
#include <cmath>

using namespace veeline;
using namespace veeline::schedule;

Expected<OpValues> veeline::schedule::parseOpValues(std::string_view text) {
  constexpr std::string_view names = "FBWR";
  std::optional<double> values[4];
  for (std::string_view part : splitAt(text, ',')) {
    part = strip(part);
    std::size_t name = part.empty() ? names.npos : names.find(part[0]);
    std::optional<double> value;
    if (name != names.npos)
      if (std::string_view after = strip(part.substr(1));
          after.starts_with('='))
        value = parseNumber(strip(after.substr(1)));
    if (!value)
      return invalid("expected F=<number>,B=<number>,W=<number>, found '" +
                     std::string(part) + "'");
    if (values[name])
      return invalid(std::string(part.substr(0, 1)) + " is given twice in '" +
                     std::string(text) + "'");
    values[name] = value;
  }
  for (int i = 0; i < 3; ++i)
    if (!values[i])
      return invalid(std::string(names.substr(i, 1)) + " is missing in '" +
                     std::string(text) + "'");
  return OpValues{*values[0], *values[1], *values[2], values[3]};
}

/// Converts activations to memory units; none if they are out of range.
static std::optional<std::int64_t> toMemory(double activations, int parts) {
  double amount = activations / parts * activationUnit;
  if (!(std::abs(amount) < 9e18))
    return std::nullopt;
  return std::llround(amount);
}

static Status setMemory(Chunk &chunk, const OpValues &activation, int v) {
  if (activation.recompute && !chunk.hasRecompute)
    return invalid("the activation memory has an R, but the cost has none");
  double ofRecompute = activation.recompute.value_or(0);
  double sum = activation.forward + activation.backwardInput +
               activation.backwardWeight + ofRecompute;
  if (!(std::abs(sum) < 1e-9))
    return invalid("the activation memory of F, B and W" +
                   std::string(activation.recompute ? ", and R," : "") +
                   " must add up to 0, not " + formatted("%g", sum));
  std::optional<std::int64_t> forward = toMemory(activation.forward, v);
  std::optional<std::int64_t> backward = toMemory(activation.backwardInput, v);
  std::optional<std::int64_t> recompute = toMemory(ofRecompute, v);
  if (!forward || !backward || !recompute)
    return invalid("the activation memory of F" +
                   std::string(activation.recompute ? ", B or R" : " or B") +
                   " is out of range");
  chunk.forwardMemory = *forward;
  chunk.backwardInputMemory = *backward;
  chunk.recomputeMemory = *recompute;
  // Not rounded separately, so that the sum is 0.
  chunk.backwardWeightMemory = -*forward - *backward - *recompute;
  return Status::success();
}

Expected<Problem>
veeline::schedule::makeProblem(const ProblemOptions &options) {
  Expected<const Generator *> generator = findGenerator(options.schedule);
  if (!generator)
    return generator.takeError();
  int v = options.chunksPerStage.value_or((*generator)->minChunksPerStage);
  Expected<Placement> placement =
      placementFor(options.schedule, options.stages, v);
  if (!placement)
    return placement.takeError();

  Chunk chunk;
  OpValues cost = options.chunkCost.value_or(
      OpValues{options.cost.forward / v, options.cost.backwardInput / v,
               options.cost.backwardWeight / v});
  if (!options.chunkCost && options.cost.recompute)
    cost.recompute = *options.cost.recompute / v;
  chunk.forward = cost.forward;
  chunk.backwardInput = cost.backwardInput;
  chunk.backwardWeight = cost.backwardWeight;
  chunk.hasRecompute = cost.recompute.has_value();
  chunk.recompute = cost.recompute.value_or(0);
  if (Status status = setMemory(chunk, options.activation, v); !status)
    return status.takeError();

  Problem problem = uniformProblem(std::move(*placement), options.microbatches,
                                   chunk, options.transfer);
  problem.memoryUnit = {activationUnit, "activations"};
  if (options.memoryLimit) {
    std::optional<std::int64_t> limit = toMemory(*options.memoryLimit, 1);
    if (!limit)
      return invalid("the memory limit is out of range: " +
                     formatted("%g", *options.memoryLimit));
    problem.memoryLimits.assign(problem.stages(), *limit);
  }
  if (Status status = check(problem); !status)
    return status.takeError();
  return problem;
}

Expected<std::int64_t> veeline::schedule::parseBytes(std::string_view text) {
  struct Suffix {
    std::string_view name;
    double factor;
  };
  constexpr double k = 1024;
  constexpr std::array<Suffix, 10> suffixes{{{"", 1},
                                             {"B", 1},
                                             {"KiB", k},
                                             {"MiB", k * k},
                                             {"GiB", k * k * k},
                                             {"TiB", k * k * k * k},
                                             {"kB", 1e3},
                                             {"MB", 1e6},
                                             {"GB", 1e9},
                                             {"TB", 1e12}}};
  double value;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view name = text.substr(end - text.data());
  for (const Suffix &suffix : suffixes)
    if (error == std::errc() && name == suffix.name && value >= 0 &&
        value * suffix.factor < 9e18 &&
        (suffix.factor > 1 || value == std::floor(value)))
      return std::llround(value * suffix.factor);
  return invalid("expected bytes such as 512MiB or 1.5GB (units are B, kB, MB, "
                 "GB, TB, KiB, MiB, GiB and TiB), found '" +
                 std::string(text) + "'");
}

Expected<double> veeline::schedule::parseBandwidth(std::string_view text) {
  constexpr std::string_view aSecond = "/s";
  constexpr std::int64_t mostBytes = 1'000'000'000'000'000;
  if (text.ends_with(aSecond))
    if (Expected<std::int64_t> bytes =
            parseBytes(text.substr(0, text.size() - aSecond.size()));
        bytes && *bytes > 0 && *bytes <= mostBytes)
      return 1e-9 * static_cast<double>(*bytes);
  return invalid("expected a bandwidth such as 25GB/s or 800MiB/s, at most "
                 "1000TB/s, found '" +
                 std::string(text) + "'");
}
