//===- LowerGemms.cpp - lowering matrix products to runtime calls ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/StructuredOps.h"
#include "LibraryCalls.h"
#include "veeline/Conversion/Gemm.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

#include <numeric>

namespace veeline {
#define GEN_PASS_DEF_PIPELOWERGEMMS
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

static Type getElementType(linalg::GenericOp op, unsigned operand) {
  return getElementTypeOrSelf(op->getOperand(operand).getType());
}

/// True for a product and a sum, nothing else, of types that the library of
/// `target` supports: f32 and f64 and, on a GPU, also f16 and bf16 with a sum
/// of f32.
static bool isFloatProduct(linalg::GenericOp op, KernelTarget target) {
  if (!isMatrixProduct(op) ||
      !llvm::all_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>))
    return false;
  Type element = getElementType(op, 0), sum = getElementType(op, 2);
  if (getElementType(op, 1) != element)
    return false;
  bool isSmall = element.isF16() || element.isBF16();
  if (isSmall ? target != KernelTarget::Cuda
              : !element.isF32() && !element.isF64())
    return false;
  // Extending an operand to the type of the sum does not change its values.
  bool isExtended = isSmall && sum.isF32();
  return (sum == element || isExtended) &&
         llvm::range_size(op.getBlock()->without_terminator()) ==
             (isExtended ? 4 : 2);
}

namespace {

/// A product whose operands are memory with strides.
struct Product {
  GemmDesc desc;
  NestAccess a, b, c;
};

/// The kind of a loop in a product.
enum class LoopPart { Batch, M, N, K };

} // namespace

static std::optional<LoopPart> getPart(const LoopNest &nest, unsigned loop) {
  bool inA = nest.accesses[0].strides[loop] != 0;
  bool inB = nest.accesses[1].strides[loop] != 0;
  bool inC = nest.accesses[2].strides[loop] != 0;
  if (nest.loops[loop].isReduction)
    return inA && inB && !inC ? std::optional(LoopPart::K) : std::nullopt;
  if (!inC || (!inA && !inB))
    return std::nullopt;
  if (inA && inB)
    return LoopPart::Batch;
  return inA ? LoopPart::M : LoopPart::N;
}

