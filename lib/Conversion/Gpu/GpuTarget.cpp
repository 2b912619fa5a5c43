//===- GpuTarget.cpp - compiling GPU modules to native code ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Conversion/GpuTarget.h"

#include "Host/Optimize.h"
#include "Toolkit.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"

#include <mutex>

using namespace mlir;
using namespace veeline;

void veeline::registerGpuTarget(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

static void initializeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createMachine(const GpuChip &chip, unsigned level) {
  initializeTarget();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return llvm::createStringError(
        "LLVM was built without its target NVPTX: %s", message.c_str());
  llvm::TargetOptions targetOptions;
  // Only an explicit fma may become one, because a product and a sum have two
  // roundings.
  targetOptions.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::string features = "+ptx" + std::to_string(chip.ptxVersion);
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, chip.name, features, targetOptions, std::nullopt, std::nullopt,
      static_cast<llvm::CodeGenOptLevel>(std::min(level, 3u))));
  if (!machine || !machine->getMCSubtargetInfo()->isCPUStringValid(chip.name))
    return llvm::createStringError("LLVM cannot generate code for %s",
                                   chip.name.data());
  return machine;
}

/// The prefix of libdevice's functions.
static constexpr llvm::StringLiteral libdevicePrefix = "__nv_";

static const llvm::Function *findLibdeviceCall(const llvm::Module &module) {
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.use_empty() &&
        function.getName().starts_with(libdevicePrefix))
      return &function;
  return nullptr;
}

/// Links the functions of libdevice that `module` calls into it.
static llvm::Error linkLibdevice(llvm::Module &module,
                                 const GpuTargetOptions &options) {
  const llvm::Function *function = findLibdeviceCall(module);
  if (!function)
    return llvm::Error::success();
  std::string name = function->getName().str();
  llvm::Expected<Toolkit> toolkit = Toolkit::find(options.toolkit);
  if (!toolkit)
    return llvm::createStringError(
        "a kernel needs %s of the CUDA toolkit's libdevice: %s; most functions "
        "of f32 need none of it",
        name.c_str(), llvm::toString(toolkit.takeError()).c_str());
  std::string path = toolkit->getLibdevice();
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return llvm::createStringError(
        "a kernel needs %s of libdevice, but '%s' cannot be read: "
        "%s",
        name.c_str(), path.c_str(), buffer.getError().message().c_str());
  llvm::Expected<std::unique_ptr<llvm::Module>> library =
      llvm::parseBitcodeFile(**buffer, module.getContext());
  if (!library)
    return llvm::createStringError("'%s' is no library of LLVM's bitcode: %s",
                                   path.c_str(),
                                   llvm::toString(library.takeError()).c_str());
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  auto internalize = [](llvm::Module &linked, const llvm::StringSet<> &names) {
    llvm::internalizeModule(linked, [&](const llvm::GlobalValue &value) {
      return !value.hasName() || !names.contains(value.getName());
    });
  };
  if (llvm::Linker::linkModules(module, std::move(*library),
                                llvm::Linker::LinkOnlyNeeded, internalize))
    return llvm::createStringError("'%s' cannot be linked", path.c_str());
  if (const llvm::Function *missing = findLibdeviceCall(module))
    return llvm::createStringError(
        "'%s' has no function %s, which a kernel needs", path.c_str(),
        missing->getName().str().c_str());
  return llvm::Error::success();
}

llvm::Expected<std::string>
veeline::compileToPtx(gpu::GPUModuleOp module, llvm::StringRef chipName,
                      const GpuTargetOptions &options) {
  llvm::Expected<GpuChip> chip = findChip(chipName);
  if (!chip)
    return chip.takeError();
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine =
      createMachine(*chip, options.optimizationLevel);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(module, context, "veeline");
  if (!translated)
    return llvm::createStringError(
        "the GPU module does not translate to LLVM IR; it must be "
        "in the LLVM and NVVM dialects alone: run pipe-gpu-code "
        "first");
  translated->setTargetTriple((*machine)->getTargetTriple());
  translated->setDataLayout((*machine)->createDataLayout());
  if (llvm::Error error = linkLibdevice(*translated, options))
    return error;
  // Kernels of one launch are selected by a few compares. A jump table would be
  // in memory.
  for (llvm::Function &function : *translated) {
    function.addFnAttr("no-builtins");
    function.addFnAttr("no-jump-tables", "true");
  }
  optimizeModule(*translated, **machine, options.optimizationLevel);
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr,
                                      llvm::CodeGenFileType::AssemblyFile))
    return llvm::createStringError("LLVM cannot emit PTX");
  passes.run(*translated);
  return std::string(buffer.begin(), buffer.end());
}
