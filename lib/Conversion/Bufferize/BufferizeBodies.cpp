//===- BufferizeBodies.cpp - tensors in function bodies to buffers --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/ControlFlow.h"
#include "Kernels/StructuredOps.h"
#include "veeline/Analysis/Convolution.h"
#include "veeline/Analysis/TensorEmit.h"
#include "veeline/Conversion/Attention.h"
#include "veeline/Conversion/Passes.h"

#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/AllInterfaces.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEBUFFERIZEBODIES
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

void veeline::registerBufferization(DialectRegistry &registry) {
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerAllDialectInterfaceImplementations(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  registerAttentionBufferization(registry);
}

static bufferization::OneShotBufferizationOptions getOptions() {
  bufferization::OneShotBufferizationOptions options;
  options.unknownTypeConverterFn =
      [](TensorType type, Attribute memorySpace,
         const bufferization::BufferizationOptions &) {
        return bufferization::getMemRefTypeWithStaticIdentityLayout(
            type, memorySpace);
      };
  return options;
}

static bool hasTensors(Operation *op) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  return llvm::any_of(op->getOperandTypes(), isTensor) ||
         llvm::any_of(op->getResultTypes(), isTensor);
}

static LogicalResult refuse(Operation *op) {
  return op->emitError()
         << "'" << op->getName()
         << "' has no form on buffers: a chunk function may hold linalg, "
            "tensor, arith, math and scf ops, and others that say by "
            "linalg::AggregatedOpInterface which of these they are made of";
}

/// Fails at an op on tensors that no pass can lower.
static LogicalResult checkBufferizable(func::FuncOp function) {
  WalkResult result = function.walk([](Operation *op) {
    bool isKnown = isa<bufferization::BufferizableOpInterface>(op) ||
                   op->hasTrait<OpTrait::IsTerminator>();
    return isKnown || !hasTensors(op) ? WalkResult::advance()
                                      : WalkResult(refuse(op));
  });
  return failure(result.wasInterrupted());
}

