//===- ModelFunction.cpp - the input contract -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Dialect/Pipe/Transforms/Transforms.h"

#include "veeline/Dialect/Pipe/Transforms/Joint.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace veeline::pipe;

//===----------------------------------------------------------------------===//
// Which function is the model
//===----------------------------------------------------------------------===//

static void listNames(InFlightDiagnostic &diagnostic,
                      ArrayRef<func::FuncOp> functions) {
  llvm::interleaveComma(functions, diagnostic, [&](func::FuncOp function) {
    diagnostic << '@' << function.getSymName();
  });
}

static FailureOr<func::FuncOp>
findNamed(ModuleOp module, ArrayRef<func::FuncOp> functions, StringRef entry) {
  for (func::FuncOp function : functions)
    if (function.getSymName() == entry)
      return function;
  InFlightDiagnostic diagnostic = module.emitError()
                                  << "there is no func.func @" << entry
                                  << " with a body";
  if (functions.empty())
    return diagnostic;
  func::FuncOp nearest =
      *llvm::min_element(functions, [&](func::FuncOp a, func::FuncOp b) {
        return a.getSymName().edit_distance(entry) <
               b.getSymName().edit_distance(entry);
      });
  diagnostic << "; did you mean @" << nearest.getSymName()
             << "? Functions with a body are ";
  listNames(diagnostic, functions);
  return diagnostic;
}

FailureOr<func::FuncOp> veeline::pipe::findModel(ModuleOp module,
                                                 StringRef entry) {
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      functions.push_back(function);
  if (!entry.empty())
    return findNamed(module, functions, entry);
  auto candidates = llvm::filter_to_vector(
      functions, [](func::FuncOp function) { return function.isPublic(); });
  if (candidates.size() == 1)
    return candidates.front();
  InFlightDiagnostic diagnostic = module.emitError();
  if (candidates.empty())
    return diagnostic << "expected a public func.func with a body, the model; "
                         "found none";
  diagnostic << "expected one public func.func, the model; found ";
  listNames(diagnostic, candidates);
  return diagnostic << "; choose one by --entry";
}

//===----------------------------------------------------------------------===//
// The contract
//===----------------------------------------------------------------------===//

/// The attributes of an argument that declare what it is.
static SmallVector<NamedAttribute> getKinds(func::FuncOp model,
                                            unsigned argument) {
  SmallVector<NamedAttribute> kinds;
  for (StringRef name : {PipeDialect::paramAttrName, PipeDialect::batchAttrName,
                         PipeDialect::bufferAttrName})
    if (Attribute attr = model.getArgAttr(argument, name))
      kinds.emplace_back(StringAttr::get(model.getContext(), name), attr);
  return kinds;
}

std::string veeline::pipe::getInputName(func::FuncOp model, unsigned argument) {
  for (NamedAttribute kind : getKinds(model, argument)) {
    if (auto param = dyn_cast<ParamAttr>(kind.getValue()))
      return param.getName().str();
    return cast<StringAttr>(kind.getValue()).str();
  }
  return ("arg" + Twine(argument)).str();
}

static bool isTrained(Type element) {
  return element.isF32() || element.isF64();
}

/// What the loss and metrics are.
static bool isNumber(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 && !tensor.getEncoding() &&
         isTrained(tensor.getElementType());
}

std::string veeline::pipe::getResultName(func::FuncOp model, unsigned result) {
  if (auto name = model.getResultAttrOfType<StringAttr>(
          result, PipeDialect::metricAttrName))
    return name.str();
  if (result == 0 && isNumber(model.getResultTypes()[0]))
    return "loss";
  return "metric" + std::to_string(result);
}

/// Whether `type` is a tensor of known shape with elements.
static bool isPlainTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() != 0 &&
         !tensor.getEncoding();
}

/// Whether files of data, the runtime and compiled code all support `element`.
static bool isData(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  return isTrained(element) ||
         (integer && integer.isSignless() &&
          llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth()));
}

