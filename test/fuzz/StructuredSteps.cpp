//===- StructuredSteps.cpp - products, reductions, norms ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"
#include "ScalarBody.h"

#include <algorithm>

using namespace veeline::fuzz;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The text of a product that is a named op.
static std::string productText(const ModelWriter &writer,
                               const std::string &opcode, const Tensor &x,
                               const Tensor &y, const std::string &init,
                               const Shape &shape) {
  std::string type = writer.typeOf(shape);
  return opcode + " ins(" + x.name() + ", " + y.name() + " : " +
         writer.typeOf(x.shape) + ", " + writer.typeOf(y.shape) + ") outs(" +
         init + " : " + type + ") -> " + type;
}

static std::string mapsText(size_t loops, const std::vector<std::string> &x,
                            const std::vector<std::string> &y,
                            const std::vector<std::string> &out) {
  return " indexing_maps = [" + affineMap(loops, x) + ", " +
         affineMap(loops, y) + ", " + affineMap(loops, out) + "]";
}

void GraphBuilder::addMatmul() {
  Tensor x = pickOfRank(2, 2);
  bool transposeX = random.chance(0.25), transposeY = random.chance(0.4);
  int64_t m = x.shape[transposeX ? 1 : 0], k = x.shape[transposeX ? 0 : 1];
  int64_t n = random.chance(0.2) ? 1 : random.between(2, 6);
  // Sometimes the other operand is an existing value.
  const Tensor *known = pickThat([&](const Tensor &tensor) {
    return tensor.shape.size() == 2 && tensor.shape[transposeY ? 1 : 0] == k;
  });
  if (known && random.chance(0.5))
    n = known->shape[transposeY ? 0 : 1];
  Tensor y = valueOf(transposeY ? Shape{n, k} : Shape{k, n});
  double bound = x.bound * y.bound * static_cast<double>(k);
  std::string init;
  if (random.chance(0.25)) {
    Tensor start = valueOf({m, n});
    init = start.name();
    bound += start.bound;
  } else {
    init = writer.fill({m, n}, "0.0");
  }
  std::string maps;
  if (transposeX || transposeY)
    maps = mapsText(3,
                    transposeX ? std::vector<std::string>{"d2", "d0"}
                               : std::vector<std::string>{"d0", "d2"},
                    transposeY ? std::vector<std::string>{"d1", "d2"}
                               : std::vector<std::string>{"d2", "d1"},
                    {"d0", "d1"});
  keep(writer.define(
      {m, n}, bound,
      productText(writer, "linalg.matmul" + maps, x, y, init, {m, n})));
}

void GraphBuilder::addBatchMatmul() {
  Tensor x = pickOfRank(3, 3);
  bool transposeY = random.chance(0.5);
  int64_t b = x.shape[0], m = x.shape[1], k = x.shape[2];
  bool square = random.chance(0.3); // As in the scores of attention.
  Tensor y = square && transposeY
                 ? x
                 : valueOf(transposeY ? Shape{b, random.between(1, 4), k}
                                      : Shape{b, k, random.between(1, 4)});
  int64_t n = y.shape[transposeY ? 1 : 2];
  std::string init = writer.fill({b, m, n}, "0.0");
  std::string maps;
  if (transposeY)
    maps =
        mapsText(4, {"d0", "d1", "d3"}, {"d0", "d2", "d3"}, {"d0", "d1", "d2"});
  keep(writer.define({b, m, n}, x.bound * y.bound * static_cast<double>(k),
                     productText(writer, "linalg.batch_matmul" + maps, x, y,
                                 init, {b, m, n})));
}

