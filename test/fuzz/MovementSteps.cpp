//===- MovementSteps.cpp - reshapes, slices, gathers ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"
#include "ScalarBody.h"

#include <algorithm>

using namespace veeline::fuzz;

void GraphBuilder::addReshape() {
  Tensor x = pickOfRank(1, 4);
  size_t at =
      static_cast<size_t>(random.below(static_cast<int64_t>(x.shape.size())));
  // Dimension `at` of the smaller shape is two of the larger one.
  bool collapse = x.shape.size() > 1 && random.chance(0.5);
  at = std::min(at, x.shape.size() - (collapse ? 2 : 1));
  Shape shape = x.shape;
  if (collapse) {
    shape[at] *= shape[at + 1];
    shape.erase(shape.begin() + static_cast<int64_t>(at) + 1);
  } else {
    int64_t size = shape[at];
    int64_t factor = size % 2 == 0 && random.chance(0.7)   ? 2
                     : size % 3 == 0 && random.chance(0.7) ? 3
                                                           : 1;
    shape[at] = factor;
    shape.insert(shape.begin() + static_cast<int64_t>(at) + 1, size / factor);
  }
  size_t groups = std::min(shape.size(), x.shape.size());
  std::string text;
  for (size_t group = 0, dim = 0; group < groups; ++group) {
    std::vector<int64_t> dims = {static_cast<int64_t>(dim++)};
    if (group == at)
      dims.push_back(static_cast<int64_t>(dim++));
    text += (group ? ", " : "") + listOf(dims);
  }
  std::string types =
      " : " + writer.typeOf(x.shape) + " into " + writer.typeOf(shape);
  keep(writer.define(
      shape, x.bound,
      collapse ? "tensor.collapse_shape " + x.name() + " [" + text + "]" + types
               : "tensor.expand_shape " + x.name() + " [" + text +
                     "] output_shape " + listOf(shape) + types));
}

void GraphBuilder::addTranspose() {
  Tensor x = pickOfRank(2, 4);
  std::vector<int64_t> permutation;
  for (size_t i = 0; i < x.shape.size(); ++i)
    permutation.push_back(static_cast<int64_t>(i));
  for (size_t i = permutation.size(); i > 1; --i)
    std::swap(permutation[i - 1], permutation[static_cast<size_t>(
                                      random.below(static_cast<int64_t>(i)))]);
  Shape shape;
  for (int64_t dim : permutation)
    shape.push_back(x.shape[static_cast<size_t>(dim)]);
  std::string init = writer.empty(shape);
  keep(writer.define(shape, x.bound,
                     "linalg.transpose ins(" + x.name() + " : " +
                         writer.typeOf(x.shape) + ") outs(" + init + " : " +
                         writer.typeOf(shape) +
                         ") permutation = " + listOf(permutation)));
}

void GraphBuilder::addBroadcast() {
  Tensor x = pickOfRank(0, 2);
  size_t at = static_cast<size_t>(
      random.between(0, static_cast<int64_t>(x.shape.size())));
  Shape shape = x.shape;
  shape.insert(shape.begin() + static_cast<int64_t>(at), random.between(1, 4));
  std::string init = writer.empty(shape);
  keep(writer.define(shape, x.bound,
                     "linalg.broadcast ins(" + x.name() + " : " +
                         writer.typeOf(x.shape) + ") outs(" + init + " : " +
                         writer.typeOf(shape) + ") dimensions = [" +
                         std::to_string(at) + "]"));
}

namespace {
/// A part of a tensor.
struct Window {
  std::vector<int64_t> offsets, sizes, strides;

  std::string text() const {
    return listOf(offsets) + " " + listOf(sizes) + " " + listOf(strides);
  }
};
} // namespace

static Window randomWindow(Random &random, const Shape &shape) {
  Window window;
  for (int64_t size : shape) {
    bool whole = random.chance(0.4);
    int64_t stride = !whole && size > 2 && random.chance(0.3) ? 2 : 1;
    int64_t count = whole ? size : random.between(1, (size - 1) / stride + 1);
    window.strides.push_back(stride);
    window.sizes.push_back(count);
    window.offsets.push_back(
        random.between(0, size - (count - 1) * stride - 1));
  }
  return window;
}

/// The shape of the window; sometimes without its dimensions of size 1.
static Shape sliceShape(Random &random, const Window &window) {
  if (random.chance(0.6))
    return window.sizes;
  Shape shape;
  for (int64_t size : window.sizes)
    if (size != 1)
      shape.push_back(size);
  return shape;
}

