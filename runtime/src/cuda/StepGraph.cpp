//===- StepGraph.cpp - the step of all ranks as one graph -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepGraph.h"

#include "CudaRank.h"

#include <utility>

using namespace veeline;
using namespace veeline::cuda;

void StepGraph::destroy() {
  if (api::GraphExec last = std::exchange(executable, nullptr))
    (void)device.driver().cuGraphExecDestroy(last);
  if (api::Graph last = std::exchange(graph, nullptr))
    (void)device.driver().cuGraphDestroy(last);
}

/// All streams except the first rank's compute stream, which is the origin.
static std::vector<api::Stream>
otherStreams(const std::vector<CudaRank *> &ranks) {
  std::vector<api::Stream> streams;
  for (const CudaRank *rank : ranks)
    for (const Stream &stream : rank->allStreams())
      streams.push_back(stream.get());
  streams.erase(streams.begin());
  return streams;
}

Status StepGraph::begin(const std::vector<CudaRank *> &ranks) {
  std::vector<api::Stream> streams = otherStreams(ranks);
  for (size_t i = 0; i < ranks.size(); ++i)
    VEELINE_TRY(events.emplace_back().create(device));
  for (CudaRank *rank : ranks)
    rank->captureMutex = &mutex;
  api::Stream origin = ranks[0]->computeStream();
  VEELINE_TRY(VEELINE_CALL(device.driver(), cuStreamBeginCapture_v2, origin,
                           api::captureThreadLocal));
  VEELINE_TRY(events[0].record(origin));
  for (api::Stream stream : streams)
    VEELINE_TRY(events[0].holdUp(stream));
  return Status::success();
}

Status StepGraph::join(const std::vector<CudaRank *> &ranks) {
  for (CudaRank *rank : ranks)
    VEELINE_TRY(rank->endStep());
  return gather(ranks);
}

/// Makes the first rank's compute stream wait for those of the others.
Status StepGraph::gather(const std::vector<CudaRank *> &ranks) {
  for (size_t i = 1; i < ranks.size(); ++i) {
    VEELINE_TRY(events[i].record(ranks[i]->computeStream()));
    VEELINE_TRY(events[i].holdUp(ranks[0]->computeStream()));
  }
  return Status::success();
}

Status StepGraph::end(const std::vector<CudaRank *> &ranks,
                      const Status &fault) {
  Status status = fault;
  if (status.ok())
    status = join(ranks);
  for (CudaRank *rank : ranks)
    rank->captureMutex = nullptr;
  // An error of the step takes precedence over the error that it causes in the
  // capture.
  Status ended = VEELINE_CALL(device.driver(), cuStreamEndCapture,
                              ranks[0]->computeStream(), &graph);
  VEELINE_TRY(status);
  VEELINE_TRY(ended);
  return VEELINE_CALL(device.driver(), cuGraphInstantiateWithFlags, &executable,
                      graph, 0);
}

Status StepGraph::launch(const std::vector<CudaRank *> &ranks) {
  api::Stream origin = ranks[0]->computeStream();
  VEELINE_TRY(gather(ranks));
  VEELINE_TRY(VEELINE_CALL(device.driver(), cuGraphLaunch, executable, origin));
  VEELINE_TRY(events[0].record(origin));
  for (size_t i = 1; i < ranks.size(); ++i)
    VEELINE_TRY(events[0].holdUp(ranks[i]->computeStream()));
  return Status::success();
}
