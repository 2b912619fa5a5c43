//===- OptimizersTest.cpp - optimisers against plain formulas -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NewtonSchulz.h"
#include "Update.h"
#include "veeline/Library/OneThread.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace veeline;
using namespace veeline::host;
using artifact::DataType;

using Matrix = std::vector<double>;

/// a * b, n x k by k x m.
static Matrix multiply(const Matrix &a, const Matrix &b, size_t n, size_t k,
                       size_t m) {
  Matrix c(n * m);
  for (size_t i = 0; i < n; ++i)
    for (size_t p = 0; p < k; ++p)
      for (size_t j = 0; j < m; ++j)
        c[i * m + j] += a[i * k + p] * b[p * m + j];
  return c;
}

static Matrix transpose(const Matrix &a, size_t rows, size_t columns) {
  Matrix result(a.size());
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      result[j * rows + i] = a[i * columns + j];
  return result;
}

static double squaresOf(const Matrix &a) {
  double sum = 0;
  for (double x : a)
    sum += x * x;
  return sum;
}

/// x = a x + b (x x') x + c (x x')^2 x, five times.
static Matrix orthogonalised(Matrix x, size_t rows, size_t columns) {
  double norm = std::sqrt(squaresOf(x)) + 1e-7;
  for (double &value : x)
    value /= norm;
  for (int step = 0; step < 5; ++step) {
    Matrix gram = multiply(x, transpose(x, rows, columns), rows, columns, rows);
    Matrix once = multiply(gram, x, rows, rows, columns);
    Matrix twice = multiply(gram, once, rows, rows, columns);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = 3.4445 * x[i] - 4.7750 * once[i] + 2.0315 * twice[i];
  }
  return x;
}

static Matrix randomMatrix(size_t count) {
  static std::mt19937 random(5);
  std::normal_distribution<double> normal(0, 1);
  Matrix matrix(count);
  for (double &value : matrix)
    value = normal(random);
  return matrix;
}

template <typename T> static std::vector<T> as(const Matrix &matrix) {
  return std::vector<T>(matrix.begin(), matrix.end());
}

template <typename T>
static void checkNewtonSchulz(DataType type, size_t rows, size_t columns,
                              double tolerance) {
  OneThread oneThread;
  Matrix start = randomMatrix(rows * columns);
  auto iteration = NewtonSchulz::create(type, int64_t(rows), int64_t(columns));
  ASSERT_TRUE(iteration.ok()) << iteration.message();
  std::vector<T> x = as<T>(start);
  std::vector<char> workspace(static_cast<size_t>(
      newtonSchulzElements(int64_t(rows), int64_t(columns)) *
      artifact::byteSize(type)));
  ASSERT_TRUE(
      (*iteration)->run(x.data(), squaresOf(start), workspace.data()).ok());
  Matrix expected = orthogonalised(start, rows, columns);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(x[i], expected[i], tolerance) << rows << 'x' << columns;
}

TEST(NewtonSchulz, AgreesWithPlainProducts) {
  for (auto [rows, columns] : {std::pair<size_t, size_t>{1, 1},
                               {1, 7},
                               {7, 1},
                               {5, 5},
                               {12, 40},
                               {40, 12},
                               {64, 64}}) {
    checkNewtonSchulz<double>(DataType::f64, rows, columns, 1e-11);
    checkNewtonSchulz<float>(DataType::f32, rows, columns, 2e-4);
  }
}

// The singular values of a square matrix come near 1: x x' near the identity.
TEST(NewtonSchulz, IsNearlyOrthogonal) {
  OneThread oneThread;
  constexpr size_t n = 16, m = 64;
  Matrix x = randomMatrix(n * m);
  auto iteration = NewtonSchulz::create(DataType::f64, n, m);
  ASSERT_TRUE(iteration.ok());
  std::vector<char> workspace(
      static_cast<size_t>(newtonSchulzElements(n, m) * 8));
  ASSERT_TRUE((*iteration)->run(x.data(), squaresOf(x), workspace.data()).ok());
  Matrix gram = multiply(x, transpose(x, n, m), n, m, n);
  double trace = 0;
  for (size_t i = 0; i < n; ++i)
    trace += gram[i * n + i];
  EXPECT_NEAR(trace / n, 1, 0.25);
}

