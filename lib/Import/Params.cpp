//===- Params.cpp - --pipe-import-params ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"
#include "Names.h"
#include "Roles.h"
#include "Tables.h"
#include "Uses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"
#include "veeline/Import/Passes.h"

#include <cmath>

namespace veeline {
#define GEN_PASS_DEF_PIPEIMPORTPARAMS
#include "veeline/Import/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;
using veeline::pipe::InitAttr;
using veeline::pipe::InitKind;
using veeline::pipe::PipeDialect;

static InitAttr makeInit(MLIRContext *context, InitKind kind, double a = 0,
                         double b = 0) {
  return InitAttr::get(context, kind, APFloat(a), APFloat(b), ElementsAttr());
}

/// A weight starts from what the file has for it.
static InitAttr storedInit(ElementsAttr elements) {
  // What is smaller than the runtime's floats.
  auto dense = dyn_cast<DenseFPElementsAttr>(elements);
  if (dense && dense.getElementType().getIntOrFloatBitWidth() < 16)
    elements = dense.mapValues(
        Float32Type::get(elements.getContext()), [](APFloat number) {
          bool lost = false;
          number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                         &lost);
          return number.bitcastToAPInt();
        });
  return InitAttr::get(elements.getContext(), InitKind::Values, APFloat(0.0),
                       APFloat(0.0), elements);
}

/// How a weight starts whose values are unknown.
static InitAttr drawnInit(MLIRContext *context, const Uses &uses) {
  // Rows that are looked up: nothing is summed.
  if (uses.weight && uses.summed == 1)
    return makeInit(context, InitKind::Normal, 0.0, 0.02);
  if (uses.weight)
    return makeInit(context, InitKind::Normal, 0.0,
                    1.0 / std::sqrt(static_cast<double>(uses.summed)));
  return makeInit(context, uses.multiplied || uses.underRoot ? InitKind::Ones
                                                             : InitKind::Zeros);
}

/// Whether the file has the elements, and not only their shape.
static bool isThere(ElementsAttr value) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  return !resource || resource.getRawHandle().getBlob();
}

/// The value of all elements; none where they differ or are not there.
static std::optional<double> splatOf(ElementsAttr value) {
  auto dense = dyn_cast_or_null<DenseFPElementsAttr>(value);
  if (!dense || !dense.isSplat())
    return std::nullopt;
  APFloat number = dense.getSplatValue<APFloat>();
  bool lost = false;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return number.convertToDouble();
}

namespace {
/// Decides argument by argument.
class Importer {
public:
  Importer(func::FuncOp model, ArgumentList params, ArgumentList freeze)
      : model(model), context(model.getContext()), params(std::move(params)),
        freeze(std::move(freeze)) {}

  LogicalResult run();

private:
  void splitFlat();
  void splitFlat(unsigned argument);
  void findLearned();
  bool isParam(unsigned argument) const;
  bool isGiven(unsigned argument, ElementsAttr value) const;
  bool looksLearned(unsigned argument, ElementsAttr value) const;
  bool isShared(unsigned argument) const;
  LogicalResult findRoles();
  void warnWithoutData();
  void sayZeroBiases();
  LogicalResult decide(unsigned argument);
  void makeParam(unsigned argument, InitAttr init);
  void makeData(unsigned argument);
  void makeConstant(unsigned argument, ElementsAttr value);
  void makeVariance(unsigned argument, ElementsAttr value);
  BlockArgument widen(unsigned argument);
  ElementsAttr constantOf(unsigned argument) const {
    return model.getArgAttrOfType<ElementsAttr>(argument,
                                                PipeDialect::constantAttrName);
  }
  /// As in "argument 0 ("x", 'tensor<2xf32>')".
  std::string describe(unsigned argument) const {
    std::string text;
    llvm::raw_string_ostream(text)
        << "argument " << argument << " (\"" << names[argument] << "\", '"
        << model.getArgumentTypes()[argument] << "')";
    return text;
  }
  /// A remark at the argument.
  InFlightDiagnostic say(unsigned argument) const {
    return emitRemark(model.getArgument(argument).getLoc())
           << describe(argument);
  }

