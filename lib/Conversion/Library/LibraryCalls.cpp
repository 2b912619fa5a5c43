//===- LibraryCalls.cpp - calls of the runtime's library ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryCalls.h"

#include "Kernels/StructuredOps.h"
#include "veeline/Analysis/TensorEmit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace veeline;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// True for a view whose place in its buffer is not static.
static bool hasDynamicPlace(const NestAccess &access) {
  auto type = dyn_cast_or_null<MemRefType>(access.base ? access.base.getType()
                                                       : Type());
  SmallVector<int64_t> strides;
  int64_t offset;
  return type && succeeded(type.getStridesAndOffset(strides, offset)) &&
         ShapedType::isDynamic(offset);
}

bool veeline::findPlace(NestAccess &access) {
  return access.rebase() || hasDynamicPlace(access);
}

/// The distance in bytes from the start of the buffer to that of the view, a
/// slice that a loop selects.
static Value getViewOffset(OpBuilder &rewriter, Location loc,
                           const NestAccess &access) {
  auto metadata =
      memref::ExtractStridedMetadataOp::create(rewriter, loc, access.base);
  Value size = arith::ConstantIndexOp::create(
      rewriter, loc, access.elementType.getIntOrFloatBitWidth() / 8);
  return arith::MulIOp::create(rewriter, loc, metadata.getOffset(), size);
}

/// The address of the first element of `access`.
static Value getAddress(OpBuilder &rewriter, Location loc,
                        const NestAccess &access, bool readsOnly) {
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(rewriter, loc,
                                                                 access.base);
  if (readsOnly)
    address.getDefiningOp()->setAttr(readsOnlyAttrName, rewriter.getUnitAttr());
  int64_t bytes =
      access.offset * access.elementType.getIntOrFloatBitWidth() / 8;
  if (bytes) {
    Value shift = arith::ConstantIndexOp::create(rewriter, loc, bytes);
    address = arith::AddIOp::create(rewriter, loc, address, shift);
  }
  if (hasDynamicPlace(access))
    address = arith::AddIOp::create(rewriter, loc, address,
                                    getViewOffset(rewriter, loc, access));
  Value integer =
      arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(), address);
  return LLVM::IntToPtrOp::create(
      rewriter, loc, LLVM::LLVMPointerType::get(rewriter.getContext()),
      integer);
}

LibraryCalls::LibraryCalls(ModuleOp module, StringRef function, StringRef table)
    : module(module), function(function), table(table) {
  if (auto old = module->getAttrOfType<ArrayAttr>(table))
    for (Attribute entry : old)
      getIndex(entry);
}

void LibraryCalls::declare(StringRef name, unsigned numPointers,
                           TypeRange results) {
  if (module.lookupSymbol(name))
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());
  SmallVector<Type> types = {pointer, builder.getI32Type()};
  types.append(numPointers, pointer);
  func::FuncOp::create(builder, module.getLoc(), name,
                       builder.getFunctionType(types, results))
      .setPrivate();
}

scf::IfOp LibraryCalls::ask(RewriterBase &rewriter, Location loc, Value rank,
                            DictionaryAttr entry, StringRef question) {
  Value index = arith::ConstantOp::create(
      rewriter, loc,
      rewriter.getI32IntegerAttr(static_cast<int32_t>(getIndex(entry))));
  declare(question, 0, index.getType());
  Value answer =
      func::CallOp::create(rewriter, loc, question, TypeRange(index.getType()),
                           ValueRange{rank, index})
          .getResult(0);
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(0));
  Value isYes = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne,
                                      answer, zero);
  return scf::IfOp::create(rewriter, loc, isYes, /*withElseRegion=*/true);
}

void LibraryCalls::emit(RewriterBase &rewriter, Location loc, StringRef name,
                        Value rank, DictionaryAttr entry, uint64_t scratchBytes,
                        ArrayRef<Operand> operands) {
  NestAccess scratch;
  scratch.elementType = rewriter.getI8Type();
  if (scratchBytes)
    scratch.base = memref::AllocOp::create(
        rewriter, loc,
        MemRefType::get({static_cast<int64_t>(scratchBytes)},
                        rewriter.getI8Type()));
  Value index = arith::ConstantOp::create(
      rewriter, loc,
      rewriter.getI32IntegerAttr(static_cast<int32_t>(getIndex(entry))));
  Type pointer = LLVM::LLVMPointerType::get(rewriter.getContext());
  SmallVector<Value> arguments = {rank, index};
  auto add = [&](const NestAccess &access, bool readsOnly) {
    arguments.push_back(
        access.base ? getAddress(rewriter, loc, access, readsOnly)
                    : LLVM::ZeroOp::create(rewriter, loc, pointer).getResult());
  };
  for (const Operand &operand : operands)
    add(operand.access, operand.readsOnly);
  add(scratch, /*readsOnly=*/false);
  func::CallOp::create(rewriter, loc, name, TypeRange(), arguments);
  declare(name, arguments.size() - 2);
}

