//===- Tables.cpp - schedules beside other figures ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tables.h"

#include "Runs.h"
#include "veeline/Schedule/Simulator.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace veeline;
using namespace veeline::bench;
using namespace veeline::schedule;

static bool isKnown(const std::string &name) {
  return static_cast<bool>(findGenerator(name));
}

/// Our name of a schedule of the papers.
static std::string ourName(const std::string &published) {
  if (published == "ZB-V")
    return "zb-v-reference";
  std::string name;
  for (char c : published)
    name += static_cast<char>(std::tolower(c));
  return name;
}

/// The heuristic of one chunk a stage counts half of an activation as released
/// by B; its figures come from that.
static void releaseHalfWithB(const std::string &name, Problem &problem) {
  if (name != "zb-1p" && name != "zb-2p")
    return;
  for (Chunk &chunk : problem.chunks) {
    chunk.backwardInputMemory = -chunk.forwardMemory / 2;
    chunk.backwardWeightMemory =
        -chunk.forwardMemory - chunk.backwardInputMemory;
  }
}

void veeline::bench::printPublished(const Settings &settings) {
  Csv csv = Csv::read(settings.peers + "/published.csv");
  std::printf(
      "## published tables, bubble of span\n\n"
      "| schedule | p | m | published | ours |\n|---|---|---|---|---|\n");
  int equal = 0, missing = 0;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    std::string name = ourName(csv.text(i, "schedule"));
    // Costs are of a whole stage where the schedule has one chunk a stage,
    // except in table 8, which gives those of half a stage.
    bool onV = name == "zb-v-reference";
    bool half = csv.text(i, "source").find("table 8") != std::string::npos;
    double scale = half ? 1 : 0.5;
    int p = static_cast<int>(csv.number(i, "p"));
    Case shape{p,
               static_cast<int>(csv.number(i, "m")),
               csv.number(i, "F") * scale,
               csv.number(i, "B") * scale,
               csv.number(i, "W") * scale,
               csv.number(i, "c")};
    if (!isKnown(name)) {
      ++missing;
      continue;
    }
    Problem problem =
        problemOf(shape, onV ? PlacementKind::V : PlacementKind::Linear,
                  onV ? 2 : 1, name == "zb-2p" ? 2 * p : p);
    releaseHalfWithB(name, problem);
    Outcome outcome = runOne(name, problem, {.objective = Objective::Span});
    double published = csv.number(i, "published_bubble_stage");
    bool same = std::abs(outcome.bubbleSpan - published) < 0.00005001;
    equal += same;
    std::printf("| %s | %d | %d | %.4f | %.4f%s |\n", name.c_str(), p,
                shape.microbatches, published, outcome.bubbleSpan,
                same ? "" : " (differs)");
  }
  std::printf("\n%d of %zu rows equal to four digits, %d of schedules that do "
              "not exist here\n\n",
              equal, csv.size(), missing);
}

namespace {
struct Peer {
  std::string schedule, implementation;
  Case shape;
  double span, makespan, peak;
};
} // namespace

static std::vector<Peer> readPeers(const Settings &settings) {
  Csv csv = Csv::read(settings.peers + "/schedules.csv");
  std::vector<Peer> peers;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    Peer peer{csv.text(i, "schedule"),
              csv.text(i, "implementation"),
              {static_cast<int>(csv.number(i, "p")),
               static_cast<int>(csv.number(i, "m")), csv.number(i, "F"),
               csv.number(i, "B"), csv.number(i, "W"), csv.number(i, "c")},
              csv.number(i, "bubble_stage"),
              csv.number(i, "bubble_makespan"),
              csv.number(i, "peak_activations")};
    if (peer.shape.stages <= settings.mostStages)
      peers.push_back(std::move(peer));
  }
  return peers;
}

static PlacementKind placementOf(const std::string &schedule) {
  if (schedule == "1f1b" || schedule == "zb-1p" || schedule == "zb-2p")
    return PlacementKind::Linear;
  if (schedule.starts_with("interleaved"))
    return PlacementKind::Interleaved;
  return PlacementKind::V;
}

static int chunksOf(PlacementKind kind) {
  return kind == PlacementKind::Linear ? 1 : 2;
}

/// Figures are rounded to six digits.
static constexpr double rounding = 1.1e-6;

