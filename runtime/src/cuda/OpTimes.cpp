//===- OpTimes.cpp - when operations ran on a GPU -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpTimes.h"

using namespace veeline;
using namespace veeline::cuda;

Status StepOrigin::prepare(const Device &device) {
  driver = &device.driver();
  return origin.create(device, /*isTimed=*/true);
}

Status StepOrigin::set(api::Stream stream) {
  VEELINE_TRY(origin.record(stream));
  VEELINE_TRY(VEELINE_CALL(*driver, cuStreamSynchronize, stream));
  time = nanoseconds();
  return Status::success();
}

std::optional<int64_t> StepOrigin::timeOf(const Event &event) const {
  float milliseconds = 0;
  if (driver->cuEventElapsedTime(&milliseconds, origin.get(), event.get()) !=
      api::success)
    return std::nullopt;
  return time + static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6);
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

void OpTimes::addTo(engine::Timeline &timeline,
                    const artifact::Rank &rank) const {
  // While one of several streams waits, the others use the GPU.
  bool isIdle = rank.computeStreams == 1;
  for (const Issued &each : issued) {
    auto op = static_cast<size_t>(each.op);
    int64_t begin = origin->timeOf(begins[op]).value_or(each.begin);
    int64_t end = origin->timeOf(ends[op]).value_or(each.end);
    artifact::OpKind kind = rank.ops[op].kind;
    if (isIdle && (kind == artifact::OpKind::recv ||
                   kind == artifact::OpKind::allReduceWait))
      timeline.addIdle(begin, end);
    timeline.addOp(each.op, begin, end, each.length);
  }
}
