//===- StatefulUpdate.cpp - updates with a state, in a graph --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Joint/StatefulUpdate.h"

#include "Joint/Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <array>
#include <cmath>
#include <utility>

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

/// Whether two numbers agree up to the error of f32 constants and of
/// differences of them.
static bool isNear(double a, double b) {
  return std::abs(a - b) <= 1e-4 * std::max(std::abs(a), std::abs(b)) + 1e-12;
}

bool StatefulUpdate::isLike(const StatefulUpdate &other) const {
  return optimizer == other.optimizer && isNear(rate, other.rate) &&
         isNear(beta1, other.beta1) && isNear(beta2, other.beta2) &&
         isNear(epsilon, other.epsilon);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

namespace {
/// Finds candidates for the gradient in the computation of a new state.
class GradientFinder {
public:
  explicit GradientFinder(const UpdateValues &values) : values(values) {}

  /// The largest parts of `element` that do not depend on the state, and
  /// tensors of which these are multiples.
  SmallVector<Value> find(Value element) {
    collect(element);
    return candidates;
  }

private:
  bool usesState(Value element);
  void collect(Value element);
  void add(Value element);

  const UpdateValues &values;
  llvm::DenseMap<Value, bool> known;
  SmallVector<Value> candidates;
};
} // namespace

bool GradientFinder::usesState(Value element) {
  element = resolve(element);
  if (auto found = known.find(element); found != known.end())
    return found->second;
  bool uses =
      element == values.step || llvm::is_contained(values.state, element);
  if (Operation *op = element.getDefiningOp())
    for (Value operand : op->getOperands())
      uses = uses || usesState(operand);
  return known[element] = uses;
}

void GradientFinder::add(Value element) {
  for (;;) {
    element = resolve(element);
    if (element.getType() == values.param.getType() &&
        !llvm::is_contained(candidates, element))
      candidates.push_back(element);
    Operation *op = getComputation(element);
    if (!isa_and_nonnull<arith::MulFOp, arith::DivFOp>(op))
      return;
    if (getConstant(op->getOperand(1)))
      element = op->getOperand(0);
    else if (isa<arith::MulFOp>(op) && getConstant(op->getOperand(0)))
      element = op->getOperand(1);
    else
      return;
  }
}

void GradientFinder::collect(Value element) {
  element = resolve(element);
  if (getConstant(element))
    return;
  if (!usesState(element))
    return add(element);
  if (Operation *op = getComputation(element))
    for (Value operand : op->getOperands())
      collect(operand);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

namespace {
/// The values of an element before an update.
struct Point {
  double param = 0, gradient = 0;
  std::array<double, 2> state = {0, 0};
  double step = 0;
};

/// The update, as a function of these values.
class Probe {
public:
  Probe(const UpdateValues &values, Value gradient)
      : values(values), gradient(gradient) {}

  double param(const Point &at) { return evaluate(values.newParam, at); }
  double state(size_t i, const Point &at) {
    return evaluate(values.newState[i], at);
  }
  /// Whether all values so far could be computed.
  bool isKnown() const { return known; }

private:
  double evaluate(Value of, const Point &at) {
    ElementEvaluator evaluator;
    evaluator.set(values.param, at.param);
    evaluator.set(gradient, at.gradient);
    for (auto [i, state] : llvm::enumerate(values.state))
      evaluator.set(state, at.state[i]);
    if (values.step)
      evaluator.set(values.step, at.step);
    std::optional<double> number = evaluator.evaluate(of);
    known &= number.has_value();
    return number.value_or(0);
  }

  const UpdateValues &values;
  Value gradient;
  bool known = true;
};
} // namespace

/// The points at which a formula has to be right, for steps 1 to 3.
static const Point points[] = {{0.7, -0.3, {0.2, 0.5}, 1},
                               {-1.5, 2.0, {-0.4, 1.25}, 2},
                               {3.0, 0.01, {1.0, 0.002}, 3}};

/// The decay of a parameter of 1 without gradient. 0 if it is so small that f32
/// cannot distinguish the result from 1.
static double cleanDecay(double ofParam) {
  double decay = 1 - ofParam;
  return std::abs(decay) < 3e-8 ? 0 : decay;
}

/// Whether the update of `at` subtracts `rate * direction`. `ofParam` is the
/// factor of decay. The difference is compared instead of the parameter,
/// because it is small compared to the parameter.
static bool goesBy(double direction, double rate, double ofParam,
                   const Point &at, double newParam) {
  return isNear((ofParam * at.param - newParam) / rate, direction);
}

/// Whether `veeline train` accepts these numbers.
static bool isValid(const StatefulUpdate &update) {
  auto isRate = [](double beta) { return beta >= 0 && beta < 1; };
  return update.rate > 0 && update.weightDecay >= 0 && update.epsilon >= 0 &&
         isRate(update.beta1) && isRate(update.beta2);
}

/// Matches momentum: v = beta1 v + g. The update subtracts the rate times v or,
/// with Nesterov's variant, times g + beta1 v.
static std::optional<StatefulUpdate> matchMomentum(const UpdateValues &values,
                                                   Value gradient) {
  Probe probe(values, gradient);
  StatefulUpdate update{gradient};
  update.beta1 = probe.state(0, {.state = {1, 0}});
  double ofGradient = -probe.param({.gradient = 1});
  double ofState = -probe.param({.state = {1, 0}});
  update.rate = ofGradient;
  if (!isNear(ofState, ofGradient * update.beta1)) {
    update.optimizer = Optimizer::sgdNesterov;
    update.rate = ofGradient / (1 + update.beta1);
  }
  double ofParam = probe.param({.param = 1});
  update.weightDecay = cleanDecay(ofParam) / update.rate;
  for (const Point &at : points) {
    double state = update.beta1 * at.state[0] + at.gradient;
    double direction = update.optimizer == Optimizer::sgdNesterov
                           ? at.gradient + update.beta1 * state
                           : state;
    if (!isNear(probe.state(0, at), state) ||
        !goesBy(direction, update.rate, ofParam, at, probe.param(at)))
      return {};
  }
  return probe.isKnown() && isValid(update) ? std::optional(update)
                                            : std::nullopt;
}

/// Where the direction of Lion turns, for a momentum of 1: the beta1 for which
/// beta1 + (1 - beta1) g is 0, by bisection.
static double findBeta1OfLion(Probe &probe) {
  double low = 0, high = 1;
  for (int i = 0; i < 48; ++i) {
    double middle = (low + high) / 2;
    Point at = {.gradient = -middle / (1 - middle), .state = {1, 0}};
    (probe.param(at) < 0 ? low : high) = middle;
  }
  return low;
}

/// v = beta2 v + (1 - beta2) g, and the parameter goes by the sign of
/// beta1 v + (1 - beta1) g, with the old v.
static std::optional<StatefulUpdate> matchLion(const UpdateValues &values,
                                               Value gradient) {
  Probe probe(values, gradient);
  StatefulUpdate update{gradient, Optimizer::lion};
  update.beta1 = findBeta1OfLion(probe);
  update.beta2 = probe.state(0, {.state = {1, 0}});
  update.rate = -probe.param({.gradient = 1});
  double ofParam = probe.param({.param = 1});
  update.weightDecay = cleanDecay(ofParam) / update.rate;
  SmallVector<Point> all(std::begin(points), std::end(points));
  // Where both are 0, nothing moves.
  all.push_back({0.5, 0, {0, 0}, 1});
  for (const Point &at : all) {
    double v = update.beta2 * at.state[0] + (1 - update.beta2) * at.gradient;
    double c = update.beta1 * at.state[0] + (1 - update.beta1) * at.gradient;
    double sign = (c > 0) - (c < 0);
    if (!isNear(probe.state(0, at), v) ||
        !goesBy(sign, update.rate, ofParam, at, probe.param(at)))
      return {};
  }
  return probe.isKnown() && isValid(update) ? std::optional(update)
                                            : std::nullopt;
}

/// The graph may count from `first`, 0 or 1.
static std::optional<StatefulUpdate> matchAdamW(const UpdateValues &values,
                                                Value gradient, double first) {
  Probe probe(values, gradient);
  StatefulUpdate update{gradient, Optimizer::adamw};
  update.beta1 = probe.state(0, {.state = {1, 0}, .step = first});
  update.beta2 = probe.state(1, {.state = {0, 1}, .step = first});
  // If the state already has the means of g and g * g, it does not change,
  // whatever the error of constants like 1 - beta2 is. The correction is that
  // of the first step.
  double mean = 1 / (1 - update.beta1), root = 1 / std::sqrt(1 - update.beta2);
  auto direction = [&](double g) {
    return -probe.param({.gradient = g, .state = {g, g * g}, .step = first});
  };
  // Epsilon is negligible compared to the first g, and dominates the second
  // one.
  constexpr double large = 1e9, small = 1e-10;
  update.rate = direction(large) * root / mean;
  update.epsilon = small * (update.rate * mean / direction(small) - root);
  // A smaller result is the error of constants.
  if (std::abs(update.epsilon) < 1e-3 * small)
    update.epsilon = 0;
  double ofParam = probe.param({.param = 1, .step = first});
  update.weightDecay = cleanDecay(ofParam) / update.rate;
  for (Point at : points) {
    double step = at.step;
    at.step += first - 1;
    double m = update.beta1 * at.state[0] + (1 - update.beta1) * at.gradient;
    double v = update.beta2 * at.state[1] +
               (1 - update.beta2) * at.gradient * at.gradient;
    double of =
        m / (1 - std::pow(update.beta1, step)) /
        (std::sqrt(v / (1 - std::pow(update.beta2, step))) + update.epsilon);
    if (!isNear(probe.state(0, at), m) || !isNear(probe.state(1, at), v) ||
        !goesBy(of, update.rate, ofParam, at, probe.param(at)))
      return {};
  }
  return probe.isKnown() && isValid(update) ? std::optional(update)
                                            : std::nullopt;
}

static std::optional<StatefulUpdate> match(const UpdateValues &values,
                                           Value gradient) {
  if (values.state.size() == 1) {
    auto update = matchMomentum(values, gradient);
    return update ? update : matchLion(values, gradient);
  }
  if (values.state.size() != 2 || !values.step)
    return {};
  for (double first : {0, 1})
    if (auto update = matchAdamW(values, gradient, first))
      return update;
  return {};
}

std::optional<StatefulUpdate>
veeline::pipe::matchStatefulUpdate(const UpdateValues &values) {
  for (Value gradient : GradientFinder(values).find(values.newState.front()))
    if (std::optional<StatefulUpdate> update = match(values, gradient))
      return update;
  if (values.state.size() != 2)
    return {};
  // The first state may be the mean of squares.
  UpdateValues swapped = values;
  std::swap(swapped.state[0], swapped.state[1]);
  std::swap(swapped.newState[0], swapped.newState[1]);
  for (Value gradient : GradientFinder(swapped).find(swapped.newState.front()))
    if (std::optional<StatefulUpdate> update = match(swapped, gradient))
      return update;
  return {};
}