/// Sorts loops by part and, within a part, by descending stride, and merges
/// loops where possible. Returns false if a loop has no part.
static bool arrangeLoops(LoopNest &nest) {
  nest.dropUnitLoops();
  SmallVector<std::pair<LoopPart, int64_t>> keys;
  for (unsigned loop = 0; loop < nest.loops.size(); ++loop) {
    std::optional<LoopPart> part = getPart(nest, loop);
    if (!part)
      return false;
    unsigned operand = *part == LoopPart::K ? 0 : 2;
    keys.emplace_back(*part, -nest.accesses[operand].strides[loop]);
  }
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, nest.loops.size()));
  llvm::stable_sort(order,
                    [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
  nest.permute(order);
  nest.coalesce(/*keepReductions=*/false);
  return true;
}

/// Sets the stride of a dimension of one element, which is arbitrary, so that
/// the two dimensions look like a dense matrix.
static void densify(int64_t outerSize, int64_t innerSize, int64_t &outer,
                    int64_t &inner) {
  if (outerSize == 1 && innerSize == 1)
    outer = inner = 1;
  else if (outerSize == 1)
    outer = inner == 1 ? innerSize : 1;
  else if (innerSize == 1)
    inner = outer == 1 ? outerSize : 1;
}

/// Reads the nest as one matrix product. None if it is not one. Of several
/// loops over rows or columns, all but the innermost become batch dimensions,
/// along which the other operand has a stride of 0.
static std::optional<Product> matchProduct(LoopNest nest) {
  if (nest.isEmpty() || !arrangeLoops(nest))
    return std::nullopt;
  Product product;
  product.a = nest.accesses[0];
  product.b = nest.accesses[1];
  product.c = nest.accesses[2];
  GemmDesc &desc = product.desc;
  desc.dtype = product.a.elementType;
  desc.cType = product.c.elementType;
  // The innermost loop of each part. The sum may have only one loop.
  std::optional<unsigned> m, n, k;
  for (unsigned loop = 0; loop < nest.loops.size(); ++loop) {
    LoopPart part = getPart(nest, loop).value();
    if (part == LoopPart::K && k)
      return std::nullopt;
    if (part != LoopPart::Batch)
      (part == LoopPart::M ? m : part == LoopPart::N ? n : k) = loop;
  }
  for (unsigned loop = 0; loop < nest.loops.size(); ++loop) {
    if (loop == m || loop == n || loop == k)
      continue;
    desc.batch.push_back(nest.loops[loop].size);
    desc.aStrides.push_back(product.a.strides[loop]);
    desc.bStrides.push_back(product.b.strides[loop]);
    desc.cStrides.push_back(product.c.strides[loop]);
  }
  auto size = [&](std::optional<unsigned> loop) {
    return loop ? nest.loops[*loop].size : 1;
  };
  desc.m = size(m);
  desc.n = size(n);
  desc.k = size(k);
  auto addPair = [&](SmallVector<int64_t> &strides, const NestAccess &access,
                     std::optional<unsigned> row, std::optional<unsigned> col) {
    int64_t outer = row ? access.strides[*row] : 0;
    int64_t inner = col ? access.strides[*col] : 0;
    densify(size(row), size(col), outer, inner);
    strides.append({outer, inner});
  };
  addPair(desc.aStrides, product.a, m, k);
  addPair(desc.bStrides, product.b, k, n);
  addPair(desc.cStrides, product.c, m, n);
  return product;
}

/// The sizes of the last two dimensions of operand `index` (2 is the result).
static std::pair<int64_t, int64_t> getSizes(const GemmDesc &desc,
                                            unsigned index) {
  return {index == 1 ? desc.k : desc.m, index == 0 ? desc.k : desc.n};
}

static ArrayRef<int64_t> getStrides(const GemmDesc &desc, unsigned index) {
  return index == 0   ? desc.aStrides
         : index == 1 ? desc.bStrides
                      : desc.cStrides;
}

/// True if the library of a GPU supports operand `index` in this form: a matrix
/// with contiguous rows or columns that do not overlap, and one stride for all
/// batch dimensions.
static bool isRegular(const GemmDesc &desc, unsigned index) {
  ArrayRef<int64_t> strides = getStrides(desc, index);
  auto [rows, columns] = getSizes(desc, index);
  int64_t outer = strides[strides.size() - 2], inner = strides.back();
  if (!(inner == 1 && outer >= columns) && !(outer == 1 && inner >= rows))
    return false;
  for (size_t i = 1; i < desc.batch.size(); ++i)
    if (strides[i - 1] != desc.batch[i] * strides[i])
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Copies for the library of a GPU
//===----------------------------------------------------------------------===//

/// The loops of an arranged nest that are dimensions of a dense operand
/// `index`: the batch, including outer rows and columns, then the last two.
static SmallVector<unsigned> getLoops(const LoopNest &nest, unsigned index) {
  std::array<std::optional<unsigned>, 3> last;
  auto getLast = [&](LoopPart part) -> std::optional<unsigned> & {
    return last[static_cast<unsigned>(part) - 1];
  };
  for (unsigned loop = 0; loop < nest.loops.size(); ++loop)
    if (LoopPart part = getPart(nest, loop).value(); part != LoopPart::Batch)
      getLast(part) = loop;
  SmallVector<unsigned> loops;
  for (unsigned loop = 0; loop < nest.loops.size(); ++loop)
    if (!llvm::is_contained(last, loop))
      loops.push_back(loop);
  LoopPart rows = index == 1 ? LoopPart::K : LoopPart::M;
  LoopPart columns = index == 0 ? LoopPart::K : LoopPart::N;
  for (LoopPart part : {rows, columns})
    if (std::optional<unsigned> loop = getLast(part))
      loops.push_back(*loop);
  return loops;
}

/// Moves operand `index` of a nest to a dense temporary, and returns the copy
/// between that and the operand's old place.
static Operation *copyDensely(RewriterBase &rewriter, Location loc,
                              LoopNest &nest, unsigned index) {
  bool isResult = index == 2;
  NestAccess &access = nest.accesses[index];
  SmallVector<unsigned> loops = getLoops(nest, index);
  SmallVector<int64_t> sizes, viewSizes, viewStrides;
  SmallVector<AffineExpr> viewDims;
  for (auto [dim, loop] : llvm::enumerate(loops)) {
    sizes.push_back(nest.loops[loop].size);
    if (access.strides[loop] == 0)
      continue;
    viewSizes.push_back(nest.loops[loop].size);
    viewStrides.push_back(access.strides[loop]);
    viewDims.push_back(rewriter.getAffineDimExpr(dim));
  }
  auto layout =
      StridedLayoutAttr::get(rewriter.getContext(), access.offset, viewStrides);
  Value view = memref::ReinterpretCastOp::create(
      rewriter, loc, MemRefType::get(viewSizes, access.elementType, layout),
      access.base, access.offset, viewSizes, viewStrides);
  Value dense = memref::AllocOp::create(
      rewriter, loc, MemRefType::get(sizes, access.elementType));
  Value from = view, to = dense;
  SmallVector<AffineMap> maps = {
      AffineMap::get(sizes.size(), 0, viewDims, rewriter.getContext()),
      rewriter.getMultiDimIdentityMap(sizes.size())};
  if (isResult) {
    std::swap(from, to);
    std::swap(maps[0], maps[1]);
  }
  SmallVector<utils::IteratorType> iterators(sizes.size(),
                                             utils::IteratorType::parallel);
  Operation *copy = linalg::GenericOp::create(
      rewriter, loc, from, to, maps, iterators,
      [](OpBuilder &builder, Location loc, ValueRange arguments) {
        linalg::YieldOp::create(builder, loc, arguments[0]);
      });
  access.base = dense;
  access.offset = 0;
  for (auto [loop, stride] :
       llvm::zip_equal(loops, computeSuffixProduct(sizes)))
    access.strides[loop] = stride;
  return copy;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {

/// Replaces the matrix products of a module by calls.
class GemmLowering {
public:
  GemmLowering(ModuleOp module, KernelTarget target, bool tf32,
               GemmScratchFn scratch)
      : target(target), tf32(tf32), scratch(std::move(scratch)),
        rewriter(module.getContext()),
        calls(module, "veeline_gemm", gemmsAttrName) {}

  LogicalResult run(func::FuncOp function);
  void finish() { calls.finish(); }

private:
  LogicalResult lower(func::FuncOp function, linalg::GenericOp op);
  void copySlices(linalg::GenericOp op);
  void emitCall(Location loc, Value rank, const Product &product);
  void emitRegularCall(Operation *op, Value rank, LoopNest nest);

  KernelTarget target;
  bool tf32;
  GemmScratchFn scratch;
  IRRewriter rewriter;
  LibraryCalls calls;
};

} // namespace

/// The known alignment in bytes of the place of `view`, in memory that is
/// aligned.
static int64_t getAlignmentOfSlice(Value view, int64_t width) {
  int64_t common = kernelAlignment;
  while (!cast<MemRefType>(view.getType()).getLayout().isIdentity()) {
    auto slice = view.getDefiningOp<memref::SubViewOp>();
    if (!slice)
      return width;
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(slice.getSourceType().getStridesAndOffset(strides, offset)) ||
        llvm::is_contained(strides, ShapedType::kDynamic))
      return width;
    for (auto [start, stride] :
         llvm::zip_equal(slice.getStaticOffsets(), strides))
      common = std::gcd(common, (ShapedType::isDynamic(start) ? 1 : start) *
                                    stride * width);
    view = slice.getSource();
  }
  return common;
}

/// The alignment in bytes of all operands, in every product of a batch.
static int64_t getAlignment(const Product &product) {
  // It must not depend on whether an operand is a temporary or an argument,
  // which may be a microbatch of an input: the same product may have either.
  int64_t common = kernelAlignment;
  auto add = [&](int64_t bytes) { common = std::gcd(common, bytes); };
  const GemmDesc &desc = product.desc;
  const int64_t sizes[] = {desc.m * desc.k, desc.k * desc.n, desc.m * desc.n};
  const NestAccess *accesses[] = {&product.a, &product.b, &product.c};
  for (auto [index, access] : llvm::enumerate(accesses)) {
    int64_t width = access->elementType.getIntOrFloatBitWidth() / 8;
    add(getAlignmentOfSlice(access->base, width));
    // Nor may it depend on whether an operand is one of a stack with one for
    // each iteration of a loop, because that may be unrolled. If rows are
    // aligned, this changes nothing.
    add(sizes[index] * width);
    add(access->offset * width);
    for (int64_t stride : getStrides(desc, index).drop_back(2))
      add(stride * width);
  }
  return common;
}

/// Copies operands to buffers if the library of a GPU does not support them and
/// their place is not static: copyDensely needs static places.
void GemmLowering::copySlices(linalg::GenericOp op) {
  auto needsBuffer = [&](unsigned index) {
    LoopNest nest = *LoopNest::get(op);
    return !nest.accesses[index].rebase() &&
           !isRegular(matchProduct(nest)->desc, index);
  };
  // The result determines the order of the loops, and so what the library
  // supports.
  if (needsBuffer(2))
    redirectToBuffer(rewriter, op);
  for (unsigned input : {0, 1})
    if (needsBuffer(input))
      op->setOperand(input, copyToBuffer(rewriter, op, op->getOperand(input)));
}

/// Emits a call of the library of a GPU before `op`. Operands in a form that it
/// does not support are copied.
void GemmLowering::emitRegularCall(Operation *op, Value rank, LoopNest nest) {
  GemmDesc desc = matchProduct(nest)->desc;
  arrangeLoops(nest);
  for (unsigned index = 0; index < 2; ++index)
    if (!isRegular(desc, index))
      copyDensely(rewriter, op->getLoc(), nest, index);
  Operation *copyOfResult = isRegular(desc, 2)
                                ? nullptr
                                : copyDensely(rewriter, op->getLoc(), nest, 2);
  emitCall(op->getLoc(), rank, *matchProduct(nest));
  if (copyOfResult)
    rewriter.moveOpBefore(copyOfResult, op);
}

void GemmLowering::emitCall(Location loc, Value rank, const Product &product) {
  GemmDesc desc = product.desc;
  desc.isTf32 = tf32 && desc.dtype.isF32();
  if (target == KernelTarget::Cuda)
    desc.alignment = getAlignment(product);
  else
    desc.scratchBytes = scratch ? scratch(desc) : 0;
  calls.emit(rewriter, loc, rank, desc.toAttribute(rewriter.getContext()),
             desc.scratchBytes, product.a, product.b, product.c);
}

/// Whether `op` becomes a call, and which one, depends only on the op. For
/// that, operands are considered as dense.
LogicalResult GemmLowering::lower(func::FuncOp function, linalg::GenericOp op) {
  if (failed(LoopNest::get(op)))
    return failure();
  for (unsigned input : {0, 1})
    op->setOperand(input, copyUnlessDense(rewriter, op, op->getOperand(input)));
  FailureOr<LoopNest> nest = LoopNest::get(op);
  if (!matchProduct(*nest)) {
    if (isSummedWider(op))
      sumWider(rewriter, op);
    return success();
  }
  Location loc = op.getLoc();
  Value output = op.getDpsInits()[0];
  Value temporary;
  if (!removeZeros(rewriter, op)) {
    op = redirectToTemporary(rewriter, op);
    temporary = op.getDpsInits()[0];
  }
  makeResultDense(rewriter, op);
  if (target == KernelTarget::Cuda)
    copySlices(op);
  nest = LoopNest::get(op);
  llvm::for_each(nest->accesses, findPlace);
  rewriter.setInsertionPoint(op);
  if (target == KernelTarget::Cuda)
    emitRegularCall(op, function.getArgument(0), *nest);
  else
    emitCall(loc, function.getArgument(0), *matchProduct(*nest));
  if (temporary)
    addTo(rewriter, loc, output, temporary);
  rewriter.eraseOp(op);
  return success();
}

LogicalResult GemmLowering::run(func::FuncOp function) {
  SmallVector<linalg::GenericOp> ops;
  function.walk([&](linalg::GenericOp op) {
    if (isFloatProduct(op, target))
      ops.push_back(op);
  });
  for (linalg::GenericOp op : ops)
    if (failed(lower(function, op)))
      return failure();
  removeDeadCopies(rewriter, function);
  return success();
}

namespace {

struct LowerGemms : veeline::impl::PipeLowerGemmsBase<LowerGemms> {
  using Base::Base;
  LowerGemms(KernelTarget where, bool inTf32, GemmScratchFn scratch)
      : scratch(std::move(scratch)) {
    target = where;
    tf32 = inTf32;
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    GemmLowering lowering(module, target, tf32, scratch);
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (!function.isExternal() &&
          function->hasAttr(pipe::numResultsAttrName) &&
          failed(lowering.run(function)))
        return signalPassFailure();
    lowering.finish();
  }

  GemmScratchFn scratch;
};

} // namespace

std::unique_ptr<Pass> veeline::createLowerGemmsPass(KernelTarget target,
                                                    bool tf32,
                                                    GemmScratchFn scratch) {
  return std::make_unique<LowerGemms>(target, tf32, std::move(scratch));
}
