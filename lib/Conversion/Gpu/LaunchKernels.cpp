//===- LaunchKernels.cpp - calls of kernels to launches -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuModule.h"
#include "Kernels/StructuredOps.h"
#include "Library/TableEntry.h"
#include "veeline/Conversion/KernelTable.h"
#include "veeline/Conversion/Passes.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace veeline {
#define GEN_PASS_DEF_PIPELAUNCHKERNELS
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

template <typename Entry, typename Visitor>
static void visitMembers(Entry &entry, Visitor &&visit) {
  visit("name", entry.name);
  visit("grid", entry.grid);
  visit("block", entry.block);
  visit("shared_bytes", entry.sharedBytes);
  visit("num_arguments", entry.numArguments);
}

DictionaryAttr KernelEntry::toAttribute(MLIRContext *context) const {
  EntryWriter writer(context);
  visitMembers(*this, writer);
  return writer.finish();
}

FailureOr<KernelEntry> KernelEntry::fromAttribute(Attribute attribute) {
  auto dict = dyn_cast<DictionaryAttr>(attribute);
  if (!dict)
    return failure();
  KernelEntry entry;
  EntryReader reader(dict);
  visitMembers(entry, reader);
  if (!reader.isComplete())
    return failure();
  return entry;
}

namespace {

/// The kernels of a module, and their numbers in the table.
class KernelTable {
public:
  LogicalResult read(ModuleOp module);
  void write(ModuleOp module);
  int64_t getNumber(gpu::GPUFuncOp kernel);

private:
  SmallVector<Attribute> entries;
  llvm::StringMap<int64_t> numbers;
};

/// Rewrites the functions that the host runs.
class Launcher {
public:
  Launcher(ModuleOp module, KernelTable &table)
      : module(module), table(table), symbols(module),
        converter(module.getContext()), builder(module.getContext()),
        ptr(LLVM::LLVMPointerType::get(module.getContext())) {
    if (auto list = module->getAttrOfType<ArrayAttr>(constantsAttrName))
      for (auto [number, name] : llvm::enumerate(list))
        constants[name] = static_cast<int64_t>(number);
  }

  LogicalResult run(func::FuncOp function);

private:
  LogicalResult rewrite(Operation *op);
  LogicalResult launch(func::CallOp call, func::FuncOp kernel);
  LogicalResult replaceConstant(memref::GetGlobalOp get);
  LogicalResult replaceLoad(memref::LoadOp load);
  LogicalResult verifyUntouched(Operation *op);
  LogicalResult verifyOnDevice(Operation *op, Value buffer);
  Value getPlace(Location loc, Value argument);
  Value getAddress(Location loc, Value buffer);
  func::CallOp callRuntime(Location loc, StringRef name,
                           ArrayRef<Value> arguments, TypeRange results = {});
  Value constant(Location loc, int64_t value, unsigned bits) {
    return LLVM::ConstantOp::create(builder, loc, builder.getIntegerType(bits),
                                    value);
  }

  ModuleOp module;
  KernelTable &table;
  SymbolTable symbols;
  LLVMTypeConverter converter;
  OpBuilder builder;
  Type ptr;
  llvm::DenseMap<Attribute, int64_t> constants;
  /// The rank of the current function, and its array for kernel arguments.
  Value rank;
  LLVM::AllocaOp places;
  size_t numPlaces = 0;
};

} // namespace

LogicalResult KernelTable::read(ModuleOp module) {
  auto list = module->getAttrOfType<ArrayAttr>(kernelsAttrName);
  if (!list)
    return success();
  for (auto [number, attribute] : llvm::enumerate(list)) {
    FailureOr<KernelEntry> entry = KernelEntry::fromAttribute(attribute);
    if (failed(entry))
      return module.emitError()
             << "entry " << number << " of '" << kernelsAttrName
             << "' does not describe a kernel: " << attribute;
    entries.push_back(attribute);
    numbers[entry->name] = static_cast<int64_t>(number);
  }
  return success();
}

void KernelTable::write(ModuleOp module) {
  module->setAttr(kernelsAttrName,
                  ArrayAttr::get(module.getContext(), entries));
}

int64_t KernelTable::getNumber(gpu::GPUFuncOp kernel) {
  auto [it, isNew] = numbers.try_emplace(kernel.getName(), entries.size());
  if (!isNew)
    return it->second;
  KernelEntry entry;
  entry.name = kernel.getName().str();
  if (auto grid = kernel.getKnownGridSize())
    llvm::copy(*grid, entry.grid.begin());
  if (auto block = kernel.getKnownBlockSize())
    llvm::copy(*block, entry.block.begin());
  entry.sharedBytes = getDynamicSharedBytes(kernel);
  entry.numArguments = kernel.getNumArguments();
  entries.push_back(entry.toAttribute(kernel.getContext()));
  return it->second;
}

