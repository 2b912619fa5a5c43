//===- ToPrograms.cpp - from schedules to programs ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Translations.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleFile.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/Steps.h"
#include "veeline/InitAll.h"
#include "veeline/Schedule/Formats/Formats.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace veeline;
using schedule::ImportedSchedule;

/// A model of one number, which each chunk multiplies by a parameter.
static std::string writeModel(int chunks) {
  std::string text, arguments;
  llvm::raw_string_ostream body(text), head(arguments);
  std::string value = "%x";
  for (int chunk = 0; chunk < chunks; ++chunk) {
    head << ", %w" << chunk << ": tensor<1xf32> {pipe.param = #pipe.param<\"w"
         << chunk << "\", init = ones>}";
    body << "  %p" << chunk << " = arith.mulf " << value << ", %w" << chunk
         << " : tensor<1xf32>\n";
    value = "%p" + std::to_string(chunk);
    if (chunk + 1 == chunks)
      continue;
    body << "  %h" << chunk << " = pipe.boundary " << value
         << " : tensor<1xf32>\n";
    value = "%h" + std::to_string(chunk);
  }
  body << "  %loss = tensor.collapse_shape " << value
       << " [] : tensor<1xf32> into tensor<f32>\n"
       << "  return %loss : tensor<f32>\n";
  return "func.func @model(%x: tensor<1xf32> {pipe.batch = \"x\"}" + arguments +
         ") -> tensor<f32> {\n" + text + "}\n";
}

/// Cuts the model into the chunks of the schedule, and differentiates it.
static LogicalResult makeChunks(ModuleOp module, const ImportedSchedule &file) {
  const schedule::Placement &placement = file.placement;
  PassManager passManager(module.getContext());
  pipe::PipePartitionOptions options;
  options.stages = placement.stages();
  options.chunksPerStage = placement.chunksPerStage();
  options.placement = schedule::toString(placement.kind());
  options.pieces.assign(placement.chunks(), 1);
  options.stageReplicas.assign(file.widths.begin(), file.widths.end());
  passManager.addPass(pipe::createPipePartition(options));
  passManager.addPass(pipe::createPipeDifferentiate());
  if (file.schedule.splitsBackward())
    passManager.addPass(pipe::createPipeSplitBackward());
  return passManager.run(module);
}

/// Builds the programs of a schedule from `path`. `where` is its location.
static OwningOpRef<Operation *> build(const ImportedSchedule &file,
                                      const std::string &path, Location where) {
  if (file.placement.kind() == schedule::PlacementKind::List) {
    emitError(where) << "the chunks are not placed linear, interleaved, v or "
                        "wave, which are the placements of pipelines";
    return {};
  }
  MLIRContext *context = where.getContext();
  // Errors do not print ops, because the author of the order has never seen
  // this model.
  context->printOpOnDiagnostic(false);
  auto module =
      parseSourceString<ModuleOp>(writeModel(file.placement.chunks()), context);
  if (!module || failed(makeChunks(*module, file)))
    return {};
  // Errors are reported at the pipeline, so its location becomes that of the
  // file.
  module->walk([&](Operation *op) { op->setLoc(where); });
  auto pipeline = *module->getOps<pipe::PipelineOp>().begin();
  SymbolTableCollection symbols;
  pipe::ScheduleGoal goal;
  // This model keeps nothing, so nothing can be offloaded.
  ImportedSchedule order = file;
  if (!order.schedule.offloads.empty())
    emitWarning(where)
        << "what the schedule offloads is left out: the programs "
           "are of a model that keeps nothing for backwards";
  order.schedule.offloads.clear();
  goal.order = &order;
  if (failed(pipe::schedulePipeline(pipeline, "file:" + path, goal,
                                    file.microbatches, symbols)))
    return {};
  return OwningOpRef<Operation *>(module.release());
}

/// Reports the error of a reader. It may begin with "file:line:column: ".
static void report(const std::string &message, const std::string &path,
                   MLIRContext *context) {
  StringRef text = message;
  unsigned line = 1, column = 1;
  if (text.consume_front(path + ":")) {
    StringRef rest = text;
    bool hasPlace = !rest.consumeInteger(10, line) && rest.consume_front(":") &&
                    !rest.consumeInteger(10, column) && rest.consume_front(":");
    text = hasPlace ? rest : text;
  }
  emitError(FileLineColLoc::get(context, path, line, column)) << text.ltrim();
}

using Reader = schedule::Expected<ImportedSchedule>(std::string_view text,
                                                    const std::string &file);

static void registerReader(StringRef name, StringRef description,
                           Reader *read) {
  TranslateToMLIRRegistration(
      name, description,
      [read](llvm::SourceMgr &sources,
             MLIRContext *context) -> OwningOpRef<Operation *> {
        const llvm::MemoryBuffer *buffer =
            sources.getMemoryBuffer(sources.getMainFileID());
        std::string path = buffer->getBufferIdentifier().str();
        auto file = read(buffer->getBuffer(), path);
        if (file)
          return build(*file, path, FileLineColLoc::get(context, path, 1, 1));
        report(file.error().message, path, context);
        return {};
      },
      [](DialectRegistry &registry) {
        veeline::registerEveryDialect(registry);
      });
}

void veeline::translate::registerToPrograms() {
  registerReader("csv-to-programs",
                 "An order in .csv as programs of a small model",
                 schedule::readCsv);
  registerReader("json-to-programs",
                 "An order in .json as programs of a small model",
                 schedule::readJson);
}
