//===- Train.cpp - the training loop --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Train.h"

#include "CheckFiles.h"
#include "Checkpointer.h"
#include "Ending.h"
#include "Evaluation.h"
#include "EventFile.h"
#include "GroupedSession.h"
#include "Interrupt.h"
#include "MemoryCheck.h"
#include "Profile.h"
#include "Report.h"
#include "Session.h"
#include "StepPlan.h"
#include "Verify.h"
#include "VerifyMemory.h"
#include "veeline/Base/File.h"
#include "veeline/Base/ProcessLimits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <new>
#include <optional>

using namespace veeline;
using namespace veeline::train;

namespace {
/// A run of the training loop, and its results.
class Trainer {
public:
  explicit Trainer(Run &run)
      : run(run), options(run.options), plan(run.options), lastResort(run),
        means(run.metadata()) {}
  ~Trainer() { lastResort.watch(nullptr); }

  Status train();

private:
  Status open();
  Status showStep();
  Status loop();
  Status openAndLoop();
  Expected<bool> isInterrupted();
  bool mayBegin(int64_t step) const;
  void remarkNow(const std::string &remark) const;
  Status takeCheckpoint();
  Status openEvaluation();
  bool isEvaluationDue(int64_t step) const;
  Status evaluateNow();
  Status makeUpEvaluation();
  Status endCheckpoints();
  /// The number of the last step that has ended, counted over all runs.
  int64_t lastStep() const { return run.stepsBefore() + stepsDone; }
  RowsBefore rowsUpTo(int64_t step) {
    return {step, [this](const std::string &text) { run.say(text); }};
  }
  Status checkFinite() const;
  Status checkFlightRecord(const artifact::Program *program) const;
  Status fail(const std::string &text) const;
  Expected<bool> beginStep(int64_t step);
  Status finishStep(int64_t step);
  void fillRecord(int64_t step, int64_t end);
  double meanOfLastLosses() const;
  Status writeResults();
  Status writeProfile() const;
  TrainingSummary summary() const;

  Run &run;
  const Options &options;
  StepPlan plan;
  LastResort lastResort;
  std::unique_ptr<Session> session;
  std::unique_ptr<Checkpointer> checkpointer; ///< Null: not requested.
  std::unique_ptr<Session> evaluation;        ///< Null: not requested.
  ResultsFile evaluations;
  bool owesEvaluation = false; ///< That of the last step was interrupted.
  MetricsFile metrics;
  EventFile events;
  std::unique_ptr<Report> report;         ///< In the first process.
  int64_t stepsDone = 0;                  ///< Those of this run.
  int64_t numClipped = 0, numSkipped = 0; ///< Among these.
  // Reused, so that no step allocates.
  StepResult result;
  ResultMeans means;
  StepRecord record;                      ///< The last step.
  std::array<double, 10> lastLosses = {}; ///< A ring; see stepsDone.
  /// Used only for --compare-sequential.
  std::vector<TrainedStep> trainedSteps;
  int64_t firstBegin = 0;
  int64_t lastEnd = 0; ///< The end of a step.
};
} // namespace

