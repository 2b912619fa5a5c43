//===- GraphBuilder.cpp - grows a random graph of ops ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values, elementwise ops and the loss; the other ops are in
// StructuredSteps.cpp, WindowSteps.cpp, LoopSteps.cpp and MovementSteps.cpp.
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"

#include "ScalarBody.h"

#include <algorithm>
#include <set>

using namespace veeline::fuzz;

/// No value of a model has more elements.
static int64_t maxElements(Sizes sizes) {
  return sizes == Sizes::small ? 144 : 30000;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

int64_t GraphBuilder::randomSize(int64_t rank) {
  if (random.chance(0.15))
    return 1;
  if (sizes == Sizes::small)
    return random.between(2, rank > 2 ? 4 : 6);
  if (random.chance(0.3))
    return random.between(2, 9);
  // Multiples of the sizes of threads' accesses, warps and blocks, and other
  // sizes.
  static const std::vector<int64_t> some = {12, 16,  31,  32,  33,  40, 64,
                                            77, 100, 127, 128, 130, 160},
                                    more = {200,  256,  257,  320,  511,  513,
                                            1000, 1024, 1026, 1500, 2048, 2500,
                                            4096, 5000, 8192, 8200, 9000};
  return random.oneOf(rank > 2 || random.chance(0.6) ? some : more);
}

Shape GraphBuilder::randomShape(int64_t minRank, int64_t maxRank) {
  int64_t rank = random.between(minRank, maxRank);
  Shape shape(static_cast<size_t>(rank));
  do {
    for (int64_t &size : shape)
      size = randomSize(rank);
  } while (numElements(shape) > maxElements(sizes));
  return shape;
}

const Tensor &GraphBuilder::pick() {
  return *pickThat([](const Tensor &) { return true; });
}

const Tensor *
GraphBuilder::pickThat(const std::function<bool(const Tensor &)> &fits) {
  // Half of the time, values that no op uses yet come first, so that few ops
  // are dead.
  std::set<ValueId> used;
  if (random.chance(0.5))
    for (const Step &step : writer.model.steps)
      for (ValueId operand : Model::operandsOf(step))
        used.insert(operand);
  std::vector<const Tensor *> fitting, unused;
  for (const Tensor &tensor : pool)
    if (fits(tensor)) {
      fitting.push_back(&tensor);
      if (!used.contains(tensor.id))
        unused.push_back(&tensor);
    }
  if (fitting.empty())
    return nullptr;
  if (!unused.empty())
    fitting = unused;
  int64_t count = static_cast<int64_t>(fitting.size());
  return fitting[static_cast<size_t>(
      std::max(random.below(count), random.below(count)))];
}

Tensor GraphBuilder::pickOfRank(size_t low, size_t high) {
  const Tensor *tensor = pickThat([&](const Tensor &candidate) {
    return candidate.shape.size() >= low && candidate.shape.size() <= high;
  });
  if (tensor)
    return *tensor;
  pool.push_back(writer.batch(
      randomShape(static_cast<int64_t>(low), static_cast<int64_t>(high))));
  return pool.back();
}

Tensor GraphBuilder::valueOf(const Shape &shape) {
  const Tensor *known =
      pickThat([&](const Tensor &tensor) { return tensor.shape == shape; });
  if (known && random.chance(0.6))
    return *known;
  int64_t kind = random.below(8);
  pool.insert(pool.begin(), kind == 0   ? writer.batch(shape)
                            : kind == 1 ? writer.buffer(shape)
                                        : writer.parameter(shape));
  return pool.front();
}

ValueId GraphBuilder::indicesOf(const Shape &shape) {
  for (const auto &[value, known] : indices)
    if (known == shape && random.chance(0.5))
      return value;
  indices.emplace_back(writer.integers(shape), shape);
  return indices.back().first;
}

void GraphBuilder::keep(Tensor tensor) {
  if (tensor.bound > 4) {
    std::string type = writer.typeOf(tensor.shape);
    if (random.chance(0.5)) {
      tensor = writer.define(tensor.shape, 1,
                             "math.tanh " + tensor.name() + " : " + type);
    } else {
      std::string scale = writer.temp(
          "arith.constant dense<" + literal(2 / tensor.bound) + "> : " + type);
      tensor = writer.define(tensor.shape, 2,
                             "arith.mulf " + tensor.name() + ", " + scale +
                                 " : " + type);
    }
  }
  pool.push_back(tensor);
}

std::optional<std::vector<std::string>>
GraphBuilder::broadcastDims(const Shape &shape, const Shape &output) {
  std::vector<bool> taken(output.size(), false);
  std::vector<std::string> dims;
  for (int64_t size : shape) {
    std::vector<size_t> choices;
    for (size_t i = 0; i < output.size(); ++i)
      if (!taken[i] && output[i] == size)
        choices.push_back(i);
    if (size == 1 && (choices.empty() || random.chance(0.5))) {
      dims.push_back("0");
      continue;
    }
    if (choices.empty())
      return std::nullopt;
    size_t choice = random.oneOf(choices);
    taken[choice] = true;
    dims.push_back("d" + std::to_string(choice));
  }
  return dims;
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

void GraphBuilder::addTensorOp() {
  Tensor x = pick(), y = valueOf(x.shape);
  std::string type = writer.typeOf(x.shape);
  static const std::vector<std::string> opcodes = {
      "arith.addf", "arith.subf", "arith.mulf", "arith.maximumf",
      "arith.minimumf"};
  const std::string &opcode = random.oneOf(opcodes);
  double bound = opcode == "arith.mulf" ? x.bound * y.bound : x.bound + y.bound;
  if (random.chance(0.2) && opcode != "arith.maximumf" &&
      opcode != "arith.minimumf") {
    std::string named = "linalg." + opcode.substr(6, 3);
    std::string init = writer.empty(x.shape);
    keep(writer.define(x.shape, bound,
                       named + " ins(" + x.name() + ", " + y.name() + " : " +
                           type + ", " + type + ") outs(" + init + " : " +
                           type + ") -> " + type));
    return;
  }
  keep(writer.define(x.shape, bound,
                     opcode + " " + x.name() + ", " + y.name() + " : " + type));
}

void GraphBuilder::addUnaryTensorOp() {
  static const std::vector<std::string> opcodes = {
      "math.tanh", "math.sin", "math.cos", "math.erf", "math.atan"};
  Tensor x = pick();
  keep(writer.define(x.shape, 1.6,
                     random.oneOf(opcodes) + " " + x.name() + " : " +
                         writer.typeOf(x.shape)));
}

/// A structured op over the shape of a value (or a permutation of it) that
/// reads other values through broadcasts.
void GraphBuilder::addElementwise() {
  Tensor x = pick();
  Generic op;
  op.loops = x.shape.size();
  std::vector<std::string> dims = identityDims(op.loops);
  for (size_t i = dims.size(); i > 1 && random.chance(0.3); --i)
    std::swap(dims[i - 1],
              dims[static_cast<size_t>(random.below(static_cast<int64_t>(i)))]);
  Shape output(op.loops);
  for (size_t i = 0; i < op.loops; ++i)
    output[static_cast<size_t>(std::stoi(dims[i].substr(1)))] = x.shape[i];
  ScalarBody body(random, writer.element(), static_cast<int64_t>(op.loops));
  op.inputs.push_back(writer.operand(x, dims));
  body.add("%a0", x.bound);
  for (int64_t i = random.below(3); i > 0; --i) {
    Tensor other = pick();
    auto otherDims = broadcastDims(other.shape, output);
    if (!otherDims)
      continue;
    body.add("%a" + std::to_string(op.inputs.size()), other.bound);
    op.inputs.push_back(writer.operand(other, *otherDims));
  }
  bool readsInit = random.chance(0.15);
  std::string init;
  if (readsInit) {
    Tensor value = valueOf(output);
    init = value.name();
    body.add("%out", value.bound);
  } else {
    init = writer.empty(output);
  }
  op.init = {init, writer.typeOf(output), identityDims(op.loops)};
  ScalarBody::Scalar result = body.grow(random.between(1, 5));
  op.body = body.finish(result.name);
  keep(writer.generic(op, output, result.bound));
}

/// An elementwise op that uses a scalar from outside.
void GraphBuilder::addCapture() {
  Tensor source = pick();
  std::string subscripts;
  for (int64_t size : source.shape) {
    std::string index = writer.temp(
        "arith.constant " + std::to_string(random.below(size)) + " : index");
    subscripts += (subscripts.empty() ? "" : ", ") + index;
  }
  std::string scalar =
      writer.temp("tensor.extract " + source.name() + "[" + subscripts +
                  "] : " + writer.typeOf(source.shape));
  if (random.chance(0.3)) {
    Shape shape = randomShape(1, 2);
    keep(
        writer.define(shape, source.bound,
                      "tensor.splat " + scalar + " : " + writer.typeOf(shape)));
    return;
  }
  Tensor x = pick();
  Generic op;
  op.loops = x.shape.size();
  op.inputs.push_back(writer.operand(x, identityDims(op.loops)));
  op.init = {writer.empty(x.shape), writer.typeOf(x.shape),
             identityDims(op.loops)};
  ScalarBody body(random, writer.element(), static_cast<int64_t>(op.loops));
  // The scalar must be used: pieces would count dead code.
  body.add(body.op("arith.mulf", "%a0, " + scalar), x.bound * source.bound);
  body.add("%a0", x.bound);
  body.add(scalar, source.bound);
  ScalarBody::Scalar result = body.grow(random.between(1, 4));
  op.body = body.finish(result.name);
  keep(writer.generic(op, x.shape, result.bound));
}

void GraphBuilder::addBias() {
  Tensor x = pickOfRank(1, 4);
  size_t dim = random.chance(0.7) ? x.shape.size() - 1
                                  : static_cast<size_t>(random.below(
                                        static_cast<int64_t>(x.shape.size())));
  Tensor bias = valueOf({x.shape[dim]});
  Generic op;
  op.loops = x.shape.size();
  op.inputs = {writer.operand(x, identityDims(op.loops)),
               writer.operand(bias, {"d" + std::to_string(dim)})};
  op.init = {writer.empty(x.shape), writer.typeOf(x.shape),
             identityDims(op.loops)};
  ScalarBody body(random, writer.element(), static_cast<int64_t>(op.loops));
  op.body = body.finish(body.op("arith.addf", "%a0, %a1"));
  keep(writer.generic(op, x.shape, x.bound + bias.bound));
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

void GraphBuilder::start() {
  for (int64_t i = random.between(1, 2); i > 0; --i)
    pool.push_back(writer.batch(randomShape(1, 3)));
  for (int64_t i = random.between(1, 2); i > 0; --i)
    pool.push_back(writer.parameter(random.chance(0.5) ? pick().shape
                                                       : randomShape(1, 3)));
  // From the first op on something depends on data and on parameters.
  Tensor x = pool.front();
  Tensor w = writer.parameter(x.shape);
  keep(writer.define(x.shape, 1,
                     "arith.mulf " + x.name() + ", " + w.name() + " : " +
                         writer.typeOf(x.shape)));
  first = pool.back();
  pool.insert(pool.begin(), w);
}

void GraphBuilder::addOp() {
  using Adder = void (GraphBuilder::*)();
  static const std::vector<Adder> adders = {
      &GraphBuilder::addTensorOp,    &GraphBuilder::addUnaryTensorOp,
      &GraphBuilder::addElementwise, &GraphBuilder::addElementwise,
      &GraphBuilder::addElementwise, &GraphBuilder::addCapture,
      &GraphBuilder::addBias,        &GraphBuilder::addMatmul,
      &GraphBuilder::addMatmul,      &GraphBuilder::addMatmul,
      &GraphBuilder::addBatchMatmul, &GraphBuilder::addVectorProduct,
      &GraphBuilder::addReduction,   &GraphBuilder::addReduction,
      &GraphBuilder::addSoftmax,     &GraphBuilder::addLayerNorm,
      &GraphBuilder::addReshape,     &GraphBuilder::addTranspose,
      &GraphBuilder::addBroadcast,   &GraphBuilder::addSlice,
      &GraphBuilder::addInsertSlice, &GraphBuilder::addConcat,
      &GraphBuilder::addPad,         &GraphBuilder::addGather,
      &GraphBuilder::addConvolution, &GraphBuilder::addGroupedConvolution,
      &GraphBuilder::addPooling,     &GraphBuilder::addRecurrence,
      &GraphBuilder::addRecurrence};
  (this->*random.oneOf(adders))();
  if (numElements(pool.back().shape) > maxElements(sizes))
    pool.pop_back();
}

void GraphBuilder::addMark() {
  for (int64_t i = random.chance(0.3) ? 2 : 1; i > 0; --i) {
    // What is used later is mostly the marked value, but not always.
    Tensor marked = pool.back();
    pool.push_back(writer.boundary(marked));
  }
}

Tensor GraphBuilder::sumAll(const Tensor &x, const std::string &body,
                            double bound) {
  Generic op;
  op.loops = x.shape.size();
  for (size_t i = 0; i < op.loops; ++i)
    op.reductions.push_back(i);
  op.inputs = {writer.operand(x, identityDims(op.loops))};
  op.init = {writer.fill({}, "0.0"), writer.typeOf({}), {}};
  op.body = body;
  return writer.generic(op, {}, bound);
}

Tensor GraphBuilder::meanSquare(const Tensor &x) {
  double count = static_cast<double>(numElements(x.shape));
  ScalarBody body(random, writer.element(), 0);
  std::string square = body.op("arith.mulf", "%a0, %a0");
  std::string share = body.op(
      "arith.mulf", square + ", " +
                        body.line("arith.constant " + literal(1 / count) +
                                  " : " + writer.element()));
  std::string lines = body.finish(body.op("arith.addf", share + ", %out"));
  return sumAll(x, lines, x.bound * x.bound);
}

/// The summed cross entropy of the rows of `x` as logits, with random labels.
Tensor GraphBuilder::crossEntropy(const Tensor &x) {
  int64_t rows = x.shape[0];
  Tensor top = reduceRows(x, "arith.maximumf");
  ScalarBody difference(random, writer.element(), 2);
  std::string power =
      difference.op("math.exp", difference.op("arith.subf", "%a0, %a1"));
  Tensor powers = zipRows(x, top, difference.finish(power), 1);
  Tensor sum = reduceRows(powers, "arith.addf");
  ValueId labels = indicesOf({rows});
  Generic op;
  op.loops = 1;
  op.inputs = {{nameOf(labels), writer.model.types[labels], {"d0"}},
               writer.operand(top, {"d0"}),
               writer.operand(sum, {"d0"})};
  op.init = {writer.empty({rows}), writer.typeOf({rows}), {"d0"}};
  ScalarBody body(random, writer.element(), 1);
  std::string label = body.line("arith.index_cast %a0 : i32 to index");
  std::string row = body.line("linalg.index 0 : index");
  std::string logit = body.line("tensor.extract " + x.name() + "[" + row +
                                ", " + label + "] : " + writer.typeOf(x.shape));
  std::string total =
      body.op("arith.addf", body.op("math.log", "%a2") + ", %a1");
  op.body = body.finish(body.op("arith.subf", total + ", " + logit));
  Tensor losses = writer.generic(op, {rows}, 2 * x.bound + 2);
  ScalarBody add(random, writer.element(), 0);
  return sumAll(losses, add.finish(add.op("arith.addf", "%a0, %out")),
                losses.bound * static_cast<double>(rows));
}

bool GraphBuilder::dependOn(const std::vector<Tensor> &values, ValueId source) {
  std::set<ValueId> needed;
  for (const Tensor &value : values)
    needed.insert(value.id);
  const std::vector<Step> &steps = writer.model.steps;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    if (needed.contains(step->result))
      for (ValueId operand : Model::operandsOf(*step))
        needed.insert(operand);
  return needed.contains(source);
}

void GraphBuilder::addLoss() {
  std::vector<Tensor> outputs = {pool.back()};
  for (int64_t i = random.between(1, 4); i > 0; --i)
    outputs.push_back(pick());
  // A model has at least one op that depends on data and parameters.
  if (!dependOn(outputs, first.id))
    outputs.push_back(first);
  std::optional<Tensor> loss;
  for (const Tensor &output : outputs) {
    bool classify = output.shape.size() == 2 && random.chance(0.4);
    Tensor term = classify ? crossEntropy(output) : meanSquare(output);
    loss = loss ? writer.define({}, loss->bound + term.bound,
                                "arith.addf " + loss->name() + ", " +
                                    term.name() + " : " + writer.typeOf({}))
                : term;
  }
  writer.model.results = {loss->id};
  const Tensor *metric =
      pickThat([](const Tensor &tensor) { return tensor.shape.empty(); });
  if (metric && random.chance(0.3))
    writer.model.results.push_back(metric->id);
}
