//===- Training.cpp - an artifact that is trained by a program ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/training.h"

#include "Checkpointer.h"
#include "Evaluation.h"
#include "ProgramOptions.h"
#include "Session.h"
#include "StepPlan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

using namespace veeline;
using namespace veeline::train;

struct Training::Implementation {
  Implementation(std::unique_ptr<Run> opened,
                 std::shared_ptr<std::vector<std::string>> remarks)
      : remarks(std::move(remarks)), run(std::move(opened)),
        plan(run->options) {}

  /// The remarks of the run.
  std::shared_ptr<std::vector<std::string>> remarks;
  std::unique_ptr<Run> run;
  StepPlan plan;
  std::unique_ptr<Session> session;
  std::unique_ptr<Checkpointer> checkpointer; ///< Null: not requested.
  /// Those that have ended, of all runs.
  int64_t steps = 0;
  int64_t numSkipped = 0; ///< Those of this run.
  StepResult result;
  StepSettings settings;              ///< Those of the last step.
  Status failure = Status::success(); ///< After a failure, no step runs.
  std::vector<TensorInfo> parameters, batches, buffers, results;
  /// A second session on the same ranks, which exists once data are fed to it.
  struct {
    std::unique_ptr<data::Inputs> inputs;
    std::unique_ptr<Session> session;
    int64_t count = 0;
    StepResult result;
    bool hasBuffers = false; ///< Whether they are up to date.
  } evaluation;

  void describe();
  Status open();
  Status runStep(int64_t step);
  Status openEvaluation();
  Status feedBuffersToEvaluation();
  Status takeCheckpoint();
  std::vector<double> resultsIn(const StepResult &from, size_t index) const;
};

/// Describes anything with a name, a type and a shape.
static TensorInfo infoOf(const std::string &name, artifact::DataType type,
                         const std::vector<int64_t> &shape) {
  return {name, std::string(artifact::name(type)), shape,
          artifact::bytesOf(type, shape)};
}

void Training::Implementation::describe() {
  const artifact::Metadata &metadata = run->metadata();
  for (const artifact::Parameter &param : metadata.params)
    parameters.push_back(infoOf(param.name, param.type, param.shape));
  for (const artifact::Batch &batch : metadata.batches)
    if (!batch.lossWeight)
      batches.push_back(infoOf(batch.name, batch.type, batch.shape));
  for (const artifact::Buffer &buffer : metadata.buffers)
    if (!buffer.lossScale)
      buffers.push_back(infoOf(buffer.name, buffer.type, buffer.shape));
  for (const artifact::Result &result : metadata.results)
    results.push_back(infoOf(result.name, result.type, {}));
}

Status Training::Implementation::open() {
  SessionOptions options;
  options.network = run->network.get();
  options.checkMessages = run->options.checkMessages;
  VEELINE_TRY_VALUE(session,
                    Session::create(*run, run->options.program, options));
  steps = run->stepsBefore();
  if (run->resumed) {
    run->resumed->freeTensors();
    plan.goOnAfter(steps, run->resumed->index().lossScale);
  }
  if (!run->options.checkpoint.empty()) {
    VEELINE_TRY_VALUE(checkpointer, Checkpointer::create(*run, *session));
  }
  describe();
  return Status::success();
}

Training::Training(std::unique_ptr<Implementation> implementation)
    : implementation(std::move(implementation)) {}
Training::~Training() = default;

Expected<std::unique_ptr<Training>>
Training::open(const std::string &path, const TrainingOptions &options,
               bool *isMisfit) {
  return openRun(path, std::nullopt, options, isMisfit);
}

Expected<std::unique_ptr<Training>>
Training::openInMemory(std::string_view content, const TrainingOptions &options,
                       bool *isMisfit) {
  return openRun("an artifact in memory", content, options, isMisfit);
}

Expected<std::unique_ptr<Training>>
Training::openRun(const std::string &path,
                  std::optional<std::string_view> content,
                  const TrainingOptions &given, bool *isMisfit) {
  Expected<Options> parsed = parseProgramOptions(given.values);
  if (isMisfit)
    *isMisfit = !parsed.ok();
  VEELINE_TRY_VALUE(Options options, std::move(parsed));
  options.artifact = path;
  options.content = content;
  options.libraryDirectory = given.moduleDirectory;
  auto remarks = std::make_shared<std::vector<std::string>>();
  options.hearRemark = [remarks](const std::string &remark) {
    remarks->push_back(remark);
  };
  VEELINE_TRY(data::checkFiles(options.inputs));
  VEELINE_TRY_VALUE(std::unique_ptr<Run> run, Run::open(options));
  auto opened = std::make_unique<Implementation>(std::move(run), remarks);
  VEELINE_TRY(opened->open());
  return std::unique_ptr<Training>(new Training(std::move(opened)));
}

