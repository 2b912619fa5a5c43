//===- Train.cpp - the training loop --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Train.h"

#include "File.h"
#include "Interrupt.h"
#include "MemoryCheck.h"
#include "Progress.h"
#include "Session.h"
#include "Verify.h"

#include <algorithm>
#include <cmath>
#include <csignal>

using namespace veeline;
using namespace veeline::train;

namespace {
/// A run of the training loop and what it leaves behind.
class Trainer {
public:
  explicit Trainer(Run &run) : run(run), options(run.options) {}

  Status train();

private:
  Status open();
  Status loop();
  Status checkFinite(const StepRecord &record, const StepResult &result) const;
  StepRecord makeRecord(int64_t step, const StepResult &result, int64_t begin,
                        int64_t end);
  Status writeResults();
  void printSummary() const;

  Run &run;
  const Options &options;
  std::unique_ptr<Session> session;
  MetricsFile metrics;
  std::vector<StepRecord> records;
  std::vector<std::vector<double>> losses; ///< [step][microbatch].
  int64_t firstBegin = 0;
};
} // namespace

/// Room for each op and the waits around it.
static size_t timelineCapacity(const artifact::Program &program,
                               int64_t steps) {
  size_t ops = 1;
  for (const artifact::Rank &rank : program.ranks)
    ops = std::max(ops, rank.ops.size());
  return (2 * ops + 1) * static_cast<size_t>(steps);
}

static std::vector<std::string>
metricNames(const artifact::Metadata &metadata) {
  std::vector<std::string> names;
  for (size_t i = 1; i < metadata.results.size(); ++i)
    names.push_back(metadata.results[i].name);
  return names;
}

Status Trainer::open() {
  host::HostOptions hostOptions;
  hostOptions.poison = options.checkMemory;
  if (options.checkMemory)
    hostOptions.aroundStep = allocationCounter();
  const artifact::Program *program =
      run.metadata().findProgram(options.program);
  if (program && !options.timeline.empty())
    hostOptions.timelineEvents =
        timelineCapacity(*program, options.timelineSteps);
  Expected<std::unique_ptr<Session>> created =
      Session::create(run, options.program, hostOptions);
  if (!created.ok())
    return created.status();
  session = std::move(*created);
  if (options.metrics.empty())
    return Status::success();
  return metrics.open(options.metrics, metricNames(run.metadata()));
}

StepRecord Trainer::makeRecord(int64_t step, const StepResult &result,
                               int64_t begin, int64_t end) {
  int32_t m = run.metadata().microbatches;
  StepRecord record;
  record.step = step;
  record.loss = meanOfResult(result, 0, m);
  record.learningRate = settingsOfStep(options, step).learningRate;
  record.gradientNorm = result.gradientNorm;
  record.seconds = double(end - begin) / 1e9;
  record.totalSeconds = double(end - firstBegin) / 1e9;
  for (size_t i = 1; i < run.metadata().results.size(); ++i)
    record.metrics.push_back(meanOfResult(result, i, m));
  return record;
}

Status Trainer::checkFinite(const StepRecord &record,
                            const StepResult &result) const {
  if (std::isfinite(record.loss))
    return Status::success();
  int32_t microbatch = 0;
  while (std::isfinite(result.results[microbatch]))
    ++microbatch;
  return Status::error("step " + std::to_string(record.step) +
                       ": the loss of microbatch " +
                       std::to_string(microbatch) + " is " +
                       std::to_string(result.results[microbatch]) +
                       "; a smaller --lr or a longer --warmup may help");
}

Status Trainer::loop() {
  Progress progress(options.steps, run.tokensPerStep(), options.logEvery);
  firstBegin = host::nanoseconds();
  for (int64_t step = 1; step <= options.steps && !interruptSignal(); ++step) {
    StepResult result;
    int64_t begin = host::nanoseconds();
    if (Status status = session->step(step, result); !status.ok())
      return Status::error("step " + std::to_string(step) + ": " +
                           status.message());
    records.push_back(makeRecord(step, result, begin, host::nanoseconds()));
    losses.emplace_back(result.results.begin(),
                        result.results.begin() + run.metadata().microbatches);
    if (!options.metrics.empty())
      if (Status status = metrics.add(records.back(), run.tokensPerStep());
          !status.ok())
        return status;
    if (Status status = checkFinite(records.back(), result); !status.ok())
      return status;
    progress.show(records.back());
  }
  return Status::success();
}

/// Everything that was asked for, even where one of them fails; the first
/// failure.
Status Trainer::writeResults() {
  Status first = metrics.close();
  auto keep = [&](Status status) {
    if (first.ok())
      first = std::move(status);
  };
  if (!options.save.empty())
    keep(session->save(options.save, int64_t(records.size())));
  if (!options.timeline.empty())
    keep(writeFileAtomically(
        options.timeline,
        host::toChromeTrace(
            run.metadata(), session->program(),
            session->executor().timeline(options.timelineSteps))));
  return first;
}

void Trainer::printSummary() const {
  if (records.empty())
    return;
  constexpr size_t tail = 10;
  size_t count = std::min(tail, records.size());
  double sum = 0;
  for (size_t i = records.size() - count; i < records.size(); ++i)
    sum += records[i].loss;
  double seconds = records.back().totalSeconds;
  std::printf("%zu steps in %s: loss %.4f (mean of the last %zu: %.4f), %.0f "
              "tokens/s\n",
              records.size(), formatDuration(seconds).c_str(),
              records.back().loss, count, sum / double(count),
              double(run.tokensPerStep()) * double(records.size()) / seconds);
  std::fflush(stdout);
}

Status Trainer::train() {
  if (Status status = open(); !status.ok())
    return status;
  if (Status status = loop(); !status.ok())
    return status;
  printSummary();
  if (Status status = writeResults(); !status.ok())
    return status;
  if (interruptSignal())
    return Status::success();
  if (options.checkMemory)
    if (Status status = checkMemory(*session, int64_t(records.size()));
        !status.ok())
      return status;
  if (options.compareSequential)
    return compareWithSequential(run, *session, int64_t(records.size()),
                                 losses);
  return Status::success();
}

static int reportError(const Status &status) {
  std::fflush(stdout);
  std::fprintf(stderr, "veeline: error: %s\n", status.message().c_str());
  return interruptSignal() ? 128 + interruptSignal() : 1;
}

int train::run(const Options &options) {
  catchInterrupts();
  // A limit on the size of files is an error of write, not the end.
  std::signal(SIGXFSZ, SIG_IGN);
  Expected<std::unique_ptr<Run>> run = Run::open(options);
  if (!run.ok())
    return reportError(run.status());
  Status status = options.verify ? verify(**run) : Trainer(**run).train();
  if (!status.ok())
    return reportError(status);
  if (int signal = interruptSignal()) {
    std::fprintf(stderr, "veeline: interrupted; what was asked for is "
                         "written\n");
    return 128 + signal;
  }
  return 0;
}
