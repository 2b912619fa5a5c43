//===- Check.cpp - runs a compiled model in every way ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"

#include "Random.h"
#include "Runner.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace veeline;
using namespace veeline::fuzz;

namespace {

/// What a step leaves, to the bit.
struct Outcome {
  std::vector<double> results;
  std::map<std::pair<int32_t, int32_t>, Bytes> accumulators, parameters;
};

class Checker {
public:
  Checker(const artifact::Artifact &artifact, uint64_t seed)
      : artifact(artifact), metadata(artifact.metadata), inputs(metadata, seed),
        random(seed ^ 0xD1FF) {}

  Expected<CheckCounts> check();

private:
  Expected<std::vector<Outcome>> run(Runner &runner);
  Status compare(const std::string &name, const Outcome &outcome,
                 const Outcome &expected, size_t step);
  Status checkDifferences(Runner &runner, const Outcome &expected);
  Status checkElement(Runner &runner, size_t param, size_t element,
                      double gradient);
  Expected<double> sumOfLosses(Runner &runner, size_t param, size_t element,
                               double change);

  const artifact::Artifact &artifact;
  const artifact::Metadata &metadata;
  Inputs inputs;
  Random random;
  CheckCounts counts;
};

} // namespace

/// Two steps: the second one begins with the arena as the first one left it.
Expected<std::vector<Outcome>> Checker::run(Runner &runner) {
  for (size_t i = 0; i < inputs.parameters.size(); ++i)
    if (Status status = runner.setParameter(i, inputs.parameters[i]);
        !status.ok())
      return status;
  std::vector<Outcome> outcomes;
  for (int step = 0; step < 2; ++step) {
    auto results = runner.step(inputs, 0.01);
    if (!results.ok())
      return results.status();
    outcomes.push_back({*results, runner.accumulators(), runner.parameters()});
  }
  ++counts.programs;
  return outcomes;
}

