//===- veeline-random-models.cpp - checks random models -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generator.h"
#include "Process.h"
#include "Verdict.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

using namespace veeline;
using namespace veeline::fuzz;

namespace {

struct Options {
  uint64_t seed = 0;
  int64_t count = 1;
  int64_t jobs = 1;
  Fault fault = Fault::none;
  std::string text;    ///< Of a file, in place of random models.
  std::string element; ///< Of random models; empty: what the seed says.
  /// Where models run; empty: all on the host, and some as on a GPU, too.
  std::string target;
  bool shrink = false;
  bool print = false;
  bool joint = false;
};

/// What one job reports when it is done.
struct Totals {
  int64_t models = 0, failures = 0, untrainable = 0, refused = 0;
  CheckCounts counts;
};

} // namespace

static constexpr char usage[] =
    R"(usage: veeline-random-models [options]

Compiles random models once for all schedules that fit their chunks, runs them,
and compares losses, gradients and updated parameters with the sequential
program bit by bit, and gradients in f64 with finite differences.

  --count N      how many models (default 1)
  --seed S       of the first model; the next one has S + 1 (default 0)
  --jobs J       how many at once (default: one per core)
  --shrink SEED  reduce the model of SEED while it fails as it does
  --print SEED   print the model of SEED
  --file MODEL   in place of random models this one, with 1, 2, 4 and 8 chunks and
                 with 1, 3, 4 and 8 microbatches; for cuda in 16 ways
  --target WHERE host, or cuda: over the stand-ins for a GPU's libraries
                 (default: host, and every tenth model on both)
  --joint        all programs but the sequential one from joint graphs
  --element TYPE f64 or f32 for all models (default: a fifth of them is in f32)
  --fault KIND   miscompile on purpose, to see that it is found: 'gradient' (all
                 are 1e-5 too large), 'split' (those of W differ in a few bits),
                 'layout' (W multiplies what lies the other way round) or
                 'memory' (two buffers are one)
)";

static bool parseNumber(const char *text, int64_t least, int64_t &number) {
  char *end = nullptr;
  errno = 0;
  number = std::strtoll(text, &end, 10);
  return !errno && *text && !*end && number >= least;
}

static bool parseFault(const char *name, Options &options) {
  std::optional<Fault> fault = findFault(name ? name : "");
  if (!fault)
    std::fprintf(stderr,
                 "--fault expects gradient, split, layout or memory%s%s\n",
                 name ? ", found " : "", name ? name : "");
  options.fault = fault.value_or(Fault::none);
  return fault.has_value();
}

static bool parseElement(const char *name, Options &options) {
  options.element = name ? name : "";
  bool isKnown = options.element == "f64" || options.element == "f32";
  if (!isKnown)
    std::fprintf(stderr, "--element expects f64 or f32%s%s\n",
                 name ? ", found " : "", options.element.c_str());
  return isKnown;
}

static bool parseTarget(const char *name, Options &options) {
  options.target = name ? name : "";
  bool isKnown = options.target == "host" || options.target == "cuda";
  if (!isKnown)
    std::fprintf(stderr, "--target expects host or cuda%s%s\n",
                 name ? ", found " : "", options.target.c_str());
  return isKnown;
}

static bool readModel(const char *path, Options &options) {
  std::ifstream file(path ? path : "");
  options.text.assign(std::istreambuf_iterator<char>(file), {});
  if (options.text.empty())
    std::fprintf(stderr, "--file: cannot read '%s'\n", path ? path : "");
  options.count = 16;
  return !options.text.empty();
}

static bool parseOptions(int argc, char **argv, Options &options) {
  options.jobs = std::max(1u, std::thread::hardware_concurrency());
  for (int i = 1; i < argc; i += 2) {
    std::string name = argv[i];
    if (name == "--joint") {
      options.joint = true;
      --i;
      continue;
    }
    if (name == "--fault" || name == "--file" || name == "--element" ||
        name == "--target") {
      auto parse = name == "--fault"     ? parseFault
                   : name == "--file"    ? readModel
                   : name == "--element" ? parseElement
                                         : parseTarget;
      if (!parse(i + 1 == argc ? nullptr : argv[i + 1], options))
        return false;
      continue;
    }
    int64_t number = 0;
    bool isSeed = name == "--seed" || name == "--shrink" || name == "--print";
    if (!isSeed && name != "--count" && name != "--jobs") {
      std::fprintf(stderr, "unknown option '%s'\n%s", argv[i], usage);
      return false;
    }
    if (i + 1 == argc || !parseNumber(argv[i + 1], isSeed ? 0 : 1, number)) {
      std::fprintf(stderr, "%s expects a number of at least %d%s%s\n", argv[i],
                   isSeed ? 0 : 1, i + 1 == argc ? "" : ", found ",
                   i + 1 == argc ? "" : argv[i + 1]);
      return false;
    }
    if (name == "--count")
      options.count = number;
    else if (name == "--jobs")
      options.jobs = number;
    else
      options.seed = static_cast<uint64_t>(number);
    options.shrink |= name == "--shrink";
    options.print |= name == "--print";
  }
  return true;
}

