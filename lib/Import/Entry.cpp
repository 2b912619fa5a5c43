//===- Entry.cpp - --pipe-import-entry ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"
#include "veeline/Dialect/Pipe/Transforms/Transforms.h"
#include "veeline/Import/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEIMPORTENTRY
#include "veeline/Import/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

//===----------------------------------------------------------------------===//
// The call graph
//===----------------------------------------------------------------------===//

static SmallVector<func::CallOp> getCalls(func::FuncOp function) {
  SmallVector<func::CallOp> calls;
  function.walk([&](func::CallOp call) { calls.push_back(call); });
  return calls;
}

namespace {
/// Collects the functions that a function can reach. Fails if it finds a cycle.
class CallGraph {
public:
  explicit CallGraph(SymbolTable &symbols) : symbols(symbols) {}
  LogicalResult visit(func::FuncOp function);
  ArrayRef<func::FuncOp> getReached() const { return reached.getArrayRef(); }

private:
  LogicalResult follow(func::CallOp call);

  SymbolTable &symbols;
  SmallVector<func::FuncOp> path;
  llvm::SetVector<func::FuncOp> reached;
};
} // namespace

LogicalResult CallGraph::follow(func::CallOp call) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  if (!callee)
    return call.emitOpError() << "calls @" << call.getCallee()
                              << ", which is no function of this module";
  auto *begin = llvm::find(path, callee);
  if (begin == path.end())
    return visit(callee);
  InFlightDiagnostic diagnostic =
      call.emitError("calls go in a circle, and a model is a graph without "
                     "circles: ");
  for (auto *it = begin; it != path.end(); ++it)
    diagnostic << '@' << it->getSymName() << " calls ";
  return diagnostic << '@' << callee.getSymName();
}

LogicalResult CallGraph::visit(func::FuncOp function) {
  if (function.isExternal() || reached.contains(function))
    return success();
  path.push_back(function);
  for (func::CallOp call : getCalls(function))
    if (failed(follow(call)))
      return failure();
  path.pop_back();
  reached.insert(function);
  return success();
}

//===----------------------------------------------------------------------===//
// Which function is the model
//===----------------------------------------------------------------------===//

static bool returnsFloats(func::FuncOp function) {
  return llvm::any_of(function.getResultTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && isa<FloatType>(tensor.getElementType());
  });
}

/// The functions that return tensors of floats and that no other such function
/// calls.
static SmallVector<func::FuncOp> findCandidates(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && returnsFloats(function))
      functions.push_back(function);
  llvm::StringSet<> called;
  for (func::FuncOp function : functions)
    for (func::CallOp call : getCalls(function))
      if (call.getCallee() != function.getSymName())
        called.insert(call.getCallee());
  // If the functions call each other in a cycle, all of them remain.
  auto roots = llvm::filter_to_vector(functions, [&](func::FuncOp function) {
    return !called.contains(function.getSymName());
  });
  return roots.empty() ? functions : roots;
}

/// Notes for each function why it is not the model.
static void noteOthers(InFlightDiagnostic &diagnostic, ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    Diagnostic &note = diagnostic.attachNote(function.getLoc());
    note << '@' << function.getSymName();
    if (function.isExternal())
      note << " has no body";
    else if (function.getNumResults() == 0)
      note << " returns nothing";
    else
      llvm::interleaveComma(function.getResultTypes(), note << " returns ");
  }
  for (auto inner : module.getOps<ModuleOp>())
    diagnostic.attachNote(inner.getLoc())
        << "functions of an inner module are not looked at; take them out of "
           "it";
}

