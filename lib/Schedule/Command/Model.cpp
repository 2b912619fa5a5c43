//===- Model.cpp - costs of chunks, before a schedule is chosen -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"

#include <array>
#include <charconv>
#include <cmath>

using namespace veeline::schedule;

/// The neighbours [first, last) of `model` as one chunk.
static Chunk mergedChunk(const Model &model, int first, int last) {
  Chunk sum;
  bool lacksInput = false, needsInput = false;
  for (int i = first; i < last; ++i) {
    const Chunk &chunk = model.chunks[i];
    sum.forward += chunk.forward;
    sum.backwardInput += chunk.backwardInput;
    sum.backwardWeight += chunk.backwardWeight;
    sum.backwardShared += chunk.backwardShared;
    sum.forwardMemory += chunk.forwardMemory;
    sum.backwardInputMemory += chunk.backwardInputMemory;
    sum.backwardWeightMemory += chunk.backwardWeightMemory;
    lacksInput |= !chunk.hasBackwardInput;
  }
  for (const Edge &edge : model.edges)
    needsInput |= edge.carriesGradient && edge.from < first &&
                  edge.to >= first && edge.to < last;
  return lacksInput && !needsInput ? sum.withoutBackwardInput() : sum;
}

Model veeline::schedule::merged(const Model &model, int count) {
  int each = static_cast<int>(model.chunks.size()) / count;
  Model result;
  result.unit = model.unit;
  for (int i = 0; i < count; ++i)
    result.chunks.push_back(mergedChunk(model, i * each, (i + 1) * each));
  for (std::size_t i = 0; i < model.edges.size(); ++i) {
    Edge edge = model.edges[i];
    edge.from /= each;
    edge.to /= each;
    if (edge.from == edge.to)
      continue;
    result.edges.push_back(edge);
    if (!model.edgeBytes.empty())
      result.edgeBytes.push_back(model.edgeBytes[i]);
  }
  return result;
}

Expected<Model> veeline::schedule::uniformModel(const ProblemOptions &given,
                                                int count) {
  ProblemOptions options = given;
  options.schedule = "sequential";
  options.chunksPerStage = count / options.stages;
  options.memoryLimit.reset();
  Expected<Problem> problem = makeProblem(options);
  if (!problem)
    return problem.takeError();
  return Model{std::move(problem->chunks),
               std::move(problem->edges),
               {},
               problem->memoryUnit};
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
  return Error{ErrorKind::InvalidProblem,
               "expected bytes such as 512MiB or 1.5GB (units are B, kB, MB, "
               "GB, TB, KiB, MiB, GiB and TiB), found '" +
                   std::string(text) + "'"};
}
