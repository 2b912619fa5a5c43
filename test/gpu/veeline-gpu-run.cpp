//===- veeline-gpu-run.cpp - kernels of GPUs run on a CPU -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs every kernel of a file, which pipe-gpu-kernels has written, as threads
// and as its host twin, on random data, and compares what both leave in memory;
// or those of random models, or random ones of attention or of wide rows. The
// exit code is 1 where they differ.
//
//===----------------------------------------------------------------------===//

#include "CheckKernels.h"
#include "KernelCode.h"
#include "KernelFault.h"
#include "RandomKernels.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace veeline::gpu;
namespace cl = llvm::cl;

static cl::opt<std::string> input(cl::Positional, cl::init("-"),
                                  cl::desc("FILE"));
static cl::opt<std::string>
    only("only", cl::desc("Run the kernels whose name has this in it"));
static cl::opt<uint64_t> seed("seed", cl::init(0),
                              cl::desc("Of the data, and of random models"));
static cl::opt<int64_t>
    numRandom("random", cl::desc("In place of a file, the kernels of so many "
                                 "random models"));
static cl::opt<int64_t>
    numAttention("random-attention",
                 cl::desc("In place of a file, so many random kernels of "
                          "attention"));
static cl::opt<int64_t>
    numRows("random-rows",
            cl::desc("In place of a file, the kernels of so many random "
                     "functions on wide rows"));
static cl::opt<std::string>
    output("o",
           cl::desc("Write the kernels as a shared object that Emulation.h "
                    "runs, and run nothing"));
static cl::opt<std::string>
    cpu("cpu", cl::init("native"),
        cl::desc("With -o: the CPU to compile for, by LLVM's name"));
static cl::opt<unsigned> level(
    "O", cl::Prefix, cl::init(3),
    cl::desc("With -o: how much is optimised, from -O0, which compiles in "
             "half of the time, to -O3"));
static cl::opt<std::string>
    chip("chip", cl::init("sm_90"),
         cl::desc("The chip whose PTX is run; of random kernels, the seed "
                  "chooses it"));

static cl::opt<KernelFault> fault(
    "fault",
    cl::desc("Make every kernel wrong in one place after the other, and fail "
             "where that is not found"),
    cl::values(clEnumValN(KernelFault::barrier, "barrier", "One is missing"),
               clEnumValN(KernelFault::bound, "bound", "Too large"),
               clEnumValN(KernelFault::shuffle, "shuffle", "Another lane"),
               clEnumValN(KernelFault::store, "store", "One is missing"),
               clEnumValN(KernelFault::wait, "wait",
                          "One for copies is missing")));

static int fail(llvm::Error error) {
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return 1;
}

static int writeLibrary(llvm::ArrayRef<KernelSource> kernels) {
  KernelCodeOptions options;
  options.cpu = cpu;
  options.optimizationLevel = level;
  auto library = compileTwins(kernels, options);
  if (!library)
    return fail(library.takeError());
  std::error_code code;
  llvm::raw_fd_ostream stream(output, code);
  stream.write(library->data(), library->size());
  stream.close();
  if (!code && !stream.has_error())
    return 0;
  llvm::errs() << "error: cannot write '" << output << "'\n";
  stream.clear_error();
  return 1;
}

static std::string describe(const Kernel &code) {
  auto &grid = code.info.grid;
  return llvm::formatv("{0}: {1}x{2}x{3} blocks of {4}", code.name, grid[0],
                       grid[1], grid[2], code.info.blockSize)
      .str();
}

/// Prints a line for every kernel.
static int runAll(ArrayRef<KernelSource> kernels) {
  int64_t numDifferent = 0, numSameBits = 0;
  auto report = [&](KernelSource, const Kernel &code,
                    const KernelVerdict &verdict) {
    llvm::outs() << describe(code) << ": ";
    if (!verdict.difference.empty())
      llvm::outs() << "DIFFERS: " << verdict.difference << "\n";
    else if (verdict.hasSameBits)
      llvm::outs() << "same bits\n";
    else
      llvm::outs() << llvm::formatv("differs by {0:f3} of what is allowed\n",
                                    verdict.worst);
    llvm::outs().flush();
    numDifferent += !verdict.difference.empty();
    numSameBits += verdict.difference.empty() && verdict.hasSameBits;
  };
  if (llvm::Error error = checkKernels(kernels, seed, chip, report))
    return fail(std::move(error));
  llvm::outs() << kernels.size() << " kernels, " << numSameBits
               << " with the bits of their twins, " << numDifferent
               << " wrong\n";
  return numDifferent ? 1 : 0;
}

/// Copies of `kernel`, each with a fault in another place.
static void addFaults(KernelSource kernel, std::vector<KernelSource> &wrong) {
  size_t count = findFaultSites(kernel.threads, fault).size();
  for (size_t i = 0; i < count; ++i) {
    mlir::gpu::GPUFuncOp copy = kernel.threads.clone();
    copy.setName(kernel.name() + "_" + std::to_string(i));
    kernel.threads->getParentOfType<mlir::gpu::GPUModuleOp>().push_back(copy);
    makeFault(findFaultSites(copy, fault)[i], fault);
    wrong.push_back({copy, kernel.twin});
  }
}

static int runFaults(ArrayRef<KernelSource> kernels) {
  std::vector<KernelSource> wrong;
  for (KernelSource kernel : kernels)
    addFaults(kernel, wrong);
  size_t numFound = 0;
  auto report = [&](KernelSource, const Kernel &code,
                    const KernelVerdict &verdict) {
    numFound += !verdict.difference.empty();
    llvm::outs() << describe(code) << ": "
                 << (verdict.difference.empty() ? "NOT FOUND"
                                                : verdict.difference)
                 << "\n";
  };
  if (llvm::Error error = checkKernels(wrong, seed, chip, report))
    return fail(std::move(error));
  llvm::outs() << numFound << " of " << wrong.size() << " faults found\n";
  return numFound == wrong.size() ? 0 : 1;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Kernels of GPUs run on a CPU\n");
  if (numRandom.getNumOccurrences())
    return checkRandomModels(numRandom, seed, only) ? 0 : 1;
  if (numAttention.getNumOccurrences())
    return checkRandomAttention(numAttention, seed) ? 0 : 1;
  if (numRows.getNumOccurrences())
    return checkRandomRows(numRows, seed) ? 0 : 1;
  DialectRegistry registry;
  registerKernelCode(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(input, &context);
  if (!module)
    return 1;
  FailureOr<std::vector<KernelSource>> kernels = findKernels(*module);
  if (failed(kernels))
    return 1;
  llvm::erase_if(*kernels, [](KernelSource &kernel) {
    return kernel.name().find(only) == std::string::npos;
  });
  if (!output.empty())
    return writeLibrary(*kernels);
  return fault.getNumOccurrences() ? runFaults(*kernels) : runAll(*kernels);
}
