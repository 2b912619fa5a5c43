//===- Params.cpp - --pipe-import-params ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Params.h"
#include "Buffers.h"
#include "ContractParams.h"
#include "Decisions.h"
#include "FlatParams.h"
#include "Model.h"
#include "ParamInits.h"
#include "Roles.h"
#include "Rotations.h"
#include "Statistics.h"
#include "Tables.h"
#include "Uses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "veeline/Dialect/Pipe/IR/Frozen.h"
#include "veeline/Import/Passes.h"

#include <cmath>

namespace veeline {
#define GEN_PASS_DEF_PIPEIMPORTPARAMS
#include "veeline/Import/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;
using veeline::pipe::InitAttr;
using veeline::pipe::PipeDialect;

namespace {
/// Decides what each argument is: a parameter, data, a buffer or a constant.
class Importer {
public:
  Importer(func::FuncOp model, const ArgumentChoice &choice)
      : model(model), context(model.getContext()), params(choice.params),
        freeze(choice.freeze), buffers(choice.buffers),
        areBuffersGiven(choice.areBuffersGiven),
        firstSlice(this->model.getNumArguments()) {}

  LogicalResult run(bool verbose);

private:
  void splitFlat();
  void findBatch();
  void findLearned();
  void findSame();
  void findShared();
  bool isParam(unsigned argument) const;
  bool isGiven(unsigned argument, ElementsAttr value) const;
  bool looksLearned(unsigned argument, ElementsAttr value) const;
  LogicalResult verifyLists() const;
  void makeGivenBuffers();
  LogicalResult findRoles();
  std::string getOther(unsigned argument) const;
  void findUnlisted();
  bool isUnlisted(unsigned argument) const;
  void warnWithoutData();
  LogicalResult verifyTrained();
  LogicalResult decide(unsigned argument);
  LogicalResult decideConstant(unsigned argument, ElementsAttr value);
  LogicalResult keepConstant(unsigned argument, ElementsAttr value);
  void decideParam(unsigned argument);
  LogicalResult decideData(unsigned argument);
  void makeParam(unsigned argument, InitAttr init);
  void makeBuffer(unsigned argument);
  void makeConstant(unsigned argument, ElementsAttr value);
  bool makeStatistic(unsigned argument, ElementsAttr value, const Uses &uses);
  BlockArgument widen(unsigned argument);
  bool isFrozen(unsigned argument) const {
    return freeze.contains(argument, names[argument]);
  }
  ElementsAttr constantOf(unsigned argument) const {
    return model.getArgAttrOfType<ElementsAttr>(argument,
                                                PipeDialect::constantAttrName);
  }
  /// Describes an argument in the form "argument 0 ("x", 'tensor<2xf32>')".
  /// Slices have no position.
  std::string describe(unsigned argument) const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (argument < firstSlice)
      stream << "argument " << argument;
    else
      stream << "slice";
    stream << " (\"" << names[argument] << "\", '"
           << model.getArgumentTypes()[argument] << "')";
    return text;
  }
  /// Emits a remark at the argument.
  InFlightDiagnostic say(unsigned argument) const {
    return emitRemark(model.getArgument(argument).getLoc())
           << describe(argument);
  }
  /// Records a decision that is reported together with others of its kind.
  void say(unsigned argument, Decision decision) {
    decisions.add(decision, model.getArgument(argument).getLoc(),
                  names[argument], describe(argument));
  }

  /// Mutable, because handles of ops have no const accessors.
  mutable func::FuncOp model;
  MLIRContext *context;
  ArgumentList params, freeze, buffers;
  bool areBuffersGiven;
  Decisions decisions;
  std::vector<std::string> names;
  bool constantsAreParams = false, hasParam = false;
  /// The number of parameters that are not trained.
  int64_t numFrozen = 0;
  /// The batch: the leading dimension of the first result of floats, or 0 if
  /// there is none.
  int64_t batch = 0;
  llvm::BitVector gone;
  /// The constants that are parameters.
  llvm::BitVector learned;
  /// Arguments that look like parameters but are the same for all samples.
  llvm::BitVector same;
  /// Running means and variances that --params does not list. They are neither
  /// data nor parameters.
  llvm::BitVector unlisted;
  /// Data that is the same for all samples.
  llvm::BitVector shared;
  /// What products reveal about the arguments of the file.
  std::optional<RoleFinder> roles;
  /// The number of the first argument that is a slice of a parameter.
  unsigned firstSlice;
};
} // namespace

