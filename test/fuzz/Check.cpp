//===- Check.cpp - runs a compiled model in every way ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"

#include "Random.h"
#include "Reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace veeline;
using namespace veeline::fuzz;

namespace {

int32_t replicasOf(const artifact::Metadata &metadata) {
  int32_t replicas = 1;
  for (const artifact::Program &program : metadata.programs)
    replicas = std::max(replicas, program.replicas);
  return replicas;
}

class Checker {
public:
  Checker(const artifact::Artifact &artifact, uint64_t seed, bool joint)
      : artifact(artifact), metadata(artifact.metadata), joint(joint),
        inputs(metadata, seed, replicasOf(metadata)),
        reference(artifact, inputs), random(seed ^ 0xD1FF),
        rankOrder(seed % 2 ? "stages-first" : "replicas-first") {}

  Expected<CheckCounts> check();

private:
  Expected<std::vector<Outcome>> run(Runner &runner);
  Expected<std::vector<Outcome>>
  expect(const artifact::Program &program,
         const std::vector<Outcome> &synchronous) const;
  Status checkPrograms(const std::vector<Outcome> &expected);
  Status checkForwards(Runner &runner, const Outcome &expected);
  Status compareResults(const std::string &where,
                        const std::vector<double> &results,
                        const std::vector<double> &expected) const;
  Status compareSums(const std::string &where, const Tensors &sums,
                     const Tensors &expected);
  Status compare(const std::string &name, const Outcome &outcome,
                 const Outcome &expected, size_t step);
  Status compareSteps(const std::string &name,
                      const std::vector<Outcome> &outcomes,
                      const std::vector<Outcome> &expected);
  std::map<int32_t, std::vector<double>> addChunks(const Tensors &sums) const;
  bool areRegrouped(const Outcome &outcome, const Outcome &expected) const;
  Status checkFollowing(Runner &runner, const std::vector<Outcome> &outcomes);
  Status checkDifferences(Runner &runner, const Outcome &expected);
  Status checkElement(Runner &runner, size_t param, size_t element,
                      double gradient);
  Expected<double> sumOfLosses(Runner &runner, size_t param, size_t element,
                               double change);

  const artifact::Artifact &artifact;
  const artifact::Metadata &metadata;
  const bool joint;
  Inputs inputs;
  Reference reference;
  Random random;
  const std::string rankOrder;
  CheckCounts counts;
};

} // namespace

static bool equalBits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

/// Two steps: the second one begins with the arena as the first one left it.
Expected<std::vector<Outcome>> Checker::run(Runner &runner) {
  VEELINE_TRY(runner.reset(inputs.parameters));
  std::vector<Outcome> outcomes;
  for (int step = 0; step < 2; ++step) {
    auto results = runner.step(inputs, learningRate);
    if (!results.ok())
      return results.status();
    Outcome &outcome = outcomes.emplace_back();
    outcome.results = *results;
    for (int32_t replica = 0; replica < runner.program.replicas; ++replica)
      outcome.accumulators.push_back(runner.accumulators(replica));
    outcome.parameters = runner.parameters();
  }
  ++counts.programs;
  VEELINE_TRY(checkFollowing(runner, outcomes));
  return outcomes;
}

