//===- HostCopies.cpp - copies to the host's memory and back --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostCopies.h"

#include <algorithm>
#include <numeric>
#include <tuple>

using namespace veeline::schedule;

HostCopies::HostCopies(const Problem &problem, const Schedule &schedule,
                       const OpIndex &index, int rank) {
  for (const Offload &offload : schedule.offloads[rank])
    offloads.push_back(
        {index.forward(offload.chunk, offload.microbatch), offload.leaves,
         offload.returns,
         index.reader(problem, offload.chunk, offload.microbatch),
         problem.chunks[offload.chunk].offloadTime});
  times.resize(offloads.size());
  auto sorted = [&](auto key) {
    std::vector<int> order(offloads.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return key(offloads[a]) < key(offloads[b]);
    });
    return order;
  };
  byLeaving = sorted(
      [](const Copies &it) { return std::tuple(it.leaves, it.forward); });
  byReturning = sorted(
      [](const Copies &it) { return std::tuple(it.returns, it.reader); });
  byReader = sorted([](const Copies &it) { return it.reader; });
}

double HostCopies::begin(int step, int size, double now) {
  std::size_t first = left;
  for (; left < byLeaving.size() && offloads[byLeaving[left]].leaves == step;
       ++left)
    now = std::max(now, times[byLeaving[left]].outEnd);
  for (; first < left; ++first)
    times[byLeaving[first]].left = now;
  for (; returned < byReturning.size() &&
         offloads[byReturning[returned]].returns == step;
       ++returned) {
    OffloadTimes &it = times[byReturning[returned]];
    it.returned = now;
    it.backStart = std::max(now, backFree);
    it.backEnd = backFree = it.backStart + offloads[byReturning[returned]].time;
  }
  for (;
       read < byReader.size() && offloads[byReader[read]].reader < step + size;
       ++read)
    now = std::max(now, times[byReader[read]].backEnd);
  return now;
}

void HostCopies::end(int step, double time) {
  if (sent == offloads.size() || offloads[sent].forward != step)
    return;
  OffloadTimes &it = times[sent];
  it.outStart = std::max(time, outFree);
  it.outEnd = outFree = it.outStart + offloads[sent++].time;
}
