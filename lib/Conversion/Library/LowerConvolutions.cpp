//===- LowerConvolutions.cpp - lowering convolutions to runtime calls -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionProducts.h"
#include "Kernels/StructuredOps.h"
#include "veeline/Analysis/Convolution.h"
#include "veeline/Conversion/Convolution.h"
#include "veeline/Conversion/Gemm.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace veeline {
#define GEN_PASS_DEF_PIPELOWERCONVOLUTIONS
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

namespace {
/// The memory in which the library reads or writes an operand. It may differ
/// from that of the operand itself. `padding` is the number of zeros that the
/// library assumes before it. All lists are in the operand's dimensions.
struct Place {
  NestAccess access;
  SmallVector<int64_t> sizes, strides, padding;
};
} // namespace

/// None if the start of the memory or its strides are unknown.
static std::optional<Place> getPlace(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  Place place;
  int64_t offset;
  if (failed(type.getStridesAndOffset(place.strides, offset)) ||
      llvm::is_contained(place.strides, ShapedType::kDynamic))
    return std::nullopt;
  place.sizes.assign(type.getShape().begin(), type.getShape().end());
  place.padding.assign(place.sizes.size(), 0);
  place.access.base = memref;
  place.access.elementType = type.getElementType();
  if (!findPlace(place.access))
    return std::nullopt;
  return place;
}

//===----------------------------------------------------------------------===//
// Zeros around x
//===----------------------------------------------------------------------===//

/// Whether `view` leaves out less than a window at each end of the dimensions
/// through which windows run, and nothing else.
static bool isInside(linalg::GenericOp op, const Convolution &convolution,
                     memref::SubViewOp view) {
  ArrayRef<int64_t> shape = view.getSource().getType().getShape();
  if (shape.size() != static_cast<size_t>(view.getType().getRank()) ||
      !view.getSource().getType().hasStaticShape() ||
      !view.getType().hasStaticShape() ||
      llvm::any_of(view.getStaticOffsets(), ShapedType::isDynamic) ||
      llvm::any_of(view.getStaticStrides(),
                   [](int64_t stride) { return stride != 1; }))
    return false;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<int64_t> most(shape.size(), 0);
  AffineMap map = op.getIndexingMapsArray()[convolution.x];
  for (const ConvolutionWindow &window : convolution.windows)
    most[findDimension(map, window)] =
        (extents[window.kernel] - 1) * window.dilation;
  for (auto [size, inner, before, limit] : llvm::zip_equal(
           shape, view.getStaticSizes(), view.getStaticOffsets(), most))
    if (before > limit || size - inner - before > limit)
      return false;
  return true;
}

namespace {
/// The data inside of a buffer of zeros: the op that writes it, and the part of
/// the buffer.
struct Content {
  Operation *writer;
  memref::SubViewOp view;
};
} // namespace

/// The only part of `buffer` that is not zero where `reader` reads it.
static std::optional<Content> findContent(memref::AllocOp buffer,
                                          Operation *reader) {
  BufferUses uses(buffer, reader->getBlock());
  if (!uses.isKnown || uses.writers.size() != 2)
    return std::nullopt;
  llvm::sort(uses.writers,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  auto fill = dyn_cast<linalg::FillOp>(uses.writers[0]);
  Operation *writer = uses.writers[1];
  if (!fill || fill.getOutputs()[0] != buffer ||
      !matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) ||
      !writer->isBeforeInBlock(reader))
    return std::nullopt;
  memref::SubViewOp view;
  for (OpOperand &use : writer->getOpOperands())
    if (isa<MemRefType>(use.get().getType()) && isWrite(use) &&
        getRootBuffer(use.get()) == buffer) {
      if (view)
        return std::nullopt;
      view = use.get().getDefiningOp<memref::SubViewOp>();
    }
  if (!view || view.getSource() != buffer)
    return std::nullopt;
  return Content{writer, view};
}