void LibraryCalls::emit(RewriterBase &rewriter, Location loc, Value rank,
                        DictionaryAttr entry, uint64_t scratchBytes,
                        const NestAccess &a, const NestAccess &b,
                        const NestAccess &c) {
  emit(rewriter, loc, function, rank, entry, scratchBytes,
       {{a}, {b}, {c, /*readsOnly=*/false}});
}

void LibraryCalls::emitWith(RewriterBase &rewriter, Location loc,
                            StringRef name, DictionaryAttr entry,
                            SmallVector<Value> operands) {
  operands[1] = arith::ConstantOp::create(
      rewriter, loc,
      rewriter.getI32IntegerAttr(static_cast<int32_t>(getIndex(entry))));
  func::CallOp::create(rewriter, loc, name, TypeRange(), operands);
  declare(name, operands.size() - 2);
}

DictionaryAttr LibraryCalls::getEntry(func::CallOp call) const {
  APInt index;
  if (!call.getCallee().starts_with(function) ||
      !matchPattern(call.getOperand(1), m_ConstantInt(&index)) ||
      index.getZExtValue() >= entries.size())
    return {};
  return cast<DictionaryAttr>(entries[index.getZExtValue()]);
}

func::CallOp LibraryCalls::redirect(RewriterBase &rewriter, func::CallOp call,
                                    DictionaryAttr entry, Value target,
                                    Value bias, Value aux, bool readsAux) {
  Location loc = call.getLoc();
  auto getStart = [&](Value memref, bool readsOnly) {
    NestAccess access;
    access.base = memref;
    access.elementType = getElementTypeOrSelf(memref.getType());
    return getAddress(rewriter, loc, access, readsOnly);
  };
  SmallVector<Value> operands(call.getOperands().drop_back(1));
  operands[1] = arith::ConstantOp::create(
      rewriter, loc,
      rewriter.getI32IntegerAttr(static_cast<int32_t>(getIndex(entry))));
  operands[4] = getStart(target, /*readsOnly=*/false);
  std::string name = call.getCallee().str();
  if (bias) {
    operands.push_back(getStart(bias, /*readsOnly=*/true));
    name = (function + "_bias").str();
  }
  if (aux) {
    if (operands.size() == 5)
      operands.push_back(LLVM::ZeroOp::create(
          rewriter, loc, LLVM::LLVMPointerType::get(rewriter.getContext())));
    operands.push_back(getStart(aux, readsAux));
    name = (function + "_aux").str();
  }
  operands.push_back(call.getOperands().back());
  auto redirected =
      func::CallOp::create(rewriter, loc, name, TypeRange(), operands);
  declare(name, operands.size() - 2);
  rewriter.eraseOp(call);
  return redirected;
}

