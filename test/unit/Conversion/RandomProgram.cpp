//===- RandomProgram.cpp - random functions on tensors --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomProgram.h"

#include <cmath>

using namespace veeline::test;

using Shape = std::vector<int64_t>;

static const char *dims[] = {"a", "b", "c"};

static std::string mapOf(unsigned rank, const std::vector<unsigned> &results) {
  std::string text = "affine_map<(";
  for (unsigned i = 0; i < rank; ++i)
    text += std::string(i ? ", " : "") + dims[i];
  text += ") -> (";
  for (size_t i = 0; i < results.size(); ++i)
    text += std::string(i ? ", " : "") + dims[results[i]];
  return text + ")>";
}

static std::string identity(unsigned rank) {
  std::vector<unsigned> results;
  for (unsigned i = 0; i < rank; ++i)
    results.push_back(i);
  return mapOf(rank, results);
}

static std::string parallel(unsigned rank) {
  std::string text;
  for (unsigned i = 0; i < rank; ++i)
    text += i ? ", \"parallel\"" : "\"parallel\"";
  return text;
}

std::string RandomProgram::typeOf(const Shape &shape) const {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + type + ">";
}

std::string RandomProgram::newName() {
  return "%v" + std::to_string(numValues++);
}

void RandomProgram::define(const std::string &name, const Shape &shape,
                           Step step) {
  tensors.push_back({name, shape});
  steps.push_back(std::move(step));
}

size_t RandomProgram::pickTensor() {
  // Prefers recent values: fusion works on chains.
  size_t window =
      pick(2) ? std::min<size_t>(3, tensors.size()) : tensors.size();
  return tensors.size() - 1 - pick(window);
}

std::optional<size_t> RandomProgram::pickTensorOf(const Shape &shape) {
  std::vector<size_t> found;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].shape == shape)
      found.push_back(i);
  return found.empty() ? std::nullopt
                       : std::optional(found[pick(found.size())]);
}

std::string RandomProgram::addEmpty(const Shape &shape) {
  std::string name = newName();
  body += "  " + name + " = tensor.empty() : " + typeOf(shape) + "\n";
  return name;
}

std::string RandomProgram::addFill(const Shape &shape,
                                   const std::string &value) {
  std::string empty = addEmpty(shape), name = newName();
  body += "  " + name + " = linalg.fill ins(" + value + " : " + type +
          ") outs(" + empty + " : " + typeOf(shape) + ") -> " + typeOf(shape) +
          "\n";
  return name;
}

void RandomProgram::addUnary() {
  static const char *ops[] = {"math.exp %x",           "math.tanh %x",
                              "arith.mulf %x, %half",  "arith.addf %x, %half",
                              "arith.divf %x, %three", "math.absf %x",
                              "arith.mulf %x, %x"};
  static double (*const functions[])(double) = {[](double x) { return std::exp(x); },
                                                [](double x) { return std::tanh(x); },
                                                [](double x) { return x * 0.5; },
                                                [](double x) { return x + 0.5; },
                                                [](double x) { return x / 3.0; },
                                                [](double x) { return std::fabs(x); },
                                                [](double x) { return x * x; }};
  size_t source = pickTensor(), op = pick(std::size(ops));
  Tensor input = tensors[source];
  std::string empty = addEmpty(input.shape), name = newName();
  std::string map = identity(input.shape.size());
  std::string tensorType = typeOf(input.shape);
  body += "  " + name + " = linalg.generic {indexing_maps = [" + map + ", " +
          map + "], iterator_types = [" + parallel(input.shape.size()) +
          "]} ins(" + input.name + " : " + tensorType + ") outs(" + empty +
          " : " + tensorType + ") {\n  ^bb0(%x: " + type + ", %o: " + type +
          "):\n    %r = " + ops[op] + " : " + type +
          "\n    linalg.yield %r : " + type + "\n  } -> " + tensorType + "\n";
  define(name, input.shape, [=](const std::vector<Values> &values) {
    Values result = values[source];
    for (double &x : result)
      x = functions[op](x);
    return result;
  });
}

