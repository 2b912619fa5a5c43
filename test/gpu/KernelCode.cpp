//===- KernelCode.cpp - kernels compiled for a CPU ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelCode.h"

#include "KernelTraits.h"
#include "veeline/Conversion/GpuTarget.h"
#include "veeline/Conversion/HostTarget.h"
#include "veeline/Conversion/Pipelines.h"
#include "veeline/InitAll.h"
#include "veeline/Pipelines/Pipelines.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::gpu;

void veeline::gpu::registerKernelCode(DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  veeline::registerAllDialects(registry);
  registerGpuTarget(registry);
}

FailureOr<std::vector<KernelSource>>
veeline::gpu::findKernels(ModuleOp module) {
  llvm::StringMap<func::FuncOp> twins;
  for (auto function : module.getOps<func::FuncOp>())
    if (auto kernel = function->getAttrOfType<SymbolRefAttr>("pipe.gpu_kernel"))
      twins.try_emplace(kernel.getLeafReference().getValue(), function);
  std::vector<KernelSource> kernels;
  for (auto gpuModule : module.getOps<mlir::gpu::GPUModuleOp>())
    for (auto function : gpuModule.getOps<mlir::gpu::GPUFuncOp>()) {
      func::FuncOp twin = twins.lookup(function.getName());
      if (!twin)
        return function.emitOpError(
            "no function has this as its pipe.gpu_kernel: expected what "
            "pipe-gpu-kernels writes");
      kernels.push_back({function, twin});
    }
  return kernels;
}

//===----------------------------------------------------------------------===//
// Checks of accesses
//===----------------------------------------------------------------------===//

/// The pointer to an AccessFn in a library.
static constexpr llvm::StringLiteral accessName = "veeline_gpu_access";

/// True for an address on the stack or of a constant.
static bool isPrivate(Value address) {
  while (Operation *op = address.getDefiningOp()) {
    if (isa<LLVM::AllocaOp, LLVM::AddressOfOp>(op))
      return true;
    if (!isa<LLVM::GEPOp, LLVM::BitcastOp, LLVM::AddrSpaceCastOp>(op))
      return false;
    address = op->getOperand(0);
  }
  return false;
}

namespace {

/// Calls the library's AccessFn before every access of memory.
class CheckAdder {
public:
  explicit CheckAdder(LLVM::LLVMFuncOp function)
      : function(function), builder(function.getContext()),
        layout(DataLayout::closest(function)) {}

  LogicalResult run();

private:
  LogicalResult add(Operation *op);
  void check(Value address, Type type, std::optional<uint64_t> alignment,
             bool isWrite, Value exists = {});
  void checkLanes(Value addresses, Value mask, VectorType type, bool isWrite);
  Value constant(unsigned width, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, builder.getIntegerType(width),
                                    value);
  }

  LLVM::LLVMFuncOp function;
  OpBuilder builder;
  DataLayout layout;
  Location loc = builder.getUnknownLoc();
};

} // namespace

/// Emits the check of an access, of 0 bytes where `exists` does not hold.
void CheckAdder::check(Value address, Type type,
                       std::optional<uint64_t> alignment, bool isWrite,
                       Value exists) {
  if (isPrivate(address))
    return;
  Value bytes = constant(64, layout.getTypeSize(type).getFixedValue());
  if (exists)
    bytes =
        LLVM::SelectOp::create(builder, loc, exists, bytes, constant(64, 0));
  uint64_t multiple = alignment ? *alignment : layout.getTypeABIAlignment(type);
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value place = LLVM::AddressOfOp::create(builder, loc, pointer, accessName);
  SmallVector<Value> operands = {
      LLVM::LoadOp::create(builder, loc, pointer, place), address, bytes,
      constant(64, static_cast<int64_t>(multiple)), constant(32, isWrite)};
  auto type64 = builder.getI64Type();
  auto functionType = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()),
      {pointer, type64, type64, builder.getI32Type()});
  LLVM::CallOp::create(builder, loc, functionType, operands);
}

