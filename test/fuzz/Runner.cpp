//===- Runner.cpp - a program of a model in this process ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runner.h"

#include "Random.h"

#include <cstring>
#include <functional>

using namespace veeline;
using namespace veeline::fuzz;

template <typename T>
static void fill(Bytes &bytes, const std::function<double()> &next) {
  for (size_t i = 0; i < bytes.size(); i += sizeof(T)) {
    T value = static_cast<T>(next());
    std::memcpy(bytes.data() + i, &value, sizeof(T));
  }
}

static Bytes
randomBytes(Random &random, artifact::DataType type, int64_t count,
            std::optional<std::pair<int64_t, int64_t>> range = {}) {
  Bytes bytes(static_cast<size_t>(count * artifact::byteSize(type)));
  if (type == artifact::DataType::f64)
    fill<double>(bytes, [&] { return random.uniform(-1, 1); });
  if (type == artifact::DataType::f32)
    fill<float>(bytes, [&] { return random.uniform(-1, 1); });
  auto [first, end] = range.value_or(std::pair<int64_t, int64_t>(0, 2));
  if (type == artifact::DataType::i32)
    fill<int32_t>(bytes, [&] { return random.between(first, end - 1); });
  return bytes;
}

static Bytes scaleBytes(artifact::DataType type) {
  Bytes bytes(static_cast<size_t>(artifact::byteSize(type)));
  if (type == artifact::DataType::f64)
    fill<double>(bytes, [] { return lossScale; });
  else
    fill<float>(bytes, [] { return lossScale; });
  return bytes;
}

Inputs::Inputs(const artifact::Metadata &metadata, uint64_t seed,
               int32_t replicas)
    : numBatches(metadata.batches.size()), microbatches(metadata.microbatches),
      replicas(replicas) {
  Random random(seed ^ 0xDA7A);
  for (const artifact::Parameter &param : metadata.params)
    parameters.push_back(
        randomBytes(random, param.type, artifact::numElements(param.shape)));
  for (const artifact::Batch &batch : metadata.batches)
    arguments.push_back(randomBytes(random, batch.type,
                                    artifact::numElements(batch.shape) *
                                        metadata.microbatches * replicas,
                                    batch.range));
  for (const artifact::Buffer &buffer : metadata.buffers)
    arguments.push_back(buffer.lossScale
                            ? scaleBytes(buffer.type)
                            : randomBytes(random, buffer.type,
                                          artifact::numElements(buffer.shape),
                                          buffer.range));
}

Inputs Inputs::ofMicrobatches(int32_t first, int32_t count) const {
  Inputs own = *this;
  own.replicas = 1;
  for (size_t i = 0; i < numBatches; ++i) {
    ptrdiff_t size =
        static_cast<ptrdiff_t>(arguments[i].size()) / (microbatches * replicas);
    auto begin = arguments[i].begin() + size * first;
    own.arguments[i].assign(begin, begin + size * count);
  }
  return own;
}

StepSettings fuzz::settingsOf(const artifact::Metadata &metadata,
                              artifact::ClipSync clipSync, int64_t step,
                              double learningRate) {
  StepSettings settings;
  settings.step = step;
  settings.learningRate = learningRate;
  settings.weightDecay = 0.1;
  settings.errorFeedback = 0.75;
  // By number, so that parameters of all programs have the same.
  std::vector<ParamRates> rates(metadata.params.size());
  for (size_t i = 0; i < rates.size(); ++i) {
    rates[i].scale = i % 3 == 1 ? 0.7 : 1;
    if (i % 4 == 2)
      rates[i].weightDecay = 0.3;
  }
  settings.ofParams = std::make_shared<const std::vector<ParamRates>>(rates);
  if (clipSync != artifact::ClipSync::none)
    settings.clipNorm = clipNorm;
  if (metadata.scalesLoss())
    settings.lossScale = lossScale;
  return settings;
}

Expected<std::unique_ptr<Runner>>
Runner::create(const artifact::Artifact &artifact,
               const artifact::Program &program) {
  std::unique_ptr<Runner> runner(new Runner(artifact, program));
  host::HostOptions options;
  options.poison = true;
  auto executor = host::HostExecutor::create(artifact, program, options);
  if (!executor.ok())
    return executor.status();
  runner->executor = std::move(*executor);
  return runner;
}

