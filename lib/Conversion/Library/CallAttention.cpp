//===- CallAttention.cpp - lowering attention to runtime calls ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryCalls.h"
#include "veeline/Analysis/TensorEmit.h"
#include "veeline/Conversion/Attention.h"
#include "veeline/Conversion/AttentionDesc.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/attention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace veeline {
#define GEN_PASS_DEF_PIPECALLATTENTION
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;
using veeline::pipe::AttentionBackwardKVOp;
using veeline::pipe::AttentionBackwardOp;
using veeline::pipe::AttentionBackwardQOp;
using veeline::pipe::AttentionOp;
using veeline::pipe::AttentionOpInterface;

/// The alignment of rows in bytes that libraries require.
static constexpr int64_t libraryAlignment = 16;
static constexpr int64_t maxDepth = 128, depthMultiple = 8;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

namespace {
/// The place of an operand, and the strides of all its dimensions.
struct Place {
  NestAccess access;
  SmallVector<int64_t> sizes, strides;
};
} // namespace

/// None if the operand does not begin at a known multiple of 16 bytes.
static std::optional<Place> getPlace(Value memref) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  Place place;
  int64_t offset;
  if (!type || !type.hasStaticShape() ||
      failed(type.getStridesAndOffset(place.strides, offset)) ||
      llvm::is_contained(place.strides, ShapedType::kDynamic))
    return std::nullopt;
  place.sizes.assign(type.getShape().begin(), type.getShape().end());
  place.access.base = memref;
  place.access.elementType = type.getElementType();
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  if (!place.access.rebase() ||
      place.access.offset * bytes % libraryAlignment != 0)
    return std::nullopt;
  return place;
}

/// The stride of all dimensions of `sizes` collapsed to one. None if they
/// cannot be collapsed.
static std::optional<int64_t> getMergedStride(ArrayRef<int64_t> sizes,
                                              ArrayRef<int64_t> strides) {
  int64_t next = 0;
  std::optional<int64_t> merged;
  for (auto [size, stride] :
       llvm::zip_equal(llvm::reverse(sizes), llvm::reverse(strides))) {
    if (size == 1)
      continue;
    if (merged && stride != next)
      return std::nullopt;
    if (!merged)
      merged = stride;
    next = stride * size;
  }
  return merged.value_or(0);
}

/// The strides of samples, heads and rows of an operand [batch..., rows,
/// elements]. The last dimension of the batch is that of heads. A dimension of
/// one element gets the size of all inner dimensions as its stride.
static std::optional<SmallVector<int64_t>> getStrides(const Place &place) {
  size_t rank = place.sizes.size();
  if (place.sizes.back() != 1 && place.strides.back() != 1)
    return std::nullopt;
  ArrayRef<int64_t> sizes = place.sizes, strides = place.strides;
  size_t numSamples = rank > 3 ? rank - 3 : 0;
  std::optional<int64_t> sample = getMergedStride(
      sizes.take_front(numSamples), strides.take_front(numSamples));
  if (!sample)
    return std::nullopt;
  bool hasHeads = rank > 2 && sizes[rank - 3] != 1;
  int64_t row = sizes[rank - 2] != 1 ? strides[rank - 2] : sizes.back();
  int64_t head = hasHeads ? strides[rank - 3] : row * sizes[rank - 2];
  if (*sample == 0)
    sample = head * (hasHeads ? sizes[rank - 3] : 1);
  return SmallVector<int64_t>{*sample, head, row};
}

static bool areAligned(ArrayRef<int64_t> strides, Type element) {
  int64_t multiple = libraryAlignment * 8 / element.getIntOrFloatBitWidth();
  return llvm::all_of(strides, [&](int64_t stride) {
    return stride >= 0 && stride % multiple == 0;
  });
}

