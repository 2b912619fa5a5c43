//===- GemmEpilogues.cpp - fusing epilogues into calls of products --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EpilogueMatches.h"
#include "Kernels/StructuredOps.h"
#include "LibraryCalls.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEFUSEGEMMEPILOGUES
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

/// A buffer that is not a temporary may start within another one.
static void limitAlignment(GemmDesc &desc, Value buffer) {
  if (!buffer.getDefiningOp<memref::AllocOp>() && desc.alignment)
    desc.alignment = std::min<int64_t>(*desc.alignment, kernelAlignment);
}

//===----------------------------------------------------------------------===//
// Products that are computed in several functions
//===----------------------------------------------------------------------===//

namespace {

/// How much of an epilogue a product may get if gradients are computed.
enum class Extent {
  Nothing,
  NoGelu, ///< All except GELU itself.
  All
};

/// Gives a product the same form in all functions that compute gradients. A
/// chunk's fused backward, and its B and W, compute the same values, which must
/// have the same bits. So a product that would get two forms, because different
/// ops follow it, gets less of an epilogue.
class Extents {
public:
  Extent get(const ProductCall &product) const {
    auto it = extents.find(getKey(product.call, product.desc));
    return it == extents.end() ? Extent::All : it->second;
  }
  /// Whether the library itself may add the product to an accumulator.
  bool mayAccumulate(const ProductCall &product) const {
    return !apart.contains(getKey(product.call, product.desc));
  }
  /// Reduces the extents of products that have several forms in `functions`.
  /// Returns true if there are any.
  bool update(ArrayRef<func::FuncOp> functions, const LibraryCalls &calls);

private:
  /// A product, and the number of its computation or -1.
  using Key = std::pair<Attribute, int64_t>;
  static Key getKey(func::CallOp call, GemmDesc desc);
  /// An epilogue, and the type of its result.
  using Form = std::pair<GemmEpilogue, Type>;
  using Forms = llvm::MapVector<Key, llvm::SmallSetVector<Form, 2>>;
  Forms getForms(ArrayRef<func::FuncOp> functions, const LibraryCalls &calls);
  bool updateSums(ArrayRef<func::FuncOp> functions, const LibraryCalls &calls);

  DenseMap<Key, Extent> extents;
  DenseSet<Key> apart; ///< The products that may not accumulate.
};

} // namespace

/// The entry of the product alone, without an epilogue.
Extents::Key Extents::getKey(func::CallOp call, GemmDesc desc) {
  desc.cType = desc.dtype;
  desc.accumulate = false;
  desc.epilogue = GemmEpilogue::None;
  desc.alignment = std::nullopt;
  return {desc.toAttribute(desc.dtype.getContext()),
          pipe::getComputation(call.getLoc()).value_or(-1)};
}

Extents::Forms Extents::getForms(ArrayRef<func::FuncOp> functions,
                                 const LibraryCalls &calls) {
  Forms forms;
  for (func::FuncOp function : functions)
    function.walk([&](func::CallOp call) {
      DictionaryAttr entry = calls.getEntry(call);
      FailureOr<GemmDesc> desc =
          entry ? GemmDesc::fromAttribute(entry) : FailureOr<GemmDesc>();
      if (failed(desc))
        return;
      bool isPlain = desc->epilogue == GemmEpilogue::None;
      forms[getKey(call, *desc)].insert(
          {desc->epilogue, isPlain ? Type() : desc->cType});
    });
  return forms;
}

static bool isGelu(GemmEpilogue epilogue) {
  return epilogue == GemmEpilogue::GeluAux ||
         epilogue == GemmEpilogue::BiasGeluAux;
}

/// The numbers of elements of ops that apply a tanh.
static DenseSet<int64_t> getTanhSizes(ArrayRef<func::FuncOp> functions) {
  DenseSet<int64_t> sizes;
  for (func::FuncOp function : functions)
    function.walk([&](linalg::GenericOp op) {
      auto type = dyn_cast<MemRefType>(op.getDpsInits()[0].getType());
      if (type && type.hasStaticShape() && hasTanh(op))
        sizes.insert(type.getNumElements());
    });
  return sizes;
}