void Importer::splitFlat() {
  firstSlice = model.getNumArguments();
  gone.resize(firstSlice);
  for (unsigned i = 0; i < firstSlice; ++i) {
    if (constantOf(i) || !isFloatTensor(model.getArgumentTypes()[i], 2) ||
        !isParam(i))
      continue;
    unsigned slices = veeline::splitFlat(model, i, names[i]);
    if (slices == 0)
      continue;
    say(i) << " is sliced into " << slices
           << " weights, which become parameters of their own";
    gone.set(i);
  }
  gone.resize(model.getNumArguments());
  names = nameArguments(model);
}

//===----------------------------------------------------------------------===//
// Roles of arguments
//===----------------------------------------------------------------------===//

/// Whether a constant is a parameter, however it is used.
bool Importer::isGiven(unsigned argument, ElementsAttr value) const {
  if (params.contains(argument, names[argument]))
    return true;
  // A constant that the file leaves out cannot stay a constant, so it is
  // learned. Statistics that are left out are 0 and 1 instead.
  return !isThere(value) &&
         !findUses(model.getArgument(argument)).isStatistic();
}

/// Whether a constant is the zero bias that exporters add to a convolution
/// without one.
static bool isZeroBias(const Uses &uses, ElementsAttr value) {
  return uses.convolutionBias && !uses.weight && isZero(value);
}

/// Whether a constant is a mask that hides positions from each other.
static bool isAddedMask(const Uses &uses, ElementsAttr value) {
  return uses.added && !uses.weight && !uses.multiplied && isMask(value);
}

/// Whether a constant is used like a weight.
bool Importer::looksLearned(unsigned argument, ElementsAttr value) const {
  Uses uses = findUses(model.getArgument(argument));
  std::optional<double> splat = splatOf(value);
  bool isInfinite = splat && !std::isfinite(*splat);
  if (isInfinite || isAddedMask(uses, value) || uses.frequency ||
      uses.runningMean || (uses.isScaleOnly() && isTable(value)) ||
      isZeroBias(uses, value) ||
      (isTable(value) && isRotation(model.getArgument(argument))) ||
      (splat == 1.0 && isNumerator(model.getArgument(argument))))
    return false;
  return uses.any() || ((uses.start || uses.token) && !splat);
}

void Importer::findLearned() {
  llvm::BitVector given(model.getNumArguments());
  learned.resize(model.getNumArguments());
  for (unsigned i = 0; i < model.getNumArguments(); ++i)
    if (ElementsAttr value = constantOf(i);
        value && !buffers.contains(i, names[i])) {
      given[i] = isGiven(i, value);
      learned[i] = given[i] || looksLearned(i, value);
    }
  clearTables(model, given, learned);
}

/// Whether an argument that is not a constant is a parameter.
bool Importer::isParam(unsigned argument) const {
  Type type = model.getArgumentTypes()[argument];
  if (!isFloatTensor(type) ||
      model.getArgAttr(argument, PipeDialect::bufferAttrName))
    return false;
  if (argument >= firstSlice)
    return true;
  if (!params.empty())
    return params.contains(argument, names[argument]);
  if (argument < same.size() && same.test(argument))
    return false;
  auto tensor = cast<RankedTensorType>(type);
  if (constantsAreParams || tensor.getNumElements() < 2)
    return false;
  Role role = roles ? roles->getRole(argument) : Role::Unknown;
  if (role != Role::Unknown)
    return role == Role::Weight;
  return tensor.getRank() == 1 || tensor.getDimSize(0) != batch;
}

/// Finds running means that --params does not list, and variances of the same
/// type. Although they are not listed, they are not data.
void Importer::findUnlisted() {
  unlisted.resize(model.getNumArguments());
  if (params.empty())
    return;
  llvm::DenseSet<Type> types;
  for (BlockArgument argument : model.getArguments())
    if (isFloatTensor(argument.getType()) && isRunningMean(argument))
      types.insert(argument.getType());
  for (unsigned i = 0; i < unlisted.size(); ++i)
    unlisted[i] = !constantOf(i) && !params.contains(i, names[i]) &&
                  types.contains(model.getArgumentTypes()[i]) &&
                  findUses(model.getArgument(i)).isStatistic();
}

