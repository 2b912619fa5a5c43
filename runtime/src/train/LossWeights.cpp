//===- LossWeights.cpp - weights of microbatches --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LossWeights.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace veeline;
using namespace veeline::train;

Status train::checkWeights(const artifact::Metadata &metadata,
                           std::span<const double> weights) {
  auto wrong = std::ranges::find_if(weights, [](double weight) {
    return !std::isfinite(weight) || weight < 0;
  });
  if (wrong == weights.end())
    return Status::success();
  char number[32];
  std::snprintf(number, sizeof(number), "%g", *wrong);
  return Status::error(
      metadata.results[static_cast<size_t>(metadata.lossWeight)].name +
      ", by which losses are weighted, is " + number + " in microbatch " +
      std::to_string(wrong - weights.begin()) +
      "; weights are finite, and not below 0");
}

Expected<std::unique_ptr<LossWeights>> LossWeights::create(Run &run) {
  std::unique_ptr<LossWeights> weights(new LossWeights(run));
  // There is no network, because the whole program is in this process. It is
  // told which data to read.
  SessionOptions options;
  options.inputs = run.inputs.get();
  VEELINE_TRY_VALUE(weights->session,
                    Session::create(run, weightsProgram, options));
  weights->weights.resize(static_cast<size_t>(run.microbatches()));
  return weights;
}

Status LossWeights::weigh(int64_t step) {
  auto m = static_cast<size_t>(run.metadata().microbatches);
  for (size_t first = 0; first < weights.size(); first += m) {
    session->setFirstMicrobatch(static_cast<int64_t>(first));
    VEELINE_TRY(session->step(step, StepSettings(), result));
    std::copy_n(result.results.begin(), m, weights.begin() + first);
  }
  VEELINE_TRY(checkWeights(run.metadata(), weights));
  double sum = 0;
  for (double weight : weights)
    sum += weight;
  auto count = static_cast<double>(weights.size());
  for (double &weight : weights)
    weight = sum > 0 ? weight * count / sum : 0;
  return Status::success();
}

Expected<std::span<const double>> LossWeights::ofStep(int64_t step) {
  if (current != step) {
    current = 0;
    VEELINE_TRY(weigh(step));
    current = step;
  }
  return std::span<const double>(weights);
}
