//===- ProcessRank.cpp - a rank that is a process -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProcessRank.h"

#include "veeline/Base/Shards.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>
#include <pthread.h>

using namespace veeline;
using namespace veeline::engine;

/// Whether the thread runs or could run, that is, does not sleep.
static bool isRunnable(pid_t thread) {
  std::string path = "/proc/self/task/" + std::to_string(thread) + "/stat";
  char text[256] = {};
  FILE *file = std::fopen(path.c_str(), "re");
  if (!file)
    return true;
  size_t length = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  // The text has the form "PID (NAME) STATE ...".
  size_t nameEnd = std::string_view(text, length).rfind(')');
  return nameEnd + 2 >= length || text[nameEnd + 2] == 'R';
}

Pulse engine::pulseOf(const veeline_rank &rank, const std::thread &thread,
                      pid_t number) {
  Pulse pulse;
  pulse.moves = rank.moves.load(std::memory_order_acquire);
  if (!rank.isInStep.load(std::memory_order_acquire))
    return pulse;
  bool waits = rank.awaited.load(std::memory_order_relaxed) >= 0;
  pulse.state = waits ? Pulse::waiting : Pulse::computing;
  // The thread exists: it has started before the first step, and ends after the
  // last call of this function.
  clockid_t clock;
  timespec time = {};
  if (::pthread_getcpuclockid(const_cast<std::thread &>(thread).native_handle(),
                              &clock) == 0 &&
      ::clock_gettime(clock, &time) == 0)
    pulse.processorNanoseconds =
        int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  pulse.isRunnable =
      rank.isPrinting.load(std::memory_order_relaxed) || isRunnable(number);
  return pulse;
}

NormSum::NormSum(const artifact::Metadata &metadata,
                 const artifact::Program &program) {
  std::map<int32_t, Home> byParam;
  for (size_t rank = 0; rank < program.ranks.size(); ++rank) {
    std::vector<size_t> &ofRank = places.emplace_back(1, 0);
    const std::vector<artifact::RankParam> &params = program.ranks[rank].params;
    int32_t member = program.memberOf(rank);
    for (size_t i = 0; i < params.size(); ++i) {
      const artifact::RankParam &entry = params[i];
      int64_t elements = artifact::numElements(
          metadata.params[static_cast<size_t>(entry.param)].shape);
      int64_t count = entry.scattered
                          ? entry.division(elements).ownNormParts(member).count
                          : 1;
      ofRank.push_back(ofRank.back() + static_cast<size_t>(count));
      if (entry.isHome && member == 0)
        byParam[entry.param] = {
            i, entry.scattered
                   ? program.ranksOf(program.placeOf(rank).stage)
                   : std::vector<int32_t>{static_cast<int32_t>(rank)}};
    }
  }
  for (auto &[param, home] : byParam)
    homes.push_back(std::move(home));
}

double
NormSum::norm(const std::function<const double *(size_t)> &numbersOf) const {
  double sum = 0;
  for (const Home &home : homes) {
    double square = 0;
    for (int32_t rank : home.ranks) {
      auto number = static_cast<size_t>(rank);
      const double *numbers = numbersOf(number);
      for (size_t i = places[number][home.entry];
           i < places[number][home.entry + 1]; ++i)
        square += numbers[i];
    }
    sum += square;
  }
  return std::sqrt(sum);
}

Status engine::shareStep(Network &network, const NormSum &norms,
                         const std::vector<double> &results,
                         const std::vector<double> &squares,
                         StepResult &result) {
  std::vector<double> mine = results;
  mine.insert(mine.end(), squares.begin(), squares.end());
  auto all =
      network.exchange(std::string(reinterpret_cast<const char *>(mine.data()),
                                   mine.size() * sizeof(double)));
  if (!all.ok())
    return Status::error(all.message() + " at the end of the step");
  result.results = results;
  std::vector<std::vector<double>> reports;
  for (size_t rank = 0; rank < all->size(); ++rank) {
    std::vector<double> &numbers =
        reports.emplace_back(results.size() + norms.placesOf(rank).back());
    const std::string &bytes = (*all)[rank];
    if (bytes.size() != numbers.size() * sizeof(double))
      return Status::error("rank " + std::to_string(rank) +
                           " does not report a step of this program");
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    for (size_t i = 0; i < results.size(); ++i)
      if (std::bit_cast<uint64_t>(numbers[i]) !=
          std::bit_cast<uint64_t>(notReported))
        result.results[i] = numbers[i];
  }
  result.gradientNorm = norms.norm(
      [&](size_t rank) { return reports[rank].data() + results.size(); });
  return Status::success();
}