/// Marks products that must not accumulate: one function has the product alone,
/// and another one adds it to an accumulator. This is so if B computes the
/// gradient of a parameter in a loop, and W adds it.
bool Extents::updateSums(ArrayRef<func::FuncOp> functions,
                         const LibraryCalls &calls) {
  // For each function with the product, whether it adds it (1) or not (2).
  llvm::MapVector<Key, SmallVector<unsigned>> uses;
  for (auto [number, function] : llvm::enumerate(functions))
    func::FuncOp(function).walk([&, number = number](func::CallOp call) {
      DictionaryAttr entry = calls.getEntry(call);
      FailureOr<GemmDesc> desc =
          entry ? GemmDesc::fromAttribute(entry) : FailureOr<GemmDesc>();
      if (failed(desc) || !pipe::getComputation(call.getLoc()))
        return;
      SmallVector<unsigned> &own = uses[getKey(call, *desc)];
      own.resize(functions.size());
      own[number] |= desc->accumulate ? 1 : 2;
    });
  bool changed = false;
  for (auto &[key, all] : uses) {
    llvm::erase(all, 0u);
    if (!llvm::all_equal(all))
      changed |= apart.insert(key).second;
  }
  return changed;
}

bool Extents::update(ArrayRef<func::FuncOp> functions,
                     const LibraryCalls &calls) {
  DenseSet<int64_t> tanhSizes = getTanhSizes(functions);
  bool changed = updateSums(functions, calls);
  for (auto &[key, forms] : getForms(functions, calls)) {
    GemmDesc desc = *GemmDesc::fromAttribute(cast<DictionaryAttr>(key.first));
    bool hasGelu = llvm::any_of(
        forms, [](const Form &form) { return isGelu(form.first); });
    // Another function may apply GELU itself to a value that was kept.
    bool isElsewhere = hasGelu && tanhSizes.contains(desc.m * desc.n);
    if (forms.size() == 1 && !isElsewhere)
      continue;
    extents[key] = hasGelu ? Extent::NoGelu : Extent::Nothing;
    changed = true;
  }
  return changed;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

/// Whether a call with an epilogue has replaced a product; and that call,
/// unless something else writes its result, too.
struct Fused {
  bool isDone = false;
  std::optional<ProductCall> call;
};

/// Fuses epilogues into the products of a module.
class EpilogueFuser {
public:
  explicit EpilogueFuser(ModuleOp module)
      : module(module), rewriter(module.getContext()),
        calls(module, "veeline_gemm", gemmsAttrName) {}

  /// The forward is one function in every schedule, so its epilogues are not
  /// limited.
  void runForward(func::FuncOp function) { run(function, nullptr); }
  void runBackward(ArrayRef<func::FuncOp> functions);
  void finish();

private:
  void run(func::FuncOp function, const Extents *extents);
  void fuse(const ProductCall &product, Extent extent, bool mayAccumulate);
  std::optional<ProductCall> match(func::CallOp call) const;
  bool accumulate(const ProductCall &product, linalg::GenericOp reader,
                  bool mayAccumulate);
  Fused addEpilogue(const ProductCall &product, linalg::GenericOp reader,
                    Extent extent);
  Fused addBias(const ProductCall &product);
  void addGelu(const ProductCall &product);
  void addDerivative(const ProductCall &product);
  Value convertBias(const ProductCall &product, Value bias, Type type);
  Value getTemporary(const ProductCall &product, Type type);
  Value getView(Value view, Value from, Value to);
  void readSum(const ProductCall &product, const SumReader &reader,
               Value buffer);
  func::CallOp replace(const ProductCall &product, GemmDesc desc, Value target,
                       Value bias = {}, Value aux = {},
                       Operation *place = nullptr);

  ModuleOp module;
  IRRewriter rewriter;
  LibraryCalls calls;
};

} // namespace