const std::vector<TensorInfo> &Training::parameters() const {
  return implementation->parameters;
}
const std::vector<TensorInfo> &Training::batches() const {
  return implementation->batches;
}
const std::vector<TensorInfo> &Training::buffers() const {
  return implementation->buffers;
}
const std::vector<TensorInfo> &Training::results() const {
  return implementation->results;
}
int32_t Training::microbatches() const {
  return implementation->run->microbatches();
}

Status Training::feed(const std::string &name, std::string_view values) {
  implementation->evaluation.hasBuffers = false;
  return implementation->run->inputs->feed(name, values);
}

Status Training::checkNext() const {
  const Run &run = *implementation->run;
  if (run.isOver() || implementation->steps >= run.options.steps)
    return Status::error("training ends with step " +
                         std::to_string(run.options.steps) +
                         ", which has run; the option 'steps' says so");
  return run.inputs->checkFed();
}

/// Processes meet before a step if the first one has to learn what others have
/// written.
Status Training::Implementation::runStep(int64_t step) {
  if (run->network && checkpointer) {
    VEELINE_TRY_VALUE(auto all, run->network->exchange(checkpointer->report()));
    checkpointer->hear(all);
  }
  settings = plan.begin(step);
  VEELINE_TRY(session->step(step, settings, result));
  steps = step;
  numSkipped += result.clip.skips;
  VEELINE_TRY(plan.end(step, result));
  return checkpointer && checkpointer->isDue(step) ? takeCheckpoint()
                                                   : Status::success();
}

Expected<double> Training::step() {
  Implementation &own = *implementation;
  VEELINE_TRY(own.failure);
  VEELINE_TRY(checkNext());
  own.run->inputs->takeFed();
  own.failure = own.runStep(own.steps + 1);
  VEELINE_TRY(own.failure);
  return meanOfResult(own.result, 0, microbatches());
}

