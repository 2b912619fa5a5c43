//===- Reference.cpp - what programs have to compute ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference.h"

#include "Coefficients.h"
#include "Update.h"

#include <algorithm>
#include <cstring>
#include <deque>

using namespace veeline;
using namespace veeline::fuzz;

namespace {
/// The parameters of a model, and the state of its optimiser.
class WholeModel {
public:
  WholeModel(const artifact::Metadata &metadata, const Inputs &inputs);

  Status update(const StepSettings &settings, int32_t microbatches,
                const Tensors &gradients);
  /// As a program on one rank has them.
  Tensors parameters() const;

  std::vector<Bytes> values;

private:
  const artifact::Metadata &metadata;
  std::vector<Bytes> states;
};
} // namespace

WholeModel::WholeModel(const artifact::Metadata &metadata, const Inputs &inputs)
    : values(inputs.parameters), metadata(metadata) {
  for (const artifact::Parameter &param : metadata.params)
    states.emplace_back(static_cast<size_t>(
        stateElements(metadata.optimizer, metadata.errorFeedback, param.shape) *
        artifact::byteSize(param.type)));
}

Status WholeModel::update(const StepSettings &settings, int32_t microbatches,
                          const Tensors &gradients) {
  std::vector<host::WholeParam> params;
  for (size_t i = 0; i < values.size(); ++i)
    params.push_back({values[i].data(), states[i].data(), {}});
  for (const auto &[key, bytes] : gradients)
    params[static_cast<size_t>(key.first)].gradients.push_back(bytes.data());
  return host::updateModel(metadata, settings, microbatches, params).status();
}

Tensors WholeModel::parameters() const {
  Tensors all;
  for (size_t i = 0; i < values.size(); ++i)
    all[{static_cast<int32_t>(i), 0}] = values[i];
  return all;
}

StepSettings Reference::settingsOf(int64_t step) const {
  return fuzz::settingsOf(metadata, metadata.programs[0].clipSync, step,
                          learningRate);
}

template <typename T> static void addElements(Bytes &sum, const Bytes &part) {
  for (size_t i = 0; i < sum.size(); i += sizeof(T)) {
    T a, b;
    std::memcpy(&a, sum.data() + i, sizeof(T));
    std::memcpy(&b, part.data() + i, sizeof(T));
    a += b;
    std::memcpy(sum.data() + i, &a, sizeof(T));
  }
}

static void addTensors(const artifact::Metadata &metadata, Tensors &sum,
                       const Tensors &part) {
  if (sum.empty()) {
    sum = part;
    return;
  }
  for (const auto &[key, bytes] : part)
    if (metadata.params[key.first].type == artifact::DataType::f64)
      addElements<double>(sum.at(key), bytes);
    else
      addElements<float>(sum.at(key), bytes);
}

/// Runs as many microbatches as a step of `runner` has, from `first` on, and
/// adds what they give to `sum`.
Status Reference::addGroup(Runner &runner, int32_t first,
                           const std::vector<Bytes> &values,
                           Outcome &sum) const {
  auto m = static_cast<size_t>(metadata.microbatches);
  auto count =
      static_cast<size_t>(runner.program.microbatchesOf(metadata.microbatches));
  size_t all = m * static_cast<size_t>(inputs.replicas);
  VEELINE_TRY(runner.reset(values));
  auto results =
      runner.step(inputs.ofMicrobatches(first, static_cast<int32_t>(count)), 0);
  if (!results.ok())
    return results.status();
  sum.results.resize(results->size() / m * all);
  for (size_t k = 0; k < results->size() / m; ++k)
    for (size_t i = 0; i < count; ++i)
      sum.results[k * all + static_cast<size_t>(first) + i] =
          (*results)[k * m + i];
  sum.accumulators.resize(1);
  addTensors(metadata, sum.accumulators[0], runner.accumulators());
  return Status::success();
}

Expected<std::vector<Outcome>>
Reference::synchronous(Runner &sequential) const {
  WholeModel model(metadata, inputs);
  std::vector<Outcome> outcomes;
  for (int64_t step = 1; step <= 2; ++step) {
    Outcome &sum = outcomes.emplace_back();
    for (int32_t group = 0; group < inputs.replicas; ++group)
      VEELINE_TRY(addGroup(sequential, group * metadata.microbatches,
                           model.values, sum));
    VEELINE_TRY(model.update(settingsOf(step),
                             metadata.microbatches * inputs.replicas,
                             sum.accumulators[0]));
    sum.parameters = model.parameters();
  }
  return outcomes;
}

Expected<std::vector<Outcome>>
Reference::doubleBuffered(const Outcome &first) const {
  WholeModel model(metadata, inputs);
  std::vector<Outcome> outcomes(2, first);
  for (int64_t step = 1; step <= 2; ++step) {
    VEELINE_TRY(model.update(settingsOf(step),
                             metadata.microbatches * inputs.replicas,
                             first.accumulators[0]));
    outcomes[static_cast<size_t>(step - 1)].parameters = model.parameters();
  }
  return outcomes;
}

/// By parameter, how many updates its stage does not wait for.
static std::vector<size_t> findDelays(const artifact::Metadata &metadata,
                                      const artifact::Program &program) {
  std::vector<size_t> delays(metadata.params.size());
  for (const artifact::Rank &rank : program.ranks)
    for (const artifact::RankParam &entry : rank.params)
      for (const artifact::Accumulator &gradient : entry.gradients)
        delays[static_cast<size_t>(entry.param)] = static_cast<size_t>(
            program.stages - 1 -
            program.chunks[static_cast<size_t>(gradient.chunk)].stage);
  return delays;
}

Expected<std::vector<Outcome>>
Reference::stashed(const artifact::Program &tested) const {
  auto single = Runner::create(artifact, *metadata.findProgram("single"));
  if (!single.ok())
    return single.status();
  std::vector<size_t> delays = findDelays(metadata, tested);
  WholeModel model(metadata, inputs);
  // The values before each update, the latest first.
  std::deque<std::vector<Bytes>> before;
  std::vector<Outcome> outcomes;
  int32_t m = metadata.microbatches;
  for (int64_t step = 1; step <= 2; ++step) {
    Outcome &sum = outcomes.emplace_back();
    for (int32_t k = 0; k < m; ++k) {
      std::vector<Bytes> used = model.values;
      for (size_t i = 0; i < used.size(); ++i)
        if (size_t delay = std::min(delays[i], before.size()))
          used[i] = before[delay - 1][i];
      sum.accumulators.clear();
      for (int32_t replica = 0; replica < inputs.replicas; ++replica)
        VEELINE_TRY(addGroup(**single, replica * m + k, used, sum));
      before.push_front(model.values);
      VEELINE_TRY(model.update(ofMicrobatch(settingsOf(step), k, m),
                               inputs.replicas, sum.accumulators[0]));
    }
    sum.parameters = model.parameters();
  }
  return outcomes;
}