std::optional<ProductCall> EpilogueFuser::match(func::CallOp call) const {
  DictionaryAttr entry = calls.getEntry(call);
  FailureOr<GemmDesc> desc =
      entry ? GemmDesc::fromAttribute(entry) : FailureOr<GemmDesc>();
  return succeeded(desc) ? ProductCall::match(call, *desc) : std::nullopt;
}

/// Replaces the call by one of `desc` that writes `target`, at the same place
/// or at `place`.
func::CallOp EpilogueFuser::replace(const ProductCall &product, GemmDesc desc,
                                    Value target, Value bias, Value aux,
                                    Operation *place) {
  for (Value buffer : {target, bias, aux})
    if (buffer)
      limitAlignment(desc, buffer);
  rewriter.setInsertionPoint(place ? place : product.call);
  return calls.redirect(rewriter, product.call,
                        desc.toAttribute(rewriter.getContext()), target, bias,
                        aux, desc.epilogue == GemmEpilogue::GeluDerivative);
}

/// If `reader` adds the product to an accumulator, lets the library do it, if
/// it may. Returns whether `reader` does.
bool EpilogueFuser::accumulate(const ProductCall &product,
                               linalg::GenericOp reader, bool mayAccumulate) {
  if (!isAccumulation(product, reader))
    return false;
  if (!mayAccumulate)
    return true;
  Value target = reader.getDpsInits()[0];
  Operation *op = target.getDefiningOp();
  bool isThere = !op || op->getBlock() != product.call->getBlock() ||
                 op->isBeforeInBlock(product.call);
  if (!isThere || !product.canTarget(target, reader))
    return true;
  GemmDesc desc = product.desc;
  desc.accumulate = true;
  replace(product, desc, target);
  rewriter.eraseOp(reader);
  return true;
}

/// Converts a bias to the type of the result: the library supports no other.
Value EpilogueFuser::convertBias(const ProductCall &product, Value bias,
                                 Type type) {
  if (getElementTypeOrSelf(bias.getType()) == type)
    return bias;
  rewriter.setInsertionPoint(product.call);
  Location loc = product.call.getLoc();
  Value converted = memref::AllocOp::create(
      rewriter, loc, MemRefType::get({product.desc.n}, type));
  copyElements(rewriter, loc, bias, converted);
  return converted;
}

/// True if a bias needs at most a rounding for a result of `type`.
static bool canConvertBias(Value bias, Type type) {
  return getElementTypeOrSelf(bias.getType()).getIntOrFloatBitWidth() >=
         type.getIntOrFloatBitWidth();
}

/// The epilogue that `op` computes. It has no inputs but `inputs`.
static GemmEpilogue matchEpilogue(linalg::GenericOp op, EpilogueInputs inputs,
                                  Extent extent) {
  if (extent == Extent::Nothing)
    return GemmEpilogue::None;
  if (isBiasSum(op, inputs))
    return GemmEpilogue::Bias;
  if (extent != Extent::All || !isGelu(op, inputs))
    return GemmEpilogue::None;
  return inputs.bias ? GemmEpilogue::BiasGeluAux : GemmEpilogue::GeluAux;
}

/// The buffer of a product or, for another type, a new buffer of the same
/// shape.
Value EpilogueFuser::getTemporary(const ProductCall &product, Type type) {
  auto old = cast<MemRefType>(product.result.getType());
  if (old.getElementType() == type)
    return product.result;
  rewriter.setInsertionPoint(product.call);
  return memref::AllocOp::create(rewriter, product.call.getLoc(),
                                 MemRefType::get(old.getShape(), type));
}

