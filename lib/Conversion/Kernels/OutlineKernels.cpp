//===- OutlineKernels.cpp - outlining structured ops as kernels -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ControlFlow.h"
#include "KernelBuilder.h"
#include "StructuredOps.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Dialect/Pipe/IR/Attention.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEOUTLINEKERNELS
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

namespace {

/// Moves the structured ops of functions to kernel functions. Equal kernels are
/// created once.
class KernelOutliner {
public:
  KernelOutliner(ModuleOp module, GroupRules rules)
      : symbols(module), rules(rules), rewriter(module.getContext()) {}

  LogicalResult run(func::FuncOp function) {
    // If all buffers are defined first, a kernel can be called from anywhere.
    hoistAllocations(function);
    return run(function.getBody().front());
  }

private:
  LogicalResult run(Block &body);
  void call(func::FuncOp kernel, ArrayRef<Value> operands, Location loc);
  func::FuncOp getUnique(func::FuncOp kernel);

  SymbolTable symbols;
  GroupRules rules;
  IRRewriter rewriter;
  llvm::StringMap<func::FuncOp> kernels;
};

} // namespace

/// Returns `kernel`, or an equal kernel that exists already.
func::FuncOp KernelOutliner::getUnique(func::FuncOp kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel->print(stream, OpPrintingFlags().assumeVerified().useLocalScope());
  auto [it, isNew] = kernels.try_emplace(text, kernel);
  if (!isNew) {
    kernel.erase();
    return it->second;
  }
  symbols.insert(kernel);
  MLIRContext *context = kernel.getContext();
  // Nothing outside of a module calls its kernels. Inlining them would only
  // make their callers larger.
  kernel->setAttr("llvm.linkage",
                  LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
  kernel->setAttr("passthrough",
                  rewriter.getArrayAttr({rewriter.getStringAttr("noinline")}));
  return kernel;
}

void KernelOutliner::call(func::FuncOp kernel, ArrayRef<Value> operands,
                          Location loc) {
  func::CallOp::create(rewriter, loc, getUnique(kernel), operands);
}

static void normalizeCopies(RewriterBase &rewriter, Block &block) {
  SmallVector<memref::CopyOp> copies(block.getOps<memref::CopyOp>());
  for (memref::CopyOp copy : copies) {
    rewriter.setInsertionPoint(copy);
    rewriter.replaceOpWithNewOp<linalg::CopyOp>(copy, copy.getSource(),
                                                copy.getTarget());
  }
}

/// Turns the host's stores of single numbers into fills, which become kernels,
/// because the host cannot write to memory of a GPU.
static void normalizeStores(RewriterBase &rewriter, Block &block) {
  SmallVector<memref::StoreOp> stores(block.getOps<memref::StoreOp>());
  for (memref::StoreOp store : stores) {
    if (getRootBuffer(store.getMemRef()).getDefiningOp<memref::AllocaOp>())
      continue;
    rewriter.setInsertionPoint(store);
    MemRefType type = store.getMemRefType();
    SmallVector<OpFoldResult> offsets =
        getAsOpFoldResult(ValueRange(store.getIndices()));
    SmallVector<OpFoldResult> ones(type.getRank(), rewriter.getIndexAttr(1));
    Value element = store.getMemRef();
    if (type.getRank())
      element = memref::SubViewOp::create(
          rewriter, store.getLoc(),
          memref::SubViewOp::inferRankReducedResultType({}, type, offsets, ones,
                                                        ones),
          element, offsets, ones, ones);
    linalg::FillOp::create(rewriter, store.getLoc(), store.getValue(), element);
    rewriter.eraseOp(store);
  }
}

/// True if `op` is a loop or a branch with kernels or matrix products in its
/// body. On a GPU, also a branch that stores a number, because that becomes a
/// kernel.
static bool holdsLaunches(Operation *op, const GroupRules &rules) {
  bool ofNumbers = rules.parallelRows && isa<scf::IfOp>(op);
  return isa<scf::ForOp, scf::IfOp>(op) &&
         op->walk([&](Operation *inner) {
             return isa<linalg::LinalgOp, memref::CopyOp, func::CallOp,
                        pipe::AttentionOpInterface>(inner) ||
                            (ofNumbers && isa<memref::StoreOp>(inner))
                        ? WalkResult::interrupt()
                        : WalkResult::advance();
           }).wasInterrupted();
}

/// True if `buffer` has static strides and a static offset in its root buffer.
/// With `isChosen`, its offset may also be a sum over slices.
static bool hasKnownPlace(Value buffer, bool isChosen) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type.hasStaticShape() ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::is_contained(strides, ShapedType::kDynamic))
    return false;
  if (!ShapedType::isDynamic(offset))
    return true;
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>()) {
    // This view has all elements of a result in another shape, so its offset is
    // 0.
    bool isShape = isa<memref::ReinterpretCastOp>(view.getOperation()) &&
                   cast<MemRefType>(buffer.getType()).getLayout().isIdentity();
    if (!isShape &&
        !isa<memref::SubViewOp, memref::CastOp, memref::CollapseShapeOp,
             memref::ExpandShapeOp>(view.getOperation()))
      return false;
    buffer = view.getViewSource();
    auto source = cast<MemRefType>(buffer.getType());
    if (failed(source.getStridesAndOffset(strides, offset)) ||
        llvm::is_contained(strides, ShapedType::kDynamic))
      return false;
  }
  return isChosen &&
         cast<MemRefType>(buffer.getType()).getLayout().isIdentity();
}