bool Importer::isUnlisted(unsigned argument) const {
  return argument < unlisted.size() && unlisted.test(argument);
}

/// Distinguishes data from weights by their uses if the leading dimension does
/// not. If constants are weights, arguments are weights only if at least one of
/// them certainly is.
LogicalResult Importer::findRoles() {
  if (!params.empty())
    return success();
  roles.emplace(model);
  constantsAreParams = learned.any() && !roles->hasWeights(batch);
  if (constantsAreParams)
    return success();
  if (batch > 0) {
    roles->findWeights(batch);
    return success();
  }
  bool isScalar = llvm::any_of(model.getResultTypes(),
                               [](Type type) { return isFloatTensor(type); });
  if (!isScalar)
    return success();
  FailureOr<int64_t> found = roles->findBatch(names);
  if (succeeded(found))
    batch = *found;
  return LogicalResult(found);
}

/// Finds tables and masks. Without this, they would be taken for parameters,
/// because they have no samples.
void Importer::findSame() {
  same.resize(model.getNumArguments());
  if (areBuffersGiven)
    return;
  for (unsigned i = 0; i < same.size(); ++i)
    same[i] = !constantOf(i) && isFloatTensor(model.getArgumentTypes()[i], 2) &&
              !params.contains(i, names[i]) &&
              isSameForAll(model.getArgument(i), batch);
}

/// Finds data that is the same for all samples, unless the user lists buffers.
/// Data with one row, such as a mask, is the same if other data has one row for
/// each sample. In a model for one sample, data that describes positions is the
/// same.
void Importer::findShared() {
  shared.resize(model.getNumArguments());
  if (areBuffersGiven)
    return;
  llvm::BitVector data(model.getNumArguments());
  int64_t samples = batch;
  for (unsigned i = 0; i < data.size(); ++i) {
    auto type = dyn_cast<RankedTensorType>(model.getArgumentTypes()[i]);
    data[i] = !gone.test(i) && !constantOf(i) && type &&
              !model.getArgument(i).use_empty() && !isParam(i) &&
              !isUnlisted(i) && !(i < same.size() && same.test(i));
    if (data[i] && batch == 0 && type.getRank() > 0)
      samples = std::max(samples, type.getDimSize(0));
  }
  for (unsigned i : data.set_bits()) {
    auto type = cast<RankedTensorType>(model.getArgumentTypes()[i]);
    shared[i] = type.getRank() == 0 ||
                (samples > 1 ? type.getDimSize(0) == 1
                             : isOfPositions(model.getArgument(i)));
  }
  // If all data describes positions, it is the input of the model after all.
  if (samples < 2 && shared == data)
    shared.reset();
  shared |= same;
}

static bool isSmallFloat(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto element =
      tensor ? dyn_cast<FloatType>(tensor.getElementType()) : FloatType();
  return element && element.getWidth() < 32;
}

/// Makes an argument of small floats f32, because files of data and optimisers
/// use that, and rounds it for the model.
BlockArgument Importer::widen(unsigned number) {
  BlockArgument argument = model.getArgument(number);
  if (!isSmallFloat(argument.getType()))
    return argument;
  auto narrow = cast<RankedTensorType>(argument.getType());
  OpBuilder builder(context);
  builder.setInsertionPointToStart(&model.getBody().front());
  argument.setType(narrow.clone(builder.getF32Type()));
  auto truncated = arith::TruncFOp::create(builder, argument.getLoc(), narrow,
                                           Value(argument));
  argument.replaceAllUsesExcept(truncated.getResult(), truncated);
  return argument;
}

void Importer::makeParam(unsigned argument, InitAttr init) {
  bool frozen = isFrozen(argument);
  numFrozen += frozen;
  hasParam |= !frozen;
  widen(argument);
  updateType(model);
  model.removeArgAttr(argument, PipeDialect::constantAttrName);
  model.setArgAttr(
      argument, PipeDialect::paramAttrName,
      pipe::ParamAttr::get(context, StringAttr::get(context, names[argument]),
                           init));
  if (frozen)
    model.setArgAttr(argument, pipe::frozenAttrName, UnitAttr::get(context));
}