/// Fuses the only reader of a product into the call. The argument of GELU is
/// stored even if nobody reads it, so that the call is the same whether the
/// argument is kept for the backward or recomputed.
Fused EpilogueFuser::addEpilogue(const ProductCall &product,
                                 linalg::GenericOp reader, Extent extent) {
  std::optional<EpilogueInputs> inputs = findInputs(product, reader);
  OpOperand &init = *reader.getDpsInitsMutable().begin();
  Value target = init.get();
  Type type = getElementTypeOrSelf(target.getType());
  GemmDesc desc = product.desc;
  bool hasType = type == desc.cType || type == desc.dtype;
  if (!inputs || !hasType || !product.isStoredByRows() ||
      !product.isWhole(reader, init))
    return {};
  desc.epilogue = matchEpilogue(reader, *inputs, extent);
  Value bias = inputs->bias ? reader->getOperand(*inputs->bias) : Value();
  bool isBiasThere =
      !bias || (product.isUntouched(bias, reader, /*alsoReads=*/false) &&
                getRootBuffer(bias) != getRootBuffer(target));
  if (desc.epilogue == GemmEpilogue::None || !isBiasThere ||
      (hasAux(desc.epilogue) && !canHaveAux(product)) ||
      (bias && !canConvertBias(bias, type)) ||
      !product.canTarget(target, reader) || (bias && !product.provide(bias)) ||
      !product.provide(target))
    return {};
  desc.cType = type;
  if (bias)
    bias = convertBias(product, bias, type);
  Value aux = hasAux(desc.epilogue) ? getTemporary(product, type) : Value();
  func::CallOp call = replace(product, desc, target, bias, aux);
  rewriter.eraseOp(reader);
  return {true, match(call)};
}

/// Erases all users of `value`, which are dead.
static void eraseUsers(RewriterBase &rewriter, Value value) {
  for (Operation *user : llvm::make_early_inc_range(value.getUsers())) {
    eraseUsers(rewriter, user->getResult(0));
    rewriter.eraseOp(user);
  }
}

/// Clones `view`, a view of the buffer `from`, as a view of `to`, which has
/// elements of another type.
Value EpilogueFuser::getView(Value view, Value from, Value to) {
  if (view == from)
    return to;
  Operation *op = view.getDefiningOp();
  Value source =
      getView(cast<ViewLikeOpInterface>(op).getViewSource(), from, to);
  Operation *copy = rewriter.clone(*op);
  copy->setOperand(0, source);
  copy->getResult(0).setType(cast<MemRefType>(view.getType())
                                 .clone(getElementTypeOrSelf(to.getType())));
  return copy->getResult(0);
}

/// Makes the reader read its sums from `buffer`: the result of `product`, or
/// another buffer.
void EpilogueFuser::readSum(const ProductCall &product, const SumReader &reader,
                            Value buffer) {
  linalg::GenericOp op = reader.op;
  Block &body = *op.getBlock();
  auto [whole, bias, aux] = reader.inputs;
  Type type = getElementTypeOrSelf(buffer.getType());
  rewriter.setInsertionPoint(op);
  Value view = buffer == product.result
                   ? op->getOperand(whole)
                   : getView(op->getOperand(whole), product.result, buffer);
  BlockArgument summands[] = {body.getArgument(whole), body.getArgument(*bias)};
  rewriter.modifyOpInPlace(op, [&] {
    BlockArgument read = body.insertArgument(whole, type, op.getLoc());
    rewriter.setInsertionPointToStart(&body);
    for (arith::AddFOp sum : reader.sums) {
      Value value = read;
      if (sum.getType() != type)
        value =
            arith::ExtFOp::create(rewriter, sum.getLoc(), sum.getType(), read);
      rewriter.replaceOp(sum, value);
    }
    for (BlockArgument summand : summands) {
      eraseUsers(rewriter, summand);
      body.eraseArgument(summand.getArgNumber());
    }
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps.erase(maps.begin() + *bias);
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    op->setOperand(whole, view);
    op.getInputsMutable().erase(*bias);
  });
}

