//===- Model.cpp - a model file and its context ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "veeline/Compiler/Compiler.h"
#include "veeline/Dialect/Pipe/Transforms/Joint.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Import/Parse.h"
#include "veeline/Import/Passes.h"
#include "veeline/InitAll.h"
#include "veeline/Schedule/Formats/Formats.h"
#include "veeline/artifact.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;

static DialectRegistry createRegistry(const DialectRegistry &more) {
  DialectRegistry registry;
  veeline::registerEveryDialect(registry);
  more.appendTo(registry);
  return registry;
}

struct Model::Implementation {
  /// If `shared` is null, the model has a context of its own.
  Implementation(const DialectRegistry &more, MLIRContext *shared)
      : context(shared) {
    if (!shared) {
      own.emplace(createRegistry(more));
      context = &*own;
    } else {
      shared->appendDialectRegistry(createRegistry(more));
    }
    // The place in the user's file is more useful than a page of our own IR.
    printedOps = context->shouldPrintOpOnDiagnostic();
    context->printOpOnDiagnostic(false);
    // A shared context has the handlers of its owner.
    if (!shared)
      printed.emplace(sourceManager, context);
    sourceManager.setDiagHandler(printShort);
    told.emplace(context, [](Diagnostic &diagnostic) {
      MessageCapture *capture = MessageCapture::get();
      bool passes = !capture || capture->handle(toMessage(diagnostic));
      return success(!passes);
    });
  }
  ~Implementation() { context->printOpOnDiagnostic(printedOps); }

  std::optional<MLIRContext> own;
  MLIRContext *context;
  bool printedOps;
  llvm::SourceMgr sourceManager;
  /// `told` passes a message to whoever captures messages, then `printed`
  /// prints it to standard error.
  std::optional<SourceMgrDiagnosticHandler> printed;
  std::optional<ScopedDiagnosticHandler> told;
};

Model::Model(const DialectRegistry &more)
    : implementation(std::make_unique<Implementation>(more, nullptr)) {}
Model::Model(ModuleOp original)
    : implementation(std::make_unique<Implementation>(DialectRegistry(),
                                                      original.getContext())),
      module(original.clone()) {}
Model::~Model() { module = nullptr; }

MLIRContext &Model::getContext() { return *implementation->context; }

/// What a file is that has one of these endings, and which command takes it.
static constexpr std::pair<const char *, const char *> otherFiles[] = {
    {".safetensors", "a file of parameters: veeline train --init and veeline "
                     "eval --init read it"},
    {".yaml", "a job: veeline run runs it"},
    {".yml", "a job: veeline run runs it"},
    {".npy", "data: veeline train --data reads it"}};

LogicalResult Model::load(const std::string &path) {
  if (artifact::isArtifact(path))
    return printError(
        "'" + path +
        "' is no model but an artifact, compiled already: train it with "
        "veeline train, or look into it with veeline inspect");
  for (auto [ending, what] : otherFiles)
    if (llvm::StringRef(path).ends_with(ending) && llvm::sys::fs::exists(path))
      return printError("'" + path + "' is no model but " + what);
  if (schedule::readScheduleFile(path))
    return printError("'" + path +
                      "' is no model but a schedule: give it with --schedule "
                      "file:" +
                      path +
                      " to veeline compile, beside a model, or to veeline "
                      "schedule");
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(path, &message);
  if (!file)
    return printError(message);
  return parse(std::move(file));
}

LogicalResult Model::parse(std::unique_ptr<llvm::MemoryBuffer> text) {
  implementation->sourceManager.AddNewSourceBuffer(std::move(text), {});
  module = parseModel(implementation->sourceManager, getContext());
  if (!module)
    return failure();
  // Errors about the file as a whole are reported at its first line.
  Operation *root = module->getOperation();
  auto place = dyn_cast<FileLineColLoc>(root->getLoc());
  if (place && place.getLine() == 0)
    root->setLoc(FileLineColLoc::get(place.getFilename(), 1, 1));
  return success();
}

/// The first function that follows the input contract, that is, has arguments
/// that declare what they are. Null if there is none.
static func::FuncOp findContract(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (followsContract(function))
      return function;
  return {};
}

