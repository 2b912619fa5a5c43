//===- KernelCode.cpp - kernels compiled for a CPU ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelCode.h"

#include "KernelTraits.h"
#include "ThreadFunction.h"
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

/// True for an address on the stack, of a constant or in DeviceFunctions.
static bool isPrivate(Value address) {
  while (Operation *op = address.getDefiningOp()) {
    if (isa<LLVM::AllocaOp, LLVM::AddressOfOp>(op))
      return true;
    if (auto load = dyn_cast<LLVM::LoadOp>(op))
      return load.getAddr().getDefiningOp<LLVM::AddressOfOp>() &&
             isa<LLVM::LLVMPointerType>(load.getType());
    if (!isa<LLVM::GEPOp, LLVM::BitcastOp, LLVM::AddrSpaceCastOp>(op))
      return false;
    address = op->getOperand(0);
  }
  return false;
}

namespace {

/// Calls DeviceFunctions::access before every access of memory.
class CheckAdder {
public:
  explicit CheckAdder(LLVM::LLVMFuncOp function)
      : function(function), builder(function.getContext()),
        layout(DataLayout::closest(function)) {}

  LogicalResult run();

private:
  LogicalResult add(Operation *op);
  Value check(Value address, Type type, std::optional<uint64_t> alignment,
              AccessKind kind, Value exists = {});
  void checkLoad(LLVM::LoadOp load);
  void checkLanes(Value addresses, Value mask, VectorType type,
                  AccessKind kind);
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
/// Returns the result of the check, or null if the access needs none.
Value CheckAdder::check(Value address, Type type,
                        std::optional<uint64_t> alignment, AccessKind kind,
                        Value exists) {
  if (isPrivate(address))
    return {};
  Value bytes = constant(64, layout.getTypeSize(type).getFixedValue());
  if (exists)
    bytes =
        LLVM::SelectOp::create(builder, loc, exists, bytes, constant(64, 0));
  uint64_t multiple = alignment ? *alignment : layout.getTypeABIAlignment(type);
  return callDevice(builder, loc, accessIndex, builder.getI32Type(),
                    {address, bytes,
                     constant(64, static_cast<int64_t>(multiple)),
                     constant(32, static_cast<int64_t>(kind))});
}

/// NaN for floats, all bits set for integers, null for other types.
static Attribute getGarbage(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  Type element = vector ? vector.getElementType() : type;
  TypedAttr value;
  if (auto floatType = dyn_cast<FloatType>(element))
    value = FloatAttr::get(
        floatType, llvm::APFloat::getNaN(floatType.getFloatSemantics()));
  else if (auto number = dyn_cast<IntegerType>(element))
    value = IntegerAttr::get(number, -1);
  if (!value || !vector)
    return value;
  return DenseElementsAttr::get(vector, Attribute(value));
}

void CheckAdder::checkLoad(LLVM::LoadOp load) {
  Value result = check(load.getAddr(), load.getType(), load.getAlignment(),
                       AccessKind::read);
  Attribute garbage = getGarbage(load.getType());
  if (!result || !garbage)
    return;
  builder.setInsertionPointAfter(load);
  Value isGarbage = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                         result, constant(32, 0));
  auto value = LLVM::SelectOp::create(
      builder, loc, isGarbage,
      LLVM::ConstantOp::create(builder, loc, load.getType(),
                               cast<TypedAttr>(garbage)),
      load);
  load.getResult().replaceAllUsesExcept(value, value);
}

/// One access for each lane; `addresses` are those of all lanes, or that of the
/// first one.
void CheckAdder::checkLanes(Value addresses, Value mask, VectorType type,
                            AccessKind kind) {
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
    check(address, type.getElementType(), std::nullopt, kind,
          LLVM::ExtractElementOp::create(builder, loc, mask, number));
  }
}

LogicalResult CheckAdder::add(Operation *op) {
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  auto vector = [](Type type) { return cast<VectorType>(type); };
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    checkLoad(load);
  else if (auto store = dyn_cast<LLVM::StoreOp>(op))
    check(store.getAddr(), store.getValue().getType(), store.getAlignment(),
          AccessKind::write);
  else if (auto rmw = dyn_cast<LLVM::AtomicRMWOp>(op))
    check(rmw.getPtr(), rmw.getVal().getType(), std::nullopt,
          AccessKind::atomic);
  else if (auto load = dyn_cast<LLVM::MaskedLoadOp>(op))
    checkLanes(load.getData(), load.getMask(), vector(load.getType()),
               AccessKind::read);
  else if (auto store = dyn_cast<LLVM::MaskedStoreOp>(op))
    checkLanes(store.getData(), store.getMask(),
               vector(store.getValue().getType()), AccessKind::write);
  else if (auto gather = dyn_cast<LLVM::masked_gather>(op))
    checkLanes(gather.getPtrs(), gather.getMask(), vector(gather.getType()),
               AccessKind::read);
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
  LogicalResult addBodies(KernelSource kernel);
  void addExports(KernelSource kernel);
  LLVM::LLVMFuncOp beginFunction(const std::string &name,
                                 ArrayRef<Type> arguments);
  void callBody(const std::string &name, LLVM::LLVMFuncOp function,
                SmallVector<Value> arguments, ArrayRef<SharedBuffer> shared);
  void addInfo(const std::string &name, const KernelInfo &info);

  KernelCodeOptions options;
  OpBuilder builder;
  Location loc;
  Type pointer;
  OwningOpRef<ModuleOp> module;
};

} // namespace

