//===- ScheduleFile.cpp - schedules from files ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Dialect/Pipe/Transforms/ScheduleFile.h"

#include "veeline/Base/Text.h"
#include "veeline/Schedule/Formats/Formats.h"
#include "veeline/Schedule/Generators.h"
#include "veeline/Schedule/Offload.h"
#include "veeline/Schedule/Recompute.h"
#include "veeline/Schedule/Text.h"
#include "veeline/Schedule/Widths.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

/// Checks whether steps wait for updates. A file does not say so; it follows
/// from the name of its schedule.
static LogicalResult checkUpdates(PipelineOp pipeline,
                                  const std::string &schedule) {
  auto known = schedule::findGenerator(schedule);
  if (!known || (*known)->semantics == schedule::UpdateSemantics::Synchronous)
    return success();
  return pipeline.emitOpError()
         << "cannot be compiled with an order of schedule '" << schedule
         << "' from a file; take the schedule by its name, or '1f1b', which "
            "has "
            "the same order with a flush";
}

/// Checks the numbers of stages, chunks and microbatches, and the stage of each
/// chunk.
static LogicalResult checkSizes(PipelineOp pipeline, StringRef path,
                                const schedule::Problem &problem,
                                const schedule::ImportedSchedule &file) {
  const schedule::Placement &wanted = problem.placement;
  auto check = [&](const char *one, int found, int expected) -> LogicalResult {
    if (found == expected)
      return success();
    return pipeline.emitOpError() << "has " << counted(expected, one)
                                  << ", but '" << path << "' has " << found;
  };
  if (failed(check("stage", file.placement.stages(), wanted.stages())) ||
      failed(check("chunk", file.placement.chunks(), wanted.chunks())) ||
      failed(check("microbatch", file.microbatches, problem.microbatches)))
    return failure();
  for (int chunk = 0; chunk < wanted.chunks(); ++chunk)
    if (file.placement.stageOf(chunk) != wanted.stageOf(chunk))
      return pipeline.emitOpError()
             << "has placement '" << schedule::toString(wanted.kind())
             << "', where chunk " << chunk << " is on stage "
             << wanted.stageOf(chunk) << ", but in '" << path
             << "' it is on stage " << file.placement.stageOf(chunk)
             << ": that placement is '"
             << schedule::toString(file.placement.kind()) << "'";
  return success();
}

/// If the file has a row for each rank, checks that the pipeline has these
/// ranks.
static LogicalResult checkRanks(PipelineOp pipeline, StringRef path,
                                const schedule::Problem &problem,
                                const schedule::ImportedSchedule &file) {
  if (file.widths.empty() || file.widths == problem.widths)
    return success();
  auto list = [](std::vector<int> widths, int stages) {
    if (widths.empty())
      widths.assign(stages, 1);
    return schedule::ranksNote(widths).substr(2);
  };
  int stages = problem.stages();
  return pipeline.emitOpError()
         << "has " << list(problem.widths, stages) << ", but '" << path
         << "' has rows for " << list(file.widths, stages)
         << "; partition with these as stage-replicas";
}

/// Checks that a rank does one thing after the other.
static LogicalResult checkBlocks(PipelineOp pipeline, StringRef path,
                                 const schedule::Schedule &order,
                                 bool areRanks) {
  for (auto [stage, blocks] : llvm::enumerate(order.overlapped)) {
    if (blocks.empty())
      continue;
    int step = blocks.front();
    return pipeline.emitOpError()
           << "cannot be compiled with the order of '" << path
           << (areRanks ? "': rank " : "': stage ") << stage << ", steps "
           << step << " and " << step + 1 << ": "
           << schedule::describe(order.stages[stage][step]) << " and "
           << schedule::describe(order.stages[stage][step + 1])
           << " run together, and compiled programs run one operation after "
              "the other; write them as two cells";
  }
  return success();
}

FailureOr<schedule::Schedule>
veeline::pipe::importSchedule(PipelineOp pipeline, StringRef path,
                              const schedule::Problem &problem,
                              schedule::Objective objective) {
  auto file = schedule::readScheduleFile(path.str());
  if (!file)
    return pipeline.emitOpError()
           << "has no schedule: " << file.error().message;
  return adoptSchedule(pipeline, path, *file, problem, objective);
}

FailureOr<schedule::Schedule> veeline::pipe::adoptSchedule(
    PipelineOp pipeline, StringRef path, const schedule::ImportedSchedule &file,
    const schedule::Problem &problem, schedule::Objective objective) {
  if (failed(checkUpdates(pipeline, file.schedule.name)) ||
      failed(checkSizes(pipeline, path, problem, file)) ||
      failed(checkRanks(pipeline, path, problem, file)) ||
      failed(checkBlocks(pipeline, path, file.schedule, !file.widths.empty())))
    return failure();
  schedule::Schedule order = schedule::withoutMissing(problem, file.schedule);
  if (!order.offloads.empty() && !schedule::canOffload(problem))
    return pipeline.emitOpError()
           << "cannot run the order of '" << path
           << "', which offloads activations: nothing says how fast copies to "
              "the host's memory are; give that (option offload, or --offload "
              "of veeline compile), or an order without";
  auto check = [&](const schedule::Problem &solved) -> LogicalResult {
    auto status = schedule::verify(solved, order);
    if (status)
      return success();
    return pipeline.emitOpError() << "cannot run the order of '" << path
                                  << "': " << status.error().str();
  };
  if (schedule::runsRecompute(file.schedule) &&
      !schedule::hasRecompute(problem))
    pipeline.emitWarning()
        << "runs the order of '" << path
        << "' without its R: no chunk recomputes ahead of its backward; the "
           "option recompute-ahead compiles chunks that do";
  // Recomputation that the writer of the file did not know is added where it
  // costs the least.
  if (schedule::lacksRecompute(problem, order)) {
    schedule::Problem free = problem;
    free.memoryLimits.clear();
    if (file.widths.empty())
      free.widths.clear();
    if (failed(check(schedule::asOrdered(free, order))))
      return failure();
    auto added = schedule::addRecompute(free, std::move(order), objective);
    if (!added)
      return pipeline.emitOpError() << "cannot run the order of '" << path
                                    << "': " << added.error().str();
    order = std::move(*added);
  }
  if (file.widths.empty() && !problem.widths.empty()) {
    // The file orders stages. So the ranks and limits of these do not matter
    // yet.
    schedule::Problem ofStages = problem;
    ofStages.widths.clear();
    ofStages.memoryLimits.clear();
    if (failed(check(ofStages)))
      return failure();
    order = schedule::spreadOverRanks(problem, order);
  }
  if (failed(check(problem)))
    return failure();
  return order;
}