/// The same two steps again, one following the other, have the same outcome.
Status Checker::checkFollowing(Runner &runner,
                               const std::vector<Outcome> &outcomes) {
  VEELINE_TRY(runner.reset(inputs.parameters));
  auto results = runner.twoSteps(inputs, learningRate);
  if (!results.ok())
    return results.status();
  std::string what = "program '" + runner.program.name +
                     "' has other bits where steps follow one another: ";
  for (size_t step = 0; step < 2; ++step)
    if (!std::ranges::equal((*results)[step], outcomes[step].results,
                            equalBits))
      return Status::error(what + "the results of step " +
                           std::to_string(step));
  for (int32_t replica = 0; replica < runner.program.replicas; ++replica)
    VEELINE_TRY(compareSums(what, runner.accumulators(replica),
                            outcomes[1].accumulators[replica]));
  return runner.parameters() == outcomes[1].parameters
             ? Status::success()
             : Status::error(what + "the parameters");
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

Status Checker::compareSums(const std::string &where, const Tensors &sums,
                            const Tensors &expected) {
  if (sums.size() != expected.size())
    return Status::error(where + "there are " + std::to_string(sums.size()) +
                         " accumulators, expected " +
                         std::to_string(expected.size()));
  for (const auto &[key, bytes] : expected) {
    auto found = sums.find(key);
    const artifact::Parameter &param = metadata.params[key.first];
    std::string what = where + "gradient of '" + param.name + "' by chunk " +
                       std::to_string(key.second) + ": ";
    if (found == sums.end())
      return Status::error(what + "there is no accumulator");
    if (found->second != bytes)
      return Status::error(
          what + describeDifference(found->second, bytes, param.type));
  }
  return Status::success();
}

Status Checker::compareResults(const std::string &where,
                               const std::vector<double> &results,
                               const std::vector<double> &expected) const {
  for (size_t i = 0; i < expected.size(); ++i)
    if (!equalBits(results[i], expected[i])) {
      char text[128];
      std::snprintf(text, sizeof(text),
                    "result %zu of microbatch %zu is %.17g, expected %.17g",
                    i / (metadata.microbatches * inputs.replicas),
                    i % (metadata.microbatches * inputs.replicas), results[i],
                    expected[i]);
      return Status::error(where + text);
    }
  return Status::success();
}

/// Both of two steps give what the first step of training gives.
Status Checker::checkForwards(Runner &runner, const Outcome &expected) {
  VEELINE_TRY(runner.reset(inputs.parameters));
  std::string where = runner.program.name + ", step ";
  for (int step = 1; step <= 2; ++step) {
    auto results = runner.step(inputs, learningRate);
    if (!results.ok())
      return results.status();
    VEELINE_TRY(compareResults(where + std::to_string(step) + ": ", *results,
                               expected.results));
  }
  ++counts.programs;
  ++counts.forwards;
  return Status::success();
}

Status Checker::compare(const std::string &name, const Outcome &outcome,
                        const Outcome &expected, size_t step) {
  std::string where = name + ", step " + std::to_string(step + 1) + ": ";
  VEELINE_TRY(compareResults(where, outcome.results, expected.results));
  for (size_t replica = 0; replica < outcome.accumulators.size(); ++replica) {
    std::string which =
        inputs.replicas > 1 ? "replica " + std::to_string(replica) + ", " : "";
    VEELINE_TRY(compareSums(where + which, outcome.accumulators[replica],
                            expected.accumulators[0]));
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

/// The sum of the gradients of each parameter over chunks.
std::map<int32_t, std::vector<double>>
Checker::addChunks(const Tensors &sums) const {
  std::map<int32_t, std::vector<double>> totals;
  for (const auto &[key, bytes] : sums) {
    const artifact::Parameter &param = metadata.params[key.first];
    std::vector<double> &total = totals[key.first];
    total.resize(static_cast<size_t>(artifact::numElements(param.shape)));
    for (size_t i = 0; i < total.size(); ++i) {
      double wide = 0;
      float narrow = 0;
      if (param.type == artifact::DataType::f64)
        std::memcpy(&wide, bytes.data() + i * sizeof(wide), sizeof(wide));
      else
        std::memcpy(&narrow, bytes.data() + i * sizeof(narrow), sizeof(narrow));
      total[i] += wide + static_cast<double>(narrow);
    }
  }
  return totals;
}

/// Whether results are equal, and gradients but for rounding.
bool Checker::areRegrouped(const Outcome &outcome,
                           const Outcome &expected) const {
  if (!compareResults("", outcome.results, expected.results).ok())
    return false;
  auto found = addChunks(outcome.accumulators[0]);
  auto wanted = addChunks(expected.accumulators[0]);
  for (const auto &[param, total] : wanted) {
    bool isWide = metadata.params[param].type == artifact::DataType::f64;
    double largest = 0, worst = 0;
    for (size_t i = 0; i < total.size(); ++i) {
      largest = std::max(largest, std::abs(total[i]));
      worst = std::max(worst, std::abs(total[i] - found[param][i]));
    }
    if (worst > (isWide ? 1e-11 : 1e-4) * largest)
      return false;
  }
  return true;
}

Status Checker::compareSteps(const std::string &name,
                             const std::vector<Outcome> &outcomes,
                             const std::vector<Outcome> &expected) {
  for (size_t step = 0; step < outcomes.size(); ++step) {
    Status status = compare(name, outcomes[step], expected[step], step);
    if (!status.ok() && joint && step == 0 &&
        areRegrouped(outcomes[step], expected[step])) {
      ++counts.regrouped;
      return Status::success();
    }
    VEELINE_TRY(std::move(status));
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
  VEELINE_TRY(runner.setParameter(param, value));
  double sum = 0;
  for (int32_t group = 0; group < inputs.replicas; ++group) {
    auto results = runner.step(inputs.ofReplica(group), 0);
    if (!results.ok())
      return results.status();
    for (int32_t i = 0; i < metadata.microbatches; ++i)
      sum += (*results)[i];
  }
  return sum;
}

/// Compares an element of a gradient with central differences. Slopes with
/// three steps give two differences of fourth order. Where these disagree there
/// is a kink nearby, and neither says anything.
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
  VEELINE_TRY(runner.setParameter(param, inputs.parameters[param]));
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
      for (const auto &[key, bytes] : expected.accumulators[0]) {
        if (static_cast<size_t>(key.first) != param)
          continue;
        double part;
        std::memcpy(&part, bytes.data() + element * sizeof(double),
                    sizeof(double));
        gradient += part;
      }
      if (metadata.scalesLoss())
        gradient /= lossScale;
      VEELINE_TRY(checkElement(runner, param, element, gradient));
    }
  }
  return Status::success();
}

/// Of a program with all replicas.
Expected<std::vector<Outcome>>
Checker::expect(const artifact::Program &program,
                const std::vector<Outcome> &synchronous) const {
  switch (program.asynchronous) {
  case artifact::Asynchronous::none:
    return synchronous;
  case artifact::Asynchronous::doubleBuffered:
    return reference.doubleBuffered(synchronous[0]);
  case artifact::Asynchronous::stashed:
    return reference.stashed(program);
  }
  __builtin_unreachable();
}

Status Checker::checkPrograms(const std::vector<Outcome> &expected) {
  for (const artifact::Program &program : metadata.programs) {
    if (program.name == "sequential" || program.name == "single")
      continue;
    auto whole = artifact::withAllReplicas(program, rankOrder);
    if (!whole.ok())
      return whole.status();
    auto runner = Runner::create(artifact, *whole);
    if (!runner.ok())
      return runner.status();
    if (program.forwardOnly) {
      VEELINE_TRY(checkForwards(**runner, expected.front()));
      continue;
    }
    auto outcomes = run(**runner);
    if (!outcomes.ok())
      return outcomes.status();
    auto wanted = expect(program, expected);
    if (!wanted.ok())
      return wanted.status();
    VEELINE_TRY(compareSteps(program.name, *outcomes, *wanted));
    counts.limited += program.name.ends_with("_limited");
  }
  return Status::success();
}

Expected<CheckCounts> Checker::check() {
  auto sequential =
      Runner::create(artifact, *metadata.findProgram("sequential"));
  if (!sequential.ok())
    return sequential.status();
  auto expected = inputs.replicas > 1 ? reference.synchronous(**sequential)
                                      : run(**sequential);
  if (!expected.ok())
    return expected.status();
  counts.programs += inputs.replicas > 1;
  for (double result : expected->front().results)
    if (!std::isfinite(result))
      return Status::error("the loss is not finite");
  VEELINE_TRY(checkPrograms(*expected));
  VEELINE_TRY((*sequential)->reset(inputs.parameters));
  VEELINE_TRY(checkDifferences(**sequential, expected->front()));
  return counts;
}

CheckCounts &CheckCounts::operator+=(const CheckCounts &other) {
  programs += other.programs;
  limited += other.limited;
  forwards += other.forwards;
  differences += other.differences;
  kinks += other.kinks;
  devicePrograms += other.devicePrograms;
  regrouped += other.regrouped;
  deviceRuns += other.deviceRuns;
  return *this;
}

Expected<CheckCounts>
veeline::fuzz::checkModel(const artifact::Artifact &artifact, uint64_t seed,
                          bool joint) {
  return Checker(artifact, seed, joint).check();
}