Status Trainer::open() {
  SessionOptions sessionOptions;
  sessionOptions.poison = options.checkMemory;
  sessionOptions.network = run.network.get();
  sessionOptions.traceTensors = options.traceTensors;
  sessionOptions.checkMessages = options.checkMessages;
  if (options.checkMemory)
    sessionOptions.announce = countRankAllocations;
  const artifact::Program *program =
      run.metadata().findProgram(options.program);
  int32_t recorded = options.timeline.empty() ? 0 : options.timelineSteps;
  if (!options.profile.empty())
    recorded = std::max(recorded, profileSteps);
  if (!options.flightRecorder.empty())
    recorded = std::max(recorded, flightSteps);
  if (program && recorded > 0)
    sessionOptions.timelineEvents = timelineCapacity(*program, recorded);
  if (program && !options.profile.empty() && program->chunks.empty())
    return Status::error("--profile: '" + options.artifact +
                         "' does not say what chunks program '" +
                         options.program + "' has");
  VEELINE_TRY(checkFlightRecord(program));
  if (options.compareSequential) {
    VEELINE_TRY(checkGroups(run));
    VEELINE_TRY(checkMemoryOfComparison(run));
  }
  if (run.evaluated)
    sessionOptions.loadOthers = [this] { return openEvaluation(); };
  VEELINE_TRY_VALUE(session,
                    Session::create(run, options.program, sessionOptions,
                                    options.stepsInFlight));
  if (options.compareSequential)
    trainedSteps.assign(
        static_cast<size_t>(options.steps),
        {std::vector<double>(static_cast<size_t>(run.microbatches())), {}});
  if (run.evaluated && !evaluation)
    VEELINE_TRY(openEvaluation());
  if (run.resumed) {
    // The ranks have what is theirs.
    run.resumed->freeTensors();
    plan.goOnAfter(lastStep(), run.resumed->index().lossScale);
  }
  if (!options.checkpoint.empty()) {
    VEELINE_TRY_VALUE(checkpointer, Checkpointer::create(run, *session));
    checkpointer->setRemarkNow(
        [this](const std::string &remark) { remarkNow(remark); });
  }
  if (!run.isFirst())
    return Status::success();
  for (const std::string &path :
       {options.save, options.timeline, options.profile})
    VEELINE_TRY(checkWritable(path));
  report = Report::create(run);
  if (!options.tensorboard.empty())
    VEELINE_TRY(events.open(options.tensorboard, run.stepsBefore() + 1));
  if (options.metrics.empty())
    return Status::success();
  MetricsFile::Columns columns;
  columns.clipFactor = options.optimizer.needsNorm();
  columns.lossScale = options.scalesLoss;
  columns.metrics = metricNames(run.metadata());
  return metrics.open(options.metrics, run.workOfStep(), std::move(columns),
                      rowsUpTo(run.stepsBefore()));
}

/// Opens a second session, which only runs forwards, on the same ranks.
Status Trainer::openEvaluation() {
  SessionOptions evaluated;
  evaluated.network = run.network.get();
  evaluated.checkMessages = options.checkMessages;
  evaluated.inputs = run.evaluated.get();
  evaluated.steps = run.evaluatedSteps;
  VEELINE_TRY_VALUE(evaluation,
                    Session::create(run, evaluationProgram, evaluated,
                                    options.stepsInFlight));
  if (options.evaluation.metrics.empty() || !run.isFirst())
    return Status::success();
  int64_t lastRow = run.stepsBefore() - run.owesEvaluation();
  return evaluations.open(options.evaluation.metrics, "step", run.metadata(),
                          rowsUpTo(lastRow),
                          options.printsPerplexity ? "perplexity" : "");
}

bool Trainer::isEvaluationDue(int64_t step) const {
  return evaluation &&
         (step % options.evaluation.every == 0 || step == options.steps);
}

/// Evaluates the parameters after the last step, while no step is under way.
Status Trainer::evaluateNow() {
  int64_t begin = nanoseconds();
  Status copied = evaluation->copyParameters(*session);
  Expected<EvaluationResult> result =
      copied.ok() ? evaluate(*evaluation, run, run.evaluatedSteps)
                  : Expected<EvaluationResult>(copied);
  if (!result.ok())
    return fail("evaluation after step " + std::to_string(lastStep()) + ": " +
                result.message());
  // The measured time of training does not include this.
  int64_t taken = nanoseconds() - begin;
  firstBegin += taken;
  lastEnd += taken;
  owesEvaluation = !result->isWhole;
  if (!run.isFirst() || owesEvaluation)
    return Status::success();
  report->showEvaluation(lastStep(), *result, double(taken) / 1e9);
  VEELINE_TRY(writeCurves(events, run, lastStep(), *result));
  if (!evaluations.isOpen())
    return Status::success();
  std::vector<double> row = result->means;
  if (std::optional<double> perplexity = perplexityOf(run, *result))
    row.push_back(*perplexity);
  return evaluations.add(std::to_string(lastStep()), row);
}

