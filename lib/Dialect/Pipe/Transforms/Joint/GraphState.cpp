//===- GraphState.cpp - the optimiser's state in a joint graph ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Joint/GraphState.h"

#include "Joint/StatefulUpdate.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Base/Text.h"
#include "veeline/Dialect/Pipe/Transforms/Transforms.h"

#include <cmath>

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

static LogicalResult findStep(func::FuncOp func, GraphState &state) {
  for (unsigned i = 0; i != func.getNumArguments(); ++i) {
    if (!func.getArgAttr(i, PipeDialect::stepAttrName))
      continue;
    if (state.step)
      return func.emitError() << "arguments " << *state.step << " and " << i
                              << " both count steps, as 'pipe.step'";
    state.step = i;
    state.arguments.set(i);
  }
  for (unsigned i = 0; i != func.getNumResults(); ++i)
    if (func.getResultAttr(i, PipeDialect::stepAttrName))
      state.results.set(i);
  return success();
}

static LogicalResult checkParam(func::FuncOp func, StringAttr name,
                                const GraphState::OfParam &of) {
  if (of.arguments.size() != of.results.size())
    return func.emitError()
           << "the state of parameter " << name << " is "
           << counted(of.arguments.size(), "argument") << " and "
           << counted(of.results.size(), "result")
           << "; each 'pipe.state_of' that is taken is returned, too";
  for (auto [argument, result] : llvm::zip(of.arguments, of.results))
    if (func.getArgumentTypes()[argument] != func.getResultTypes()[result])
      return func.emitError()
             << "argument " << argument << ", the state of parameter " << name
             << ", is a " << func.getArgumentTypes()[argument]
             << ", and its new value, result " << result << ", a "
             << func.getResultTypes()[result];
  return success();
}