/// Lets the library add a bias if all readers of a product read only its sum
/// with the bias. The call is the same whether the sum is kept or used at once.
Fused EpilogueFuser::addBias(const ProductCall &product) {
  SmallVector<SumReader> readers;
  DenseSet<Operation *> known;
  Value bias;
  for (Operation *op : product.readers) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    // An op that is listed twice also reads the product in another way.
    bool isReader = generic && known.insert(op).second &&
                    product.call->isBeforeInBlock(generic);
    std::optional<SumReader> reader =
        isReader ? matchSum(product, generic) : std::nullopt;
    if (!reader)
      return {};
    Value own = generic->getOperand(*reader->inputs.bias);
    if ((bias && bias != own) ||
        !product.isUntouched(own, generic, /*alsoReads=*/false))
      return {};
    bias = own;
    readers.push_back(*reader);
  }
  GemmDesc desc = product.desc;
  if (fitSums(readers, desc.dtype))
    desc.cType = desc.dtype;
  if (!bias || !fitSums(readers, desc.cType) || !product.isTemporary ||
      !product.isStoredByRows() || !canConvertBias(bias, desc.cType) ||
      !product.provide(bias))
    return {};
  desc.epilogue = GemmEpilogue::Bias;
  Value target = getTemporary(product, desc.cType);
  func::CallOp call =
      replace(product, desc, target, convertBias(product, bias, desc.cType));
  for (const SumReader &reader : readers)
    readSum(product, reader, target);
  return {true, match(call)};
}

/// Lets the library apply GELU to the result that it stores.
void EpilogueFuser::addGelu(const ProductCall &product) {
  for (Operation *op : product.readers) {
    linalg::GenericOp reader = product.getReader(op);
    if (!reader || reader.getNumDpsInputs() != 1)
      continue;
    OpOperand &init = *reader.getDpsInitsMutable().begin();
    Value target = init.get();
    Type type = getElementTypeOrSelf(target.getType());
    if (type != product.desc.cType || !canHaveAux(product) ||
        !product.isProduct(reader, reader->getOpOperand(0)) ||
        !product.isWhole(reader, init) || !isGelu(reader, EpilogueInputs()) ||
        getRootBuffer(target) == getRootBuffer(product.result) ||
        !product.canTarget(target, reader) || !product.provide(target))
      continue;
    GemmDesc desc = product.desc;
    desc.epilogue = desc.epilogue == GemmEpilogue::Bias
                        ? GemmEpilogue::BiasGeluAux
                        : GemmEpilogue::GeluAux;
    replace(product, desc, target, /*bias=*/{}, product.result);
    rewriter.eraseOp(reader);
    return;
  }
}

/// Lets the library multiply by the derivative of GELU. The call moves to the
/// reader, because the argument of GELU may be computed between the product and
/// the reader.
void EpilogueFuser::addDerivative(const ProductCall &product) {
  linalg::GenericOp reader = product.getOnlyReader();
  std::optional<EpilogueInputs> inputs =
      reader ? matchDerivative(product, reader) : std::nullopt;
  if (!inputs || product.desc.dtype.isF64())
    return;
  OpOperand &init = *reader.getDpsInitsMutable().begin();
  Value target = init.get(), aux = reader->getOperand(*inputs->aux);
  GemmDesc desc = product.desc;
  Type type = getElementTypeOrSelf(target.getType());
  bool hasType = type == getElementTypeOrSelf(aux.getType()) &&
                 (type == desc.cType || type == desc.dtype);
  if (!hasType || !product.isWhole(reader, init) || !canHaveAux(product) ||
      getRootBuffer(target) == getRootBuffer(aux) ||
      !product.canMoveTo(reader, target))
    return;
  desc.cType = type;
  desc.epilogue = GemmEpilogue::GeluDerivative;
  replace(product, desc, target, /*bias=*/{}, aux, reader);
  rewriter.eraseOp(reader);
}

