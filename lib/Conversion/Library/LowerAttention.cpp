//===- LowerAttention.cpp - attention as loops of scalars -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes on a CPU what the kernels of a GPU compute. No score is stored; each
// is computed again wherever it is used. This is for comparisons, not for
// speed.
//
//===----------------------------------------------------------------------===//

#include "veeline/Conversion/Attention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace veeline;
using veeline::pipe::AttentionBackwardKVOp;
using veeline::pipe::AttentionBackwardQOp;
using veeline::pipe::AttentionOp;
using veeline::pipe::AttentionOpInterface;

namespace {

/// The index of a query or a key: its batch and its row.
using Row = SmallVector<Value>;

class AttentionLoops {
public:
  AttentionLoops(OpBuilder &builder, AttentionOpInterface op)
      : builder(builder), loc(op.getLoc()), op(op),
        element(op.getAccumulatorType()) {}

  void emitForward(AttentionOp op);
  void emitQuery(AttentionBackwardQOp op);
  void emitKeyAndValue(AttentionBackwardKVOp op);

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value number(double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(element, value));
  }
  Value add(Value a, Value b) {
    return arith::AddFOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubFOp::create(builder, loc, a, b);
  }
  Value mul(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  Value widen(Value value);
  Value load(Value memref, ArrayRef<Value> row, Value column);
  void store(Value value, Value memref, ArrayRef<Value> row, Value column);
  void forEach(int64_t extent, llvm::function_ref<void(Value)> body);
  void forRows(ArrayRef<int64_t> shape, llvm::function_ref<void(Row)> body,
               Row row = {});
  Value reduce(int64_t extent, Value start,
               llvm::function_ref<Value(Value, Value)> body);
  Value dot(Value a, ArrayRef<Value> aRow, Value b, ArrayRef<Value> bRow);
  Row getKeyRow(ArrayRef<Value> query, Value key);
  Value isVisible(ArrayRef<Value> query, Value key);
  Value getScore(ArrayRef<Value> query, Value key);
  std::pair<Value, Value> getGradient(Value outputGrad, Value lse, Value delta,
                                      ArrayRef<Value> query, Value key);
  Value getSums(int64_t extent);
  void clear(Value sums);
  void addTo(Value sums, Value factor, Value memref, ArrayRef<Value> row);
  void write(Value sums, Value factor, Value memref, ArrayRef<Value> row);
  int64_t getShared();

  OpBuilder &builder;
  Location loc;
  AttentionOpInterface op;
  Type element;
};

} // namespace

Value AttentionLoops::widen(Value value) {
  if (value.getType() == element)
    return value;
  if (value.getType().getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth())
    return arith::TruncFOp::create(builder, loc, element, value);
  return arith::ExtFOp::create(builder, loc, element, value);
}

Value AttentionLoops::load(Value memref, ArrayRef<Value> row, Value column) {
  SmallVector<Value> place(row);
  if (column)
    place.push_back(column);
  return widen(memref::LoadOp::create(builder, loc, memref, place));
}

void AttentionLoops::store(Value value, Value memref, ArrayRef<Value> row,
                           Value column) {
  SmallVector<Value> place(row);
  if (column)
    place.push_back(column);
  Type type = cast<MemRefType>(memref.getType()).getElementType();
  if (type != element)
    value = arith::TruncFOp::create(builder, loc, type, value);
  memref::StoreOp::create(builder, loc, value, memref, place);
}

