//===- CheckKernels.cpp - kernels of a module against their twins ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckKernels.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::gpu;

static llvm::Expected<std::unique_ptr<KernelLibrary>>
load(ArrayRef<char> bytes) {
  llvm::SmallString<128> path;
  int file = -1;
  if (std::error_code code = llvm::sys::fs::createTemporaryFile(
          "veeline-kernels", "so", file, path))
    return llvm::createStringError(code, "cannot make a temporary file");
  llvm::FileRemover remover(path);
  llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
  stream.write(bytes.data(), bytes.size());
  stream.close();
  std::string message;
  auto library = KernelLibrary::open(path.str().str(), message);
  if (!library)
    return llvm::createStringError("the kernels cannot be loaded: " + message);
  return library;
}

llvm::Error
veeline::gpu::checkKernels(ArrayRef<KernelSource> kernels, uint64_t seed,
                           StringRef chip,
                           llvm::function_ref<void(KernelSource, const Kernel &,
                                                   const KernelVerdict &)>
                               report) {
  KernelCodeOptions options;
  options.checkAccesses = true;
  // To optimise takes longer than it saves.
  options.optimizationLevel = 0;
  if (kernels.empty())
    return llvm::createStringError("there are no kernels");
  auto bytes = compileTwins(kernels, options);
  if (!bytes)
    return bytes.takeError();
  auto library = load(*bytes);
  if (!library)
    return library.takeError();
  auto text = compilePtx(kernels, chip);
  if (!text)
    return text.takeError();
  PtxModule ptx(std::move(*text));
  for (KernelSource source : kernels) {
    Kernel code;
    if (!(*library)->find(source.name(), code))
      return llvm::createStringError("the library lacks " + source.name());
    std::string message;
    code.threads = ptx.get(source.name(), message);
    if (!code.threads)
      return llvm::createStringError(source.name() + ": " + message);
    report(source, code, checkKernel(code, {seed, nullptr, false}));
  }
  return llvm::Error::success();
}

StringRef veeline::gpu::chooseChip(uint64_t seed) {
  static constexpr llvm::StringLiteral chips[] = {"sm_90", "sm_80", "sm_100"};
  return chips[seed % std::size(chips)];
}

int64_t veeline::gpu::checkSeeds(
    int64_t count, uint64_t seed, StringRef option,
    llvm::function_ref<OwningOpRef<ModuleOp>(uint64_t, MLIRContext &)> make,
    llvm::function_ref<void(const Kernel &, bool isRight)> report) {
  DialectRegistry registry;
  registerKernelCode(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  int64_t numModules = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t own = seed + static_cast<uint64_t>(i);
    OwningOpRef<ModuleOp> module = make(own, context);
    FailureOr<std::vector<KernelSource>> kernels =
        module ? findKernels(*module) : FailureOr<std::vector<KernelSource>>();
    if (failed(kernels))
      continue;
    llvm::Error error =
        checkKernels(*kernels, own, chooseChip(own),
                     [&](KernelSource source, const Kernel &code,
                         const KernelVerdict &verdict) {
                       report(code, verdict.difference.empty());
                       if (!verdict.difference.empty())
                         llvm::outs() << "seed " << own << ", " << code.name
                                      << ": " << verdict.difference
                                      << "\nrepeat: veeline-gpu-run " << option
                                      << "=1 --seed=" << own << "\n"
                                      << *source.twin << "\n";
                     });
    if (error)
      llvm::outs() << "seed " << own << ": " << llvm::toString(std::move(error))
                   << "\n";
    else
      ++numModules;
    llvm::outs().flush();
  }
  return numModules;
}

OwningOpRef<ModuleOp> veeline::gpu::makeModule(const std::string &text,
                                               PassManager &passes) {
  auto module = parseSourceString<ModuleOp>(text, passes.getContext());
  if (module && succeeded(passes.run(*module)))
    return module;
  llvm::outs() << text;
  return nullptr;
}
