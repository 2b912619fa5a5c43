//===- Evaluation.cpp - evaluation of a model on given data ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "Ending.h"
#include "Interrupt.h"
#include "LossWeights.h"
#include "MemoryCheck.h"
#include "Outputs.h"
#include "veeline/Base/ProgressLine.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

using namespace veeline;
using namespace veeline::train;

std::vector<std::string>
train::metricNames(const artifact::Metadata &metadata) {
  std::vector<std::string> names;
  for (size_t i = metadata.hasLoss() ? 1 : 0; i < metadata.results.size(); ++i)
    if (!metadata.results[i].isTensor)
      names.push_back(metadata.results[i].name);
  return names;
}

//===----------------------------------------------------------------------===//
// ResultMeans
//===----------------------------------------------------------------------===//

void ResultMeans::clear() {
  std::ranges::fill(sums, 0);
  microbatches = 0;
}

void ResultMeans::add(const StepResult &result, size_t perStep,
                      bool weightedLoss) {
  const double *weights = result.results.data() + lossWeight * perStep;
  for (size_t i = 0; i < sums.size(); ++i) {
    bool isWeighted = lossWeight != 0 && i != lossWeight;
    for (size_t k = 0; k < perStep; ++k) {
      double value = result.results[i * perStep + k];
      if (!isWeighted || (i == 0 && weightedLoss))
        sums[i] += value;
      else if (weights[k] != 0) // Without a token, the value may be 0 / 0.
        sums[i] += weights[k] * value;
    }
  }
  microbatches += double(perStep);
  isLossWeighted = weightedLoss;
}

