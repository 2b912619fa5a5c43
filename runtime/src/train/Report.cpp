//===- Report.cpp - the output of training --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "EventFile.h"
#include "JsonLine.h"
#include "Session.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace veeline;
using namespace veeline::train;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {
class TextReport final : public Report {
public:
  explicit TextReport(const Run &run)
      : run(run),
        progress(run.options.steps, run.workOfStep(), run.options.logEvery,
                 /*isAlone=*/!run.network, run.stepsBefore()) {}

  void begin() override;
  void showStep(const StepRecord &record) override;
  void showEvaluation(int64_t step, const EvaluationResult &result,
                      double seconds) override;
  void showEnd(const TrainingSummary &summary) override;
  void showCheckpoints(const CheckpointSummary &summary,
                       double seconds) override;
  void showProfile(const ProfileSummary &summary) override;
  void endLine() override { progress.finish(); }

private:
  const Run &run;
  Progress progress;
};
} // namespace

/// Says where a run begins that may begin at several places.
void TextReport::begin() {
  if (run.resumed && !run.isOver())
    std::printf("goes on after step %ld, from the checkpoint %s\n",
                long(run.stepsBefore()), run.resumed->path().c_str());
  else if (!run.resumed && run.options.continues)
    std::printf("begins with step 1: there is no checkpoint in %s yet\n",
                run.options.checkpoint.c_str());
  std::fflush(stdout);
}

void TextReport::showStep(const StepRecord &record) {
  if (record.isSkipped) {
    progress.finish();
    std::printf("step %ld: the norm of the gradients is %g", long(record.step),
                std::fabs(record.gradientNorm));
    if (run.options.scalesLoss)
      std::printf(" with a loss scale of %.0f", record.lossScale);
    std::printf("; parameters stay as they are\n");
  }
  progress.show(record);
}

void TextReport::showEvaluation(int64_t step, const EvaluationResult &result,
                                double seconds) {
  progress.finish();
  std::printf("evaluation after step %ld: %s (%s)\n", long(step),
              describe(run, result).c_str(), formatDuration(seconds).c_str());
  std::fflush(stdout);
}

static const char *stepOrSteps(int64_t count) {
  return count == 1 ? "step" : "steps";
}

void TextReport::showEnd(const TrainingSummary &summary) {
  progress.finish();
  auto steps = static_cast<long>(summary.steps);
  if (run.isOver())
    std::printf("training has ended with step %ld before; no step is left\n",
                long(run.stepsBefore()));
  if (steps == 0)
    return;
  const char *unit = stepOrSteps(steps);
  std::printf("%ld %s in %s: loss %.4f (mean of the last %ld: %.4f), %s\n",
              steps, unit, formatDuration(summary.seconds).c_str(),
              summary.loss, long(summary.lossesInMean), summary.meanLoss,
              Rate(run.workOfStep(), summary.seconds / double(steps)).text);
  if (summary.secondsWaited)
    std::printf("steps waited at most %.2f%% of the time for data\n",
                100 * *summary.secondsWaited / std::max(summary.seconds, 1e-9));
  const Options &options = run.options;
  if (std::isfinite(options.optimizer.clipNorm))
    std::printf("gradients were clipped in %ld of %ld %s\n",
                long(summary.numClipped), steps, unit);
  if (int64_t count = summary.numClipped + summary.numSkipped;
      summary.isOptimistic && count > 0)
    std::printf("updates of %ld of %ld %s were done again\n", long(count),
                steps, unit);
  if (options.scalesLoss && !options.lossScale.fixed)
    std::printf("the loss scale was %.0f in the last step\n",
                summary.lossScale);
  if (summary.numSkipped > 0)
    std::printf("%ld of %ld %s left parameters as they were\n",
                long(summary.numSkipped), steps, unit);
  std::fflush(stdout);
}

void TextReport::showCheckpoints(const CheckpointSummary &summary,
                                 double seconds) {
  std::printf("%ld %s written to %s, the last one of step %ld, %.1f MB: steps "
              "waited %.2f%% of the time; one took %.1f ms to write\n",
              long(summary.count),
              summary.count == 1 ? "checkpoint" : "checkpoints",
              summary.directory.c_str(), long(summary.lastStep),
              double(summary.bytesOfLast) / 1e6,
              seconds > 0 ? 100 * summary.secondsWaited / seconds : 0,
              1e3 * summary.secondsOfWrite);
  std::fflush(stdout);
}

