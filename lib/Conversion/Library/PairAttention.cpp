//===- PairAttention.cpp - joining the derivatives of an attention --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Conversion/Attention.h"
#include "veeline/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEPAIRATTENTION
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;
using veeline::pipe::AttentionBackwardKVOp;
using veeline::pipe::AttentionBackwardOp;
using veeline::pipe::AttentionBackwardQOp;

//===----------------------------------------------------------------------===//
// delta
//===----------------------------------------------------------------------===//

/// The number of the argument of `op`'s body that `value` is, perhaps in a
/// wider type.
static std::optional<unsigned> getArgument(linalg::GenericOp op, Value value) {
  if (auto widened = value.getDefiningOp<arith::ExtFOp>())
    value = widened.getIn();
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != op.getBlock())
    return std::nullopt;
  return argument.getArgNumber();
}

/// Whether the body of `op` adds the product of its two inputs to the output.
static bool addsProduct(linalg::GenericOp op) {
  Operation *yield = op.getBlock()->getTerminator();
  auto sum = yield->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum)
    return false;
  for (auto [first, second] : {std::pair(sum.getLhs(), sum.getRhs()),
                               std::pair(sum.getRhs(), sum.getLhs())}) {
    auto product = second.getDefiningOp<arith::MulFOp>();
    if (!product || first != op.getRegionOutputArgs()[0])
      continue;
    std::optional<unsigned> a = getArgument(op, product.getLhs());
    std::optional<unsigned> b = getArgument(op, product.getRhs());
    return a && b && *a != *b && *a < 2 && *b < 2;
  }
  return false;
}

/// The tensor whose products with `outputGrad`, summed for each row, are
/// `delta`. Null if there is none.
static Value findOutput(Value delta, Value outputGrad) {
  auto op = delta.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return {};
  auto zeros = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (!zeros || !matchPattern(zeros.getInputs()[0], m_AnyZeroFloat()))
    return {};
  unsigned loops = op.getNumLoops();
  AffineMap all = AffineMap::getMultiDimIdentityMap(loops, op.getContext());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (maps[0] != all || maps[1] != all ||
      maps[2] != all.dropResult(loops - 1) || !addsProduct(op))
    return {};
  for (unsigned i : {0, 1})
    if (op.getDpsInputs()[i] == outputGrad)
      return op.getDpsInputs()[1 - i];
  return {};
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// The other derivative of the same attention, in the same block.
static AttentionBackwardKVOp findPartner(AttentionBackwardQOp op) {
  auto getInputs = [](auto derivative) {
    return llvm::to_vector(derivative->getOperands().drop_back(
        derivative.getDpsInitsMutable().size()));
  };
  SmallVector<Value> inputs = getInputs(op);
  for (Operation *user : op.getQuery().getUsers()) {
    auto partner = dyn_cast<AttentionBackwardKVOp>(user);
    if (partner && user->getBlock() == op->getBlock() &&
        getInputs(partner) == inputs &&
        user->getAttrDictionary() == op->getAttrDictionary())
      return partner;
  }
  return {};
}

static void pair(RewriterBase &rewriter, AttentionBackwardQOp op) {
  AttentionBackwardKVOp partner = findPartner(op);
  if (!partner)
    return;
  Value output = findOutput(op.getDelta(), op.getOutputGrad());
  if (!output || output.getType() != op.getOutputGrad().getType())
    return;
  // Both have the same operands, so either place is possible. The earlier one
  // dominates all users.
  bool isFirst = op->isBeforeInBlock(partner);
  rewriter.setInsertionPoint(isFirst ? op.getOperation()
                                     : partner.getOperation());
  SmallVector<Value> inits;
  SmallVector<Type> types(op->getResultTypes());
  llvm::append_range(types, partner->getResultTypes());
  for (Type type : types) {
    auto tensor = cast<RankedTensorType>(type);
    inits.push_back(tensor::EmptyOp::create(
        rewriter, op.getLoc(), tensor.getShape(), tensor.getElementType()));
  }
  auto both = AttentionBackwardOp::create(
      rewriter, op.getLoc(), types, op.getQuery(), op.getKey(), op.getValue(),
      output, op.getOutputGrad(), op.getLse(), op.getMask(), inits[0], inits[1],
      inits[2], op.getScaleAttr(), op.getCausalAttr(), op.getMaskDimsAttr(),
      op.getFillAttr());
  Operation *delta = op.getDelta().getDefiningOp();
  rewriter.replaceOp(op, both->getResults().take_front(1));
  rewriter.replaceOp(partner, both->getResults().drop_front(1));
  if (isOpTriviallyDead(delta))
    rewriter.eraseOp(delta);
}

namespace {

struct PairAttention : veeline::impl::PipePairAttentionBase<PairAttention> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<AttentionBackwardQOp> ops;
    getOperation()->walk([&](AttentionBackwardQOp op) {
      if (op.hasPureTensorSemantics() &&
          op.getQueryType().getElementTypeBitWidth() == 16)
        ops.push_back(op);
    });
    for (AttentionBackwardQOp op : ops)
      pair(rewriter, op);
  }
};

} // namespace