void Importer::makeBuffer(unsigned argument) {
  widen(argument);
  updateType(model);
  model.setArgAttr(argument, PipeDialect::bufferAttrName,
                   StringAttr::get(context, names[argument]));
}

/// If the argument is a running mean or variance, replaces it by a constant
/// with its values or, if the file has none, with 0 or 1. Returns whether it is
/// one.
bool Importer::makeStatistic(unsigned argument, ElementsAttr value,
                             const Uses &uses) {
  if (!uses.isStatistic())
    return false;
  auto type = cast<RankedTensorType>(model.getArgumentTypes()[argument]);
  bool isKnown = value && isThere(value), isVariance = uses.isVariance();
  if (isKnown)
    say(argument, isVariance ? Decision::Variance : Decision::Mean);
  else
    say(argument,
        isVariance ? Decision::MissingVariance : Decision::MissingMean);
  auto start = FloatAttr::get(type.getElementType(), isVariance ? 1.0 : 0.0);
  makeConstant(argument, isKnown ? value : DenseElementsAttr::get(type, start));
  return true;
}

void Importer::makeConstant(unsigned argument, ElementsAttr value) {
  OpBuilder builder(context);
  builder.setInsertionPointToStart(&model.getBody().front());
  BlockArgument old = model.getArgument(argument);
  old.replaceAllUsesWith(arith::ConstantOp::create(
      builder, old.getLoc(), value.getType(), cast<TypedAttr>(value)));
  gone.set(argument);
}

/// Keeps a constant that --buffer chooses.
LogicalResult Importer::keepConstant(unsigned argument, ElementsAttr value) {
  if (!isThere(value))
    return emitError(model.getArgument(argument).getLoc())
           << describe(argument)
           << " is chosen by --buffer, and the file leaves its elements out";
  makeConstant(argument, value);
  return success();
}

LogicalResult Importer::decideConstant(unsigned argument, ElementsAttr value) {
  if (buffers.contains(argument, names[argument]))
    return keepConstant(argument, value);
  Uses uses = findUses(model.getArgument(argument));
  std::optional<double> splat = splatOf(value);
  if (!learned.test(argument)) {
    // A small number is the epsilon that is added to a variance.
    bool isSmall = splat && *splat <= 0.01 && uses.isVariance();
    if (!isSmall && makeStatistic(argument, value, uses))
      return success();
    // A splat gets no remark, because it is more often a plain number than a
    // weight.
    if (isZeroBias(uses, value))
      say(argument, Decision::ZeroBias);
    else if (isAddedMask(uses, value))
      say(argument, Decision::Mask);
    else if (!splat)
      say(argument, Decision::Constant);
    makeConstant(argument, value);
    return success();
  }
  bool isDrawn = splat ? uses.weight && !isFrozen(argument) : !isThere(value);
  say(argument, isDrawn              ? Decision::Drawn
                : isFrozen(argument) ? Decision::Frozen
                : splat              ? Decision::Number
                                     : Decision::Trained);
  if (isDrawn)
    makeParam(argument, drawnInit(context, uses));
  else if (splat && std::isfinite(*splat))
    makeParam(argument, constantInit(context, *splat));
  else
    makeParam(argument, storedInit(value));
  return success();
}

/// Whether an argument that is taken as a parameter might be a table or a mask:
/// it has several dimensions, and no product uses it.
static bool isSurprising(BlockArgument argument, const Uses &uses) {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(argument.getType()).getShape();
  return !uses.weight &&
         llvm::count_if(shape, [](int64_t extent) { return extent > 1; }) > 1;
}

void Importer::decideParam(unsigned argument) {
  Uses uses = findUses(model.getArgument(argument));
  if (isFrozen(argument)) {
    makeParam(argument, drawnInit(context, uses));
    return;
  }
  if ((params.empty() || isUnlisted(argument)) &&
      makeStatistic(argument, {}, uses))
    return;
  if (params.empty() && isSurprising(model.getArgument(argument), uses))
    say(argument) << " is taken for a parameter, though it goes into no "
                     "product; --buffer names what is the same for all data";
  else if (params.empty())
    say(argument, Decision::Parameter);
  makeParam(argument, drawnInit(context, uses));
}

