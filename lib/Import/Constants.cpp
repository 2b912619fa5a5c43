//===- Constants.cpp - --pipe-import-constants ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"
#include "veeline/Import/Passes.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEIMPORTCONSTANTS
#include "veeline/Import/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

static bool isSplat(ElementsAttr value) {
  auto dense = dyn_cast<DenseElementsAttr>(value);
  return dense && dense.isSplat();
}

/// The key of a resource that has a name in the file, or empty for any other
/// value.
static StringRef getKey(ElementsAttr value) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  StringRef key = resource ? resource.getRawHandle().getKey() : StringRef();
  return key == "__elided__" ? StringRef() : key;
}

/// A location with the name of the value in the file, if it has one.
static Location nameLocation(ElementsAttr value, Location location) {
  if (isa<NameLoc>(location) || getKey(value).empty())
    return location;
  return NameLoc::get(StringAttr::get(value.getContext(), getKey(value)),
                      location);
}

/// Whether a resource has as many bytes as its type requires. The parser does
/// not check this.
static bool hasItsSize(DenseResourceElementsAttr resource) {
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  ShapedType type = resource.getShapedType();
  return !blob ||
         blob->getData().size() ==
             llvm::divideCeil(static_cast<uint64_t>(type.getNumElements()) *
                                  type.getElementTypeBitWidth(),
                              8);
}

/// Converts elements that are neither dense nor a resource to dense elements.
static ElementsAttr makeDense(ElementsAttr value) {
  if (isa<DenseElementsAttr, DenseResourceElementsAttr>(value))
    return value;
  auto type = cast<ShapedType>(value.getType());
  if (auto numbers = value.tryGetValues<APFloat>())
    return DenseElementsAttr::get(type, llvm::to_vector(*numbers));
  return value;
}

namespace {
class ConstantsToArguments {
public:
  explicit ConstantsToArguments(func::FuncOp model)
      : model(model), module(model->getParentOfType<ModuleOp>()),
        name(StringAttr::get(model.getContext(),
                             pipe::PipeDialect::constantAttrName)) {}

  LogicalResult run();

private:
  LogicalResult verifySize(Location location, ElementsAttr value);
  void replaceConstant(Operation *op, ElementsAttr value);
  LogicalResult replaceLoad(Operation *load, SymbolRefAttr symbol);
  void warnOfState(Operation *load, SymbolRefAttr symbol);
  BlockArgument add(ElementsAttr value, Location location) {
    return addArgument(model, value.getType(), name, makeDense(value),
                       location);
  }
  /// The argument for a global or a resource. All ops that read it share the
  /// argument.
  BlockArgument share(Attribute source, ElementsAttr value, Location location) {
    BlockArgument &argument = shared[source];
    return argument ? argument : argument = add(value, location);
  }

  func::FuncOp model;
  ModuleOp module;
  StringAttr name;
  llvm::DenseMap<Attribute, BlockArgument> shared;
  llvm::DenseSet<Attribute> stored;
};
} // namespace

LogicalResult ConstantsToArguments::verifySize(Location location,
                                               ElementsAttr value) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  if (!resource || hasItsSize(resource))
    return success();
  return emitError(location)
         << "the resource '" << resource.getRawHandle().getKey() << "' has "
         << resource.getRawHandle().getBlob()->getData().size()
         << " bytes, which are not those of " << resource.getType();
}

/// Gives each use of a splat an argument of its own. Equal splats in a file are
/// most likely different weights whose values were left out.
void ConstantsToArguments::replaceConstant(Operation *op, ElementsAttr value) {
  Location location = nameLocation(value, op->getLoc());
  if (!getKey(value).empty()) {
    op->getResult(0).replaceAllUsesWith(share(value, value, location));
  } else if (!isSplat(value)) {
    op->getResult(0).replaceAllUsesWith(add(value, location));
  } else {
    for (OpOperand &use :
         llvm::make_early_inc_range(op->getResult(0).getUses()))
      use.set(add(value, location));
  }
  op->erase();
}

/// The initial value of a global, or null if the file does not have it.
static ElementsAttr getStart(Operation *global) {
  if (auto buffer = dyn_cast<memref::GlobalOp>(global))
    return dyn_cast_or_null<ElementsAttr>(buffer.getInitialValueAttr());
  if (auto variable = dyn_cast<tosa::VariableOp>(global))
    return dyn_cast_or_null<ElementsAttr>(variable.getInitialValueAttr());
  return dyn_cast_or_null<ElementsAttr>(
      cast<ml_program::GlobalOp>(global).getValueAttr());
}