/// True if `op` can become a kernel without changes: it is a loop, a structured
/// op or attention, on buffers at static places. On a GPU, loops around a loop
/// or a structured op may determine the places.
static bool isLoop(Operation *op, const GroupRules &rules) {
  if (!isa<scf::ForOp, linalg::LinalgOp, pipe::AttentionOpInterface>(op) ||
      op->getNumResults() || holdsLaunches(op, rules))
    return false;
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(op->getRegions(), used);
  used.insert(op->operand_begin(), op->operand_end());
  bool isChosen = rules.parallelRows && !isa<pipe::AttentionOpInterface>(op);
  return llvm::all_of(used, [&](Value value) {
    return !isa<MemRefType>(value.getType()) || hasKnownPlace(value, isChosen);
  });
}

LogicalResult KernelOutliner::run(Block &body) {
  for (Operation &op : body)
    if (holdsLaunches(&op, rules))
      for (Region &region : op.getRegions())
        if (!region.empty() && failed(run(region.front())))
          return failure();
  normalizeCopies(rewriter, body);
  if (rules.parallelRows)
    normalizeStores(rewriter, body);
  FailureOr<std::vector<ScheduleEntry>> entries = scheduleKernels(body, rules);
  if (failed(entries))
    return failure();
  Operation *next = body.getTerminator();
  for (ScheduleEntry &entry : llvm::reverse(*entries)) {
    if (!entry.isGroup() && !isLoop(entry.op, rules)) {
      next = entry.op;
      continue;
    }
    Operation *first =
        entry.isGroup() ? entry.group.nests.front().op : entry.op;
    KernelBuilder builder(first->getContext(), first->getLoc());
    func::FuncOp kernel =
        entry.isGroup() ? builder.build(entry.group) : builder.build(entry.op);
    rewriter.setInsertionPoint(next);
    call(kernel, builder.operands(), first->getLoc());
    next = next->getPrevNode();
  }
  for (ScheduleEntry &entry : *entries) {
    if (entry.isGroup())
      for (LoopNest &nest : entry.group.nests)
        rewriter.eraseOp(nest.op);
    else if (isLoop(entry.op, rules))
      rewriter.eraseOp(entry.op);
  }
  return success();
}

namespace {

struct OutlineKernels : veeline::impl::PipeOutlineKernelsBase<OutlineKernels> {
  using Base::Base;

  void runOnOperation() override {
    KernelOutliner outliner(getOperation(),
                            {fuse, target == KernelTarget::Cuda});
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (!function.isExternal() &&
          function->hasAttr(pipe::numResultsAttrName) &&
          failed(outliner.run(function)))
        return signalPassFailure();
  }
};

} // namespace