void veeline::bench::printSameName(const Settings &settings) {
  std::printf("## our schedule of the same name\n\n"
              "| schedule | peer | cases | worse, span | worse, makespan | "
              "worst difference |\n|---|---|---|---|---|---|\n");
  struct Total {
    int cases = 0, worseSpan = 0, worseMakespan = 0;
    double worst = 0;
  };
  std::vector<Peer> peers = readPeers(settings);
  std::vector<std::array<double, 2>> differences(peers.size());
  forEach(settings.jobs, peers.size(), [&](std::size_t i) {
    const Peer &peer = peers[i];
    if (!isKnown(peer.schedule))
      return;
    PlacementKind kind = placementOf(peer.schedule);
    double limit = peer.schedule == "zb-1p"   ? peer.shape.stages
                   : peer.schedule == "zb-2p" ? 2 * peer.shape.stages
                                              : peer.peak;
    Problem problem = problemOf(peer.shape, kind, chunksOf(kind), limit);
    releaseHalfWithB(peer.schedule, problem);
    Outcome span = runOne(peer.schedule, problem, {Objective::Span});
    Outcome makespan = runOne(peer.schedule, problem, {Objective::Makespan});
    differences[i] = {span.bubbleSpan - peer.span,
                      makespan.bubbleMakespan - peer.makespan};
  });
  std::map<std::pair<std::string, std::string>, Total> totals;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (!isKnown(peers[i].schedule))
      continue;
    Total &total = totals[{peers[i].schedule, peers[i].implementation}];
    ++total.cases;
    total.worseSpan += differences[i][0] > rounding;
    total.worseMakespan += differences[i][1] > rounding;
    total.worst = std::max({total.worst, differences[i][0], differences[i][1]});
  }
  for (const auto &[name, total] : totals)
    std::printf("| %s | %s | %d | %d | %d | %.6f |\n", name.first.c_str(),
                name.second.c_str(), total.cases, total.worseSpan,
                total.worseMakespan, total.worst);
  std::printf("\n");
}

namespace {
/// A case, a placement and a memory limit at which some peer is.
struct Contest {
  Case shape;
  PlacementKind kind;
  double peak;
  double bestSpan = 1, bestMakespan = 1;
  double ourSpan = 1, ourMakespan = 1;
};
} // namespace

static std::vector<Contest> contests(const std::vector<Peer> &peers) {
  std::vector<Contest> result;
  for (const Peer &peer : peers) {
    PlacementKind kind = placementOf(peer.schedule);
    bool known =
        std::any_of(result.begin(), result.end(), [&](const Contest &contest) {
          return contest.kind == kind && contest.peak == peer.peak &&
                 !(contest.shape < peer.shape) && !(peer.shape < contest.shape);
        });
    if (!known)
      result.push_back({peer.shape, kind, peer.peak});
  }
  for (Contest &contest : result)
    for (const Peer &peer : peers)
      if (placementOf(peer.schedule) == contest.kind &&
          peer.peak <= contest.peak && !(contest.shape < peer.shape) &&
          !(peer.shape < contest.shape)) {
        contest.bestSpan = std::min(contest.bestSpan, peer.span);
        contest.bestMakespan = std::min(contest.bestMakespan, peer.makespan);
      }
  return result;
}

