//===- JoinRowSums.cpp - moving sums into the kernels of their rows -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JoinRowSums.h"

#include "KernelGroups.h"
#include "KernelMerger.h"
#include "RowRules.h"
#include "StructuredOps.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace veeline;

namespace {

class RowSumJoiner {
public:
  explicit RowSumJoiner(ModuleOp module) : symbols(module) {}

  void run(Block &block);

private:
  func::FuncOp getKernel(Operation *op);
  SmallVector<BufferTouch> getTouches(Operation *op);
  bool isFill(Operation *op);
  func::CallOp join(func::CallOp rows, func::CallOp sum);
  bool joinAbove(func::CallOp sum);

  SymbolTable symbols;
  llvm::StringMap<func::FuncOp> kernels;
};

} // namespace

/// The kernel that `op` calls, or null.
func::FuncOp RowSumJoiner::getKernel(Operation *op) {
  auto call = dyn_cast<func::CallOp>(op);
  auto kernel =
      call ? symbols.lookup<func::FuncOp>(call.getCallee()) : func::FuncOp();
  return kernel && !kernel.isExternal() && kernel->hasAttr(kernelAttrName)
             ? kernel
             : func::FuncOp();
}

/// The buffers that `op` reads or writes. For kernels, it is known which they
/// only read.
SmallVector<BufferTouch> RowSumJoiner::getTouches(Operation *op) {
  func::FuncOp kernel = getKernel(op);
  if (!kernel)
    return veeline::getTouches(op);
  SmallVector<BufferTouch> touches;
  for (auto [operand, argument] :
       llvm::zip(op->getOperands(), kernel.getArguments()))
    if (isa<MemRefType>(operand.getType()))
      touches.push_back({getRootBuffer(operand), isWritten(argument)});
  return touches;
}

static linalg::LinalgOp getOnlyOp(func::FuncOp kernel) {
  auto ops = kernel.getBody().front().getOps<linalg::LinalgOp>();
  bool isOnly = llvm::hasSingleElement(ops) &&
                kernel.getBody().front().getOps<scf::ForallOp>().empty();
  return isOnly ? *ops.begin() : linalg::LinalgOp();
}

/// True for a kernel that only fills buffers.
bool RowSumJoiner::isFill(Operation *op) {
  func::FuncOp kernel = getKernel(op);
  linalg::LinalgOp only = kernel ? getOnlyOp(kernel) : linalg::LinalgOp();
  return only && only.getNumDpsInputs() <= 1 &&
         llvm::none_of(
             only.getDpsInputs(),
             [](Value input) { return isa<MemRefType>(input.getType()); }) &&
         llvm::none_of(only.getRegionOutputArgs(),
                       [](Value held) { return !held.use_empty(); });
}

static bool isSumInParts(func::FuncOp kernel) {
  linalg::LinalgOp op = getOnlyOp(kernel);
  return op && op.getNumLoops() == 3 && op.getNumReductionLoops() == 1;
}

static bool hasRows(func::FuncOp kernel) {
  auto rows = kernel.getBody().front().getOps<scf::ForallOp>();
  return llvm::hasSingleElement(rows) && (*rows.begin()).getRank() == 1;
}

/// True if `rows` has all operands of `sum` that have an element for each of
/// its iterations.
static bool sharesRows(func::CallOp rows, func::CallOp sum,
                       func::FuncOp kernel) {
  int64_t count = 1;
  for (int64_t size : getOnlyOp(kernel).getStaticLoopRanges())
    count *= size;
  return llvm::all_of(sum.getOperands(), [&](Value operand) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    return type && type.hasStaticShape() &&
           (type.getNumElements() < count ||
            llvm::is_contained(rows.getOperands(), operand));
  });
}

/// Replaces `rows` by a call of a kernel that does what both do. Null if the
/// threads of such a kernel could not compute the sums.
func::CallOp RowSumJoiner::join(func::CallOp rows, func::CallOp sum) {
  llvm::SetVector<Value> operands;
  operands.insert_range(rows.getOperands());
  operands.insert_range(sum.getOperands());
  OpBuilder builder(rows);
  func::FuncOp first = getKernel(rows);
  func::FuncOp kernel = func::FuncOp::create(
      rows.getLoc(), "kernel",
      builder.getFunctionType(
          llvm::to_vector(ValueRange(operands.getArrayRef()).getTypes()), {}));
  kernel.setPrivate();
  OpBuilder body = OpBuilder::atBlockBegin(kernel.addEntryBlock());
  for (func::CallOp call : {rows, sum}) {
    IRMapping mapping;
    for (auto [argument, operand] :
         llvm::zip(getKernel(call).getArguments(), call.getOperands()))
      mapping.map(argument, kernel.getArgument(llvm::find(operands, operand) -
                                               operands.begin()));
    for (Operation &op : getKernel(call).getBody().front().without_terminator())
      body.clone(op, mapping);
  }
  func::ReturnOp::create(body, kernel.getLoc());
  for (NamedAttribute attribute : first->getDiscardableAttrs())
    kernel->setAttr(attribute.getName(), attribute.getValue());
  kernel->setAttr(rowSumsAttrName, builder.getUnitAttr());
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    kernel.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                      builder.getUnitAttr());
  FailureOr<KernelBody> both =
      KernelBody::readWithSums(kernel.getBody().front());
  if (failed(both) || !fitsRowSums(*both)) {
    kernel.erase();
    return {};
  }
  auto call = func::CallOp::create(builder, rows.getLoc(),
                                   insertOnce(kernel, kernels, symbols),
                                   operands.getArrayRef());
  rows.erase();
  sum.erase();
  return call;
}

/// Looks for a kernel of the rows above `sum`, across ops that do not conflict
/// with it. Ops that fill the outputs of `sum` may be in between, because they
/// can move up, too.
bool RowSumJoiner::joinAbove(func::CallOp sum) {
  SmallVector<BufferTouch> touches = getTouches(sum), passed;
  SmallVector<Operation *> fills;
  for (Operation *op = sum->getPrevNode(); op; op = op->getPrevNode()) {
    if (isa<memref::AllocOp, ViewLikeOpInterface>(op))
      continue;
    SmallVector<BufferTouch> own = getTouches(op);
    func::FuncOp kernel = getKernel(op);
    llvm::append_range(passed, own);
    if (kernel && hasRows(kernel) &&
        sharesRows(cast<func::CallOp>(op), sum, getKernel(sum)) &&
        llvm::none_of(fills, [&](Operation *fill) {
          return conflict(getTouches(fill), passed);
        })) {
      if (func::CallOp call = join(cast<func::CallOp>(op), sum)) {
        for (Operation *fill : fills)
          fill->moveBefore(call);
        return true;
      }
    }
    if (!conflict(own, touches))
      continue;
    if (!isFill(op))
      return false;
    // This op conflicts only with the sum so far, so it can be passed.
    passed.truncate(passed.size() - own.size());
    fills.push_back(op);
  }
  return false;
}

void RowSumJoiner::run(Block &block) {
  if (llvm::any_of(block, mayAlias))
    return;
  SmallVector<func::CallOp> sums;
  for (auto call : block.getOps<func::CallOp>())
    if (func::FuncOp kernel = getKernel(call))
      if (isSumInParts(kernel))
        sums.push_back(call);
  for (func::CallOp sum : sums)
    joinAbove(sum);
}

void veeline::joinRowSums(ModuleOp module) {
  RowSumJoiner joiner(module);
  SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
  for (func::FuncOp function : functions)
    if (!function.isExternal() && function->hasAttr(pipe::numResultsAttrName))
      joiner.run(function.getBody().front());
}
