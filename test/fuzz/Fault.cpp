//===- Fault.cpp - deliberate miscompilation ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fault.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "veeline/Analysis/CostModel.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/Dialect/Pipe/Transforms/MemoryPlan.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace veeline;
using namespace veeline::fuzz;

std::optional<Fault> veeline::fuzz::findFault(std::string_view name) {
  return llvm::StringSwitch<std::optional<Fault>>(name)
      .Case("gradient", Fault::gradient)
      .Case("split", Fault::split)
      .Case("layout", Fault::layout)
      .Case("memory", Fault::memory)
      .Default(std::nullopt);
}

/// Multiplies the gradients of parameters that `function` returns.
static void scaleGradients(func::FuncOp function, double factor) {
  auto terminator = cast<func::ReturnOp>(function.back().getTerminator());
  OpBuilder builder(terminator);
  for (OpOperand &operand : terminator->getOpOperands()) {
    pipe::RoleAttr role =
        pipe::getResultRole(function, operand.getOperandNumber());
    if (role.getKind() != pipe::RoleKind::ParamGrad)
      continue;
    auto type = cast<RankedTensorType>(operand.get().getType());
    auto value = DenseElementsAttr::get(
        type, builder.getFloatAttr(type.getElementType(), factor).getValue());
    Location loc = terminator.getLoc();
    Value scale = arith::ConstantOp::create(builder, loc, value);
    operand.set(arith::MulFOp::create(builder, loc, operand.get(), scale));
  }
}

/// Transposes the operands of products in memory, and changes the indexing maps
/// so that the products read the same elements.
static void turnOperands(func::FuncOp function) {
  SmallVector<linalg::LinalgOp> products;
  function.walk([&](linalg::LinalgOp op) {
    if (isContraction(op))
      products.push_back(op);
  });
  IRRewriter builder(function.getContext());
  for (linalg::LinalgOp product : products) {
    builder.setInsertionPoint(product);
    linalg::GenericOp op = isa<linalg::GenericOp>(product.getOperation())
                               ? cast<linalg::GenericOp>(product.getOperation())
                               : *linalg::generalizeNamedOp(builder, product);
    for (OpOperand *operand : op.getDpsInputOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand->get().getType());
      if (!type || type.getRank() != 2 || !type.hasStaticShape())
        continue;
      builder.setInsertionPoint(op);
      Value target = tensor::EmptyOp::create(
          builder, op.getLoc(), {type.getDimSize(1), type.getDimSize(0)},
          type.getElementType());
      auto turned = linalg::TransposeOp::create(builder, op.getLoc(),
                                                operand->get(), target, {1, 0});
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      AffineMap &map = maps[operand->getOperandNumber()];
      map = map.getSubMap({1, 0});
      operand->set(turned->getResult(0));
      op.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
    }
  }
}

void veeline::fuzz::miscompileFunctions(ModuleOp module, Fault fault) {
  using Kind = pipe::ChunkFunctionKind;
  auto scale = [&](pipe::ChunkOp chunk, Kind kind, double factor) {
    if (FlatSymbolRefAttr name = pipe::getFunctionName(chunk, kind))
      scaleGradients(module.lookupSymbol<func::FuncOp>(name), factor);
  };
  auto miscompile = [&](pipe::ChunkOp chunk) {
    if (fault == Fault::gradient)
      for (Kind kind : {Kind::Backward, Kind::BackwardWeight})
        scale(chunk, kind, 1 + 1e-5);
    // Changes several bits of an f32, and less than finite differences can
    // tell.
    if (fault == Fault::split)
      scale(chunk, Kind::BackwardWeight, 1 + std::ldexp(1, -20));
    if (fault == Fault::layout)
      if (FlatSymbolRefAttr name =
              pipe::getFunctionName(chunk, Kind::BackwardWeight))
        turnOperands(module.lookupSymbol<func::FuncOp>(name));
  };
  for (auto pipeline : module.getOps<pipe::PipelineOp>())
    for (pipe::ChunkOp chunk : pipeline.getChunks())
      miscompile(chunk);
}

/// Moves the results of all forwards of a chunk to those of its first one.
static void overlapForwards(pipe::ProgramOp program) {
  llvm::DenseMap<int64_t, Attribute> first;
  program.walk([&](pipe::ForwardOp forward) {
    Attribute offsets = forward->getAttr(pipe::offsetsAttrName);
    auto [entry, isFirst] = first.try_emplace(forward.getChunk(), offsets);
    if (!isFirst && offsets)
      forward->setAttr(pipe::offsetsAttrName, entry->second);
  });
}

void veeline::fuzz::miscompilePrograms(ModuleOp module, Fault fault) {
  if (fault != Fault::memory)
    return;
  for (auto program : module.getOps<pipe::ProgramOp>())
    if (program.getPipeline() != "sequential" &&
        program.getPipeline() != "single")
      overlapForwards(program);
}