TEST(NewtonSchulz, OfZeros) {
  OneThread oneThread;
  auto iteration = NewtonSchulz::create(DataType::f32, 2, 3);
  ASSERT_TRUE(iteration.ok());
  std::vector<float> x(6), workspace(14);
  ASSERT_TRUE((*iteration)->run(x.data(), 0, workspace.data()).ok());
  EXPECT_EQ(x, std::vector<float>(6));
}

TEST(Optimizers, Muon) {
  OneThread oneThread;
  constexpr size_t rows = 6, columns = 10, count = rows * columns;
  ParamUpdate update{Optimizer::muon, DataType::f64, count,  true,
                     false,           rows,          columns};
  std::vector<char> workspace(
      static_cast<size_t>(newtonSchulzElements(rows, columns) * 8));
  ASSERT_TRUE(prepare(update, workspace.data()).ok());
  Matrix value = randomMatrix(count), expected = value;
  Matrix state(2 * count), momentum(count);
  StepSettings settings;
  settings.learningRate = 0.02;
  settings.weightDecay = 0.1;
  for (settings.step = 1; settings.step <= 3; ++settings.step) {
    Matrix g = randomMatrix(count);
    const void *gradients[] = {g.data()};
    ASSERT_TRUE(updateParam(update, settings, 2, value.data(), state.data(),
                            gradients, 1)
                    .ok());
    Matrix direction(count);
    for (size_t i = 0; i < count; ++i) {
      momentum[i] = 0.95 * momentum[i] + g[i] / 2;
      direction[i] = g[i] / 2 + 0.95 * momentum[i];
    }
    direction = orthogonalised(direction, rows, columns);
    for (size_t i = 0; i < count; ++i) {
      expected[i] = expected[i] * (1 - 0.02 * 0.1) -
                    0.02 * 0.2 * std::sqrt(10.0) * direction[i];
      ASSERT_NEAR(value[i], expected[i], 1e-12) << "step " << settings.step;
    }
    EXPECT_NEAR(update.squaredGradientNorm, squaresOf(g) / 4, 1e-9);
  }
}

// Of a vector, Muon is AdamW.
TEST(Optimizers, MuonOfAVector) {
  artifact::Metadata metadata;
  metadata.optimizer = Optimizer::muon;
  metadata.params.resize(3);
  metadata.params[0].shape = {8};
  metadata.params[1].shape = {4, 2};
  metadata.params[2].shape = {2, 2, 3};
  EXPECT_EQ(updateOf(metadata, 0).optimizer, Optimizer::adamw);
  EXPECT_EQ(updateOf(metadata, 1).optimizer, Optimizer::muon);
  EXPECT_EQ(updateOf(metadata, 1).rows, 4);
  EXPECT_EQ(updateOf(metadata, 1).columns, 2);
  EXPECT_EQ(updateOf(metadata, 2).optimizer, Optimizer::adamw);
}

TEST(Optimizers, NadamW) {
  ParamUpdate update{Optimizer::nadamw, DataType::f64, 1, true};
  double value = 0.7, expected = value, first = 0, second = 0, product = 1;
  Matrix state(2);
  StepSettings settings;
  settings.learningRate = 0.01;
  settings.beta1 = 0.99;
  settings.weightDecay = 0.1;
  auto momentumAt = [](int64_t step) {
    return 0.99 * (1 - 0.5 * std::pow(0.96, 0.004 * double(step)));
  };
  for (settings.step = 1; settings.step <= 5; ++settings.step) {
    double g = randomMatrix(1)[0];
    const void *gradients[] = {&g};
    ASSERT_TRUE(
        updateParam(update, settings, 1, &value, state.data(), gradients, 1)
            .ok());
    double current = momentumAt(settings.step);
    double next = momentumAt(settings.step + 1);
    product *= current;
    first = 0.99 * first + 0.01 * g;
    second = 0.999 * second + 0.001 * g * g;
    double unbiased = second / (1 - std::pow(0.999, double(settings.step)));
    double direction =
        next * first / (1 - product * next) + (1 - current) * g / (1 - product);
    expected = expected * (1 - 0.01 * 0.1) -
               0.01 * direction / (std::sqrt(unbiased) + 1e-8);
    EXPECT_NEAR(value, expected, 1e-12) << "step " << settings.step;
  }
}

