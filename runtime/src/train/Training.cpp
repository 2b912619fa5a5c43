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
};

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
  Options ofRun = toOptions(path, options);
  VEELINE_TRY(data::checkFiles(ofRun.inputs));
  VEELINE_TRY_VALUE(std::unique_ptr<Run> run, Run::open(ofRun));
  auto opened = std::make_unique<Implementation>(std::move(run));
  SessionOptions ofSession;
  ofSession.network = opened->run->network.get();
  VEELINE_TRY_VALUE(opened->session,
                    Session::create(*opened->run, options.program, ofSession));
  return std::unique_ptr<Training>(new Training(std::move(opened)));
}

Expected<double> Training::step() {
  Implementation &own = *implementation;
  VEELINE_TRY(own.failure);
  int64_t step = own.steps + 1;
  own.failure = own.session->step(step, own.plan.begin(step), own.result);
  if (own.failure.ok())
    own.failure = own.plan.end(step, own.result);
  VEELINE_TRY(own.failure);
  own.steps = step;
  return meanOfResult(own.result, 0, own.run->microbatches());
}

Status Training::save(const std::string &path) const {
  return implementation->session->save(path, implementation->steps);
}