void GraphBuilder::addSlice() {
  Tensor x = pickOfRank(1, 4);
  Window window = randomWindow(random, x.shape);
  Shape shape = sliceShape(random, window);
  keep(writer.define(shape, x.bound,
                     "tensor.extract_slice " + x.name() + window.text() +
                         " : " + writer.typeOf(x.shape) + " to " +
                         writer.typeOf(shape)));
}

void GraphBuilder::addInsertSlice() {
  Tensor x = pickOfRank(1, 4);
  Window window = randomWindow(random, x.shape);
  Tensor part = valueOf(sliceShape(random, window));
  keep(writer.define(x.shape, std::max(x.bound, part.bound),
                     "tensor.insert_slice " + part.name() + " into " +
                         x.name() + window.text() + " : " +
                         writer.typeOf(part.shape) + " into " +
                         writer.typeOf(x.shape)));
}

void GraphBuilder::addConcat() {
  Tensor x = pickOfRank(1, 3);
  size_t dim =
      static_cast<size_t>(random.below(static_cast<int64_t>(x.shape.size())));
  std::vector<Tensor> parts = {x};
  for (int64_t i = random.between(1, 2); i > 0; --i) {
    Shape shape = x.shape;
    if (random.chance(0.5))
      shape[dim] = random.between(1, 3);
    parts.push_back(valueOf(shape));
  }
  if (random.chance(0.3))
    std::swap(parts.front(), parts.back());
  Shape shape = x.shape;
  shape[dim] = 0;
  double bound = 0;
  std::string names, types;
  for (const Tensor &part : parts) {
    shape[dim] += part.shape[dim];
    bound = std::max(bound, part.bound);
    names += (names.empty() ? "" : ", ") + part.name();
    types += (types.empty() ? "" : ", ") + writer.typeOf(part.shape);
  }
  keep(writer.define(shape, bound,
                     "tensor.concat dim(" + std::to_string(dim) + ") " + names +
                         " : (" + types + ") -> " + writer.typeOf(shape)));
}

void GraphBuilder::addPad() {
  Tensor x = pickOfRank(1, 3);
  Shape shape = x.shape;
  std::vector<int64_t> low, high;
  std::string arguments;
  for (size_t i = 0; i < shape.size(); ++i) {
    low.push_back(random.below(3));
    high.push_back(random.below(3));
    shape[i] += low.back() + high.back();
    arguments += (i ? ", %i" : "%i") + std::to_string(i) + ": index";
  }
  std::string value =
      writer.temp("arith.constant " + literal(random.chance(0.5) ? 0 : 0.5) +
                  " : " + writer.element());
  keep(writer.define(
      shape, std::max(x.bound, 0.5),
      "tensor.pad " + x.name() + " low" + listOf(low) + " high" + listOf(high) +
          " {\n  ^bb0(" + arguments + "):\n    tensor.yield " + value + " : " +
          writer.element() + "\n  } : " + writer.typeOf(x.shape) + " to " +
          writer.typeOf(shape)));
}

/// An embedding: elements of a table at integers of a batch argument, times
/// another value half of the time.
void GraphBuilder::addGather() {
  Tensor table =
      random.chance(0.6) ? valueOf(randomShape(1, 2)) : pickOfRank(1, 3);
  size_t dim = static_cast<size_t>(
      random.below(static_cast<int64_t>(table.shape.size())));
  Shape shape = randomShape(1, 2);
  size_t indexRank = shape.size();
  ValueId index = indicesOf(shape);
  for (size_t i = 0; i < table.shape.size(); ++i)
    if (i != dim)
      shape.push_back(table.shape[i]);
  Generic op;
  op.loops = shape.size();
  op.inputs = {
      {nameOf(index), writer.model.types[index], identityDims(indexRank)}};
  double bound = table.bound;
  bool scaled = random.chance(0.5);
  if (scaled) {
    Tensor factor = valueOf(shape);
    op.inputs.push_back(writer.operand(factor, identityDims(op.loops)));
    bound *= factor.bound;
  }
  op.init = {writer.empty(shape), writer.typeOf(shape), identityDims(op.loops)};
  ScalarBody body(random, writer.element(), static_cast<int64_t>(op.loops));
  std::string row = body.line("arith.index_cast %a0 : i32 to index");
  std::string subscripts;
  size_t loop = indexRank;
  for (size_t i = 0; i < table.shape.size(); ++i) {
    std::string subscript =
        i == dim
            ? row
            : body.line("linalg.index " + std::to_string(loop++) + " : index");
    subscripts += (i ? ", " : "") + subscript;
  }
  std::string value =
      body.line("tensor.extract " + table.name() + "[" + subscripts +
                "] : " + writer.typeOf(table.shape));
  if (scaled)
    value = body.op("arith.mulf", value + ", %a1");
  op.body = body.finish(value);
  keep(writer.generic(op, shape, bound));
}
