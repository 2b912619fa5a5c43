//===- RandomKernels.cpp - kernels of random models -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomKernels.h"

#include "../fuzz/Generator.h"
#include "../fuzz/Process.h"
#include "CheckKernels.h"
#include "veeline/InitAll.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace mlir;
using namespace veeline;
using namespace veeline::gpu;

static constexpr llvm::StringLiteral functionPasses =
    "pipe-partition{stages=1},pipe-differentiate,pipe-split-backward";
static constexpr llvm::StringLiteral kernelPasses =
    "pipe-bufferize-chunks{target=cuda},pipe-gpu-kernels";

/// Seconds that the kernels of a model may take.
static constexpr unsigned timeout = 300;

/// The classes of kernels, in the order of Totals.
static constexpr llvm::StringLiteral classNames[] = {
    "scalars", "transpose", "elementwise", "row",
    "columns", "loops",     "fallback"};

namespace {

/// What the process of a model reports.
struct Totals {
  int64_t models = 0, kernels = 0, sameBits = 0, wrong = 0;
  std::array<int64_t, std::size(classNames)> classes = {};

  void add(const Totals &other);
};

} // namespace

void Totals::add(const Totals &other) {
  models += other.models;
  kernels += other.kernels;
  sameBits += other.sameBits;
  wrong += other.wrong;
  for (size_t i = 0; i < classes.size(); ++i)
    classes[i] += other.classes[i];
}

static void replaceAll(std::string &text, StringRef from, StringRef to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
}

/// The functions of `module` with bf16 or f16 in place of f32. Parameters of a
/// model cannot have these types, but what is computed from them can.
static OwningOpRef<ModuleOp> narrow(ModuleOp module, bool isBrain) {
  for (auto pipeline :
       llvm::make_early_inc_range(module.getOps<pipe::PipelineOp>()))
    pipeline.erase();
  std::string text;
  llvm::raw_string_ostream(text) << module;
  replaceAll(text, "0xFF800000", isBrain ? "0xFF80" : "0xFC00");
  replaceAll(text, "0x7F800000", isBrain ? "0x7F80" : "0x7C00");
  replaceAll(text, "f32", isBrain ? "bf16" : "f16");
  return parseSourceString<ModuleOp>(text, module.getContext());
}

static LogicalResult run(StringRef passes, ModuleOp module) {
  PassManager passManager(module.getContext());
  return success(succeeded(parsePassPipeline(passes, passManager)) &&
                 succeeded(passManager.run(module)));
}

/// The module of kernels of a model; null with diagnostics. Of five seeds one
/// is in bf16, one in f16.
static OwningOpRef<ModuleOp> makeKernels(uint64_t seed, MLIRContext &context) {
  std::string text = fuzz::generateModel(seed, fuzz::Sizes::large).text();
  // Remarks say which kernels fit no fast class, which is not an error here.
  ScopedDiagnosticHandler handler(&context, [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
  });
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module || failed(run(functionPasses, *module)))
    return nullptr;
  if (seed % 5 >= 3)
    module = narrow(*module, seed % 5 == 3);
  if (!module || failed(run(kernelPasses, *module)))
    return nullptr;
  return module;
}

static void print(uint64_t seed, KernelSource source,
                  const KernelVerdict &verdict) {
  std::string name = source.name();
  llvm::outs() << "seed " << seed << ", " << name << ": " << verdict.difference
               << "\nrepeat: veeline-gpu-run --random=1 --seed=" << seed
               << " --only=" << name << "\n"
               << *source.twin << "\n"
               << *source.threads << "\n";
}

static Totals checkModel(uint64_t seed, const std::string &only,
                         MLIRContext &context) {
  Totals totals;
  OwningOpRef<ModuleOp> module = makeKernels(seed, context);
  if (!module) {
    llvm::outs() << "seed " << seed << ": the model does not compile\n";
    return totals;
  }
  FailureOr<std::vector<KernelSource>> kernels = findKernels(*module);
  if (failed(kernels))
    return totals;
  llvm::erase_if(*kernels, [&](KernelSource &kernel) {
    return kernel.name().find(only) == std::string::npos;
  });
  totals.models = 1;
  if (kernels->empty())
    return totals;
  llvm::Error error =
      checkKernels(*kernels, seed, chooseChip(seed),
                   [&](KernelSource source, const Kernel &code,
                       const KernelVerdict &verdict) {
                     ++totals.kernels;
                     for (size_t i = 0; i < std::size(classNames); ++i)
                       totals.classes[i] +=
                           StringRef(code.name).starts_with(classNames[i]);
                     bool isRight = verdict.difference.empty();
                     totals.sameBits += isRight && verdict.hasSameBits;
                     totals.wrong += !isRight;
                     if (!isRight)
                       print(seed, source, verdict);
                   });
  if (error) {
    llvm::outs() << "seed " << seed << ": " << llvm::toString(std::move(error))
                 << "\n";
    totals.models = 0;
  }
  return totals;
}

/// Runs checkModel in a process of its own, which gives back totals as bytes.
static Totals checkApart(uint64_t seed, const std::string &only,
                         MLIRContext &context) {
  Totals totals;
  llvm::outs().flush();
  fuzz::Process process(
      [&] {
        totals = checkModel(seed, only, context);
        llvm::outs().flush();
        return std::string(reinterpret_cast<const char *>(&totals),
                           sizeof(totals));
      },
      timeout);
  auto bytes = process.wait();
  if (bytes.ok())
    std::memcpy(&totals, bytes->data(), sizeof(totals));
  else
    llvm::outs() << "seed " << seed << ": " << bytes.message() << "\n";
  return totals;
}

bool veeline::gpu::checkRandomModels(int64_t count, uint64_t seed,
                                     const std::string &only) {
  DialectRegistry registry;
  registerKernelCode(registry);
  veeline::registerAllPasses();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  Totals sum;
  for (int64_t i = 0; i < count; ++i)
    sum.add(checkApart(seed + static_cast<uint64_t>(i), only, context));
  llvm::outs() << sum.models << " of " << count << " models, " << sum.kernels
               << " kernels, " << sum.sameBits
               << " with the bits of their twins, " << sum.wrong << " wrong;";
  for (size_t i = 0; i < sum.classes.size(); ++i)
    llvm::outs() << " " << sum.classes[i] << " " << classNames[i]
                 << (i + 1 < sum.classes.size() ? "," : "\n");
  return sum.wrong == 0 && sum.models == count;
}
