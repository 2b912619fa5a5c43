//===- PlanDevice.cpp - the parts of a plan for GPUs only -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of --pipe-plan-memory.
//
//===----------------------------------------------------------------------===//

#include "Memory/ArenaPlanner.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "veeline/Analysis/CostModel.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

/// The default and the maximal size of the workspace of libraries (products,
/// convolutions, attention), for each compute stream of a GPU.
static constexpr int64_t gpuLibraryBytes = 32 << 20;
static constexpr int64_t maxLibraryBytes = 256 << 20;

/// Whether late work reads `input`, a batch argument or a buffer.
bool ArenaPlanner::isReadLate(Value input) {
  for (Operation &op : program.getBody().front()) {
    std::optional<ChunkFunctionKind> kind = getFunctionKind(&op);
    if (!kind || !isLate(&op))
      continue;
    ChunkOp chunk = tables.chunks[getScheduleOp(&op)->chunk];
    FailureOr<ChunkSignature> signature =
        getChunkSignature(getFunction(symbols, chunk, *kind));
    if (failed(signature))
      continue;
    for (const ChunkValue &value : signature->arguments)
      if (isImplied(chunk, value) && chunk.getOperands()[value.index] == input)
        return true;
  }
  return false;
}

void ArenaPlanner::placeInputs(MemoryPlan::Device &device) {
  auto isRead = [&](Value input) {
    return llvm::any_of(input.getUsers(), [&](Operation *user) {
      auto chunk = dyn_cast<ChunkOp>(user);
      return chunk && isHere(chunk.getIndex());
    });
  };
  int64_t number = 0;
  auto place = [&](Value input, int64_t count) {
    int64_t bytes = getByteSize(input.getType()) * count;
    if (isRead(input))
      device.inputs.push_back({number, reserve(bytes), bytes});
    if (isReadLate(input))
      device.inputsBefore.push_back({number, reserve(bytes), bytes});
    ++number;
  };
  for (BatchOp batch : tables.pipeline.getBatches())
    place(batch.getValue(), tables.pipeline.getMicrobatches().value_or(1));
  for (BufferOp buffer : tables.pipeline.getBuffers())
    place(buffer.getValue(), 1);
}

void ArenaPlanner::placeConstants(MemoryPlan::Device &device,
                                  ArrayRef<func::FuncOp> functions) {
  auto module = program->getParentOfType<ModuleOp>();
  auto list = module->getAttrOfType<ArrayAttr>(constantsAttrName);
  llvm::SmallDenseSet<Attribute> used;
  for (func::FuncOp function : functions)
    used.insert_range(getGlobals(function));
  for (auto [number, name] : llvm::enumerate(list)) {
    if (!used.contains(name))
      continue;
    auto global = module.lookupSymbol<memref::GlobalOp>(
        cast<FlatSymbolRefAttr>(name).getAttr());
    int64_t bytes = getByteSize(global.getType());
    device.constants.push_back(
        {static_cast<int64_t>(number), reserve(bytes), bytes});
  }
}

/// Places settings and norms of a rank that updates parameters. With a barrier,
/// every rank computes the factor by which gradients are clipped.
void ArenaPlanner::placeSettings(MemoryPlan::Device &device) {
  bool isClipped = tables.pipeline.getClipSync() == ClipSync::Barrier;
  bool updatesLate = false;
  for (auto update : program.getBody().front().getOps<UpdateOp>()) {
    auto type = cast<ShapedType>(update.getResult().getType());
    device.normParts =
        std::max(device.normParts, normParts(type.getNumElements()));
    updatesLate |= update.getLate();
  }
  if (device.normParts == 0 && !isClipped)
    return;
  device.optimizer = optimizer;
  device.errorFeedback = errorFeedback;
  if (isClipped) {
    device.numSettings = 2;
    device.clipOffset = reserve(plan.getClipBytes());
  } else if (tables.pipeline.getAsynchronous() == Asynchronous::Stashed) {
    device.numSettings = tables.pipeline.getMicrobatches().value_or(1);
  }
  device.settingsOffset = reserve(plan.getSettingsBytes());
  if (updatesLate)
    device.settingsBeforeOffset = reserve(plan.getSettingsBytes());
  if (device.normParts == 0)
    return;
  // The norms of every parameter start at the alignment of a kernel's buffers.
  device.normParts =
      llvm::alignTo(device.normParts, kernelAlignment / sizeof(double));
  device.normsOffset = reserve(device.getNormBytes(plan.params.size()));
}