void EpilogueFuser::fuse(const ProductCall &product, Extent extent,
                         bool mayAccumulate) {
  linalg::GenericOp reader = product.getOnlyReader();
  if ((reader && accumulate(product, reader, mayAccumulate)) ||
      product.desc.dtype.isF64())
    return;
  Fused fused = reader ? addEpilogue(product, reader, extent) : Fused();
  if (!fused.isDone && extent != Extent::Nothing)
    fused = addBias(product);
  if (!fused.isDone)
    fused.call = product;
  if (fused.call && extent == Extent::All && !isGelu(fused.call->desc.epilogue))
    addGelu(*fused.call);
}

void EpilogueFuser::run(func::FuncOp function, const Extents *extents) {
  auto getPlain = [&] {
    SmallVector<func::CallOp> found;
    function.walk([&](func::CallOp call) {
      if (call.getCallee() == "veeline_gemm")
        found.push_back(call);
    });
    return found;
  };
  auto getExtent = [&](const ProductCall &product) {
    return extents ? extents->get(product) : Extent::All;
  };
  auto isPlain = [](const std::optional<ProductCall> &product) {
    return product && !product->desc.accumulate &&
           product->desc.epilogue == GemmEpilogue::None;
  };
  for (func::CallOp call : getPlain())
    if (std::optional<ProductCall> product = match(call); isPlain(product))
      fuse(*product, getExtent(*product),
           !extents || extents->mayAccumulate(*product));
  // All arguments of GELU have their biases now.
  for (func::CallOp call : getPlain())
    if (std::optional<ProductCall> product = match(call);
        isPlain(product) && getExtent(*product) != Extent::Nothing)
      addDerivative(*product);
}

void EpilogueFuser::runBackward(ArrayRef<func::FuncOp> functions) {
  SmallVector<OwningOpRef<func::FuncOp>> originals;
  for (func::FuncOp function : functions)
    originals.push_back(function.clone());
  Extents extents;
  while (true) {
    for (func::FuncOp function : functions)
      run(function, &extents);
    if (!extents.update(functions, calls))
      return;
    for (auto [function, original] : llvm::zip_equal(functions, originals)) {
      OwningOpRef<func::FuncOp> copy = original->clone();
      func::FuncOp(function).getBody().takeBody(copy->getBody());
    }
  }
}

/// Writes the table, without entries that no call uses any more.
void EpilogueFuser::finish() {
  calls.finish();
  auto all = module->getAttrOfType<ArrayAttr>(gemmsAttrName);
  if (!all)
    return;
  SmallVector<Attribute> used;
  module.walk([&](func::CallOp call) {
    Attribute entry = calls.getEntry(call);
    if (!entry)
      return;
    const auto *it = llvm::find(used, entry);
    auto number = static_cast<int32_t>(it - used.begin());
    if (it == used.end())
      used.push_back(entry);
    rewriter.setInsertionPoint(call);
    call.setOperand(
        1, arith::ConstantOp::create(rewriter, call.getLoc(),
                                     rewriter.getI32IntegerAttr(number)));
  });
  module->setAttr(gemmsAttrName, rewriter.getArrayAttr(used));
}

static bool computesGradients(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (pipe::RoleAttr role = pipe::getArgRole(function, i))
      if (role.getKind() >= pipe::RoleKind::Saved &&
          role.getKind() != pipe::RoleKind::Rounded)
        return true;
  return false;
}

namespace {

struct FuseGemmEpilogues
    : veeline::impl::PipeFuseGemmEpiloguesBase<FuseGemmEpilogues> {
  void runOnOperation() override {
    EpilogueFuser fuser(getOperation());
    DenseSet<Operation *> known;
    for (ArrayRef<func::FuncOp> functions :
         pipe::getBackwardFunctions(getOperation())) {
      known.insert(functions.begin(), functions.end());
      fuser.runBackward(functions);
    }
    SmallVector<func::FuncOp> others;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || known.contains(function) ||
          !function->hasAttr(pipe::numResultsAttrName))
        continue;
      if (computesGradients(function))
        others.push_back(function);
      else
        fuser.runForward(function);
    }
    fuser.runBackward(others);
    fuser.finish();
  }
};

} // namespace