Status Runner::reset(const std::vector<Bytes> &values) {
  steps = 0;
  for (size_t i = 0; i < values.size(); ++i)
    VEELINE_TRY(setParameter(i, values[i]));
  for (size_t rank = 0; rank < program.ranks.size(); ++rank)
    for (const artifact::RankParam &entry : program.ranks[rank].params) {
      if (entry.stateOffset < 0)
        continue;
      const artifact::Parameter &param =
          metadata.params[static_cast<size_t>(entry.param)];
      Bytes zeros(static_cast<size_t>(
          stateElements(metadata.optimizer, metadata.errorFeedback,
                        artifact::shapeOfShare(param.shape, entry)) *
          artifact::byteSize(param.type)));
      VEELINE_TRY(executor->write(static_cast<int32_t>(rank), entry.stateOffset,
                                  zeros.data(),
                                  static_cast<int64_t>(zeros.size())));
    }
  return Status::success();
}

Status Runner::setParameter(size_t index, const Bytes &value) {
  for (size_t rank = 0; rank < program.ranks.size(); ++rank)
    for (const artifact::RankParam &entry : program.ranks[rank].params)
      if (static_cast<size_t>(entry.param) == index) {
        std::vector<int64_t> places = entry.versionOffsets;
        places.push_back(entry.valueOffset);
        for (int64_t place : places)
          VEELINE_TRY(executor->write(static_cast<int32_t>(rank), place,
                                      value.data(),
                                      static_cast<int64_t>(value.size())));
      }
  return Status::success();
}

Status Runner::begin(const Inputs &inputs, double learningRate) {
  pointers.clear();
  for (const Bytes &argument : inputs.arguments)
    pointers.push_back(argument.data());
  StepSettings settings =
      settingsOf(metadata, program.clipSync, ++steps, learningRate);
  return executor->begin(pointers.data(), settings);
}

Expected<std::array<std::vector<double>, 2>>
Runner::twoSteps(const Inputs &inputs, double learningRate) {
  VEELINE_TRY(begin(inputs, learningRate));
  VEELINE_TRY(begin(inputs, learningRate));
  std::array<std::vector<double>, 2> results;
  for (std::vector<double> &each : results) {
    StepResult result;
    VEELINE_TRY(executor->finish(result));
    each = result.results;
  }
  return results;
}

Expected<std::vector<double>> Runner::step(const Inputs &inputs,
                                           double learningRate) {
  VEELINE_TRY(begin(inputs, learningRate));
  StepResult result;
  VEELINE_TRY(executor->finish(result));
  return result.results;
}

Bytes Runner::read(size_t rank, int64_t offset, int32_t parameter) const {
  const artifact::Parameter &param = metadata.params[parameter];
  const char *begin =
      executor->arena(static_cast<int32_t>(rank)).data() + offset;
  return Bytes(begin, begin + artifact::numElements(param.shape) *
                                  artifact::byteSize(param.type));
}

/// A gradient, of which a rank may have the sums of its share alone: the others
/// come from the other ranks of its stage.
Bytes Runner::readGradient(size_t rank, const artifact::RankParam &entry,
                           int64_t offset) const {
  if (!entry.scattered)
    return read(rank, offset, entry.param);
  const artifact::Parameter &param = metadata.params[entry.param];
  int64_t elements = artifact::numElements(param.shape);
  int64_t size = artifact::byteSize(param.type);
  std::vector<int32_t> members = program.ranksOf(program.placeOf(rank).stage);
  Bytes bytes(static_cast<size_t>(elements * size));
  auto copyFrom = [&](int32_t k) {
    Shard share = entry.division(elements).reduced(k);
    Bytes all = read(static_cast<size_t>(members[static_cast<size_t>(k)]),
                     offset, entry.param);
    std::copy_n(all.begin() + share.first * size, share.count * size,
                bytes.begin() + share.first * size);
  };
  for (int32_t k = 0; k < entry.shards; ++k)
    copyFrom(k);
  copyFrom(program.memberOf(rank));
  return bytes;
}

std::map<std::pair<int32_t, int32_t>, Bytes>
Runner::accumulators(int32_t replica) const {
  std::map<std::pair<int32_t, int32_t>, Bytes> all;
  for (size_t rank = 0; rank < program.ranks.size(); ++rank)
    if (program.placeOf(rank).replica == replica)
      for (const artifact::RankParam &entry : program.ranks[rank].params)
        for (const artifact::Accumulator &gradient : entry.gradients)
          all[{entry.param, gradient.chunk}] =
              readGradient(rank, entry, gradient.offset);
  return all;
}

std::map<std::pair<int32_t, int32_t>, Bytes> Runner::parameters() const {
  std::map<std::pair<int32_t, int32_t>, Bytes> all;
  for (size_t rank = 0; rank < program.ranks.size(); ++rank)
    for (const artifact::RankParam &entry : program.ranks[rank].params)
      all[{entry.param, static_cast<int32_t>(rank)}] =
          read(rank, entry.valueOffset, entry.param);
  return all;
}