static FailureOr<func::FuncOp> chooseModel(ModuleOp module, StringRef entry) {
  if (!entry.empty())
    return pipe::findModel(module, entry);
  SmallVector<func::FuncOp> candidates = findCandidates(module);
  if (candidates.size() == 1)
    return candidates.front();
  auto exported = llvm::filter_to_vector(
      candidates, [](func::FuncOp function) { return function.isPublic(); });
  if (exported.size() == 1)
    return exported.front();
  InFlightDiagnostic diagnostic = module.emitError();
  if (candidates.empty()) {
    diagnostic << "expected a func.func with a body that returns a tensor of "
                  "floats, the model; found none";
    noteOthers(diagnostic, module);
    return diagnostic;
  }
  diagnostic << candidates.size() << " functions could be the model: ";
  llvm::interleaveComma(candidates, diagnostic, [&](func::FuncOp function) {
    diagnostic << '@' << function.getSymName();
  });
  diagnostic << "; choose one by --entry";
  for (func::FuncOp function : candidates)
    diagnostic.attachNote(function.getLoc())
        << '@' << function.getSymName() << " is here";
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Ops outside of the model
//===----------------------------------------------------------------------===//

/// Whether an op has no effect on the model: its results are unused, and it
/// prints, asserts, is dead, or calls a function without a body.
static bool isOutsideTheModel(Operation *op, SymbolTable &symbols) {
  if (!op->use_empty())
    return false;
  if (isa<vector::PrintOp, cf::AssertOp>(op) || isOpTriviallyDead(op))
    return true;
  auto call = dyn_cast<func::CallOp>(op);
  auto callee =
      call ? symbols.lookup<func::FuncOp>(call.getCallee()) : func::FuncOp();
  return callee && callee.isExternal();
}

static void prune(func::FuncOp function, SymbolTable &symbols) {
  function.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    if (op != function && isOutsideTheModel(op, symbols))
      op->erase();
  });
}

static LogicalResult verifyCallees(func::FuncOp function,
                                   SymbolTable &symbols) {
  for (func::CallOp call : getCalls(function)) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee.isExternal())
      continue;
    InFlightDiagnostic diagnostic = call.emitError("the model uses what @")
                                    << call.getCallee()
                                    << " returns, which has no body";
    diagnostic.attachNote(callee.getLoc()) << "declared here";
    return diagnostic;
  }
  return success();
}

/// The maximal number of elements of a tensor, so that numbers of bytes fit
/// their types here and in the runtime.
static constexpr int64_t mostElements = int64_t(1) << 48;

static bool isTooLarge(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  int64_t left = mostElements;
  for (int64_t extent : tensor ? tensor.getShape() : ArrayRef<int64_t>())
    if (!ShapedType::isDynamic(extent) && extent > 0)
      left /= extent;
  return left == 0;
}

static LogicalResult verifySizes(func::FuncOp function) {
  auto refuse = [](Location location, Type type) {
    return emitError(location)
           << "a tensor of the type " << type << " has more than 2^48 elements";
  };
  for (BlockArgument argument : function.getArguments())
    if (isTooLarge(argument.getType()))
      return refuse(argument.getLoc(), argument.getType());
  WalkResult result = function.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (isTooLarge(type)) {
        (void)refuse(op->getLoc(), type);
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult selectEntry(ModuleOp module, StringRef entry) {
  FailureOr<func::FuncOp> model = chooseModel(module, entry);
  if (failed(model))
    return failure();
  SymbolTable symbols(module);
  CallGraph graph(symbols);
  if (failed(graph.visit(*model)))
    return failure();
  for (func::FuncOp function : graph.getReached()) {
    prune(function, symbols);
    if (failed(verifyCallees(function, symbols)) ||
        failed(verifySizes(function)))
      return failure();
  }
  for (auto function : module.getOps<func::FuncOp>())
    function.setVisibility(function == *model
                               ? SymbolTable::Visibility::Public
                               : SymbolTable::Visibility::Private);
  // Functions that the model does not need may call each other in cycles.
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (!llvm::is_contained(graph.getReached(), function))
      function.erase();
  return success();
}

namespace {
struct ImportEntry : veeline::impl::PipeImportEntryBase<ImportEntry> {
  using PipeImportEntryBase::PipeImportEntryBase;

  void runOnOperation() override {
    if (failed(selectEntry(getOperation(), entry)))
      signalPassFailure();
  }
};
} // namespace
