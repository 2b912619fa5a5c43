//===- veeline-gpu-code.cpp - GPU modules to PTX and images ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs compileToPtx and compileToImage on the gpu.module of a file, which is in
// the NVVM dialect already (pipe-gpu-code). Prints PTX, or what every kernel
// uses on every chip; with --max-registers a kernel that uses more, spills or
// has a stack is an error, with --fits one whose block has no room on a
// multiprocessor, or that spills.
//
//===----------------------------------------------------------------------===//

#include "veeline/Conversion/GpuTarget.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace veeline;
namespace cl = llvm::cl;

static cl::opt<std::string> input(cl::Positional, cl::init("-"),
                                  cl::desc("FILE"));
static cl::opt<std::string> ptxChip("ptx-of",
                                    cl::desc("Print the PTX for this chip"));
static cl::list<std::string>
    chips("chips", cl::CommaSeparated,
          cl::desc("Native code for these chips; 'ptx' adds PTX"));
static cl::opt<std::string> toolkit("toolkit",
                                    cl::desc("Directory of a CUDA toolkit"));
static cl::opt<std::string> output("o", cl::desc("Write the image here"));
static cl::opt<int64_t>
    maxRegisters("max-registers",
                 cl::desc("Registers that a kernel may use, without a stack"));

static cl::opt<bool>
    fits("fits", cl::desc("Every kernel has room on every chip and does not "
                          "spill; print only those that have not"));

/// What a block may have on all chips, from sm_80 on.
static constexpr int64_t registersOfBlock = 65536, sharedOfBlock = 48 << 10;
/// A warp gets registers by as many for each thread.
static constexpr int64_t registerUnit = 8;

static int fail(llvm::Error error) {
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return 1;
}

/// The threads of a block of each kernel.
static llvm::StringMap<int64_t> countThreads(gpu::GPUModuleOp module) {
  llvm::StringMap<int64_t> threads;
  module.walk([&](LLVM::LLVMFuncOp function) {
    if (auto sizes = function->getAttrOfType<DenseI32ArrayAttr>(
            gpu::GPUDialect::KnownBlockSizeAttrHelper::getNameStr()))
      threads[function.getName()] = llvm::product_of(sizes.asArrayRef());
  });
  return threads;
}

/// True if a block of a kernel has room. Memory beyond what is static is asked
/// for at the launch.
static bool hasRoom(const GpuKernelUse &use, int64_t threads) {
  int64_t registers = llvm::alignTo(use.registers, registerUnit);
  return threads > 0 && registers * threads <= registersOfBlock &&
         use.sharedBytes <= sharedOfBlock && !use.spillBytes;
}

/// True if `use` is within --max-registers.
static bool check(const GpuKernelUse &use) {
  return !maxRegisters.getNumOccurrences() ||
         (use.registers <= maxRegisters && !use.spillBytes && !use.stackBytes);
}

static int printMisfits(gpu::GPUModuleOp module,
                        llvm::ArrayRef<GpuKernelUse> uses) {
  llvm::StringMap<int64_t> threads = countThreads(module);
  int64_t numMisfits = 0;
  for (const GpuKernelUse &use : uses) {
    int64_t own = threads.lookup(use.kernel);
    if (hasRoom(use, own))
      continue;
    ++numMisfits;
    llvm::outs() << use.chip << " " << use.kernel << ": " << own
                 << " threads of " << use.registers << " registers, "
                 << use.sharedBytes << " shared, " << use.spillBytes
                 << " spilled\n";
  }
  llvm::outs() << uses.size() - numMisfits << " of " << uses.size()
               << " kernels fit\n";
  return numMisfits ? 1 : 0;
}

static int printImage(gpu::GPUModuleOp module, GpuTargetOptions options) {
  options.ptx = llvm::is_contained(chips, "ptx");
  options.chips.clear();
  for (const std::string &chip : chips)
    if (chip != "ptx")
      options.chips.push_back(chip);
  llvm::Expected<GpuImage> image = compileToImage(module, options);
  if (!image)
    return fail(image.takeError());
  if (fits)
    return printMisfits(module, image->uses);
  llvm::outs() << "toolkit '" << image->toolkitVersion << "', ptx '"
               << image->ptxChip << "'\n";
  bool isWithin = true;
  for (const GpuKernelUse &use : image->uses) {
    llvm::outs() << use.chip << " " << use.kernel << ": " << use.registers
                 << " registers, " << use.sharedBytes << " shared, "
                 << use.spillBytes << " spilled, " << use.stackBytes << " stack"
                 << (check(use) ? "\n" : " TOO MUCH\n");
    isWithin &= check(use);
  }
  if (!output.empty()) {
    auto write = [&](llvm::raw_ostream &stream) {
      stream << image->bytes;
      return llvm::Error::success();
    };
    if (llvm::Error error = llvm::writeToOutput(output, write))
      return fail(std::move(error));
  }
  return isWithin ? 0 : 1;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "GPU modules to PTX and images\n");
  DialectRegistry registry;
  registerAllDialects(registry);
  registerGpuTarget(registry);
  registry.insert<pipe::PipeDialect>();
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(input, &context);
  if (!module)
    return 1;
  auto modules = module->getOps<gpu::GPUModuleOp>();
  if (!llvm::hasSingleElement(modules)) {
    llvm::errs() << "error: the file must have one gpu.module\n";
    return 1;
  }
  GpuTargetOptions options;
  options.toolkit = toolkit;
  if (ptxChip.empty())
    return printImage(*modules.begin(), options);
  llvm::Expected<std::string> ptx =
      compileToPtx(*modules.begin(), ptxChip, options);
  if (!ptx)
    return fail(ptx.takeError());
  llvm::outs() << *ptx;
  return 0;
}