//===----------------------------------------------------------------------===//
// Code of the host
//===----------------------------------------------------------------------===//

func::CallOp Launcher::callRuntime(Location loc, StringRef name,
                                   ArrayRef<Value> arguments,
                                   TypeRange results) {
  if (!symbols.lookup(name)) {
    SmallVector<Type> types =
        llvm::map_to_vector(arguments, [](Value v) { return v.getType(); });
    auto function = func::FuncOp::create(
        module.getLoc(), name, builder.getFunctionType(types, results));
    function.setPrivate();
    symbols.insert(function, module.getBody()->begin());
  }
  return func::CallOp::create(builder, loc, name, results, arguments);
}

/// The address of the first element of the buffer that `buffer` is a view of.
/// The type in the kernel's signature determines where the view starts.
Value Launcher::getAddress(Location loc, Value buffer) {
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                    address);
}

/// An argument of a kernel as 8 bytes.
Value Launcher::getPlace(Location loc, Value argument) {
  Type type = argument.getType();
  Type i64 = builder.getI64Type();
  if (isa<MemRefType>(type))
    return getAddress(loc, argument);
  if (isa<LLVM::LLVMPointerType>(type))
    return LLVM::PtrToIntOp::create(builder, loc, i64, argument);
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, i64, argument);
  unsigned bits = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type))
    argument = arith::BitcastOp::create(builder, loc,
                                        builder.getIntegerType(bits), argument);
  return bits == 64
             ? argument
             : arith::ExtUIOp::create(builder, loc, i64, argument).getResult();
}

/// Fails if the host's memory would be passed to a kernel.
LogicalResult Launcher::verifyOnDevice(Operation *op, Value buffer) {
  Operation *root = getRootBuffer(buffer).getDefiningOp();
  if (!isa_and_nonnull<memref::AllocaOp, memref::AllocOp>(root))
    return success();
  InFlightDiagnostic diagnostic =
      op->emitError("a kernel of a GPU takes memory of its host");
  diagnostic.attachNote(root->getLoc())
      << "it is allocated here; run --pipe-plan-workspace first";
  return diagnostic;
}

LogicalResult Launcher::launch(func::CallOp call, func::FuncOp kernel) {
  auto name = kernel->getAttrOfType<SymbolRefAttr>(gpuKernelAttrName);
  auto function = name ? dyn_cast_or_null<gpu::GPUFuncOp>(
                             symbols.lookupSymbolIn(module, name))
                       : gpu::GPUFuncOp();
  if (!function)
    return call.emitError()
           << "calls kernel '" << kernel.getSymName()
           << "', which has no gpu.func; run --pipe-gpu-kernels first";
  Location loc = call.getLoc();
  for (auto [i, argument] : llvm::enumerate(call.getOperands())) {
    if (isa<MemRefType>(argument.getType()) &&
        failed(verifyOnDevice(call, argument)))
      return failure();
    Value place = getPlace(loc, argument);
    Value slot =
        LLVM::GEPOp::create(builder, loc, ptr, builder.getI64Type(), places,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    LLVM::StoreOp::create(builder, loc, place, slot);
  }
  numPlaces = std::max<size_t>(numPlaces, call.getNumOperands());
  callRuntime(loc, "veeline_launch",
              {rank, constant(loc, table.getNumber(function), 32), places});
  call.erase();
  return success();
}

LogicalResult Launcher::replaceConstant(memref::GetGlobalOp get) {
  auto number = constants.find(get.getNameAttr());
  if (number == constants.end())
    return get.emitError() << "is a constant that is not in the module's '"
                           << constantsAttrName
                           << "'; run --pipe-plan-memory=target=cuda first";
  Location loc = get.getLoc();
  Value address = callRuntime(loc, "veeline_constant",
                              {rank, constant(loc, number->second, 32)}, ptr)
                      .getResult(0);
  auto type = cast<MemRefType>(get.getType());
  Value descriptor =
      MemRefDescriptor::fromStaticShape(builder, loc, converter, type, address);
  get.replaceAllUsesWith(
      UnrealizedConversionCastOp::create(builder, loc, type, descriptor)
          .getResult(0));
  get.erase();
  return success();
}

/// Replaces a load of a number in the device's memory.
LogicalResult Launcher::replaceLoad(memref::LoadOp load) {
  Location loc = load.getLoc();
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, load.getMemRef());
  Value element = metadata.getOffset();
  for (auto [index, stride] :
       llvm::zip(load.getIndices(), metadata.getStrides())) {
    Value step = arith::MulIOp::create(builder, loc, index, stride);
    element = arith::AddIOp::create(builder, loc, element, step);
  }
  Type type = load.getType();
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  int64_t bytes = llvm::divideCeil(bits, 8);
  Value offset = arith::MulIOp::create(
      builder, loc, element,
      arith::ConstantIndexOp::create(builder, loc, bytes));
  Value start = getAddress(loc, load.getMemRef());
  Value address = arith::AddIOp::create(
      builder, loc, start,
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), offset));
  Value value =
      callRuntime(loc, "veeline_load",
                  {rank, LLVM::IntToPtrOp::create(builder, loc, ptr, address),
                   constant(loc, bytes, 32)},
                  builder.getI64Type())
          .getResult(0);
  if (bits < 64)
    value = arith::TruncIOp::create(builder, loc, builder.getIntegerType(bits),
                                    value);
  if (type.isIndex())
    value = arith::IndexCastOp::create(builder, loc, type, value);
  else if (isa<FloatType>(type))
    value = arith::BitcastOp::create(builder, loc, type, value);
  load.replaceAllUsesWith(value);
  load.erase();
  return success();
}