  /// Handles of ops have no const accessors.
  mutable func::FuncOp model;
  MLIRContext *context;
  ArgumentList params, freeze;
  std::vector<std::string> names;
  bool constantsAreParams = false, hasParam = false;
  /// Of what would be parameters, those that are not trained.
  int64_t frozen = 0;
  /// Constants that are biases of convolutions, and zero.
  int64_t zeroBiases = 0;
  /// Leading dimension of the first result of floats, the batch; 0: none.
  int64_t batch = 0;
  llvm::BitVector gone;
  /// The constants that are parameters.
  llvm::BitVector learned;
  /// What products say of the arguments of the file.
  std::optional<RoleFinder> roles;
  /// Slices of a parameter start here.
  unsigned firstSlice = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// One flat argument that holds all weights
//===----------------------------------------------------------------------===//

/// The slices of a vector, ascending and disjoint; empty where it is used
/// otherwise.
static SmallVector<tensor::ExtractSliceOp> findSlices(BlockArgument argument) {
  SmallVector<tensor::ExtractSliceOp> slices;
  for (Operation *user : argument.getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || !slice.hasUnitStride() ||
        slice.getSourceType().getRank() != 1 ||
        ShapedType::isDynamicShape(slice.getStaticOffsets()) ||
        !slice.getType().hasStaticShape())
      return {};
    slices.push_back(slice);
  }
  llvm::sort(slices, [](tensor::ExtractSliceOp a, tensor::ExtractSliceOp b) {
    return a.getStaticOffset(0) < b.getStaticOffset(0);
  });
  for (size_t i = 1; i < slices.size(); ++i)
    if (slices[i - 1].getStaticOffset(0) + slices[i - 1].getStaticSize(0) >
        slices[i].getStaticOffset(0))
      return {};
  return slices;
}

/// Slices become arguments "NAME[begin:end]".
void Importer::splitFlat(unsigned argument) {
  SmallVector<tensor::ExtractSliceOp> slices =
      findSlices(model.getArgument(argument));
  if (slices.size() < 2)
    return;
  say(argument) << " is sliced into " << slices.size()
                << " weights, which become parameters of their own";
  for (tensor::ExtractSliceOp slice : slices) {
    int64_t begin = slice.getStaticOffset(0);
    std::string name = names[argument] + "[" + std::to_string(begin) + ":" +
                       std::to_string(begin + slice.getStaticSize(0)) + "]";
    unsigned index = model.getNumArguments();
    (void)model.insertArgument(
        index, slice.getType(), {},
        NameLoc::get(StringAttr::get(context, name), slice.getLoc()));
    slice.replaceAllUsesWith(Value(model.getArgument(index)));
    slice.erase();
  }
  gone.resize(model.getNumArguments());
  gone.set(argument);
}

void Importer::splitFlat() {
  gone.resize(model.getNumArguments());
  firstSlice = model.getNumArguments();
  for (unsigned i = 0; i < firstSlice; ++i)
    if (!constantOf(i) && isFloatTensor(model.getArgumentTypes()[i], 2) &&
        isParam(i))
      splitFlat(i);
  names = nameArguments(model);
}

//===----------------------------------------------------------------------===//
// What an argument is
//===----------------------------------------------------------------------===//

/// Whether a constant is a parameter however it is used.
bool Importer::isGiven(unsigned argument, ElementsAttr value) const {
  if (!params.empty() && params.contains(argument, names[argument]))
    return true;
  // What the file leaves out can be learned, but not be a constant; a variance
  // that is left out is 1.
  return !isThere(value) && !findUses(model.getArgument(argument)).isVariance();
}

/// What exporters add where a convolution has no bias.
static bool isZeroBias(const Uses &uses, std::optional<double> splat) {
  return uses.convolutionBias && !uses.weight && splat == 0.0;
}

/// Whether a constant is used as weights are.
bool Importer::looksLearned(unsigned argument, ElementsAttr value) const {
  Uses uses = findUses(model.getArgument(argument));
  std::optional<double> splat = splatOf(value);
  // Infinities mask.
  if (splat && !std::isfinite(*splat))
    return false;
  if (uses.frequency || (uses.isScaleOnly() && isTable(value)) ||
      isZeroBias(uses, splat))
    return false;
  return uses.any() || (uses.start && !splat);
}

void Importer::findLearned() {
  llvm::BitVector given(model.getNumArguments());
  learned.resize(model.getNumArguments());
  for (unsigned i = 0; i < model.getNumArguments(); ++i)
    if (ElementsAttr value = constantOf(i)) {
      given[i] = isGiven(i, value);
      learned[i] = given[i] || looksLearned(i, value);
    }
  clearTables(model, given, learned);
}

/// Of an argument that is no constant.
bool Importer::isParam(unsigned argument) const {
  Type type = model.getArgumentTypes()[argument];
  if (!isFloatTensor(type))
    return false;
  if (argument >= firstSlice)
    return true;
  if (!params.empty())
    return params.contains(argument, names[argument]);
  auto tensor = cast<RankedTensorType>(type);
  if (constantsAreParams || tensor.getNumElements() < 2)
    return false;
  Role role = roles ? roles->getRole(argument) : Role::Unknown;
  if (role != Role::Unknown)
    return role == Role::Weight;
  return tensor.getRank() == 1 || tensor.getDimSize(0) != batch;
}

/// Where the leading dimension does not tell data from weights, uses do. Where
/// weights are constants, arguments are weights only if some of them are for
/// sure.
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

/// Of an argument that is no parameter: whether it is the same for all samples,
/// as a mask is, because it has one row where others have one a sample.
bool Importer::isShared(unsigned argument) const {
  Type type = model.getArgumentTypes()[argument];
  if (batch < 2 || !isFloatTensor(type))
    return false;
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getRank() == 0 || tensor.getDimSize(0) == 1;
}

static bool isSmallFloat(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto element =
      tensor ? dyn_cast<FloatType>(tensor.getElementType()) : FloatType();
  return element && element.getWidth() < 32;
}

/// Files of data and optimisers have f32 where the model computes with less.
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
  hasParam = true;
  widen(argument);
  updateType(model);
  model.removeArgAttr(argument, PipeDialect::constantAttrName);
  model.setArgAttr(
      argument, PipeDialect::paramAttrName,
      pipe::ParamAttr::get(context, StringAttr::get(context, names[argument]),
                           init));
}

