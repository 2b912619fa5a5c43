//===- Source.h - the source of a batch argument ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_DATA_SOURCE_H
#define VEELINE_RUNTIME_DATA_SOURCE_H

#include "Random.h"
#include "Tensor.h"
#include "veeline/Base/File.h"

#include <map>
#include <optional>

namespace veeline::data {

/// A sample, counted from 0 in its epoch.
struct Position {
  int64_t epoch = 0, sample = 0;
};

/// Fills a batch argument. A step has a number of samples (windows, rows or
/// values): those of its microbatches one after the other.
class Source {
public:
  virtual ~Source() = default;
  /// Writes samples [first, first + count) of a step. Fails at a value that the
  /// model does not take, where not all were looked at before.
  virtual Status fill(int64_t step, int64_t first, int64_t count,
                      char *target) = 0;
  /// Has the system read what `fill` will read, in the background.
  virtual void readAhead(int64_t /*step*/, int64_t /*first*/,
                         int64_t /*count*/) {}
  virtual int64_t samplesPerStep() const = 0;
  /// What step `step` begins with; none where that follows from the step alone.
  virtual std::optional<Position> positionOf(int64_t /*step*/) const {
    return std::nullopt;
  }
  /// Has step `step` begin there, and later ones follow it.
  virtual void setPosition(int64_t /*step*/, Position /*position*/) {}
  /// The step that ends epoch `epochs`; 0 where there are no epochs.
  virtual int64_t lastStepOf(int64_t /*epochs*/) const { return 0; }
};

/// Windows of a text at random places, or one after the other. All arguments
/// that read one file have the same places, so that labels match tokens.
class TextSource final : public Source {
public:
  /// `stride` is from one window to the next; 0: they are at random places.
  TextSource(std::string_view text, const artifact::Batch &batch, int64_t shift,
             int64_t numPlaces, int64_t windowsPerStep, int64_t stride,
             uint64_t seed);
  Status fill(int64_t step, int64_t first, int64_t count,
              char *target) override;
  int64_t samplesPerStep() const override { return windowsPerStep; }
  std::optional<Position> positionOf(int64_t step) const override {
    return Position{0, origin + (step - 1) * windowsPerStep};
  }
  void setPosition(int64_t step, Position position) override {
    origin = position.sample - (step - 1) * windowsPerStep;
  }
  int64_t lastStepOf(int64_t epochs) const override {
    return stride ? epochs * (windowsInOrder() / windowsPerStep) : 0;
  }
  int64_t windowsInOrder() const { return (numPlaces - 1) / stride + 1; }

private:
  uint64_t placeOf(int64_t number) const;

  std::string_view text;
  const artifact::DataType type;
  const int64_t window, shift, numPlaces, windowsPerStep, stride;
  const RandomStream stream;
  int64_t origin = 0; ///< The first window of step 1, as if there were one.
};

/// Rows of an array, in order or shuffled anew in each epoch. Rows at the end
/// of an epoch that make no whole step are left out.
class ArraySource final : public Source {
public:
  ArraySource(const Tensor &tensor, int64_t rowsPerStep, bool shuffle,
              uint64_t seed);
  Status fill(int64_t step, int64_t first, int64_t count,
              char *target) override;
  int64_t samplesPerStep() const override { return rowsPerStep; }
  std::optional<Position> positionOf(int64_t step) const override;
  void setPosition(int64_t step, Position position) override;
  int64_t lastStepOf(int64_t epochs) const override;

private:
  void startEpoch(int64_t epoch);
  int64_t stepsFrom(int64_t row) const;

  std::string_view bytes;
  const int64_t rowBytes, rowsPerStep, stepsPerEpoch;
  const bool shuffle;
  const uint64_t seed;
  int64_t currentEpoch = -1;
  std::vector<int64_t> order;
  int64_t firstStep = 1; ///< It begins at `start`.
  Position start;
};

/// Random values: normally distributed floats of mean 0 and variance 1, or
/// uniformly distributed integers, in any type. They depend only on the seed,
/// `name` and the step; if all steps have the same batch, not on the step.
class RandomSource final : public Source {
public:
  /// Some of the values of a step.
  struct Part {
    int64_t first, count;
  };
  using Range = std::pair<int64_t, int64_t>;

  /// `count` values a step: integers of `range`, or normally distributed floats
  /// if there is none.
  RandomSource(const std::string &name, artifact::DataType type, int64_t count,
               std::optional<Range> range, bool isFixed, uint64_t seed);
  Status fill(int64_t step, int64_t first, int64_t count,
              char *target) override;
  int64_t samplesPerStep() const override { return valuesPerStep; }

private:
  void draw(int64_t step, Part part, char *target) const;

  const artifact::DataType type;
  const int64_t valuesPerStep;
  const std::optional<Range> range;
  const RandomStream stream;
  std::string fixed; ///< The batch of all steps; empty where each has its own.
};

/// What the program gives before each step.
class FedSource final : public Source {
public:
  FedSource(int64_t valueBytes, int64_t valuesPerStep)
      : valueBytes(valueBytes), valuesPerStep(valuesPerStep) {}
  Status fill(int64_t step, int64_t first, int64_t count,
              char *target) override;
  int64_t samplesPerStep() const override { return valuesPerStep; }

  std::string values; ///< Of the next step, all of them.
  bool isFresh = false;

private:
  const int64_t valueBytes, valuesPerStep;
};

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_SOURCE_H