static void printFailure(const Task &task, const Verdict &verdict) {
  std::printf("seed %llu: %s: %s\nmicrobatches: %ld\n%s\n",
              static_cast<unsigned long long>(task.seed),
              verdict.kind == Verdict::Kind::doesNotCompile ? "does not compile"
              : verdict.kind == Verdict::Kind::disagrees    ? "disagrees"
                                                            : "dies",
              verdict.message.c_str(), static_cast<long>(task.microbatches),
              task.text.c_str());
  std::fflush(stdout);
}

static Model getModel(const Options &options, int64_t i) {
  return generateModel(options.seed + static_cast<uint64_t>(i), Sizes::small,
                       options.element);
}

/// Faults are put in where models are compiled for the host.
static Targets getTargets(const Options &options, uint64_t seed) {
  if (!options.target.empty())
    return {options.target == "host", options.target == "cuda"};
  return {true,
          seed % 10 == 9 && options.fault == Fault::none && !options.joint};
}

static int shrinkOne(const Options &options) {
  uint64_t seed = options.seed;
  Compiler compiler(options.fault);
  Model model = getModel(options, 0);
  Targets targets = getTargets(options, seed);
  Verdict verdict = judge(compiler, Task(model, targets, options.joint));
  if (!verdict.isFailure()) {
    const char *kinds[] = {"passes", "cannot be trained", "is refused"};
    std::printf("seed %llu %s\n", static_cast<unsigned long long>(seed),
                kinds[static_cast<int>(verdict.kind)]);
    return 0;
  }
  Task smallest(shrink(compiler, model, targets, options.joint, verdict),
                targets, options.joint);
  printFailure(smallest, judge(compiler, smallest));
  return 1;
}

static Task getTask(const Options &options, int64_t i) {
  if (options.text.empty())
    return Task(getModel(options, i),
                getTargets(options, options.seed + static_cast<uint64_t>(i)),
                options.joint);
  const int64_t chunks[] = {1, 2, 4, 8}, microbatches[] = {1, 3, 4, 8};
  Task task(options.text, microbatches[i % 4], chunks[i / 4],
            static_cast<uint64_t>(i));
  task.joint = options.joint;
  if (!options.target.empty())
    task.targets = getTargets(options, task.seed);
  return task;
}

/// Checks every `jobs`-th model, from number `job` on.
static Totals runJob(const Options &options, int64_t job) {
  Compiler compiler(options.fault);
  // One-time initialisation has to happen before the processes of models fork.
  (void)compiler.compile(Task(generateModel(0)));
  Totals totals;
  for (int64_t i = job; i < options.count; i += options.jobs) {
    Task task = getTask(options, i);
    Verdict verdict = judge(compiler, task);
    ++totals.models;
    totals.counts += verdict.counts;
    totals.untrainable += verdict.kind == Verdict::Kind::untrainable;
    totals.refused += verdict.kind == Verdict::Kind::refused;
    if (!verdict.isFailure())
      continue;
    ++totals.failures;
    printFailure(task, verdict);
  }
  return totals;
}

/// One process a job; each gives back its totals as bytes.
static int runAll(const Options &options) {
  auto begin = std::chrono::steady_clock::now();
  std::vector<Process> jobs;
  for (int64_t job = 0; job < options.jobs; ++job)
    jobs.emplace_back([&] {
      Totals totals = runJob(options, job);
      return std::string(reinterpret_cast<const char *>(&totals),
                         sizeof(totals));
    });
  Totals sum, part;
  for (Process &job : jobs) {
    Expected<std::string> bytes = job.wait();
    if (!bytes.ok()) {
      std::fprintf(stderr, "a job: %s\n", bytes.message().c_str());
      continue;
    }
    std::memcpy(&part, bytes->data(), sizeof(part));
    sum.models += part.models;
    sum.failures += part.failures;
    sum.untrainable += part.untrainable;
    sum.refused += part.refused;
    sum.counts += part.counts;
  }
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  std::printf("%ld models, %ld failed; %ld programs, %ld of them with less "
              "memory, %ld of forwards alone, %ld differences of gradients, "
              "%ld more at kinks; %.0f "
              "ms a model\n",
              long(sum.models), long(sum.failures), long(sum.counts.programs),
              long(sum.counts.limited), long(sum.counts.forwards),
              long(sum.counts.differences), long(sum.counts.kinks),
              1000 * seconds / static_cast<double>(options.count));
  if (options.joint)
    std::printf("%ld joint graphs cannot be cut as the model is; %ld programs "
                "add up gradients in another order\n",
                long(sum.refused), long(sum.counts.regrouped));
  else if (sum.counts.devicePrograms + sum.refused > 0)
    std::printf("%ld of them ran as on a GPU, %ld times; %ld more are not for "
                "the options chosen\n",
                long(sum.counts.devicePrograms), long(sum.counts.deviceRuns),
                long(sum.refused));
  if (sum.untrainable > 0)
    std::printf("%ld of them cannot be trained: no gradient reaches a "
                "parameter\n",
                long(sum.untrainable));
  return sum.failures == 0 && sum.models == options.count ? 0 : 1;
}

int main(int argc, char **argv) {
  Options options;
  if (!parseOptions(argc, argv, options))
    return 2;
  if (options.print) {
    std::fputs(getModel(options, 0).text().c_str(), stdout);
    return 0;
  }
  return options.shrink ? shrinkOne(options) : runAll(options);
}