void Importer::makeData(unsigned argument) {
  bool shared = isShared(argument);
  say(argument) << " is taken for "
                << (shared ? "a buffer, the same for all data" : "data");
  widen(argument);
  updateType(model);
  model.setArgAttr(argument,
                   shared ? PipeDialect::bufferAttrName
                          : PipeDialect::batchAttrName,
                   StringAttr::get(context, names[argument]));
}

void Importer::makeVariance(unsigned argument, ElementsAttr value) {
  auto type = cast<RankedTensorType>(model.getArgumentTypes()[argument]);
  bool isKnown = value && isThere(value);
  say(argument) << " is taken for a running variance, which stays "
                << (isKnown ? "what it is" : "1")
                << "; --params names what is to be trained";
  makeConstant(argument,
               isKnown ? value
                       : DenseElementsAttr::get(
                             type, FloatAttr::get(type.getElementType(), 1.0)));
}

void Importer::makeConstant(unsigned argument, ElementsAttr value) {
  OpBuilder builder(context);
  builder.setInsertionPointToStart(&model.getBody().front());
  BlockArgument old = model.getArgument(argument);
  old.replaceAllUsesWith(arith::ConstantOp::create(
      builder, old.getLoc(), value.getType(), cast<TypedAttr>(value)));
  gone.set(argument);
}

