//===- Compile.cpp - models to artifacts, in C ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline-c/Compile.h"

#include "Support.h"
#include "veeline-c/Mlir.h"
#include "veeline/Base/File.h"
#include "veeline/Base/Suggest.h"
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

#include "llvm/ADT/STLExtras.h"

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

  /// Passes on what is wrong with the call.
  VeelineStatus refuse(const std::string &text) {
    handle({Severity::Error, "", 0, 0, text, {}});
    return c::failure(VeelineInvalid, text);
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

/// The names of the options of a pass. It prints those that are no lists, with
/// their defaults: "pass{name=value name={value}}".
static std::vector<std::string> optionsOf(llvm::StringRef pass,
                                          MLIRContext &context) {
  PassManager alone(&context);
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  if (failed(parsePassPipeline(pass, alone, stream)))
    return {};
  printed.clear();
  alone.printAsTextualPipeline(stream);
  llvm::StringRef rest = printed;
  rest = rest.substr(rest.find((pass + "{").str())).drop_front(pass.size());
  std::vector<std::string> names;
  int depth = 0;
  size_t begin = 0;
  for (auto [i, letter] : llvm::enumerate(rest)) {
    depth += (letter == '{') - (letter == '}');
    if (depth == 0)
      break;
    if (letter == '{' || letter == ' ')
      begin = i + 1;
    if (letter == '=' && depth == 1)
      names.push_back(rest.slice(begin, i).str());
  }
  return names;
}

/// The text between `before` and the `after` behind it, or an empty one.
static llvm::StringRef between(llvm::StringRef text, llvm::StringRef before,
                               llvm::StringRef after) {
  size_t found = text.find(before);
  return found == llvm::StringRef::npos
             ? ""
             : text.substr(found + before.size()).split(after).first;
}

/// Says what is wrong with the text of a pipeline, of which MLIR says
/// `problem`. MLIR names a wrong option, and not what there is.
static std::string explainPasses(llvm::StringRef problem,
                                 MLIRContext &context) {
  llvm::StringRef pass = between(problem, "failed to add `", "`");
  if (pass.empty())
    return problem.trim().str();
  std::vector<std::string> names = optionsOf(pass, context);
  std::string known = names.empty() ? "" : "; it has " + joinNames(names);
  llvm::StringRef name = between(problem, "no such option ", "\n");
  if (!name.empty())
    return ("pass '" + pass + "' has no option '" + name + "'" + known +
            suggestion(name.str(), names))
        .str();
  return ("pass '" + pass + "' does not take the options '" +
          between(problem, "with options `", "`") +
          "': a value is not of the option's type")
      .str();
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
    return listener.refuse(explainPasses(problem, model.getContext()));
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
  Listener listener(handler, userData);
  if (!command)
    return listener.refuse(error);
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