/// If x is a buffer of zeros with data inside, the place of the data: the
/// source of the copy that wrote it, if that is unchanged, or else that part of
/// x. So it does not matter whether the data has other uses.
static std::optional<Place> readInside(RewriterBase &rewriter,
                                       linalg::GenericOp op,
                                       const Convolution &convolution) {
  auto buffer = op->getOperand(convolution.x).getDefiningOp<memref::AllocOp>();
  std::optional<Content> content =
      buffer ? findContent(buffer, op) : std::nullopt;
  if (!content || !isInside(op, convolution, content->view))
    return std::nullopt;
  Value inside = content->view;
  if (auto copy = dyn_cast<memref::CopyOp>(content->writer)) {
    BufferUses source(getRootBuffer(copy.getSource()), op->getBlock());
    if (source.isKnown && !anyBetween(source.writers, copy, op))
      inside = copy.getSource();
  }
  std::optional<Place> place = getPlace(copyUnlessDense(rewriter, op, inside));
  if (place)
    place->padding.assign(content->view.getStaticOffsets().begin(),
                          content->view.getStaticOffsets().end());
  return place;
}

/// Whether all ops that read or write through `view`, or through a view of it,
/// support any strides.
static bool takesAnyStrides(memref::SubViewOp view) {
  return llvm::all_of(view->getUsers(), [](Operation *user) {
    if (auto nested = dyn_cast<memref::SubViewOp>(user))
      return takesAnyStrides(nested);
    return isa<linalg::LinalgOp, memref::CopyOp>(user);
  });
}

/// Replaces `view` and its views by `memref` and views of it, which have other
/// strides.
static void replaceView(RewriterBase &rewriter, memref::SubViewOp view,
                        Value memref) {
  SmallVector<memref::SubViewOp> views;
  for (Operation *user : view->getUsers())
    if (auto nested = dyn_cast<memref::SubViewOp>(user))
      views.push_back(nested);
  for (memref::SubViewOp nested : views) {
    rewriter.setInsertionPoint(nested);
    MemRefType type = memref::SubViewOp::inferRankReducedResultType(
        nested.getType().getShape(), cast<MemRefType>(memref.getType()),
        nested.getMixedOffsets(), nested.getMixedSizes(),
        nested.getMixedStrides());
    replaceView(rewriter, nested,
                memref::SubViewOp::create(rewriter, nested.getLoc(), type,
                                          memref, nested.getMixedOffsets(),
                                          nested.getMixedSizes(),
                                          nested.getMixedStrides()));
  }
  rewriter.replaceOp(view, memref);
}

/// The view of `buffer`, if its only users are this view and one op.
static memref::SubViewOp findOnlyView(memref::AllocOp buffer) {
  if (!buffer || !llvm::hasNItems(buffer->getUses(), 2))
    return {};
  for (Operation *user : buffer->getUsers())
    if (auto view = dyn_cast<memref::SubViewOp>(user))
      return view;
  return {};
}

/// If only the inside of the x that an adjoint computes is read, computes only
/// this inside. No other op may write to it. Who reads the inside, and how,
/// differs between the functions of a chunk. It only determines whether the
/// inside is copied to where it was.
static std::optional<Place> writeInside(RewriterBase &rewriter,
                                        linalg::GenericOp op,
                                        const Convolution &convolution) {
  auto buffer = op->getOperand(convolution.x).getDefiningOp<memref::AllocOp>();
  memref::SubViewOp view = findOnlyView(buffer);
  if (!view || !isInside(op, convolution, view))
    return std::nullopt;
  SmallVector<int64_t> padding(view.getStaticOffsets());
  rewriter.setInsertionPoint(buffer);
  Value inside = memref::AllocOp::create(
      rewriter, buffer.getLoc(),
      MemRefType::get(view.getStaticSizes(),
                      buffer.getType().getElementType()));
  if (takesAnyStrides(view)) {
    replaceView(rewriter, view, inside);
  } else {
    view->moveAfter(buffer);
    rewriter.setInsertionPointAfter(op);
    memref::CopyOp::create(rewriter, op.getLoc(), inside, view);
  }
  std::optional<Place> place = getPlace(inside);
  place->padding = std::move(padding);
  return place;
}

