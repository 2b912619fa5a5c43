//===- Tables.cpp - schedules beside other figures ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tables.h"

#include "Runs.h"
#include "veeline/Schedule/Bounds.h"
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

/// The published heuristics for one chunk a stage count half of an activation
/// as released by B, and so do their figures.
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
/// A case, a placement, and the peak of some peer as the memory limit.
struct Contest {
  Case shape;
  PlacementKind kind;
  double peak;
  double bestSpan = 1, bestMakespan = 1;
  double ourSpan = 1, ourMakespan = 1;
  /// Lower bounds of all schedules.
  double leastSpan = 0, leastMakespan = 0;
};

/// The geometric mean of ratios.
class Mean {
public:
  void add(double ratio) {
    logs += std::log(ratio);
    ++number;
  }
  int count() const { return number; }
  double value() const { return std::exp(logs / std::max(1, number)); }

private:
  double logs = 0;
  int number = 0;
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

static void run(Contest &contest, double seconds) {
  Problem problem = problemOf(contest.shape, contest.kind,
                              chunksOf(contest.kind), contest.peak);
  Bounds bounds = lowerBounds(problem);
  contest.leastSpan = bounds.bubbleSpan;
  contest.leastMakespan = bounds.bubbleMakespan;
  contest.ourSpan =
      runOne("auto", problem, {Objective::Span, false, seconds}).bubbleSpan;
  contest.ourMakespan =
      runOne("auto", problem, {Objective::Makespan, false, seconds})
          .bubbleMakespan;
}

/// Prints means over one contest for each case with m <= 2p: the one with the
/// memory of 1F1B.
static void printMeans(const std::vector<Contest> &all) {
  struct {
    const char *name;
    Mean ours, least;
  } means[] = {{"V", {}, {}}, {"all placements", {}, {}}};
  for (const Contest &contest : all) {
    if (contest.peak != contest.shape.stages ||
        contest.shape.microbatches > 2 * contest.shape.stages)
      continue;
    for (auto &mean : means) {
      if (&mean == means && contest.kind != PlacementKind::V)
        continue;
      mean.ours.add(contest.ourMakespan / contest.bestMakespan);
      mean.least.add(contest.leastMakespan / contest.bestMakespan);
    }
  }
  for (const auto &mean : means)
    std::printf("Geometric mean of the ratio of makespan bubbles with m <= 2p "
                "and p activations on %s (%d cases): %.4f; by the lower "
                "bounds, no schedule is below %.4f.\n",
                mean.name, mean.ours.count(), mean.ours.value(),
                mean.least.value());
  std::printf("\n");
}

void veeline::bench::printAuto(const Settings &settings) {
  std::vector<Contest> all = contests(readPeers(settings));
  forEach(settings.jobs, all.size(),
          [&](std::size_t i) { run(all[i], settings.seconds); });
  std::printf(
      "## auto and the best peer with the same placement and no more memory\n\n"
      "| case | placement | activations | makespan: peer | auto | at least | "
      "ratio | span: peer | auto | at least |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n");
  int worseSpan = 0, worseMakespan = 0, bestSpan = 0, bestMakespan = 0;
  for (const Contest &contest : all) {
    bool worse[] = {contest.ourMakespan > contest.bestMakespan + rounding,
                    contest.ourSpan > contest.bestSpan + rounding};
    worseMakespan += worse[0];
    worseSpan += worse[1];
    bestMakespan += contest.ourMakespan < contest.leastMakespan + 1e-9;
    bestSpan += contest.ourSpan < contest.leastSpan + 1e-9;
    std::printf("| %s | %s | %g | %.6f | %.6f%s | %.6f | %.3f | %.6f | %.6f%s "
                "| %.6f |\n",
                contest.shape.name().c_str(), toString(contest.kind),
                contest.peak, contest.bestMakespan, contest.ourMakespan,
                worse[0] ? " (worse)" : "", contest.leastMakespan,
                contest.ourMakespan / contest.bestMakespan, contest.bestSpan,
                contest.ourSpan, worse[1] ? " (worse)" : "", contest.leastSpan);
  }
  std::printf("\nOf %zu cases auto is worse in %d by makespan and in %d by "
              "span, and proved optimal in %d and %d.\n",
              all.size(), worseMakespan, worseSpan, bestMakespan, bestSpan);
  printMeans(all);
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

namespace {
/// Makespans minus the heaviest stage's work.
struct Uneven {
  double reference, ours, least;
};
} // namespace

/// The mean of ratios is over all cases. The geometric mean leaves out cases
/// whose makespan has nothing above the heaviest stage's work: their ratio is
/// 0.
static void printMeans(const std::vector<Uneven> &rows) {
  Mean ours, least;
  double sum = 0;
  std::size_t proved = 0;
  for (const Uneven &row : rows) {
    sum += row.ours / row.reference;
    proved += row.ours < row.least + 1e-9 * row.reference;
    if (row.ours < 1e-9 * row.reference)
      continue;
    ours.add(row.ours / row.reference);
    least.add(std::max(row.least, 1e-9 * row.reference) / row.reference);
  }
  std::printf("\nOf %zu cases auto is proved optimal in %zu; in %zu it has "
              "nothing above the heaviest stage's work, a ratio of 0. Mean of "
              "the ratios of all cases: %.3f. Geometric mean of the %d that "
              "are not 0: %.4f; by the lower bounds, no schedule is below "
              "%.4f.\n\n",
              rows.size(), proved, rows.size() - ours.count(),
              sum / static_cast<double>(rows.size()), ours.count(),
              ours.value(), least.value());
}

void veeline::bench::printUneven(const Settings &settings) {
  const char *name = isKnown("zb-v-reference") ? "zb-v-reference" : "zb-v";
  std::vector<Case> shapes;
  for (const Contest &contest : contests(readPeers(settings)))
    if (contest.kind == PlacementKind::V &&
        contest.peak == contest.shape.stages)
      shapes.push_back(contest.shape);
  std::vector<Uneven> rows(shapes.size());
  forEach(settings.jobs, shapes.size(), [&](std::size_t i) {
    Problem problem = unevenProblem(shapes[i]);
    Expected<Schedule> reference = generate(name, meanProblem(problem));
    Outcome ours =
        runOne("auto", problem, {Objective::Makespan, false, settings.seconds});
    Expected<Simulation> judged =
        reference ? simulate(problem, *reference) : reference.takeError();
    rows[i] = {
        judged ? judged->makespan - ours.heaviest : 0,
        ours.makespan - ours.heaviest,
        // Rounding alone can make it negative.
        std::max(0.0, lowerBounds(problem).makespan.time - ours.heaviest)};
  });
  std::printf("## uneven chunks: makespan above the heaviest stage's work\n\n"
              "| case | %s from mean costs | auto | at least | ratio |\n"
              "|---|---|---|---|---|\n",
              name);
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::printf("| %s | %.0f | %.0f | %.0f | %.3f |\n",
                shapes[i].name().c_str(), rows[i].reference, rows[i].ours,
                rows[i].least, rows[i].ours / rows[i].reference);
  printMeans(rows);
}
