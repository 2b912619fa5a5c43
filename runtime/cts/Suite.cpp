//===- Suite.cpp - the conformance suite of backends ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Suite.h"

using namespace veeline;
using namespace veeline::cts;

Fixture::Fixture(std::vector<veeline_step_fn> steps, int64_t arenaBytes)
    : steps(std::move(steps)) {
  metadata().results = {{"loss", artifact::DataType::f32}};
  metadata().batches = {{"context", {1}, artifact::DataType::i8, {}}};
  artifact::Program program;
  program.name = "suite";
  program.stages = static_cast<int32_t>(this->steps.size());
  for (int32_t i = 0; i < program.stages; ++i) {
    artifact::Rank rank;
    rank.stepSymbol = "step";
    rank.arenaBytes = arenaBytes;
    program.ranks.push_back(rank);
  }
  metadata().programs = {program};
  artifact.objects = {""};
}

void Fixture::addChannel(int32_t from, int32_t to, int64_t bytes,
                         int32_t messages) {
  int32_t edge = static_cast<int32_t>(program().channels.size());
  program().channels.push_back({artifact::ChannelKind::activation,
                                edge,
                                from,
                                to,
                                bytes,
                                messages,
                                artifact::DataType::i8,
                                {bytes}});
}

int32_t Fixture::addParam(size_t rankIndex, std::vector<int64_t> shape,
                          artifact::DataType type, int64_t valueOffset,
                          int64_t stateOffset) {
  int32_t index = static_cast<int32_t>(metadata().params.size());
  metadata().params.push_back(
      {"p" + std::to_string(index), std::move(shape), type, {}});
  rank(rankIndex).params.push_back({index, valueOffset, stateOffset, {}, true});
  return index;
}

void Fixture::create() { create(artifact::Program(program())); }

void Fixture::create(const artifact::Program &all) {
  backend().adapt(artifact);
  Status valid = artifact::validate(artifact);
  ASSERT_TRUE(valid.ok()) << valid.message();
  program() = all;
  backend().adapt(artifact);
  Expected<std::unique_ptr<Executor>> created =
      backend().create(artifact, steps);
  ASSERT_TRUE(created.ok()) << created.message();
  running = std::move(*created);
}

/// For steps that read none: later replicas begin behind the first one's data.
static constexpr char noData[1024] = {};

Status Fixture::step(const void *context, const StepSettings &settings) {
  const void *inputs[] = {context ? context : noData, lengths.data()};
  VEELINE_TRY(running->begin(inputs, settings));
  return running->finish(lastResult);
}
