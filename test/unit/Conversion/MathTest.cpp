//===- MathTest.cpp - how accurate compiled math functions are ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares f32 functions with libm's f64 ones on a dense sample of all floats.
// VEELINE_LONG=501 in the environment compares all of them.
//
//===----------------------------------------------------------------------===//

#include "../Rounds.h"
#include "CompiledModule.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace veeline;
using namespace veeline::test;

namespace {

constexpr int64_t chunk = 4099;
constexpr float infinity = std::numeric_limits<float>::infinity();

/// Is odd, so that all mantissas have a turn.
uint64_t stride() { return 2503 / rounds(5) | 1; }

struct Function {
  const char *op;
  double (*reference)(double);
  /// Units in the last place.
  double bound;
};

double rsqrtReference(double x) { return 1 / std::sqrt(x); }

const Function functions[] = {
    {"exp", std::exp, 1.03},    {"exp2", std::exp2, 0.9},
    {"expm1", std::expm1, 1.5}, {"log", std::log, 0.85},
    {"log2", std::log2, 1},     {"log10", std::log10, 1.05},
    {"log1p", std::log1p, 1.6}, {"tanh", std::tanh, 2.5},
    {"erf", std::erf, 0.95},    {"sin", std::sin, 0.51},
    {"cos", std::cos, 0.51},    {"rsqrt", rsqrtReference, 1.5},
    {"atan", std::atan, 0.51},  {"sinh", std::sinh, 0.51},
    {"cbrt", std::cbrt, 0.51},
};

std::string functionText(const std::string &name, const std::string &body,
                         unsigned numInputs) {
  std::string size = std::to_string(chunk);
  std::string type = "tensor<" + size + "xf32>", maps, arguments, inputs, types,
              block;
  for (unsigned i = 0; i < numInputs; ++i) {
    std::string n = std::to_string(i);
    arguments += (i ? ", %x" : "%x") + n + ": " + type;
    inputs += (i ? ", %x" : "%x") + n;
    types += (i ? ", " : "") + type;
    block += "%a" + n + ": f32, ";
    maps += "affine_map<(i) -> (i)>, ";
  }
  return "func.func @test_" + name + "(" + arguments + ") -> " + type + " {\n" +
         "%e = tensor.empty() : " + type + "\n" +
         "%y = linalg.generic {indexing_maps = [" + maps +
         "affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} ins(" +
         inputs + " : " + types + ") outs(%e : " + type + ") {\n^bb0(" + block +
         "%o: f32):\n%r = " + body + "\nlinalg.yield %r : f32\n} -> " + type +
         "\nreturn %y : " + type + "\n}\n";
}

std::string moduleText() {
  std::string text;
  for (const Function &function : functions)
    text += functionText(function.op,
                         std::string("math.") + function.op + " %a0 : f32", 1);
  return text + functionText("powf", "math.powf %a0, %a1 : f32", 2);
}

CompiledModule &module() {
  static CompiledModule compiled(moduleText());
  return compiled;
}

/// |actual - expected| in units of the last place of f32 near `expected`.
double ulps(float actual, double expected) {
  float rounded = static_cast<float>(expected);
  if (std::isnan(expected) || std::isnan(actual))
    return std::isnan(expected) && std::isnan(actual) ? 0 : 1e30;
  if (actual == rounded)
    return std::signbit(actual) == std::signbit(rounded) || expected != 0
               ? 0
               : 1e30;
  if (std::isinf(rounded) || std::isinf(actual)) {
    // Overflow may come one step early or late.
    float largest = std::numeric_limits<float>::max();
    return std::fabs(std::isinf(actual) ? rounded : actual) == largest ? 1
                                                                       : 1e30;
  }
  int exponent = std::max(std::ilogb(expected), -126);
  return std::fabs(actual - expected) / std::ldexp(1.0, exponent - 23);
}

struct Worst {
  double ulps = 0;
  float x = 0, y = 0, result = 0;

