//===- EpilogueMatches.cpp - matching epilogues of products ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EpilogueMatches.h"
#include "Kernels/StructuredOps.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace veeline;

bool veeline::isAccumulation(const ProductCall &product, linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1)
    return false;
  OpOperand &input = op->getOpOperand(0), &init = op->getOpOperand(1);
  if (!product.isProduct(op, input) || !product.isWhole(op, init) ||
      init.get().getType() != input.get().getType())
    return false;
  Block &body = *op.getBlock();
  auto sum = dyn_cast<arith::AddFOp>(body.front());
  auto adds = [&](unsigned argument) {
    return llvm::is_contained(sum->getOperands(),
                              Value(body.getArgument(argument)));
  };
  return sum && adds(0) && adds(1) &&
         body.getTerminator()->getOperand(0) == sum.getResult();
}

/// True for a vector with a number for each column of the product.
static bool isOfColumns(const ProductCall &product, linalg::GenericOp op,
                        OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  AffineMap columns =
      AffineMap::get(op.getNumLoops(), 0,
                     getAffineDimExpr(op.getNumLoops() - 1, op.getContext()));
  return type && type.getLayout().isIdentity() &&
         type.getShape() == ArrayRef<int64_t>(product.desc.n) &&
         op.getMatchingIndexingMap(&operand) == columns;
}

std::optional<EpilogueInputs> veeline::findInputs(const ProductCall &product,
                                                  linalg::GenericOp op) {
  std::optional<unsigned> found;
  EpilogueInputs inputs;
  for (OpOperand *input : op.getDpsInputOperands()) {
    unsigned number = input->getOperandNumber();
    if (getRootBuffer(input->get()) == getRootBuffer(product.result)) {
      if (found || !product.isProduct(op, *input))
        return std::nullopt;
      found = number;
    } else if (!inputs.bias && isOfColumns(product, op, *input)) {
      inputs.bias = number;
    }
  }
  if (!found)
    return std::nullopt;
  inputs.product = *found;
  return inputs;
}

std::optional<EpilogueInputs>
veeline::matchDerivative(const ProductCall &product, linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2)
    return std::nullopt;
  for (unsigned number : {0, 1}) {
    EpilogueInputs inputs{number, std::nullopt, 1 - number};
    if (product.isProduct(op, op->getOpOperand(number)) &&
        product.isWhole(op, op->getOpOperand(1 - number)) &&
        isGeluDerivative(op, inputs))
      return inputs;
  }
  return std::nullopt;
}

/// The only operand of `op` in the buffer of the product, if it is the whole
/// product. Its rows may be several dimensions.
static OpOperand *findProduct(const ProductCall &product,
                              linalg::GenericOp op) {
  OpOperand *found = nullptr;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type || getRootBuffer(operand.get()) != getRootBuffer(product.result))
      continue;
    bool isWhole = type.hasStaticShape() && type.getLayout().isIdentity() &&
                   type.getNumElements() == product.desc.m * product.desc.n &&
                   type.getRank() > 0 &&
                   type.getShape().back() == product.desc.n;
    if (found || !isWhole || op.isDpsInit(&operand))
      return nullptr;
    found = &operand;
  }
  return found;
}

std::optional<SumReader> veeline::matchSum(const ProductCall &product,
                                           linalg::GenericOp op) {
  OpOperand *whole = findProduct(product, op);
  if (!whole)
    return std::nullopt;
  AffineMap place = op.getMatchingIndexingMap(whole);
  AffineMap column = place.getSubMap({place.getNumResults() - 1});
  EpilogueInputs inputs{whole->getOperandNumber(), std::nullopt, std::nullopt};
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<MemRefType>(input->get().getType());
    inputs.bias = input->getOperandNumber();
    if (!type || !type.getLayout().isIdentity() ||
        type.getShape() != ArrayRef<int64_t>(product.desc.n) ||
        op.getMatchingIndexingMap(input) != column)
      continue;
    if (auto sums = findBiasSums(op, inputs); !sums.empty())
      return SumReader{op, inputs, sums};
  }
  return std::nullopt;
}

bool veeline::fitSums(ArrayRef<SumReader> readers, Type type) {
  auto isRounding = [&](Operation *user) {
    return isa<arith::TruncFOp>(user) && user->getResult(0).getType() == type;
  };
  auto fits = [&](arith::AddFOp sum) {
    return sum.getType() == type || llvm::all_of(sum->getUsers(), isRounding);
  };
  return llvm::all_of(readers, [&](const SumReader &reader) {
    return llvm::all_of(reader.sums, fits);
  });
}

bool veeline::canHaveAux(const ProductCall &product) {
  return product.isStoredByRows() && product.desc.n % 8 == 0 &&
         product.desc.alignment.value_or(0) >= kernelAlignment;
}
