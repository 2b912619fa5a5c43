//===- ThreadCode.cpp - code of one thread of a kernel --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadCode.h"

#include "GpuModule.h"
#include "Kernels/LaneEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <numeric>

using namespace mlir;
using namespace veeline;

ThreadCode::ThreadCode(gpu::GPUFuncOp function, KernelBody body)
    : function(function), body(std::move(body)),
      builder(function.getBody().front().getTerminator()),
      loc(function.getLoc()) {}

void ThreadCode::setSizes(std::array<int64_t, 3> blocks, int64_t threads) {
  auto size = [](int64_t value) { return static_cast<int32_t>(value); };
  function.setKnownBlockSizeAttr(
      builder.getDenseI32ArrayAttr({size(threads), 1, 1}));
  function.setKnownGridSizeAttr(builder.getDenseI32ArrayAttr(
      {size(blocks[0]), size(blocks[1]), size(blocks[2])}));
}

Value ThreadCode::thread() {
  return gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
}

Value ThreadCode::block(gpu::Dimension dimension) {
  return gpu::BlockIdOp::create(builder, loc, dimension);
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

static constexpr auto noWrap =
    arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw;

Value ThreadCode::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value ThreadCode::add(Value a, Value b) {
  return arith::AddIOp::create(builder, loc, a, b, noWrap);
}

Value ThreadCode::add(Value a, int64_t b) { return b ? add(a, index(b)) : a; }

Value ThreadCode::sub(Value a, int64_t b) {
  return b ? arith::SubIOp::create(builder, loc, a, index(b), noWrap) : a;
}

Value ThreadCode::mul(Value a, int64_t b) {
  if (b == 1)
    return a;
  return arith::MulIOp::create(builder, loc, a, index(b), noWrap);
}

Value ThreadCode::div(Value a, int64_t b) {
  return b == 1 ? a : arith::DivUIOp::create(builder, loc, a, index(b));
}

Value ThreadCode::rem(Value a, int64_t b) {
  return b == 1 ? index(0) : arith::RemUIOp::create(builder, loc, a, index(b));
}

Value ThreadCode::isLess(Value a, int64_t b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, a,
                               index(b));
}

SmallVector<Value> ThreadCode::delinearize(Value linear,
                                           ArrayRef<int64_t> sizes) {
  SmallVector<Value> ids(sizes.size());
  int64_t inner = 1;
  bool isOutermost = false;
  int64_t total = llvm::product_of(sizes);
  for (size_t i = sizes.size(); i-- > 0;) {
    isOutermost = inner * sizes[i] == total;
    Value id = sizes[i] == 1 ? index(0) : div(linear, inner);
    ids[i] = isOutermost ? id : rem(id, sizes[i]);
    inner *= sizes[i];
  }
  return ids;
}

//===----------------------------------------------------------------------===//
// Control flow and memory
//===----------------------------------------------------------------------===//

void ThreadCode::when(Value condition, llvm::function_ref<void()> body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(builder, loc, condition);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

void ThreadCode::loop(Value begin, int64_t end, int64_t step,
                      llvm::function_ref<void(Value)> body) {
  auto forOp = scf::ForOp::create(builder, loc, begin, index(end), index(step));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(forOp.getBody());
  body(forOp.getInductionVar());
}

SmallVector<Value> ThreadCode::rolledLoop(
    int64_t begin, int64_t end, int64_t step, ValueRange init,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  MLIRContext *context = builder.getContext();
  auto yes = BoolAttr::get(context, true);
  LLVM::LoopUnrollAttr unroll =
      LLVM::LoopUnrollAttr::get(context, yes, {}, {}, {}, {}, {}, {});
  auto forOp = scf::ForOp::create(builder, loc, index(begin), index(end),
                                  index(step), init);
  forOp->setAttr(loopAnnotationAttrName,
                 LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {},
                                               {}, {}, {}, {}, {}, {}, {}, {},
                                               {}, {}));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(forOp.getBody());
  SmallVector<Value> results =
      body(forOp.getInductionVar(), forOp.getRegionIterArgs());
  if (!results.empty())
    scf::YieldOp::create(builder, loc, results);
  return SmallVector<Value>(forOp.getResults());
}

