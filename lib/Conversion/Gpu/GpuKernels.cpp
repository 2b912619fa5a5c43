//===- GpuKernels.cpp - lowering kernel functions to gpu.func -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"
#include "GpuModule.h"
#include "KernelClass.h"
#include "Kernels/KernelBuilder.h"
#include "Kernels/StructuredOps.h"
#include "SideBySide.h"
#include "veeline/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEGPUKERNELS
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

static const KernelClass classes[] = {
    {"scalars", fitsScalars, emitElementwise},
    {"transpose", fitsTranspose, emitTranspose},
    {"elementwise", fitsElementwise, emitElementwise},
    {"row", fitsRow, emitRow},
    {"columns", fitsColumns, emitColumns},
    {"fallback", /*fits=*/nullptr, emitFallback},
};

/// A class that is chosen by the kernel itself.
static const KernelClass rowSums = {"sums", fitsRow, emitRow};

const KernelClass &veeline::chooseClass(const KernelBody &body) {
  // The last class fits all bodies.
  return *llvm::find_if(
      ArrayRef(classes).drop_back(),
      [&](const KernelClass &form) { return form.fits(body); });
}

/// A hash of the content of `kernel`, as 16 digits.
static std::string hashKernel(func::FuncOp kernel) {
  func::FuncOp nameless = kernel.clone();
  nameless.setName("kernel");
  std::string text;
  llvm::raw_string_ostream stream(text);
  nameless->print(stream, OpPrintingFlags().assumeVerified().useLocalScope());
  nameless.erase();
  return llvm::formatv("{0:x-16}", llvm::xxh3_64bits(text));
}

/// Creates a gpu.func with the content of `kernel`.
static gpu::GPUFuncOp cloneKernel(func::FuncOp kernel, OpBuilder &builder) {
  auto function = gpu::GPUFuncOp::create(builder, kernel.getLoc(), "kernel",
                                         kernel.getFunctionType());
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  IRMapping mapping;
  Block &entry = function.getBody().front();
  mapping.map(kernel.getArguments(), entry.getArguments());
  OpBuilder body = OpBuilder::atBlockEnd(&entry);
  for (Operation &op : kernel.getBody().front().without_terminator())
    body.clone(op, mapping);
  gpu::ReturnOp::create(body, kernel.getLoc());
  return function;
}

/// Adds attributes to the buffers of a kernel: they never overlap, are aligned
/// to the widest access of a thread, and some are only read.
static void describeArguments(gpu::GPUFuncOp function) {
  OpBuilder builder(function.getContext());
  SmallVector<Value> written;
  function.walk([&](Operation *op) {
    if (auto store = dyn_cast<memref::StoreOp>(op))
      written.push_back(getRootBuffer(store.getMemRef()));
    else if (auto store = dyn_cast<vector::StoreOp>(op))
      written.push_back(getRootBuffer(store.getBase()));
    else if (auto sum = dyn_cast<memref::AtomicRMWOp>(op))
      written.push_back(getRootBuffer(sum.getMemref()));
  });
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    BlockArgument argument = function.getArgument(i);
    if (!isa<MemRefType>(argument.getType()))
      continue;
    function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                        builder.getI64IntegerAttr(vectorBytes));
    if (!llvm::is_contained(written, argument))
      function.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(),
                          builder.getUnitAttr());
  }
}

/// Describes the largest op in the form "ROWSxINNER".
static std::string describeShape(const KernelBody &body) {
  int64_t rows = 1, inner = 1;
  for (const LoopNest &nest : body.nests) {
    unsigned numRowLoops = body.numRowLoops;
    int64_t all = countIterations(nest, 0);
    int64_t own = countIterations(nest, numRowLoops);
    if (!numRowLoops && !nest.loops.empty())
      own = nest.loops.back().size;
    if (all < rows * inner)
      continue;
    inner = own;
    rows = own ? all / own : 0;
  }
  return std::to_string(rows) + "x" + std::to_string(inner);
}

namespace {

struct GpuKernels : veeline::impl::PipeGpuKernelsBase<GpuKernels> {
  using Base::Base;

  void runOnOperation() override;

private:
  gpu::GPUModuleOp getGpuModule();
  LogicalResult addSums();
  LogicalResult lower(func::FuncOp kernel);
  FailureOr<std::string> emit(gpu::GPUFuncOp function, func::FuncOp kernel);
  FailureOr<std::string> emitParts(gpu::GPUFuncOp function,
                                   func::FuncOp kernel);
};

} // namespace

gpu::GPUModuleOp GpuKernels::getGpuModule() {
  ModuleOp module = getOperation();
  if (auto found = module.lookupSymbol<gpu::GPUModuleOp>(gpuModuleName))
    return found;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                  builder.getUnitAttr());
  return gpu::GPUModuleOp::create(builder, module.getLoc(), gpuModuleName);
}

/// The part of a launch that each structured op of `block` belongs to. A sum
/// and the number that it starts from, which are written to one buffer, are one
/// part; other ops are parts of their own.
static SmallVector<size_t> numberParts(Block &block) {
  SmallVector<size_t> parts;
  linalg::LinalgOp before;
  for (auto op : block.getOps<linalg::LinalgOp>()) {
    bool continues =
        before && llvm::equal(before.getDpsInits(), op.getDpsInits());
    parts.push_back(parts.empty() ? 0 : parts.back() + (continues ? 0 : 1));
    before = op;
  }
  return parts;
}