/// Trains a number for some steps, and compares it with what `step` makes of
/// (value, gradient, number of the step). Its rates are 0.02 and 0.1.
static void
checkScalar(Optimizer optimizer,
            const std::function<double(double, double, int64_t)> &step) {
  ParamUpdate update{optimizer, DataType::f64, 1, true};
  double value = 0.7, expected = value;
  Matrix state(2);
  StepSettings settings;
  settings.beta2 = 0.99;
  settings.weightDecay = 0.05;
  settings.learningRate = 0.04;
  settings.ofParams = std::make_shared<const std::vector<ParamRates>>(
      std::vector<ParamRates>{{0.5, 0.1}});
  for (settings.step = 1; settings.step <= 5; ++settings.step) {
    double g = settings.step == 4 ? 0 : randomMatrix(1)[0];
    const void *gradients[] = {&g};
    ASSERT_TRUE(
        updateParam(update, settings, 1, &value, state.data(), gradients, 1)
            .ok());
    expected = step(expected, g, settings.step);
    EXPECT_NEAR(value, expected, 1e-14)
        << name(optimizer) << ", step " << settings.step;
  }
}

static constexpr double keep = 1 - 0.02 * 0.1;

TEST(Optimizers, SgdOfAGroup) {
  checkScalar(Optimizer::sgd,
              [](double w, double g, int64_t) { return w * keep - 0.02 * g; });
}

TEST(Optimizers, SgdMomentum) {
  double v = 0;
  checkScalar(Optimizer::sgdMomentum, [&](double w, double g, int64_t) {
    v = 0.9 * v + g;
    return w * keep - 0.02 * v;
  });
}

TEST(Optimizers, SgdNesterov) {
  double v = 0;
  checkScalar(Optimizer::sgdNesterov, [&](double w, double g, int64_t) {
    v = 0.9 * v + g;
    return w * keep - 0.02 * (g + 0.9 * v);
  });
}

TEST(Optimizers, Lion) {
  double v = 0;
  checkScalar(Optimizer::lion, [&](double w, double g, int64_t) {
    double c = 0.9 * v + 0.1 * g;
    v = 0.99 * v + 0.01 * g;
    return w * keep - 0.02 * (c > 0 ? 1 : -1);
  });
}

TEST(Optimizers, Adam) {
  double first = 0, second = 0;
  checkScalar(Optimizer::adam, [&](double w, double g, int64_t t) {
    g += 0.1 * w;
    first = 0.9 * first + 0.1 * g;
    second = 0.99 * second + 0.01 * g * g;
    double unbiased = first / (1 - std::pow(0.9, double(t)));
    double squares = second / (1 - std::pow(0.99, double(t)));
    return w - 0.02 * unbiased / (std::sqrt(squares) + 1e-8);
  });
}

TEST(Optimizers, AdamW) {
  double first = 0, second = 0;
  checkScalar(Optimizer::adamw, [&](double w, double g, int64_t t) {
    first = 0.9 * first + 0.1 * g;
    second = 0.99 * second + 0.01 * g * g;
    double unbiased = first / (1 - std::pow(0.9, double(t)));
    double squares = second / (1 - std::pow(0.99, double(t)));
    return w * keep - 0.02 * unbiased / (std::sqrt(squares) + 1e-8);
  });
}