/// True for ops that do not access the device's memory.
static bool isHarmless(Operation *op) {
  return isa<func::CallOp, memref::AllocaOp>(op) ||
         (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
          !isa<MemoryEffectOpInterface>(op)) ||
         isMemoryEffectFree(op) || isa<LLVM::LLVMDialect>(op->getDialect());
}

LogicalResult Launcher::verifyUntouched(Operation *op) {
  if (isHarmless(op))
    return success();
  return op->emitError("touches memory of a GPU in code for its host: only "
                       "kernels can, and this is in none");
}

/// True for memory on the stack of the host's code.
static bool isOnStack(Value buffer) {
  return getRootBuffer(buffer).getDefiningOp<memref::AllocaOp>() != nullptr;
}

LogicalResult Launcher::rewrite(Operation *op) {
  builder.setInsertionPoint(op);
  if (auto get = dyn_cast<memref::GetGlobalOp>(op))
    return replaceConstant(get);
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return isOnStack(load.getMemRef()) ? success() : replaceLoad(load);
  if (auto store = dyn_cast<memref::StoreOp>(op))
    if (isOnStack(store.getMemRef()))
      return success();
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (callee && callee->hasAttr(kernelAttrName))
      return launch(call, callee);
  }
  return verifyUntouched(op);
}

LogicalResult Launcher::run(func::FuncOp function) {
  SmallVector<Operation *> ops;
  bool needsRank = false;
  function.walk([&](Operation *op) {
    if (op == function || op->hasTrait<OpTrait::IsTerminator>())
      return;
    ops.push_back(op);
    needsRank |= isa<memref::GetGlobalOp, memref::LoadOp, func::CallOp>(op);
  });
  Block &entry = function.getBody().front();
  bool hasRank = entry.getNumArguments() > 0 &&
                 isa<LLVM::LLVMPointerType>(entry.getArgument(0).getType());
  if (needsRank && !hasRank)
    return function.emitError(
        "needs the rank as its first argument to launch kernels");
  if (hasRank)
    rank = entry.getArgument(0);
  builder.setInsertionPointToStart(&entry);
  // A launch copies its arguments, so all launches use the same array.
  Location loc = function.getLoc();
  Value count = constant(loc, 0, 64);
  places =
      LLVM::AllocaOp::create(builder, loc, ptr, builder.getI64Type(), count);
  numPlaces = 0;
  for (Operation *op : ops)
    if (failed(rewrite(op)))
      return failure();
  if (places->use_empty()) {
    places.erase();
    count.getDefiningOp()->erase();
    return success();
  }
  cast<LLVM::ConstantOp>(count.getDefiningOp())
      .setValueAttr(builder.getI64IntegerAttr(static_cast<int64_t>(numPlaces)));
  return success();
}

namespace {

struct LaunchKernels : veeline::impl::PipeLaunchKernelsBase<LaunchKernels> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    KernelTable table;
    if (failed(table.read(module)))
      return signalPassFailure();
    Launcher launcher(module, table);
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (!function.isExternal() && !function->hasAttr(kernelAttrName) &&
          failed(launcher.run(function)))
        return signalPassFailure();
    module.walk([&](gpu::GPUFuncOp kernel) {
      if (kernel->hasAttr(sumKernelAttrName))
        table.getNumber(kernel);
    });
    table.write(module);
  }
};

} // namespace
