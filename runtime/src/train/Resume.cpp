//===- Resume.cpp - going on from a checkpoint ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "Train.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <sstream>

using namespace veeline;
using namespace veeline::train;

//===----------------------------------------------------------------------===//
// Options on which bits depend
//===----------------------------------------------------------------------===//

int64_t Run::updatesAfter(int64_t step) const {
  const artifact::Program *program = metadata().findProgram(options.program);
  bool isStashed =
      program && program->asynchronous == artifact::Asynchronous::stashed;
  return isStashed ? step * metadata().microbatches : step;
}

/// Returns the number of chunks on each stage, as in "2,3,2".
static std::string piecesOf(const artifact::Program &program) {
  std::vector<int32_t> pieces(static_cast<size_t>(program.stages));
  for (const artifact::Chunk &chunk : program.chunks)
    pieces[static_cast<size_t>(chunk.stage)] += chunk.pieces;
  std::string text;
  for (int32_t count : pieces)
    text += (text.empty() ? "" : ",") + std::to_string(count);
  return text;
}

/// Returns which parameters a step uses.
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

/// The greatest number of ranks that add up gradients together.
static int32_t mostMembers(const artifact::Program &program) {
  int32_t widest = 1;
  for (int32_t width : program.stageReplicas)
    widest = std::max(widest, width);
  return widest * program.replicas;
}

std::vector<std::string> Run::optionsOfCheckpoint() const {
  std::vector<std::string> lines;
  std::istringstream text(optionsOfBits());
  for (std::string line; std::getline(text, line);)
    lines.push_back(line);
  // The rate decreases until the last step, so it depends on their number.
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
  // NCCL adds two contributions as anybody does.
  if (network && metadata().target == "cuda" && program->sums == Sums::nccl &&
      mostMembers(*program) > 2)
    lines.push_back("sums nccl");
  return lines;
}

/// Returns the name in "NAME VALUE"; for data, the part before "=" in "--data
/// NAME=VALUE".
static std::string nameOf(const std::string &line) {
  return line.substr(0, line.find(line.starts_with("--data ") ? '=' : ' '));
}

/// Returns the options on which bits depend and that differ from those of the
/// checkpoint.
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

/// Checks that this model and its optimiser can continue from the checkpoint.
Status Run::checkCheckpoint() const {
  std::string where = "'" + resumed->path() + "' ";
  const data::CheckpointIndex &index = resumed->index();
  bool isOtherState = index.optimizer != metadata().optimizer ||
                      index.errorFeedback != metadata().errorFeedback;
  // Parameters can be evaluated whatever updates them.
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
train::openToResume(const Options &options, int64_t last,
                    std::vector<data::Damage> &damages) {
  if (options.continues) {
    auto opened = data::Checkpoint::openLastGood(options.resume, last, damages);
    return opened.ok() ? std::move(opened)
                       : Status::error("--continue: " + opened.message());
  }
  auto opened = data::Checkpoint::open(options.resume);
  return opened.ok()
             ? std::move(opened)
             : Status::error((options.evaluates ? "--init: " : "--resume: ") +
                             opened.message());
}

void train::resolveContinue(Options &options) {
  if (!options.continues)
    return;
  auto steps = data::listCheckpoints(options.checkpoint);
  // Opening it says why it cannot be read.
  if (!steps.ok() || !steps->empty())
    options.resume = options.checkpoint;
}

/// Opens what --resume gives, or --continue up to step `last`, and goes to its
/// place in the data.
Status Run::openCheckpoint(int64_t last) {
  if (options.resume.empty())
    return Status::success();
  VEELINE_TRY_VALUE(resumed, openToResume(options, last, damages));
  VEELINE_TRY(checkCheckpoint());
  if (!options.evaluates)
    inputs->setPositions(stepsBefore() + 1, resumed->index().data);
  return Status::success();
}

/// Says what the user has to know of the checkpoint.
void Run::tellOfCheckpoint() {
  if (!resumed || options.evaluates)
    return;
  if (!damages.empty()) {
    std::string text;
    for (const data::Damage &damage : damages)
      text += (text.empty() ? "checkpoint '" : "; '") +
              data::checkpointPath(options.checkpoint, damage.step) +
              "' is damaged: " + damage.what;
    int64_t lost = damages.front().step - stepsBefore();
    say(text + "; training goes on from the last good one, '" +
        resumed->path() + "', and runs " + std::to_string(lost) +
        (lost == 1 ? " step" : " steps") + " again");
  }
  std::string differences = differencesFromCheckpoint();
  if (!differences.empty())
    say("training goes on with other options than those of '" +
        resumed->path() +
        "', so its bits may not be those of a run that did not stop: " +
        differences);
}

//===----------------------------------------------------------------------===//
// Between processes
//===----------------------------------------------------------------------===//

/// What a process tells the others of its checkpoint: its step, a word that
/// describes it, and in further lines what is wrong with later ones, the last
/// one first.
std::string Run::describeCheckpoint() const {
  std::string text = std::to_string(stepsBefore()) + " " +
                     (resumed ? resumed->describe() : "none") + "\n";
  for (const data::Damage &damage : damages) {
    std::string what = damage.what;
    std::replace(what.begin(), what.end(), '\n', ' ');
    text += std::to_string(damage.step) + " " + what + "\n";
  }
  return text;
}

/// Adds what another process has found wrong, unless this one has, too.
void Run::addDamages(size_t rank, const std::string &described) {
  std::istringstream lines(described);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    int64_t step = std::strtoll(line.c_str(), nullptr, 10);
    if (std::ranges::find(damages, step, &data::Damage::step) != damages.end())
      continue;
    damages.push_back(
        {step, "rank " + std::to_string(rank) + ": " +
                   line.substr(std::min(line.find(' '), line.size() - 1) + 1)});
  }
  std::ranges::sort(damages, std::ranges::greater(), &data::Damage::step);
}

/// With --continue, processes may find different checkpoints damaged. All take
/// the last one that is good for all.
Status Run::agreeOnCheckpoint() {
  if (!options.continues || !network)
    return Status::success();
  for (;;) {
    VEELINE_TRY_VALUE(auto all, network->exchange(describeCheckpoint()));
    int64_t least = stepsBefore(), most = stepsBefore();
    for (size_t rank = 0; rank < all.size(); ++rank) {
      int64_t step = std::strtoll(all[rank].c_str(), nullptr, 10);
      least = std::min(least, step);
      most = std::max(most, step);
      addDamages(rank, all[rank]);
    }
    if (least == most)
      return checkSame(all);
    if (least == 0)
      return Status::error(
          "--continue: some processes find no checkpoint in '" +
          options.checkpoint + "', and others that of step " +
          std::to_string(most) +
          "; all processes have to find the same folder there");
    if (stepsBefore() != least) {
      VEELINE_TRY(openCheckpoint(least));
      VEELINE_TRY(planSteps());
    }
  }
}

/// Whether checkpoints of one step are one checkpoint.
Status Run::checkSame(const std::vector<std::string> &described) const {
  for (const std::string &other : described)
    if (other.substr(0, other.find('\n')) !=
        described[0].substr(0, described[0].find('\n')))
      return Status::error("--continue: processes find different checkpoints "
                           "of step " +
                           std::to_string(stepsBefore()) + " in '" +
                           options.checkpoint +
                           "'; all processes have to find the same folder "
                           "there");
  return Status::success();
}
