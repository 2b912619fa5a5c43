//===- GroupedSession.cpp - replicas that run one after the other ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupedSession.h"

#include "Coefficients.h"
#include "Compare.h"
#include "Update.h"

using namespace veeline;
using namespace veeline::train;

Status train::checkGroups(const Run &run) {
  const artifact::Program *program =
      run.metadata().findProgram(run.options.program);
  bool updatesOnHost =
      program && (program->asynchronous != artifact::Asynchronous::none ||
                  program->replicas > 1 || !program->stageReplicas.empty());
  if (!updatesOnHost || run.metadata().target != "cuda" ||
      isElementwise(run.metadata().optimizer))
    return Status::success();
  return Status::error(
      "--verify and --compare-sequential update the parameters of '" +
      program->name + "' on the host, where the products or sums of " +
      std::string(name(run.metadata().optimizer)) +
      " have other bits than on a GPU; with it they are for steps of one "
      "replica that wait for updates");
}

Expected<std::unique_ptr<GroupedSession>>
GroupedSession::create(Run &run, const std::string &programName) {
  std::unique_ptr<GroupedSession> grouped(new GroupedSession(run));
  VEELINE_TRY_VALUE(grouped->session, Session::create(run, programName));
  if (grouped->numGroups() == 1 &&
      grouped->testedProgram().asynchronous == artifact::Asynchronous::none)
    return grouped;
  for (size_t i = 0; i < run.metadata().params.size(); ++i) {
    grouped->values.push_back(run.initialValue(i));
    const artifact::Parameter &param = run.metadata().params[i];
    grouped->states.emplace_back(static_cast<size_t>(
        stateElements(run.metadata().optimizer, run.metadata().errorFeedback,
                      param.shape) *
        artifact::byteSize(param.type)));
  }
  if (grouped->isStashed() && grouped->session->stepMicrobatches() != 1)
    return Status::error("'" + programName +
                         "' runs several microbatches, each of which has "
                         "updates in '" +
                         run.options.program + "'");
  grouped->findDelays();
  return grouped;
}

/// Sets the delay of each parameter. W(t+1) = W(t) - v g(W(t-1)) has a delay of
/// 1 for all. With stashed weights, a stage has as many microbatches in flight
/// as there are stages after it.
void GroupedSession::findDelays() {
  const artifact::Program &program = testedProgram();
  bool isDoubled =
      program.asynchronous == artifact::Asynchronous::doubleBuffered;
  delays.assign(values.size(), isDoubled ? 1 : 0);
  if (isStashed())
    for (const Session::Gradient &gradient : session->gradients())
      delays[static_cast<size_t>(gradient.param)] = static_cast<size_t>(
          program.stages - 1 -
          program.chunks[static_cast<size_t>(gradient.chunk)].stage);
}

/// Returns the value that is used next. It is the first one as long as there
/// were too few updates.
const std::vector<char> &GroupedSession::versionOf(size_t param) const {
  size_t delay = std::min(delays[param], before.size());
  return delay == 0 ? values[param] : before[delay - 1][param];
}

std::vector<char> GroupedSession::usedValue(size_t index) const {
  return values.empty() ? session->value(index) : versionOf(index);
}

std::vector<char> GroupedSession::value(size_t index) const {
  return values.empty() ? session->value(index) : values[index];
}

Status GroupedSession::setValue(size_t index, const std::vector<char> &bytes) {
  if (values.empty())
    return session->setValue(index, bytes);
  values[index] = bytes;
  before.clear();
  return Status::success();
}

std::vector<char> GroupedSession::gradient(size_t index) const {
  return values.empty() ? session->read(session->gradients()[index])
                        : sums[index];
}

/// Returns the rank of a stage that runs a chunk on a group of microbatches.
size_t GroupedSession::memberOf(int32_t group, int32_t chunk) const {
  const artifact::Program &program = testedProgram();
  int32_t first = group * static_cast<int32_t>(session->stepMicrobatches());
  int32_t replica = first / run.metadata().microbatches;
  int32_t microbatch = first % run.metadata().microbatches;
  int32_t width = program.stageReplicas.empty()
                      ? 1
                      : program.widthOf(program.chunks[chunk].stage);
  return static_cast<size_t>(replica * width + microbatch % width);
}