void RandomProgram::addBinary() {
  static const char *ops[] = {"arith.addf", "arith.subf", "arith.mulf",
                              "arith.maximumf"};
  static double (*const functions[])(double, double) = {
      [](double x, double y) { return x + y; },
      [](double x, double y) { return x - y; },
      [](double x, double y) { return x * y; },
      [](double x, double y) {
        return std::isnan(x) || std::isnan(y) ? x + y : std::max(x, y);
      }};
  size_t leftIndex = pickTensor();
  Tensor left = tensors[leftIndex];
  if (left.shape.size() != 2)
    return addUnary();
  // The other operand has the same shape or is a column, a row or a scalar.
  const Shape shapes[] = {left.shape, {left.shape[0]}, {left.shape[1]}, {}};
  const std::vector<unsigned> results[] = {{0, 1}, {0}, {1}, {}};
  unsigned kind = pick(4);
  std::optional<size_t> right = pickTensorOf(shapes[kind]);
  if (!right)
    return addUnary();
  size_t op = pick(std::size(ops));
  std::string rightName = tensors[*right].name;
  std::string empty = addEmpty(left.shape), name = newName();
  std::string tensorType = typeOf(left.shape);
  body += "  " + name + " = linalg.generic {indexing_maps = [" + identity(2) +
          ", " + mapOf(2, results[kind]) + ", " + identity(2) +
          "], iterator_types = [" + parallel(2) + "]} ins(" + left.name + ", " +
          rightName + " : " + tensorType + ", " + typeOf(shapes[kind]) +
          ") outs(" + empty + " : " + tensorType + ") {\n  ^bb0(%x: " + type +
          ", %y: " + type + ", %o: " + type + "):\n    %r = " + ops[op] +
          " %x, %y : " + type + "\n    linalg.yield %r : " + type +
          "\n  } -> " + tensorType + "\n";
  size_t width = left.shape[1];
  define(name, left.shape, [=](const std::vector<Values> &values) {
    Values result = values[leftIndex];
    const Values &other = values[*right];
    for (size_t i = 0; i < result.size(); ++i) {
      const size_t places[] = {i, i / width, i % width, 0};
      result[i] = functions[op](result[i], other[places[kind]]);
    }
    return result;
  });
}

void RandomProgram::addMask() {
  size_t source = pickTensor();
  Tensor input = tensors[source];
  if (input.shape.size() != 2)
    return addUnary();
  std::string empty = addEmpty(input.shape), name = newName();
  std::string tensorType = typeOf(input.shape);
  body += "  " + name + " = linalg.generic {indexing_maps = [" + identity(2) +
          ", " + identity(2) + "], iterator_types = [" + parallel(2) +
          "]} ins(" + input.name + " : " + tensorType + ") outs(" + empty +
          " : " + tensorType + ") {\n  ^bb0(%x: " + type + ", %o: " + type +
          "):\n    %i = linalg.index 0 : index\n    %j = linalg.index 1 : "
          "index\n    %c = arith.cmpi sle, %j, %i : index\n    %r = "
          "arith.select %c, %x, %half : " +
          type + "\n    linalg.yield %r : " + type + "\n  } -> " + tensorType +
          "\n";
  size_t width = input.shape[1];
  define(name, input.shape, [=](const std::vector<Values> &values) {
    Values result = values[source];
    for (size_t i = 0; i < result.size(); ++i)
      if (i % width > i / width)
        result[i] = 0.5;
    return result;
  });
}

void RandomProgram::addReduction() {
  size_t source = pickTensor();
  Tensor input = tensors[source];
  if (input.shape.empty())
    return addUnary();
  bool isMax = pick(3) == 0;
  unsigned dim = pick(input.shape.size());
  Shape shape = input.shape;
  shape.erase(shape.begin() + dim);
  std::string fill = addFill(shape, isMax ? "%lowest" : "%zero");
  std::string name = newName();
  body += "  " + name + " = linalg.reduce { " +
          (isMax ? "arith.maximumf" : "arith.addf") + " } ins(" + input.name +
          " : " + typeOf(input.shape) + ") outs(" + fill + " : " +
          typeOf(shape) + ") dimensions = [" + std::to_string(dim) + "]\n";
  size_t inner = 1, extent = input.shape[dim];
  for (size_t i = dim + 1; i < input.shape.size(); ++i)
    inner *= input.shape[i];
  define(name, shape, [=](const std::vector<Values> &values) {
    const Values &x = values[source];
    Values result(x.size() / extent, isMax ? -INFINITY : 0.0);
    for (size_t i = 0; i < x.size(); ++i) {
      double &place = result[i / (inner * extent) * inner + i % inner];
      if (!isMax)
        place += x[i];
      else if (std::isnan(x[i]) || x[i] > place)
        place = x[i];
    }
    return result;
  });
}

