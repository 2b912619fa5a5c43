//===- Suite.h - the conformance suite of backends --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests that every backend passes. They are steps written in C++ against
// runtime.h, run through an Executor. A backend links the suite into a test of
// its own and defines `backend`.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CTS_SUITE_H
#define VEELINE_RUNTIME_CTS_SUITE_H

#include "Executor.h"

#include "veeline/runtime.h"

#include <gtest/gtest.h>
#include <memory>

namespace veeline::cts {

/// What a backend gives to the suite.
class Backend {
public:
  virtual ~Backend() = default;
  /// Makes an artifact of the suite one for this backend's target.
  virtual void adapt(artifact::Artifact &) {}
  /// Gives a rank memory for the library's own use, where one needs it.
  virtual void addLibrary(artifact::Rank &) {}
  /// Why it does not compute one of a table; empty where it does.
  virtual std::string reasonAgainst(const artifact::Gemm &) { return ""; }
  virtual std::string reasonAgainst(const artifact::Convolution &) {
    return "";
  }
  /// Types of the elements and the arithmetic of its convolutions.
  virtual std::vector<std::pair<artifact::DataType, artifact::ComputeType>>
  convolutionTypes() {
    return {{artifact::DataType::f32, artifact::ComputeType::f32}};
  }
  /// Loads the only program of `artifact`, with the functions `steps`, one per
  /// rank, in place of its objects.
  virtual Expected<std::unique_ptr<Executor>>
  create(const artifact::Artifact &artifact,
         const std::vector<veeline_step_fn> &steps) = 0;
};

Backend &backend();

/// An artifact of one program with as many ranks as `steps`, arenas of
/// `arenaBytes`, a loss of type f32, and no tables; tests add what they need.
class Fixture {
public:
  explicit Fixture(std::vector<veeline_step_fn> steps,
                   int64_t arenaBytes = 4096);

  artifact::Metadata &metadata() { return artifact.metadata; }
  artifact::Artifact &whole() { return artifact; }
  artifact::Program &program() { return artifact.metadata.programs[0]; }
  artifact::Rank &rank(size_t index) { return program().ranks[index]; }

  void addChannel(int32_t from, int32_t to, int64_t bytes, int32_t messages);

  /// Adds a parameter whose only rank is `rankIndex`; returns its index.
  int32_t addParam(size_t rankIndex, std::vector<int64_t> shape,
                   artifact::DataType type, int64_t valueOffset,
                   int64_t stateOffset);

  /// Makes the executor; fails the test where that is not possible.
  void create();
  /// The same with the ranks of all replicas.
  void create(const artifact::Program &all);
  Executor &executor() { return *running; }

  /// One step whose only input is `context`.
  Status step(const void *context = nullptr, const StepSettings &settings = {});
  const StepResult &result() const { return lastResult; }

  /// Of the microbatches of a step, where the metadata has lengths.
  std::vector<int64_t> lengths;

private:
  artifact::Artifact artifact;
  std::vector<veeline_step_fn> steps;
  std::unique_ptr<Executor> running;
  StepResult lastResult;
};

} // namespace veeline::cts

#endif // VEELINE_RUNTIME_CTS_SUITE_H
