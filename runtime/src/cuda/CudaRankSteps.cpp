//===- CudaRankSteps.cpp - steps of a rank on a GPU -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of CudaRank before and after a step: what the host gives to the
// device, and what it reads back. Compiled without contraction, so that the
// optimiser's numbers are those of the host.
//
//===----------------------------------------------------------------------===//

#include "CudaRank.h"

#include "Coefficients.h"

#include "veeline/Base/Numbers.h"

#include <cstddef>
#include <cstring>

using namespace veeline;
using namespace veeline::cuda;

static constexpr int64_t pinnedAlignment = 64;

/// The distance from one settings to the next, in bytes.
static constexpr int64_t settingsStride = 256;
static constexpr size_t numSettings =
    sizeof(veeline_settings::f32) / sizeof(float);

/// The part of a veeline_clipping that is copied.
static constexpr int64_t limitsOffset =
                             offsetof(struct veeline_clipping, limit),
                         limitsBytes = 2 * sizeof(double),
                         outcomeOffset =
                             offsetof(struct veeline_clipping, norm),
                         outcomeBytes = 3 * sizeof(double);

static int64_t alignUp(int64_t bytes) {
  return roundUp(bytes, pinnedAlignment);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Status CudaRank::allocatePinned(const artifact::Metadata &metadata) {
  int64_t bytes = 0;
  for (const artifact::Input &input : description->inputs)
    bytes += alignUp(input.bytes);
  settingsAt = bytes;
  limitsAt = settingsAt + alignUp(settingsBytes());
  outcomeAt = limitsAt + alignUp(limitsBytes);
  normsAt = outcomeAt + alignUp(outcomeBytes);
  resultsAt = normsAt + alignUp(normBytes());
  isReported.resize(metadata.results.size() *
                    static_cast<size_t>(microbatches));
  slotBytes = resultsAt + alignUp(resultBytes());
  lateNormsAt = 2 * slotBytes;
  wordAt = lateNormsAt + alignUp(normBytes());
  return pinned.allocate(*device, wordAt + pinnedAlignment);
}

Status CudaRank::keepTimes(const StepOrigin &origin, size_t timelineEvents) {
  deviceTimeline = std::make_unique<engine::Timeline>(timelineEvents);
  for (size_t i = 0; i < std::size(ended) + description->hasLate(); ++i) {
    times.push_back(std::make_unique<OpTimes>());
    VEELINE_TRY(
        times.back()->prepare(*device, origin, description->ops.size()));
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Before and after a step
//===----------------------------------------------------------------------===//

template <typename T>
static void fillSettings(T (&numbers)[numSettings], Optimizer optimizer,
                         const ParamRates &rates, const StepSettings &settings,
                         int32_t microbatches) {
  Coefficients<T> c =
      coefficientsOf<T>(optimizer, rates, settings, microbatches);
  const T all[numSettings] = {c.gradientScale,
                              c.keep,
                              c.lossDecay,
                              c.rate,
                              c.beta1,
                              c.oneMinusBeta1,
                              c.beta2,
                              c.oneMinusBeta2,
                              c.secondMomentScale,
                              c.epsilon,
                              c.gradientRate,
                              c.clipValue,
                              c.greatestLimited,
                              0,
                              c.decay,
                              c.correction};
  std::copy(std::begin(all), std::end(all), numbers);
}

/// Writes the settings of all parameters at `place`. Parameters with the same
/// rates have equal settings.
void CudaRank::fillAllSettings(char *place, const StepSettings &settings,
                               int32_t m) const {
  struct Known {
    Optimizer optimizer;
    ParamRates rates;
    struct veeline_settings numbers;
  };
  std::vector<Known> all;
  for (size_t i = 0; i < updates.size(); ++i) {
    const UpdateKind &update = updates[i];
    ParamRates rates = ratesOf(settings, update.param, update.decays);
    auto known = std::find_if(all.begin(), all.end(), [&](const Known &one) {
      return one.optimizer == update.optimizer && one.rates == rates;
    });
    if (known == all.end()) {
      known = all.insert(all.end(), {update.optimizer, rates, {}});
      fillSettings(known->numbers.f32, update.optimizer, rates, settings, m);
      fillSettings(known->numbers.f64, update.optimizer, rates, settings, m);
    }
    std::memcpy(place + static_cast<int64_t>(i) * settingsStride,
                &known->numbers, sizeof(known->numbers));
  }
}

Status CudaRank::write(int64_t offset, const char *place, int64_t bytes) {
  return VEELINE_CALL(driver(), cuMemcpyHtoDAsync_v2,
                      arena.address() + static_cast<uint64_t>(offset), place,
                      static_cast<size_t>(bytes), computeStream());
}

Status CudaRank::moveWithin(int64_t target, int64_t source, int64_t bytes) {
  return VEELINE_CALL(driver(), cuMemcpyDtoDAsync_v2,
                      arena.address() + static_cast<uint64_t>(target),
                      arena.address() + static_cast<uint64_t>(source),
                      static_cast<size_t>(bytes), computeStream());
}

/// Copies what late work reads of the step before.
Status CudaRank::keepBefore() {
  for (const artifact::Input &before : description->inputsBefore)
    for (const artifact::Input &input : description->inputs)
      if (input.input == before.input)
        VEELINE_TRY(moveWithin(before.offset, input.offset, input.bytes));
  if (description->settingsBeforeOffset < 0)
    return Status::success();
  return moveWithin(description->settingsBeforeOffset,
                    description->settingsOffset, settingsBytes());
}

Status CudaRank::beginLate() {
  timedSlot = std::size(ended);
  if (!times.empty())
    times[timedSlot]->beginStep();
  current = 0;
  transport->beginLate(*this);
  return keepBefore();
}

Status CudaRank::awaitLate(size_t slot, const StepSettings &ofStep) {
  return awaitStep(slot, [&] { return isLateOver(ofStep); }).status();
}

Status CudaRank::beginStep(size_t slot, const void *const *inputs,
                           const StepSettings &newSettings, bool followsUnknown,
                           bool isReplayed) {
  if (!times.empty())
    times[slot]->beginStep();
  timedSlot = slot;
  current = 0;
  // The order matters: a reader that sees the new step must not see the mark of
  // the step before.
  VEELINE_TRY(stepMarks.write(computeStream(), 1, 0));
  VEELINE_TRY(stepMarks.write(computeStream(), 0,
                              static_cast<uint32_t>(newSettings.step)));
  transport->beginStep(*this, slot, isReplayed);
  VEELINE_TRY(keepBefore());
  char *place = placeOfSlot(slot);
  for (const artifact::Input &input : description->inputs) {
    std::memcpy(place, inputs[input.input], static_cast<size_t>(input.bytes));
    VEELINE_TRY(write(input.offset, place, input.bytes));
    place += alignUp(input.bytes);
  }
  return description->settingsOffset < 0
             ? Status::success()
             : writeSettings(placeOfSlot(slot), newSettings, followsUnknown);
}

/// The bytes of the settings of all parameters.
int64_t CudaRank::strideOfAll() const {
  return settingsStride *
         std::max<int64_t>(1, static_cast<int64_t>(description->params.size()));
}

int64_t CudaRank::settingsBytes() const {
  return description->settingsOffset < 0
             ? 0
             : strideOfAll() * description->numSettings;
}

/// Whether each microbatch has its own updates.
bool CudaRank::isStashed() const {
  return program->asynchronous == artifact::Asynchronous::stashed;
}

/// Writes the settings of a step; or of each of its microbatches; or both for a
/// step that follows a change and for one that follows a step without a change.
Status CudaRank::writeSettings(char *place, const StepSettings &newSettings,
                               bool followsUnknown) {
  bool isClipped = description->clipOffset >= 0;
  for (int32_t i = 0; i < description->numSettings; ++i) {
    StepSettings one =
        isStashed() ? ofMicrobatch(newSettings, i, microbatches) : newSettings;
    one.step -= numSkipped;
    if (isClipped && followsUnknown)
      one.step -= i;
    int32_t m = isStashed() ? allMicrobatches / microbatches : allMicrobatches;
    fillAllSettings(place + settingsAt + i * strideOfAll(), one, m);
  }
  VEELINE_TRY(
      write(description->settingsOffset, place + settingsAt, settingsBytes()));
  if (!isClipped)
    return Status::success();
  const double limits[] = {newSettings.clipNorm,
                           newSettings.skipNonFinite ? 1.0 : 0.0};
  static_assert(sizeof(limits) == limitsBytes);
  std::memcpy(place + limitsAt, limits, sizeof(limits));
  return write(description->clipOffset + limitsOffset, place + limitsAt,
               limitsBytes);
}

bool CudaRank::awaitIssued() {
  if (!require(reached.record(currentStream())))
    return false;
  return require(transport->await(*this, reached, nullptr).status());
}

Status CudaRank::endStep() {
  auto end = static_cast<int32_t>(description->ops.size());
  for (current = numComputeStreams(); current-- > 0;) {
    for (int32_t stream = 0; stream < numMessageStreams; ++stream)
      transport->settle(*this, stream);
    transport->beginOp(*this, end);
  }
  current = 0;
  for (size_t i = 0; i < joined.size(); ++i) {
    VEELINE_TRY(joined[i].record(streams[i + 1].get()));
    VEELINE_TRY(joined[i].holdUp(computeStream()));
  }
  return Status::success();
}

int64_t CudaRank::normBytes() const {
  return int64_t(8) * description->normParts *
         static_cast<int64_t>(description->params.size());
}

int64_t CudaRank::resultBytes() const {
  return description->resultsOffset < 0
             ? 0
             : static_cast<int64_t>(isReported.size() * 8);
}

Status CudaRank::readBack(size_t slot) {
  auto copy = [&](int64_t target, int64_t source, int64_t bytes) {
    return bytes == 0
               ? Status::success()
               : VEELINE_CALL(driver(), cuMemcpyDtoHAsync_v2,
                              placeOfSlot(slot) + target,
                              arena.address() + static_cast<uint64_t>(source),
                              static_cast<size_t>(bytes), computeStream());
  };
  VEELINE_TRY(copy(normsAt, description->normsOffset, normBytes()));
  VEELINE_TRY(copy(resultsAt, description->resultsOffset, resultBytes()));
  if (description->clipOffset >= 0)
    VEELINE_TRY(
        copy(outcomeAt, description->clipOffset + outcomeOffset, outcomeBytes));
  transport->readBack(*this, slot);
  return ended[slot].record(computeStream());
}

void CudaRank::addTimes(size_t slot, uint32_t number, int64_t ofStep) {
  if (times.empty())
    return;
  times[slot]->addTo(*deviceTimeline, *description, number, ofStep);
  if (!description->hasLate())
    return;
  OpTimes &alone = *times.back();
  alone.addTo(*deviceTimeline, *description, number, ofStep + 1);
  alone.beginStep();
}

void CudaRank::readReports(size_t slot, const StepSettings &ofStep,
                           double *all) const {
  const char *place = placeOfSlot(slot) + resultsAt;
  for (size_t i = 0; i < isReported.size(); ++i) {
    if (!isReported[i])
      continue;
    size_t result = i / static_cast<size_t>(microbatches);
    size_t microbatch = i % static_cast<size_t>(microbatches);
    all[result * static_cast<size_t>(allMicrobatches) + microbatch] =
        readResult(static_cast<int32_t>(result), place + 8 * i, ofStep);
  }
}

void CudaRank::readNorms(size_t slot, size_t param, double *numbers) const {
  readNorms(placeOfSlot(slot) + normsAt, param, numbers);
}

Clip CudaRank::takeClip(size_t slot) {
  double outcome[3];
  static_assert(sizeof(outcome) == outcomeBytes);
  std::memcpy(outcome, placeOfSlot(slot) + outcomeAt, sizeof(outcome));
  Clip clip{outcome[0], outcome[1], outcome[2] > 0};
  numSkipped += clip.skips;
  return clip;
}

void CudaRank::readLateNorms(size_t param, double *numbers) const {
  readNorms(pinned.data() + lateNormsAt, param, numbers);
}

/// Each part where gradients are scattered, or the sum of all.
void CudaRank::readNorms(const char *norms, size_t param,
                         double *numbers) const {
  const Share &share = shares[param];
  if (!description->params[param].scattered) {
    *numbers = sumOfParts(norms, param);
    return;
  }
  const char *parts =
      norms + 8 * (param * static_cast<size_t>(description->normParts) +
                   static_cast<size_t>(share.normsBefore));
  std::memcpy(numbers, parts, 8 * static_cast<size_t>(share.normParts.count));
}

double CudaRank::sumOfParts(const char *norms, size_t param) const {
  auto numParts = static_cast<size_t>(description->normParts);
  const char *parts = norms + 8 * param * numParts;
  double sum = 0;
  for (size_t part = 0; part < numParts; ++part) {
    double number;
    std::memcpy(&number, parts + 8 * part, sizeof(number));
    sum += number;
  }
  return isStashed() ? sum / microbatches : sum;
}

void CudaRank::showStep() {
  // The mark is the low half of the number, and 0 at first.
  uint32_t mark = stepMarks.read(0);
  int64_t shown = step.load(std::memory_order_relaxed);
  if (mark != 0)
    step.store(shown +
                   static_cast<int32_t>(mark - static_cast<uint32_t>(shown)),
               std::memory_order_relaxed);
}

bool CudaRank::require(const Status &status) {
  if (!status.ok() && !failed)
    fail(status.message());
  return status.ok();
}
