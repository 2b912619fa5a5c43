//===- Resume.cpp - going on from a checkpoint ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "Train.h"

#include <algorithm>
#include <sstream>

using namespace veeline;
using namespace veeline::train;

//===----------------------------------------------------------------------===//
// What bits depend on
//===----------------------------------------------------------------------===//

int64_t Run::updatesAfter(int64_t step) const {
  const artifact::Program *program = metadata().findProgram(options.program);
  bool isStashed =
      program && program->asynchronous == artifact::Asynchronous::stashed;
  return isStashed ? step * metadata().microbatches : step;
}

/// "2,3,2": of the model, by stage.
static std::string piecesOf(const artifact::Program &program) {
  std::vector<int32_t> pieces(static_cast<size_t>(program.stages));
  for (const artifact::Chunk &chunk : program.chunks)
    pieces[static_cast<size_t>(chunk.stage)] += chunk.pieces;
  std::string text;
  for (int32_t count : pieces)
    text += (text.empty() ? "" : ",") + std::to_string(count);
  return text;
}

/// Which parameters a step uses.
static std::string ruleOf(const artifact::Program &program) {
  switch (program.asynchronous) {
  case artifact::Asynchronous::none:
    return "waits for updates";
  case artifact::Asynchronous::doubleBuffered:
    return "uses the parameters before the last update";
  case artifact::Asynchronous::stashed:
    return "updates after each microbatch, with stages of " +
           piecesOf(program) + " pieces";
  }
  return "";
}

std::vector<std::string> Run::optionsOfCheckpoint() const {
  std::vector<std::string> lines;
  std::istringstream text(optionsOfBits());
  for (std::string line; std::getline(text, line);)
    lines.push_back(line);
  // The rate goes down until the last step.
  if (options.rates.dependsOnSteps())
    lines.push_back("--steps " + std::to_string(options.steps));
  lines.push_back("model " + metadata().fingerprint);
  std::string frozen;
  for (const artifact::Parameter &param : metadata().params)
    if (param.frozen)
      frozen += (frozen.empty() ? "" : ",") + param.name;
  if (!frozen.empty())
    lines.push_back("--freeze " + frozen);
  lines.push_back("target " + metadata().target);
  if (options.program == "reference")
    lines.push_back("program reference");
  lines.push_back("microbatches " + std::to_string(metadata().microbatches));
  if (int32_t weight = metadata().lossWeight)
    lines.push_back("loss-weight " + metadata().results[weight].name);
  for (const artifact::Batch &batch : metadata().batches)
    if (!batch.lossWeight)
      lines.push_back("microbatch-of-" + batch.name + " " +
                      data::describe(batch.type, batch.shape));
  const artifact::Program *program = metadata().findProgram(options.program);
  if (!program)
    return lines;
  lines.push_back("replicas " + std::to_string(program->replicas));
  std::string widths;
  for (int32_t width : program->stageReplicas)
    widths += (widths.empty() ? "" : ",") + std::to_string(width);
  lines.push_back("stage-replicas " + (widths.empty() ? "none" : widths));
  lines.push_back("schedule " + ruleOf(*program));
  return lines;
}

/// The name in "NAME VALUE", and of data in "--data NAME=VALUE".
static std::string nameOf(const std::string &line) {
  return line.substr(0, line.find(line.starts_with("--data ") ? '=' : ' '));
}

/// What is another in the checkpoint, of what bits depend on.
std::string Run::differencesFromCheckpoint() const {
  std::vector<std::string> mine = optionsOfCheckpoint();
  std::string text;
  auto add = [&](const std::string &difference) {
    text += (text.empty() ? "" : "; ") + difference;
  };
  auto findIn = [](const std::vector<std::string> &lines,
                   const std::string &name) {
    return std::find_if(
        lines.begin(), lines.end(),
        [&](const std::string &line) { return nameOf(line) == name; });
  };
  const std::vector<std::string> &before = resumed->index().options;
  for (const std::string &line : mine) {
    auto it = findIn(before, nameOf(line));
    if (it == before.end())
      add(line + " is new");
    else if (*it != line)
      add(line + ", it was" + it->substr(nameOf(line).size()));
  }
  for (const std::string &line : before)
    if (findIn(mine, nameOf(line)) == mine.end())
      add("it was " + line);
  return text;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// Whether this model and its optimiser can go on from the checkpoint.
Status Run::checkCheckpoint() const {
  std::string where = "'" + resumed->path() + "' ";
  const data::CheckpointIndex &index = resumed->index();
  bool isOtherState = index.optimizer != metadata().optimizer ||
                      index.errorFeedback != metadata().errorFeedback;
  // Parameters are evaluated whatever updates them.
  if (isOtherState && !options.evaluates)
    return Status::error(
        where + "is of the optimiser " +
        describeOptimizer(index.optimizer, index.errorFeedback) + ", and '" +
        options.artifact + "' has " +
        describeOptimizer(metadata().optimizer, metadata().errorFeedback) +
        "; compile it with --optimizer " + std::string(name(index.optimizer)) +
        (index.errorFeedback ? " --error-feedback" : "") +
        ", or start anew from its parameters: veeline export writes them for "
        "--init");
  for (const artifact::Parameter &param : metadata().params) {
    const data::CheckpointParam *found = resumed->findParam(param.name);
    if (!found)
      return Status::error(where + "is of another model, '" + index.model +
                           "': it has no parameter '" + param.name +
                           "', which '" + options.artifact + "' has");
    if (found->frozen && !param.frozen && !options.evaluates &&
        !stateShapes(index.optimizer, index.errorFeedback, param.shape).empty())
      return Status::error(
          where + "has no state of the optimiser for '" + param.name +
          "', which is frozen there and trained in '" + options.artifact +
          "'; compile it with --freeze, or start anew from its parameters: "
          "veeline export writes them for --init");
    if (found->type != param.type || found->shape != param.shape)
      return Status::error(where + "is of another model, '" + index.model +
                           "': its '" + param.name + "' is " +
                           data::describe(found->type, found->shape) +
                           ", that of '" + options.artifact + "' is " +
                           data::describe(param.type, param.shape));
  }
  for (const data::CheckpointParam &param : index.params)
    if (std::none_of(metadata().params.begin(), metadata().params.end(),
                     [&](const artifact::Parameter &mine) {
                       return mine.name == param.name;
                     }))
      return Status::error(where + "is of another model, '" + index.model +
                           "': '" + options.artifact + "' has no parameter '" +
                           param.name + "'");
  return Status::success();
}

Expected<std::unique_ptr<data::Checkpoint>>
train::openToResume(const Options &options) {
  Expected<std::unique_ptr<data::Checkpoint>> opened =
      data::Checkpoint::open(options.resume);
  return opened.ok() ? std::move(opened)
                     : Status::error("--resume: " + opened.message());
}

void train::resolveContinue(Options &options) {
  if (options.continues && !data::listCheckpoints(options.checkpoint).empty())
    options.resume = options.checkpoint;
}

/// Opens what --resume gives, and goes to its place in the data.
Status Run::openCheckpoint() {
  if (options.resume.empty())
    return Status::success();
  VEELINE_TRY_VALUE(resumed, openToResume(options));
  VEELINE_TRY(checkCheckpoint());
  if (options.evaluates)
    return Status::success();
  inputs->setPositions(stepsBefore() + 1, resumed->index().data);
  if (std::string differences = differencesFromCheckpoint();
      !differences.empty() && (!place || place->rank == 0))
    say("training goes on with other options than those of '" +
        resumed->path() +
        "', so its bits may not be those of a run that did not stop: " +
        differences);
  return Status::success();
}
