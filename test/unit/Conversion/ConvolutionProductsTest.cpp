//===- ConvolutionProductsTest.cpp - convolutions without a library -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions and their adjoints of random shapes and layouts, lowered for a
// GPU: by the library's call and by matrix products and kernels, which are
// compiled for this machine. Both give what the call gives on a CPU.
//
//===----------------------------------------------------------------------===//

#include "CompiledModule.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace veeline;
using namespace veeline::test;

namespace {
/// One spatial dimension.
struct Window {
  int64_t outputs, size, stride, dilation;
  int64_t before, after; ///< Zeros around x.
  int64_t beyond;        ///< Elements at the end that no window reaches.

  int64_t padded() const {
    return (outputs - 1) * stride + (size - 1) * dilation + 1 + beyond;
  }
  int64_t given() const { return padded() - before - after; }
};

struct Shape {
  int64_t batch, groups, inputs, outputs;
  std::vector<Window> windows;
  bool xLast, yLast; ///< Channels.
  int wOrder;        ///< Of three.
};

/// The text of a module with one function for each kind.
class Writer {
public:
  explicit Writer(const Shape &shape) : shape(shape) {}

  std::string write() const;
  std::vector<int64_t> xSizes(bool padded) const;
  std::vector<int64_t> ySizes() const;
  std::vector<int64_t> wSizes() const;

private:
  template <typename T>
  std::vector<T> arrange(std::vector<T> first, std::vector<T> channels,
                         std::vector<T> spatial, bool isLast) const;
  std::string maps(int result) const;
  std::string function(const std::string &name, int result) const;

  const Shape &shape;
};
} // namespace

template <typename T>
std::vector<T> Writer::arrange(std::vector<T> first, std::vector<T> channels,
                               std::vector<T> spatial, bool isLast) const {
  auto &second = isLast ? spatial : channels;
  auto &third = isLast ? channels : spatial;
  first.insert(first.end(), second.begin(), second.end());
  first.insert(first.end(), third.begin(), third.end());
  return first;
}

std::vector<int64_t> Writer::xSizes(bool padded) const {
  std::vector<int64_t> spatial;
  for (const Window &window : shape.windows)
    spatial.push_back(padded ? window.padded() : window.given());
  return arrange<int64_t>({shape.batch}, {shape.groups, shape.inputs}, spatial,
                          shape.xLast);
}

std::vector<int64_t> Writer::ySizes() const {
  std::vector<int64_t> spatial;
  for (const Window &window : shape.windows)
    spatial.push_back(window.outputs);
  return arrange<int64_t>({shape.batch}, {shape.groups, shape.outputs}, spatial,
                          shape.yLast);
}

/// (group, output, input, window), (window, group, input, output) or (group,
/// output, window, input).
template <typename T>
static std::vector<T> arrangeWeights(T group, T output, T input,
                                     std::vector<T> windows, int order) {
  std::vector<T> list;
  if (order == 1) {
    list = windows;
    list.insert(list.end(), {group, input, output});
    return list;
  }
  list = {group, output};
  if (order == 0)
    list.push_back(input);
  list.insert(list.end(), windows.begin(), windows.end());
  if (order == 2)
    list.push_back(input);
  return list;
}

std::vector<int64_t> Writer::wSizes() const {
  std::vector<int64_t> windows;
  for (const Window &window : shape.windows)
    windows.push_back(window.size);
  return arrangeWeights(shape.groups, shape.outputs, shape.inputs, windows,
                        shape.wOrder);
}

static std::string typeOf(const std::vector<int64_t> &sizes) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  return text + "f32>";
}

static std::string join(const std::vector<std::string> &list) {
  std::string text;
  for (const std::string &element : list)
    text += (text.empty() ? "" : ", ") + element;
  return text;
}

/// Of all three operands, that of the result last. Loops: n, g, f, c, then o
/// and k of each dimension.
std::string Writer::maps(int result) const {
  std::vector<std::string> loops{"n", "g", "f", "c"}, inX, inY, inW;
  for (size_t i = 0; i < shape.windows.size(); ++i) {
    std::string o = "o" + std::to_string(i), k = "k" + std::to_string(i);
    loops.insert(loops.end(), {o, k});
    inX.push_back(o + " * " + std::to_string(shape.windows[i].stride) + " + " +
                  k + " * " + std::to_string(shape.windows[i].dilation));
    inY.push_back(o);
    inW.push_back(k);
  }
  std::string head = "affine_map<(" + join(loops) + ") -> (";
  std::vector<std::string> all{
      head + join(arrange<std::string>({"n"}, {"g", "c"}, inX, shape.xLast)) +
          ")>",
      head +
          join(arrangeWeights<std::string>("g", "f", "c", inW, shape.wOrder)) +
          ")>",
      head + join(arrange<std::string>({"n"}, {"g", "f"}, inY, shape.yLast)) +
          ")>"};
  std::rotate(all.begin() + result, all.begin() + result + 1, all.end());
  std::string iterators;
  auto add = [&](bool isParallel) {
    iterators += std::string(iterators.empty() ? "" : ", ") +
                 (isParallel ? "\"parallel\"" : "\"reduction\"");
  };
  // x: n, g, c; w: g, f, c, k; y: n, g, f, o.
  add(result != 1);
  add(true);
  add(result != 0);
  add(result != 2);
  for (size_t i = 0; i < shape.windows.size(); ++i) {
    add(result == 2);
    add(result == 1);
  }
  return "indexing_maps = [" + join(all) + "], iterator_types = [" + iterators +
         "]";
}