LogicalResult Importer::decide(unsigned argument) {
  if (gone.test(argument))
    return success();
  if (model.getArgument(argument).use_empty()) {
    if (!constantOf(argument))
      say(argument) << " is not used";
    gone.set(argument);
    return success();
  }
  bool isFrozen = freeze.contains(argument, names[argument]);
  Uses uses;
  if (isFloatTensor(model.getArgumentTypes()[argument]))
    uses = findUses(model.getArgument(argument));
  if (ElementsAttr value = constantOf(argument)) {
    if (isFrozen && !isThere(value))
      return emitError(model.getArgument(argument).getLoc())
             << describe(argument)
             << " is frozen, and the file leaves its elements out";
    std::optional<double> splat = splatOf(value);
    bool isConstant = !learned.test(argument);
    frozen += isFrozen && !isConstant;
    // A small number is what is added to a variance.
    if (isConstant && !isFrozen && uses.isVariance() &&
        (!splat || *splat > 0.01)) {
      makeVariance(argument, value);
      return success();
    }
    if (isFrozen || isConstant) {
      zeroBiases += !isFrozen && isZeroBias(uses, splat);
      // A splat is more often a number than a weight that was left out.
      if (!isFrozen && !splat)
        say(argument) << " stays a constant, since it is used as no weight is; "
                         "--params names what is to be trained";
      makeConstant(argument, value);
      return success();
    }
    if (!splat && isThere(value)) {
      say(argument) << " is trained, and starts from its values; --freeze "
                       "keeps it a constant";
      makeParam(argument, storedInit(value));
    } else if (!splat || uses.weight)
      makeParam(argument, drawnInit(context, uses));
    else if (std::isfinite(*splat))
      makeParam(argument, makeInit(context, InitKind::Constant, *splat));
    else
      makeParam(argument, storedInit(value));
    return success();
  }
  if (isParam(argument)) {
    if (isFrozen) {
      ++frozen;
      model.setArgAttr(argument, PipeDialect::bufferAttrName,
                       StringAttr::get(context, names[argument]));
      return success();
    }
    if (params.empty() && uses.isVariance()) {
      makeVariance(argument, {});
      return success();
    }
    if (params.empty())
      say(argument) << " is taken for a parameter";
    makeParam(argument, drawnInit(context, uses));
    return success();
  }
  auto tensor = dyn_cast<RankedTensorType>(model.getArgumentTypes()[argument]);
  if (!tensor || !tensor.hasStaticShape())
    return emitError(model.getArgument(argument).getLoc())
           << describe(argument) << " is no tensor of static shape"
           << (tensor
                   ? "; export the model with fixed sizes, or, where a batch "
                     "argument has lengths, mark what its arguments are "
                     "(pipe.param, pipe.batch) and give --length-bound"
                   : "; a model takes tensors only: make it a constant");
  makeData(argument);
  return success();
}

/// A model whose every argument is trained has more likely data that looks like
/// weights: with time as its leading dimension, say.
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

/// One remark for all of them: a large model has one at each convolution.
void Importer::sayZeroBiases() {
  if (zeroBiases == 1)
    emitRemark(model.getLoc())
        << "the bias of a convolution is zero in the file and stays so; "
           "--params names what is to be trained";
  else if (zeroBiases > 1)
    emitRemark(model.getLoc())
        << zeroBiases
        << " biases of convolutions are zero in the file and stay so; --params "
           "names what is to be trained";
}

LogicalResult Importer::run() {
  names = nameArguments(model);
  // What is left out is empty (--pipe-import-results), and says nothing.
  Operation *end = model.getBody().front().getTerminator();
  for (Value result : llvm::reverse(end->getOperands()))
    if (auto type = dyn_cast<RankedTensorType>(result.getType());
        type && isFloatTensor(type) && type.getRank() > 0 &&
        !result.getDefiningOp<tensor::EmptyOp>())
      batch = type.getDimSize(0);
  if (failed(params.verify(model, names)))
    return failure();
  findLearned();
  if (failed(findRoles()))
    return failure();
  splitFlat();
  if (failed(freeze.verify(model, names)))
    return failure();
  for (unsigned i = 0; i < model.getNumArguments(); ++i)
    if (failed(decide(i)))
      return failure();
  if (!hasParam && frozen)
    return model.emitError("the model has nothing to train: --freeze takes ")
           << (frozen == 1 ? "its only parameter" : "all its parameters, ")
           << (frozen == 1 ? "" : std::to_string(frozen))
           << "; leave out what is to be trained";
  if (!hasParam)
    return model.emitError("the model has nothing to train: neither constants "
                           "nor arguments look like weights; choose arguments "
                           "by --params");
  warnWithoutData();
  sayZeroBiases();
  gone.resize(model.getNumArguments());
  return LogicalResult(model.eraseArguments(gone));
}

