//===- CudaAccess.cpp - access to ranks on GPUs ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of CudaExecutor that does not run steps.
//
//===----------------------------------------------------------------------===//

#include "CudaExecutor.h"

#include <algorithm>

using namespace veeline;
using namespace veeline::cuda;

//===----------------------------------------------------------------------===//
// A process among others
//===----------------------------------------------------------------------===//

engine::Pulse CudaExecutor::pulse() const {
  const CudaWorker &worker = *local.front();
  engine::Pulse pulse =
      engine::pulseOf(worker.rank, worker.thread, worker.threadNumber);
  // A rank that waits for its device counts as computing.
  pulse.isRunnable = pulse.isRunnable || transport->isDeviceAwaited() ||
                     isReplaying.load(std::memory_order_relaxed);
  return pulse;
}

Expected<DeviceUse> CudaExecutor::memoryOf(int32_t rank) const {
  Device &device = *workers[rank]->device;
  DeviceUse use;
  if (Status status = workers[rank]->rank.inspectArena(use); !status.ok())
    return Status::error("rank " + std::to_string(rank) + ": " +
                         status.message());
  use.device = device.name();
  auto first =
      std::find_if(local.begin(), local.end(), [&](CudaWorker *worker) {
        return worker->device.get() == &device;
      });
  use.firstRank = (*first)->rank.index;
  MemoryBook &book = device.book();
  book.look(MemoryBook::rest);
  VEELINE_TRY(book.status());
  use.context = book.bytes(MemoryBook::context);
  use.arenas = book.bytes(MemoryBook::arenas);
  use.code = book.bytes(MemoryBook::kernels);
  use.libraries = book.bytes(MemoryBook::libraries);
  use.messages = book.bytes(MemoryBook::messages);
  use.graphs = book.bytes(MemoryBook::graphs);
  use.rest = book.bytes(MemoryBook::rest);
  use.most = book.most();
  return use;
}

std::vector<std::vector<engine::Event>>
CudaExecutor::timeline(int32_t steps) const {
  std::vector<std::vector<engine::Event>> ranks;
  for (const CudaWorker *worker : local)
    if (worker->rank.deviceTimeline)
      ranks.push_back(worker->rank.deviceTimeline->lastEvents(steps));
  return ranks;
}

//===----------------------------------------------------------------------===//
// Access to arenas
//===----------------------------------------------------------------------===//

Status CudaExecutor::write(int32_t rank, int64_t offset, const void *source,
                           int64_t bytes) {
  // Each process writes only to its own ranks.
  if (!isLocal(rank))
    return Status::success();
  CudaRank &target = workers[rank]->rank;
  VEELINE_TRY(target.gpu().makeCurrent());
  VEELINE_TRY(
      VEELINE_CALL(driver, cuMemcpyHtoDAsync_v2,
                   target.memory().address() + static_cast<uint64_t>(offset),
                   source, static_cast<size_t>(bytes), target.computeStream()));
  return VEELINE_CALL(driver, cuStreamSynchronize, target.computeStream());
}

Status CudaExecutor::read(int32_t rank, int64_t offset, void *target,
                          int64_t bytes) {
  CudaRank &source = workers[rank]->rank;
  VEELINE_TRY(source.gpu().makeCurrent());
  VEELINE_TRY(
      VEELINE_CALL(driver, cuMemcpyDtoHAsync_v2, target,
                   source.memory().address() + static_cast<uint64_t>(offset),
                   static_cast<size_t>(bytes), source.computeStream()));
  return VEELINE_CALL(driver, cuStreamSynchronize, source.computeStream());
}