// Where there is no direction, Lion does not step; NaN stays.
TEST(Optimizers, LionOfZeroAndNan) {
  ParamUpdate update{Optimizer::lion, DataType::f32, 2, false};
  std::vector<float> value = {3, 4}, state(2), g = {0, NAN};
  const void *gradients[] = {g.data()};
  ASSERT_TRUE(updateParam(update, StepSettings(), 1, value.data(), state.data(),
                          gradients, 1)
                  .ok());
  EXPECT_EQ(value[0], 3);
  EXPECT_TRUE(std::isnan(value[1]));
}

/// A step of Adafactor by the formulas of the paper, in sums. `ofRows` is empty
/// where all second moments are kept, in `ofColumns`.
static void stepAdafactor(Matrix &x, const Matrix &g, Matrix &ofRows,
                          Matrix &ofColumns, double rho, double decay,
                          int64_t t) {
  double beta = 1 - std::pow(double(t), -0.8), all = 0;
  size_t columns = ofColumns.size(), n = x.size();
  for (Matrix *sums : {&ofRows, &ofColumns})
    for (double &sum : *sums)
      sum *= beta;
  for (size_t i = 0; i < n; ++i) {
    double square = (1 - beta) * (g[i] * g[i] + 1e-30);
    ofColumns[i % columns] += square;
    if (!ofRows.empty())
      ofRows[i / columns] += square;
  }
  for (double sum : ofRows)
    all += sum;
  Matrix u(n);
  for (size_t i = 0; i < n; ++i) {
    double v = ofColumns[i % columns];
    u[i] = g[i] / std::sqrt(ofRows.empty() ? v : ofRows[i / columns] * v / all);
  }
  double rms = std::sqrt(squaresOf(u) / double(n));
  double alpha = rho * std::max(1e-3, std::sqrt(squaresOf(x) / double(n)));
  for (size_t i = 0; i < n; ++i)
    x[i] = x[i] * (1 - rho * decay) - alpha * u[i] / std::max(1.0, rms);
}

template <typename T>
static void checkAdafactor(DataType type, size_t rows, size_t columns,
                           double tolerance) {
  size_t count = rows * columns;
  bool isMatrix = rows > 1;
  ParamUpdate update{Optimizer::adafactor, type, int64_t(count), isMatrix};
  update.rows = isMatrix ? int64_t(rows) : 0;
  update.columns = isMatrix ? int64_t(columns) : 0;
  Matrix expected = randomMatrix(count), ofRows(isMatrix ? rows : 0),
         ofColumns(columns);
  std::vector<T> value = as<T>(expected);
  std::vector<T> state(static_cast<size_t>(update.ownStateElements()));
  EXPECT_EQ(state.size(), isMatrix ? rows + columns : count);
  StepSettings settings;
  settings.weightDecay = 0.1;
  for (settings.step = 1; settings.step <= 4; ++settings.step) {
    settings.learningRate = 0.05 / double(settings.step);
    Matrix g = randomMatrix(count);
    // The update is longer than 1 after much smaller ones.
    for (double &x : g)
      x *= settings.step == 3 ? 50 : 0.1;
    std::vector<T> narrow = as<T>(g);
    const void *gradients[] = {narrow.data()};
    for (double &x : g)
      x /= 2;
    ASSERT_TRUE(updateParam(update, settings, 2, value.data(), state.data(),
                            gradients, 1)
                    .ok());
    stepAdafactor(expected, g, ofRows, ofColumns, settings.learningRate,
                  isMatrix ? 0.1 : 0, settings.step);
    for (size_t i = 0; i < count; ++i)
      ASSERT_NEAR(value[i], expected[i], tolerance)
          << rows << 'x' << columns << ", step " << settings.step;
    EXPECT_NEAR(update.squaredGradientNorm, squaresOf(g), 1e-6 * squaresOf(g));
  }
}

TEST(Optimizers, Adafactor) {
  for (auto [rows, columns] : {std::pair<size_t, size_t>{1, 7},
                               {6, 10},
                               {3, 2500},
                               {300, 2},
                               {1, 5000}}) {
    checkAdafactor<double>(DataType::f64, rows, columns, 1e-13);
    checkAdafactor<float>(DataType::f32, rows, columns, 1e-5);
  }
}

