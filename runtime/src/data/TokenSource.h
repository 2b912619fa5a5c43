//===- TokenSource.h - windows of files of tokens ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_DATA_TOKENSOURCE_H
#define VEELINE_RUNTIME_DATA_TOKENSOURCE_H

#include "SampleOrder.h"
#include "Source.h"
#include "TokenFile.h"

namespace veeline::data {

/// The part of one file that a source of windows reads.
struct TokenPart {
  std::string path;
  Tokens tokens;     ///< The part that is read.
  int64_t first = 0; ///< The number of its first token in the file.
  /// Whether the argument is known to accept all tokens of the part. Otherwise
  /// windows are checked as they are read.
  bool isChecked = false;
};

/// The files of one argument, and how they are cut into windows.
struct TokenWindows {
  std::vector<TokenPart> parts;
  TokenView view;
  int64_t window = 0; ///< Tokens that a window provides.
  int64_t stride = 0; ///< From one window of a file to the next.
  /// From the window's place to the first token it provides.
  int64_t shift = 0;
  std::string argument;
  std::pair<int64_t, int64_t> range; ///< [first, second) of valid values.

  /// The number of windows in a part if each takes `reach` tokens.
  int64_t numWindows(const TokenPart &part, int64_t reach) const {
    int64_t room = part.tokens.count() - reach;
    return room < 0 ? 0 : room / stride + 1;
  }
};

/// Checks that the argument accepts tokens [first, first + count) of a part,
/// which are at `values`. The error names the file and the token.
Status checkTokens(const TokenWindows &windows, const TokenPart &part,
                   int64_t first, int64_t count, const int64_t *values);

/// Windows of files of tokens, in the order of a SampleOrder. All arguments
/// that read the same files get the same windows, so that labels match tokens.
class TokenSource final : public Source {
public:
  /// `samplesPerEpoch` counts the samples of all files.
  TokenSource(TokenWindows windows, SampleOrder order, artifact::DataType type,
              int64_t samplesPerEpoch, int64_t windowsPerStep, bool isInOrder)
      : windows(std::move(windows)), order(std::move(order)), type(type),
        samplesPerEpoch(samplesPerEpoch), windowsPerStep(windowsPerStep),
        isInOrder(isInOrder),
        values(static_cast<size_t>(this->windows.window)) {}

  Status fill(int64_t step, int64_t first, int64_t count,
              char *target) override;
  void readAhead(int64_t step, int64_t first, int64_t count) override;
  int64_t samplesPerStep() const override { return windowsPerStep; }
  std::optional<Position> positionOf(int64_t step) const override {
    return Position{0, numberOf(step)};
  }
  void setPosition(int64_t step, Position position) override {
    origin = position.sample - (step - 1) * windowsPerStep;
  }
  int64_t lastStepOf(int64_t epochs) const override {
    return isInOrder ? epochs * (samplesPerEpoch / windowsPerStep)
                     : epochs * samplesPerEpoch / windowsPerStep;
  }

private:
  /// The number of the first window of a step.
  int64_t numberOf(int64_t step) const {
    return origin + (step - 1) * windowsPerStep;
  }
  void applyView();
  void store(char *target) const;

  const TokenWindows windows;
  SampleOrder order;
  const artifact::DataType type;
  const int64_t samplesPerEpoch, windowsPerStep;
  const bool isInOrder;
  int64_t origin = 0; ///< The first window of step 1, by extrapolation.
  std::vector<int64_t> values; ///< One window.
};

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_TOKENSOURCE_H