/// Runs one group from the parameters with which the step begins.
Status GroupedSession::addGroup(int64_t step, const StepSettings &settings,
                                int32_t group, StepResult &result) {
  const artifact::Metadata &metadata = run.metadata();
  auto m = static_cast<size_t>(metadata.microbatches);
  auto size = static_cast<size_t>(session->stepMicrobatches());
  for (size_t i = 0; i < values.size(); ++i)
    VEELINE_TRY(session->setValue(i, versionOf(i)));
  session->setFirstMicrobatch(int64_t(group) * session->stepMicrobatches());
  StepResult part;
  VEELINE_TRY(session->step(step, settings, part));
  for (size_t k = 0; k < metadata.results.size(); ++k)
    for (size_t i = 0; i < size; ++i)
      result.results[k * static_cast<size_t>(run.microbatches()) +
                     static_cast<size_t>(group) * size + i] =
          part.results[k * m + i];
  std::vector<Session::Gradient> all = session->gradients();
  parts.resize(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    size_t member = memberOf(group, all[i].chunk);
    if (member >= parts[i].size())
      parts[i].push_back(session->read(all[i]));
    else
      addTensor(metadata.params[all[i].param], parts[i][member],
                session->read(all[i]));
  }
  return Status::success();
}

void GroupedSession::addMembers() {
  std::vector<Session::Gradient> all = session->gradients();
  sums.clear();
  for (size_t i = 0; i < all.size(); ++i) {
    sums.push_back(parts[i][0]);
    for (size_t member = 1; member < parts[i].size(); ++member)
      addTensor(run.metadata().params[all[i].param], sums[i], parts[i][member]);
  }
}

Expected<Clip> GroupedSession::update(const StepSettings &ofStep,
                                      int32_t microbatches,
                                      const Clip *ofDevice) {
  size_t mostDelays = *std::max_element(delays.begin(), delays.end());
  before.push_front(values);
  before.resize(std::min(before.size(), mostDelays));
  std::vector<host::WholeParam> params(values.size());
  for (size_t i = 0; i < params.size(); ++i)
    params[i] = {values[i].data(), states[i].data(), {}};
  std::vector<Session::Gradient> all = session->gradients();
  for (size_t i = 0; i < all.size(); ++i)
    params[static_cast<size_t>(all[i].param)].gradients.push_back(
        sums[i].data());
  StepSettings settings = ofStep;
  settings.step -= numSkipped;
  VEELINE_TRY_VALUE(Clip clip,
                    host::updateModel(run.metadata(), settings, microbatches,
                                      params, ofDevice));
  numSkipped += clip.skips;
  return clip;
}

Status GroupedSession::step(int64_t step, const StepSettings &settings,
                            const Clip &clip, StepResult &result) {
  if (values.empty())
    return session->step(step, settings, result);
  result.results.assign(run.metadata().results.size() *
                            static_cast<size_t>(run.microbatches()),
                        0);
  if (isStashed())
    return stepStashed(step, settings, result);
  parts.clear();
  for (int32_t group = 0; group < numGroups(); ++group)
    VEELINE_TRY(addGroup(step, settings, group, result));
  addMembers();
  bool isOnDevice = run.metadata().target == "cuda" &&
                    testedProgram().clipSync == artifact::ClipSync::barrier;
  VEELINE_TRY_VALUE(result.clip, update(settings, run.microbatches(),
                                        isOnDevice ? &clip : nullptr));
  return Status::success();
}

/// Runs a step in which each microbatch has an update, with the gradients of
/// all replicas.
Status GroupedSession::stepStashed(int64_t step, const StepSettings &settings,
                                   StepResult &result) {
  int32_t m = run.metadata().microbatches;
  for (int32_t k = 0; k < m; ++k) {
    parts.clear();
    for (int32_t group = k; group < numGroups(); group += m)
      VEELINE_TRY(addGroup(step, settings, group, result));
    addMembers();
    VEELINE_TRY_VALUE(result.clip, update(ofMicrobatch(settings, k, m),
                                          /*microbatches=*/numGroups() / m,
                                          /*ofDevice=*/nullptr));
  }
  return Status::success();
}