static LogicalResult verifyInputType(BlockArgument argument, StringRef name,
                                     bool isParam) {
  Type type = argument.getType();
  if (isPlainTensor(type)) {
    Type element = cast<RankedTensorType>(type).getElementType();
    if (isParam ? isTrained(element) : isData(element))
      return success();
  }
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor && !tensor.hasStaticShape() && !isParam)
    return emitError(argument.getLoc())
           << "argument " << argument.getArgNumber() << " (\"" << name
           << "\") of the model has a dynamic dimension: " << type
           << "; say how long it may be, with --length-bound "
              "(--pipe-bind-lengths)";
  return emitError(argument.getLoc())
         << "argument " << argument.getArgNumber() << " (\"" << name
         << "\") of the model: expected "
         << (isParam ? "a parameter, a tensor of static, non-empty shape of "
                       "f32 or f64"
                     : "a tensor of static, non-empty shape of i1, i8, i16, "
                       "i32, i64, f32 or f64")
         << ", found " << type;
}

static LogicalResult verifyArgument(func::FuncOp model,
                                    BlockArgument argument) {
  unsigned number = argument.getArgNumber();
  std::string name = getInputName(model, number);
  if (failed(verifyInputType(
          argument, name,
          model.getArgAttr(number, PipeDialect::paramAttrName) != nullptr)))
    return failure();
  SmallVector<NamedAttribute> kinds = getKinds(model, number);
  if (kinds.size() > 1)
    return emitError(argument.getLoc())
           << "argument " << number << " of the model has both '"
           << kinds[0].getName().getValue() << "' and '"
           << kinds[1].getName().getValue() << "'; an input is one thing";
  if (name.empty())
    return emitError(argument.getLoc())
           << "argument " << number << " of the model has an empty name";
  return success();
}

static LogicalResult verifyArguments(func::FuncOp model) {
  llvm::StringMap<BlockArgument> seen;
  bool hasParam = false;
  for (BlockArgument argument : model.getArguments()) {
    if (failed(verifyArgument(model, argument)))
      return failure();
    unsigned number = argument.getArgNumber();
    hasParam |=
        static_cast<bool>(model.getArgAttr(number, PipeDialect::paramAttrName));
    auto [it, inserted] =
        seen.try_emplace(getInputName(model, number), argument);
    if (inserted)
      continue;
    InFlightDiagnostic diagnostic = emitError(argument.getLoc())
                                    << "argument " << number
                                    << " of the model takes the name \""
                                    << it->first() << "\", which argument "
                                    << it->second.getArgNumber() << " has";
    diagnostic.attachNote(it->second.getLoc()) << "the other one is here";
    return diagnostic;
  }
  if (!hasParam)
    return model.emitError("the model has nothing to train: no argument is a "
                           "parameter, as in "
                           "{pipe.param = #pipe.param<\"w\", init = zeros>}");
  return success();
}

/// Checks that names can be columns of files and values of options.
static LogicalResult verifyMetricNames(func::FuncOp model, bool forwardOnly) {
  Operation *terminator = model.getBody().front().getTerminator();
  llvm::StringMap<unsigned> seen;
  for (unsigned i = 0; i < model.getNumResults(); ++i) {
    std::string name = getResultName(model, i);
    bool isPlain = !name.empty() && llvm::all_of(name, [](char character) {
      return llvm::isAlnum(character) || StringRef("_-.").contains(character);
    });
    if (!isPlain)
      return terminator->emitError()
             << "result " << i << " of the model has the name \"" << name
             << "\"; a name has letters, digits, '_', '-' and '.' only";
    auto [it, inserted] = seen.try_emplace(name, i);
    if (!inserted)
      return terminator->emitError()
             << "result " << i << " of the model has the name \"" << name
             << "\", which result " << it->second << " has";
    if (i == 0 && !forwardOnly &&
        model.getResultAttr(i, PipeDialect::metricAttrName))
      return terminator->emitError()
             << "the first result of the model is the loss, and has a "
                "'pipe.metric'; only those after it are metrics";
    if (name == "loss" && (i > 0 || !isNumber(model.getResultTypes()[i])))
      return terminator->emitError()
             << "result " << i
             << " of the model has the name \"loss\"; only the first result "
                "has it, if that is a tensor<f32> or tensor<f64>";
  }
  return success();
}

