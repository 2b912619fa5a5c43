//===- bench-kernels.cpp - how fast compiled kernels run ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles the chunk functions of a file and runs every kernel of them by
// itself, on one thread. Prints for each how often it is called, the bytes of
// its arguments, the median time, and the time of a memcpy that reads and
// writes as many bytes.
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/Median.h"

#include "veeline/Conversion/HostTarget.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Conversion/Pipelines.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

using namespace mlir;
using namespace veeline;

namespace {

struct Buffer {
  size_t bytes;
  Type elementType;
};

/// A kernel and how to call it.
struct Kernel {
  std::string name;
  std::string summary;
  unsigned calls = 0;
  std::vector<Buffer> buffers;
  bool hasScalars = false;

  size_t bytes() const {
    size_t sum = 0;
    for (const Buffer &buffer : buffers)
      sum += buffer.bytes;
    return sum;
  }
};

using Memory = std::unique_ptr<char, decltype(&std::free)>;

Memory allocate(size_t bytes) {
  return {static_cast<char *>(std::aligned_alloc(64, (bytes / 64 + 1) * 64)),
          &std::free};
}

} // namespace

/// The sums, maps and functions of a kernel's bodies, for the reader.
static std::string summarize(func::FuncOp function) {
  std::string text;
  function.walk([&](linalg::LinalgOp op) {
    bool isReduction = op.getNumReductionLoops();
    std::string math;
    op.getBlock()->walk([&](Operation *nested) {
      if (isa<math::MathDialect>(nested->getDialect()))
        math = nested->getName().stripDialect().str();
    });
    if (!text.empty())
      text += " ";
    text += isReduction ? "sum" : math.empty() ? "map" : "";
    text += math.empty() ? "" : (isReduction ? "(" + math + ")" : math);
  });
  return text;
}

static std::vector<Kernel> collectKernels(ModuleOp module) {
  std::vector<Kernel> kernels;
  SymbolTable symbols(module);
  llvm::StringMap<unsigned> calls;
  module.walk([&](func::CallOp call) { ++calls[call.getCallee()]; });
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr("pipe.kernel"))
      continue;
    Kernel kernel;
    kernel.name = function.getName().str();
    kernel.summary = summarize(function);
    kernel.calls = calls[function.getName()];
    for (Type type : function.getArgumentTypes()) {
      auto memref = dyn_cast<MemRefType>(type);
      if (!memref) {
        kernel.hasScalars = true;
        continue;
      }
      size_t bits = memref.getElementType().isIndex()
                        ? 64
                        : memref.getElementTypeBitWidth();
      kernel.buffers.push_back({memref.getNumElements() * ((bits + 7) / 8),
                                memref.getElementType()});
    }
    kernels.push_back(std::move(kernel));
    // Makes it visible to a lookup by name.
    function->removeAttr("llvm.linkage");
  }
  return kernels;
}

template <size_t... I>
static void callWith(void *function, char *const *arguments,
                     std::index_sequence<I...>) {
  reinterpret_cast<void (*)(decltype((void)I, (void *)nullptr)...)>(function)(
      arguments[I]...);
}

template <size_t N>
static void call(void *function, const std::vector<char *> &arguments) {
  if constexpr (N < 48) {
    if (arguments.size() == N)
      return callWith(function, arguments.data(),
                      std::make_index_sequence<N>());
    call<N + 1>(function, arguments);
  }
}

/// Median seconds of one run.
template <typename Fn> static double measure(Fn run) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  run();
  for (double total = 0;
       times.size() < 9 || (total < 0.05 && times.size() < 200);) {
    auto start = Clock::now();
    run();
    times.push_back(
        std::chrono::duration<double>(Clock::now() - start).count());
    total += times.back();
  }
  return medianOf(std::move(times));
}