/// A copy of `kernel` that has only the structured ops of part `index`.
static func::FuncOp clonePart(func::FuncOp kernel, ArrayRef<size_t> parts,
                              size_t index) {
  func::FuncOp part = kernel.clone();
  SmallVector<linalg::LinalgOp> ops(
      part.getBody().front().getOps<linalg::LinalgOp>());
  for (auto [number, op] : llvm::zip_equal(parts, ops))
    if (number != index)
      op.erase();
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(part.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  return part;
}

/// Emits a kernel whose ops do not depend on each other: each op gets its own
/// blocks. Returns the first part of the kernel's name.
FailureOr<std::string> GpuKernels::emitParts(gpu::GPUFuncOp function,
                                             func::FuncOp kernel) {
  Block &block = function.getBody().front();
  SmallVector<size_t> numbers = numberParts(block);
  size_t count = numbers.empty() ? 0 : numbers.back() + 1;
  OpBuilder builder(function);
  SideBySide whole;
  for (size_t i = 0; i < count; ++i) {
    func::FuncOp source = clonePart(kernel, numbers, i);
    gpu::GPUFuncOp part = cloneKernel(source, builder);
    FailureOr<std::string> name = emit(part, source);
    source.erase();
    if (failed(name))
      return failure();
    if (!whole.add(part))
      return kernel.emitError("kernels of one launch need blocks of one form, "
                              "and part ")
             << i << " has another one";
  }
  while (!llvm::hasSingleElement(block))
    std::prev(block.end(), 2)->erase();
  whole.emit(function);
  return "several_" + std::to_string(count);
}

/// Emits the code of a thread. Returns the first part of the kernel's name.
FailureOr<std::string> GpuKernels::emit(gpu::GPUFuncOp function,
                                        func::FuncOp kernel) {
  Block &block = function.getBody().front();
  if (pipe::AttentionOpInterface op = findAttention(block)) {
    ThreadCode code(function, KernelBody());
    return emitAttention(code, op, tf32);
  }
  if (isLoopKernel(block)) {
    if (block.walk([](linalg::LinalgOp) { return WalkResult::interrupt(); })
            .wasInterrupted())
      return kernel.emitError(
          "loops over rows must be parallel for a GPU: make "
          "kernels by pipe-outline-kernels=target=cuda");
    ThreadCode code(function, KernelBody());
    if (fitsScatter(block)) {
      emitScatter(code, deterministic);
      return std::string("scatter");
    }
    emitLoops(code);
    return std::string("loops");
  }
  bool hasSums = kernel->hasAttr(rowSumsAttrName);
  FailureOr<KernelBody> body =
      hasSums ? KernelBody::readWithSums(block) : KernelBody::read(block);
  if (failed(body))
    return failure();
  if (hasSums && !fitsRowSums(*body))
    return kernel.emitError("sums behind a loop over rows must be of its rows, "
                            "and few enough for registers");
  if (body->nests.empty())
    return kernel.emitError("a kernel needs structured ops or one loop, found "
                            "neither");
  std::string shape = describeShape(*body);
  const KernelClass &form = hasSums ? rowSums : chooseClass(*body);
  SmallVector<Operation *> ops;
  for (ArrayRef<LoopNest> nests : {ArrayRef(body->nests), ArrayRef(body->sums)})
    for (const LoopNest &nest : nests)
      ops.push_back(nest.op);
  ThreadCode code(function, std::move(*body));
  form.emit(code);
  for (Operation *op : ops)
    op->erase();
  return form.name.str() + "_" + shape;
}

LogicalResult GpuKernels::lower(func::FuncOp kernel) {
  gpu::GPUModuleOp module = getGpuModule();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  std::string hash = hashKernel(kernel);
  gpu::GPUFuncOp function = cloneKernel(kernel, builder);
  FailureOr<std::string> start = kernel->hasAttr(sideBySideAttrName)
                                     ? emitParts(function, kernel)
                                     : emit(function, kernel);
  if (failed(start))
    return failure();
  describeArguments(function);
  std::string name = *start + "_" + hash;
  if (StringRef(name).starts_with("fallback"))
    kernel.emitRemark("no fast form for this kernel: a thread for each "
                      "parallel iteration, reductions in order (")
        << name << ")";
  auto symbol = FlatSymbolRefAttr::get(&getContext(), name);
  kernel->setAttr(gpuKernelAttrName,
                  SymbolRefAttr::get(module.getSymNameAttr(), {symbol}));
  if (SymbolTable::lookupSymbolIn(module, symbol.getAttr()))
    function.erase();
  else
    function.setName(name);
  return success();
}

/// No model has more replicas than this.
static constexpr int64_t maxSummands = 1 << 16;

/// Adds the kernels that sum contributions of replicas, as far as steps need
/// them.
LogicalResult GpuKernels::addSums() {
  auto sums = getOperation()->getAttrOfType<ArrayAttr>(sumsAttrName);
  if (!sums)
    return success();
  for (Attribute attribute : sums) {
    auto sum = dyn_cast<ArrayAttr>(attribute);
    auto type =
        sum && sum.size() == 2 ? dyn_cast<TypeAttr>(sum[0]) : TypeAttr();
    auto count = type ? dyn_cast<IntegerAttr>(sum[1]) : IntegerAttr();
    if (!count || !isa<FloatType>(type.getValue()) || count.getInt() < 1 ||
        count.getInt() > maxSummands)
      return getOperation()->emitError()
             << "entries of '" << sumsAttrName
             << "' are a float type and how many are added, found "
             << attribute;
    addSumKernel(getGpuModule(), type.getValue(), count.getInt());
  }
  return success();
}

void GpuKernels::runOnOperation() {
  if (failed(addSums()))
    return signalPassFailure();
  SmallVector<func::FuncOp> kernels;
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (function->hasAttr(kernelAttrName) && !function.isExternal() &&
        !function->hasAttr(sumKernelAttrName))
      kernels.push_back(function);
  for (func::FuncOp kernel : kernels)
    if (failed(lower(kernel)))
      return signalPassFailure();
}
