//===- Runner.h - a program of a model in this process ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_FUZZ_RUNNER_H
#define VEELINE_TEST_FUZZ_RUNNER_H

#include "HostExecutor.h"

#include <array>
#include <map>
#include <memory>

namespace veeline::fuzz {

using Bytes = std::vector<char>;

/// The limit of gradients in programs that clip.
inline constexpr double clipNorm = 0.05;

/// What the loss is multiplied by, in models where it is.
inline constexpr double lossScale = 512;

/// Random parameters, batches and buffers of a model.
struct Inputs {
  /// With data for the microbatches of `replicas` replicas.
  Inputs(const artifact::Metadata &metadata, uint64_t seed, int32_t replicas);

  /// Some of all microbatches, those of one replica after those of the other.
  Inputs ofMicrobatches(int32_t first, int32_t count) const;
  /// The inputs of one replica alone.
  Inputs ofReplica(int32_t replica) const {
    return ofMicrobatches(replica * microbatches, microbatches);
  }

  std::vector<Bytes> parameters;
  std::vector<Bytes> arguments; ///< Batches, then buffers.
  size_t numBatches;
  int32_t microbatches; ///< Of each replica.
  int32_t replicas;
};

/// Of a program that clips as `clipSync` says. With numbers that show in the
/// bits what depends on them.
StepSettings settingsOf(const artifact::Metadata &metadata,
                        artifact::ClipSync clipSync, int64_t step,
                        double learningRate);

/// A program that is loaded, with the ranks of all replicas. `artifact`
/// outlives it.
class Runner {
public:
  static Expected<std::unique_ptr<Runner>>
  create(const artifact::Artifact &artifact, const artifact::Program &program);

  /// As before the first step: all parameters have these values, and the
  /// optimiser has no state.
  Status reset(const std::vector<Bytes> &values);
  /// Writes a parameter's value on every rank that has it.
  Status setParameter(size_t index, const Bytes &value);
  /// Runs a step and returns [result][microbatch].
  Expected<std::vector<double>> step(const Inputs &inputs, double learningRate);
  /// The same of two steps, of which the second begins before the first ends.
  Expected<std::array<std::vector<double>, 2>> twoSteps(const Inputs &inputs,
                                                        double learningRate);

  /// By parameter and chunk, as after the last step.
  std::map<std::pair<int32_t, int32_t>, Bytes>
  accumulators(int32_t replica = 0) const;
  /// By parameter and rank.
  std::map<std::pair<int32_t, int32_t>, Bytes> parameters() const;

  const artifact::Program &program;

private:
  Runner(const artifact::Artifact &artifact, const artifact::Program &program)
      : program(program), metadata(artifact.metadata) {}
  Status begin(const Inputs &inputs, double learningRate);
  Bytes read(size_t rank, int64_t offset, int32_t parameter) const;
  Bytes readGradient(size_t rank, const artifact::RankParam &entry,
                     int64_t offset) const;

  const artifact::Metadata &metadata;
  std::unique_ptr<host::HostExecutor> executor;
  std::vector<const void *> pointers; ///< To the inputs of a step.
  int64_t steps = 0;
};

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_RUNNER_H