//===----------------------------------------------------------------------===//
// Entries of the table
//===----------------------------------------------------------------------===//

namespace {
/// Describes one op with operands at three places, as an entry of the table.
class Describer {
public:
  Describer(linalg::GenericOp op, const Convolution &convolution,
            ArrayRef<Place> places)
      : convolution(convolution), places(places),
        extents(op.getStaticLoopRanges()), maps(op.getIndexingMapsArray()) {}

  ConvolutionDesc describe() const;

private:
  int64_t extent(std::optional<unsigned> loop) const {
    return loop ? extents[*loop] : 1;
  }
  int64_t stride(unsigned operand, std::optional<unsigned> loop) const {
    std::optional<unsigned> dimension = findDimension(maps[operand], loop);
    return dimension ? places[operand].strides[*dimension] : 1;
  }
  SmallVector<int64_t> channelStrides(unsigned operand,
                                      std::optional<unsigned> channel) const;

  const Convolution &convolution;
  ArrayRef<Place> places;
  SmallVector<int64_t> extents;
  SmallVector<AffineMap> maps;
};
} // namespace

/// The strides of samples, groups and channels. If there is a single group, its
/// stride is that of all its channels. If each group has a single channel, its
/// stride is that of the group.
SmallVector<int64_t>
Describer::channelStrides(unsigned operand,
                          std::optional<unsigned> channel) const {
  int64_t ofChannel = stride(operand, channel);
  int64_t ofGroup = stride(operand, convolution.group);
  if (extent(convolution.group) == 1)
    ofGroup = ofChannel * extent(channel);
  else if (extent(channel) == 1)
    ofChannel = ofGroup;
  return {stride(operand, convolution.batch), ofGroup, ofChannel};
}

ConvolutionDesc Describer::describe() const {
  ConvolutionDesc desc;
  desc.kind = convolution.kind;
  desc.dtype = places[0].access.elementType;
  desc.batch = extent(convolution.batch);
  desc.groups = extent(convolution.group);
  desc.inputs = extent(convolution.input);
  desc.outputs = extent(convolution.output);
  desc.xStrides = channelStrides(convolution.x, convolution.input);
  desc.yStrides = channelStrides(convolution.y, convolution.output);
  desc.wStrides = {stride(convolution.w, convolution.group),
                   stride(convolution.w, convolution.output),
                   stride(convolution.w, convolution.input)};
  const Place &x = places[convolution.x];
  for (const ConvolutionWindow &window : convolution.windows) {
    unsigned dimension = findDimension(maps[convolution.x], window);
    desc.xSizes.push_back(x.sizes[dimension]);
    desc.ySizes.push_back(extents[window.output]);
    desc.wSizes.push_back(extents[window.kernel]);
    desc.strides.push_back(window.stride);
    desc.dilations.push_back(window.dilation);
    desc.padding.push_back(x.padding[dimension]);
    desc.xStrides.push_back(x.strides[dimension]);
    desc.wStrides.push_back(stride(convolution.w, window.kernel));
    desc.yStrides.push_back(stride(convolution.y, window.output));
  }
  return desc;
}