/// Whether there are ops that chunks must not contain and that the import
/// lowers.
static bool needsLowering(ModuleOp module) {
  WalkResult found = module.walk([](Operation *op) {
    bool isLowered =
        isa<tosa::TosaDialect>(op->getDialect()) ||
        isa<func::CallOp, linalg::PackOp, linalg::UnPackOp, tensor::GatherOp,
            tensor::GenerateOp, tensor::ScatterOp>(op);
    return isLowered ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

/// Refuses options for properties that the model declares itself.
static LogicalResult verifyOptions(func::FuncOp model,
                                   const ImportCommand &command) {
  if (!command.freeze.empty() || !command.buffer.empty() ||
      !command.loss.empty() || command.result || command.microbatchSize != 1 ||
      !command.retype.empty())
    if (failed(pipe::refuseJoint(model, "--freeze, --buffer, --loss, --result, "
                                        "--microbatch-size or --retype")))
      return failure();
  if (!command.params.empty())
    return model.emitError()
           << "--params chooses among arguments that do not say what they are, "
              "and those of this model do; write 'pipe.param' on those that "
              "are to be trained, and --freeze leaves some of them out";
  auto returnsLoss = [&] {
    auto type = model.getNumResults() == 0
                    ? RankedTensorType()
                    : dyn_cast<RankedTensorType>(model.getResultTypes()[0]);
    return type && type.getRank() == 0 && isa<FloatType>(type.getElementType());
  };
  if (!command.loss.empty() && !command.result && returnsLoss())
    return model.emitError()
           << "--loss makes a loss of a result, and the first result of this "
              "model is one already; leave it out, or choose another result by "
              "--result";
  return success();
}

/// If a function also computes gradients, separates the model from it.
static LogicalResult separateJoint(ModuleOp module, const std::string &entry) {
  if (llvm::none_of(module.getOps<func::FuncOp>(), pipe::isJoint))
    return success();
  pipe::PipeSeparateJointOptions options;
  options.entry = entry;
  PassManager passManager(module.getContext());
  passManager.addPass(pipe::createPipeSeparateJoint(options));
  return passManager.run(module);
}

/// Marks the arguments and results of a joint function. Returns the options
/// that are left.
static FailureOr<ImportCommand> importJoint(ModuleOp module,
                                            ImportCommand command) {
  if (func::FuncOp contract = findContract(module))
    return contract.emitError()
           << "--joint says what the results of a model are, and those of this "
              "one say it themselves; leave out --joint and --params";
  PipeImportJointOptions options;
  llvm::append_range(options.params, command.params);
  llvm::append_range(options.buffer, command.buffer);
  options.results = command.joint;
  PassManager passManager(module.getContext());
  passManager.addPass(createPipeImportJoint(options));
  command.params.clear();
  command.buffer.clear();
  command.joint.clear();
  if (failed(passManager.run(module)))
    return failure();
  return command;
}

LogicalResult Model::import(const ImportCommand &command, bool quiet,
                            bool forwardOnly) {
  if (!command.joint.empty()) {
    FailureOr<ImportCommand> left = importJoint(*module, command);
    return failed(left) ? failure() : import(*left, quiet, forwardOnly);
  }
  if (func::FuncOp contract = findContract(*module)) {
    if (failed(verifyOptions(contract, command)))
      return failure();
    if (command.freeze.empty() && command.buffer.empty() &&
        command.loss.empty() && !command.result &&
        command.microbatchSize == 1 && command.retype.empty() &&
        !needsLowering(*module))
      return separateJoint(*module, command.entry);
  }
  // Print a remark as one line for each argument. The lines of a generated file
  // would add nothing.
  ScopedDiagnosticHandler remarks(&getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Remark)
      return failure();
    if (quiet)
      return success();
    if (MessageCapture::get())
      return failure();
    printRemark(diagnostic.str());
    return success();
  });
  PassManager passManager(&getContext());
  buildImportPipeline(
      passManager,
      {command.entry, command.params, command.freeze, command.buffer,
       command.loss, command.result.value_or(anyResult), command.microbatchSize,
       command.retype, command.verbose, forwardOnly});
  if (failed(passManager.run(*module)))
    return failure();
  return separateJoint(*module, command.entry);
}
