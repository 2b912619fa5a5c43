//===- GemmEpilogues.cpp - what happens to a product's result -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryCalls.h"
#include "ScalarFunction.h"
#include "StructuredOps.h"
#include "veeline/Conversion/Gemm.h"
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

//===----------------------------------------------------------------------===//
// Products, and who reads them
//===----------------------------------------------------------------------===//

namespace {

/// A call whose result is a temporary, and the one op that reads it.
struct ProductUse {
  mutable func::CallOp call;
  GemmDesc desc;
  Value result;
  mutable linalg::GenericOp reader;
};

/// Operands of veeline_gemm.
enum GemmOperand : unsigned { entryOperand = 1, aOperand, bOperand, cOperand };

} // namespace

/// The buffer that an address is in, and whether it is where that starts; null
/// where nobody knows.
static std::pair<memref::ExtractAlignedPointerAsIndexOp, bool>
findBuffer(Value pointer) {
  auto toPointer = pointer.getDefiningOp<LLVM::IntToPtrOp>();
  Value address = toPointer ? toPointer.getArg() : Value();
  bool isStart = true;
  while (address) {
    Operation *op = address.getDefiningOp();
    if (auto extract =
            dyn_cast_or_null<memref::ExtractAlignedPointerAsIndexOp>(op))
      return {extract, isStart};
    isStart &= isa_and_present<arith::IndexCastOp>(op);
    bool isStep = isa_and_present<arith::IndexCastOp, arith::AddIOp>(op);
    address = isStep ? op->getOperand(0) : Value();
  }
  return {};
}

static std::optional<ProductUse> matchUse(func::CallOp call, ArrayAttr table) {
  ProductUse use;
  use.call = call;
  APInt index;
  if (call.getCallee() != "veeline_gemm" || !table ||
      !matchPattern(call.getOperand(entryOperand), m_ConstantInt(&index)))
    return std::nullopt;
  auto desc = GemmDesc::fromAttribute(
      cast<DictionaryAttr>(table[index.getZExtValue()]));
  auto [address, isStart] = findBuffer(call.getOperand(cOperand));
  if (failed(desc) || !address || !isStart || desc->accumulate ||
      desc->epilogue != GemmEpilogue::None)
    return std::nullopt;
  use.desc = *desc;
  use.result = address.getSource();
  if (!use.result.getDefiningOp<memref::AllocOp>())
    return std::nullopt;
  BufferUses uses(use.result, call->getBlock());
  if (!uses.isKnown || uses.writers.size() != 1 ||
      uses.writers.front() != address || uses.readers.size() != 1)
    return std::nullopt;
  use.reader = dyn_cast<linalg::GenericOp>(uses.readers.front());
  if (!use.reader || use.reader->getBlock() != call->getBlock() ||
      use.reader->isBeforeInBlock(call) || use.reader.getNumReductionLoops() ||
      use.reader.getNumDpsInits() != 1)
    return std::nullopt;
  return use;
}

/// True for an operand whose memory is dense, with an element for each
/// iteration in the order of the loops.
static bool isWhole(linalg::GenericOp op, OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  return type && type.getLayout().isIdentity() && type.hasStaticShape() &&
         op.getMatchingIndexingMap(&operand).isIdentity();
}

/// True if nobody writes `buffer`, and where `alsoReads` nobody reads it,
/// between the call and the reader.
static bool isUntouched(const ProductUse &use, Value buffer, bool alsoReads) {
  BufferUses uses(getRootBuffer(buffer), use.call->getBlock());
  return uses.isKnown && !anyBetween(uses.writers, use.call, use.reader) &&
         !(alsoReads && anyBetween(uses.readers, use.call, use.reader));
}

/// True if the product can have `target` as its result: nobody touches that
/// before the reader does, and no operand is there.
static bool canTarget(const ProductUse &use, Value target) {
  Value root = getRootBuffer(target);
  for (GemmOperand operand : {aOperand, bOperand}) {
    auto address = findBuffer(use.call.getOperand(operand)).first;
    if (!address || getRootBuffer(address.getSource()) == root)
      return false;
  }
  return isUntouched(use, target, /*alsoReads=*/true);
}

/// Makes sure that `memref` is there at the call.
static bool provide(const ProductUse &use, Value memref) {
  Operation *op = memref.getDefiningOp();
  if (!op || op->getBlock() != use.call->getBlock() ||
      op->isBeforeInBlock(use.call))
    return true;
  if (!isa<memref::AllocOp>(op))
    return false;
  op->moveBefore(use.call);
  return true;
}

//===----------------------------------------------------------------------===//
// What is recognized
//===----------------------------------------------------------------------===//

