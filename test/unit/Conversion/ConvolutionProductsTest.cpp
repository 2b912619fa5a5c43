//===- ConvolutionProductsTest.cpp - convolutions without a library -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowers convolutions and their adjoints, of random shapes and layouts, for a
// GPU in two ways: as the library's call, and as matrix products and kernels.
// Both are compiled for this machine and compared with what the call gives on a
// CPU in f32, of the same numbers. In f16 and bf16 half of a last place is
// rounded, and in tf32 each factor.
//
//===----------------------------------------------------------------------===//

#include "CompiledModule.h"
#include "Elements.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace veeline;
using namespace veeline::test;
using standin::Element;

namespace {
/// The types of what a convolution reads and of its result.
struct Types {
  Element factors = Element::f32, result = Element::f32;
  bool isTf32 = false;
};

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
  bool xLast, yLast; ///< Channels are last.
  int wOrder;        ///< One of three orders, see arrangeWeights.
};

/// The text of a module with one function for each kind.
class Writer {
public:
  Writer(const Shape &shape, const Types &types) : shape(shape), types(types) {}

  std::string write() const;
  std::vector<int64_t> xSizes(bool padded) const;
  std::vector<int64_t> ySizes() const;
  std::vector<int64_t> wSizes() const;

private:
  template <typename T>
  std::vector<T> arrange(std::vector<T> first, std::vector<T> channels,
                         std::vector<T> spatial, bool isLast) const;
  std::string maps(int result) const;
  std::string body() const;
  std::string function(const std::string &name, int result) const;