static void fill(char *memory, const Buffer &buffer) {
  std::memset(memory, 0, buffer.bytes);
  if (!buffer.elementType.isF32())
    return;
  auto *values = reinterpret_cast<float *>(memory);
  for (size_t i = 0; i < buffer.bytes / sizeof(float); ++i)
    values[i] = static_cast<float>(i * 7919 % 2003) / 1000.0f - 1.0f;
}

static void run(const Kernel &kernel, const LoadedObject &object,
                double &totalTime, double &totalCopy) {
  auto address = object.lookup(kernel.name);
  if (!address || kernel.hasScalars) {
    llvm::consumeError(address.takeError());
    return;
  }
  std::vector<Memory> memories;
  std::vector<char *> arguments;
  for (const Buffer &buffer : kernel.buffers) {
    memories.push_back(allocate(buffer.bytes));
    arguments.push_back(memories.back().get());
    fill(arguments.back(), buffer);
  }
  double seconds = measure([&] { call<0>(*address, arguments); });
  size_t half = kernel.bytes() / 2 + 1;
  Memory source = allocate(half), target = allocate(half);
  std::memset(source.get(), 1, half);
  double copy = measure([&] { std::memcpy(target.get(), source.get(), half); });
  totalTime += seconds * kernel.calls;
  totalCopy += copy * kernel.calls;
  llvm::outs() << llvm::formatv(
      "{0,-11} {1,5} {2,10} {3,9:f1} {4,7:f1} {5,9:f1} {6,6:f2}  {7}\n",
      kernel.name, kernel.calls, kernel.bytes(), seconds * 1e6,
      kernel.bytes() / seconds * 1e-9, copy * 1e6, seconds / copy,
      llvm::StringRef(kernel.summary).take_front(60));
}

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: bench-kernels FILE.mlir\n";
    return 1;
  }
  DialectRegistry registry;
  registry.insert<pipe::PipeDialect>();
  registerBufferization(registry);
  registerHostTarget(registry);
  registry.insert<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                  math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
  MLIRContext context(registry);
  auto module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 1;
  auto start = std::chrono::steady_clock::now();
  PassManager bufferize(&context);
  buildBufferizeChunksPipeline(bufferize, {});
  if (failed(bufferize.run(*module)))
    return 1;
  std::vector<Kernel> kernels = collectKernels(*module);
  PassManager lower(&context);
  buildHostCodePipeline(lower);
  if (failed(lower.run(*module)))
    return 1;
  HostTargetOptions options;
  auto object = compileToObject(*module, options);
  if (!object) {
    llvm::errs() << llvm::toString(object.takeError()) << "\n";
    return 1;
  }
  auto end = std::chrono::steady_clock::now();
  // The library's products are not measured here: nobody calls the chunks.
  auto bytes = linkSharedObject(&*object, options);
  if (!bytes) {
    llvm::errs() << llvm::toString(bytes.takeError()) << "\n";
    return 1;
  }
  auto loaded = LoadedObject::load(*bytes);
  if (!loaded) {
    llvm::errs() << llvm::toString(loaded.takeError()) << "\n";
    return 1;
  }
  llvm::outs() << llvm::formatv(
      "compiled in {0:f2} s, {1} bytes of code for {2}\n",
      std::chrono::duration<double>(end - start).count(), object->bytes.size(),
      object->cpu);
  llvm::outs() << "kernel      calls      bytes        us    GB/s memcpy us  "
                  "ratio  ops\n";
  double totalTime = 0, totalCopy = 0;
  for (const Kernel &kernel : kernels)
    run(kernel, *loaded, totalTime, totalCopy);
  llvm::outs() << llvm::formatv("all calls: {0:f2} ms, memcpy {1:f2} ms\n",
                                totalTime * 1e3, totalCopy * 1e3);
  return 0;
}

/// The chunk functions refer to them.
extern "C" __attribute__((visibility("default"))) void
veeline_gemm(void *, int32_t, const void *, const void *, void *, void *) {}
extern "C" __attribute__((visibility("default"))) void
veeline_convolution(void *, int32_t, const void *, const void *, void *,
                    void *) {}
