//===- SeparateJoint.cpp - --pipe-separate-joint --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Joint/GraphState.h"
#include "Joint/Update.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "veeline/Autodiff/Loops.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Base/Suggest.h"
#include "veeline/Dialect/Pipe/IR/Frozen.h"
#include "veeline/Dialect/Pipe/Transforms/Joint.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/Transforms.h"

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPESEPARATEJOINT
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline::pipe;
using llvm::APFloat;

/// The name of the parameter to which a result belongs, or null.
static StringAttr getSubject(func::FuncOp func, unsigned result) {
  for (StringRef name :
       {PipeDialect::gradientOfAttrName, PipeDialect::updatedAttrName})
    if (auto subject = func.getResultAttrOfType<StringAttr>(result, name))
      return subject;
  return {};
}

bool veeline::pipe::isJoint(func::FuncOp func) {
  for (unsigned i = 0; i != func.getNumResults(); ++i)
    if (getSubject(func, i))
      return true;
  return false;
}

FailureOr<func::FuncOp> veeline::pipe::getJoint(func::FuncOp func) {
  auto name =
      func->getAttrOfType<FlatSymbolRefAttr>(PipeDialect::jointAttrName);
  if (!name)
    return func::FuncOp();
  auto joint = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      func->getParentOp(), name);
  if (joint && !joint.isExternal())
    return joint;
  return func.emitError() << "names " << name
                          << " as its joint function, and there is none of "
                             "this name with a body";
}

LogicalResult veeline::pipe::refuseJoint(func::FuncOp model, StringRef change) {
  if (!model->hasAttr(PipeDialect::jointAttrName) && !isJoint(model))
    return success();
  return model.emitError()
         << "the model brings its own derivative, which would not be that of "
            "the model with "
         << change << "; do that before the model is differentiated";
}

/// The argument that is the parameter `name`.
static FailureOr<BlockArgument> findParameter(func::FuncOp func,
                                              unsigned result, StringRef name) {
  std::vector<std::string> names;
  for (BlockArgument argument : func.getArguments()) {
    auto param = func.getArgAttrOfType<ParamAttr>(argument.getArgNumber(),
                                                  PipeDialect::paramAttrName);
    if (!param)
      continue;
    names.push_back(param.getName().getValue().str());
    if (names.back() != name)
      continue;
    Type type = func.getResultTypes()[result];
    if (argument.getType() == type)
      return argument;
    return func.emitError()
           << "result " << result << " is the gradient or the new value of \""
           << name << "\", a " << argument.getType() << ", but has the type "
           << type;
  }
  return func.emitError() << "result " << result
                          << " is the gradient or the new value of \"" << name
                          << "\", but no argument is that parameter"
                          << (names.empty()
                                  ? std::string()
                                  : "; parameters are " +
                                        veeline::joinNames(names) +
                                        veeline::suggestion(name, names));
}

static std::string print(const APFloat &rate) {
  return veeline::shortNumber(rate.convertToDouble());
}

/// Replaces the returned new value of a parameter by its gradient. Returns the
/// rate.
static FailureOr<APFloat> takeUpdateOut(func::FuncOp func, unsigned result,
                                        BlockArgument param) {
  Operation *terminator = func.getBody().front().getTerminator();
  Value updated = terminator->getOperand(result);
  std::optional<Update> update = matchUpdate(updated, param);
  if (update && update->rate.isFinite() &&
      (update->rate.isZero() || !update->rate.isNegative()) &&
      update->gradient.getType() == param.getType()) {
    terminator->setOperand(result, update->gradient);
    return update->rate;
  }
  InFlightDiagnostic diagnostic = emitError(updated.getLoc());
  diagnostic << "result " << result << ", the new value of \""
             << getInputName(func, param.getArgNumber())
             << "\", has to be w - c g: the parameter minus a constant times "
                "its gradient, by elementwise ops, the gradient a tensor of "
                "its own. Other updates are the runtime's (--optimizer): "
                "return gradients, as 'pipe.gradient_of'";
  return diagnostic;
}

