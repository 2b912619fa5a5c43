//===- FromPrograms.cpp - from programs to schedules ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Translations.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/InitAll.h"
#include "veeline/Schedule/Formats/CommunicationCells.h"
#include "veeline/Schedule/Formats/Formats.h"
#include "veeline/Schedule/Loop.h"
#include "veeline/Schedule/Text.h"

#include <array>

using namespace mlir;
using namespace veeline;

/// The pipeline for training: the first one with programs. Null after a
/// diagnostic.
static pipe::PipelineOp findPipeline(ModuleOp module) {
  pipe::PipelineOp last;
  for (auto pipeline : module.getOps<pipe::PipelineOp>()) {
    if (!pipe::getPrograms(pipeline).empty())
      return pipeline;
    last = pipeline;
  }
  if (last)
    last.emitOpError() << "has no programs, which say the schedule; run "
                          "--pipe-schedule first";
  else
    module.emitError() << "there is no pipe.pipeline; run --pipe-partition, "
                          "--pipe-differentiate and --pipe-schedule first";
  return {};
}

/// Reads the schedule of a module's programs, and the times that the costs of
/// its chunks predict.
static FailureOr<schedule::Solution> readSolution(Operation *op) {
  // An error has a place. Printing the whole module after it would hide that.
  op->getContext()->printOpOnDiagnostic(false);
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    return op->emitError("expected a module");
  pipe::PipelineOp pipeline = findPipeline(module);
  if (!pipeline)
    return failure();
  SymbolTableCollection symbols;
  auto problem = pipe::buildProblem(
      pipeline, pipeline.getMicrobatches().value_or(1), symbols);
  if (failed(problem))
    return failure();
  schedule::Schedule order =
      pipe::readSchedule(pipeline, pipe::getPrograms(pipeline));
  order.name = pipeline.getSchedule().value_or("").str();
  auto solution = schedule::solve(*problem, std::move(order));
  if (!solution)
    return pipeline.emitOpError() << solution.error().str();
  return std::move(*solution);
}

namespace {
using Text = schedule::Expected<std::string>;
struct Writer {
  const char *name, *description;
  Text (*write)(const schedule::Solution &solution);
};
} // namespace

/// A cyclic schedule is drawn as a few steps.
static schedule::Solution asPicture(const schedule::Solution &solution) {
  auto steps = schedule::drawn(solution);
  if (steps)
    return std::move(*steps);
  return solution;
}

static constexpr std::array<Writer, 7> writers{{
    {"programs-to-csv", "The order of each rank, for PyTorch's loader",
     [](const schedule::Solution &solution) -> Text {
       return schedule::toCsv(solution.problem, solution.schedule);
     }},
    {"programs-to-comms-csv", "The same with messages",
     [](const schedule::Solution &solution) -> Text {
       return schedule::communication::toCommunicationCsv(solution.problem,
                                                          solution.schedule);
     }},
    {"programs-to-json", "Costs, order and prediction",
     [](const schedule::Solution &solution) -> Text {
       return schedule::toJson(solution);
     }},
    {"programs-to-timeline", "The predicted step as Chrome's trace events",
     [](const schedule::Solution &solution) -> Text {
       return schedule::toChromeTrace(asPicture(solution));
     }},
    {"programs-to-svg", "The predicted step as a picture",
     [](const schedule::Solution &solution) -> Text {
       return schedule::toSvg(asPicture(solution));
     }},
    {"programs-to-html", "The predicted step as a page",
     [](const schedule::Solution &solution) -> Text {
       return schedule::toHtml(std::array{asPicture(solution)});
     }},
    {"programs-to-text", "The predicted step in words",
     [](const schedule::Solution &solution) -> Text {
       return schedule::toText(solution.problem, solution.schedule,
                               solution.simulation);
     }},
}};

void veeline::translate::registerFromPrograms() {
  for (const Writer &writer : writers)
    TranslateFromMLIRRegistration(
        writer.name, writer.description,
        [write = writer.write](Operation *op,
                               raw_ostream &output) -> LogicalResult {
          FailureOr<schedule::Solution> solution = readSolution(op);
          if (failed(solution))
            return failure();
          Text text = write(*solution);
          if (!text)
            return op->emitError() << text.error().str();
          output << *text;
          return success();
        },
        [](DialectRegistry &registry) {
          veeline::registerEveryDialect(registry);
        });
}