void TextReport::showProfile(const ProfileSummary &summary) {
  double measured = summary.stepMilliseconds;
  std::printf("%s: a step takes %.3f ms (median of %ld)", summary.file.c_str(),
              measured, long(summary.steps));
  if (summary.predictedMilliseconds && measured > 0) {
    double more = 100 * (*summary.predictedMilliseconds / measured - 1);
    std::printf(", predicted %.3f ms, %.1f%% %s than measured",
                *summary.predictedMilliseconds, std::fabs(more),
                more < 0 ? "less" : "more");
  }
  std::printf("\n");
  std::fflush(stdout);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

namespace {
class JsonReport final : public Report {
public:
  explicit JsonReport(const Run &run)
      : run(run), work(run.workOfStep()), metrics(metricNames(run.metadata())),
        line(1024 + 64 * metrics.size()) {}

  void begin() override;
  void showStep(const StepRecord &record) override;
  void showEvaluation(int64_t step, const EvaluationResult &result,
                      double seconds) override;
  void showEnd(const TrainingSummary &summary) override;
  void showCheckpoints(const CheckpointSummary &summary,
                       double seconds) override;
  void showProfile(const ProfileSummary &summary) override;

private:
  void print();

  const Run &run;
  const WorkOfStep work;
  const std::vector<std::string> metrics;
  JsonLine line;
};
} // namespace

void JsonReport::print() {
  const std::string &text = line.end();
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void JsonReport::begin() {
  line.begin("begin");
  line.add("version", std::string_view(VEELINE_VERSION));
  line.add("model", std::string_view(run.metadata().model));
  line.add("steps", run.options.steps);
  line.add("steps_before", run.stepsBefore());
  line.add("samples_per_step", work.samples);
  if (work.tokens > 0)
    line.add("tokens_per_step", work.tokens);
  print();
}

void JsonReport::showStep(const StepRecord &record) {
  line.begin("step");
  line.add("step", record.step);
  line.add("loss", record.loss);
  line.add("learning_rate", record.learningRate);
  line.add("gradient_norm", record.gradientNorm);
  if (run.options.optimizer.needsNorm())
    line.add("clip_factor", record.clipFactor);
  if (run.options.scalesLoss)
    line.add("loss_scale", record.lossScale);
  line.add("seconds", record.seconds);
  line.add("total_seconds", record.totalSeconds);
  line.add("samples_per_second", double(work.samples) / record.seconds);
  if (work.tokens > 0)
    line.add("tokens_per_second", double(work.tokens) / record.seconds);
  line.beginObject("metrics");
  for (size_t i = 0; i < metrics.size(); ++i)
    line.add(metrics[i], record.metrics[i]);
  line.endObject();
  print();
}

void JsonReport::showEvaluation(int64_t step, const EvaluationResult &result,
                                double seconds) {
  line.begin("evaluation");
  line.add("step", step);
  addMeans(line, run, result);
  line.add("seconds", seconds);
  print();
}

void JsonReport::showEnd(const TrainingSummary &summary) {
  line.begin("end");
  line.add("steps", summary.steps);
  line.add("seconds", summary.seconds);
  if (summary.steps > 0) {
    line.add("loss", summary.loss);
    line.add("mean_loss", summary.meanLoss);
  }
  if (summary.secondsWaited)
    line.add("seconds_waited_for_data", *summary.secondsWaited);
  line.add("steps_clipped", summary.numClipped);
  line.add("steps_skipped", summary.numSkipped);
  print();
}

void JsonReport::showCheckpoints(const CheckpointSummary &summary,
                                 double /*seconds*/) {
  line.begin("checkpoints");
  line.add("count", summary.count);
  line.add("folder", std::string_view(summary.directory));
  line.add("last_step", summary.lastStep);
  line.add("bytes", summary.bytesOfLast);
  line.add("seconds_waited", summary.secondsWaited);
  line.add("seconds_to_write", summary.secondsOfWrite);
  print();
}

void JsonReport::showProfile(const ProfileSummary &summary) {
  line.begin("profile");
  line.add("file", std::string_view(summary.file));
  line.add("step_milliseconds", summary.stepMilliseconds);
  if (summary.predictedMilliseconds)
    line.add("predicted_milliseconds", *summary.predictedMilliseconds);
  print();
}

namespace {
class NoReport final : public Report {
public:
  void showStep(const StepRecord & /*record*/) override {}
  void showEvaluation(int64_t /*step*/, const EvaluationResult & /*result*/,
                      double /*seconds*/) override {}
  void showEnd(const TrainingSummary & /*summary*/) override {}
  void showCheckpoints(const CheckpointSummary & /*summary*/,
                       double /*seconds*/) override {}
  void showProfile(const ProfileSummary & /*summary*/) override {}
};
} // namespace

std::unique_ptr<Report> Report::create(const Run &run) {
  if (run.options.quiet)
    return std::make_unique<NoReport>();
  if (run.options.logsJson)
    return std::make_unique<JsonReport>(run);
  return std::make_unique<TextReport>(run);
}

//===----------------------------------------------------------------------===//
// Curves
//===----------------------------------------------------------------------===//

Status train::writeCurves(EventFile &events, const Run &run,
                          const StepRecord &record) {
  if (!events.isOpen())
    return Status::success();
  WorkOfStep work = run.workOfStep();
  events.begin(record.step);
  events.add("loss", record.loss);
  events.add("learning_rate", record.learningRate);
  events.add("gradient_norm", record.gradientNorm);
  if (run.options.optimizer.needsNorm())
    events.add("clip_factor", record.clipFactor);
  if (run.options.scalesLoss)
    events.add("loss_scale", record.lossScale);
  events.add("samples_per_second", double(work.samples) / record.seconds);
  if (work.tokens > 0)
    events.add("tokens_per_second", double(work.tokens) / record.seconds);
  for (size_t i = 0; i < record.metrics.size(); ++i)
    events.add(run.metadata().results[i + 1].name, record.metrics[i]);
  return events.end();
}

Status train::writeCurves(EventFile &events, const Run &run, int64_t step,
                          const EvaluationResult &result) {
  if (!events.isOpen())
    return Status::success();
  events.begin(step);
  events.add("evaluation/loss", result.means[0]);
  for (size_t i = 1; i < result.means.size(); ++i)
    events.add("evaluation/" + run.metadata().results[i].name, result.means[i]);
  if (std::optional<double> perplexity = perplexityOf(run, result))
    events.add("evaluation/perplexity", *perplexity);
  return events.end();
}
