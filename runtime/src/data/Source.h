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

/// The position of a sample, counted from 0 in its epoch.
struct Position {
  int64_t epoch = 0, sample = 0;
};

/// Fills a batch argument. A step has a number of samples (windows, rows or
/// values), those of its microbatches one after the other.
class Source {
public:
  virtual ~Source() = default;
  /// Writes samples [first, first + count) of a step. Fails at a value that the
  /// model does not accept, if not all values were checked before.
  virtual Status fill(int64_t step, int64_t first, int64_t count,
                      char *target) = 0;
  /// Asks the system to read in the background what `fill` will read.
  virtual void readAhead(int64_t /*step*/, int64_t /*first*/,
                         int64_t /*count*/) {}
  virtual int64_t samplesPerStep() const = 0;
  /// The position at which step `step` begins; none if it follows from the step
  /// alone.
  virtual std::optional<Position> positionOf(int64_t /*step*/) const {
    return std::nullopt;
  }
  /// Sets the position at which step `step` begins. Later steps follow it.
  virtual void setPosition(int64_t /*step*/, Position /*position*/) {}
  /// The step that ends epoch `epochs`; 0 if the source has no epochs.
  virtual int64_t lastStepOf(int64_t /*epochs*/) const { return 0; }
};

/// Windows of a text at random places, or one after the other. All arguments
/// that read the same file get the same places, so that labels match tokens.
class TextSource final : public Source {
public:
  /// `stride` is the distance from one window to the next; 0 if windows are at
  /// random places.
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
  int64_t origin = 0; ///< The first window of step 1, by extrapolation.
};

/// Rows of an array, in order or shuffled anew in each epoch. Rows at the end
/// of an epoch that do not fill a step are left out.
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
  int64_t firstStep = 1; ///< The step that begins at `start`.
  Position start;
};

/// Random values of any type: normally distributed floats of mean 0 and
/// variance 1, or uniformly distributed integers. They depend only on the seed,
/// `name` and the step, and not on the step if all steps have the same batch.
class RandomSource final : public Source {
public:
  /// Some of the values of a step.
  struct Part {
    int64_t first, count;
  };
  using Range = std::pair<int64_t, int64_t>;

  /// Makes `count` values a step: integers of `range`, or normally distributed
  /// floats if there is no range.
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
  std::string fixed; ///< The batch of all steps; empty if steps differ.
};

/// Values that the program provides before each step.
class FedSource final : public Source {
public:
  FedSource(int64_t valueBytes, int64_t valuesPerStep)
      : valueBytes(valueBytes), valuesPerStep(valuesPerStep) {}
  Status fill(int64_t step, int64_t first, int64_t count,
              char *target) override;
  int64_t samplesPerStep() const override { return valuesPerStep; }

  std::string values; ///< All values of the next step.
  bool isFresh = false;

private:
  const int64_t valueBytes, valuesPerStep;
};

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_SOURCE_H