/// accumulator += product.
static bool isAccumulation(const ProductUse &use) {
  linalg::GenericOp op = use.reader;
  if (op.getNumDpsInputs() != 1)
    return false;
  OpOperand &input = op->getOpOperand(0), &init = op->getOpOperand(1);
  if (input.get() != use.result || !isWhole(op, input) || !isWhole(op, init) ||
      init.get().getType() != input.get().getType())
    return false;
  Block &body = *op.getBlock();
  auto sum = dyn_cast<arith::AddFOp>(body.front());
  auto adds = [&](unsigned argument) {
    return llvm::is_contained(sum->getOperands(),
                              Value(body.getArgument(argument)));
  };
  return sum && adds(0) && adds(1) &&
         body.getTerminator()->getOperand(0) == sum.getResult();
}

/// Finds the vector that `use.reader` has for the columns of the product, if
/// there is one. False where it reads anything else.
static bool findBias(const ProductUse &use, Value &bias) {
  linalg::GenericOp op = use.reader;
  AffineMap columns =
      AffineMap::get(op.getNumLoops(), 0,
                     getAffineDimExpr(op.getNumLoops() - 1, op.getContext()));
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (input->get() == use.result) {
      if (!isWhole(op, *input))
        return false;
      continue;
    }
    auto type = dyn_cast<MemRefType>(input->get().getType());
    if (bias || !type || !type.getLayout().isIdentity() ||
        type.getShape() != ArrayRef<int64_t>(use.desc.n) ||
        op.getMatchingIndexingMap(input) != columns)
      return false;
    bias = input->get();
  }
  return true;
}

static bool isStoredByRows(const ProductUse &use) {
  const GemmDesc &desc = use.desc;
  auto type = cast<MemRefType>(use.result.getType());
  return desc.batch.empty() && desc.cStrides[0] == desc.n &&
         desc.cStrides[1] == 1 && type.getRank() != 0 &&
         type.getShape().back() == desc.n &&
         type.getNumElements() == desc.m * desc.n;
}

static double gelu(double x) {
  constexpr double factor = 0.79788456080286536; // sqrt(2 / pi)
  return 0.5 * x * (1 + std::tanh(factor * (x + 0.044715 * x * x * x)));
}

/// The epilogue that does what the body of `op` does with its inputs, of which
/// `product` is that of the product. GELU is known by its values: there are
/// many ways to write it. Constants of small floats are rounded.
static GemmEpilogue matchBody(linalg::GenericOp op, unsigned product,
                              bool hasBias, bool isSmall) {
  ScalarFunction function(*op.getBlock());
  bool isSum = hasBias, isGelu = function.hasTanh();
  double tolerance = isSmall ? 0x1p-7 : 1e-6;
  for (double x = -6; x < 6; x += 0.37)
    for (double y : {-0.75, 0.0, 0.5}) {
      double inputs[] = {hasBias && product == 1 ? y : x, product == 1 ? x : y};
      auto value = function.evaluate(ArrayRef(inputs).take_front(1 + hasBias));
      if (!value)
        return GemmEpilogue::None;
      double sum = hasBias ? x + y : x;
      isSum &= std::abs(*value - sum) < 1e-12;
      isGelu &= std::abs(*value - gelu(sum)) < tolerance;
    }
  if (isSum)
    return GemmEpilogue::Bias;
  if (!isGelu)
    return GemmEpilogue::None;
  return hasBias ? GemmEpilogue::BiasGelu : GemmEpilogue::Gelu;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

/// Gives the products of a module their epilogues.
class EpilogueFuser {
public:
  explicit EpilogueFuser(ModuleOp module)
      : module(module), rewriter(module.getContext()),
        table(module->getAttrOfType<ArrayAttr>(gemmsAttrName)),
        calls(module, "veeline_gemm", gemmsAttrName) {}

  void run(func::FuncOp function);
  void finish();

private:
  void accumulate(const ProductUse &use);
  void addEpilogue(const ProductUse &use);
  Value convertBias(const ProductUse &use, Value bias, Type type);
  void replace(const ProductUse &use, GemmDesc desc, Value target, Value bias);

  ModuleOp module;
  IRRewriter rewriter;
  ArrayAttr table;
  LibraryCalls calls;
};

} // namespace

/// Has the call write `target`, as `desc` says, and removes the reader.
void EpilogueFuser::replace(const ProductUse &use, GemmDesc desc, Value target,
                            Value bias) {
  // What is no temporary may be a place within a buffer.
  if (!target.getDefiningOp<memref::AllocOp>() && desc.alignment)
    desc.alignment = std::min<int64_t>(*desc.alignment, kernelAlignment);
  rewriter.setInsertionPoint(use.call);
  calls.redirect(rewriter, use.call, desc.toAttribute(rewriter.getContext()),
                 target, bias);
  rewriter.eraseOp(use.reader);
}