  void update(double error, float a, float b, float value) {
    if (error > ulps)
      *this = {error, a, b, value};
  }
};

class MathFunction : public testing::TestWithParam<Function> {};

TEST_P(MathFunction, IsAccurateOverTheWholeRange) {
  std::vector<float> x(chunk), y(chunk);
  Worst worst;
  const uint64_t step = stride();
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32);) {
    for (float &value : x) {
      value = std::bit_cast<float>(static_cast<uint32_t>(bits));
      bits += step;
    }
    module().call(std::string("test_") + GetParam().op, {x.data(), y.data()});
    for (int64_t i = 0; i < chunk; ++i)
      worst.update(ulps(y[i], GetParam().reference(x[i])), x[i], 0, y[i]);
  }
  RecordProperty("ulps", std::to_string(worst.ulps));
  std::printf("%s: %.3f ulp\n", GetParam().op, worst.ulps);
  EXPECT_LE(worst.ulps, GetParam().bound)
      << "at " << worst.x << ": " << worst.result << ", expected "
      << GetParam().reference(worst.x);
}

TEST_P(MathFunction, IsRightAtSpecialValues) {
  const float specials[] = {0.0f,
                            -0.0f,
                            1.0f,
                            -1.0f,
                            infinity,
                            -infinity,
                            std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::denorm_min(),
                            -std::numeric_limits<float>::denorm_min(),
                            std::numeric_limits<float>::min(),
                            std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::lowest(),
                            0.5f,
                            88.7228f,
                            88.7229f,
                            -87.3366f,
                            -103.972f,
                            -103.973f,
                            1e-30f,
                            1e10f,
                            3.14159274f,
                            1.57079637f};
  std::vector<float> x(chunk, 1.0f), y(chunk);
  std::copy(std::begin(specials), std::end(specials), x.begin());
  module().call(std::string("test_") + GetParam().op, {x.data(), y.data()});
  for (size_t i = 0; i < std::size(specials); ++i)
    EXPECT_LE(ulps(y[i], GetParam().reference(x[i])), GetParam().bound)
        << GetParam().op << "(" << x[i] << ") is " << y[i];
}

// The tail of a vector loop and its body agree with each other lane by lane.
TEST_P(MathFunction, LanesAgree) {
  std::vector<float> x(chunk, 0.7317f), y(chunk);
  module().call(std::string("test_") + GetParam().op, {x.data(), y.data()});
  for (float value : y)
    EXPECT_EQ(std::bit_cast<uint32_t>(value), std::bit_cast<uint32_t>(y[0]));
}

INSTANTIATE_TEST_SUITE_P(All, MathFunction, testing::ValuesIn(functions),
                         [](const auto &info) {
                           return std::string(info.param.op);
                         });

TEST(Pow, IsAccurate) {
  std::vector<float> x(chunk), y(chunk), z(chunk);
  Worst worst;
  uint64_t state = 1;
  auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state >> 32);
  };
  for (int round = 0; round < 200; ++round) {
    for (int64_t i = 0; i < chunk; ++i) {
      x[i] = std::bit_cast<float>(next());
      y[i] = std::bit_cast<float>(next());
      // In half of the cases, few results are 0 or infinite.
      if (i % 2)
        y[i] = std::ldexp(static_cast<float>(next()) / 4294967296.0f - 0.5f, 5);
      if (i % 4 == 1)
        x[i] = static_cast<float>(next()) / 1073741824.0f;
      if (i % 8 == 3)
        y[i] = std::floor(y[i]);
    }
    module().call("test_powf", {x.data(), y.data(), z.data()});
    for (int64_t i = 0; i < chunk; ++i)
      worst.update(ulps(z[i], std::pow(double(x[i]), double(y[i]))), x[i], y[i],
                   z[i]);
  }
  std::printf("powf: %.3f ulp\n", worst.ulps);
  EXPECT_LE(worst.ulps, 0.51)
      << worst.x << " ^ " << worst.y << " is " << worst.result;
}

TEST(Pow, IsRightAtSpecialValues) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float specials[] = {0.0f,        -0.0f,  1.0f,    -1.0f,      infinity,
                            -infinity,   nan,    2.0f,    -2.0f,      3.0f,
                            -3.0f,       0.5f,   -0.5f,   1e30f,      -1e30f,
                            16777217.0f, 1e-40f, -1e-40f, 0.99999994f};
  std::vector<float> x(chunk, 1.0f), y(chunk, 1.0f), z(chunk);
  size_t count = std::size(specials), total = count * count;
  for (size_t i = 0; i < total; ++i) {
    x[i] = specials[i / count];
    y[i] = specials[i % count];
  }
  module().call("test_powf", {x.data(), y.data(), z.data()});
  for (size_t i = 0; i < total; ++i)
    EXPECT_LE(ulps(z[i], std::pow(double(x[i]), double(y[i]))), 0.51)
        << x[i] << " ^ " << y[i] << " is " << z[i];
}

} // namespace