/// One access for each lane; `addresses` are those of all lanes, or that of the
/// first one.
void CheckAdder::checkLanes(Value addresses, Value mask, VectorType type,
                            bool isWrite) {
  if (isPrivate(addresses))
    return;
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  for (int32_t lane = 0; lane < type.getNumElements(); ++lane) {
    Value number = constant(32, lane);
    Value address =
        isa<VectorType>(addresses.getType())
            ? Value(LLVM::ExtractElementOp::create(builder, loc, addresses,
                                                   number))
            : Value(LLVM::GEPOp::create(builder, loc, pointer,
                                        type.getElementType(), addresses,
                                        ArrayRef<LLVM::GEPArg>{lane}));
    check(address, type.getElementType(), std::nullopt, isWrite,
          LLVM::ExtractElementOp::create(builder, loc, mask, number));
  }
}

LogicalResult CheckAdder::add(Operation *op) {
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  auto vector = [](Type type) { return cast<VectorType>(type); };
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    check(load.getAddr(), load.getType(), load.getAlignment(), false);
  else if (auto store = dyn_cast<LLVM::StoreOp>(op))
    check(store.getAddr(), store.getValue().getType(), store.getAlignment(),
          true);
  else if (auto rmw = dyn_cast<LLVM::AtomicRMWOp>(op))
    check(rmw.getPtr(), rmw.getVal().getType(), std::nullopt, true);
  else if (auto load = dyn_cast<LLVM::MaskedLoadOp>(op))
    checkLanes(load.getData(), load.getMask(), vector(load.getType()), false);
  else if (auto store = dyn_cast<LLVM::MaskedStoreOp>(op))
    checkLanes(store.getData(), store.getMask(),
               vector(store.getValue().getType()), true);
  else if (auto gather = dyn_cast<LLVM::masked_gather>(op))
    checkLanes(gather.getPtrs(), gather.getMask(), vector(gather.getType()),
               false);
  else if (isa<LLVM::masked_scatter, LLVM::MemcpyOp, LLVM::MemsetOp,
               LLVM::MemmoveOp, LLVM::AtomicCmpXchgOp>(op))
    return op->emitOpError("has no check of its access: add one to "
                           "KernelCode.cpp");
  return success();
}