std::vector<double> Training::Implementation::resultsIn(const StepResult &from,
                                                        size_t index) const {
  auto count = static_cast<size_t>(run->microbatches());
  if ((index + 1) * count > from.results.size())
    return {};
  auto first =
      from.results.begin() + static_cast<std::ptrdiff_t>(index * count);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

std::vector<double> Training::resultOf(size_t index) const {
  return implementation->resultsIn(implementation->result, index);
}

StepInfo Training::lastStep() const {
  const Implementation &own = *implementation;
  StepInfo info;
  info.gradientNorm = own.result.gradientNorm;
  info.clipFactor = own.result.clip.skips ? 0 : own.result.clip.factor;
  if (own.steps > own.run->stepsBefore()) {
    info.learningRate = own.settings.learningRate;
    info.lossScale = own.settings.lossScale;
  }
  return info;
}

int64_t Training::steps() const { return implementation->steps; }

Status Training::setLearningRate(double rate) {
  Options &options = implementation->run->options;
  if (!std::isfinite(rate) || rate < 0)
    return Status::error(
        "a learning rate is a finite number of 0 or more, not " +
        std::to_string(rate));
  if (options.rates.shape == RateShape::file)
    return Status::error("the learning rate of each step is in '" +
                         options.rates.file + "', as 'lr-schedule' says");
  options.optimizer.learningRate = rate;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// Opens the evaluation, for an artifact that is compiled with it.
Status Training::Implementation::openEvaluation() {
  if (evaluation.session)
    return Status::success();
  VEELINE_TRY(run->checkEvaluates(
      "evaluation", "the option 'evaluation': --evaluation of veeline compile, "
                    "evaluation=True in Python"));
  if (run->network && run->metadata().target == "cuda")
    return Status::error("evaluation: where ranks are processes with GPUs, "
                         "veeline eval evaluates what 'save' has written");
  data::InputOptions fed;
  fed.otherwise = "fed";
  VEELINE_TRY_VALUE(evaluation.inputs,
                    data::Inputs::open(run->metadata(), fed, run->replicas()));
  SessionOptions options;
  options.network = run->network.get();
  options.inputs = evaluation.inputs.get();
  options.steps = std::numeric_limits<int64_t>::max();
  VEELINE_TRY_VALUE(evaluation.session,
                    Session::create(*run, evaluationProgram, options));
  return Status::success();
}

Status Training::feedEvaluation(const std::string &name,
                                std::string_view values) {
  Implementation &own = *implementation;
  VEELINE_TRY(own.openEvaluation());
  if (std::ranges::find(own.buffers, name, &TensorInfo::name) !=
      own.buffers.end())
    return Status::error("buffer '" + name +
                         "' is that of training, which it is fed to");
  return own.evaluation.inputs->feed(name, values);
}

/// Copies the buffers of training, if any of them was fed since the last copy.
/// Buffers may be large, and there may be many evaluations.
Status Training::Implementation::feedBuffersToEvaluation() {
  if (evaluation.hasBuffers)
    return Status::success();
  const std::vector<artifact::Buffer> &all = run->metadata().buffers;
  for (size_t i = 0; i < all.size(); ++i)
    if (!all[i].lossScale && run->inputs->hasBuffer(i))
      VEELINE_TRY(evaluation.inputs->feed(
          all[i].name,
          {run->inputs->buffer(i),
           static_cast<size_t>(artifact::bytesOf(all[i].type, all[i].shape))}));
  evaluation.hasBuffers = true;
  return Status::success();
}

Status Training::checkEvaluation() const {
  Implementation &own = *implementation;
  VEELINE_TRY(own.openEvaluation());
  VEELINE_TRY(own.feedBuffersToEvaluation());
  return own.evaluation.inputs->checkFed();
}

Expected<double> Training::evaluate() {
  Implementation &own = *implementation;
  VEELINE_TRY(own.failure);
  VEELINE_TRY(checkEvaluation());
  Session &session = *own.evaluation.session;
  VEELINE_TRY(session.copyParameters(*own.session));
  own.evaluation.inputs->takeFed();
  StepSettings settings;
  settings.step = ++own.evaluation.count;
  own.failure = session.step(settings.step, settings, own.evaluation.result);
  VEELINE_TRY(own.failure);
  ResultMeans means(own.run->metadata());
  means.add(own.evaluation.result, static_cast<size_t>(microbatches()),
            /*weightedLoss=*/false);
  return means.of(0);
}

std::vector<double> Training::evaluatedResultOf(size_t index) const {
  return implementation->resultsIn(implementation->evaluation.result, index);
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

Status Training::Implementation::takeCheckpoint() {
  Status status = checkpointer->take(steps, numSkipped, plan,
                                     /*owesEvaluation=*/false);
  return status.ok() ? status
                     : Status::error("after step " + std::to_string(steps) +
                                     ": " + status.message());
}

Status Training::checkpoint() {
  Implementation &own = *implementation;
  if (!own.checkpointer)
    return Status::error("there is no folder for checkpoints; the option "
                         "'checkpoint' says which one");
  VEELINE_TRY(own.failure);
  if (own.steps == own.run->stepsBefore())
    return Status::error("no step has run that a checkpoint could be of");
  if (own.checkpointer->lastTaken() != own.steps)
    VEELINE_TRY(own.takeCheckpoint());
  return own.checkpointer->finish();
}

std::vector<std::string> Training::takeRemarks() {
  Implementation &own = *implementation;
  if (own.checkpointer)
    for (const std::string &remark : own.checkpointer->takeRemarks())
      own.run->say(remark);
  return std::exchange(*own.remarks, {});
}

Status Training::checkParameter(size_t index, size_t bytes) const {
  const std::vector<TensorInfo> &all = parameters();
  if (implementation->run->network)
    return Status::error("ranks are processes here, and parameters are not all "
                         "in this one; save writes all of them");
  if (index >= all.size())
    return Status::error("there is no parameter " + std::to_string(index) +
                         "; the model has " + std::to_string(all.size()));
  if (static_cast<int64_t>(bytes) != all[index].bytes)
    return Status::error("parameter '" + all[index].name + "' has " +
                         std::to_string(all[index].bytes) + " bytes, not " +
                         std::to_string(bytes));
  return Status::success();
}

Status Training::getParameter(size_t index, char *values, size_t bytes) const {
  VEELINE_TRY(checkParameter(index, bytes));
  std::vector<char> value = implementation->session->value(index);
  VEELINE_TRY(implementation->session->readStatus());
  std::copy(value.begin(), value.end(), values);
  return Status::success();
}

Status Training::setParameter(size_t index, const char *values, size_t bytes) {
  VEELINE_TRY(checkParameter(index, bytes));
  return implementation->session->setValue(index, {values, values + bytes});
}

Status Training::save(const std::string &path) const {
  return implementation->session->save(path, implementation->steps);
}