/// With `forwardOnly` there may be no loss: the first result is one if it can
/// be, and has no other name.
static LogicalResult verifyResults(func::FuncOp model, bool forwardOnly) {
  Operation *terminator = model.getBody().front().getTerminator();
  if (model.getNumResults() == 0)
    return terminator->emitError(
        "the model's first result is the loss, a tensor<f32> or tensor<f64>; "
        "found no result");
  for (auto [i, type] : llvm::enumerate(model.getResultTypes())) {
    bool mayBeOutput = forwardOnly && isPlainTensor(type) &&
                       isData(cast<RankedTensorType>(type).getElementType());
    if (isNumber(type) || mayBeOutput)
      continue;
    InFlightDiagnostic diagnostic = terminator->emitError();
    if (forwardOnly)
      return diagnostic << "result " << i
                        << " of the model: expected a tensor of static, "
                           "non-empty shape of i1, i8, i16, i32, i64, f32 or "
                           "f64, found "
                        << type;
    if (i == 0)
      diagnostic << "the model's first result is the loss";
    else
      diagnostic << "result " << i << " of the model is a metric";
    diagnostic << ", a tensor<f32> or tensor<f64>; found " << type;
    if (isJoint(model))
      diagnostic << "; gradients are taken out by --pipe-separate-joint";
    else
      diagnostic << "; tensors of data are results of models that are compiled "
                    "with --forward-only";
    return diagnostic;
  }
  return verifyMetricNames(model, forwardOnly);
}

/// Whether code can be generated for values of `type`. This is checked before
/// differentiation, which would treat complex numbers as values without a
/// gradient.
static bool isComputed(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (isa<FloatType>(element))
    return isTrained(element) || element.isF16() || element.isBF16();
  return !isa<ComplexType>(element);
}

static LogicalResult verifyNumbers(Operation *op) {
  WalkResult walk = op->walk([](Operation *nested) {
    SmallVector<Type> types(nested->getOperandTypes());
    llvm::append_range(types, nested->getResultTypes());
    for (Type type : types) {
      if (isComputed(type))
        continue;
      InFlightDiagnostic diagnostic = nested->emitError()
                                      << "'" << nested->getName()
                                      << "' computes with " << type
                                      << ", and a rank computes with floats of "
                                         "type f64, f32, bf16 and f16";
      if (isa<ComplexType>(getElementTypeOrSelf(type)))
        diagnostic << "; export the model with real and imaginary parts as "
                      "tensors of their own";
      else
        diagnostic << "; export the model in one of these, or compute in f64 "
                      "by --retype";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

static LogicalResult verifyOp(Operation *op) {
  WalkResult nestedMark = op->walk([&](BoundaryOp mark) {
    if (mark == op)
      return WalkResult::advance();
    mark.emitOpError("is inside another op; a mark stands in the model "
                     "function's own block, or in a loop that is unrolled");
    return WalkResult::interrupt();
  });
  if (nestedMark.wasInterrupted())
    return failure();
  if (!isMemoryEffectFree(op))
    return op->emitError() << "'" << op->getName()
                           << "' may have side effects; a model is made of "
                              "pure ops on tensors (calls are inlined by "
                              "--inline)";
  return verifyNumbers(op);
}

LogicalResult veeline::pipe::verifyModel(func::FuncOp model, bool forwardOnly) {
  if (!model.getBody().hasOneBlock())
    return model.emitError()
           << "the model has " << model.getBody().getBlocks().size()
           << " blocks, expected one: no branches";
  if (failed(verifyArguments(model)) ||
      failed(verifyResults(model, forwardOnly)))
    return failure();
  for (Operation &op : model.getBody().front().without_terminator())
    if (failed(verifyOp(&op)))
      return failure();
  return success();
}