/// Whether one stride runs through the channels of all groups.
static bool hasEvenChannels(const ConvolutionDesc &desc) {
  return desc.xStrides[1] == desc.xStrides[2] * desc.inputs &&
         desc.yStrides[1] == desc.yStrides[2] * desc.outputs;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {
/// Replaces the convolutions of a module by calls.
class ConvolutionLowering {
public:
  ConvolutionLowering(ModuleOp module, KernelTarget target, bool tf32,
                      ConvolutionScratchFn scratch)
      : target(target), tf32(tf32), scratch(std::move(scratch)),
        rewriter(module.getContext()),
        calls(module, "veeline_convolution", convolutionsAttrName),
        gemms(module, "veeline_gemm", gemmsAttrName) {}

  void run(func::FuncOp function);
  void finish() {
    calls.finish();
    gemms.finish();
  }

private:
  void lower(func::FuncOp function, linalg::GenericOp op);
  std::optional<SmallVector<Place, 3>>
  findPlaces(linalg::GenericOp op, const Convolution &convolution);
  std::optional<Place> findInput(linalg::GenericOp op,
                                 const Convolution &convolution,
                                 unsigned index);
  void emitCall(func::FuncOp function, linalg::GenericOp op,
                const Convolution &convolution, ArrayRef<Place> places);
  void emitEither(Location loc, Value rank, const ConvolutionDesc &desc,
                  const NestAccess &a, const NestAccess &b,
                  const NestAccess &c);
  uint64_t getScratch(const ConvolutionDesc &desc) const {
    return scratch ? scratch(desc) : 0;
  }
  /// Products and kernels instead of a library need static places.
  bool canLower(const Place &place) const {
    return target == KernelTarget::Host || hasStaticPlace(place.access);
  }

  KernelTarget target;
  bool tf32;
  ConvolutionScratchFn scratch;
  IRRewriter rewriter;
  LibraryCalls calls, gemms;
};
} // namespace

/// Emits a call, and products or kernels for a GPU whose runtime has no
/// library. The library supports only operands and results of one type.
void ConvolutionLowering::emitEither(Location loc, Value rank,
                                     const ConvolutionDesc &desc,
                                     const NestAccess &a, const NestAccess &b,
                                     const NestAccess &c) {
  bool isExtended = a.elementType != c.elementType;
  ConvolutionDesc ofCall = isExtended ? describeExtended(desc) : desc;
  ofCall.scratchBytes = getScratch(ofCall);
  DictionaryAttr entry = ofCall.toAttribute(rewriter.getContext());
  scf::IfOp choice =
      calls.ask(rewriter, loc, rank, entry, "veeline_has_convolution");
  ViewBuilder builder(rewriter, loc);
  rewriter.setInsertionPointToStart(choice.thenBlock());
  std::pair<NestAccess, NestAccess> factors(a, b);
  if (isExtended)
    factors = extendFactors(builder, desc, a, b, c);
  calls.emit(rewriter, loc, rank, entry, ofCall.scratchBytes, factors.first,
             factors.second, c);
  rewriter.setInsertionPointToStart(choice.elseBlock());
  emitConvolutionProducts(builder, gemms, rank,
                          ConvolutionOperands(desc, a, b, c));
  rewriter.setInsertionPointAfter(choice);
}

void ConvolutionLowering::emitCall(func::FuncOp function, linalg::GenericOp op,
                                   const Convolution &convolution,
                                   ArrayRef<Place> places) {
  ConvolutionDesc desc = Describer(op, convolution, places).describe();
  desc.isTf32 = tf32 && desc.dtype.isF32();
  bool isForward = convolution.kind == ConvolutionKind::Forward;
  bool isOfData = convolution.kind == ConvolutionKind::BackwardData;
  const Place &a = places[isOfData ? convolution.y : convolution.x];
  const Place &b =
      places[isForward || isOfData ? convolution.w : convolution.y];
  rewriter.setInsertionPoint(op);
  Value rank = function.getArgument(0);
  if (target == KernelTarget::Cuda)
    return emitEither(op.getLoc(), rank, desc, a.access, b.access,
                      places[2].access);
  desc.scratchBytes = getScratch(desc);
  calls.emit(rewriter, op.getLoc(), rank,
             desc.toAttribute(rewriter.getContext()), desc.scratchBytes,
             a.access, b.access, places[2].access);
}

std::optional<Place>
ConvolutionLowering::findInput(linalg::GenericOp op,
                               const Convolution &convolution, unsigned index) {
  std::optional<Place> place;
  if (index == convolution.x)
    place = readInside(rewriter, op, convolution);
  if (place)
    return place;
  return getPlace(copyUnlessDense(rewriter, op, op->getOperand(index)));
}

/// The places of the operands. None if the library does not support them.
std::optional<SmallVector<Place, 3>>
ConvolutionLowering::findPlaces(linalg::GenericOp op,
                                const Convolution &convolution) {
  SmallVector<Place, 3> places;
  for (unsigned i : {0, 1, 2}) {
    std::optional<Place> place =
        i == 2 ? getPlace(op->getOperand(i)) : findInput(op, convolution, i);
    if (!place || !canLower(*place))
      return std::nullopt;
    places.push_back(std::move(*place));
  }
  // Factors of two types are converted before.
  if (places[0].access.elementType != places[1].access.elementType)
    return std::nullopt;
  if (!hasEvenChannels(Describer(op, convolution, places).describe()))
    return std::nullopt;
  return places;
}

/// Allocates a temporary like the output of `op`, with the type of its sum.
static Value allocateSum(RewriterBase &rewriter, linalg::GenericOp op) {
  auto type = cast<MemRefType>(op.getOutputs()[0].getType());
  Type element =
      isSummedWider(op) ? rewriter.getF32Type() : type.getElementType();
  rewriter.setInsertionPoint(op);
  return memref::AllocOp::create(rewriter, op.getLoc(),
                                 MemRefType::get(type.getShape(), element));
}

/// Replaces `op` by a call. If the library does not support it, it stays, and
/// becomes loops.
void ConvolutionLowering::lower(func::FuncOp function, linalg::GenericOp op) {
  Convolution convolution = *matchConvolution(op);
  auto found = findPlaces(op, convolution);
  if (!found) {
    if (isSummedWider(op))
      sumWider(rewriter, op);
    return;
  }
  SmallVector<Place, 3> places = std::move(*found);
  Value output = op.getOutputs()[0], temporary;
  bool overwrites = removeZeros(rewriter, op);
  if (!overwrites) {
    temporary = allocateSum(rewriter, op);
    places[2] = *getPlace(temporary);
  } else if (convolution.kind == ConvolutionKind::BackwardData) {
    if (std::optional<Place> inside = writeInside(rewriter, op, convolution))
      places[2] = *inside;
  }
  if (overwrites && !isDense(cast<MemRefType>(output.getType()))) {
    makeResultDense(rewriter, op);
    places[2] = *getPlace(op.getOutputs()[0]);
  }
  emitCall(function, op, convolution, places);
  if (temporary)
    addTo(rewriter, op.getLoc(), output, temporary);
  rewriter.eraseOp(op);
}

void ConvolutionLowering::run(func::FuncOp function) {
  SmallVector<linalg::GenericOp> ops;
  function.walk([&](linalg::GenericOp op) {
    if (op.hasPureBufferSemantics() && isLibraryConvolution(op, target))
      ops.push_back(op);
  });
  for (linalg::GenericOp op : ops)
    lower(function, op);
  if (ops.empty())
    return;
  removeDeadCopies(rewriter, function);
  // The inside of a result is a buffer now that may be computed in place.
  removeCopies(rewriter, function);
}

namespace {

struct LowerConvolutions
    : veeline::impl::PipeLowerConvolutionsBase<LowerConvolutions> {
  using Base::Base;
  LowerConvolutions(KernelTarget where, bool inTf32,
                    ConvolutionScratchFn scratch)
      : scratch(std::move(scratch)) {
    target = where;
    tf32 = inTf32;
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    ConvolutionLowering lowering(module, target, tf32, scratch);
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && function->hasAttr(pipe::numResultsAttrName))
        lowering.run(function);
    lowering.finish();
  }

  ConvolutionScratchFn scratch;
};

} // namespace

std::unique_ptr<Pass>
veeline::createLowerConvolutionsPass(KernelTarget target, bool tf32,
                                     ConvolutionScratchFn scratch) {
  return std::make_unique<LowerConvolutions>(target, tf32, std::move(scratch));
}
