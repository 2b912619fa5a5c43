//===- HostTarget.cpp - compiling modules to CPU code ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Conversion/HostTarget.h"
#include "Optimize.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Target/LLVMIR/ModuleTranslation.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

using namespace mlir;
using namespace veeline;

static void initializeNativeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

namespace {

/// A CPU to compile for.
struct Target {
  std::unique_ptr<llvm::TargetMachine> machine;
  std::vector<std::string> features;
};

} // namespace

/// The instruction set extensions among the features that LLVM lists for a CPU.
/// These are the features that LLVM can also detect on a host. The others are
/// for tuning.
static std::vector<std::string>
getRequiredFeatures(const llvm::MCSubtargetInfo &info) {
  llvm::StringMap<bool> detectable = llvm::sys::getHostCPUFeatures();
  std::vector<std::string> features;
  for (const llvm::SubtargetFeatureKV &feature :
       info.getEnabledProcessorFeatures())
    if (detectable.contains(feature.Key))
      features.push_back(feature.Key);
  llvm::sort(features);
  return features;
}

static std::string getHostFeatureString() {
  std::vector<std::string> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
  llvm::sort(features);
  return llvm::join(features, ",");
}

static llvm::Expected<Target> createTarget(const HostTargetOptions &options) {
  initializeNativeTarget();
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return llvm::createStringError("LLVM has no code generator for %s: %s",
                                   triple.str().c_str(), message.c_str());
  bool isNative = options.cpu == "native";
  std::string cpu = isNative ? llvm::sys::getHostCPUName().str() : options.cpu;
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target->createMCSubtargetInfo(triple, "", ""));
  if (!info || !info->isCPUStringValid(cpu))
    return llvm::createStringError(
        "unknown CPU '%s': use 'native' or a name that "
        "'llc -mcpu=help' lists",
        cpu.c_str());
  llvm::TargetOptions targetOptions;
  // Only an explicit fma may become one, because a product and a sum have two
  // roundings.
  targetOptions.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  // With sections, the linker can leave out functions that nothing calls.
  targetOptions.FunctionSections = targetOptions.DataSections = true;
  auto level = static_cast<llvm::CodeGenOptLevel>(
      std::min(options.optimizationLevel, 3u));
  Target result;
  result.machine.reset(target->createTargetMachine(
      triple, cpu, isNative ? getHostFeatureString() : "", targetOptions,
      llvm::Reloc::PIC_, std::nullopt, level));
  if (!result.machine)
    return llvm::createStringError("LLVM cannot generate code for CPU '%s'",
                                   cpu.c_str());
  result.features = getRequiredFeatures(*result.machine->getMCSubtargetInfo());
  return result;
}

llvm::Error veeline::checkHostTarget(const HostTargetOptions &options) {
  if (llvm::Error error = createTarget(options).takeError())
    return error;
  return findLinker(options).takeError();
}

/// Translates `module`, and runs the code generator, which writes to `stream`.
static llvm::Error emitCode(ModuleOp module, const HostTargetOptions &options,
                            llvm::CodeGenFileType fileType, Target &target,
                            llvm::raw_pwrite_stream &stream) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(module, context, "veeline");
  if (!translated)
    return llvm::createStringError(
        "the module does not translate to LLVM IR; it must be in "
        "the LLVM dialect alone");
  translated->setTargetTriple(target.machine->getTargetTriple());
  translated->setDataLayout(target.machine->createDataLayout());
  for (llvm::Function &function : *translated) {
    function.addFnAttr("no-builtins");
    function.addFnAttr("target-cpu", target.machine->getTargetCPU());
    function.addFnAttr("target-features",
                       target.machine->getTargetFeatureString());
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  optimizeModule(*translated, *target.machine, options.optimizationLevel);
  llvm::legacy::PassManager passes;
  if (target.machine->addPassesToEmitFile(passes, stream, nullptr, fileType))
    return llvm::createStringError(
        "LLVM cannot emit this kind of file for %s",
        target.machine->getTargetTriple().str().c_str());
  passes.run(*translated);
  return llvm::Error::success();
}

static HostObject describe(Target &target) {
  return {{},
          target.machine->getTargetTriple().str(),
          target.machine->getTargetCPU().str(),
          std::move(target.features)};
}

llvm::Expected<HostObject>
veeline::describeHostObject(const HostTargetOptions &options) {
  llvm::Expected<Target> target = createTarget(options);
  if (!target)
    return target.takeError();
  return describe(*target);
}

llvm::Expected<HostObject>
veeline::compileToObject(ModuleOp module, const HostTargetOptions &options) {
  llvm::Expected<Target> target = createTarget(options);
  if (!target)
    return target.takeError();
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  if (llvm::Error error = emitCode(
          module, options, llvm::CodeGenFileType::ObjectFile, *target, stream))
    return error;
  HostObject object = describe(*target);
  object.bytes.assign(buffer.begin(), buffer.end());
  return object;
}

llvm::Expected<std::string>
veeline::compileToAssembly(ModuleOp module, const HostTargetOptions &options) {
  llvm::Expected<Target> target = createTarget(options);
  if (!target)
    return target.takeError();
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  if (llvm::Error error =
          emitCode(module, options, llvm::CodeGenFileType::AssemblyFile,
                   *target, stream))
    return error;
  return std::string(buffer.begin(), buffer.end());
}