static std::string twinBody(const std::string &name) { return name + ".host"; }
static std::string threadBody(const std::string &name) {
  return name + ".device";
}

void LibraryWriter::addGlobals(ModuleOp source) {
  for (auto global : source.getOps<memref::GlobalOp>())
    if (!module->lookupSymbol(global.getSymName()))
      module->push_back(global.clone());
}

/// Adds the twin and the thread function, for the passes to lower.
LogicalResult LibraryWriter::addBodies(KernelSource kernel) {
  std::string name = kernel.name();
  func::FuncOp twin = kernel.twin.clone();
  twin.setName(twinBody(name));
  twin.setPrivate();
  module->push_back(twin);
  auto threads = writeThreadFunction(kernel.threads, threadBody(name), *module);
  if (failed(threads))
    return failure();
  (*threads)->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  return success();
}

/// A function without a result, whose code `builder` writes next.
LLVM::LLVMFuncOp LibraryWriter::beginFunction(const std::string &name,
                                              ArrayRef<Type> arguments) {
  builder.setInsertionPointToEnd(module->getBody());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), arguments);
  auto function = LLVM::LLVMFuncOp::create(builder, loc, name, type);
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  return function;
}

/// Calls the function `name`. It takes `arguments`, then what the pointers in
/// the first argument of `function` point to, then the shared buffers in the
/// memory of its last one.
void LibraryWriter::callBody(const std::string &name, LLVM::LLVMFuncOp function,
                             SmallVector<Value> arguments,
                             ArrayRef<SharedBuffer> shared) {
  auto body = module->lookupSymbol<LLVM::LLVMFuncOp>(name);
  ArrayRef<Type> types = body.getFunctionType().getParams();
  auto at = [&](Value base, Type type, int64_t index) -> Value {
    return LLVM::GEPOp::create(builder, loc, pointer, type, base,
                               ArrayRef<LLVM::GEPArg>{int32_t(index)});
  };
  size_t numParams = types.size() - arguments.size() - shared.size();
  for (size_t i = 0; i < numParams; ++i) {
    Value place = LLVM::LoadOp::create(
        builder, loc, pointer,
        at(function.getArgument(0), pointer, static_cast<int64_t>(i)));
    arguments.push_back(
        LLVM::LoadOp::create(builder, loc, types[arguments.size()], place));
  }
  Value memory = function.getArguments().back();
  for (const SharedBuffer &buffer : shared)
    arguments.push_back(at(memory, builder.getI8Type(), buffer.offset));
  LLVM::CallOp::create(builder, loc, body, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
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

void LibraryWriter::addExports(KernelSource kernel) {
  std::string name = kernel.name();
  KernelInfo info = describe(kernel.threads);
  describeData(kernel, info);
  addInfo(name, info);
  callBody(twinBody(name), beginFunction(name, {pointer, pointer, pointer}), {},
           {});
  Type number = builder.getI64Type();
  auto thread =
      beginFunction(name + ".thread", {pointer, number, pointer, pointer});
  SmallVector<Value> ids = {thread.getArgument(1)};
  for (int32_t dim = 0; dim < 3; ++dim) {
    Value place =
        LLVM::GEPOp::create(builder, loc, pointer, number,
                            thread.getArgument(2), ArrayRef<LLVM::GEPArg>{dim});
    ids.push_back(LLVM::LoadOp::create(builder, loc, number, place));
  }
  callBody(threadBody(name), thread, ids, info.shared);
}

LogicalResult LibraryWriter::write(ArrayRef<KernelSource> kernels) {
  builder.setInsertionPointToEnd(module->getBody());
  auto functions =
      LLVM::GlobalOp::create(builder, loc, pointer,
                             /*isConstant=*/false, LLVM::Linkage::External,
                             functionsName, Attribute());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&functions.getInitializerRegion());
    Value null = LLVM::ZeroOp::create(builder, loc, pointer);
    LLVM::ReturnOp::create(builder, loc, null);
  }
  for (KernelSource kernel : kernels) {
    addGlobals(kernel.twin->getParentOfType<ModuleOp>());
    if (failed(addBodies(kernel)))
      return failure();
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
    addExports(kernel);
  return success();
}

llvm::Expected<std::vector<char>>
veeline::gpu::compileKernels(ArrayRef<KernelSource> kernels,
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