TEST(Optimizers, StateOfAdafactor) {
  using Shapes = std::vector<std::vector<int64_t>>;
  EXPECT_EQ(
      stateShapes(Optimizer::adafactor, false, std::vector<int64_t>{4, 3}),
      Shapes({{4}, {3}}));
  EXPECT_EQ(stateShapes(Optimizer::adafactor, true, std::vector<int64_t>{4, 3}),
            Shapes({{4}, {3}, {4, 3}}));
  EXPECT_EQ(
      stateShapes(Optimizer::adafactor, false, std::vector<int64_t>{4, 3, 2}),
      Shapes({{4, 3, 2}}));
  EXPECT_EQ(
      stateElements(Optimizer::adafactor, true, std::vector<int64_t>{4, 3}),
      19);
  EXPECT_EQ(stateElements(Optimizer::adamw, true, std::vector<int64_t>{4, 3}),
            36);
  EXPECT_EQ(stateElements(Optimizer::sgd, false, std::vector<int64_t>{4, 3}),
            0);
}

namespace {
/// Updates with error feedback beside ordinary ones of the same values.
class FedBack {
public:
  FedBack(Optimizer optimizer, size_t rows, size_t columns)
      : count(rows * columns), update{optimizer, DataType::f64, int64_t(count),
                                      columns > 1},
        value(randomMatrix(count)), before(count) {
    update.rows = int64_t(rows);
    update.columns = int64_t(columns);
    workspace.resize(static_cast<size_t>(
        newtonSchulzElements(update.rows, update.columns) * 8));
    EXPECT_TRUE(prepare(update, workspace.data()).ok());
    ordinary = update;
    update.errorFeedback = true;
    state.resize(static_cast<size_t>(update.stateBytes()) / 8);
    ordinaryState.resize(static_cast<size_t>(ordinary.stateBytes()) / 8);
  }

  /// value = old - u - c (u - u'), where the ordinary update subtracts u.
  void step(const StepSettings &settings, double c, const double *factor) {
    Matrix g = randomMatrix(count), expected = value, old = value;
    run(ordinary, settings, g, expected, ordinaryState, factor);
    run(update, settings, g, value, state, factor);
    for (size_t i = 0; i < count; ++i) {
      double u = old[i] - expected[i];
      expected[i] -= c * (u - before[i]);
      before[i] = u;
      ASSERT_NEAR(value[i], expected[i], 1e-13)
          << name(update.optimizer) << ", step " << settings.step;
    }
  }

private:
  static void run(ParamUpdate &with, const StepSettings &settings,
                  const Matrix &g, Matrix &value, Matrix &state,
                  const double *factor) {
    const void *gradients[] = {g.data()};
    ASSERT_TRUE(updateParam(with, settings, 2, value.data(), state.data(),
                            gradients, 1, factor)
                    .ok());
  }

  size_t count;
  ParamUpdate update, ordinary;
  Matrix value, before, state, ordinaryState;
  std::vector<char> workspace;
};
} // namespace

TEST(Optimizers, ErrorFeedback) {
  OneThread oneThread;
  for (const std::string &optimizer : optimizerNames())
    for (auto [rows, columns] :
         {std::pair<size_t, size_t>{1500, 1}, {6, 10}, {40, 30}}) {
      if (optimizer == "muon" && columns == 1)
        continue;
      FedBack parameter(*parseOptimizer(optimizer), rows, columns);
      StepSettings settings;
      settings.weightDecay = 0.1;
      settings.errorFeedback = 0.75;
      double factor = 0.5;
      for (settings.step = 1; settings.step <= 5; ++settings.step) {
        settings.learningRate = 0.01 * double(settings.step);
        parameter.step(settings, settings.step == 1 ? 0 : 0.75,
                       settings.step == 3 ? &factor : nullptr);
      }
    }
}