void ThreadCode::forEach(int64_t count, int64_t maxThreads,
                         llvm::function_ref<void(Value)> body) {
  int64_t threads =
      std::min(maxThreads, int64_t(llvm::alignTo(count, warpSize)));
  setSizes(llvm::divideCeil(count, threads), threads);
  Value item = add(mul(block(), threads), thread());
  Value exists = count % threads ? isLess(item, count) : Value();
  when(exists, [&] { body(item); });
}

Value ThreadCode::flat(Value base) {
  Value &result = flattened[base];
  if (result)
    return result;
  auto type = cast<MemRefType>(base.getType());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(base);
  int64_t count = type.getNumElements();
  auto flatType = MemRefType::get({count}, type.getElementType(), AffineMap(),
                                  type.getMemorySpace());
  result = memref::ReinterpretCastOp::create(
      builder, loc, flatType, base, builder.getIndexAttr(0),
      OpFoldResult(builder.getIndexAttr(count)),
      OpFoldResult(builder.getIndexAttr(1)));
  return result;
}

Value ThreadCode::addShared(Type elementType, int64_t count) {
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  return function.addWorkgroupAttribution(
      MemRefType::get({count}, elementType, AffineMap(), space), loc);
}

void ThreadCode::inlineOps(ValueRange rowIds) {
  if (!body.rows) {
    for (LoopNest &nest : body.nests)
      nest.op->moveBefore(builder.getInsertionBlock(),
                          builder.getInsertionPoint());
    return;
  }
  IRRewriter rewriter(builder.getContext());
  rewriter.eraseOp(body.rows.getTerminator());
  rewriter.inlineBlockBefore(body.rows.getBody(), builder.getInsertionBlock(),
                             builder.getInsertionPoint(), rowIds);
  rewriter.eraseOp(body.rows);
  body.rows = nullptr;
}

//===----------------------------------------------------------------------===//
// Structured ops
//===----------------------------------------------------------------------===//

Value ThreadCode::getPosition(const LoopNest &nest, const NestAccess &access,
                              const Point &point) {
  AccessForm form = getForm(nest, access, point.firstLoop);
  SmallVector<int64_t> sizes;
  for (auto [size, stride] : form)
    sizes.push_back(size);
  Value position;
  auto include = [&](Value step) {
    position = position ? add(position, step) : step;
  };
  for (auto [start, scale] : access.starts)
    include(mul(start, scale));
  for (auto [id, stride] : llvm::zip(point.ids, access.strides))
    if (stride)
      include(mul(id, stride));
  bool moves = llvm::any_of(form, [](auto group) { return group.second != 0; });
  if (moves)
    for (auto [id, group] : llvm::zip(delinearize(point.linear, sizes), form))
      if (group.second)
        include(mul(id, group.second));
  if (!position)
    return index(access.offset);
  return add(position, access.offset);
}

static bool usesIndices(const LoopNest &nest) {
  return llvm::any_of(nest.loops, [&](const NestLoop &loop) {
    return loop.size > 1 && loop.dim != KernelBody::noDim &&
           nest.usesIndex(loop.dim);
  });
}

/// The last loop from `firstLoop` on with more than one iteration, or -1.
static int getLaneLoop(const LoopNest &nest, unsigned firstLoop) {
  for (unsigned i = nest.loops.size(); i-- > firstLoop;)
    if (nest.loops[i].size > 1)
      return static_cast<int>(i);
  return -1;
}

bool ThreadCode::canUseLanes(const LoopNest &nest, unsigned firstLoop,
                             int64_t lanes) {
  int laneLoop = getLaneLoop(nest, firstLoop);
  if (laneLoop < 0)
    return lanes == 1;
  if (usesIndices(nest) && nest.loops[laneLoop].size % lanes)
    return false;
  return llvm::all_of(nest.accesses, [&](const NestAccess &access) {
    return !access.isMemRef ||
           getForm(nest, access, firstLoop).back().first % lanes == 0;
  });
}

/// The distance of an access from one lane to the next.
static int64_t getLaneStride(const LoopNest &nest, const NestAccess &access,
                             unsigned firstLoop) {
  AccessForm form = getForm(nest, access, firstLoop);
  return form.empty() ? 0 : form.back().second;
}

