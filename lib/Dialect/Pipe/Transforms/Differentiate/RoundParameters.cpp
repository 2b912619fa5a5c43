//===- RoundParameters.cpp - --pipe-round-parameters ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/Steps.h"
#include "llvm/ADT/BitVector.h"

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPEROUNDPARAMETERS
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline::pipe;

/// Whether `truncate` rounds in the same way as --pipe-lower-to-runtime.
static bool isPlain(arith::TruncFOp truncate) {
  return truncate && !truncate.getRoundingmode() &&
         truncate.getFastmath().value_or(arith::FastMathFlags::none) ==
             arith::FastMathFlags::none;
}

/// Whether `op` only rounds its single input to a narrower type.
static bool isRounding(Operation *op) {
  if (auto truncate = dyn_cast<arith::TruncFOp>(op))
    return isPlain(truncate);
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 1 ||
      generic.getNumDpsInits() != 1 || generic->getNumResults() != 1 ||
      generic.getNumParallelLoops() != generic.getNumLoops() ||
      !llvm::all_of(generic.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return false;
  Block &body = *generic.getBody();
  auto truncate =
      body.getTerminator()->getOperand(0).getDefiningOp<arith::TruncFOp>();
  return isPlain(truncate) && truncate.getIn() == body.getArgument(0) &&
         llvm::hasNItems(body, 2);
}

/// Whether the user is an elementwise op or a broadcast. It then computes its
/// operand in its own kernel, so the operand is not stored.
static bool isComputedOnTheWay(OpOperand &use) {
  auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
  if (!user || user.getNumParallelLoops() != user.getNumLoops())
    return false;
  AffineMap map = user.getMatchingIndexingMap(&use);
  return map.isIdentity() || map.getNumResults() < map.getNumDims();
}

/// The ops that round `param` to one narrower type. None if no op reads their
/// results from memory.
static SmallVector<Operation *> findRoundings(BlockArgument param) {
  SmallVector<Operation *> roundings;
  bool isRead = false;
  for (Operation *user : param.getUsers()) {
    if (!isRounding(user) ||
        (!roundings.empty() && user->getResult(0).getType() !=
                                   roundings.front()->getResult(0).getType()))
      continue;
    roundings.push_back(user);
    isRead |= !llvm::all_of(user->getResult(0).getUses(), isComputedOnTheWay);
  }
  return isRead ? roundings : SmallVector<Operation *>();
}

/// Whether argument `number` of a function of `chunk` is a parameter.
static bool isParameter(func::FuncOp func, unsigned number, ChunkOp chunk) {
  RoleAttr role = getArgRole(func, number);
  return role && role.getKind() == RoleKind::Operand &&
         role.getIndex() < chunk.getOperands().size() &&
         chunk.getOperands()[role.getIndex()].getDefiningOp<ParamOp>();
}

/// Replaces `roundings` of argument `number` by a new argument.
static LogicalResult takeRounded(func::FuncOp func, unsigned number,
                                 ArrayRef<Operation *> roundings) {
  unsigned added = func.getNumArguments();
  Type type = roundings.front()->getResult(0).getType();
  if (failed(func.insertArgument(added, type, DictionaryAttr(), func.getLoc())))
    return failure();
  setArgRole(func, added, RoleKind::Rounded,
             getArgRole(func, number).getIndex());
  for (Operation *rounding : roundings) {
    rounding->getResult(0).replaceAllUsesWith(func.getArgument(added));
    rounding->erase();
  }
  return success();
}

/// Makes `func` take its parameters rounded. A backward function then drops the
/// parameters that it does not use any more.
static LogicalResult roundArguments(func::FuncOp func, ChunkOp chunk,
                                    bool isForward) {
  unsigned count = func.getNumArguments();
  llvm::BitVector unused(count);
  for (unsigned i = 0; i != count; ++i) {
    if (!isParameter(func, i, chunk))
      continue;
    SmallVector<Operation *> roundings = findRoundings(func.getArgument(i));
    if (roundings.empty())
      continue;
    if (failed(takeRounded(func, i, roundings)))
      return failure();
    if (!isForward && func.getArgument(i).use_empty())
      unused.set(i);
  }
  unused.resize(func.getNumArguments());
  return func.eraseArguments(unused);
}

LogicalResult veeline::pipe::roundParameters(ChunkOp chunk,
                                             SymbolTableCollection &symbols) {
  for (auto kind :
       {ChunkFunctionKind::Forward, ChunkFunctionKind::Backward,
        ChunkFunctionKind::BackwardInput, ChunkFunctionKind::BackwardWeight,
        ChunkFunctionKind::Recomputation}) {
    func::FuncOp func = getFunction(symbols, chunk, kind);
    if (func && !func.isDeclaration() &&
        failed(roundArguments(func, chunk, kind == ChunkFunctionKind::Forward)))
      return failure();
  }
  return success();
}

namespace {
struct PipeRoundParameters
    : veeline::pipe::impl::PipeRoundParametersBase<PipeRoundParameters> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    for (auto pipeline : getOperation().getOps<PipelineOp>())
      for (ChunkOp chunk : pipeline.getChunks())
        if (failed(roundParameters(chunk, symbols)))
          return signalPassFailure();
  }
};
} // namespace
