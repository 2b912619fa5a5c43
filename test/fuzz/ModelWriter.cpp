//===- ModelWriter.cpp - writes the steps of a model ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelWriter.h"

#include "ScalarBody.h"

#include <algorithm>

using namespace veeline::fuzz;

int64_t veeline::fuzz::numElements(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::vector<std::string> veeline::fuzz::identityDims(size_t rank) {
  std::vector<std::string> dims;
  for (size_t i = 0; i < rank; ++i)
    dims.push_back("d" + std::to_string(i));
  return dims;
}

static std::string join(const std::vector<std::string> &parts) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i)
    text += (i ? ", " : "") + parts[i];
  return text;
}

std::string veeline::fuzz::listOf(const std::vector<int64_t> &numbers) {
  std::vector<std::string> parts;
  for (int64_t number : numbers)
    parts.push_back(std::to_string(number));
  return "[" + join(parts) + "]";
}

std::string veeline::fuzz::affineMap(size_t loops,
                                     const std::vector<std::string> &results) {
  return "affine_map<(" + join(identityDims(loops)) + ") -> (" + join(results) +
         ")>";
}

ModelWriter::ModelWriter(uint64_t seed, std::string element) {
  model.seed = seed;
  model.element = std::move(element);
}

std::string ModelWriter::typeOf(const Shape &shape,
                                const std::string &element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

ValueId ModelWriter::newValue(std::string type) {
  model.types.push_back(std::move(type));
  return static_cast<ValueId>(model.types.size()) - 1;
}

ValueId ModelWriter::argument(std::string type, std::string attributes) {
  ValueId value = newValue(std::move(type));
  model.arguments.push_back({value, std::move(attributes)});
  ++numArguments;
  return value;
}

Tensor ModelWriter::parameter(const Shape &shape) {
  std::string name = "p" + std::to_string(numArguments);
  return {argument(typeOf(shape), "pipe.param = #pipe.param<\"" + name +
                                      "\", init = uniform(-1.0, 1.0)>"),
          shape, 1};
}

Tensor ModelWriter::batch(const Shape &shape) {
  std::string name = "x" + std::to_string(numArguments);
  return {argument(typeOf(shape), "pipe.batch = \"" + name + "\""), shape, 1};
}

Tensor ModelWriter::buffer(const Shape &shape) {
  std::string name = "c" + std::to_string(numArguments);
  return {argument(typeOf(shape), "pipe.buffer = \"" + name + "\""), shape, 1};
}

ValueId ModelWriter::integers(const Shape &shape) {
  std::string name = "i" + std::to_string(numArguments);
  return argument(typeOf(shape, "i32"), "pipe.batch = \"" + name + "\"");
}

std::string ModelWriter::temp(const std::string &text, int64_t numResults) {
  std::string name = "%t" + std::to_string(numTemps++);
  std::string count = numResults > 1 ? ":" + std::to_string(numResults) : "";
  setup += "  " + name + count + " = " + text + "\n";
  return name;
}

std::string ModelWriter::empty(const Shape &shape) {
  return temp("tensor.empty() : " + typeOf(shape));
}

std::string ModelWriter::fill(const Shape &shape, const std::string &literal) {
  std::string value = temp("arith.constant " + literal + " : " + element());
  std::string init = empty(shape), type = typeOf(shape);
  return temp("linalg.fill ins(" + value + " : " + element() + ") outs(" +
              init + " : " + type + ") -> " + type);
}

std::string ModelWriter::infinity(bool negative) const {
  if (element() == "f32")
    return negative ? "0xFF800000" : "0x7F800000";
  return negative ? "0xFFF0000000000000" : "0x7FF0000000000000";
}

Tensor ModelWriter::define(const Shape &shape, double bound,
                           const std::string &text) {
  Tensor result{newValue(typeOf(shape)), shape, bound};
  model.steps.push_back(
      {setup + "  " + result.name() + " = " + text + "\n", result.id, -1});
  setup.clear();
  return result;
}

Tensor ModelWriter::generic(const Generic &op, const Shape &shape,
                            double bound) {
  std::vector<std::string> maps, iterators, names, types, arguments;
  for (const Operand &input : op.inputs) {
    maps.push_back(affineMap(op.loops, input.dims));
    // "tensor<2x3xf64>" -> "f64"
    std::string inner = input.type.substr(7, input.type.size() - 8);
    arguments.push_back("%a" + std::to_string(names.size()) + ": " +
                        inner.substr(inner.rfind('x') + 1));
    names.push_back(input.name);
    types.push_back(input.type);
  }
  maps.push_back(affineMap(op.loops, op.init.dims));
  arguments.push_back("%out: " + element());
  for (size_t i = 0; i < op.loops; ++i) {
    bool reduced = std::find(op.reductions.begin(), op.reductions.end(), i) !=
                   op.reductions.end();
    iterators.push_back(reduced ? "\"reduction\"" : "\"parallel\"");
  }
  std::string text = "linalg.generic {indexing_maps = [" + join(maps) +
                     "], iterator_types = [" + join(iterators) + "]}\n    ";
  if (!names.empty())
    text += "ins(" + join(names) + " : " + join(types) + ") ";
  text += "outs(" + op.init.name + " : " + op.init.type + ") {\n  ^bb0(" +
          join(arguments) + "):\n" + op.body + "  } -> " + typeOf(shape);
  return define(shape, bound, text);
}

Tensor ModelWriter::boundary(const Tensor &tensor) {
  Tensor result =
      define(tensor.shape, tensor.bound,
             "pipe.boundary " + tensor.name() + " : " + typeOf(tensor.shape));
  model.steps.back().boundaryOf = tensor.id;
  return result;
}