/// The known alignment, in bytes, of the first of `lanes` lanes.
static int64_t getAlignment(const LoopNest &nest, const NestAccess &access,
                            unsigned firstLoop, int64_t lanes) {
  int64_t elements = std::gcd(access.offset, lanes);
  for (auto [start, scale] : access.starts)
    elements = std::gcd(elements, scale);
  for (unsigned i = 0; i < firstLoop; ++i)
    elements = std::gcd(elements, access.strides[i]);
  AccessForm form = getForm(nest, access, firstLoop);
  for (size_t i = 0; i + 1 < form.size(); ++i)
    elements = std::gcd(elements, form[i].second);
  return std::min(elements * getByteWidth(access.elementType), vectorBytes);
}

Value ThreadCode::load(const LoopNest &nest, const NestAccess &access,
                       const Point &point, int64_t lanes) {
  LaneEmitter emitter(builder, loc, lanes, lanes);
  int64_t stride = getLaneStride(nest, access, point.firstLoop);
  emitter.setAlignment(getAlignment(nest, access, point.firstLoop, lanes));
  return emitter.load(flat(access.base), getPosition(nest, access, point),
                      stride);
}

void ThreadCode::store(Value value, const LoopNest &nest,
                       const NestAccess &access, const Point &point,
                       int64_t lanes) {
  LaneEmitter emitter(builder, loc, lanes, lanes);
  emitter.setAlignment(getAlignment(nest, access, point.firstLoop, lanes));
  emitter.store(value, flat(access.base), getPosition(nest, access, point),
                getLaneStride(nest, access, point.firstLoop));
}

/// Sets the values of linalg.index in the emitter.
static void mapIndices(ThreadCode &code, LaneEmitter &emitter,
                       const LoopNest &nest, const ThreadCode::Point &point) {
  SmallVector<int64_t> sizes;
  for (const NestLoop &loop : ArrayRef(nest.loops).drop_front(point.firstLoop))
    sizes.push_back(loop.size);
  SmallVector<Value> ids;
  int laneLoop = getLaneLoop(nest, point.firstLoop);
  for (unsigned dim = 0; dim < nest.op.getNumLoops(); ++dim) {
    if (!nest.usesIndex(dim))
      continue;
    if (ids.empty()) {
      ids = point.ids;
      llvm::append_range(ids, code.delinearize(point.linear, sizes));
    }
    auto it = llvm::find_if(
        nest.loops, [&](const NestLoop &loop) { return loop.dim == dim; });
    int loop = static_cast<int>(it - nest.loops.begin());
    if (it == nest.loops.end())
      emitter.mapIndex(dim, code.index(0), false);
    else
      emitter.mapIndex(dim, ids[loop], loop == laneLoop);
  }
}

SmallVector<Value>
ThreadCode::emitBody(const LoopNest &nest, const Point &point, int64_t lanes,
                     llvm::function_ref<Value(unsigned)> getInput,
                     ArrayRef<NestReduction> reductions) {
  LaneEmitter emitter(builder, loc, lanes, lanes);
  Block *block = nest.op.getBlock();
  for (auto [i, access] : llvm::enumerate(nest.accesses)) {
    if (!access.isRead || (!reductions.empty() && access.isWritten))
      continue;
    Value argument = block->getArgument(i);
    if (!access.isMemRef) {
      emitter.mapUniform(argument, access.base);
      continue;
    }
    Value value = getInput(i);
    if (!value)
      value = load(nest, access, point, lanes);
    if (isa<VectorType>(value.getType()))
      emitter.mapVector(argument, value);
    else
      emitter.mapUniform(argument, value);
  }
  mapIndices(*this, emitter, nest, point);
  for (Operation &op : block->without_terminator())
    if (llvm::none_of(reductions, [&](const NestReduction &reduction) {
          return reduction.combiner == &op;
        }))
      emitter.emit(&op);
  SmallVector<Value> results;
  for (const NestReduction &reduction : reductions)
    results.push_back(emitter.getVector(reduction.value));
  if (reductions.empty())
    for (Value value : block->getTerminator()->getOperands())
      results.push_back(emitter.getVector(value));
  return results;
}
