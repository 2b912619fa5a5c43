//===- ResultsToArguments.cpp - turning results into out-parameters -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Conversion/Passes.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace veeline {
#define GEN_PASS_DEF_PIPERESULTSTOARGUMENTS
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

static bool isStaticTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape();
}

/// Checks that the signature and the body can be converted.
static LogicalResult checkFunction(func::FuncOp function) {
  for (Type type : function.getArgumentTypes())
    if (!isStaticTensor(type))
      return function.emitError("bufferizing a chunk function needs arguments "
                                "that are tensors of static shape, found ")
             << type;
  for (Type type : function.getResultTypes())
    if (!isStaticTensor(type))
      return function.emitError("bufferizing a chunk function needs results "
                                "that are tensors of static shape, found ")
             << type;
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitError("bufferizing a chunk function needs a body of "
                              "one block, found ")
           << function.getBody().getBlocks().size();
  WalkResult calls = function.walk([](func::CallOp call) {
    call.emitError("a chunk function cannot call '")
        << call.getCallee() << "': inline it first";
    return WalkResult::interrupt();
  });
  return failure(calls.wasInterrupted());
}

static MemRefType getBufferType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

/// Adds two tensors elementwise, for floats and integers.
static Value addToAccumulator(OpBuilder &builder, Location loc,
                              Value accumulator, Value gradient) {
  auto type = cast<RankedTensorType>(gradient.getType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto body = [](OpBuilder &builder, Location loc, ValueRange arguments) {
    Value sum =
        isa<FloatType>(arguments[0].getType())
            ? arith::AddFOp::create(builder, loc, arguments[1], arguments[0])
                  .getResult()
            : arith::AddIOp::create(builder, loc, arguments[1], arguments[0])
                  .getResult();
    linalg::YieldOp::create(builder, loc, sum);
  };
  return linalg::GenericOp::create(builder, loc, type, gradient, accumulator,
                                   {identity, identity}, iterators, body)
      .getResult(0);
}

static bool isAccumulated(func::FuncOp function, unsigned result) {
  pipe::RoleAttr role = pipe::getResultRole(function, result);
  return role && role.getKind() == pipe::RoleKind::ParamGrad;
}

/// The out-parameter `out` as a tensor. Apart from this tensor, only the store
/// at the end of the function refers to its memory.
static Value getDestination(OpBuilder &builder, Location loc, Type type,
                            Value out) {
  return bufferization::ToTensorOp::create(builder, loc, type, out,
                                           /*restrict=*/true,
                                           /*writable=*/true);
}

/// Adds `gradient` to its accumulator as soon as it is computed, so that it
/// does not stay alive until the function returns.
static Value accumulate(OpBuilder &builder, Location loc, Value gradient,
                        Value accumulator) {
  OpBuilder::InsertionGuard guard(builder);
  Operation *before = accumulator.getDefiningOp();
  if (Operation *producer = gradient.getDefiningOp())
    builder.setInsertionPointAfter(before->isBeforeInBlock(producer) ? producer
                                                                     : before);
  return addToAccumulator(builder, loc, accumulator, gradient);
}

//===----------------------------------------------------------------------===//
// Gradients in parts
//===----------------------------------------------------------------------===//

/// The summands of `value`, if it is a sum of two tensors with no other use.
static std::optional<std::pair<Value, Value>> matchSum(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || !value.hasOneUse() || op.getNumDpsInputs() != 2 ||
      op->getNumResults() != 1 || op.getNumReductionLoops() ||
      llvm::range_size(*op.getBlock()) != 2 ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return std::nullopt;
  auto sum = op.getBlock()
                 ->getTerminator()
                 ->getOperand(0)
                 .getDefiningOp<arith::AddFOp>();
  Value first = op.getBlock()->getArgument(0);
  Value second = op.getBlock()->getArgument(1);
  if (!sum || sum.getLhs() != first || sum.getRhs() != second)
    return std::nullopt;
  return std::pair(op.getDpsInputs()[0], op.getDpsInputs()[1]);
}

/// True if `loop` and the loops in it only add to selected elements of the
/// tensor that they carry.
static bool onlyAdds(scf::ForOp loop) {
  if (loop.getNumRegionIterArgs() != 1)
    return false;
  Value carried = loop.getRegionIterArg(0);
  Value yielded = loop.getBody()->getTerminator()->getOperand(0);
  if (auto inner = yielded.getDefiningOp<scf::ForOp>())
    return carried.hasOneUse() && yielded.hasOneUse() &&
           inner.getInitArgs().size() == 1 &&
           inner.getInitArgs()[0] == carried && onlyAdds(inner);
  auto insert = yielded.getDefiningOp<tensor::InsertOp>();
  auto sum = insert ? insert.getScalar().getDefiningOp<arith::AddFOp>()
                    : arith::AddFOp();
  auto extract = sum ? sum.getLhs().getDefiningOp<tensor::ExtractOp>()
                     : tensor::ExtractOp();
  return extract && insert.getDest() == carried &&
         extract.getTensor() == carried && extract->hasOneUse() &&
         extract.getIndices() == insert.getIndices() &&
         llvm::range_size(carried.getUses()) == 2;
}

/// The loop that computes `value` by adding to elements of a tensor, if `value`
/// has no other use.
static scf::ForOp matchScatter(Value value) {
  auto loop = value.getDefiningOp<scf::ForOp>();
  return loop && value.hasOneUse() && onlyAdds(loop) ? loop : scf::ForOp();
}

static bool isZeros(Value value) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
}