static bool equalBits(double a, double b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

/// The first element in which the two differ, with both values.
static std::string describeDifference(const Bytes &a, const Bytes &b,
                                      artifact::DataType type) {
  size_t size = static_cast<size_t>(artifact::byteSize(type));
  size_t i = 0;
  while (std::equal(a.begin() + i * size, a.begin() + (i + 1) * size,
                    b.begin() + i * size))
    ++i;
  auto get = [&](const Bytes &bytes) {
    double wide = 0;
    float narrow = 0;
    if (size == sizeof(double))
      std::memcpy(&wide, bytes.data() + i * size, size);
    else
      std::memcpy(&narrow, bytes.data() + i * size, size);
    return size == sizeof(double) ? wide : narrow;
  };
  char text[128];
  std::snprintf(text, sizeof(text), "element %zu is %.17g, expected %.17g", i,
                get(a), get(b));
  return text;
}

Status Checker::compare(const std::string &name, const Outcome &outcome,
                        const Outcome &expected, size_t step) {
  std::string where = name + ", step " + std::to_string(step + 1) + ": ";
  for (size_t i = 0; i < expected.results.size(); ++i)
    if (!equalBits(outcome.results[i], expected.results[i])) {
      char text[128];
      std::snprintf(text, sizeof(text),
                    "result %zu of microbatch %zu is %.17g, expected %.17g",
                    i / metadata.microbatches, i % metadata.microbatches,
                    outcome.results[i], expected.results[i]);
      return Status::error(where + text);
    }
  if (outcome.accumulators.size() != expected.accumulators.size())
    return Status::error(where + "there are " +
                         std::to_string(outcome.accumulators.size()) +
                         " accumulators, expected " +
                         std::to_string(expected.accumulators.size()));
  for (const auto &[key, bytes] : expected.accumulators) {
    auto found = outcome.accumulators.find(key);
    const artifact::Parameter &param = metadata.params[key.first];
    std::string what = where + "gradient of '" + param.name + "' by chunk " +
                       std::to_string(key.second) + ": ";
    if (found == outcome.accumulators.end())
      return Status::error(what + "there is no accumulator");
    if (found->second != bytes)
      return Status::error(
          what + describeDifference(found->second, bytes, param.type));
  }
  // The sequential program has one rank, which holds all parameters.
  for (const auto &[key, bytes] : outcome.parameters) {
    const artifact::Parameter &param = metadata.params[key.first];
    const Bytes &wanted = expected.parameters.at({key.first, 0});
    if (bytes != wanted)
      return Status::error(where + "parameter '" + param.name + "' on rank " +
                           std::to_string(key.second) + " after the update: " +
                           describeDifference(bytes, wanted, param.type));
  }
  return Status::success();
}

Expected<double> Checker::sumOfLosses(Runner &runner, size_t param,
                                      size_t element, double change) {
  Bytes value = inputs.parameters[param];
  double entry;
  std::memcpy(&entry, value.data() + element * sizeof(double), sizeof(double));
  entry += change;
  std::memcpy(value.data() + element * sizeof(double), &entry, sizeof(double));
  if (Status status = runner.setParameter(param, value); !status.ok())
    return status;
  auto results = runner.step(inputs, 0);
  if (!results.ok())
    return results.status();
  double sum = 0;
  for (int32_t i = 0; i < metadata.microbatches; ++i)
    sum += (*results)[i];
  return sum;
}

/// Slopes with three steps give two differences of fourth order; where those
/// disagree there is a kink nearby, and neither says anything.
Status Checker::checkElement(Runner &runner, size_t param, size_t element,
                             double gradient) {
  const double steps[] = {0.5e-3, 1e-3, 2e-3};
  double slopes[3], largest = 1;
  for (int i = 0; i < 3; ++i) {
    auto above = sumOfLosses(runner, param, element, steps[i]);
    auto below = sumOfLosses(runner, param, element, -steps[i]);
    if (!above.ok() || !below.ok())
      return above.ok() ? below.status() : above.status();
    slopes[i] = (*above - *below) / (2 * steps[i]);
    largest = std::max({largest, std::abs(*above), std::abs(*below)});
  }
  if (Status status = runner.setParameter(param, inputs.parameters[param]);
      !status.ok())
    return status;
  double fine = (4 * slopes[0] - slopes[1]) / 3;
  double coarse = (4 * slopes[1] - slopes[2]) / 3;
  double scale = std::max(std::abs(fine), std::abs(gradient));
  double floor = 1e-10 * largest;
  if (std::abs(fine - gradient) <= 1e-6 * scale + floor) {
    ++counts.differences;
    return Status::success();
  }
  if (std::abs(fine - coarse) > 1e-7 * scale + floor) {
    ++counts.kinks;
    return Status::success();
  }
  char text[160];
  std::snprintf(text, sizeof(text),
                "gradient of '%s', element %zu: is %.12g, differences say "
                "%.12g (%.12g with twice the step)",
                metadata.params[param].name.c_str(), element, gradient, fine,
                coarse);
  return Status::error(text);
}

Status Checker::checkDifferences(Runner &runner, const Outcome &expected) {
  for (size_t param = 0; param < metadata.params.size(); ++param) {
    if (metadata.params[param].type != artifact::DataType::f64)
      continue;
    int64_t count = artifact::numElements(metadata.params[param].shape);
    for (int trial = 0; trial < 3; ++trial) {
      size_t element = static_cast<size_t>(random.below(count));
      double gradient = 0;
      for (const auto &[key, bytes] : expected.accumulators) {
        double part;
        std::memcpy(&part, bytes.data() + element * sizeof(double),
                    sizeof(double));
        if (static_cast<size_t>(key.first) == param)
          gradient += part;
      }
      if (Status status = checkElement(runner, param, element, gradient);
          !status.ok())
        return status;
    }
  }
  return Status::success();
}

Expected<CheckCounts> Checker::check() {
  auto sequential =
      Runner::create(artifact, *metadata.findProgram("sequential"));
  if (!sequential.ok())
    return sequential.status();
  auto expected = run(**sequential);
  if (!expected.ok())
    return expected.status();
  for (double result : expected->front().results)
    if (!std::isfinite(result))
      return Status::error("the loss is not finite");
  for (const artifact::Program &program : metadata.programs) {
    if (program.name == "sequential")
      continue;
    auto runner = Runner::create(artifact, program);
    if (!runner.ok())
      return runner.status();
    auto outcomes = run(**runner);
    if (!outcomes.ok())
      return outcomes.status();
    for (size_t step = 0; step < outcomes->size(); ++step)
      if (Status status =
              compare(program.name, (*outcomes)[step], (*expected)[step], step);
          !status.ok())
        return status;
  }
  for (size_t i = 0; i < inputs.parameters.size(); ++i)
    if (Status status = (*sequential)->setParameter(i, inputs.parameters[i]);
        !status.ok())
      return status;
  if (Status status = checkDifferences(**sequential, expected->front());
      !status.ok())
    return status;
  return counts;
}

Expected<CheckCounts>
veeline::fuzz::checkModel(const artifact::Artifact &artifact, uint64_t seed) {
  return Checker(artifact, seed).check();
}
