//===- Agenda.h - the order in which stages act -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_SCHEDULE_GENERATORS_AGENDA_H
#define VEELINE_LIB_SCHEDULE_GENERATORS_AGENDA_H

#include "LegBuilder.h"

namespace veeline::schedule {

/// Lets stages act in the order in which they wake; on a tie, the one with the
/// lowest number comes first.
///
/// An act depends only on its own stage and on what the *neighbours*, the
/// stages with which it exchanges data, have placed by then. It may wake
/// neighbours at the end of what it places. So a stage may act as soon as none
/// of its neighbours can act before it. It is not necessary to find the first
/// of all stages: sweeps over the stages suffice, and the data that they read
/// are adjacent in memory.
///
/// For this, the agenda keeps for each stage a time before which it will
/// certainly not act. That is when it wakes. A neighbour may wake it earlier,
/// so it is at most the earliest act of a neighbour plus the shortest step of
/// that neighbour.
class Agenda {
public:
  static constexpr double never = std::numeric_limits<double>::infinity();

  /// All stages wake at time 0.
  explicit Agenda(const LegBuilder &builder);

  void wake(int stage, double time) { entries[stage].wakeTime = time; }
  /// Wakes the stages that use what a stage has just placed, unless they wake
  /// earlier.
  void wakeUsers(int stage, const LegProblem::Leg &placed);

  /// Calls `act(stage, time)` until all stages sleep. An act sets the time at
  /// which its own stage wakes next. Returns false as soon as an act does.
  template <typename Act> bool run(Act act);

private:
  struct Entry {
    double wakeTime;
    /// The earliest time at which the stage can act next.
    double least;
    /// The least time between one of its acts and an act that this causes.
    double shortest;
    /// Its neighbours are in this range of `neighbours`.
    int begin, end;
  };

  bool isNext(int stage) const;
  double leastTime(int stage) const;
  int firstStage() const;
  template <typename Act> bool runStage(int stage, Act &act, int &acts);

  const LegBuilder &builder;
  std::vector<Entry> entries;
  std::vector<int> neighbours;
};

/// Whether no neighbour can act before a stage that wakes.
inline bool Agenda::isNext(int stage) const {
  const Entry &entry = entries[stage];
  if (entry.wakeTime == never)
    return false;
  for (int i = entry.begin; i < entry.end; ++i) {
    int other = neighbours[i];
    double least = entries[other].least;
    if (least < entry.wakeTime || (least == entry.wakeTime && other < stage))
      return false;
  }
  return true;
}

inline double Agenda::leastTime(int stage) const {
  const Entry &entry = entries[stage];
  double time = entry.wakeTime, now = builder.now(stage);
  // Nothing wakes a stage while it is busy.
  if (time <= now)
    return time;
  for (int i = entry.begin; i < entry.end; ++i) {
    const Entry &other = entries[neighbours[i]];
    time = std::min(time, other.least + other.shortest);
  }
  return std::max({time, entry.least, now});
}

template <typename Act> bool Agenda::runStage(int stage, Act &act, int &acts) {
  for (; isNext(stage); ++acts)
    if (!act(stage, entries[stage].wakeTime))
      return false;
  entries[stage].least = leastTime(stage);
  return true;
}

template <typename Act> bool Agenda::run(Act act) {
  int stages = static_cast<int>(entries.size());
  for (;;) {
    int acts = 0;
    for (int stage = 0; stage < stages; ++stage)
      if (!runStage(stage, act, acts))
        return false;
    for (int stage = stages - 1; stage >= 0; --stage)
      if (!runStage(stage, act, acts))
        return false;
    if (acts > 0)
      continue;
    // The first of all stages may act, whatever is known of its neighbours.
    int stage = firstStage();
    double time = entries[stage].wakeTime;
    if (time == never)
      return true;
    for (Entry &entry : entries)
      entry.least = std::max(entry.least, time);
    if (!act(stage, time))
      return false;
  }
}

} // namespace veeline::schedule

#endif // VEELINE_LIB_SCHEDULE_GENERATORS_AGENDA_H