void LibraryCalls::finish() {
  if (!entries.empty())
    module->setAttr(table, ArrayAttr::get(module.getContext(), entries));
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool veeline::isDense(MemRefType type) {
  int64_t offset, dense = 1;
  SmallVector<int64_t> strides;
  if (!type.hasStaticShape() ||
      failed(type.getStridesAndOffset(strides, offset)))
    return false;
  for (auto [size, stride] : llvm::reverse(llvm::zip(type.getShape(), strides)))
    if (size != 1) {
      if (stride != dense)
        return false;
      dense *= size;
    }
  return true;
}

void veeline::copyElements(RewriterBase &rewriter, Location loc, Value from,
                           Value to) {
  int64_t rank = cast<MemRefType>(to.getType()).getRank();
  AffineMap identity = rewriter.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  linalg::GenericOp::create(
      rewriter, loc, from, to, {identity, identity}, iterators,
      [](OpBuilder &builder, Location loc, ValueRange arguments) {
        Value value =
            convertFloat(builder, loc, arguments[0], arguments[1].getType());
        linalg::YieldOp::create(builder, loc, value);
      });
}

static Value allocateDense(RewriterBase &rewriter, Operation *op, Value like) {
  auto type = cast<MemRefType>(like.getType());
  rewriter.setInsertionPoint(op);
  return memref::AllocOp::create(
      rewriter, op->getLoc(),
      MemRefType::get(type.getShape(), type.getElementType()));
}

Value veeline::copyToBuffer(RewriterBase &rewriter, Operation *op,
                            Value memref) {
  Value dense = allocateDense(rewriter, op, memref);
  copyElements(rewriter, op->getLoc(), memref, dense);
  return dense;
}

Value veeline::copyUnlessDense(RewriterBase &rewriter, Operation *op,
                               Value memref) {
  return isDense(cast<MemRefType>(memref.getType()))
             ? memref
             : copyToBuffer(rewriter, op, memref);
}

void veeline::redirectToBuffer(RewriterBase &rewriter, linalg::GenericOp op) {
  Value result = op.getDpsInits()[0];
  Value dense = allocateDense(rewriter, op, result);
  rewriter.modifyOpInPlace(op, [&] { op.getOutputsMutable()[0].set(dense); });
  rewriter.setInsertionPointAfter(op);
  copyElements(rewriter, op.getLoc(), dense, result);
}

void veeline::makeResultDense(RewriterBase &rewriter, linalg::GenericOp op) {
  if (!isDense(cast<MemRefType>(op.getDpsInits()[0].getType())))
    redirectToBuffer(rewriter, op);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

bool veeline::removeZeros(RewriterBase &rewriter, linalg::GenericOp op) {
  Value output = op.getDpsInits()[0];
  Value root = getRootBuffer(output);
  BufferUses accesses(root, op->getBlock());
  if (!accesses.isKnown)
    return false;
  Operation *previous = nullptr;
  for (Operation *toucher :
       llvm::concat<Operation *>(accesses.readers, accesses.writers))
    if (toucher->isBeforeInBlock(op) &&
        (!previous || previous->isBeforeInBlock(toucher)))
      previous = toucher;
  auto fill = dyn_cast_or_null<linalg::FillOp>(previous);
  if (!fill || fill.getOutputs()[0] != output ||
      !matchPattern(fill.getInputs()[0], m_AnyZeroFloat()))
    return false;
  rewriter.eraseOp(fill);
  return true;
}

void veeline::addTo(RewriterBase &rewriter, Location loc, Value accumulator,
                    Value value) {
  auto type = cast<MemRefType>(value.getType());
  AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  linalg::GenericOp::create(
      rewriter, loc, value, accumulator, {identity, identity}, iterators,
      [](OpBuilder &builder, Location loc, ValueRange arguments) {
        Value sum =
            convertFloat(builder, loc, arguments[1], arguments[0].getType());
        sum = arith::AddFOp::create(builder, loc, sum, arguments[0]);
        sum = convertFloat(builder, loc, sum, arguments[1].getType());
        linalg::YieldOp::create(builder, loc, sum);
      });
}

bool veeline::isSummedWider(linalg::GenericOp op) {
  Type type = getElementTypeOrSelf(op.getDpsInits()[0].getType());
  return type.getIntOrFloatBitWidth() < 32;
}

linalg::GenericOp veeline::redirectToTemporary(RewriterBase &rewriter,
                                               linalg::GenericOp op) {
  auto type = cast<MemRefType>(op.getDpsInits()[0].getType());
  Type element =
      isSummedWider(op) ? rewriter.getF32Type() : type.getElementType();
  rewriter.setInsertionPoint(op);
  Value temporary = memref::AllocOp::create(
      rewriter, op.getLoc(), MemRefType::get(type.getShape(), element));
  auto redirected = linalg::GenericOp::create(
      rewriter, op.getLoc(), op.getInputs(), temporary,
      op.getIndexingMapsArray(), op.getIteratorTypesArray(),
      [](OpBuilder &builder, Location loc, ValueRange arguments) {
        Value sum = createMultiplyAdd(builder, loc, arguments[0], arguments[1],
                                      arguments[2]);
        linalg::YieldOp::create(builder, loc, sum);
      });
  rewriter.eraseOp(op);
  return redirected;
}

void veeline::sumWider(RewriterBase &rewriter, linalg::GenericOp op) {
  Location loc = op.getLoc();
  Value output = op.getDpsInits()[0];
  linalg::GenericOp product = redirectToTemporary(rewriter, op);
  Value temporary = product.getDpsInits()[0];
  rewriter.setInsertionPoint(product);
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getF32FloatAttr(0.0));
  linalg::FillOp::create(rewriter, loc, zero, temporary);
  rewriter.setInsertionPointAfter(product);
  addTo(rewriter, loc, output, temporary);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

std::optional<LoopNest> veeline::matchCopy(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 1 ||
      generic.getNumDpsInits() != 1 || generic.getNumReductionLoops() ||
      !llvm::hasSingleElement(*generic.getBlock()) ||
      generic.getBlock()->getTerminator()->getOperand(0) !=
          generic.getBlock()->getArgument(0) ||
      !isa<MemRefType>(generic->getOperand(0).getType()))
    return std::nullopt;
  FailureOr<LoopNest> found = LoopNest::get(generic);
  if (failed(found))
    return std::nullopt;
  LoopNest nest = std::move(*found);
  nest.dropUnitLoops();
  return nest;
}

bool veeline::anyBetween(ArrayRef<Operation *> ops, Operation *begin,
                         Operation *end) {
  return llvm::any_of(ops, [&](Operation *op) {
    return begin->isBeforeInBlock(op) && op->isBeforeInBlock(end);
  });
}

void veeline::removeDeadCopies(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<memref::AllocOp> allocs;
  function.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
  for (memref::AllocOp alloc : llvm::reverse(allocs)) {
    BufferUses accesses(alloc, alloc->getBlock());
    if (!accesses.isKnown || !accesses.readers.empty() ||
        !llvm::all_of(accesses.writers, [](Operation *op) {
          return isa<memref::CopyOp, linalg::FillOp>(op) || matchCopy(op);
        }))
      continue;
    for (Operation *op : accesses.writers)
      rewriter.eraseOp(op);
  }
}
