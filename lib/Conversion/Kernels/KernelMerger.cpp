//===- KernelMerger.cpp - kernel functions of independent ops -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelMerger.h"

#include "LoopNest.h"
#include "RowRules.h"
#include "StructuredOps.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace veeline;

/// The only structured op of a kernel on whole buffers. Null if there are
/// several, or loops.
static linalg::LinalgOp getOnlyOp(func::FuncOp kernel) {
  linalg::LinalgOp found;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    auto own = dyn_cast<linalg::LinalgOp>(op);
    if (own ? static_cast<bool>(found) : op.getNumRegions() != 0)
      return {};
    if (own)
      found = own;
  }
  bool hasBuffers = llvm::all_of(kernel.getArgumentTypes(), [](Type type) {
    auto memref = dyn_cast<MemRefType>(type);
    return memref && memref.hasStaticShape();
  });
  return hasBuffers ? found : linalg::LinalgOp();
}

bool veeline::isWritten(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(use.getOwner()))
      return isWritten(view.getViewDest());
    return isWrite(use);
  });
}

/// The number of threads of a block for several short rows.
static constexpr int64_t threadsOfShortRows = 256;

/// True for a sum of all elements of a buffer that starts from a number, which
/// one thread computes.
static bool isSumOfAll(func::FuncOp kernel) {
  SmallVector<linalg::LinalgOp> ops(
      kernel.getBody().front().getOps<linalg::LinalgOp>());
  return ops.size() == 2 && isa<linalg::FillOp>(ops[0]) &&
         ops[0].getDpsInits() == ops[1].getDpsInits() &&
         ops[1].getNumParallelLoops() == 0;
}

static PartForm::Kind getKind(func::FuncOp kernel) {
  using Kind = PartForm::Kind;
  if (isSumOfAll(kernel))
    return Kind::Elements;
  linalg::LinalgOp op = getOnlyOp(kernel);
  if (!op)
    return Kind::None;
  FailureOr<LoopNest> nest = LoopNest::get(op);
  if (failed(nest) || isTransposition(*nest))
    return Kind::None;
  if (!op.getNumReductionLoops())
    return Kind::Elements;
  nest->dropUnitLoops();
  if (nest->loops.empty())
    return Kind::None;
  if (!nest->loops.back().isReduction)
    return Kind::Elements;
  // A block has one long row, or several short ones.
  int64_t count = nest->loops.back().size;
  bool isWhole = llvm::count_if(nest->loops, [](const NestLoop &loop) {
                   return loop.isReduction;
                 }) == 1;
  if (!isWhole || !nest->isLaneReduction())
    return Kind::None;
  return RowTeam::get(count, /*lanes=*/1).threads > threadsOfShortRows
             ? Kind::LongRows
             : Kind::ShortRows;
}

static PartForm getForm(func::FuncOp kernel) {
  PartForm form;
  form.kind = getKind(kernel);
  for (Value argument : kernel.getArguments())
    form.writes.push_back(isWritten(argument));
  return form;
}

const PartForm &KernelMerger::getForm(func::CallOp call) {
  auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
  if (!kernel || !kernel->hasAttr(kernelAttrName) || kernel.isExternal())
    return noForm;
  auto [it, isNew] = forms.try_emplace(kernel);
  if (isNew)
    it->second = ::getForm(kernel);
  return it->second;
}

/// Creates a kernel with the ops of all `calls` and an argument for each of
/// `operands`.
func::FuncOp KernelMerger::makeKernel(ArrayRef<func::CallOp> calls,
                                      ArrayRef<Value> operands) {
  func::CallOp first = calls.front();
  auto types = llvm::to_vector(ValueRange(operands).getTypes());
  Builder attributes(first.getContext());
  auto kernel = func::FuncOp::create(first.getLoc(), "kernel",
                                     attributes.getFunctionType(types, {}));
  kernel.setPrivate();
  OpBuilder body = OpBuilder::atBlockBegin(kernel.addEntryBlock());
  for (func::CallOp call : calls) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    IRMapping mapping;
    for (auto [argument, operand] :
         llvm::zip(callee.getArguments(), call.getOperands()))
      mapping.map(argument, kernel.getArgument(llvm::find(operands, operand) -
                                               operands.begin()));
    for (Operation &op : callee.getBody().front().without_terminator())
      body.clone(op, mapping);
  }
  func::ReturnOp::create(body, kernel.getLoc());
  auto callee = symbols.lookup<func::FuncOp>(first.getCallee());
  for (NamedAttribute attribute : callee->getDiscardableAttrs())
    kernel->setAttr(attribute.getName(), attribute.getValue());
  kernel->setAttr(sideBySideAttrName, attributes.getUnitAttr());
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    kernel.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                      attributes.getUnitAttr());
  return kernel;
}

func::FuncOp veeline::insertOnce(func::FuncOp kernel,
                                 llvm::StringMap<func::FuncOp> &kernels,
                                 SymbolTable &symbols) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel->print(stream, OpPrintingFlags().assumeVerified().useLocalScope());
  auto [it, isNew] = kernels.try_emplace(text, kernel);
  if (isNew)
    symbols.insert(kernel);
  else
    kernel.erase();
  return it->second;
}

func::CallOp KernelMerger::merge(OpBuilder &builder,
                                 ArrayRef<func::CallOp> calls) {
  llvm::SetVector<Value> operands;
  for (func::CallOp call : calls)
    operands.insert_range(call.getOperands());
  func::FuncOp kernel = makeKernel(calls, operands.getArrayRef());
  func::CallOp first = calls.front();
  return func::CallOp::create(builder, first.getLoc(),
                              insertOnce(kernel, kernels, symbols),
                              operands.getArrayRef());
}
