//===- ClipKernels.cpp - clipping by the norm as kernels ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations and their order are those of clipOf in
// runtime/src/engine/Coefficients.h. So norms with the same bits are clipped as
// on a host.
//
//===----------------------------------------------------------------------===//

#include "ClipKernels.h"
#include "UpdateKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

namespace {

/// Emits the code of one kernel function.
class ScalarWriter {
public:
  ScalarWriter(SymbolTable &symbols, StringRef name)
      : symbols(symbols), builder(symbols.getOp()->getContext()),
        loc(symbols.getOp()->getLoc()) {
    function = func::FuncOp::create(loc, name, builder.getFunctionType({}, {}));
    function.setPrivate();
    builder.setInsertionPointToStart(function.addEntryBlock());
  }

  Value addArgument(ArrayRef<int64_t> shape, Type type) {
    return function.getBody().front().addArgument(MemRefType::get(shape, type),
                                                  loc);
  }
  Type f64() { return builder.getF64Type(); }
  Value index(int64_t i) {
    return arith::ConstantIndexOp::create(builder, loc, i);
  }
  Value number(double x) {
    return arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(x));
  }
  Value load(Value buffer, Value i) {
    return memref::LoadOp::create(builder, loc, buffer, i);
  }
  void store(Value value, Value buffer, Value i) {
    memref::StoreOp::create(builder, loc, value, buffer, i);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  /// Emits a loop. `body` gets the number of the iteration, and the value that
  /// the last iteration returned; at first that is `start`, which may be null.
  Value loop(int64_t count, Value start,
             llvm::function_ref<Value(Value, Value)> body) {
    auto loop = scf::ForOp::create(
        builder, loc, index(0), index(count), index(1),
        start ? ValueRange(start) : ValueRange(),
        [&](OpBuilder &inner, Location, Value i, ValueRange sofar) {
          OpBuilder outer = builder;
          builder = inner;
          Value next = body(i, start ? sofar.front() : Value());
          scf::YieldOp::create(builder, loc,
                               start ? ValueRange(next) : ValueRange());
          builder = outer;
        });
    return start ? loop.getResult(0) : Value();
  }
  func::FuncOp finish() { return finishKernel(symbols, builder, function); }

  SymbolTable &symbols;
  OpBuilder builder;
  Location loc;
  func::FuncOp function;
};

} // namespace

func::FuncOp veeline::pipe::getAddPartsKernel(SymbolTable &symbols,
                                              int64_t parts) {
  std::string name = "pipe_add_parts_" + std::to_string(parts);
  if (auto function = symbols.lookup<func::FuncOp>(name))
    return function;
  ScalarWriter k(symbols, name);
  Value all = k.addArgument({parts}, k.f64()), sum = k.addArgument({}, k.f64());
  linalg::FillOp::create(k.builder, k.loc, k.number(0), sum);
  MLIRContext *context = k.builder.getContext();
  linalg::GenericOp::create(k.builder, k.loc, all, sum,
                            {AffineMap::getMultiDimIdentityMap(1, context),
                             AffineMap::get(1, 0, {}, context)},
                            utils::IteratorType::reduction,
                            [](OpBuilder &b, Location l, ValueRange values) {
                              Value sum = arith::AddFOp::create(b, l, values[1],
                                                                values[0]);
                              linalg::YieldOp::create(b, l, sum);
                            });
  return k.finish();
}

func::FuncOp veeline::pipe::getGatherKernel(SymbolTable &symbols,
                                            ArrayRef<int64_t> params,
                                            int64_t count, OtherNorms others) {
  std::string name = "pipe_gather_norms";
  for (int64_t param : params)
    name += "_" + std::to_string(param);
  name += others == OtherNorms::Zero     ? "_of_"
          : others == OtherNorms::Copied ? "_copied_to_"
                                         : "_within_";
  name += std::to_string(count);
  if (auto function = symbols.lookup<func::FuncOp>(name))
    return function;
  ScalarWriter k(symbols, name);
  SmallVector<Value> norms;
  for (size_t i = 0; i < params.size(); ++i)
    norms.push_back(k.addArgument({}, k.f64()));
  Value before =
      others == OtherNorms::Copied ? k.addArgument({count}, k.f64()) : Value();
  Value all = k.addArgument({count}, k.f64());
  k.loop(count, /*start=*/{}, [&](Value i, Value) {
    Value norm = others == OtherNorms::Zero ? k.number(0)
                                            : k.load(before ? before : all, i);
    for (auto [param, of] : llvm::zip_equal(params, norms)) {
      Value isOf = arith::CmpIOp::create(
          k.builder, k.loc, arith::CmpIPredicate::eq, i, k.index(param));
      Value own = memref::LoadOp::create(k.builder, k.loc, of, ValueRange());
      norm = k.select(isOf, own, norm);
    }
    k.store(norm, all, i);
    return Value();
  });
  return k.finish();
}