void EpilogueFuser::accumulate(const ProductUse &use) {
  Value target = use.reader.getDpsInits()[0];
  Operation *op = target.getDefiningOp();
  bool isThere = !op || op->getBlock() != use.call->getBlock() ||
                 op->isBeforeInBlock(use.call);
  if (!isThere || !canTarget(use, target))
    return;
  GemmDesc desc = use.desc;
  desc.accumulate = true;
  replace(use, desc, target, /*bias=*/{});
}

/// The library has no bias of another type than the result's.
Value EpilogueFuser::convertBias(const ProductUse &use, Value bias, Type type) {
  if (getElementTypeOrSelf(bias.getType()) == type)
    return bias;
  rewriter.setInsertionPoint(use.call);
  Location loc = use.call.getLoc();
  Value converted = memref::AllocOp::create(
      rewriter, loc, MemRefType::get({use.desc.n}, type));
  AffineMap identity = rewriter.getMultiDimIdentityMap(1);
  linalg::GenericOp::create(
      rewriter, loc, bias, converted, ArrayRef{identity, identity},
      ArrayRef{utils::IteratorType::parallel},
      [&](OpBuilder &builder, Location at, ValueRange arguments) {
        Value value = arith::TruncFOp::create(builder, at, type, arguments[0]);
        linalg::YieldOp::create(builder, at, value);
      });
  return converted;
}

void EpilogueFuser::addEpilogue(const ProductUse &use) {
  linalg::GenericOp op = use.reader;
  GemmDesc desc = use.desc;
  OpOperand &init = *op.getDpsInitsMutable().begin();
  Value target = init.get(), bias;
  Type type = getElementTypeOrSelf(target.getType());
  bool hasType = type == desc.cType || type == desc.dtype;
  if (desc.dtype.isF64() || !hasType || !isStoredByRows(use) ||
      !isWhole(op, init) || op.payloadUsesValueFromOperand(&init) ||
      !findBias(use, bias))
    return;
  unsigned product = op->getOperand(0) == use.result ? 0 : 1;
  bool isSmall = type.getIntOrFloatBitWidth() < 32;
  desc.epilogue = matchBody(op, product, bias != Value(), isSmall);
  bool isBiasThere = !bias || (isUntouched(use, bias, /*alsoReads=*/false) &&
                               getRootBuffer(bias) != getRootBuffer(target));
  if (desc.epilogue == GemmEpilogue::None || !isBiasThere ||
      (bias && getElementTypeOrSelf(bias.getType()).getIntOrFloatBitWidth() <
                   type.getIntOrFloatBitWidth()) ||
      !canTarget(use, target) || (bias && !provide(use, bias)) ||
      !provide(use, target))
    return;
  desc.cType = type;
  replace(use, desc, target, bias ? convertBias(use, bias, type) : Value());
}

/// True for a function that computes no gradient. What such a function computes
/// is computed by no other in other bits that anybody compares.
static bool isForward(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (pipe::RoleAttr role = pipe::getArgRole(function, i))
      if (role.getKind() >= pipe::RoleKind::Saved)
        return false;
  return true;
}

void EpilogueFuser::run(func::FuncOp function) {
  SmallVector<func::CallOp> products;
  function.walk([&](func::CallOp call) { products.push_back(call); });
  for (func::CallOp call : products) {
    std::optional<ProductUse> use = matchUse(call, table);
    if (!use)
      continue;
    if (isAccumulation(*use))
      accumulate(*use);
    else if (isForward(function))
      addEpilogue(*use);
  }
}

/// Writes the table without entries that no call has any more.
void EpilogueFuser::finish() {
  calls.finish();
  auto all = module->getAttrOfType<ArrayAttr>(gemmsAttrName);
  if (!all)
    return;
  SmallVector<Attribute> used;
  module.walk([&](func::CallOp call) {
    APInt index;
    if (!call.getCallee().starts_with("veeline_gemm") ||
        !matchPattern(call.getOperand(entryOperand), m_ConstantInt(&index)))
      return;
    Attribute entry = all[index.getZExtValue()];
    const auto *it = llvm::find(used, entry);
    auto number = static_cast<int32_t>(it - used.begin());
    if (it == used.end())
      used.push_back(entry);
    rewriter.setInsertionPoint(call);
    call.setOperand(entryOperand, arith::ConstantOp::create(
                                      rewriter, call.getLoc(),
                                      rewriter.getI32IntegerAttr(number)));
  });
  module->setAttr(gemmsAttrName, rewriter.getArrayAttr(used));
}

namespace {

struct FuseGemmEpilogues
    : veeline::impl::PipeFuseGemmEpiloguesBase<FuseGemmEpilogues> {
  void runOnOperation() override {
    EpilogueFuser fuser(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (!function.isExternal() && function->hasAttr(pipe::numResultsAttrName))
        fuser.run(function);
    fuser.finish();
  }
};

} // namespace
