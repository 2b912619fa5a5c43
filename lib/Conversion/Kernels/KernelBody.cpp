//===- KernelBody.cpp - the content of a kernel function ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace veeline;

/// True for an argument of the kernel.
static bool isOfCaller(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument &&
         isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

/// Adds `scale * value` to the start of `access` and to `strides`, which has
/// one entry for each of `ids`. Returns false if `value` is not a linear
/// function of `ids` and of numbers of the caller.
static bool addLinear(Value value, int64_t scale, ValueRange ids,
                      MutableArrayRef<int64_t> strides, NestAccess &access) {
  auto it = llvm::find(ids, value);
  if (it != ids.end()) {
    strides[it - ids.begin()] += scale;
    return true;
  }
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number))) {
    access.offset += scale * number.getSExtValue();
    return true;
  }
  if (isOfCaller(value)) {
    access.starts.emplace_back(value, scale);
    return true;
  }
  if (auto add = value.getDefiningOp<arith::AddIOp>())
    return addLinear(add.getLhs(), scale, ids, strides, access) &&
           addLinear(add.getRhs(), scale, ids, strides, access);
  auto product = value.getDefiningOp<arith::MulIOp>();
  if (!product)
    return false;
  for (auto [factor, rest] : {std::pair(product.getRhs(), product.getLhs()),
                              std::pair(product.getLhs(), product.getRhs())})
    if (matchPattern(factor, m_ConstantInt(&number)))
      return addLinear(rest, scale * number.getSExtValue(), ids, strides,
                       access);
  return false;
}

/// Replaces the base of `access`, a view, by the buffer that it is a view of,
/// and prepends one stride for each of `ids`.
static bool resolve(NestAccess &access, ValueRange ids) {
  SmallVector<int64_t> strides(ids.size(), 0);
  while (access.isMemRef) {
    if (auto cast = access.base.getDefiningOp<memref::CastOp>()) {
      access.base = cast.getSource();
      continue;
    }
    auto view = access.base.getDefiningOp<memref::ReinterpretCastOp>();
    if (!view)
      break;
    OpFoldResult offset = view.getMixedOffsets().front();
    if (std::optional<int64_t> number = getConstantIntValue(offset))
      access.offset += *number;
    else if (!addLinear(cast<Value>(offset), 1, ids, strides, access))
      return false;
    access.base = view.getSource();
    // The offset of this cast counts from the start of the buffer.
    break;
  }
  if (access.isMemRef) {
    auto type = cast<MemRefType>(access.base.getType());
    if (!type.getLayout().isIdentity() || !type.hasStaticShape())
      return false;
  }
  access.strides.insert(access.strides.begin(), strides.begin(), strides.end());
  return true;
}

static LogicalResult addNest(KernelBody &body, linalg::LinalgOp op) {
  FailureOr<LoopNest> nest = LoopNest::get(op);
  if (failed(nest))
    return failure();
  SmallVector<Value> ids;
  if (body.rows)
    ids = body.rows.getInductionVars();
  for (NestAccess &access : nest->accesses)
    if (!resolve(access, ids))
      return op.emitError(
                 "a kernel's operand needs a place in one of its "
                 "buffers that is a linear function of the rows, found ")
             << access.base;
  if (body.rows) {
    SmallVector<NestLoop> loops;
    for (int64_t size : body.rows.getStaticUpperBound())
      loops.push_back({size, false, KernelBody::noDim});
    nest->loops.insert(nest->loops.begin(), loops.begin(), loops.end());
  }
  body.nests.push_back(std::move(*nest));
  return success();
}

static bool startsAtZero(scf::ForallOp rows) {
  return rows.isNormalized() && rows.getOutputs().empty() &&
         llvm::none_of(rows.getStaticUpperBound(), ShapedType::isDynamic);
}

FailureOr<KernelBody> KernelBody::read(Block &block) {
  KernelBody body;
  for (auto rows : block.getOps<scf::ForallOp>()) {
    if (body.rows || !startsAtZero(rows) ||
        !block.getOps<linalg::LinalgOp>().empty())
      return rows.emitError("a kernel needs one loop over rows around all its "
                            "ops, which counts from 0 to a constant");
    body.rows = rows;
  }
  if (body.rows)
    body.numRowLoops = body.rows.getRank();
  Block &ops = body.rows ? *body.rows.getBody() : block;
  for (auto op : ops.getOps<linalg::LinalgOp>())
    if (failed(addNest(body, op)))
      return failure();
  return body;
}

