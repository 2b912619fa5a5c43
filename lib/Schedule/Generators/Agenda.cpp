//===- Agenda.cpp - the order in which stages act -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Agenda.h"

using namespace veeline::schedule;

Agenda::Agenda(const LegBuilder &builder) : builder(builder) {
  const LegProblem &problem = builder.getProblem();
  for (int stage = 0; stage < problem.stages(); ++stage) {
    Entry entry{0, 0, never, static_cast<int>(neighbours.size()), 0};
    auto add = [&](const Link &link) {
      int other = problem.stageOf(link.chunk);
      if (other != stage)
        neighbours.push_back(other);
    };
    for (int code = 0; code < problem.codes(); ++code) {
      const LegProblem::Leg &leg = problem.leg(stage, code);
      std::for_each(leg.inputs.begin(), leg.inputs.end(), add);
      std::for_each(leg.users.begin(), leg.users.end(), add);
      for (const Link &link : leg.users)
        entry.shortest = std::min(entry.shortest, leg.cost + link.transfer);
    }
    auto from = neighbours.begin() + entry.begin;
    std::sort(from, neighbours.end());
    neighbours.erase(std::unique(from, neighbours.end()), neighbours.end());
    entry.end = static_cast<int>(neighbours.size());
    entries.push_back(entry);
  }
}

void Agenda::wakeUsers(int stage, const LegProblem::Leg &placed) {
  for (const Link &user : placed.users) {
    int other = builder.getProblem().stageOf(user.chunk);
    double time =
        std::max(builder.now(other), builder.now(stage) + user.transfer);
    if (other != stage)
      entries[other].wakeTime = std::min(entries[other].wakeTime, time);
  }
}

int Agenda::firstStage() const {
  auto first = std::min_element(
      entries.begin(), entries.end(),
      [](const Entry &a, const Entry &b) { return a.wakeTime < b.wakeTime; });
  return static_cast<int>(first - entries.begin());
}