FailureOr<SmallVector<SubjectResult>>
veeline::pipe::findSubjectResults(func::FuncOp func) {
  SmallVector<SubjectResult> found;
  llvm::DenseMap<Value, unsigned> resultOf;
  for (unsigned i = 0; i != func.getNumResults(); ++i) {
    StringAttr name = getSubject(func, i);
    if (!name)
      continue;
    if (func.getResultAttr(i, PipeDialect::gradientOfAttrName) &&
        func.getResultAttr(i, PipeDialect::updatedAttrName))
      return func.emitError()
             << "result " << i << " has both 'pipe.gradient_of' and "
             << "'pipe.updated'; it is the gradient or the new value, not both";
    FailureOr<BlockArgument> param = findParameter(func, i, name);
    if (failed(param))
      return failure();
    auto [it, isNew] = resultOf.insert({*param, i});
    if (!isNew)
      return func.emitError() << "results " << it->second << " and " << i
                              << " are both about parameter " << name
                              << "; one of them is enough";
    found.push_back({*param, i});
  }
  for (BlockArgument argument : func.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (func.getArgAttr(number, frozenAttrName))
      return emitError(argument.getLoc())
             << "parameter \"" << getInputName(func, number)
             << "\" is frozen, but the model brings its own derivative, which "
                "trains all its parameters; make the argument a buffer";
    if (func.getArgAttr(number, PipeDialect::paramAttrName) &&
        !resultOf.contains(argument))
      return emitError(argument.getLoc())
             << "no result is the gradient of parameter \""
             << getInputName(func, number)
             << "\"; return it, as {pipe.gradient_of = \""
             << getInputName(func, number)
             << "\"}, or make the argument a buffer";
  }
  return found;
}

/// Replaces all new values of parameters by gradients, and drops the number of
/// the step, which only updates use.
static LogicalResult takeUpdatesOut(func::FuncOp func,
                                    ArrayRef<SubjectResult> results,
                                    const GraphState &state) {
  std::optional<APFloat> rate;
  for (auto [param, i] : results) {
    Attribute name = func.getResultAttr(i, PipeDialect::updatedAttrName);
    if (!name)
      continue;
    FailureOr<APFloat> next = takeUpdateOut(func, i, param);
    if (failed(next))
      return failure();
    if (!rate)
      rate = *next;
    std::optional<APFloat> same = unifyRates(*rate, *next);
    if (!same)
      return func.emitError()
             << "parameters are updated at different rates, " << print(*rate)
             << " and " << print(*next) << "; a step has one learning rate";
    rate = same;
    func.removeResultAttr(
        i, StringAttr::get(func.getContext(), PipeDialect::updatedAttrName));
    func.setResultAttr(i, PipeDialect::gradientOfAttrName, name);
  }
  if (failed(dropState(func, state)))
    return failure();
  if (rate)
    func.emitRemark() << "updates of parameters are left to the runtime; "
                         "train with --optimizer sgd --lr "
                      << print(*rate) << " to update as the graph did";
  return success();
}

/// Keeps only results that are not gradients, and the ops that compute them.
static void keepForward(func::FuncOp model) {
  Block &block = model.getBody().front();
  llvm::BitVector gradients(model.getNumResults());
  for (unsigned i = 0; i != model.getNumResults(); ++i)
    gradients[i] = getSubject(model, i) != nullptr;
  block.getTerminator()->eraseOperands(gradients);
  (void)model.eraseResults(gradients);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

static LogicalResult verifyOp(Operation &op) {
  if (!isMemoryEffectFree(&op))
    return op.emitError() << "'" << op.getName()
                          << "' may have side effects; a joint function is "
                             "made of pure ops on tensors";
  for (Type type : op.getResultTypes())
    if (auto shaped = dyn_cast<ShapedType>(type);
        shaped && !shaped.hasStaticShape())
      return op.emitError()
             << "'" << op.getName() << "' computes a " << type
             << "; a joint function is made of tensors of static shape, as it "
                "is cut by their sizes: export the model with fixed sizes";
  return success();
}

LogicalResult veeline::pipe::separateJoint(func::FuncOp func,
                                           SymbolTable &symbols) {
  if (!func.getBody().hasOneBlock())
    return func.emitError() << "a joint function is one block, found "
                            << func.getBody().getBlocks().size();
  for (Operation &op : func.getBody().front().without_terminator())
    if (failed(verifyOp(op)))
      return failure();
  // Both functions need the form that is cut later.
  if (failed(veeline::autodiff::prepareModel(func)))
    return failure();
  FailureOr<SmallVector<SubjectResult>> results = findSubjectResults(func);
  FailureOr<GraphState> state = findState(func);
  if (failed(results) || failed(state) ||
      failed(state->params.empty() ? takeUpdatesOut(func, *results, *state)
                                   : takeStateOut(func, *results, *state)))
    return failure();
  func::FuncOp joint = func.clone();
  joint.setName((func.getSymName() + "_joint").str());
  joint.setPrivate();
  StringAttr name =
      symbols.insert(joint, std::next(Block::iterator(func.getOperation())));
  keepForward(func);
  func->setAttr(PipeDialect::jointAttrName, FlatSymbolRefAttr::get(name));
  return success();
}

namespace {
struct PipeSeparateJoint
    : veeline::pipe::impl::PipeSeparateJointBase<PipeSeparateJoint> {
  using PipeSeparateJointBase::PipeSeparateJointBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> model = findModel(getOperation(), entry);
    if (failed(model))
      return signalPassFailure();
    if (!isJoint(*model))
      return;
    SymbolTable symbols(getOperation());
    if (failed(separateJoint(*model, symbols)))
      signalPassFailure();
  }
};
} // namespace