/// Evaluates the step from which the run continues, if that was interrupted.
Status Trainer::makeUpEvaluation() {
  if (!run.owesEvaluation())
    return Status::success();
  VEELINE_TRY(evaluateNow());
  if (owesEvaluation || !checkpointer)
    return Status::success();
  Status status = checkpointer->noteEvaluated();
  return status.ok() ? status : fail(status.message());
}

/// The time of a step is that since the end of the previous one, because steps
/// may overlap.
void Trainer::fillRecord(int64_t step, int64_t end) {
  means.clear();
  means.add(result, static_cast<size_t>(run.microbatches()),
            /*weightedLoss=*/true);
  record.step = step;
  record.loss = means.of(0);
  record.learningRate = settingsOfStep(options, step).learningRate;
  record.gradientNorm = result.gradientNorm;
  record.lossScale = plan.lossScaleOf(step);
  record.isSkipped = result.clip.skips;
  record.clipFactor = result.clip.skips ? 0 : result.clip.factor;
  numClipped += !result.clip.skips && result.clip.factor < 1;
  numSkipped += result.clip.skips;
  record.seconds = double(end - std::exchange(lastEnd, end)) / 1e9;
  record.totalSeconds = double(end - firstBegin) / 1e9;
  record.metrics.resize(run.metadata().results.size() - 1);
  for (size_t i = 0; i < record.metrics.size(); ++i)
    record.metrics[i] = means.of(i + 1);
}

Status Trainer::checkFinite() const {
  if (std::isfinite(record.loss) || result.clip.skips)
    return Status::success();
  auto begin = result.results.begin(), end = begin + run.microbatches();
  auto found = std::find_if_not(
      begin, end, [](double loss) { return std::isfinite(loss); });
  std::string what =
      found == end ? "the sum of the losses of microbatches is " +
                         std::to_string(record.loss)
                   : "the loss of microbatch " + std::to_string(found - begin) +
                         " is " + std::to_string(*found);
  if (options.scalesLoss)
    what +=
        ", with a loss scale of " + std::to_string(int64_t(record.lossScale));
  const char *smaller = options.scalesLoss
                            ? "; a smaller --loss-scale, a smaller --lr or a "
                              "longer --warmup may help"
                            : "; a smaller --lr or a longer --warmup may help";
  return Status::error("step " + std::to_string(record.step) + ": " + what +
                       (record.step == 1
                            ? "; nothing was updated yet, so it comes from the "
                              "data, the first values of parameters (--init, "
                              "--seed) or the model"
                            : smaller));
}

/// Checks that the record of each rank of this process can be written.
Status Trainer::checkFlightRecord(const artifact::Program *program) const {
  if (options.flightRecorder.empty() || !program)
    return Status::success();
  for (size_t rank = 0; rank < program->ranks.size(); ++rank) {
    bool isElsewhere =
        run.network && rank != static_cast<size_t>(run.network->rank());
    if (isElsewhere)
      continue;
    VEELINE_TRY(checkRecordOf(int32_t(rank), options));
  }
  return Status::success();
}

/// Ends what is under way, and writes the flight record if it is requested.
Status Trainer::fail(const std::string &text) const {
  beginEnding();
  if (checkpointer)
    checkpointer->hurry();
  session->abandonSteps(text);
  if (!options.flightRecorder.empty())
    if (Status status =
            session->writeFlightRecord(options.flightRecorder, text);
        !status.ok())
      return Status::error(text + "; " + status.message());
  return Status::error(text);
}

/// Returns false if the user has interrupted the run. No further step begins
/// then.
Expected<bool> Trainer::beginStep(int64_t step) {
  Expected<bool> interrupted = isInterrupted();
  if (!interrupted.ok()) {
    // If a step is under way, its failure says more, namely what its ranks wait
    // for.
    if (lastStep() + 1 < step)
      VEELINE_TRY(finishStep(lastStep() + 1));
    return fail("before step " + std::to_string(step) + ": " +
                interrupted.message());
  }
  if (*interrupted)
    return false;
  if (Status status = session->begin(step, plan.begin(step)); !status.ok())
    return fail("step " + std::to_string(step) + ": " + status.message());
  return true;
}