  const Shape &shape;
  const Types &types;
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
static std::vector<T> arrangeWeights(const T &group, const T &output,
                                     const T &input,
                                     const std::vector<T> &windows, int order) {
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

static std::string nameOf(Element element) {
  return element == Element::f16    ? "f16"
         : element == Element::bf16 ? "bf16"
                                    : "f32";
}

static std::string typeOf(const std::vector<int64_t> &sizes, Element element) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  return text + nameOf(element) + ">";
}

static std::string join(const std::vector<std::string> &list) {
  std::string text;
  for (const std::string &element : list)
    text += (text.empty() ? "" : ", ") + element;
  return text;
}

/// The maps of all three operands, that of the result last, and the kinds of
/// the loops. Loops: n, g, f, c, then o and k of each dimension.
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

/// The sum of products, in the type of the result.
std::string Writer::body() const {
  std::string factor = nameOf(types.factors), sum = nameOf(types.result);
  std::string text =
      "  ^bb0(%a: " + factor + ", %b: " + factor + ", %s: " + sum + "):\n";
  std::string a = "%a", b = "%b";
  if (types.factors != types.result) {
    for (std::string *operand : {&a, &b}) {
      text += "    " + *operand + "e = arith.extf " + *operand + " : " +
              factor + " to " + sum + "\n";
      *operand += "e";
    }
  }
  return text + "    %m = arith.mulf " + a + ", " + b + " : " + sum +
         "\n    %t = arith.addf %s, %m : " + sum +
         "\n    linalg.yield %t : " + sum + "\n  } -> ";
}

std::string Writer::function(const std::string &name, int result) const {
  auto elementOf = [&](int operand) {
    return operand == result ? this->types.result : this->types.factors;
  };
  std::string padded = typeOf(xSizes(true), elementOf(0));
  std::string given = typeOf(xSizes(false), elementOf(0));
  std::vector<std::string> types{padded, typeOf(wSizes(), elementOf(1)),
                                 typeOf(ySizes(), elementOf(2))};
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
  std::string text =
      "func.func @" + name + "(" + arguments + ") -> " + out +
      " {\n  %zero = arith.constant 0.0 : " + nameOf(this->types.result) + "\n";
  if (result != 0 && padded != given) {
    text += "  %pz = arith.constant 0.0 : " + nameOf(this->types.factors) +
            "\n  %p = tensor.pad %x low[" + join(lows) + "] high[" +
            join(highs) + "] {\n  ^bb0(";
    for (size_t i = 0; i < lows.size(); ++i)
      text += (i ? ", %i" : "%i") + std::to_string(i) + ": index";
    text += "):\n    tensor.yield %pz : " + nameOf(this->types.factors) +
            "\n  } : " + given + " to " + padded + "\n";
    names[0] = "%p";
  }
  std::rotate(names.begin() + result, names.begin() + result + 1, names.end());
  std::rotate(types.begin() + result, types.begin() + result + 1, types.end());
  text += "  %e = tensor.empty() : " + types[2] + "\n  %z = linalg.fill ins(" +
          "%zero : " + nameOf(this->types.result) + ") outs(%e : " + types[2] +
          ") -> " + types[2] + "\n  %r = linalg.generic {" + maps(result) +
          "} ins(" + names[0] + ", " + names[1] + " : " + types[0] + ", " +
          types[1] + ") outs(%z : " + types[2] + ") {\n" + body() + types[2] +
          "\n";
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

/// Returns `numbers` as elements of `type`, and rounds `numbers` to it.
static std::vector<char> toElements(std::vector<float> &numbers, Element type) {
  int64_t width = standin::bytesOf(type);
  std::vector<char> bytes(numbers.size() * width);
  for (size_t i = 0; i < numbers.size(); ++i) {
    standin::store(type, &bytes[i * width], numbers[i]);
    numbers[i] =
        static_cast<float>(standin::elementAt(type, &bytes[i * width]));
  }
  return bytes;
}

/// The distance that a number may have from what sums in f32 give. `magnitude`
/// is the sum of the absolute values of the products.
static float toleranceOf(const Types &types, float expected, float largest,
                         float magnitude) {
  float ofSums = 1e-5f * largest;
  if (types.isTf32)
    return ofSums + 0x1p-10f * magnitude;
  float ofRounding = types.result == Element::bf16  ? 0x1p-8f
                     : types.result == Element::f16 ? 0x1p-11f
                                                    : 0;
  return ofSums + ofRounding * std::abs(expected);
}

static void expectClose(const std::vector<float> &found,
                        const std::vector<float> &expected,
                        const std::vector<float> &magnitudes,
                        const Types &types, const std::string &where) {
  float largest = 1;
  for (float number : expected)
    largest = std::max(largest, std::abs(number));
  for (size_t i = 0; i < expected.size(); ++i) {
    float tolerance = toleranceOf(types, expected[i], largest, magnitudes[i]);
    if (!(std::abs(found[i] - expected[i]) <= tolerance)) {
      ADD_FAILURE() << where << ": element " << i << " is " << found[i]
                    << ", expected " << expected[i];
      return;
    }
  }
}

namespace {
/// The results of all three functions.
struct Results {
  std::vector<float> forward, data, weights;
};
} // namespace

static Results run(CompiledModule &module, const Writer &writer,
                   const Types &types, Element rounded, bool isPositive) {
  std::vector<float> numbers[] = {makeNumbers(writer.xSizes(false), 1),
                                  makeNumbers(writer.wSizes(), 2),
                                  makeNumbers(writer.ySizes(), 3)};
  std::vector<char> factors[3], results[3];
  for (int i = 0; i < 3; ++i) {
    for (float &number : numbers[i])
      number = isPositive ? std::abs(number) : number;
    (void)toElements(numbers[i], rounded);
    factors[i] = toElements(numbers[i], types.factors);
    // What is in the results before does not matter.
    std::vector<float> nothing(numbers[i].size(), std::nanf(""));
    results[i] = toElements(nothing, types.result);
  }
  auto &[x, w, y] = factors;
  module.call("forward", {x.data(), w.data(), results[2].data()});
  module.call("data", {w.data(), y.data(), results[0].data()});
  module.call("weights", {x.data(), y.data(), results[1].data()});
  auto toFloats = [&](const std::vector<char> &bytes) {
    std::vector<float> floats;
    int64_t width = standin::bytesOf(types.result);
    for (size_t i = 0; i < bytes.size(); i += width)
      floats.push_back(
          static_cast<float>(standin::elementAt(types.result, &bytes[i])));
    return floats;
  };
  return {toFloats(results[2]), toFloats(results[0]), toFloats(results[1])};
}

/// What is lowered is checked, and -O0 has the bits of -O3; the long suite
/// compiles as users do.
static CompileOptions getOptions(KernelTarget target) {
  CompileOptions options;
  options.target = target;
  options.optimizationLevel = std::getenv("VEELINE_LONG") ? 3 : 0;
  return options;
}

/// Runs in f32 on this machine, with numbers that are rounded to `types`.
static Results runOnHost(const Shape &shape, const Types &types,
                         bool isPositive) {
  Types single;
  Writer writer(shape, single);
  CompiledModule module(writer.write(), getOptions(KernelTarget::Host));
  return run(module, writer, single, types.factors, isPositive);
}

static void check(const Shape &shape, const Types &types = {}) {
  Writer writer(shape, types);
  std::string text = writer.write();
  SCOPED_TRACE(text);
  Results expected = runOnHost(shape, types, false);
  Results magnitudes = types.isTf32 ? runOnHost(shape, types, true) : expected;
  CompileOptions options = getOptions(KernelTarget::Cuda);
  options.tf32 = types.isTf32;
  CompiledModule onDevice(text, options);
  ASSERT_EQ(onDevice.convolutions().size(), 3u);
  for (bool isThere : {true, false}) {
    onDevice.setHasConvolutions(isThere);
    Results found = run(onDevice, writer, types, types.factors, false);
    std::string way = isThere ? "by the library" : "by products";
    expectClose(found.forward, expected.forward, magnitudes.forward, types,
                "forward " + way);
    expectClose(found.data, expected.data, magnitudes.data, types,
                "gradient of x " + way);
    expectClose(found.weights, expected.weights, magnitudes.weights, types,
                "gradient of w " + way);
  }
}

static Window plain(int64_t outputs, int64_t size, int64_t padding = 0) {
  return {outputs, size, 1, 1, padding, padding, 0};
}

/// Checks a shape in all layouts.
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

/// Small floats, with results of their own type or of f32; and tf32.
static const Types otherTypes[] = {{Element::bf16, Element::bf16},
                                   {Element::f16, Element::f16},
                                   {Element::bf16, Element::f32},
                                   {Element::f16, Element::f32},
                                   {Element::f32, Element::f32, true}};

TEST(ConvolutionProducts, OfEveryType) {
  const Shape shapes[] = {
      // By a product for each element of the window, by one product, by
      // kernels.
      {2, 1, 17, 5, {plain(6, 3, 1), {3, 3, 2, 2, 2, 1, 1}}, true, true, 1},
      {2, 2, 16, 3, {plain(3, 2, 1), plain(4, 1)}, false, false, 0},
      {2, 1, 18, 7, {plain(4, 1), plain(3, 1)}, true, true, 0},
      {2, 1, 3, 5, {{4, 5, 2, 1, 2, 1, 0}, plain(5, 3, 1)}, true, true, 2},
      {2, 6, 1, 2, {{4, 3, 2, 1, 0, 1, 0}, plain(3, 2, 1)}, true, true, 0},
      // More products than an op writes out.
      {1, 4, 1, 1, {plain(3, 7, 3), plain(4, 5, 2)}, false, true, 1}};
  for (const Types &types : otherTypes)
    for (const Shape &shape : shapes)
      ASSERT_NO_FATAL_FAILURE(check(shape, types));
}

/// For small floats whose result is of f32, the library's entry is in tf32, on
/// extended copies.
TEST(ConvolutionProducts, EntriesOfTypes) {
  Shape shape{2, 1, 17, 5, {plain(6, 3, 1)}, true, true, 1};
  for (const Types &types : otherTypes) {
    CompileOptions options = getOptions(KernelTarget::Cuda);
    options.tf32 = types.isTf32;
    CompiledModule module(Writer(shape, types).write(), options);
    ASSERT_EQ(module.convolutions().size(), 3u);
    bool isSmall = types.result != Element::f32;
    for (const ConvolutionDesc &desc : module.convolutions()) {
      EXPECT_EQ(desc.dtype.isF32(), !isSmall);
      EXPECT_EQ(desc.isTf32, !isSmall);
    }
    for (const GemmDesc &desc : module.gemms()) {
      EXPECT_EQ(desc.dtype.isF32(), types.factors == Element::f32);
      EXPECT_EQ(desc.isTf32, types.isTf32);
      // What is added up is not rounded in between.
      EXPECT_TRUE(!desc.accumulate || desc.cType.isF32());
    }
  }
}

TEST(ConvolutionProducts, RandomShapes) {
  std::mt19937 random(23);
  auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < 40; ++i) {
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
    // The last ones take the other types in turn.
    Types types = i < 25 ? Types() : otherTypes[i % std::size(otherTypes)];
    ASSERT_NO_FATAL_FAILURE(check(shape, types));
  }
}
