//===- Training.cpp - an artifact that is trained by a program ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/training.h"

#include "Session.h"
#include "StepPlan.h"

#include <limits>

using namespace veeline;
using namespace veeline::train;

struct Training::Implementation {
  explicit Implementation(std::unique_ptr<Run> opened)
      : run(std::move(opened)), plan(run->options) {}

  std::unique_ptr<Run> run;
  StepPlan plan;
  std::unique_ptr<Session> session;
  int64_t steps = 0; ///< That have ended.
  StepResult result;
  Status failure = Status::success(); ///< After it no step runs.
  std::vector<TensorInfo> parameters, batches, buffers, results;

  void describe();
};

/// Of anything with a name, a type and a shape.
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

static Options toOptions(const std::string &path,
                         const TrainingOptions &given) {
  Options options;
  options.artifact = path;
  options.program = given.program;
  options.inputs.specs = given.data;
  options.inputs.otherwise = given.otherData;
  options.inputs.seed = given.seed;
  options.init = given.init;
  options.optimizer.learningRate = given.learningRate;
  options.optimizer.weightDecay = given.weightDecay;
  options.optimizer.beta1 = given.beta1;
  options.optimizer.beta2 = given.beta2;
  options.optimizer.epsilon = given.epsilon;
  options.rates.shape = RateShape::constant;
  // Nobody knows when the last one is.
  options.steps = std::numeric_limits<int64_t>::max();
  options.stepsInFlight = 1;
  options.libraryDirectory = given.moduleDirectory;
  return options;
}

Training::Training(std::unique_ptr<Implementation> implementation)
    : implementation(std::move(implementation)) {}
Training::~Training() = default;

Expected<std::unique_ptr<Training>>
Training::open(const std::string &path, const TrainingOptions &options) {
  return openRun(toOptions(path, options));
}

Expected<std::unique_ptr<Training>>
Training::openInMemory(std::string_view content,
                       const TrainingOptions &options) {
  Options ofRun = toOptions("an artifact in memory", options);
  ofRun.content = content;
  return openRun(ofRun);
}

Expected<std::unique_ptr<Training>> Training::openRun(const Options &options) {
  VEELINE_TRY(data::checkFiles(options.inputs));
  VEELINE_TRY_VALUE(std::unique_ptr<Run> run, Run::open(options));
  auto opened = std::make_unique<Implementation>(std::move(run));
  SessionOptions ofSession;
  ofSession.network = opened->run->network.get();
  VEELINE_TRY_VALUE(opened->session,
                    Session::create(*opened->run, options.program, ofSession));
  opened->describe();
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
  return implementation->run->inputs->feed(name, values);
}

Status Training::checkFed() const {
  return implementation->run->inputs->checkFed();
}

Expected<double> Training::step() {
  Implementation &own = *implementation;
  VEELINE_TRY(own.failure);
  VEELINE_TRY(checkFed());
  own.run->inputs->takeFed();
  int64_t step = own.steps + 1;
  own.failure = own.session->step(step, own.plan.begin(step), own.result);
  if (own.failure.ok())
    own.failure = own.plan.end(step, own.result);
  VEELINE_TRY(own.failure);
  own.steps = step;
  return meanOfResult(own.result, 0, own.run->microbatches());
}

std::vector<double> Training::resultOf(size_t index) const {
  const std::vector<double> &all = implementation->result.results;
  auto count = static_cast<size_t>(microbatches());
  if ((index + 1) * count > all.size())
    return {};
  auto first = all.begin() + static_cast<std::ptrdiff_t>(index * count);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

double Training::gradientNorm() const {
  return implementation->result.gradientNorm;
}

int64_t Training::steps() const { return implementation->steps; }

void Training::setLearningRate(double rate) {
  implementation->run->options.optimizer.learningRate = rate;
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
