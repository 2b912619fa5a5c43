//===- OpTimes.cpp - times of operations on a GPU -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpTimes.h"

using namespace veeline;
using namespace veeline::cuda;

Status StepOrigin::prepare(const Device &device) {
  driver = &device.driver();
  for (Moment &moment : moments)
    VEELINE_TRY(moment.event.create(device, /*isTimed=*/true));
  return Status::success();
}

Status StepOrigin::note(uint32_t number, api::Stream stream, bool isIdle) {
  Moment &moment = moments[number % std::size(moments)];
  moment.time.reset();
  VEELINE_TRY(moment.event.record(stream));
  if (!isIdle)
    return Status::success();
  VEELINE_TRY(VEELINE_CALL(*driver, cuStreamSynchronize, stream));
  moment.time = nanoseconds();
  return Status::success();
}

void StepOrigin::settle(uint32_t number) {
  Moment &moment = moments[number % std::size(moments)];
  if (!moment.time)
    moment.time = timeOf(number - 1, moment.event);
}

std::optional<int64_t> StepOrigin::timeOf(uint32_t number,
                                          const Event &event) const {
  const Moment &moment = of(number);
  float milliseconds = 0;
  if (!moment.time ||
      driver->cuEventElapsedTime(&milliseconds, moment.event.get(),
                                 event.get()) != api::success)
    return std::nullopt;
  return *moment.time +
         static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6);
}

Status OpTimes::prepare(const Device &device, const StepOrigin &newOrigin,
                        size_t numOps) {
  origin = &newOrigin;
  for (size_t i = 0; i < numOps; ++i)
    for (std::vector<Event> *events : {&begins, &ends})
      VEELINE_TRY(events->emplace_back().create(device, /*isTimed=*/true));
  issued.reserve(numOps);
  return Status::success();
}

Status OpTimes::begin(int32_t op, api::Stream stream) {
  issuedAt = nanoseconds();
  return begins[static_cast<size_t>(op)].record(stream);
}

Status OpTimes::end(int32_t op, int64_t length, api::Stream stream) {
  VEELINE_TRY(ends[static_cast<size_t>(op)].record(stream));
  issued.push_back({op, length, issuedAt, nanoseconds()});
  return Status::success();
}

void OpTimes::addTo(engine::Timeline &timeline, const artifact::Rank &rank,
                    uint32_t number, int64_t step) const {
  // While one of several streams waits, the others use the GPU.
  bool isIdle = rank.computeStreams == 1;
  for (const Issued &each : issued) {
    auto op = static_cast<size_t>(each.op);
    int64_t begin = origin->timeOf(number, begins[op]).value_or(each.begin);
    int64_t end = origin->timeOf(number, ends[op]).value_or(each.end);
    artifact::OpKind kind = rank.ops[op].kind;
    timeline.setStep(static_cast<int32_t>(step - rank.ops[op].late));
    if (isIdle &&
        (kind == artifact::OpKind::recv || artifact::waitsForReduction(kind)))
      timeline.addIdle(begin, end);
    timeline.addOp(each.op, begin, end, each.length);
  }
}