LogicalResult CheckAdder::run() {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (failed(add(op)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// What a library exports
//===----------------------------------------------------------------------===//

namespace {

/// Writes the module of a library.
class LibraryWriter {
public:
  LibraryWriter(MLIRContext *context, const KernelCodeOptions &options)
      : options(options), builder(context), loc(UnknownLoc::get(context)),
        pointer(LLVM::LLVMPointerType::get(context)),
        module(ModuleOp::create(loc)) {}

  LogicalResult write(ArrayRef<KernelSource> kernels);
  ModuleOp get() { return *module; }

private:
  void addGlobals(ModuleOp source);
  void addBody(KernelSource kernel);
  void addExport(KernelSource kernel);
  void addInfo(const std::string &name, const KernelInfo &info);

  KernelCodeOptions options;
  OpBuilder builder;
  Location loc;
  Type pointer;
  OwningOpRef<ModuleOp> module;
};

} // namespace

static std::string twinBody(const std::string &name) { return name + ".host"; }

void LibraryWriter::addGlobals(ModuleOp source) {
  for (auto global : source.getOps<memref::GlobalOp>())
    if (!module->lookupSymbol(global.getSymName()))
      module->push_back(global.clone());
}

/// Adds the twin, for the passes to lower.
void LibraryWriter::addBody(KernelSource kernel) {
  func::FuncOp twin = kernel.twin.clone();
  twin.setName(twinBody(kernel.name()));
  twin.setPrivate();
  module->push_back(twin);
}

void LibraryWriter::addInfo(const std::string &name, const KernelInfo &info) {
  std::vector<int64_t> words = writeInfo(info);
  auto size = static_cast<int64_t>(words.size());
  builder.setInsertionPointToEnd(module->getBody());
  LLVM::GlobalOp::create(
      builder, loc, LLVM::LLVMArrayType::get(builder.getI64Type(), size),
      /*isConstant=*/true, LLVM::Linkage::External, name + ".info",
      DenseElementsAttr::get(
          RankedTensorType::get({size}, builder.getI64Type()),
          ArrayRef<int64_t>(words)));
}

/// Adds the function that calls the twin with what the pointers in its first
/// argument point to.
void LibraryWriter::addExport(KernelSource kernel) {
  std::string name = kernel.name();
  addInfo(name, describe(kernel));
  auto body = module->lookupSymbol<LLVM::LLVMFuncOp>(twinBody(name));
  builder.setInsertionPointToEnd(module->getBody());
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                  {pointer, pointer, pointer});
  auto function = LLVM::LLVMFuncOp::create(builder, loc, name, type);
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  SmallVector<Value> arguments;
  for (Type argument : body.getFunctionType().getParams()) {
    auto index = static_cast<int32_t>(arguments.size());
    Value place = LLVM::GEPOp::create(builder, loc, pointer, pointer,
                                      function.getArgument(0),
                                      ArrayRef<LLVM::GEPArg>{index});
    place = LLVM::LoadOp::create(builder, loc, pointer, place);
    arguments.push_back(LLVM::LoadOp::create(builder, loc, argument, place));
  }
  LLVM::CallOp::create(builder, loc, body, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

LogicalResult LibraryWriter::write(ArrayRef<KernelSource> kernels) {
  builder.setInsertionPointToEnd(module->getBody());
  auto access = LLVM::GlobalOp::create(
      builder, loc, pointer,
      /*isConstant=*/false, LLVM::Linkage::External, accessName, Attribute());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&access.getInitializerRegion());
    Value null = LLVM::ZeroOp::create(builder, loc, pointer);
    LLVM::ReturnOp::create(builder, loc, null);
  }
  for (KernelSource kernel : kernels) {
    addGlobals(kernel.twin->getParentOfType<ModuleOp>());
    addBody(kernel);
  }
  if (failed(runPhase(*module, [](OpPassManager &passManager) {
        buildHostCodePipeline(passManager);
      })))
    return failure();
  if (options.checkAccesses)
    for (auto function : module->getOps<LLVM::LLVMFuncOp>())
      if (failed(CheckAdder(function).run()))
        return failure();
  for (KernelSource kernel : kernels)
    addExport(kernel);
  return success();
}

llvm::Expected<std::vector<char>>
veeline::gpu::compileTwins(ArrayRef<KernelSource> kernels,
                           const KernelCodeOptions &options) {
  if (kernels.empty())
    return llvm::createStringError("there are no kernels");
  LibraryWriter writer(KernelSource(kernels.front()).twin.getContext(),
                       options);
  if (failed(writer.write(kernels)))
    return llvm::createStringError("the kernels do not compile for a CPU");
  HostTargetOptions target;
  target.optimizationLevel = options.optimizationLevel;
  target.cpu = options.cpu;
  llvm::Expected<HostObject> object = compileToObject(writer.get(), target);
  if (!object)
    return object.takeError();
  return linkSharedObject(&*object, target);
}

llvm::Expected<std::string>
veeline::gpu::compilePtx(ArrayRef<KernelSource> kernels, StringRef chip) {
  OpBuilder builder(KernelSource(kernels.front()).twin.getContext());
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  (*module)->setAttr(mlir::gpu::GPUDialect::getContainerModuleAttrName(),
                     builder.getUnitAttr());
  builder.setInsertionPointToEnd(module->getBody());
  auto device = mlir::gpu::GPUModuleOp::create(builder, loc, "kernels");
  builder.setInsertionPointToEnd(device.getBody());
  for (KernelSource kernel : kernels)
    builder.clone(*kernel.threads);
  if (failed(runPhase(*module, [](OpPassManager &passManager) {
        buildGpuCodePipeline(passManager);
      })))
    return llvm::createStringError("the kernels do not compile for a GPU");
  return compileToPtx(*module->getOps<mlir::gpu::GPUModuleOp>().begin(), chip);
}