//===----------------------------------------------------------------------===//
// Arguments that say what they are
//===----------------------------------------------------------------------===//

/// The name of each argument in its attribute, or "".
static std::vector<std::string> getOwnNames(func::FuncOp model) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < model.getNumArguments(); ++i) {
    StringAttr name =
        model.getArgAttrOfType<StringAttr>(i, PipeDialect::batchAttrName);
    if (!name)
      name = model.getArgAttrOfType<StringAttr>(i, PipeDialect::bufferAttrName);
    if (auto param = model.getArgAttrOfType<pipe::ParamAttr>(
            i, PipeDialect::paramAttrName))
      name = param.getName();
    names.push_back(name ? name.str() : "");
  }
  return names;
}

/// What a parameter starts from, if it is not drawn, as a constant.
static Value createStart(OpBuilder &builder, BlockArgument argument,
                         InitAttr init) {
  auto type = cast<RankedTensorType>(argument.getType());
  auto element = cast<FloatType>(type.getElementType());
  Location location = argument.getLoc();
  TypedAttr start = init.getElements();
  if (init.getKind() == InitKind::Zeros || init.getKind() == InitKind::Ones)
    start = DenseElementsAttr::get(
        type, FloatAttr::get(element, init.getKind() == InitKind::Ones));
  else if (init.getKind() == InitKind::Constant)
    start = DenseElementsAttr::get(
        type, FloatAttr::get(element, init.getA().convertToDouble()));
  if (!start)
    return {};
  Value value = arith::ConstantOp::create(builder, location, start);
  // A file may have it in a smaller type.
  if (value.getType() != type)
    value = arith::ExtFOp::create(builder, location, type, value);
  return value;
}

/// A parameter that starts from known values becomes a constant, another one a
/// buffer.
static LogicalResult freezeParams(func::FuncOp model,
                                  const ArgumentList &freeze) {
  std::vector<std::string> names = getOwnNames(model);
  if (failed(freeze.verify(model, names)))
    return failure();
  OpBuilder builder(model.getContext());
  builder.setInsertionPointToStart(&model.getBody().front());
  llvm::BitVector gone(model.getNumArguments());
  for (unsigned i = 0; i < model.getNumArguments(); ++i) {
    auto param =
        model.getArgAttrOfType<pipe::ParamAttr>(i, PipeDialect::paramAttrName);
    if (!param || !freeze.contains(i, names[i]))
      continue;
    BlockArgument argument = model.getArgument(i);
    if (Value start = createStart(builder, argument, param.getInit())) {
      argument.replaceAllUsesWith(start);
      gone.set(i);
      continue;
    }
    model.removeArgAttr(i, PipeDialect::paramAttrName);
    model.setArgAttr(i, PipeDialect::bufferAttrName, param.getName());
  }
  return LogicalResult(model.eraseArguments(gone));
}

namespace {
struct ImportParams : veeline::impl::PipeImportParamsBase<ImportParams> {
  using PipeImportParamsBase::PipeImportParamsBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> model = getChosenModel(getOperation());
    if (failed(model))
      return signalPassFailure();
    auto chosen =
        ArgumentList::parse(*model, llvm::to_vector(params), "params");
    auto frozen =
        ArgumentList::parse(*model, llvm::to_vector(freeze), "freeze");
    if (failed(chosen) || failed(frozen) ||
        failed(followsContract(*model)
                   ? freezeParams(*model, *frozen)
                   : Importer(*model, *chosen, *frozen).run()))
      signalPassFailure();
  }
};
} // namespace