void AttentionLoops::forEach(int64_t extent,
                             llvm::function_ref<void(Value)> body) {
  auto loop =
      scf::ForOp::create(builder, loc, index(0), index(extent), index(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

/// Calls `body` for every index of a tensor of `shape`.
void AttentionLoops::forRows(ArrayRef<int64_t> shape,
                             llvm::function_ref<void(Row)> body, Row row) {
  if (shape.empty())
    return body(row);
  forEach(shape.front(), [&](Value position) {
    Row longer = row;
    longer.push_back(position);
    forRows(shape.drop_front(), body, longer);
  });
}

/// Emits a loop. `body` gets the value that it returned in the iteration
/// before, and `start` in the first one.
Value AttentionLoops::reduce(int64_t extent, Value start,
                             llvm::function_ref<Value(Value, Value)> body) {
  auto loop = scf::ForOp::create(builder, loc, index(0), index(extent),
                                 index(1), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value result = body(loop.getInductionVar(), loop.getRegionIterArgs()[0]);
  scf::YieldOp::create(builder, loc, result);
  return loop.getResult(0);
}

Value AttentionLoops::dot(Value a, ArrayRef<Value> aRow, Value b,
                          ArrayRef<Value> bRow) {
  int64_t extent = cast<MemRefType>(a.getType()).getShape().back();
  return reduce(extent, number(0), [&](Value column, Value sum) {
    return add(sum, mul(load(a, aRow, column), load(b, bRow, column)));
  });
}

/// The number of query heads for each head of keys and values.
int64_t AttentionLoops::getShared() {
  int64_t last = op.getNumBatchDims() - 1;
  return last < 0 ? 1
                  : op.getQueryType().getDimSize(last) /
                        op.getKeyType().getDimSize(last);
}

/// The index of key `key` in the query's batch.
Row AttentionLoops::getKeyRow(ArrayRef<Value> query, Value key) {
  Row row(query.drop_back());
  if (getShared() != 1)
    row.back() =
        arith::DivUIOp::create(builder, loc, row.back(), index(getShared()));
  row.push_back(key);
  return row;
}

/// The element of the mask, of any type, or null if there is no mask.
Value AttentionLoops::isVisible(ArrayRef<Value> query, Value key) {
  if (!op.getMask())
    return {};
  SmallVector<Value> place(query), own;
  place.push_back(key);
  ArrayRef<int64_t> dims = *op.getMaskDims();
  for (int64_t dim : dims)
    own.push_back(place[dim]);
  return memref::LoadOp::create(builder, loc, op.getMask(), own);
}

Value AttentionLoops::getScore(ArrayRef<Value> query, Value key) {
  Value score =
      mul(dot(op.getQuery(), query, op.getKey(), getKeyRow(query, key)),
          number(op.getScale().convertToDouble()));
  if (Value mask = isVisible(query, key))
    score = mask.getType().isInteger(1)
                ? arith::SelectOp::create(builder, loc, mask, score,
                                          number(op.getFillOrDefault()))
                      .getResult()
                : add(score, widen(mask));
  if (!op.getCausal())
    return score;
  Value isBehind = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ugt, key, query.back());
  return arith::SelectOp::create(
      builder, loc, isBehind, number(-std::numeric_limits<double>::infinity()),
      score);
}

/// The weight of a key, and the gradient of its score.
std::pair<Value, Value> AttentionLoops::getGradient(Value outputGrad, Value lse,
                                                    Value delta,
                                                    ArrayRef<Value> query,
                                                    Value key) {
  Value shifted = sub(getScore(query, key), load(lse, query, {}));
  Value weight = math::ExpOp::create(builder, loc, shifted);
  Value weightGrad =
      dot(outputGrad, query, op.getValue(), getKeyRow(query, key));
  Value gradient = mul(weight, sub(weightGrad, load(delta, query, {})));
  if (Value mask = isVisible(query, key))
    if (mask.getType().isInteger(1))
      gradient =
          arith::SelectOp::create(builder, loc, mask, gradient, number(0));
  return {weight, gradient};
}

/// Allocates a row of sums.
Value AttentionLoops::getSums(int64_t extent) {
  return memref::AllocaOp::create(builder, loc,
                                  MemRefType::get({extent}, element));
}

void AttentionLoops::clear(Value sums) {
  forEach(cast<MemRefType>(sums.getType()).getDimSize(0),
          [&](Value column) { store(number(0), sums, {}, column); });
}

void AttentionLoops::addTo(Value sums, Value factor, Value memref,
                           ArrayRef<Value> row) {
  forEach(cast<MemRefType>(sums.getType()).getDimSize(0), [&](Value column) {
    Value sum =
        add(load(sums, {}, column), mul(factor, load(memref, row, column)));
    store(sum, sums, {}, column);
  });
}

void AttentionLoops::write(Value sums, Value factor, Value memref,
                           ArrayRef<Value> row) {
  forEach(cast<MemRefType>(sums.getType()).getDimSize(0), [&](Value column) {
    store(mul(load(sums, {}, column), factor), memref, row, column);
  });
}

void AttentionLoops::emitForward(AttentionOp forward) {
  int64_t keys = op.getScoreShape().back();
  Value sums = getSums(op.getValueType().getShape().back());
  forRows(op.getQueryType().getShape().drop_back(), [&](const Row &query) {
    Value maximum =
        reduce(keys, number(-std::numeric_limits<double>::infinity()),
               [&](Value key, Value before) {
                 return arith::MaximumFOp::create(builder, loc, before,
                                                  getScore(query, key))
                     .getResult();
               });
    Value total = reduce(keys, number(0), [&](Value key, Value before) {
      Value shifted = sub(getScore(query, key), maximum);
      return add(before, math::ExpOp::create(builder, loc, shifted));
    });
    Value lse = add(maximum, math::LogOp::create(builder, loc, total));
    store(lse, forward.getLse(), query, {});
    clear(sums);
    forEach(keys, [&](Value key) {
      Value shifted = sub(getScore(query, key), maximum);
      Value weight = arith::DivFOp::create(
          builder, loc, math::ExpOp::create(builder, loc, shifted), total);
      addTo(sums, weight, op.getValue(), getKeyRow(query, key));
    });
    write(sums, number(1), forward.getOutput(), query);
  });
}

void AttentionLoops::emitQuery(AttentionBackwardQOp backward) {
  Value sums = getSums(op.getQueryType().getShape().back());
  forRows(op.getQueryType().getShape().drop_back(), [&](const Row &query) {
    clear(sums);
    forEach(op.getScoreShape().back(), [&](Value key) {
      Value gradient = getGradient(backward.getOutputGrad(), backward.getLse(),
                                   backward.getDelta(), query, key)
                           .second;
      addTo(sums, gradient, op.getKey(), getKeyRow(query, key));
    });
    write(sums, number(op.getScale().convertToDouble()),
          backward.getQueryGrad(), query);
  });
}

void AttentionLoops::emitKeyAndValue(AttentionBackwardKVOp backward) {
  int64_t shared = getShared();
  Value keySums = getSums(op.getKeyType().getShape().back());
  Value valueSums = getSums(op.getValueType().getShape().back());
  forRows(op.getKeyType().getShape().drop_back(), [&](const Row &row) {
    clear(keySums);
    clear(valueSums);
    forEach(shared, [&](Value member) {
      forEach(op.getQueryType().getDimSize(op.getNumBatchDims()),
              [&](Value position) {
                Row query(ArrayRef<Value>(row).drop_back());
                if (shared != 1)
                  query.back() = arith::AddIOp::create(
                      builder, loc,
                      arith::MulIOp::create(builder, loc, query.back(),
                                            index(shared)),
                      member);
                query.push_back(position);
                auto [weight, gradient] =
                    getGradient(backward.getOutputGrad(), backward.getLse(),
                                backward.getDelta(), query, row.back());
                addTo(keySums, gradient, op.getQuery(), query);
                addTo(valueSums, weight, backward.getOutputGrad(), query);
              });
    });
    write(keySums, number(op.getScale().convertToDouble()),
          backward.getKeyGrad(), row);
    write(valueSums, number(1), backward.getValueGrad(), row);
  });
}

LogicalResult veeline::lowerAttentionToLoops(RewriterBase &rewriter,
                                             AttentionOpInterface op) {
  if (isa<pipe::AttentionBackwardOp>(op.getOperation()))
    return op.emitError("both derivatives of an attention are not one loop; "
                        "run pipe-call-attention before");
  for (Type type : op->getOperandTypes()) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref || !memref.hasStaticShape())
      return op.emitError("lowering to loops needs operands that are memrefs "
                          "of static shape, found ")
             << type;
  }
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  AttentionLoops loops(rewriter, op);
  if (auto query = dyn_cast<AttentionBackwardQOp>(op.getOperation()))
    loops.emitQuery(query);
  else if (auto key = dyn_cast<AttentionBackwardKVOp>(op.getOperation()))
    loops.emitKeyAndValue(key);
  else
    loops.emitForward(cast<AttentionOp>(op.getOperation()));
  rewriter.eraseOp(op);
  return success();
}