LogicalResult Importer::decideData(unsigned argument) {
  auto tensor = dyn_cast<RankedTensorType>(model.getArgumentTypes()[argument]);
  if (!tensor || !tensor.hasStaticShape())
    return emitError(model.getArgument(argument).getLoc())
           << describe(argument) << " is no tensor of static shape"
           << (tensor
                   ? "; export the model with fixed sizes, or, where a batch "
                     "argument has lengths, mark what its arguments are "
                     "(pipe.param, pipe.batch) and give --length-bound"
                   : "; a model takes tensors only: make it a constant");
  bool isShared = shared.test(argument);
  say(argument) << " is taken for "
                << (isShared ? "a buffer, the same for all data" : "data");
  if (isShared) {
    makeBuffer(argument);
    return success();
  }
  widen(argument);
  updateType(model);
  model.setArgAttr(argument, PipeDialect::batchAttrName,
                   StringAttr::get(context, names[argument]));
  return success();
}

LogicalResult Importer::decide(unsigned argument) {
  if (gone.test(argument) ||
      model.getArgAttr(argument, PipeDialect::bufferAttrName))
    return success();
  ElementsAttr value = constantOf(argument);
  if (model.getArgument(argument).use_empty()) {
    if (!value)
      say(argument, Decision::Unused);
    gone.set(argument);
    return success();
  }
  if (value)
    return decideConstant(argument, value);
  if (!isParam(argument) && !isUnlisted(argument))
    return decideData(argument);
  decideParam(argument);
  return success();
}

/// Warns if all arguments are trained. Some of them are probably data that
/// looks like weights, for example because time is its leading dimension.
void Importer::warnWithoutData() {
  bool hasArgument = false, hasData = false;
  for (unsigned i = 0, e = names.size(); i < e; ++i) {
    hasArgument |=
        !constantOf(i) && model.getArgAttr(i, PipeDialect::paramAttrName);
    hasData |= bool(model.getArgAttr(i, PipeDialect::batchAttrName));
  }
  if (params.empty() && !constantsAreParams && hasArgument && !hasData)
    model.emitWarning("all arguments are taken for parameters, and the model "
                      "has no data; --params names those that are");
}

LogicalResult Importer::verifyTrained() {
  if (hasParam)
    return success();
  int64_t kept = 0;
  for (unsigned i = 0; i < names.size(); ++i)
    kept += isFloatTensor(model.getArgumentTypes()[i]) &&
            buffers.contains(i, names[i]);
  if (kept > 0 && numFrozen == 0)
    return model.emitError("the model has nothing to train: --buffer takes ")
           << kept << (kept == 1 ? " argument" : " arguments")
           << ", and nothing else looks like weights; leave out of it what is "
              "to be trained";
  if (numFrozen == 0)
    return model.emitError("the model has nothing to train: neither constants "
                           "nor arguments look like weights; choose arguments "
                           "by --params");
  return model.emitError("the model has nothing to train: --freeze takes ")
         << (numFrozen == 1 ? "its only parameter" : "all its parameters, ")
         << (numFrozen == 1 ? "" : std::to_string(numFrozen))
         << "; leave out what is to be trained";
}

void Importer::findBatch() {
  // Results that --pipe-import-results has emptied do not count.
  Operation *end = model.getBody().front().getTerminator();
  for (Value result : llvm::reverse(end->getOperands()))
    if (auto type = dyn_cast<RankedTensorType>(result.getType());
        type && isFloatTensor(type) && type.getRank() > 0 && !isDropped(result))
      batch = type.getDimSize(0);
}

/// Describes an argument that is not a parameter; "" if it is one. A running
/// mean or variance that is an argument can be frozen, too: its values then
/// come from a file of parameters.
std::string Importer::getOther(unsigned argument) const {
  std::string untrained = ", which is not trained anyway";
  // The argument was removed because its slices are parameters.
  if (gone.test(argument))
    return "";
  if (model.getArgument(argument).use_empty())
    return "not used";
  if (model.getArgAttr(argument, PipeDialect::bufferAttrName) ||
      shared.test(argument))
    return "a buffer" + untrained;
  if (!constantOf(argument))
    return isParam(argument) || isUnlisted(argument) ? "" : "data" + untrained;
  if (learned.test(argument))
    return "";
  Uses uses = findUses(model.getArgument(argument));
  return (uses.runningMean    ? "a running mean"
          : uses.isVariance() ? "a running variance"
                              : "a constant") +
         untrained;
}