double ResultMeans::of(size_t index) const {
  bool isWeighted =
      lossWeight != 0 && index != lossWeight && !(index == 0 && isLossWeighted);
  if (!isWeighted)
    return sums[index] / microbatches;
  return sumOfWeights() > 0 ? sums[index] / sumOfWeights() : 0;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Whether the user has interrupted the run, according to all processes.
static Expected<bool> isInterrupted(const Run &run) {
  if (!run.network)
    return interruptSignal() != 0;
  VEELINE_TRY_VALUE(auto all,
                    run.network->exchange(std::to_string(interruptSignal())));
  int shared = 0;
  for (const std::string &signal : all)
    shared = std::max(
        shared, static_cast<int>(std::strtol(signal.c_str(), nullptr, 10)));
  if (shared != 0 && interruptSignal() == 0)
    shareInterrupt(shared);
  return shared != 0;
}

Expected<EvaluationResult> train::evaluate(Session &session, const Run &run,
                                           int64_t steps,
                                           const StepListener &listener) {
  const artifact::Metadata &metadata = run.metadata();
  EvaluationResult evaluated;
  evaluated.means.resize(metadata.results.size());
  ResultMeans means(metadata);
  auto perStep = static_cast<size_t>(run.microbatches());
  StepResult result;
  int64_t next = 1, last = steps;
  for (int64_t step = 1; step <= last; ++step) {
    for (; next <= last && next < step + session.maxStepsInFlight(); ++next) {
      VEELINE_TRY_VALUE(bool interrupted, isInterrupted(run));
      if (interrupted) {
        last = next - 1;
        evaluated.isWhole = false;
        break;
      }
      StepSettings settings;
      settings.step = next;
      VEELINE_TRY(session.begin(next, settings));
    }
    if (step > last)
      break;
    VEELINE_TRY(session.finish(result));
    if (metadata.lossWeight)
      VEELINE_TRY(checkWeights(
          metadata, std::span(result.results)
                        .subspan(metadata.lossWeight * perStep, perStep)));
    means.add(result, perStep, /*weightedLoss=*/false);
    evaluated.microbatches += run.microbatches();
    if (listener)
      VEELINE_TRY(listener(step, result));
  }
  if (metadata.lossWeight && evaluated.isWhole && evaluated.microbatches > 0 &&
      means.sumOfWeights() == 0)
    return Status::error(
        metadata.results[static_cast<size_t>(metadata.lossWeight)].name +
        ", by which losses are weighted, is 0 in all microbatches, so there "
        "is no mean");
  for (size_t i = 0; i < metadata.results.size(); ++i)
    evaluated.means[i] = means.of(i);
  return evaluated;
}

std::optional<double> train::perplexityOf(const Run &run,
                                          const EvaluationResult &result) {
  return run.options.printsPerplexity ? std::optional(std::exp(result.means[0]))
                                      : std::nullopt;
}

std::string train::describe(const Run &run, const EvaluationResult &result) {
  const artifact::Metadata &metadata = run.metadata();
  std::string text;
  auto add = [&](const std::string &name, const char *format, double value) {
    char number[48];
    std::snprintf(number, sizeof(number), format, value);
    text += (text.empty() ? "" : ", ") + name + " " + number;
  };
  for (size_t i = 0; i < result.means.size(); ++i)
    if (!metadata.results[i].isTensor)
      add(metadata.results[i].name, i == 0 ? "%.4f" : "%.4g", result.means[i]);
  if (std::optional<double> perplexity = perplexityOf(run, result))
    add("perplexity", "%.4f", *perplexity);
  return text;
}

void train::addMeans(JsonLine &line, const Run &run,
                     const EvaluationResult &result) {
  const artifact::Metadata &metadata = run.metadata();
  bool hasLoss = metadata.hasLoss();
  if (hasLoss)
    line.add("loss", result.means[0]);
  line.beginObject("metrics");
  for (size_t i = hasLoss ? 1 : 0; i < result.means.size(); ++i)
    if (!metadata.results[i].isTensor)
      line.add(metadata.results[i].name, result.means[i]);
  line.endObject();
  if (std::optional<double> perplexity = perplexityOf(run, result))
    line.add("perplexity", *perplexity);
}

//===----------------------------------------------------------------------===//
// ResultsFile
//===----------------------------------------------------------------------===//

Status ResultsFile::put(const std::string &text) {
  bool isWritten =
      std::fwrite(text.data(), 1, text.size(), file) == text.size() &&
      std::fflush(file) == 0;
  return isWritten ? Status::success()
                   : Status::error("cannot write '" + path +
                                   "': " + std::strerror(errno));
}

Status ResultsFile::open(const std::string &newPath, const std::string &numbers,
                         const artifact::Metadata &metadata,
                         const RowsBefore &before, const std::string &more) {
  path = newPath;
  std::string header = numbers + (metadata.hasLoss() ? ",loss" : "");
  for (const std::string &name : metricNames(metadata))
    header += "," + name;
  header += (more.empty() ? "" : "," + more) + "\n";
  VEELINE_TRY_VALUE(bool hasBefore, cutRows(path, header, before));
  file = std::fopen(path.c_str(), hasBefore ? "ae" : "we");
  if (!file)
    return Status::error("cannot write '" + path +
                         "': " + std::strerror(errno));
  return hasBefore ? Status::success() : put(header);
}

Status ResultsFile::add(const std::string &numbers,
                        const std::vector<double> &results) {
  std::string row = numbers;
  for (double value : results) {
    char text[32];
    // The sign of a NaN is arbitrary.
    auto [end, error] =
        std::to_chars(text, text + sizeof(text),
                      std::isnan(value) ? std::fabs(value) : value);
    row += "," + std::string(text, end);
  }
  return put(row + "\n");
}

Status ResultsFile::close() {
  if (!file)
    return Status::success();
  return std::fclose(std::exchange(file, nullptr)) == 0
             ? Status::success()
             : Status::error("cannot write '" + path +
                             "': " + std::strerror(errno));
}

//===----------------------------------------------------------------------===//
// veeline eval
//===----------------------------------------------------------------------===//

namespace {
/// A run of `veeline eval`.
class Evaluator {
public:
  explicit Evaluator(Run &run) : run(run), options(run.options) {}
  Status evaluateAll();

private:
  Status checkResults() const;
  Status open();
  void tellOfParameters() const;
  Status addLines(int64_t step, const StepResult &result);
  void print(const EvaluationResult &result, double seconds) const;
  void printJson(const EvaluationResult &result, double seconds) const;

  Run &run;
  const Options &options;
  std::unique_ptr<Session> session;
  ResultsFile metrics;
  std::optional<Outputs> outputs; ///< None: not requested.
};
} // namespace

/// Whether the model gives what the options ask for.
Status Evaluator::checkResults() const {
  const artifact::Metadata &metadata = run.metadata();
  std::string what;
  if (options.printsPerplexity && !metadata.hasLoss())
    what = "--perplexity: '" + options.artifact +
           "' has no loss of which it could be";
  else if (options.outputs.empty() && !metadata.hasLoss() &&
           metricNames(metadata).empty())
    what = "'" + options.artifact +
           "' gives tensors alone; say where they go: --outputs FILE.npy or "
           "--outputs FILE.safetensors";
  else if (!options.metrics.empty() && !metadata.hasLoss() &&
           metricNames(metadata).empty())
    what = "--metrics: '" + options.artifact +
           "' gives tensors alone; --outputs writes them";
  return what.empty() ? Status::success() : Status::error(what);
}

Status Evaluator::open() {
  VEELINE_TRY(checkResults());
  SessionOptions loading;
  loading.poison = options.checkMemory;
  loading.network = run.network.get();
  loading.checkMessages = options.checkMessages;
  if (options.checkMemory)
    loading.announce = countRankAllocations;
  VEELINE_TRY_VALUE(const artifact::Program *program,
                    run.findProgram(options.program));
  if (!options.timeline.empty())
    loading.timelineEvents = timelineCapacity(*program, options.timelineSteps);
  int64_t stepsInFlight = options.stepsInFlight;
  if (!options.outputs.empty()) {
    VEELINE_TRY_VALUE(Outputs opened, Outputs::open(run));
    outputs.emplace(std::move(opened));
    // The results are read while no step is under way.
    stepsInFlight = 1;
    if (run.isFirst())
      VEELINE_TRY(AtomicFile(options.outputs).open());
  }
  VEELINE_TRY_VALUE(
      session, Session::create(run, options.program, loading, stepsInFlight));
  if (options.metrics.empty() || !run.isFirst())
    return Status::success();
  return metrics.open(options.metrics, "step,microbatch", run.metadata());
}

/// Remarks on random parameters. A model whose parameters are in its file, or
/// are constants, is evaluated as it is.
void Evaluator::tellOfParameters() const {
  using Kind = artifact::Initializer::Kind;
  bool isRandom = std::ranges::any_of(
      run.metadata().params, [](const artifact::Parameter &param) {
        return param.init.kind == Kind::normal ||
               param.init.kind == Kind::uniform;
      });
  if (isRandom && options.init.empty() && !run.resumed)
    run.say("no parameters are given, so these are the random ones that "
            "training begins with; --init takes those that training has "
            "written");
}

/// Adds a line for each microbatch of the step, and the step's tensors.
Status Evaluator::addLines(int64_t step, const StepResult &result) {
  if (outputs)
    VEELINE_TRY(outputs->add(*session, step));
  if (options.checkMemory)
    countTrainingAllocations(/*inSteps=*/true);
  if (!metrics.isOpen())
    return Status::success();
  auto perStep = static_cast<size_t>(run.microbatches());
  const std::vector<artifact::Result> &results = run.metadata().results;
  std::vector<double> row;
  for (size_t k = 0; k < perStep; ++k) {
    row.clear();
    for (size_t i = 0; i < results.size(); ++i)
      if (!results[i].isTensor)
        row.push_back(result.results[i * perStep + k]);
    VEELINE_TRY(
        metrics.add(std::to_string(step) + "," + std::to_string(k), row));
  }
  return Status::success();
}

void Evaluator::printJson(const EvaluationResult &result,
                          double seconds) const {
  JsonLine line(1024);
  line.begin("evaluation");
  addMeans(line, run, result);
  line.add("microbatches", result.microbatches);
  if (!result.isWhole)
    line.addFlag("interrupted", true);
  line.add("seconds", seconds);
  std::fputs(line.end().c_str(), stdout);
  std::fflush(stdout);
}

void Evaluator::print(const EvaluationResult &result, double seconds) const {
  if (!run.isFirst() || result.microbatches == 0)
    return;
  if (options.logsJson)
    return printJson(result, seconds);
  int64_t steps = result.microbatches / run.microbatches();
  std::string text = describe(run, result);
  if (!result.isWhole)
    text = "so far: " + text;
  if (!text.empty())
    text += run.metadata().lossWeight ? ": weighted mean of " : ": mean of ";
  std::printf("%s%ld %s in %s, %s\n", text.c_str(), long(result.microbatches),
              result.microbatches == 1 ? "microbatch" : "microbatches",
              formatDuration(seconds).c_str(),
              Rate(run.workOfStep(), seconds / double(steps)).text);
  std::fflush(stdout);
}

Status Evaluator::evaluateAll() {
  VEELINE_TRY(open());
  tellOfParameters();
  int64_t begin = nanoseconds();
  // Launchers give processes terminals whose lines end up in files. What the
  // line allocates would count as that of steps.
  std::optional<ProgressLine> progress(std::in_place,
                                       !run.network && !options.checkMemory);
  auto result =
      evaluate(*session, run, options.steps,
               [&](int64_t step, const StepResult &ofStep) {
                 if (!options.checkMemory)
                   progress->set("evaluating: step " + std::to_string(step) +
                                 " of " + std::to_string(options.steps));
                 return addLines(step, ofStep);
               });
  progress.reset();
  if (options.checkMemory)
    countTrainingAllocations(/*inSteps=*/false);
  if (!result.ok())
    return Status::error("step " + std::to_string(session->failedStep()) +
                         ": " + result.message());
  print(*result, double(nanoseconds() - begin) / 1e9);
  VEELINE_TRY(metrics.close());
  if (outputs && !result->isWhole)
    run.say("'" + options.outputs + "' is not written: it would lack samples");
  else if (outputs)
    VEELINE_TRY(outputs->write());
  if (!options.timeline.empty())
    VEELINE_TRY(writeTimeline(run, *session));
  return options.checkMemory && !interruptSignal()
             ? checkMemory(run, *session,
                           result->microbatches / run.microbatches())
             : Status::success();
}

Status train::evaluateRun(Run &run) {
  Status status = Evaluator(run).evaluateAll();
  // If only this process knows why, the others would see only that it leaves.
  if (!status.ok() && run.network && !run.network->knownFailure())
    run.network->announce(status.message());
  return status;
}