/// The global from which an op reads a tensor, if any. A buffer counts only if
/// all its users convert it to tensors.
static SymbolRefAttr getGlobal(Operation *op) {
  if (auto load = dyn_cast<ml_program::GlobalLoadOp>(op))
    return load.getGlobal();
  if (auto load = dyn_cast<ml_program::GlobalLoadConstOp>(op))
    return load.getGlobal();
  if (auto read = dyn_cast<tosa::VariableReadOp>(op))
    return FlatSymbolRefAttr::get(read.getNameAttr());
  auto read = dyn_cast<bufferization::ToTensorOp>(op);
  auto buffer = read ? read.getBuffer().getDefiningOp<memref::GetGlobalOp>()
                     : memref::GetGlobalOp();
  if (!buffer || !llvm::all_of(buffer->getUsers(), [](Operation *user) {
        return isa<bufferization::ToTensorOp>(user);
      }))
    return {};
  return buffer.getNameAttr();
}

/// Warns if a result depends on a number that the exporter's program changes in
/// each run, such as a seed. Here, the number keeps its first value in all
/// steps.
void ConstantsToArguments::warnOfState(Operation *load, SymbolRefAttr symbol) {
  Operation *end = model.getBody().front().getTerminator();
  SetVector<Operation *> users;
  users.insert(load);
  for (size_t i = 0; i < users.size(); ++i) {
    Operation *op = users[i];
    if (op->getParentOp() != model)
      users.insert(op->getParentOp());
    users.insert(op->user_begin(), op->user_end());
  }
  if (users.contains(end))
    load->emitWarning("the model changes ")
        << symbol
        << " in each run; here it keeps its first value, so that random "
           "numbers, as those of a dropout, are the same in every step; export "
           "the model without them";
}

LogicalResult ConstantsToArguments::replaceLoad(Operation *load,
                                                SymbolRefAttr symbol) {
  Operation *global = SymbolTable::lookupNearestSymbolFrom(module, symbol);
  if (!isa_and_present<ml_program::GlobalOp, memref::GlobalOp,
                       tosa::VariableOp>(global))
    return load->emitError("reads ") << symbol << ", which is no global";
  StringAttr globalName = SymbolTable::getSymbolName(global);
  ElementsAttr value = getStart(global);
  if (!value || value.getType() != load->getResult(0).getType()) {
    InFlightDiagnostic diagnostic = load->emitError("reads the global @")
                                    << globalName.getValue()
                                    << ", which has no tensor to start with";
    diagnostic.attachNote(global->getLoc()) << "the global is here";
    return diagnostic;
  }
  if (failed(verifySize(global->getLoc(), value)))
    return failure();
  if (!isFloatTensor(value.getType())) {
    if (stored.contains(symbol))
      warnOfState(load, symbol);
    OpBuilder builder(load);
    load->getResult(0).replaceAllUsesWith(arith::ConstantOp::create(
        builder, load->getLoc(), value.getType(), cast<TypedAttr>(value)));
  } else {
    load->getResult(0).replaceAllUsesWith(
        share(symbol, value, NameLoc::get(globalName, global->getLoc())));
  }
  load->erase();
  return success();
}

LogicalResult ConstantsToArguments::run() {
  SmallVector<Operation *> ops;
  model.walk([&](Operation *op) { ops.push_back(op); });
  // This is state of the exporter, such as a seed. Our steps have no such
  // state.
  llvm::erase_if(ops, [&](Operation *op) {
    if (auto store = dyn_cast<ml_program::GlobalStoreOp>(op))
      stored.insert(store.getGlobal());
    else if (!isa<tosa::VariableWriteOp>(op))
      return false;
    op->erase();
    return true;
  });
  for (Operation *op : ops) {
    if (auto custom = dyn_cast<tosa::CustomOp>(op))
      return custom.emitError("the file does not say what the custom op '")
             << custom.getOperatorName()
             << "' computes; export the model with ops of TOSA in its place";
    SymbolRefAttr symbol = getGlobal(op);
    if (symbol && failed(replaceLoad(op, symbol)))
      return failure();
    ElementsAttr value;
    if (!symbol && matchPattern(op, m_Constant(&value)) &&
        failed(verifySize(op->getLoc(), value)))
      return failure();
    if (!symbol && op->getNumResults() == 1 &&
        isFloatTensor(op->getResult(0).getType(), 2) &&
        matchPattern(op, m_Constant(&value)))
      replaceConstant(op, value);
  }
  return success();
}

namespace {
struct ImportConstants
    : veeline::impl::PipeImportConstantsBase<ImportConstants> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> model = getChosenModel(getOperation());
    if (failed(model))
      return signalPassFailure();
    if (followsContract(*model))
      return;
    if (failed(ConstantsToArguments(*model).run()))
      return signalPassFailure();
    for (auto variable :
         llvm::make_early_inc_range(getOperation().getOps<tosa::VariableOp>()))
      variable.erase();
  }
};
} // namespace