std::string Writer::function(const std::string &name, int result) const {
  std::string padded = typeOf(xSizes(true)), given = typeOf(xSizes(false));
  std::vector<std::string> types{padded, typeOf(wSizes()), typeOf(ySizes())};
  std::vector<std::string> names{"%x", "%w", "%y"}, lows, highs, ones, sizes;
  std::vector<std::string> low, high;
  for (const Window &window : shape.windows) {
    low.push_back(std::to_string(window.before));
    high.push_back(std::to_string(window.after));
  }
  lows = arrange<std::string>({"0"}, {"0", "0"}, low, shape.xLast);
  highs = arrange<std::string>({"0"}, {"0", "0"}, high, shape.xLast);
  for (int64_t size : xSizes(false)) {
    sizes.push_back(std::to_string(size));
    ones.push_back("1");
  }
  std::string arguments, out = result == 0 ? given : types[result];
  for (int i = 0; i < 3; ++i)
    if (i != result)
      arguments += (arguments.empty() ? "" : ", ") + names[i] + ": " +
                   (i == 0 ? given : types[i]);
  std::string text = "func.func @" + name + "(" + arguments + ") -> " + out +
                     " {\n  %zero = arith.constant 0.0 : f32\n";
  if (result != 0 && padded != given) {
    text += "  %p = tensor.pad %x low[" + join(lows) + "] high[" + join(highs) +
            "] {\n  ^bb0(";
    for (size_t i = 0; i < lows.size(); ++i)
      text += (i ? ", %i" : "%i") + std::to_string(i) + ": index";
    text += "):\n    tensor.yield %zero : f32\n  } : " + given + " to " +
            padded + "\n";
    names[0] = "%p";
  }
  std::rotate(names.begin() + result, names.begin() + result + 1, names.end());
  std::rotate(types.begin() + result, types.begin() + result + 1, types.end());
  text +=
      "  %e = tensor.empty() : " + types[2] + "\n  %z = linalg.fill ins(" +
      "%zero : f32) outs(%e : " + types[2] + ") -> " + types[2] +
      "\n  %r = linalg.generic {" + maps(result) + "} ins(" + names[0] + ", " +
      names[1] + " : " + types[0] + ", " + types[1] +
      ") outs(%z : " + types[2] +
      ") {\n  ^bb0(%a: f32, %b: f32, %s: f32):\n    %m = arith.mulf %a, %b "
      ": f32\n    %t = arith.addf %s, %m : f32\n    linalg.yield %t : f32\n "
      " } -> " +
      types[2] + "\n";
  if (result == 0 && padded != given)
    text += "  %i = tensor.extract_slice %r[" + join(lows) + "] [" +
            join(sizes) + "] [" + join(ones) + "] : " + padded + " to " +
            given + "\n  return %i : " + out + "\n}\n";
  else
    text += "  return %r : " + out + "\n}\n";
  return text;
}

std::string Writer::write() const {
  return function("forward", 2) + function("data", 0) + function("weights", 1);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static std::vector<float> makeNumbers(const std::vector<int64_t> &sizes,
                                      unsigned seed) {
  int64_t count = std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                                  std::multiplies<>());
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float &number : numbers)
    number = uniform(random);
  return numbers;
}

static void expectClose(const std::vector<float> &found,
                        const std::vector<float> &expected,
                        const std::string &where) {
  float largest = 1;
  for (float number : expected)
    largest = std::max(largest, std::abs(number));
  for (size_t i = 0; i < expected.size(); ++i)
    if (!(std::abs(found[i] - expected[i]) <= 1e-5f * largest)) {
      ADD_FAILURE() << where << ": element " << i << " is " << found[i]
                    << ", expected " << expected[i];
      return;
    }
}

namespace {
/// The results of all three functions.
struct Results {
  std::vector<float> forward, data, weights;
};
} // namespace

static Results run(CompiledModule &module, const Writer &writer) {
  Results results;
  std::vector<float> x = makeNumbers(writer.xSizes(false), 1);
  std::vector<float> w = makeNumbers(writer.wSizes(), 2);
  std::vector<float> y = makeNumbers(writer.ySizes(), 3);
  // What is there before is nobody's business.
  results.forward.assign(y.size(), std::nanf(""));
  results.data.assign(x.size(), std::nanf(""));
  results.weights.assign(w.size(), std::nanf(""));
  module.call("forward", {x.data(), w.data(), results.forward.data()});
  module.call("data", {w.data(), y.data(), results.data.data()});
  module.call("weights", {x.data(), y.data(), results.weights.data()});
  return results;
}