void veeline::bench::printAuto(const Settings &settings) {
  std::vector<Contest> all = contests(readPeers(settings));
  forEach(settings.jobs, all.size(), [&](std::size_t i) {
    Contest &contest = all[i];
    Problem problem = problemOf(contest.shape, contest.kind,
                                chunksOf(contest.kind), contest.peak);
    contest.ourSpan =
        runOne("auto", problem, {Objective::Span, false, settings.seconds})
            .bubbleSpan;
    contest.ourMakespan =
        runOne("auto", problem, {Objective::Makespan, false, settings.seconds})
            .bubbleMakespan;
  });
  std::printf(
      "## auto and the best peer with the same placement and no more memory\n\n"
      "| case | placement | activations | makespan: peer | auto | ratio | "
      "span: peer | auto |\n|---|---|---|---|---|---|---|---|\n");
  int worseSpan = 0, worseMakespan = 0, count = 0, onV = 0;
  double logs = 0, logsOnV = 0;
  for (const Contest &contest : all) {
    bool worse[] = {contest.ourMakespan > contest.bestMakespan + rounding,
                    contest.ourSpan > contest.bestSpan + rounding};
    worseMakespan += worse[0];
    worseSpan += worse[1];
    double ratio = contest.ourMakespan / contest.bestMakespan;
    // One figure a case: with the memory of 1F1B.
    bool main = contest.peak == contest.shape.stages;
    if (main && contest.shape.microbatches <= 2 * contest.shape.stages) {
      ++count;
      logs += std::log(ratio);
      if (contest.kind == PlacementKind::V) {
        ++onV;
        logsOnV += std::log(ratio);
      }
    }
    std::printf("| %s | %s | %g | %.6f | %.6f%s | %.3f | %.6f | %.6f%s |\n",
                contest.shape.name().c_str(), toString(contest.kind),
                contest.peak, contest.bestMakespan, contest.ourMakespan,
                worse[0] ? " (worse)" : "", ratio, contest.bestSpan,
                contest.ourSpan, worse[1] ? " (worse)" : "");
  }
  std::printf("\nauto is worse in %d of %zu by makespan, in %d by span; "
              "geometric mean of the ratio of makespan bubbles with m <= 2p "
              "and p activations: %.3f on V (%d cases), %.3f on all "
              "placements (%d)\n\n",
              worseMakespan, all.size(), worseSpan, std::exp(logsOnV / onV),
              onV, std::exp(logs / count), count);
}

/// The last chunk 1.5 times, the first 1.2 times as heavy.
static Problem unevenProblem(const Case &shape) {
  Problem problem = problemOf(shape, PlacementKind::V, 2, shape.stages);
  auto scale = [](Chunk &chunk, double factor) {
    chunk.forward *= factor;
    chunk.backwardInput *= factor;
    chunk.backwardWeight *= factor;
  };
  scale(problem.chunks.front(), 1.2);
  scale(problem.chunks.back(), 1.5);
  return problem;
}

/// The same with the mean costs in every chunk.
static Problem meanProblem(Problem problem) {
  Chunk mean = problem.chunks.front();
  mean.forward = mean.backwardInput = mean.backwardWeight = 0;
  double count = problem.numChunks();
  for (const Chunk &chunk : problem.chunks) {
    mean.forward += chunk.forward / count;
    mean.backwardInput += chunk.backwardInput / count;
    mean.backwardWeight += chunk.backwardWeight / count;
  }
  problem.chunks.assign(problem.chunks.size(), mean);
  return problem;
}

void veeline::bench::printUneven(const Settings &settings) {
  const char *name = isKnown("zb-v-reference") ? "zb-v-reference" : "zb-v";
  std::vector<Case> shapes;
  for (const Contest &contest : contests(readPeers(settings)))
    if (contest.kind == PlacementKind::V &&
        contest.peak == contest.shape.stages)
      shapes.push_back(contest.shape);
  struct Row {
    double heaviest, reference, ours;
  };
  std::vector<Row> rows(shapes.size());
  forEach(settings.jobs, shapes.size(), [&](std::size_t i) {
    Problem problem = unevenProblem(shapes[i]);
    Expected<Schedule> reference = generate(name, meanProblem(problem));
    Outcome ours =
        runOne("auto", problem, {Objective::Makespan, false, settings.seconds});
    Expected<Simulation> judged =
        reference ? simulate(problem, *reference) : reference.takeError();
    rows[i] = {ours.heaviest, judged ? judged->makespan : 0, ours.makespan};
  });
  std::printf(
      "## uneven chunks: makespan above the heaviest stage's work\n\n"
      "| case | %s from mean costs | auto | ratio |\n|---|---|---|---|\n",
      name);
  double logs = 0;
  std::size_t optimal = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double ratio = (rows[i].ours - rows[i].heaviest) /
                   (rows[i].reference - rows[i].heaviest);
    // Nothing above the heaviest stage's work has no logarithm.
    if (ratio > 1e-9)
      logs += std::log(ratio);
    else
      ++optimal;
    std::printf("| %s | %.0f | %.0f | %.3f |\n", shapes[i].name().c_str(),
                rows[i].reference - rows[i].heaviest,
                rows[i].ours - rows[i].heaviest, ratio);
  }
  std::printf("\nnothing above the heaviest stage's work in %zu of %zu cases, "
              "geometric mean %.3f over the others\n\n",
              optimal, rows.size(),
              std::exp(logs / std::max<std::size_t>(1, rows.size() - optimal)));
}