FailureOr<KernelBody> KernelBody::readWithSums(Block &block) {
  SmallVector<linalg::LinalgOp> ops(block.getOps<linalg::LinalgOp>());
  for (linalg::LinalgOp op : ops)
    op->remove();
  FailureOr<KernelBody> body = read(block);
  for (linalg::LinalgOp op : ops)
    block.getOperations().insert(Block::iterator(block.getTerminator()), op);
  if (failed(body))
    return failure();
  for (linalg::LinalgOp op : ops) {
    FailureOr<LoopNest> nest = LoopNest::get(op);
    if (failed(nest))
      return failure();
    for (NestAccess &access : nest->accesses)
      if (!resolve(access, ValueRange()))
        return op.emitError("a sum of rows needs operands at static places, "
                            "found ")
               << access.base;
    body->sums.push_back(std::move(*nest));
  }
  return body;
}

bool KernelBody::capturesRows() const {
  if (!rows)
    return false;
  for (const LoopNest &nest : nests) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(*nest.op.getBlock()->getParent(), captured);
    if (llvm::any_of(captured, [&](Value value) {
          return value.getParentBlock() == rows.getBody();
        }))
      return true;
  }
  return false;
}

AccessForm veeline::getForm(const LoopNest &nest, const NestAccess &access,
                            unsigned firstLoop) {
  AccessForm form;
  for (unsigned i = firstLoop; i < nest.loops.size(); ++i) {
    int64_t size = nest.loops[i].size, stride = access.strides[i];
    if (size == 1)
      continue;
    if (!form.empty() && form.back().second == stride * size) {
      form.back().first *= size;
      form.back().second = stride;
    } else {
      form.emplace_back(size, stride);
    }
  }
  return form;
}

int64_t veeline::countIterations(const LoopNest &nest, unsigned firstLoop) {
  int64_t count = 1;
  for (const NestLoop &loop : ArrayRef(nest.loops).drop_front(firstLoop))
    count *= loop.size;
  return count;
}

bool veeline::isUniform(const LoopNest &nest, const NestAccess &access,
                        unsigned firstLoop) {
  return llvm::all_of(getForm(nest, access, firstLoop),
                      [](auto group) { return group.second == 0; });
}

/// True if every thread of a row knows the value that `nest` writes to a
/// uniform place. That is so if `nest` is a reduction, or has only one
/// iteration.
static bool isKnownToAll(const LoopNest &nest, unsigned firstLoop) {
  return countIterations(nest, firstLoop) == 1 || nest.hasReduction();
}

static bool sharePlace(const LoopNest &a, const NestAccess &left,
                       const LoopNest &b, const NestAccess &right,
                       unsigned firstLoop) {
  auto rows = [&](const NestAccess &access) {
    return ArrayRef(access.strides).take_front(firstLoop);
  };
  if (rows(left) != rows(right) || !left.startsWith(right))
    return false;
  if (isUniform(a, left, firstLoop) && isUniform(b, right, firstLoop))
    return (!left.isWritten || isKnownToAll(a, firstLoop)) &&
           (!right.isWritten || isKnownToAll(b, firstLoop));
  // A reduction writes to one place for each row, so no form can match it.
  auto writesMany = [](const LoopNest &nest, const NestAccess &access) {
    return nest.hasReduction() && access.isWritten;
  };
  return !writesMany(a, left) && !writesMany(b, right) &&
         getForm(a, left, firstLoop) == getForm(b, right, firstLoop);
}

bool veeline::sharePlaces(ArrayRef<LoopNest> nests, unsigned firstLoop) {
  for (const LoopNest &a : nests)
    for (const LoopNest &b : nests)
      for (const NestAccess &left : a.accesses)
        for (const NestAccess &right : b.accesses)
          if (left.isMemRef && right.isMemRef && left.base == right.base &&
              (left.isWritten || right.isWritten) &&
              !sharePlace(a, left, b, right, firstLoop))
            return false;
  return true;
}

bool veeline::isRowBuffer(Value base) {
  return base.getDefiningOp<memref::AllocaOp>() != nullptr;
}
