//===- VerifyGradients.cpp - parameters that no gradient reaches ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "veeline/Autodiff/GradientFlow.h"
#include "veeline/Dialect/Pipe/IR/Frozen.h"
#include "veeline/Dialect/Pipe/Transforms/Transforms.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;
using autodiff::LostGradient;

/// For each op, the arguments whose gradients end there. The null entry has
/// those on which nothing depends.
using LostAt = llvm::MapVector<Operation *, SmallVector<BlockArgument>>;

/// The parameters that are used and not frozen. There is another warning for
/// unused ones.
static SmallVector<BlockArgument> getUsedParameters(func::FuncOp model) {
  return llvm::filter_to_vector(
      model.getArguments(), [&](BlockArgument argument) {
        return !argument.use_empty() &&
               isTrainedParam(model, argument.getArgNumber());
      });
}

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value));
}

/// The loss or, if the first result is not a scalar, all float results: a model
/// that is only inspected may have no loss.
static SmallVector<Value> getDifferentiated(func::FuncOp model) {
  auto results = model.getBody().front().getTerminator()->getOperands();
  auto type = dyn_cast<RankedTensorType>(results.front().getType());
  if (type && type.getRank() == 0 && isFloat(results.front()))
    return {results.front()};
  return llvm::filter_to_vector(results, isFloat);
}

static StringRef getName(func::FuncOp model, BlockArgument argument) {
  return model
      .getArgAttrOfType<ParamAttr>(argument.getArgNumber(),
                                   PipeDialect::paramAttrName)
      .getName();
}

/// Describes parameters in the form `parameter "w"` or `4 parameters ("a", "b",
/// "c" and 1 more)`.
static std::string describe(func::FuncOp model,
                            ArrayRef<BlockArgument> arguments) {
  constexpr size_t most = 3;
  std::string text;
  llvm::raw_string_ostream out(text);
  auto print = [&](BlockArgument argument) {
    out << '"' << getName(model, argument) << '"';
  };
  if (arguments.size() == 1) {
    out << "parameter ";
    print(arguments.front());
    return text;
  }
  out << arguments.size() << " parameters (";
  llvm::interleaveComma(arguments.take_front(most), out, print);
  if (arguments.size() > most)
    out << " and " << arguments.size() - most << " more";
  out << ')';
  return text;
}

static void addNote(InFlightDiagnostic &diagnostic, Operation *op) {
  if (!op)
    return;
  Diagnostic &note = diagnostic.attachNote(op->getLoc());
  note << "it ends here: '" << op->getName() << "' ";
  auto type = llvm::find_if_not(op->getResultTypes(), [](Type result) {
    return isa<FloatType>(getElementTypeOrSelf(result));
  });
  if (type != op->result_type_end())
    note << "gives " << *type << ", and only floats carry gradients";
  else if (autodiff::isStep(op))
    note << "is a step, whose derivative is 0";
  else
    note << "hands none on to what it uses";
}

static void warn(func::FuncOp model, Operation *op,
                 ArrayRef<BlockArgument> arguments) {
  InFlightDiagnostic diagnostic = emitWarning(arguments.front().getLoc());
  bool isOne = arguments.size() == 1;
  diagnostic << (op ? "no gradient reaches " : "the loss does not depend on ")
             << describe(model, arguments)
             << (isOne ? ": it is not trained; if that is meant, name it in "
                         "--freeze"
                       : ": they are not trained; if that is meant, name them "
                         "in --freeze");
  addNote(diagnostic, op);
}

/// Fails if no parameter gets a gradient, because training would then change
/// nothing.
static LogicalResult refuse(func::FuncOp model, const LostAt &lost) {
  SmallVector<BlockArgument> all;
  for (const auto &[op, arguments] : lost)
    llvm::append_range(all, arguments);
  InFlightDiagnostic diagnostic =
      model.emitError()
      << "the model cannot be trained: no gradient of the loss reaches "
      << describe(model, all)
      << (all.size() == 1 ? ", its only one" : ", which are all that it has")
      << "; compute in floats from the parameters to the loss";
  constexpr size_t most = 3;
  for (const auto &[op, arguments] :
       ArrayRef(lost.begin(), lost.end()).take_front(most))
    addNote(diagnostic, op);
  return diagnostic;
}

/// Whether there are parameters, and all of them are frozen.
static bool isAllFrozen(func::FuncOp model) {
  bool hasParam = false;
  for (unsigned i = 0, e = model.getNumArguments(); i != e; ++i) {
    if (isTrainedParam(model, i))
      return false;
    hasParam |= bool(model.getArgAttr(i, PipeDialect::paramAttrName));
  }
  return hasParam;
}

LogicalResult veeline::pipe::verifyGradients(func::FuncOp model) {
  if (isAllFrozen(model))
    return model.emitError("the model has nothing to train: all its parameters "
                           "are frozen; leave out of --freeze what is to be "
                           "trained");
  SmallVector<BlockArgument> params = getUsedParameters(model);
  SmallVector<Value> differentiated = getDifferentiated(model);
  if (params.empty() || differentiated.empty())
    return success();
  LostAt lost;
  size_t count = 0;
  for (LostGradient one :
       autodiff::findLostGradients(model, params, differentiated)) {
    lost[one.op].push_back(one.argument);
    ++count;
  }
  if (count == params.size())
    return refuse(model, lost);
  for (const auto &[op, arguments] : lost)
    warn(model, op, arguments);
  return success();
}