/// Lists the parts of the sum `gradient`, in the order in which they are added.
/// A part is a loop that adds to the sum before it, or another value. Also
/// lists the ops that add the parts, the last one first.
static void listParts(Value gradient, SmallVectorImpl<Value> &parts,
                      SmallVectorImpl<Operation *> &sums) {
  if (auto summands = matchSum(gradient)) {
    sums.push_back(gradient.getDefiningOp());
    listParts(summands->first, parts, sums);
    listParts(summands->second, parts, sums);
    return;
  }
  scf::ForOp loop = matchScatter(gradient);
  if (loop && !isZeros(loop.getInitArgs()[0]))
    listParts(loop.getInitArgs()[0], parts, sums);
  parts.push_back(gradient);
}

/// Adds the gradient `returned` to its accumulator part by part, so that no sum
/// of parts needs memory of its own. A product is added by the op that computes
/// it, and a loop adds directly to the accumulator.
static Value accumulateParts(OpBuilder &builder, Location loc,
                             OpOperand &returned, Value accumulator) {
  SmallVector<Value> parts;
  SmallVector<Operation *> sums;
  listParts(returned.get(), parts, sums);
  SmallVector<bool> areLoops = llvm::map_to_vector(
      parts, [](Value part) { return static_cast<bool>(matchScatter(part)); });
  // The return is the only user of the last sum, and it will have no operands.
  returned.set(parts.front());
  for (Operation *sum : sums)
    sum->erase();
  for (auto [part, isLoop] : llvm::zip_equal(parts, areLoops)) {
    if (!isLoop) {
      accumulator = accumulate(builder, loc, part, accumulator);
      continue;
    }
    auto loop = part.getDefiningOp<scf::ForOp>();
    if (loop->isBeforeInBlock(accumulator.getDefiningOp()))
      loop->moveAfter(accumulator.getDefiningOp());
    loop.getInitArgsMutable()[0].set(accumulator);
    accumulator = part;
  }
  return accumulator;
}

/// Stores the values that the function returns into `outs`. Each value first
/// goes into the tensor of its out-parameter. There, the analysis of
/// bufferization sees if memory would be overwritten while other results, or
/// ops that use a result in place, still need its content. The stores to memory
/// come last. They copy nothing if the result was computed in place.
static void storeResults(OpBuilder &builder, func::FuncOp function,
                         func::ReturnOp returnOp, ValueRange outs,
                         ValueRange destinations, KernelTarget target) {
  Location loc = returnOp.getLoc();
  builder.setInsertionPoint(returnOp);
  SmallVector<Value> stored;
  for (auto [i, value] : llvm::enumerate(returnOp.getOperands())) {
    if (isAccumulated(function, i) && target == KernelTarget::Cuda)
      stored.push_back(accumulateParts(builder, loc, returnOp->getOpOperand(i),
                                       destinations[i]));
    else if (isAccumulated(function, i))
      stored.push_back(accumulate(builder, loc, value, destinations[i]));
    else
      stored.push_back(
          bufferization::MaterializeInDestinationOp::create(
              builder, loc, value.getType(), value, destinations[i])
              .getResult());
  }
  for (auto [value, out] : llvm::zip(stored, outs))
    bufferization::MaterializeInDestinationOp::create(builder, loc, TypeRange(),
                                                      value, out)
        .setWritable(true);
}

static void convertArguments(OpBuilder &builder, func::FuncOp function) {
  Block &body = function.getBody().front();
  builder.setInsertionPointToStart(&body);
  for (BlockArgument argument : body.getArguments()) {
    Type tensorType = argument.getType();
    argument.setType(getBufferType(tensorType));
    if (argument.use_empty())
      continue;
    auto tensor = bufferization::ToTensorOp::create(
        builder, argument.getLoc(), tensorType, argument, /*restrict=*/true,
        /*writable=*/false);
    argument.replaceAllUsesExcept(tensor, tensor);
  }
}

static void convertFunction(func::FuncOp function, KernelTarget target) {
  OpBuilder builder(function.getContext());
  Location loc = function.getLoc();
  Block &body = function.getBody().front();
  convertArguments(builder, function);

  SmallVector<Attribute> attributes;
  attributes.push_back(builder.getDictionaryAttr({}));
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    attributes.push_back(function.getArgAttrDict(i) ? function.getArgAttrDict(i)
                                                    : attributes.front());
  auto returnOp = cast<func::ReturnOp>(body.getTerminator());
  unsigned numResults = returnOp.getNumOperands();
  SmallVector<Value> outs, destinations;
  for (unsigned i = 0; i < numResults; ++i) {
    Type type = returnOp.getOperand(i).getType();
    outs.push_back(body.addArgument(getBufferType(type), loc));
    destinations.push_back(getDestination(builder, loc, type, outs.back()));
    DictionaryAttr dictionary = function.getResultAttrDict(i);
    attributes.push_back(dictionary ? dictionary : attributes.front());
  }
  storeResults(builder, function, returnOp, outs, destinations, target);
  returnOp.getOperandsMutable().clear();
  body.insertArgument(0u, LLVM::LLVMPointerType::get(function.getContext()),
                      loc);
  function.removeResAttrsAttr();
  function.setType(
      builder.getFunctionType(body.getArgumentTypes(), TypeRange()));
  function.setArgAttrsAttr(builder.getArrayAttr(attributes));
  function->setAttr(pipe::numResultsAttrName,
                    builder.getI64IntegerAttr(numResults));
}

namespace {

struct ResultsToArguments
    : veeline::impl::PipeResultsToArgumentsBase<ResultsToArguments> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto isTensor = [](Type type) { return isa<TensorType>(type); };
    if (function.isExternal() ||
        (llvm::none_of(function.getArgumentTypes(), isTensor) &&
         llvm::none_of(function.getResultTypes(), isTensor)))
      return;
    if (failed(checkFunction(function)))
      return signalPassFailure();
    convertFunction(function, target);
  }
};

} // namespace
