//===- MergeStepLaunches.cpp - merging launches of a step's updates -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelMerger.h"
#include "RowRules.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEMERGESTEPLAUNCHES
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

static constexpr size_t maxKernels = 128;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {

/// A range of bytes that a kernel accesses, relative to a pointer of the step.
/// This is the arena, or the result of a call of the runtime.
struct Place {
  Value space;
  /// The function and number of the call. Two calls with equal ones return the
  /// same pointer.
  StringRef callee;
  int64_t number = 0;
  int64_t begin = 0, end = 0;
  bool isWritten = false;

  bool overlaps(const Place &other) const {
    bool isSame = callee.empty()
                      ? space == other.space
                      : callee == other.callee && number == other.number;
    return isSame && begin < other.end && other.begin < end;
  }
};

} // namespace

/// The pointer from which a buffer of a step was created.
static Value findPointer(Value memref) {
  auto cast = memref.getDefiningOp<UnrealizedConversionCastOp>();
  Value descriptor =
      cast && cast.getNumOperands() == 1 ? cast.getOperand(0) : Value();
  while (descriptor) {
    auto insert = descriptor.getDefiningOp<LLVM::InsertValueOp>();
    if (!insert)
      return {};
    if (isa<LLVM::LLVMPointerType>(insert.getValue().getType()))
      return insert.getValue();
    descriptor = insert.getContainer();
  }
  return {};
}