LogicalResult Importer::verifyLists() const {
  if (failed(params.verify(model, names)) ||
      failed(buffers.verify(model, names)))
    return failure();
  for (unsigned i = 0; i < names.size(); ++i)
    if (params.contains(i, names[i]) && buffers.contains(i, names[i]))
      return model.emitError("--params and --buffer both choose ")
             << describe(i)
             << "; a buffer is not trained: leave it out of one of them";
  return success();
}

void Importer::makeGivenBuffers() {
  for (unsigned i = 0; i < names.size(); ++i)
    if (!constantOf(i) && buffers.contains(i, names[i]) &&
        isa<RankedTensorType>(model.getArgumentTypes()[i]))
      makeBuffer(i);
}

LogicalResult Importer::run(bool verbose) {
  names = nameArguments(model);
  findBatch();
  if (failed(verifyLists()))
    return failure();
  makeGivenBuffers();
  findLearned();
  if (failed(findRoles()))
    return failure();
  findSame();
  findUnlisted();
  splitFlat();
  learned.resize(model.getNumArguments());
  findShared();
  if (failed(freeze.verify(model, names)) ||
      failed(freeze.verifyParams(model, names,
                                 [&](unsigned i) { return getOther(i); })))
    return failure();
  for (unsigned i = 0; i < model.getNumArguments(); ++i)
    if (failed(decide(i)))
      return failure();
  decisions.say(model, verbose);
  if (failed(verifyTrained()))
    return failure();
  warnWithoutData();
  gone.resize(model.getNumArguments());
  return LogicalResult(model.eraseArguments(gone));
}

FailureOr<ArgumentChoice> ArgumentChoice::parse(func::FuncOp model,
                                                ArrayRef<std::string> params,
                                                ArrayRef<std::string> freeze,
                                                ArrayRef<std::string> buffers) {
  bool isNone = buffers.size() == 1 && buffers[0] == "none";
  auto trained = ArgumentList::parse(model, params, "params");
  auto frozen = ArgumentList::parse(model, freeze, "freeze");
  auto same = ArgumentList::parse(
      model, isNone ? ArrayRef<std::string>() : buffers, "buffer");
  if (failed(trained) || failed(frozen) || failed(same))
    return failure();
  return ArgumentChoice{*trained, *frozen, *same, !buffers.empty()};
}

LogicalResult veeline::importParams(func::FuncOp model,
                                    const ArgumentChoice &choice,
                                    bool verbose) {
  return followsContract(model)
             ? importContract(model, choice.freeze, choice.buffers)
             : Importer(model, choice).run(verbose);
}

bool veeline::isTrainable(func::FuncOp model, int64_t number,
                          const ArgumentChoice &choice) {
  ScopedDiagnosticHandler quiet(model.getContext(),
                                [](Diagnostic &) { return success(); });
  OwningOpRef<func::FuncOp> copy = model.clone();
  dropResults(*copy, [&](int64_t other) { return other != number; });
  if (failed(importParams(*copy, choice, /*verbose=*/false)))
    return false;
  llvm::DenseSet<Value> trained = findDependent(*copy, [&](unsigned argument) {
    return pipe::isTrainedParam(*copy, argument);
  });
  return trained.contains(
      copy->getBody().front().getTerminator()->getOperand(number));
}

namespace {
struct ImportParams : veeline::impl::PipeImportParamsBase<ImportParams> {
  using PipeImportParamsBase::PipeImportParamsBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> model = getChosenModel(getOperation());
    if (failed(model))
      return signalPassFailure();
    auto choice =
        ArgumentChoice::parse(*model, llvm::to_vector(params),
                              llvm::to_vector(freeze), llvm::to_vector(buffer));
    if (failed(choice) || failed(importParams(*model, *choice, verbose)))
      signalPassFailure();
  }
};
} // namespace