Status Trainer::finishStep(int64_t step) {
  if (Status status = session->finish(result); !status.ok())
    return fail("step " + std::to_string(session->failedStep()) + ": " +
                status.message());
  fillRecord(step, nanoseconds());
  lastLosses[static_cast<size_t>(stepsDone++) % lastLosses.size()] =
      record.loss;
  if (options.compareSequential) {
    TrainedStep &trained = trainedSteps[static_cast<size_t>(step - 1)];
    std::copy_n(result.results.begin(), run.microbatches(),
                trained.losses.begin());
    trained.clip = result.clip;
  }
  if (!options.metrics.empty() && run.isFirst())
    if (Status status = metrics.add(record); !status.ok())
      return fail("step " + std::to_string(step) + ": " + status.message());
  Status status = plan.end(step, result);
  if (status.ok())
    status = checkFinite();
  return status.ok() ? status : fail(status.message());
}

/// Whether the user has interrupted the run. All processes stop before the same
/// step, wherever the signal came.
Expected<bool> Trainer::isInterrupted() {
  if (!run.network)
    return interruptSignal() != 0;
  std::string mine = std::to_string(interruptSignal()) + "\n";
  VEELINE_TRY_VALUE(auto all,
                    run.network->exchange(
                        checkpointer ? mine + checkpointer->report() : mine));
  // A signal that has come after the exchange does not count, so that all
  // processes decide the same.
  int shared = 0;
  for (const std::string &signal : all)
    shared = std::max(
        shared, static_cast<int>(std::strtol(signal.c_str(), nullptr, 10)));
  if (shared != 0 && interruptSignal() == 0)
    shareInterrupt(shared);
  for (std::string &text : all)
    text.erase(0, text.find('\n') + 1);
  if (checkpointer)
    checkpointer->hear(all);
  return shared != 0;
}

/// Whether checkpoints and evaluations permit a step to begin: they are made
/// while no step is under way.
bool Trainer::mayBegin(int64_t step) const {
  return lastStep() == step - 1 ||
         !((checkpointer && checkpointer->isDue(step - 1)) ||
           isEvaluationDue(step - 1));
}

/// Of a wait for a file system, which may end the run.
void Trainer::remarkNow(const std::string &remark) const {
  if (run.isFirst()) {
    report->endLine();
    run.say(remark);
    return;
  }
  std::fprintf(stderr, "veeline: remark: rank %d: %s\n", run.network->rank(),
               remark.c_str());
}

Status Trainer::takeCheckpoint() {
  Status status =
      checkpointer->take(lastStep(), numSkipped, plan, owesEvaluation);
  if (checkpointer->isHung())
    endUnlessWriting(options, status.message());
  return status.ok() ? status
                     : fail("after step " + std::to_string(lastStep()) + ": " +
                            status.message());
}

/// Shows a step, in the first process.
Status Trainer::showStep() {
  if (checkpointer)
    for (const std::string &remark : checkpointer->takeRemarks()) {
      report->endLine();
      run.say(remark);
    }
  report->showStep(record);
  Status status = writeCurves(events, run, record);
  return status.ok() ? status
                     : fail("step " + std::to_string(record.step) + ": " +
                            status.message());
}