/// Places the reported results, if the rank runs F of a chunk with a result of
/// the model.
void ArenaPlanner::placeResults(MemoryPlan::Device &device) {
  auto results = tables.pipeline.getYield().getResults();
  auto reports = [&](ForwardOp forward) {
    return llvm::is_contained(
        llvm::map_range(results, [](Value v) { return v.getDefiningOp(); }),
        tables.chunks[forward.getChunk()].getOperation());
  };
  if (llvm::none_of(program.getBody().front().getOps<ForwardOp>(), reports))
    return;
  device.resultBytes = static_cast<int64_t>(results.size() * sizeof(double)) *
                       tables.pipeline.getMicrobatches().value_or(1);
  device.resultsOffset = reserve(device.resultBytes);
}

bool veeline::pipe::callsLibrary(func::FuncOp function) {
  if (function.isExternal())
    return function->hasAttr(callsLibraryAttrName);
  return function
      .walk([](func::CallOp call) {
        bool isLibrarys = call.getCallee().starts_with("veeline_gemm") ||
                          call.getCallee() == "veeline_convolution" ||
                          call.getCallee().starts_with("veeline_attention");
        return isLibrarys ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

SmallVector<Attribute> veeline::pipe::getGlobals(func::FuncOp function) {
  if (auto list = function->getAttrOfType<ArrayAttr>(readsGlobalsAttrName))
    return llvm::to_vector(list);
  llvm::SetVector<Attribute> globals;
  function.walk(
      [&](memref::GetGlobalOp get) { globals.insert(get.getNameAttr()); });
  return globals.takeVector();
}

/// The size of the workspace of libraries on one stream: as much as the
/// functions ask for, if the planner may use that much and it is below the
/// maximum.
int64_t ArenaPlanner::getLibraryBytes(ArrayRef<func::FuncOp> functions) const {
  int64_t bytes = gpuLibraryBytes;
  if (library == LibraryMemory::Least)
    return bytes;
  for (func::FuncOp function : functions)
    if (auto wish = function->getAttrOfType<IntegerAttr>(libraryBytesAttrName))
      if (wish.getInt() <= maxLibraryBytes)
        bytes = std::max(bytes, wish.getInt());
  return bytes;
}

/// Places everything that only the arena of a GPU has.
void ArenaPlanner::placeDevice() {
  MemoryPlan::Device &device = *plan.device;
  llvm::SetVector<func::FuncOp> functions;
  for (Operation &op : program.getBody().front())
    functions.insert_range(getFunctions(&op));
  placeInputs(device);
  placeConstants(device, functions.getArrayRef());
  placeSettings(device);
  placeResults(device);
  bool hasProducts = optimizer == Optimizer::muon && plan.updateWorkspace >= 0;
  if (hasProducts || llvm::any_of(functions, callsLibrary)) {
    device.libraryBytes =
        getLibraryBytes(functions.getArrayRef()) * device.streams;
    device.libraryOffset = reserve(device.libraryBytes);
  }
}

/// Whether `op` gathers a parameter or waits for that. All such ops are on the
/// first compute stream.
static bool isGather(Operation *op) {
  auto wait = dyn_cast<WaitOp>(op);
  return isa_and_nonnull<AllGatherOp>(wait ? wait.getHandle().getDefiningOp()
                                           : op);
}

/// Checks that a step on a GPU supports all ops of the program.
LogicalResult ArenaPlanner::checkDevice() {
  for (Operation &op : program.getBody().front()) {
    if (isa<ValidateOp>(op))
      return op.emitOpError("validates updates, which a GPU's step cannot; "
                            "partition with clip-sync=barrier");
    if (isa<OffloadOp>(op) && plan.device->streams > 1)
      return op.emitOpError("offloads to the host's memory, which programs "
                            "with several compute streams cannot; leave out "
                            "--pipe-assign-streams, or schedule without "
                            "offload");
    if (isLate(&op) && plan.device->streams > 1 && !isGather(&op))
      return op.emitOpError("is of the step before, where programs with "
                            "several compute streams have gathers alone; leave "
                            "out --pipe-assign-streams, or schedule with "
                            "slip=false");
  }
  return success();
}