FailureOr<GraphState> veeline::pipe::findState(func::FuncOp func) {
  GraphState state;
  state.arguments.resize(func.getNumArguments());
  state.results.resize(func.getNumResults());
  StringRef attribute = PipeDialect::stateOfAttrName;
  for (unsigned i = 0; i != func.getNumArguments(); ++i)
    if (auto name = func.getArgAttrOfType<StringAttr>(i, attribute)) {
      state.params[name].arguments.push_back(i);
      state.arguments.set(i);
    }
  for (unsigned i = 0; i != func.getNumResults(); ++i)
    if (auto name = func.getResultAttrOfType<StringAttr>(i, attribute)) {
      state.params[name].results.push_back(i);
      state.results.set(i);
    }
  for (const auto &[name, of] : state.params)
    if (failed(checkParam(func, name, of)))
      return failure();
  if (failed(findStep(func, state)))
    return failure();
  return state;
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

static FailureOr<StatefulUpdate> takeUpdateOut(func::FuncOp func,
                                               const SubjectResult &subject,
                                               const GraphState &state) {
  Operation *terminator = func.getBody().front().getTerminator();
  StringAttr name = func.getResultAttrOfType<StringAttr>(
      subject.result, PipeDialect::updatedAttrName);
  const auto *found = state.params.find(name);
  if (!name || found == state.params.end())
    return func.emitError()
           << "parameter \"" << getInputName(func, subject.param.getArgNumber())
           << "\" has no 'pipe.state_of' with a new value, as others have; one "
              "optimiser updates all parameters";
  Value updated = terminator->getOperand(subject.result);
  UpdateValues values{subject.param, updated, {}, {}, {}};
  for (unsigned argument : found->second.arguments)
    values.state.push_back(func.getArgument(argument));
  for (unsigned result : found->second.results)
    values.newState.push_back(terminator->getOperand(result));
  if (state.step)
    values.step = func.getArgument(*state.step);
  if (std::optional<StatefulUpdate> update = matchStatefulUpdate(values)) {
    terminator->setOperand(subject.result, update->gradient);
    func.removeResultAttr(
        subject.result,
        StringAttr::get(func.getContext(), PipeDialect::updatedAttrName));
    func.setResultAttr(subject.result, PipeDialect::gradientOfAttrName, name);
    return *update;
  }
  return emitError(updated.getLoc())
         << "result " << subject.result << ", the new value of " << name
         << ", is not updated as sgd-momentum, sgd-nesterov, adamw or lion do "
            "(docs/optimizers.md), by elementwise ops on constants, one or two "
            "tensors of state, the number of the step ('pipe.step', for adamw) "
            "and a gradient that is a tensor of its own. Other updates are the "
            "runtime's (--optimizer): return gradients, as 'pipe.gradient_of'";
}

/// The shortest text for a number with an error of up to `error`, which comes
/// from the f32 constants from which it was computed.
static std::string toText(double number, double error) {
  std::string text;
  for (int digits = 1; digits <= 6; ++digits) {
    text = shortNumber(number, digits);
    std::optional<double> shown = parseNumber(text);
    if (shown && std::abs(*shown - number) <= error)
      break;
  }
  return text;
}

static std::string toText(double number) {
  return toText(number, 3e-6 * number);
}

/// Formats a decay. It was found from a factor 1 - rate * decay.
static std::string describeDecay(double decay, double rate) {
  return toText(decay, 1e-7 / rate);
}

/// The options of `veeline` that describe the update. Decay applies to
/// parameters of rank 2 and more, unless it is given for one parameter.
static std::string describe(const StatefulUpdate &common,
                            ArrayRef<std::pair<SubjectResult, double>> decays,
                            func::FuncOp func) {
  std::string text = "compile with --optimizer " +
                     std::string(name(common.optimizer)) +
                     ", and train with --lr " + toText(common.rate);
  if (common.optimizer == Optimizer::adamw)
    text += " --beta1 " + toText(common.beta1) + " --beta2 " +
            toText(common.beta2) + " --epsilon " + toText(common.epsilon);
  else if (common.optimizer == Optimizer::lion)
    text +=
        " --beta1 " + toText(common.beta1) + " --beta2 " + toText(common.beta2);
  else
    text += " --momentum " + toText(common.beta1);
  auto isMatrix = [](const SubjectResult &subject) {
    return cast<ShapedType>(subject.param.getType()).getRank() >= 2;
  };
  std::string ofMatrices = "0";
  for (const auto &[subject, decay] : decays)
    if (isMatrix(subject)) {
      ofMatrices = describeDecay(decay, common.rate);
      break;
    }
  text += " --weight-decay " + ofMatrices;
  for (const auto &[subject, decay] : decays) {
    std::string other = describeDecay(decay, common.rate);
    if (other != (isMatrix(subject) ? ofMatrices : "0"))
      text += " --weight-decay-of " +
              getInputName(func, subject.param.getArgNumber()) + "=" + other;
  }
  return text;
}

LogicalResult veeline::pipe::dropState(func::FuncOp func,
                                       const GraphState &state) {
  Block &block = func.getBody().front();
  block.getTerminator()->eraseOperands(state.results);
  if (failed(func.eraseResults(state.results)))
    return failure();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
  for (unsigned i : state.arguments.set_bits())
    if (!func.getArgument(i).use_empty())
      return func.getArgument(i).user_begin()->emitError()
             << "uses argument " << i
             << ", which is for updates alone: 'pipe.state_of' or 'pipe.step'";
  return func.eraseArguments(state.arguments);
}

LogicalResult veeline::pipe::takeStateOut(func::FuncOp func,
                                          ArrayRef<SubjectResult> results,
                                          const GraphState &state) {
  std::optional<StatefulUpdate> common;
  SmallVector<std::pair<SubjectResult, double>> decays;
  for (const SubjectResult &subject : results) {
    FailureOr<StatefulUpdate> update = takeUpdateOut(func, subject, state);
    if (failed(update))
      return failure();
    if (common && !common->isLike(*update))
      return func.emitError()
             << "parameters are updated in different ways: "
             << describe(*common, {}, func) << "; and "
             << describe(*update, {}, func) << "; one optimiser updates all";
    common = *update;
    decays.emplace_back(subject, update->weightDecay);
  }
  if (failed(dropState(func, state)))
    return failure();
  if (common)
    func.emitRemark() << "updates of parameters are left to the runtime; "
                      << describe(*common, decays, func)
                      << " to update as the graph did";
  return success();
}