Status Trainer::loop() {
  PlaceTeller teller(run.network ? &session->loadedProgram() : nullptr);
  lastResort.watch(session.get());
  if (report)
    report->begin();
  firstBegin = lastEnd = nanoseconds();
  VEELINE_TRY(makeUpEvaluation());
  int64_t next = lastStep() + 1, last = options.steps;
  for (int64_t step = next; step <= last; ++step) {
    while (next <= last && next < step + session->maxStepsInFlight() &&
           mayBegin(next)) {
      Expected<bool> begun = beginStep(next);
      if (!begun.ok())
        return begun.status();
      last = *begun ? last : next - 1;
      next += *begun;
    }
    if (step > last)
      break;
    VEELINE_TRY(finishStep(step));
    if (run.isFirst())
      VEELINE_TRY(showStep());
    // A run that goes on from the checkpoint of a step does not evaluate that
    // step again.
    if (isEvaluationDue(step))
      VEELINE_TRY(evaluateNow());
    if (checkpointer && checkpointer->isDue(step))
      VEELINE_TRY(takeCheckpoint());
    if (options.checkMemory)
      countTrainingAllocations(/*inSteps=*/true);
  }
  if (options.checkMemory)
    countTrainingAllocations(/*inSteps=*/false);
  // The last checkpoint has all steps, even if a run is interrupted.
  if (checkpointer && stepsDone > 0 && checkpointer->lastTaken() != lastStep())
    VEELINE_TRY(takeCheckpoint());
  return Status::success();
}

/// Writes all requested results, even if one of them fails. Returns the first
/// failure.
Status Trainer::writeResults() {
  Status first = metrics.close();
  if (Status closed = events.close(); first.ok())
    first = closed;
  auto keep = [&](Status status) {
    if (first.ok())
      first = std::move(status);
  };
  keep(evaluations.close());
  if (checkpointer)
    keep(endCheckpoints());
  if (!options.save.empty())
    keep(session->save(options.save, lastStep()));
  if (!options.timeline.empty())
    keep(writeTimeline(run, *session));
  if (!options.profile.empty() && stepsDone > 0)
    keep(writeProfile());
  return first;
}

Status Trainer::endCheckpoints() {
  Status finished = checkpointer->finish();
  if (checkpointer->isHung()) {
    endUnlessWriting(options, finished.message());
    // They wait for what this process has to tell.
    if (run.network)
      run.network->announce(finished.message());
  }
  for (const std::string &remark : checkpointer->takeRemarks())
    run.say(remark);
  VEELINE_TRY(finished);
  CheckpointSummary costs = checkpointer->summary();
  if (run.isFirst() && costs.count > 0)
    report->showCheckpoints(costs, double(nanoseconds() - firstBegin) / 1e9);
  return Status::success();
}

Status Trainer::writeProfile() const {
  const artifact::Program &program = session->program();
  auto events = session->timeline(profileSteps);
  if (!events.ok() || !run.isFirst())
    return events.ok() ? Status::success() : events.status();
  // The cores of other processes are not known here.
  bool isAllHere = !run.network && !session->isOnDevice();
  engine::Profile profile = engine::measure(
      program, *events, isAllHere ? countUsableCores() : INT64_MAX,
      /*followOn=*/session->maxStepsInFlight() > 1 && stepsDone > 1);
  Status status = writeFileAtomically(
      options.profile, engine::toJson(profile, run.metadata(), program,
                                      options.optimizer.needsNorm()));
  if (!status.ok())
    return status;
  ProfileSummary shown{options.profile, profile.stepMicroseconds / 1e3,
                       profile.steps, std::nullopt};
  if (profile.predictedStepMicroseconds)
    shown.predictedMilliseconds = *profile.predictedStepMicroseconds / 1e3;
  report->showProfile(shown);
  return Status::success();
}

double Trainer::meanOfLastLosses() const {
  // Losses are added in the order of the steps, because the bits of a sum
  // depend on it.
  auto capacity = static_cast<int64_t>(lastLosses.size());
  int64_t count = std::min(capacity, stepsDone);
  double sum = 0;
  for (int64_t i = stepsDone - count; i < stepsDone; ++i)
    sum += lastLosses[static_cast<size_t>(i % capacity)];
  return sum / double(count);
}

TrainingSummary Trainer::summary() const {
  TrainingSummary all;
  all.steps = stepsDone;
  if (stepsDone == 0)
    return all;
  all.seconds = record.totalSeconds;
  all.loss = record.loss;
  all.meanLoss = meanOfLastLosses();
  all.lossesInMean = std::min(stepsDone, int64_t(lastLosses.size()));
  all.lossScale = record.lossScale;
  all.numClipped = numClipped;
  all.numSkipped = numSkipped;
  if (run.inputs->readsTokens())
    all.secondsWaited = double(session->nanosecondsForData()) / 1e9;
  all.isOptimistic =
      session->program().clipSync == artifact::ClipSync::optimistic;
  return all;
}

