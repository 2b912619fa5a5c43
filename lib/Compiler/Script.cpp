//===- Script.cpp - compiling with a transform script ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Script.h"

#include "Diagnostics.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/Support/FileUtilities.h"
#include "veeline/Dialect/Pipe/TransformOps/PipeTransformOps.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/Steps.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;
using pipe::PipelineOp;

void compiler::dropScripts(ModuleOp module) {
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (isa<transform::TransformDialect>(op.getDialect()))
      op.erase();
  module->removeAttr(transform::TransformDialect::kWithNamedSequenceAttrName);
}

//===----------------------------------------------------------------------===//
// The progress of the script
//===----------------------------------------------------------------------===//

static bool hasMessages(ArrayRef<pipe::ProgramOp> programs) {
  return llvm::any_of(programs, [](pipe::ProgramOp program) {
    return program
        .walk([](Operation *op) {
          return isa<pipe::SendOp, pipe::RecvOp, pipe::AllReduceOp,
                     pipe::AllGatherOp, pipe::CopyOp>(op)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  });
}

static Progress getProgress(PipelineOp pipeline) {
  SmallVector<pipe::ProgramOp> programs = pipe::getPrograms(pipeline);
  if (!programs.empty())
    return hasMessages(programs) ? Progress::Messages : Progress::Programs;
  auto chunks = pipeline.getChunks();
  if (llvm::any_of(chunks, [](pipe::ChunkOp chunk) {
        return chunk.getBackwardWeight().has_value();
      }))
    return Progress::Split;
  return llvm::any_of(
             chunks,
             [](pipe::ChunkOp chunk) { return chunk.getForward().has_value(); })
             ? Progress::Functions
             : Progress::Chunks;
}

/// Returns the only pipeline of the module, not counting its copy on one rank.
/// Null if there is none yet. Fails if there are others.
static FailureOr<PipelineOp> findPipeline(ModuleOp module) {
  PipelineOp found;
  for (auto pipeline : module.getOps<PipelineOp>()) {
    if (!found) {
      found = pipeline;
    } else if (pipeline.getSymName() !=
               (found.getSymName() + "_sequential").str()) {
      InFlightDiagnostic error =
          pipeline.emitError("an artifact has one pipeline, and the script "
                             "makes two; partition the model alone");
      error.attachNote(found.getLoc()) << "the other one";
      return failure();
    }
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Contradictions
//===----------------------------------------------------------------------===//

namespace {
/// Something that either the script or the command line decides.
struct Decision {
  /// The progress of a script that has decided it.
  Progress by;
  const char *done, *op;
  std::initializer_list<const char *> options;
};
} // namespace

static const Decision decisions[] = {
    {Progress::Chunks,
     "cuts the model",
     "partition",
     {"stages", "chunks-per-stage", "placement", "partition", "profile",
      "stage-replicas", "clip-sync", "memory-limit", "evaluation"}},
    {Progress::Functions,
     "differentiates the model",
     "differentiate",
     {"recompute"}},
    {Progress::Split,
     "splits backwards",
     "split_backward",
     {"recompute-ahead"}},
    {Progress::Programs,
     "makes the schedule",
     "schedule",
     {"schedule", "objective", "microbatches", "replicas", "shard-optimizer",
      "offload"}},
    {Progress::Messages,
     "inserts messages",
     "insert_communication",
     {"communication", "split-messages"}}};

/// Fails if an option was given for something that the script does.
static LogicalResult checkGiven(const CompileCommand &command,
                                Progress progress) {
  for (const Decision &decision : decisions)
    for (StringRef option : decision.options) {
      if (progress < decision.by ||
          !llvm::is_contained(command.given, option.str()))
        continue;
      if (option == "evaluation")
        return printError("--evaluation: forwards alone are cut as the options "
                          "say, and '" +
                          command.script +
                          "' cuts the model itself; leave one of them out");
      return printError("--" + option.str() + ": '" + command.script + "' " +
                        decision.done + " itself (transform.pipe." +
                        decision.op + "); leave the option out, or that op");
    }
  return success();
}

/// Fails if the script has an op for another target than that of the command.
static LogicalResult checkTarget(ModuleOp script,
                                 const CompileCommand &command) {
  WalkResult result = script.walk([&](pipe::script::DifferentiateOp op) {
    if (op.getKernels() == command.target)
      return WalkResult::advance();
    op.emitOpError() << "is for kernels = \"" << op.getKernels()
                     << "\", and --target says " << command.target;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult checkPurpose(PipelineOp pipeline, Progress progress,
                                  const CompileCommand &command) {
  if (progress < Progress::Functions ||
      pipe::isForwardOnly(pipeline) == command.forwardOnly)
    return success();
  return pipeline.emitError()
         << (command.forwardOnly
                 ? "--forward-only compiles forwards alone, and the script "
                   "makes backwards; differentiate with forward_only"
                 : "the script makes forwards alone; compile with "
                   "--forward-only");
}

//===----------------------------------------------------------------------===//
// Running the script
//===----------------------------------------------------------------------===//

/// Sets in `command` what the pipeline of the script has.
static void takeOver(PipelineOp pipeline, Progress progress,
                     CompileCommand &command) {
  command.stages = pipeline.getStages();
  command.chunksPerStage = pipeline.getChunksPerStage();
  command.placement = pipe::stringifyPlacement(pipeline.getPlacement()).str();
  command.clipSync = "none";
  if (std::optional<pipe::ClipSync> sync = pipeline.getClipSync())
    command.clipSync = pipe::stringifyClipSync(*sync).str();
  if (auto widths = pipeline.getStageReplicas())
    command.stageReplicas.assign(widths->begin(), widths->end());
  if (progress < Progress::Programs)
    return;
  command.microbatches = pipeline.getMicrobatches().value_or(1);
  command.replicas = pipeline.getReplicas();
  command.schedule = pipeline.getSchedule().value_or(command.schedule).str();
  command.shardOptimizer = pipeline.getShardOptimizer();
}

/// Reads the module of the script. Prints a message if the file is bad.
static OwningOpRef<ModuleOp> readScript(MLIRContext *context,
                                        const std::string &path) {
  OwningOpRef<ModuleOp> script;
  std::string problem;
  if (!openInputFile(path, &problem))
    (void)printError("--script: " + problem);
  else
    (void)transform::detail::parseTransformModuleFromFile(context, path,
                                                          script);
  return script;
}

/// The entry point of the script, or null after a message.
static transform::NamedSequenceOp findEntry(ModuleOp script,
                                            const std::string &path) {
  constexpr StringLiteral name =
      transform::TransformDialect::kTransformEntryPointSymbolName;
  transform::NamedSequenceOp entry;
  script.walk([&](transform::NamedSequenceOp op) {
    if (!entry && op.getSymName() == name)
      entry = op;
  });
  if (!entry || entry.isExternal()) {
    (void)printError("--script: '" + path +
                     "' has no transform.named_sequence @" + name +
                     " with a body, which is where a script begins");
    return {};
  }
  if (unsigned found = entry.getNumArguments(); found != 1) {
    entry.emitOpError() << "of a script (--script) takes one argument, the "
                           "module of the model, found "
                        << found;
    return {};
  }
  return entry;
}

/// Runs the script. Errors about the model are reported at the model's place,
/// with a note at the place in the script.
static LogicalResult apply(transform::NamedSequenceOp entry, ModuleOp module,
                           const std::string &path) {
  ScopedDiagnosticHandler note(
      module.getContext(), [&](Diagnostic &diagnostic) {
        auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
        bool isOfScript = place && place.getFilename() == path;
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
            !isOfScript)
          diagnostic.attachNote(entry.getLoc())
              << "in what this script does (--script)";
        return failure();
      });
  return transform::applyTransformNamedSequence(module, entry, ModuleOp(),
                                                transform::TransformOptions());
}

FailureOr<Progress> compiler::runScript(ModuleOp module,
                                        CompileCommand &command) {
  OwningOpRef<ModuleOp> script =
      readScript(module.getContext(), command.script);
  transform::NamedSequenceOp entry =
      script ? findEntry(*script, command.script) : nullptr;
  if (!entry || failed(checkTarget(*script, command)) ||
      failed(apply(entry, module, command.script)))
    return failure();
  FailureOr<PipelineOp> pipeline = findPipeline(module);
  if (failed(pipeline))
    return failure();
  if (!*pipeline)
    return Progress::Whole;
  Progress progress = getProgress(*pipeline);
  if (failed(checkGiven(command, progress)) ||
      failed(checkPurpose(*pipeline, progress, command)))
    return failure();
  takeOver(*pipeline, progress, command);
  return progress;
}