/// Fails if there is still a tensor: the op with it has no form on buffers.
static LogicalResult checkBufferized(func::FuncOp function) {
  WalkResult result = function.walk([](Operation *op) {
    return hasTensors(op) ? WalkResult(refuse(op)) : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Results that are used in place
//===----------------------------------------------------------------------===//

static bool isView(Operation *op) {
  return isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp, tensor::CastOp>(op);
}

/// The tensor that `value` is a view of, through any chain of views.
static Value getRootTensor(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isView(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Clones `value`, a view of an empty tensor, together with that tensor.
static Value cloneEmpty(OpBuilder &builder, Value value) {
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  if (isView(op))
    mapping.map(op->getOperand(0), cloneEmpty(builder, op->getOperand(0)));
  return builder.clone(*op, mapping)->getResult(0);
}

static bool isShared(Value value) {
  while (value.hasOneUse() && !value.getDefiningOp<tensor::EmptyOp>())
    value = value.getDefiningOp()->getOperand(0);
  return !value.hasOneUse();
}

/// Gives every use of an empty tensor a tensor of its own. Bufferization sees
/// no conflict between two ops that write to the same empty tensor, because its
/// content is undefined. But one op could overwrite what the other has written
/// into a slice of it.
static void separateEmpties(func::FuncOp function) {
  SmallVector<OpOperand *> uses;
  function.walk([&](Operation *op) {
    for (OpOperand &use : op->getOpOperands())
      if (!isView(op) &&
          getRootTensor(use.get()).getDefiningOp<tensor::EmptyOp>())
        uses.push_back(&use);
  });
  for (OpOperand *use : uses) {
    OpBuilder builder(use->getOwner());
    if (isShared(use->get()))
      use->set(cloneEmpty(builder, use->get()));
  }
}

/// Gives every convolution of the library an op of its own that pads x with
/// zeros. Differentiation did this, too, before it chose what to keep, but
/// equal ops have been merged since.
static void separatePaddings(func::FuncOp function) {
  SmallVector<tensor::InsertSliceOp> paddings;
  function.walk([&](tensor::InsertSliceOp op) {
    auto fill = op.getDest().getDefiningOp<linalg::FillOp>();
    if (fill && matchPattern(fill.getInputs()[0], m_AnyZeroFloat()))
      paddings.push_back(op);
  });
  for (tensor::InsertSliceOp op : paddings)
    separateLibraryUses(op.getResult(), [&](OpBuilder &builder) {
      Operation *zeros = op.getDest().getDefiningOp();
      IRMapping mapping;
      mapping.map(op.getDest(), builder.clone(*zeros)->getResult(0));
      return builder.clone(*op, mapping)->getResult(0);
    });
}

/// True if the op that owns `use` may compute its result in the memory of
/// `use`, and reads the old content.
static bool isUpdated(OpOperand &use) {
  if (auto op = dyn_cast<linalg::LinalgOp>(use.getOwner()))
    return op.isDpsInit(&use) && op.payloadUsesValueFromOperand(&use);
  if (auto op = dyn_cast<tensor::InsertSliceOp>(use.getOwner()))
    return &use == &op.getDestMutable();
  if (auto op = dyn_cast<tensor::InsertOp>(use.getOwner()))
    return &use == &op.getDestMutable();
  return isa<scf::ForOp>(use.getOwner());
}

/// Replaces `use` by a copy of its tensor.
static void copyOperand(RewriterBase &rewriter, OpOperand &use) {
  Location loc = use.getOwner()->getLoc();
  auto type = cast<RankedTensorType>(use.get().getType());
  rewriter.setInsertionPoint(use.getOwner());
  Value empty = createEmpty(rewriter, loc, type);
  Value copy =
      linalg::CopyOp::create(rewriter, loc, use.get(), empty).getResult(0);
  rewriter.modifyOpInPlace(use.getOwner(), [&] { use.set(copy); });
}

/// Copies results that an op updates in place, and results that are returned
/// twice, because a returned value must last until the function returns. The
/// copies are made before destinations are chosen, so that each result has an
/// out-parameter of its own from the start.
static void separateResults(RewriterBase &rewriter, func::FuncOp function) {
  llvm::SetVector<Value> roots;
  SmallVector<OpOperand *> uses;
  function.walk([&](bufferization::MaterializeInDestinationOp op) {
    if (isa<TensorType>(op.getDest().getType()) &&
        !roots.insert(getRootTensor(op.getSource())))
      uses.push_back(&op.getSourceMutable());
  });
  function.walk([&](Operation *op) {
    for (OpOperand &use : op->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(use.get().getType());
      if (type && type.hasStaticShape() && isUpdated(use) &&
          roots.contains(getRootTensor(use.get())))
        uses.push_back(&use);
    }
  });
  for (OpOperand *use : uses)
    copyOperand(rewriter, *use);
}

/// If an insertion only pads inputs of library convolutions with zeros, the
/// source stays a buffer of its own: the call reads it there.
static Value chooseDestination(RewriterBase &rewriter,
                               SubsetInsertionOpInterface op,
                               tensor::EmptyOp empty, Operation *user) {
  auto insert = dyn_cast<tensor::InsertSliceOp>(op.getOperation());
  if (insert && insert.getDest().getDefiningOp<linalg::FillOp>() &&
      isReadByLibraryConvolutions(insert.getResult()))
    return {};
  return bufferization::buildSubsetExtraction(rewriter, op, empty, user);
}

static LogicalResult chooseDestinations(RewriterBase &rewriter,
                                        func::FuncOp function) {
  bufferization::OneShotBufferizationOptions options;
  options.allowReturnAllocsFromLoops = true;
  bufferization::OneShotAnalysisState state(function, options);
  if (failed(bufferization::analyzeOp(function, state)))
    return failure();
  return bufferization::eliminateEmptyTensors(rewriter, function, state,
                                              chooseDestination);
}

static LogicalResult bufferizeBody(RewriterBase &rewriter,
                                   func::FuncOp function) {
  if (failed(checkBufferizable(function)))
    return failure();
  separateOutputs(function);
  separatePaddings(function);
  separateEmpties(function);
  chooseCarriedMemory(function);
  separateResults(rewriter, function);
  if (failed(chooseDestinations(rewriter, function)))
    return function.emitError("finding destinations for results failed");
  bufferization::BufferizationState state;
  if (failed(bufferization::runOneShotBufferize(function, getOptions(), state)))
    return function.emitError("the body cannot be bufferized");
  if (failed(removeCarriedBuffers(rewriter, function)))
    return failure();
  return checkBufferized(function);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// True if `memref` covers all of `root`, in any shape.
static bool isWholeBuffer(Value memref, Value root) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  auto rootType = dyn_cast<MemRefType>(root.getType());
  return type && rootType && type.hasStaticShape() &&
         rootType.hasStaticShape() && type.getLayout().isIdentity() &&
         rootType.getLayout().isIdentity() &&
         type.getNumElements() == rootType.getNumElements() &&
         type.getElementType() == rootType.getElementType();
}

/// True if `source` can use the memory of `target`. For that, this memory has
/// to be free from the first use of `source` to the copy, and after that keep
/// the content for as long as `source` is read.
static bool canShare(Value source, Value target, memref::CopyOp copy) {
  BufferUses sourceUses(source, copy->getBlock());
  BufferUses targetUses(target, copy->getBlock());
  if (!sourceUses.isKnown || !targetUses.isKnown)
    return false;
  auto isBefore = [](Operation *a, Operation *b) {
    return a->isBeforeInBlock(b);
  };
  Operation *first = copy, *last = copy;
  for (Operation *op :
       llvm::concat<Operation *>(sourceUses.readers, sourceUses.writers)) {
    first = isBefore(op, first) ? op : first;
    last = isBefore(last, op) ? op : last;
  }
  auto isDuring = [&](Operation *op) {
    return op != copy && !isBefore(op, first) && isBefore(op, copy);
  };
  auto overwrites = [&](Operation *op) {
    return op != copy && isBefore(copy, op) && !isBefore(last, op);
  };
  return llvm::none_of(sourceUses.writers,
                       [&](Operation *op) { return isBefore(copy, op); }) &&
         llvm::none_of(targetUses.readers, isDuring) &&
         llvm::none_of(targetUses.writers, isDuring) &&
         llvm::none_of(targetUses.writers, overwrites);
}

/// True for equal values, and for two equal views of one buffer.
static bool isSame(Value a, Value b) {
  Operation *viewA = a.getDefiningOp<ViewLikeOpInterface>();
  Operation *viewB = b.getDefiningOp<ViewLikeOpInterface>();
  return a == b || (viewA && viewB &&
                    OperationEquivalence::isEquivalentTo(
                        viewA, viewB, OperationEquivalence::IgnoreLocations));
}

/// If the source of a copy is a temporary, computes it directly in the target.
/// Removes copies of a buffer to itself.
static void removeCopy(RewriterBase &rewriter, memref::CopyOp copy) {
  if (isSame(copy.getSource(), copy.getTarget())) {
    rewriter.eraseOp(copy);
    return;
  }
  Value source = getRootBuffer(copy.getSource());
  Value target = getRootBuffer(copy.getTarget());
  auto alloc = source.getDefiningOp<memref::AllocOp>();
  if (source == target || !alloc || alloc->getBlock() != copy->getBlock() ||
      !isWholeBuffer(copy.getSource(), source) ||
      !isWholeBuffer(copy.getTarget(), target))
    return;
  if (auto targetOp = target.getDefiningOp<memref::AllocOp>())
    if (targetOp->getBlock() != copy->getBlock())
      return;
  if (!canShare(source, target, copy))
    return;
  Operation *targetOp = target.getDefiningOp();
  if (targetOp && alloc->isBeforeInBlock(targetOp))
    targetOp->moveBefore(alloc);
  rewriter.setInsertionPoint(alloc);
  auto type = alloc.getType();
  Value replacement = target;
  if (type != target.getType()) {
    auto [strides, offset] = type.getStridesAndOffset();
    replacement =
        memref::ReinterpretCastOp::create(rewriter, copy.getLoc(), type, target,
                                          offset, type.getShape(), strides);
  }
  rewriter.replaceOp(alloc, replacement);
  rewriter.eraseOp(copy);
}

void veeline::removeCopies(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<memref::CopyOp> copies;
  function.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
  for (memref::CopyOp copy : copies)
    removeCopy(rewriter, copy);
}

namespace {

struct BufferizeBodies
    : veeline::impl::PipeBufferizeBodiesBase<BufferizeBodies> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<bufferization::BufferizationDialect, memref::MemRefDialect>();
    registerBufferization(registry);
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      if (failed(bufferizeBody(rewriter, function)))
        return signalPassFailure();
      removeCopies(rewriter, function);
      hoistAllocations(function);
    }
  }
};

} // namespace
