//===- Reference.h - what programs have to compute --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_FUZZ_REFERENCE_H
#define VEELINE_TEST_FUZZ_REFERENCE_H

#include "Runner.h"

namespace veeline::fuzz {

/// By parameter and chunk, or by parameter and rank.
using Tensors = std::map<std::pair<int32_t, int32_t>, Bytes>;

/// What a step computes; compared bit by bit.
struct Outcome {
  std::vector<double> results;
  std::vector<Tensors> accumulators; ///< Of each replica.
  Tensors parameters;
};

/// Two steps of a model on one rank, microbatches one after the other, with
/// updates of whole models. All replicas come out alike, so that an outcome has
/// the accumulators of one.
class Reference {
public:
  /// Both outlive it.
  Reference(const artifact::Artifact &artifact, const Inputs &inputs)
      : artifact(artifact), metadata(artifact.metadata), inputs(inputs) {}

  /// Steps of the program "sequential", which runs the microbatches of one
  /// replica after those of the other.
  Expected<std::vector<Outcome>> synchronous(Runner &sequential) const;
  /// Steps that both use the parameters at the beginning: the second one does
  /// not wait for the updates of the first, whose outcome is given.
  Expected<std::vector<Outcome>> doubleBuffered(const Outcome &first) const;
  /// Each microbatch has an update, and uses parameters of as many updates
  /// before as stages follow. The program "single" runs one of them.
  Expected<std::vector<Outcome>> stashed(const artifact::Program &tested) const;

private:
  Status addGroup(Runner &runner, int32_t first,
                  const std::vector<Bytes> &values, Outcome &sum) const;
  StepSettings settingsOf(int64_t step) const;

  const artifact::Artifact &artifact;
  const artifact::Metadata &metadata;
  const Inputs &inputs;
};

/// The learning rate of all steps that are compared.
inline constexpr double learningRate = 0.01;

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_REFERENCE_H