/// The offset of `address` in bytes, if it is constant.
static std::optional<int64_t> getOffset(LLVM::GEPOp address) {
  if (!address.getElemType().isInteger(8) || address.getIndices().size() != 1)
    return std::nullopt;
  auto index = address.getIndices()[0];
  if (auto constant = dyn_cast<IntegerAttr>(index))
    return constant.getInt();
  APInt number;
  if (!matchPattern(cast<Value>(index), m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

/// Turns a range relative to `address` into one relative to its base. If the
/// offset is known only at run time, the range becomes a larger one that
/// contains it. Returns false if nothing is known.
static bool addOffset(LLVM::GEPOp address, Place &place) {
  if (std::optional<int64_t> offset = getOffset(address)) {
    place.begin += *offset;
    place.end += *offset;
    return true;
  }
  auto within = address->getAttrOfType<IntegerAttr>(withinAttrName);
  if (!within)
    return false;
  place.begin = 0;
  place.end = within.getInt();
  return true;
}

/// Finds the range of bytes of `memref`. None if it is not known.
static std::optional<Place> findPlace(Value memref, bool isWritten) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  if (!type || !type.hasStaticShape() || !type.getLayout().isIdentity())
    return std::nullopt;
  Place place;
  place.end = type.getNumElements() * getByteWidth(type.getElementType());
  Value pointer = findPointer(memref);
  while (auto address =
             pointer ? pointer.getDefiningOp<LLVM::GEPOp>() : LLVM::GEPOp()) {
    if (!addOffset(address, place))
      return std::nullopt;
    pointer = address.getBase();
  }
  if (!pointer)
    return std::nullopt;
  place.space = pointer;
  place.isWritten = isWritten;
  auto call = pointer.getDefiningOp<func::CallOp>();
  if (!call)
    return isa<BlockArgument>(pointer) ? std::optional(place) : std::nullopt;
  place.callee = call.getCallee();
  APInt number;
  if (call.getNumOperands() > 1 &&
      !matchPattern(call.getOperand(1), m_ConstantInt(&number)))
    return std::nullopt;
  place.number = call.getNumOperands() > 1 ? number.getSExtValue() : 0;
  return place;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {

struct Launch {
  func::CallOp call;
  PartForm::Kind kind;
  SmallVector<Place> places;
};

class StepMerger {
public:
  explicit StepMerger(ModuleOp module)
      : kernels(module), builder(module.getContext()) {}

  void run(Block &block);

private:
  std::optional<Launch> match(func::CallOp call);
  SmallVector<SmallVector<size_t>> findWaves();
  void mergeAll();
  void mergeAlike(ArrayRef<size_t> members);
  void merge(ArrayRef<size_t> members);

  KernelMerger kernels;
  OpBuilder builder;
  /// Launches with nothing between them but ops that may be passed.
  SmallVector<Launch> launches;
};

} // namespace

std::optional<Launch> StepMerger::match(func::CallOp call) {
  const PartForm &form = kernels.getForm(call);
  // Of what is no kernel, nothing is known.
  if (form.writes.empty())
    return std::nullopt;
  Launch launch{call, form.kind, {}};
  for (auto [operand, isWritten] : llvm::zip(call.getOperands(), form.writes)) {
    std::optional<Place> place = findPlace(operand, isWritten);
    if (!place)
      return std::nullopt;
    launch.places.push_back(*place);
  }
  return launch;
}

static bool dependsOn(const Launch &a, const Launch &b) {
  return llvm::any_of(a.places, [&](const Place &left) {
    return llvm::any_of(b.places, [&](const Place &right) {
      return (left.isWritten || right.isWritten) && left.overlaps(right);
    });
  });
}

/// Makes one launch of several that do not depend on each other. It stands
/// behind all of them, because all operands are defined there, and behind those
/// that they depend on, which may have been moved.
void StepMerger::merge(ArrayRef<size_t> members) {
  SmallVector<func::CallOp> calls;
  Operation *last = launches[members.front()].call;
  for (size_t member : members) {
    calls.push_back(launches[member].call);
    for (size_t i = 0; i <= member; ++i)
      if (i == member || dependsOn(launches[member], launches[i]))
        if (last->isBeforeInBlock(launches[i].call))
          last = launches[i].call;
  }
  if (calls.size() == 1) {
    if (last != calls[0])
      calls[0]->moveAfter(last);
    return;
  }
  builder.setInsertionPointAfter(last);
  func::CallOp merged = kernels.merge(builder, calls);
  for (size_t member : members)
    launches[member].call = merged;
  for (func::CallOp call : calls)
    call.erase();
}

/// Launches by what they depend on: those of a wave depend on the waves before
/// it alone.
SmallVector<SmallVector<size_t>> StepMerger::findWaves() {
  SmallVector<SmallVector<size_t>> waves;
  SmallVector<size_t> depths;
  for (auto [i, launch] : llvm::enumerate(launches)) {
    size_t depth = 0;
    for (size_t before = 0; before < i; ++before)
      if (depth <= depths[before] && dependsOn(launch, launches[before]))
        depth = depths[before] + 1;
    depths.push_back(depth);
    waves.resize(std::max(waves.size(), depth + 1));
    waves[depth].push_back(i);
  }
  return waves;
}

/// Merges launches of one wave and one form, as many as a launch can have.
void StepMerger::mergeAlike(ArrayRef<size_t> members) {
  SmallVector<size_t> some;
  size_t numArguments = 0;
  for (size_t member : members) {
    const Launch &launch = launches[member];
    size_t own = launch.call->getNumOperands();
    if (!some.empty() &&
        (launch.kind == PartForm::Kind::None || some.size() == maxKernels ||
         numArguments + own > maxArguments)) {
      merge(some);
      some.clear();
      numArguments = 0;
    }
    some.push_back(member);
    numArguments += own;
  }
  merge(some);
}

void StepMerger::mergeAll() {
  for (ArrayRef<size_t> wave : findWaves()) {
    llvm::MapVector<PartForm::Kind, SmallVector<size_t>> alike;
    for (size_t i : wave)
      alike[launches[i].kind].push_back(i);
    for (auto &[kind, members] : alike)
      mergeAlike(members);
  }
  launches.clear();
}

/// True for ops that can be between launches that become one: they do not
/// access the device's memory, and begin or end nothing but an op.
static bool isAside(Operation &op) {
  auto call = dyn_cast<func::CallOp>(op);
  if (!call)
    return isMemoryEffectFree(&op);
  StringRef callee = call.getCallee();
  return callee == "veeline_op_begin" || callee == "veeline_op_end" ||
         callee == "veeline_settings" || callee == "veeline_norm" ||
         callee == "veeline_shard" || callee == "veeline_norm_shard";
}

void StepMerger::run(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto call = dyn_cast<func::CallOp>(op);
    std::optional<Launch> launch = call ? match(call) : std::nullopt;
    if (launch)
      launches.push_back(std::move(*launch));
    else if (!isAside(op))
      mergeAll();
  }
  mergeAll();
}

namespace {

struct MergeStepLaunches
    : veeline::impl::PipeMergeStepLaunchesBase<MergeStepLaunches> {
  void runOnOperation() override {
    StepMerger merger(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (!function.isExternal() && !function->hasAttr(kernelAttrName) &&
          !function->hasAttr(pipe::numResultsAttrName))
        merger.run(function.getBody().front());
  }
};

} // namespace