void GraphBuilder::addVectorProduct() {
  Tensor x = pickOfRank(1, 2);
  if (x.shape.size() == 2) {
    bool right = random.chance(0.5);
    int64_t k = x.shape[right ? 1 : 0], n = x.shape[right ? 0 : 1];
    Tensor y = valueOf({k});
    std::string init = writer.fill({n}, "0.0");
    double bound = x.bound * y.bound * static_cast<double>(k);
    keep(writer.define(
        {n}, bound,
        right ? productText(writer, "linalg.matvec", x, y, init, {n})
              : productText(writer, "linalg.vecmat", y, x, init, {n})));
    return;
  }
  Tensor y = valueOf(x.shape);
  std::string init = writer.fill({}, "0.0");
  keep(writer.define({}, x.bound * y.bound * static_cast<double>(x.shape[0]),
                     productText(writer, "linalg.dot", x, y, init, {})));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

void GraphBuilder::addReduction() {
  Tensor x = pickOfRank(1, 4);
  Generic op;
  op.loops = x.shape.size();
  Shape shape;
  std::vector<std::string> kept;
  double summands = 1;
  for (size_t i = 0; i < op.loops; ++i)
    if (random.chance(0.5) || (i + 1 == op.loops && op.reductions.empty())) {
      op.reductions.push_back(i);
      summands *= static_cast<double>(x.shape[i]);
    } else {
      shape.push_back(x.shape[i]);
      kept.push_back("d" + std::to_string(i));
    }
  int64_t kind = random.below(6);
  std::string opcode = kind < 4    ? "arith.addf"
                       : kind == 4 ? "arith.maximumf"
                                   : "arith.minimumf";
  double bound = x.bound * (kind < 4 ? summands : 1);
  std::string init;
  if (random.chance(0.25)) {
    Tensor start = valueOf(shape);
    init = start.name();
    bound += start.bound;
  } else {
    init = writer.fill(shape, kind < 4 ? "0.0" : writer.infinity(kind == 4));
  }
  if (random.chance(0.4)) {
    std::vector<int64_t> dims(op.reductions.begin(), op.reductions.end());
    keep(writer.define(shape, bound,
                       "linalg.reduce { " + opcode + " } ins(" + x.name() +
                           " : " + writer.typeOf(x.shape) + ") outs(" + init +
                           " : " + writer.typeOf(shape) +
                           ") dimensions = " + listOf(dims)));
    return;
  }
  op.inputs = {writer.operand(x, identityDims(op.loops))};
  op.init = {init, writer.typeOf(shape), kept};
  ScalarBody body(random, writer.element(), static_cast<int64_t>(op.loops));
  body.add("%a0", x.bound);
  std::string value = "%a0";
  if (random.chance(0.5)) {
    ScalarBody::Scalar grown = body.grow(random.between(1, 3));
    value = grown.name;
    bound += grown.bound * summands;
  }
  op.body = body.finish(body.op(opcode, value + ", %out"));
  keep(writer.generic(op, shape, bound));
}

/// Reduces the last dimension.
Tensor GraphBuilder::reduceRows(const Tensor &x, const std::string &opcode) {
  Shape shape(x.shape.begin(), x.shape.end() - 1);
  bool isSum = opcode == "arith.addf";
  Generic op;
  op.loops = x.shape.size();
  op.reductions = {op.loops - 1};
  op.inputs = {writer.operand(x, identityDims(op.loops))};
  op.init = {writer.fill(shape, isSum ? "0.0" : writer.infinity(true)),
             writer.typeOf(shape), identityDims(op.loops - 1)};
  ScalarBody body(random, writer.element(), 0);
  op.body = body.finish(body.op(opcode, "%a0, %out"));
  return writer.generic(op, shape,
                        isSum ? x.bound * static_cast<double>(x.shape.back())
                              : x.bound);
}

/// An elementwise op on `x` and what was reduced from its rows.
Tensor GraphBuilder::zipRows(const Tensor &x, const Tensor &rows,
                             const std::string &body, double bound) {
  Generic op;
  op.loops = x.shape.size();
  op.inputs = {writer.operand(x, identityDims(op.loops)),
               writer.operand(rows, identityDims(op.loops - 1))};
  op.init = {writer.empty(x.shape), writer.typeOf(x.shape),
             identityDims(op.loops)};
  op.body = body;
  return writer.generic(op, x.shape, bound);
}

/// An elementwise op on what was reduced from rows.
Tensor GraphBuilder::onRows(const Tensor &rows, const std::string &body,
                            double bound) {
  Generic op;
  op.loops = rows.shape.size();
  op.inputs = {writer.operand(rows, identityDims(op.loops))};
  op.init = {writer.empty(rows.shape), writer.typeOf(rows.shape),
             identityDims(op.loops)};
  op.body = body;
  return writer.generic(op, rows.shape, bound);
}

/// Softmax of the rows, sometimes with a causal mask if there are two
/// dimensions.
void GraphBuilder::addSoftmax() {
  Tensor x = pickOfRank(1, 4);
  std::string type = writer.typeOf(x.shape);
  if (random.chance(0.25)) {
    std::string init = writer.empty(x.shape);
    std::string dim =
        std::to_string(random.below(static_cast<int64_t>(x.shape.size())));
    keep(writer.define(x.shape, 1,
                       "linalg.softmax dimension(" + dim + ") ins(" + x.name() +
                           " : " + type + ") outs(" + init + " : " + type +
                           ") -> " + type));
    return;
  }
  size_t rank = x.shape.size();
  if (rank >= 2 && random.chance(0.4)) {
    ScalarBody mask(random, writer.element(), 0);
    std::string row =
        mask.line("linalg.index " + std::to_string(rank - 2) + " : index");
    std::string column =
        mask.line("linalg.index " + std::to_string(rank - 1) + " : index");
    std::string visible =
        mask.line("arith.cmpi ule, " + column + ", " + row + " : index");
    std::string hidden = mask.line("arith.constant " + writer.infinity(true) +
                                   " : " + writer.element());
    x = onRows(
        x, mask.finish(mask.op("arith.select", visible + ", %a0, " + hidden)),
        x.bound);
  }
  Tensor top = reduceRows(x, "arith.maximumf");
  ScalarBody difference(random, writer.element(), 0);
  std::string power =
      difference.op("math.exp", difference.op("arith.subf", "%a0, %a1"));
  Tensor powers = zipRows(x, top, difference.finish(power), 1);
  Tensor sum = reduceRows(powers, "arith.addf");
  ScalarBody quotient(random, writer.element(), 0);
  keep(zipRows(powers, sum,
               quotient.finish(quotient.op("arith.divf", "%a0, %a1")), 1));
}

/// Layer norm with a scale, or RMS norm, which does not subtract the mean.
void GraphBuilder::addLayerNorm() {
  Tensor x = pickOfRank(1, 3);
  double share = 1 / static_cast<double>(x.shape.back());
  auto scale = [&](ScalarBody &body, const std::string &value) {
    return body.op("arith.mulf",
                   value + ", " +
                       body.line("arith.constant " + literal(share) + " : " +
                                 writer.element()));
  };
  if (random.chance(0.6)) {
    ScalarBody mean(random, writer.element(), 0);
    Tensor means = onRows(reduceRows(x, "arith.addf"),
                          mean.finish(scale(mean, "%a0")), x.bound);
    ScalarBody center(random, writer.element(), 0);
    x = zipRows(x, means, center.finish(center.op("arith.subf", "%a0, %a1")),
                2 * x.bound);
  }
  ScalarBody square(random, writer.element(), 0);
  Tensor squares = onRows(x, square.finish(square.op("arith.mulf", "%a0, %a0")),
                          x.bound * x.bound);
  ScalarBody root(random, writer.element(), 0);
  std::string epsilon = root.line("arith.constant 0.1 : " + writer.element());
  std::string variance =
      root.op("arith.addf", scale(root, "%a0") + ", " + epsilon);
  Tensor inverse = onRows(reduceRows(squares, "arith.addf"),
                          root.finish(root.op("math.rsqrt", variance)), 3.2);
  ScalarBody product(random, writer.element(), 0);
  Tensor normed =
      zipRows(x, inverse, product.finish(product.op("arith.mulf", "%a0, %a1")),
              static_cast<double>(x.shape.back()));
  Tensor gain = valueOf({x.shape.back()});
  Generic op;
  op.loops = x.shape.size();
  op.inputs = {writer.operand(normed, identityDims(op.loops)),
               writer.operand(gain, {"d" + std::to_string(op.loops - 1)})};
  op.init = {writer.empty(x.shape), writer.typeOf(x.shape),
             identityDims(op.loops)};
  ScalarBody body(random, writer.element(), 0);
  op.body = body.finish(body.op("arith.mulf", "%a0, %a1"));
  keep(writer.generic(op, x.shape, normed.bound * gain.bound));
}
