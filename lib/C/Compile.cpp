//===- Compile.cpp - models to artifacts, in C ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline-c/Compile.h"

#include "Support.h"
#include "veeline-c/Mlir.h"
#include "veeline/Base/File.h"
#include "veeline/Compiler/Compiler.h"
#include "veeline/Compiler/MachineChoice.h"
#include "veeline/Compiler/Messages.h"
#include "veeline/InitAll.h"
#include "veeline/artifact.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/CAPI/IR.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include <mutex>

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;
// An alias, because success() of this namespace conflicts with MLIR's.
namespace c = veeline::c;

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

/// Formats a message as "file:line:column: text", with "note: " before the text
/// of notes.
static std::string toText(const Message &message) {
  std::string text;
  if (!message.file.empty())
    text = message.file + ":" + std::to_string(message.line) + ":" +
           std::to_string(message.column) + ": ";
  if (message.severity == Severity::Note)
    text += "note: ";
  text += message.text;
  for (const Message &note : message.notes)
    text += "\n" + toText(note);
  return text;
}

namespace {

/// Passes messages to a handler in C, and keeps the first error.
class Listener {
public:
  Listener(VeelineDiagnosticHandler handler, void *userData)
      : handler(handler), userData(userData),
        capture([this](const Message &message) { handle(message); }) {}

  VeelineStatus getFailure() const {
    return c::failure(VeelineFailed,
                      error.empty() ? "it failed without a word" : error);
  }

private:
  void handle(const Message &message);

  VeelineDiagnosticHandler handler;
  void *userData;
  std::string error;
  MessageCapture capture;
};

/// A diagnostic of the C API. It points into a message.
struct Translated {
  explicit Translated(const Message &message) {
    for (const Message &note : message.notes)
      kept.push_back(std::make_unique<Translated>(note));
    for (const std::unique_ptr<Translated> &note : kept)
      notes.push_back(note->diagnostic);
    diagnostic = {static_cast<VeelineSeverity>(message.severity),
                  message.file.c_str(),
                  message.line,
                  message.column,
                  message.text.c_str(),
                  notes.data(),
                  notes.size()};
  }

  std::vector<std::unique_ptr<Translated>> kept;
  std::vector<VeelineDiagnostic> notes;
  VeelineDiagnostic diagnostic;
};

} // namespace