static bool isDense(const Place &place) {
  int64_t expected = 1;
  for (auto [size, stride] : llvm::zip_equal(llvm::reverse(place.sizes),
                                             llvm::reverse(place.strides))) {
    if (size != 1 && stride != expected)
      return false;
    expected *= size;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Entries of the table
//===----------------------------------------------------------------------===//

namespace {
/// Describes one op as an entry of the table, and lists the operands of its
/// call.
class Describer {
public:
  Describer(AttentionOpInterface op, bool deterministic) : op(op) {
    desc.deterministic = deterministic;
  }

  /// Returns false if no library supports the op in this form.
  bool describe();

  AttentionDesc desc;
  SmallVector<LibraryCalls::Operand> operands;

private:
  bool describeShape();
  bool describeMask();
  bool add(Value operand, SmallVector<int64_t> &strides, bool readsOnly);
  bool addLse(Value lse, bool readsOnly);

  AttentionOpInterface op;
};
} // namespace

bool Describer::describeShape() {
  desc.dtype = op.getQueryType().getElementType();
  if (!desc.dtype.isF16() && !desc.dtype.isBF16())
    return false;
  ArrayRef<int64_t> query = op.getQueryType().getShape();
  ArrayRef<int64_t> key = op.getKeyType().getShape();
  int64_t numBatch = op.getNumBatchDims();
  for (int64_t dim = 0; dim + 1 < numBatch; ++dim)
    desc.batch *= query[dim];
  desc.heads = numBatch ? query[numBatch - 1] : 1;
  desc.keyHeads = numBatch ? key[numBatch - 1] : 1;
  desc.queries = query[numBatch];
  desc.keys = key[numBatch];
  desc.depth = query.back();
  desc.valueDepth = op.getValueType().getShape().back();
  desc.scale = op.getScale().convertToDouble();
  desc.causal = op.getCausal();
  return desc.depth <= maxDepth && desc.valueDepth <= maxDepth &&
         desc.depth % depthMultiple == 0 &&
         desc.valueDepth % depthMultiple == 0;
}

bool Describer::add(Value operand, SmallVector<int64_t> &strides,
                    bool readsOnly) {
  std::optional<Place> place = getPlace(operand);
  std::optional<SmallVector<int64_t>> found;
  if (place)
    found = getStrides(*place);
  if (!found || !areAligned(*found, desc.dtype) ||
      llvm::is_contained(*found, 0))
    return false;
  strides = std::move(*found);
  operands.push_back({place->access, readsOnly});
  return true;
}

bool Describer::addLse(Value lse, bool readsOnly) {
  std::optional<Place> place = getPlace(lse);
  if (!place || !isDense(*place))
    return false;
  operands.push_back({place->access, readsOnly});
  return true;
}

/// Describes a mask. It has to be additive, with adjacent keys, and has all
/// dimensions of samples or none.
bool Describer::describeMask() {
  operands.emplace_back();
  if (!op.getMask())
    return true;
  std::optional<Place> place = getPlace(op.getMask());
  if (!place || (place->access.elementType != desc.dtype &&
                 !place->access.elementType.isF32()))
    return false;
  desc.maskType = place->access.elementType;
  operands.back().access = place->access;
  int64_t numBatch = op.getNumBatchDims();
  SmallVector<int64_t> scores = op.getScoreShape();
  SmallVector<int64_t> strides(scores.size(), 0);
  for (auto [dim, size, stride] :
       llvm::zip_equal(*op.getMaskDims(), place->sizes, place->strides))
    strides[dim] = size == 1 ? 0 : stride;
  int64_t numSamples = std::max<int64_t>(numBatch - 1, 0);
  std::optional<int64_t> sample =
      getMergedStride(ArrayRef(scores).take_front(numSamples),
                      ArrayRef(strides).take_front(numSamples));
  if (!sample || (strides.back() != 1 && scores.back() != 1))
    return false;
  desc.maskStrides = {*sample, numBatch ? strides[numBatch - 1] : 0,
                      strides[numBatch]};
  return areAligned(desc.maskStrides, desc.maskType);
}

/// Operands are added in the order of the call.
bool Describer::describe() {
  if (!describeShape() ||
      !add(op.getQuery(), desc.queryStrides, /*readsOnly=*/true) ||
      !add(op.getKey(), desc.keyStrides, /*readsOnly=*/true) ||
      !add(op.getValue(), desc.valueStrides, /*readsOnly=*/true) ||
      !describeMask())
    return false;
  if (auto forward = dyn_cast<AttentionOp>(op.getOperation()))
    return add(forward.getOutput(), desc.outputStrides, /*readsOnly=*/false) &&
           addLse(forward.getLse(), /*readsOnly=*/false);
  auto both = cast<AttentionBackwardOp>(op.getOperation());
  desc.isBackward = true;
  desc.scratchBytes = AttentionScratch(desc.batch, desc.heads, desc.queries,
                                       desc.depth, desc.deterministic)
                          .bytes();
  return add(both.getOutput(), desc.outputStrides, /*readsOnly=*/true) &&
         addLse(both.getLse(), /*readsOnly=*/true) &&
         add(both.getOutputGrad(), desc.outputGradStrides,
             /*readsOnly=*/true) &&
         add(both.getQueryGrad(), desc.queryGradStrides, /*readsOnly=*/false) &&
         add(both.getKeyGrad(), desc.keyGradStrides, /*readsOnly=*/false) &&
         add(both.getValueGrad(), desc.valueGradStrides, /*readsOnly=*/false);
}

//===----------------------------------------------------------------------===//
// Without a library
//===----------------------------------------------------------------------===//

/// Computes, for each query, the sum of the products of the output and its
/// gradient.
static Value createDelta(RewriterBase &rewriter, AttentionBackwardOp op) {
  Location loc = op.getLoc();
  auto lse = cast<MemRefType>(op.getLse().getType());
  Type element = lse.getElementType();
  Value delta = memref::AllocOp::create(
      rewriter, loc, MemRefType::get(lse.getShape(), element));
  Value zero = arith::ConstantOp::create(rewriter, loc,
                                         rewriter.getFloatAttr(element, 0.0));
  linalg::FillOp::create(rewriter, loc, zero, delta);
  AffineMap all = rewriter.getMultiDimIdentityMap(lse.getRank() + 1);
  SmallVector<utils::IteratorType> iterators(lse.getRank(),
                                             utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  linalg::GenericOp::create(
      rewriter, loc, ValueRange{op.getOutputGrad(), op.getOutput()}, delta,
      ArrayRef<AffineMap>{all, all, all.dropResult(lse.getRank())}, iterators,
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        Value sum = createMultiplyAdd(builder, loc, arguments[0], arguments[1],
                                      arguments[2]);
        linalg::YieldOp::create(builder, loc, sum);
      });
  return delta;
}

/// Emits the ops that kernels compute instead of `op`.
static void emitKernels(RewriterBase &rewriter, AttentionOpInterface op) {
  auto both = dyn_cast<AttentionBackwardOp>(op.getOperation());
  if (!both) {
    rewriter.clone(*op);
    return;
  }
  Value delta = createDelta(rewriter, both);
  AttentionBackwardQOp::create(
      rewriter, op.getLoc(), TypeRange(), both.getQuery(), both.getKey(),
      both.getValue(), both.getOutputGrad(), both.getLse(), delta,
      both.getMask(), both.getQueryGrad(), both.getScaleAttr(),
      both.getCausalAttr(), both.getMaskDimsAttr(), both.getFillAttr());
  AttentionBackwardKVOp::create(
      rewriter, op.getLoc(), TypeRange(), both.getQuery(), both.getKey(),
      both.getValue(), both.getOutputGrad(), both.getLse(), delta,
      both.getMask(), both.getKeyGrad(), both.getValueGrad(),
      both.getScaleAttr(), both.getCausalAttr(), both.getMaskDimsAttr(),
      both.getFillAttr());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct CallAttention : veeline::impl::PipeCallAttentionBase<CallAttention> {
  using Base::Base;

  void runOnOperation() override {
    LibraryCalls calls(getOperation(), "veeline_attention", attentionsAttrName);
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && function->hasAttr(pipe::numResultsAttrName))
        lower(function, calls);
    calls.finish();
  }

private:
  void lower(func::FuncOp function, LibraryCalls &calls) {
    SmallVector<AttentionOpInterface> ops;
    function.walk([&](AttentionOpInterface op) {
      if (isa<AttentionOp, AttentionBackwardOp>(op.getOperation()) &&
          op->getNumResults() == 0)
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (AttentionOpInterface op : ops) {
      rewriter.setInsertionPoint(op);
      Describer describer(op, deterministic);
      if (describer.describe()) {
        emitEither(rewriter, calls, function.getArgument(0), describer, op);
        askForMemory(function, describer.desc);
      } else {
        emitKernels(rewriter, op);
      }
      rewriter.eraseOp(op);
    }
  }

  /// Makes room in the device's memory. To get the same bits in every run, a
  /// derivative keeps the gradients of all scores in the library's workspace,
  /// in addition to what every engine needs.
  void askForMemory(func::FuncOp function, const AttentionDesc &desc) {
    if (!desc.isBackward || !desc.deterministic)
      return;
    constexpr int64_t others = 8 << 20;
    int64_t bytes =
        llvm::alignTo(desc.batch * desc.heads * desc.queries * desc.keys *
                          desc.dtype.getIntOrFloatBitWidth() / 8,
                      1 << 20) +
        others;
    auto old = function->getAttrOfType<IntegerAttr>(libraryBytesAttrName);
    if (!old || old.getInt() < bytes)
      function->setAttr(libraryBytesAttrName,
                        Builder(&getContext()).getI64IntegerAttr(bytes));
  }

  /// Emits a call, and kernels for a GPU whose runtime has no library.
  void emitEither(RewriterBase &rewriter, LibraryCalls &calls, Value rank,
                  const Describer &describer, AttentionOpInterface op) {
    Location loc = op.getLoc();
    DictionaryAttr entry = describer.desc.toAttribute(&getContext());
    scf::IfOp choice =
        calls.ask(rewriter, loc, rank, entry, "veeline_has_attention");
    rewriter.setInsertionPointToStart(choice.thenBlock());
    calls.emit(rewriter, loc,
               describer.desc.isBackward ? "veeline_attention_backward"
                                         : "veeline_attention",
               rank, entry, describer.desc.scratchBytes, describer.operands);
    rewriter.setInsertionPointToStart(choice.elseBlock());
    emitKernels(rewriter, op);
    rewriter.setInsertionPointAfter(choice);
  }
};

} // namespace