static void check(const Shape &shape) {
  Writer writer(shape);
  std::string text = writer.write();
  SCOPED_TRACE(text);
  CompiledModule onHost(text);
  Results expected = run(onHost, writer);
  CompileOptions options;
  options.target = KernelTarget::Cuda;
  CompiledModule onDevice(text, options);
  ASSERT_EQ(onDevice.convolutions().size(), 3u);
  for (bool isThere : {true, false}) {
    onDevice.setHasConvolutions(isThere);
    Results found = run(onDevice, writer);
    std::string way = isThere ? "by the library" : "by products";
    expectClose(found.forward, expected.forward, "forward " + way);
    expectClose(found.data, expected.data, "gradient of x " + way);
    expectClose(found.weights, expected.weights, "gradient of w " + way);
  }
}

static Window plain(int64_t outputs, int64_t size, int64_t padding = 0) {
  return {outputs, size, 1, 1, padding, padding, 0};
}

/// In all layouts.
static void checkAll(Shape shape) {
  for (bool isLast : {true, false})
    for (int order : {0, 1, 2}) {
      shape.xLast = shape.yLast = isLast;
      shape.wOrder = order;
      ASSERT_NO_FATAL_FAILURE(check(shape));
    }
}

TEST(ConvolutionProducts, ByElementsOfTheWindow) {
  checkAll({2, 1, 16, 5, {plain(6, 3, 1), plain(5, 3, 1)}, true, true, 0});
  checkAll({2, 1, 17, 4, {plain(4, 2), plain(3, 3)}, true, true, 0});
}

TEST(ConvolutionProducts, Pointwise) {
  checkAll({2, 1, 18, 7, {plain(4, 1), plain(3, 1)}, true, true, 0});
  checkAll({2, 1, 18, 7, {{3, 1, 2, 1, 0, 0, 1}, plain(3, 1)}, true, true, 0});
}

TEST(ConvolutionProducts, StridesAndDilations) {
  checkAll({2,
            1,
            16,
            3,
            {{4, 3, 2, 1, 1, 0, 0}, {3, 3, 3, 2, 2, 1, 2}},
            true,
            true,
            0});
}

TEST(ConvolutionProducts, FewChannels) {
  checkAll(
      {2, 1, 3, 5, {{4, 5, 2, 1, 2, 1, 0}, plain(5, 3, 1)}, true, true, 0});
  checkAll({3, 1, 1, 1, {plain(4, 3), plain(5, 2)}, true, true, 0});
}

TEST(ConvolutionProducts, Groups) {
  checkAll(
      {2, 3, 4, 2, {plain(4, 3, 1), {3, 2, 2, 1, 0, 1, 0}}, true, true, 0});
}

TEST(ConvolutionProducts, Depthwise) {
  checkAll({2, 9, 1, 1, {plain(5, 3, 1), plain(4, 3, 1)}, true, true, 0});
  checkAll({2,
            6,
            1,
            2,
            {{4, 3, 2, 1, 0, 1, 0}, {3, 2, 3, 2, 1, 0, 2}},
            true,
            true,
            0});
  checkAll({1, 4, 1, 1, {plain(3, 7, 3), plain(4, 5, 2)}, true, true, 0});
}

TEST(ConvolutionProducts, OneAndThreeDimensions) {
  checkAll({3, 1, 16, 4, {{5, 4, 2, 1, 2, 1, 0}}, true, true, 0});
  checkAll({2, 5, 1, 1, {{6, 3, 1, 2, 2, 2, 0}}, true, true, 0});
  checkAll({1,
            1,
            2,
            3,
            {plain(2, 2), {2, 3, 2, 1, 1, 1, 0}, plain(3, 2, 1)},
            true,
            true,
            0});
  checkAll({1,
            3,
            1,
            1,
            {plain(2, 2), {2, 3, 2, 1, 1, 1, 0}, plain(3, 2, 1)},
            true,
            true,
            0});
}

TEST(ConvolutionProducts, RandomShapes) {
  std::mt19937 random(23);
  auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < 25; ++i) {
    bool isDepthwise = draw(0, 3) == 0;
    Shape shape;
    shape.batch = draw(1, 3);
    shape.groups = isDepthwise || draw(0, 2) == 0 ? draw(2, 6) : 1;
    shape.inputs = isDepthwise ? 1 : draw(1, 20);
    shape.outputs = draw(1, isDepthwise ? 2 : 9);
    int64_t rank = draw(1, 2);
    for (int64_t dimension = 0; dimension < rank; ++dimension) {
      Window window;
      window.size = draw(1, 4);
      window.stride = draw(1, 3);
      window.dilation = draw(1, 2);
      int64_t reach = (window.size - 1) * window.dilation;
      window.outputs = draw(1, 5);
      window.before = draw(0, reach);
      window.after = draw(0, reach);
      window.beyond = draw(0, window.stride - 1);
      while (window.given() < 1)
        ++window.outputs;
      shape.windows.push_back(window);
    }
    shape.xLast = draw(0, 1);
    shape.yLast = draw(0, 1);
    shape.wOrder = static_cast<int>(draw(0, 2));
    ASSERT_NO_FATAL_FAILURE(check(shape));
  }
}