void Listener::handle(const Message &message) {
  if (error.empty() && message.severity == Severity::Error)
    error = toText(message);
  if (!handler)
    return;
  Translated translated(message);
  handler(&translated.diagnostic, userData);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

static Model &unwrapModel(VeelineModule module) {
  return *static_cast<Model *>(module.ptr);
}

/// Makes a module: `load` puts it into a model.
static VeelineStatus makeModule(llvm::function_ref<LogicalResult(Model &)> load,
                                VeelineDiagnosticHandler handler,
                                void *userData, VeelineModule *module) {
  VEELINE_NEEDS({{"module", module}});
  Listener listener(handler, userData);
  auto model = std::make_unique<Model>();
  if (failed(load(*model)))
    return listener.getFailure();
  module->ptr = model.release();
  return c::success();
}

VeelineStatus veelineModuleParse(const char *text, size_t length,
                                 const char *name,
                                 VeelineDiagnosticHandler handler,
                                 void *userData, VeelineModule *module) {
  VEELINE_NEEDS({{"text", text}});
  auto load = [&](Model &model) {
    // The parser needs a zero byte after the text.
    return model.parse(llvm::MemoryBuffer::getMemBufferCopy(
        llvm::StringRef(text, length), name ? name : "<memory>"));
  };
  return makeModule(load, handler, userData, module);
}

VeelineStatus veelineModuleRead(const char *path,
                                VeelineDiagnosticHandler handler,
                                void *userData, VeelineModule *module) {
  VEELINE_NEEDS({{"path", path}});
  auto load = [&](Model &model) { return model.load(path); };
  return makeModule(load, handler, userData, module);
}

void veelineModuleDestroy(VeelineModule module) {
  delete static_cast<Model *>(module.ptr);
}

void veelineRegisterPasses(void) {
  static std::once_flag once;
  std::call_once(once, [] { veeline::registerAllPasses(); });
}

/// Registers upstream's passes, too. A function of its own, because a program
/// that calls veelineRegisterPasses chooses upstream's passes itself.
static void registerEverything() {
  static std::once_flag once;
  std::call_once(once, [] { mlir::registerAllPasses(); });
  veelineRegisterPasses();
}

VeelineStatus veelineModuleSetByPasses(VeelineModule module, const char *passes,
                                       VeelineDiagnosticHandler handler,
                                       void *userData) {
  VEELINE_NEEDS({{"passes", passes}});
  registerEverything();
  Listener listener(handler, userData);
  Model &model = unwrapModel(module);
  llvm::StringRef text = llvm::StringRef(passes).trim();
  llvm::StringRef inner = text;
  if (inner.consume_front("builtin.module(") && inner.consume_back(")"))
    text = inner;
  PassManager passManager(&model.getContext());
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (failed(parsePassPipeline(text, passManager, stream)))
    return c::failure(VeelineInvalid, llvm::StringRef(problem).trim().str());
  return failed(passManager.run(model.getModule())) ? listener.getFailure()
                                                    : c::success();
}

VeelineStatus veelineModuleToText(VeelineModule module, VeelineString *text) {
  VEELINE_NEEDS({{"text", text}});
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  unwrapModel(module).getModule().print(stream);
  return c::give(printed, text);
}

VeelineStatus veelineModuleToBytecode(VeelineModule module,
                                      VeelineString *bytecode) {
  VEELINE_NEEDS({{"bytecode", bytecode}});
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (failed(writeBytecodeToFile(unwrapModel(module).getModule(), stream)))
    return c::failure(VeelineFailed, "an op cannot be written as bytecode");
  return c::give(bytes, bytecode);
}

//===----------------------------------------------------------------------===//
// Artifacts
//===----------------------------------------------------------------------===//

/// A VeelineArtifact points at this string.
static const std::string &unwrapArtifact(VeelineArtifact artifact) {
  return *static_cast<const std::string *>(artifact.ptr);
}

const char *veelineCompileOptionAt(size_t index) {
  static const std::vector<std::string> names = listMemoryOptions();
  return index < names.size() ? names[index].c_str() : nullptr;
}

static VeelineStatus compileModule(ModuleOp module,
                                   const VeelineOption *options,
                                   size_t numOptions,
                                   VeelineDiagnosticHandler handler,
                                   void *userData, VeelineArtifact *artifact) {
  VEELINE_NEEDS(
      {{"options", c::asArray(options, numOptions)}, {"artifact", artifact}});
  CompileOptionList list;
  for (size_t i = 0; i < numOptions; ++i) {
    if (!options[i].name)
      return c::failure(VeelineInvalid,
                        "the name of option " + std::to_string(i) + " is null");
    list.emplace_back(options[i].name, std::nullopt);
    if (options[i].value)
      list.back().second = options[i].value;
  }
  std::string error;
  std::optional<CompileCommand> command = parseCompileOptions(list, error);
  if (!command)
    return c::failure(VeelineInvalid, error);
  Listener listener(handler, userData);
  Model model(module);
  if (failed(chooseMachineTable(*command)) ||
      failed(
          model.import(command->import, /*quiet=*/false, command->forwardOnly)))
    return listener.getFailure();
  FailureOr<artifact::Artifact> compiled = compile(model, *command);
  if (failed(compiled))
    return listener.getFailure();
  Expected<std::string> bytes = artifact::toBytes(*compiled);
  if (!bytes.ok())
    return c::failure(VeelineFailed, bytes.message());
  artifact->ptr = new std::string(std::move(*bytes));
  return c::success();
}

VeelineStatus veelineModuleCompile(VeelineModule module,
                                   const VeelineOption *options,
                                   size_t numOptions,
                                   VeelineDiagnosticHandler handler,
                                   void *userData, VeelineArtifact *artifact) {
  return compileModule(unwrapModel(module).getModule(), options, numOptions,
                       handler, userData, artifact);
}

VeelineStatus
veelineMlirModuleCompile(MlirModule module, const VeelineOption *options,
                         size_t numOptions, VeelineDiagnosticHandler handler,
                         void *userData, VeelineArtifact *artifact) {
  return compileModule(unwrap(module), options, numOptions, handler, userData,
                       artifact);
}

void veelineRegisterDialects(MlirDialectRegistry registry) {
  veeline::registerAllDialects(*unwrap(registry));
}

void veelineArtifactDestroy(VeelineArtifact artifact) {
  delete static_cast<std::string *>(artifact.ptr);
}

const void *veelineArtifactData(VeelineArtifact artifact) {
  return unwrapArtifact(artifact).data();
}

size_t veelineArtifactSize(VeelineArtifact artifact) {
  return unwrapArtifact(artifact).size();
}

VeelineStatus veelineArtifactSave(VeelineArtifact artifact, const char *path) {
  VEELINE_NEEDS({{"path", path}});
  Status status = writeFileAtomically(path, unwrapArtifact(artifact));
  return status.ok() ? c::success()
                     : c::failure(VeelineFailed, status.message());
}