/// The transpose of a matrix of `width` columns.
static std::vector<double> transpose(const std::vector<double> &x,
                                     size_t width) {
  std::vector<double> result(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    result[i % width * (x.size() / width) + i / width] = x[i];
  return result;
}

void RandomProgram::addTranspose() {
  size_t source = pickTensor();
  Tensor input = tensors[source];
  if (input.shape.size() != 2)
    return addUnary();
  Shape shape = {input.shape[1], input.shape[0]};
  std::string empty = addEmpty(shape), name = newName();
  body += "  " + name + " = linalg.transpose ins(" + input.name + " : " +
          typeOf(input.shape) + ") outs(" + empty + " : " + typeOf(shape) +
          ") permutation = [1, 0]\n";
  size_t width = input.shape[1];
  define(name, shape, [=](const std::vector<Values> &values) {
    return transpose(values[source], width);
  });
}

/// Swaps the halves of the columns.
void RandomProgram::addSlices() {
  size_t source = pickTensor();
  Tensor input = tensors[source];
  if (input.shape.size() != 2 || input.shape[1] % 2)
    return addUnary();
  std::string height = std::to_string(input.shape[0]);
  std::string half = std::to_string(input.shape[1] / 2);
  std::string whole = typeOf(input.shape);
  std::string part = typeOf({input.shape[0], input.shape[1] / 2});
  std::string left = newName(), right = newName(), name = newName();
  for (bool isRight : {false, true})
    body += "  " + (isRight ? right : left) + " = tensor.extract_slice " +
            input.name + "[0, " + (isRight ? half : "0") + "] [" + height +
            ", " + half + "] [1, 1] : " + whole + " to " + part + "\n";
  body += "  " + name + " = tensor.concat dim(1) " + right + ", " + left +
          " : (" + part + ", " + part + ") -> " + whole + "\n";
  size_t width = input.shape[1];
  define(name, input.shape, [=](const std::vector<Values> &values) {
    const Values &x = values[source];
    Values result(x.size());
    for (size_t i = 0; i < x.size(); ++i)
      result[i] = x[i / width * width + (i + width / 2) % width];
    return result;
  });
}

void RandomProgram::addProduct() {
  size_t leftIndex = pickTensor();
  Tensor left = tensors[leftIndex];
  if (left.shape.size() != 2)
    return addUnary();
  std::optional<size_t> right = pickTensorOf({left.shape[1], left.shape[0]});
  if (!right)
    return addTranspose();
  std::string rightName = tensors[*right].name;
  Shape shape = {left.shape[0], left.shape[0]};
  std::string fill = addFill(shape, "%zero"), name = newName();
  body += "  " + name + " = linalg.matmul ins(" + left.name + ", " + rightName +
          " : " + typeOf(left.shape) + ", " +
          typeOf({left.shape[1], left.shape[0]}) + ") outs(" + fill + " : " +
          typeOf(shape) + ") -> " + typeOf(shape) + "\n";
  size_t height = left.shape[0], depth = left.shape[1];
  define(name, shape, [=](const std::vector<Values> &values) {
    Values result(height * height);
    for (size_t i = 0; i < height; ++i)
      for (size_t j = 0; j < height; ++j)
        for (size_t k = 0; k < depth; ++k)
          result[i * height + j] +=
              values[leftIndex][i * depth + k] * values[*right][k * height + j];
    return result;
  });
}

void RandomProgram::addOp() {
  unsigned choice = pick(16);
  if (choice < 4)
    return addUnary();
  if (choice < 9)
    return addBinary();
  if (choice < 12)
    return addReduction();
  if (choice < 13)
    return addMask();
  if (choice < 14)
    return addTranspose();
  if (choice < 15)
    return addSlices();
  addProduct();
}

/// Returns some values, some of them as gradients of parameters.
void RandomProgram::addResults() {
  std::string values, types, signature;
  unsigned count = 1 + pick(4);
  for (unsigned i = 0; i < count; ++i) {
    returned.push_back(pickTensor());
    accumulates.push_back(pick(3) == 0);
    const Tensor &tensor = tensors[returned.back()];
    std::string separator = i ? ", " : "";
    std::string tensorType = typeOf(tensor.shape);
    values += separator + tensor.name;
    types += separator + tensorType;
    signature += separator + tensorType;
    if (accumulates.back())
      signature +=
          " {pipe.role = #pipe.role<param_grad " + std::to_string(i) + ">}";
    int64_t elements = 1;
    for (int64_t size : tensor.shape)
      elements *= size;
    results.push_back(elements);
  }
  body += "  return " + values + " : " + types + "\n}\n";
  text += ") -> (" + signature + ") {\n" + body;
}

RandomProgram::RandomProgram(unsigned seed, const std::string &type)
    : random(seed), type(type) {
  static const int64_t sizes[] = {1, 3, 64, 70, 96, 128, 130};
  rows = sizes[pick(std::size(sizes))];
  columns = sizes[pick(std::size(sizes))];
  const Shape shapes[] = {{rows, columns}, {rows, columns}, {rows},
                          {columns},       {columns, rows}, {}};
  text = "func.func @f(";
  for (const Shape &shape : shapes) {
    std::string name = newName();
    text += (tensors.empty() ? "" : ", ") + name + ": " + typeOf(shape);
    tensors.push_back({name, shape});
    int64_t elements = 1;
    for (int64_t size : shape)
      elements *= size;
    arguments.push_back(elements);
  }
  std::string lowest = type == "f64" ? "0xFFF0000000000000" : "0xFF800000";
  body = "  %zero = arith.constant 0.0 : " + type +
         "\n  %half = arith.constant 0.5 : " + type +
         "\n  %three = arith.constant 3.0 : " + type +
         "\n  %lowest = arith.constant " + lowest + " : " + type + "\n";
  unsigned count = 4 + pick(14);
  for (unsigned i = 0; i < count; ++i)
    addOp();
  addResults();
}

std::vector<std::vector<double>>
RandomProgram::evaluate(const std::vector<Values> &arguments,
                        std::vector<Values> results) const {
  std::vector<Values> values = arguments;
  for (const Step &step : steps)
    values.push_back(step(values));
  for (size_t i = 0; i < returned.size(); ++i) {
    const Values &value = values[returned[i]];
    for (size_t j = 0; j < value.size(); ++j)
      results[i][j] = accumulates[i] ? results[i][j] + value[j] : value[j];
  }
  return results;
}
