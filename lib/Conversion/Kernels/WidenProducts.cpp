//===- WidenProducts.cpp - products of 16-bit floats ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WidenProducts.h"

#include "StructuredOps.h"
#include "veeline/Analysis/Convolution.h"
#include "veeline/Analysis/FloatConversion.h"
#include "veeline/Analysis/TensorEmit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace veeline;

static bool isSmallFloat(Value value) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(value.getType()));
  return element && element.getWidth() < 32;
}

/// Converts the init of a product. A fill becomes a fill of `element`.
static Value convertStart(OpBuilder &builder, Location location, Value start,
                          Type element) {
  auto fill = start.getDefiningOp<linalg::FillOp>();
  if (!fill || !isSmallFloat(start))
    return createConversion(builder, location, start, element);
  auto type = cast<RankedTensorType>(start.getType());
  Value value = arith::ExtFOp::create(builder, location, element, fill.value());
  Value empty = createEmpty(builder, location, type.clone(element));
  return linalg::FillOp::create(builder, location, value, empty).getResult(0);
}

/// Creates the product of `a` and `b` in the arrangement of `op`, added to
/// `start`.
static Value createProduct(RewriterBase &rewriter, linalg::GenericOp op,
                           Value a, Value b, Value start) {
  return linalg::GenericOp::create(
             rewriter, op.getLoc(), start.getType(), ValueRange{a, b}, start,
             op.getIndexingMapsArray(), op.getIteratorTypesArray(),
             [](OpBuilder &builder, Location loc, ValueRange v) {
               linalg::YieldOp::create(
                   builder, loc,
                   createMultiplyAdd(builder, loc, v[0], v[1], v[2]));
             })
      .getResult(0);
}

/// Makes `op` a product whose sum is in f32. Its operands are converted to f32,
/// or stay as they are.
static void widen(RewriterBase &rewriter, linalg::GenericOp op,
                  bool convertsOperands = true) {
  rewriter.setInsertionPoint(op);
  Location location = op.getLoc();
  Type wide = rewriter.getF32Type();
  Value a = op.getInputs()[0], b = op.getInputs()[1];
  if (convertsOperands) {
    a = createConversion(rewriter, location, a, wide);
    b = createConversion(rewriter, location, b, wide);
  }
  Value start = convertStart(rewriter, location, op.getOutputs()[0], wide);
  Value product = createProduct(rewriter, op, a, b, start);
  Type narrow = getElementTypeOrSelf(op.getResult(0).getType());
  rewriter.replaceOp(op, createConversion(rewriter, location, product, narrow));
}

/// True for a product and, on a GPU, for a convolution.
static bool isProduct(linalg::GenericOp op, KernelTarget target) {
  return isMatrixProduct(op) ||
         (target == KernelTarget::Cuda && isLibraryConvolution(op, target));
}

/// The products that have an operand or a result of f16 or bf16.
static SmallVector<linalg::GenericOp> findSmallProducts(Operation *root,
                                                        KernelTarget target) {
  SmallVector<linalg::GenericOp> ops;
  root->walk([&](linalg::GenericOp op) {
    bool isFloat = llvm::all_of(op->getOperands(), [](Value operand) {
      Type element = getElementTypeOrSelf(operand.getType());
      return isa<RankedTensorType>(operand.getType()) &&
             (element.isF32() || element.isF16() || element.isBF16());
    });
    if (isFloat && isProduct(op, target) &&
        llvm::any_of(op->getOperands(), isSmallFloat))
      ops.push_back(op);
  });
  return ops;
}

void veeline::widenProducts(RewriterBase &rewriter, Operation *root) {
  for (linalg::GenericOp op : findSmallProducts(root, KernelTarget::Host))
    widen(rewriter, op);
}

//===----------------------------------------------------------------------===//
// For the library of a GPU
//===----------------------------------------------------------------------===//

static bool startsFromZeros(linalg::GenericOp product) {
  auto fill = product.getOutputs()[0].getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.value(), m_AnyZeroFloat());
}

/// The only user of an f32 product if it rounds the product to the type of the
/// operands, else null.
static linalg::GenericOp findRounding(linalg::GenericOp product) {
  Value result = product.getResult(0);
  if (isSmallFloat(result) || !result.hasOneUse())
    return {};
  auto user = dyn_cast<linalg::GenericOp>(*result.user_begin());
  Type type = getElementTypeOrSelf(product.getInputs()[0].getType());
  bool rounds = user && getRounded(user.getResult(0)) == result &&
                getElementTypeOrSelf(user.getResult(0).getType()) == type;
  return rounds ? user : linalg::GenericOp();
}

/// Replaces `last`, which is `op` or rounds its result, by a product whose
/// result has the operands' type.
static void narrow(RewriterBase &rewriter, linalg::GenericOp op,
                   linalg::GenericOp last) {
  rewriter.setInsertionPoint(op);
  Location location = op.getLoc();
  auto type = cast<RankedTensorType>(last.getResult(0).getType());
  Value zeros = createZeros(rewriter, location, type);
  Value product =
      createProduct(rewriter, op, op.getInputs()[0], op.getInputs()[1], zeros);
  rewriter.replaceOp(last, product);
  if (last != op)
    rewriter.eraseOp(op);
}

/// Makes products read the values from which their operands were extended, if
/// both have the same type: the library extends operands itself.
static void readSmallOperands(RewriterBase &rewriter, Operation *root) {
  SmallVector<linalg::GenericOp> ops;
  root->walk([&](linalg::GenericOp op) {
    if (op.hasPureTensorSemantics() && isProduct(op, KernelTarget::Cuda) &&
        getElementTypeOrSelf(op.getResult(0).getType()).isF32())
      ops.push_back(op);
  });
  for (linalg::GenericOp op : ops) {
    auto getSource = [&](unsigned i) {
      Value extended = getExtended(op.getInputs()[i]);
      return extended ? extended : op.getInputs()[i];
    };
    Value a = getSource(0), b = getSource(1);
    if (!isSmallFloat(a) ||
        getElementTypeOrSelf(a.getType()) != getElementTypeOrSelf(b.getType()))
      continue;
    rewriter.setInsertionPoint(op);
    rewriter.replaceOp(op,
                       createProduct(rewriter, op, a, b, op.getOutputs()[0]));
  }
}

void veeline::keepSmallProducts(RewriterBase &rewriter, Operation *root) {
  readSmallOperands(rewriter, root);
  for (linalg::GenericOp op : findSmallProducts(root, KernelTarget::Cuda)) {
    auto getType = [&](unsigned i) {
      return getElementTypeOrSelf(op->getOperand(i).getType());
    };
    Type type = getType(0), sum = getType(2);
    bool isKept = type == getType(1) && (sum == type || sum.isF32());
    if (!isKept) {
      widen(rewriter, op);
      continue;
    }
    linalg::GenericOp last = sum == type ? op : findRounding(op);
    if (last && startsFromZeros(op))
      narrow(rewriter, op, last);
    else
      widen(rewriter, op, /*convertsOperands=*/false);
  }
}