func::FuncOp veeline::pipe::getChooseKernel(SymbolTable &symbols,
                                            int64_t bytes) {
  std::string name = "pipe_choose_settings_" + std::to_string(bytes);
  if (auto function = symbols.lookup<func::FuncOp>(name))
    return function;
  ScalarWriter k(symbols, name);
  int64_t words = bytes / 8;
  Type word = k.builder.getI64Type();
  Value outcome = k.addArgument({numClipOutcomes}, k.f64());
  Value usual = k.addArgument({words}, word);
  Value afterSkip = k.addArgument({words}, word);
  Value chosen = k.addArgument({words}, word);
  MLIRContext *context = k.builder.getContext();
  auto layout = StridedLayoutAttr::get(context, clipSkips, {});
  Value skips = memref::ReinterpretCastOp::create(
      k.builder, k.loc, MemRefType::get({}, k.f64(), layout), outcome,
      clipSkips, ArrayRef<int64_t>(), ArrayRef<int64_t>());
  AffineMap all = AffineMap::getMultiDimIdentityMap(1, context);
  linalg::GenericOp::create(
      k.builder, k.loc, ValueRange{skips, usual, afterSkip}, chosen,
      {AffineMap::get(1, 0, {}, context), all, all, all},
      utils::IteratorType::parallel,
      [&](OpBuilder &b, Location l, ValueRange values) {
        Value zero = arith::ConstantOp::create(b, l, b.getF64FloatAttr(0));
        Value hasSkipped = arith::CmpFOp::create(
            b, l, arith::CmpFPredicate::OGT, values[0], zero);
        Value word =
            arith::SelectOp::create(b, l, hasSkipped, values[2], values[1]);
        linalg::YieldOp::create(b, l, word);
      });
  return k.finish();
}

/// One thread computes everything.
func::FuncOp veeline::pipe::getClipKernel(SymbolTable &symbols, int64_t count) {
  std::string name = "pipe_clip_" + std::to_string(count);
  if (auto function = symbols.lookup<func::FuncOp>(name))
    return function;
  ScalarWriter k(symbols, name);
  Value squares = k.addArgument({count}, k.f64());
  Value limits = k.addArgument({2}, k.f64());
  Value outcome = k.addArgument({numClipOutcomes}, k.f64());
  using Predicate = arith::CmpFPredicate;
  k.loop(1, /*start=*/{}, [&](Value, Value) {
    auto add = [&](Value i, Value sum) -> Value {
      return arith::AddFOp::create(k.builder, k.loc, sum, k.load(squares, i));
    };
    Value sum = k.loop(count, k.number(0), add);
    Value norm = math::SqrtOp::create(k.builder, k.loc, sum);
    Value limit = k.load(limits, k.index(0));
    Value ratio = arith::DivFOp::create(k.builder, k.loc, limit, norm);
    Value factor =
        k.select(k.compare(Predicate::OGT, norm, limit), ratio, k.number(1));
    Value infinite = k.number(std::numeric_limits<double>::infinity());
    // NaN is not less, so it counts as not finite.
    Value isFinite = k.compare(Predicate::OLT, norm, infinite);
    Value skips = k.select(isFinite, k.number(0), k.load(limits, k.index(1)));
    k.store(norm, outcome, k.index(clipNorm));
    k.store(factor, outcome, k.index(clipFactor));
    k.store(skips, outcome, k.index(clipSkips));
    return Value();
  });
  return k.finish();
}