Status Trainer::openAndLoop() {
  try {
    VEELINE_TRY(open());
    return loop();
  } catch (const std::bad_alloc &) {
    return outOfMemory(options, &run);
  }
}

Status Trainer::train() {
  Status trained = openAndLoop();
  if (report)
    report->endLine();
  if (!trained.ok()) {
    // If only this process knows why, the others would see only that it leaves.
    if (run.network && !run.network->knownFailure())
      run.network->announce(trained.message());
    return trained;
  }
  lastResort.dismiss();
  if (run.isFirst())
    report->showEnd(summary());
  VEELINE_TRY(writeResults());
  if (interruptSignal())
    return Status::success();
  if (options.checkMemory)
    VEELINE_TRY(checkMemory(run, *session, stepsDone));
  if (!options.compareSequential)
    return Status::success();
  trainedSteps.resize(static_cast<size_t>(stepsDone));
  return compareWithSequential(run, *session, trainedSteps);
}

static Expected<std::unique_ptr<Run>> open(const Options &options) {
  try {
    return Run::open(options);
  } catch (const std::bad_alloc &) {
    return outOfMemory(options, nullptr);
  }
}

/// Ends a run whose last step was in an earlier run: writes the parameters,
/// because a kill may have prevented that.
static Status endAgain(const Run &run) {
  if (!run.isFirst())
    return Status::success();
  std::unique_ptr<Report> report = Report::create(run);
  report->begin();
  report->showEnd(TrainingSummary());
  return run.options.save.empty()
             ? Status::success()
             : data::exportParameters(*run.resumed, run.options.save,
                                      {.asModel = true});
}

/// Does what is requested, once the run is open.
static Status act(Run &run, Trainer &trainer) {
  try {
    if (run.options.evaluates)
      return evaluateRun(run);
    if (run.resumed && run.isOver() && !run.owesEvaluation())
      return endAgain(run);
    return run.options.verify ? verify(run) : trainer.train();
  } catch (const std::bad_alloc &) {
    return outOfMemory(run.options, &run);
  }
}

static int reportError(const Status &status) {
  beginEnding();
  printError(status.message());
  return exitCodeOfFailure();
}

static int printRatesOf(const Options &options) {
  Expected<std::unique_ptr<Run>> run = Run::load(options);
  if (!run.ok())
    return reportError(run.status());
  const Options &resolved = (*run)->options;
  std::string text = printRates(resolved.rates, resolved.optimizer.learningRate,
                                resolved.steps);
  std::fputs(text.c_str(), stdout);
  return 0;
}

int train::run(const Options &options) {
  if (options.printsRates)
    return printRatesOf(options);
  catchInterrupts();
  // Exceeding the limit on the size of files is an error of write, and does not
  // end the process.
  std::signal(SIGXFSZ, SIG_IGN);
  if (options.checkMemory)
    startCountingAllocations();
  Expected<std::unique_ptr<Run>> run = open(options);
  if (!run.ok()) {
    int code = reportError(run.status());
    refuseToMeet(options, run.status().message());
    leaveAbandonedWork(code);
    return code;
  }
  // Errors are printed before the memory of the run is freed, which takes time,
  // because the launcher may end this process in the meantime.
  std::optional<Trainer> trainer(std::in_place, **run);
  Status status = act(**run, *trainer);
  int code = 0;
  if (!status.ok()) {
    code = reportError(status);
  } else if (int signal = interruptSignal()) {
    printInterrupted(options);
    code = 128 + signal;
  }
  trainer.reset();
  // The others hear first why this process ends.
  if (Checkpointer::hasAbandonedWork())
    run->reset();
  leaveAbandonedWork(code);
  return code;
}
