//===- GradientCheck.cpp - derivatives against differences ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientCheck.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <random>
#include <sstream>

using namespace mlir;
using namespace veeline::test;
using namespace veeline::pipe;
namespace autodiff = veeline::autodiff;
using autodiff::OperandKind;

static bool isFloat(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

std::unique_ptr<GradientCheck> GradientCheck::read(const std::string &path) {
  std::unique_ptr<GradientCheck> check(new GradientCheck());
  DialectRegistry registry;
  registerTestDialects(registry);
  check->context.appendDialectRegistry(registry);
  check->context.allowUnregisteredDialects();
  check->context.disableMultithreading();
  check->module = parseSourceFile<ModuleOp>(path, &check->context);
  if (!check->module)
    return nullptr;
  for (auto primal : llvm::to_vector(check->module->getOps<func::FuncOp>()))
    if (failed(check->differentiate(primal)))
      return nullptr;
  if (failed(verify(*check->module)))
    return nullptr;
  return check;
}

std::unique_ptr<GradientCheck> GradientCheck::load(const std::string &path) {
  std::unique_ptr<GradientCheck> check = read(path);
  if (!check)
    return nullptr;
  OwningOpRef<ModuleOp> lowered = check->module->clone();
  check->compiled = JitModule::compile(*lowered);
  return check->compiled ? std::move(check) : nullptr;
}

/// The description of a function, as its attributes say.
static autodiff::ChunkDescription describe(func::FuncOp primal) {
  autodiff::ChunkDescription description;
  bool isSecond = false, isModel = false;
  for (unsigned i = 0; i != primal.getNumArguments(); ++i) {
    OperandKind kind = OperandKind::Constant;
    if (primal.getArgAttr(i, "pipe.param")) {
      kind = OperandKind::Parameter;
      isModel = true;
    } else if (primal.getArgAttr(i, "test.parameter")) {
      kind = OperandKind::Parameter;
    } else if (isFloat(primal.getArgumentTypes()[i]) &&
               !primal.getArgAttr(i, "pipe.batch")) {
      kind = isSecond ? OperandKind::Parameter : OperandKind::EdgeValue;
      isSecond = !isSecond;
    }
    description.operands.push_back(kind);
  }
  bool hasLoss = primal->hasAttr("test.loss") || isModel;
  for (auto [i, type] : llvm::enumerate(primal.getResultTypes()))
    description.hasResultGradient.push_back(isFloat(type) &&
                                            !(hasLoss && i == 0));
  if (hasLoss)
    description.loss = 0;
  return description;
}

LogicalResult GradientCheck::differentiate(func::FuncOp primal) {
  primal.walk([&](Operation *op) {
    opNames.insert(op->getName().getStringRef().str());
  });
  Function function;
  function.primal = primal;
  function.description = describe(primal);
  auto chunk = autodiff::differentiateChunk(primal, function.description);
  if (failed(chunk))
    return failure();
  auto split = autodiff::splitBackward(
      *chunk->backward, primal.getName(), [&](unsigned operand) {
        OperandKind kind = function.description.operands[operand];
        return kind == OperandKind::Parameter || kind == OperandKind::Constant;
      });
  if (failed(split))
    return failure();
  auto add = [&](OwningOpRef<func::FuncOp> &func) -> func::FuncOp {
    if (func)
      module->push_back(*func);
    return func ? func.release() : func::FuncOp();
  };
  function.forward = add(chunk->forward);
  function.backward = add(chunk->backward);
  function.input = add(split->input);
  function.weight = add(split->weight);
  functions.insert({primal.getName().str(), function});
  return success();
}

std::vector<std::string> GradientCheck::getFunctions() const {
  std::vector<std::string> names;
  for (const auto &[name, function] : functions)
    names.push_back(name);
  return names;
}

Array GradientCheck::makeArgument(func::FuncOp primal, unsigned index,
                                  unsigned seed) {
  Array array(cast<RankedTensorType>(primal.getArgumentTypes()[index]));
  std::mt19937_64 generator(1000 * seed + index);
  if (!isFloat(array.type)) {
    auto below = primal.getArgAttrOfType<IntegerAttr>(index, "test.below");
    int last = array.type.getElementType().isInteger(1) ? 1 : 6;
    std::uniform_int_distribution<int> any(0,
                                           below ? below.getInt() - 1 : last);
    for (int64_t i = 0; i != array.size(); ++i)
      array.set(i, any(generator));
    return array;
  }
  double lo = -1.0, hi = 1.0;
  if (auto range = primal.getArgAttrOfType<ArrayAttr>(index, "test.range")) {
    lo = cast<FloatAttr>(range[0]).getValueAsDouble();
    hi = cast<FloatAttr>(range[1]).getValueAsDouble();
  }
  std::uniform_real_distribution<double> any(lo, hi);
  for (int64_t i = 0; i != array.size(); ++i)
    array.set(i, any(generator));
  return array;
}

std::vector<Array> GradientCheck::makeCotangents(Function &function,
                                                 bool random) {
  std::mt19937_64 generator(7);
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  std::vector<Array> cotangents;
  for (auto [i, type] : llvm::enumerate(function.primal.getResultTypes())) {
    cotangents.emplace_back(cast<RankedTensorType>(type));
    bool isLoss = function.description.loss == i;
    bool counts = isLoss || function.description.hasResultGradient[i];
    for (int64_t j = 0; j != cotangents.back().size(); ++j)
      cotangents.back().set(j, !counts             ? 0.0
                               : isLoss || !random ? 1.0
                                                   : any(generator));
  }
  return cotangents;
}

void GradientCheck::call(func::FuncOp func, Values &values, Runner runner) {
  auto key = [](RoleAttr role) {
    return std::pair(role.getKind(), role.getIndex());
  };
  std::vector<Array *> arguments;
  for (unsigned i = 0; i != func.getNumArguments(); ++i)
    arguments.push_back(&values.at(key(getArgRole(func, i))));
  std::vector<Array> results;
  for (Type type : func.getResultTypes())
    results.emplace_back(cast<RankedTensorType>(type));
  runner(func.getName(), arguments, results);
  for (unsigned i = 0; i != func.getNumResults(); ++i)
    values.insert_or_assign(key(getResultRole(func, i)), results[i]);
}

GradientCheck::Values GradientCheck::runAll(Function &function,
                                            std::vector<Array> &arguments,
                                            std::vector<Array> &cotangents,
                                            bool split, Runner runner) {
  auto jit = [&](llvm::StringRef name, llvm::ArrayRef<Array *> taken,
                 llvm::MutableArrayRef<Array> given) {
    compiled->run(name, taken, given);
  };
  if (!runner)
    runner = jit;
  Values values;
  auto put = [&](RoleKind kind, unsigned i, const Array &array) {
    values.insert({{kind, i}, array});
  };
  for (unsigned i = 0; i != arguments.size(); ++i)
    put(RoleKind::Operand, i, arguments[i]);
  for (unsigned i = 0; i != cotangents.size(); ++i)
    put(RoleKind::ResultGrad, i, cotangents[i]);
  call(function.forward, values, runner);
  if (!split)
    call(function.backward, values, runner);
  if (split && function.input)
    call(function.input, values, runner);
  if (split && function.weight)
    call(function.weight, values, runner);
  return values;
}

GradientCheck::Values GradientCheck::run(const std::string &name, bool split,
                                         Runner runner) {
  Function &function = functions.at(name);
  std::vector<Array> arguments;
  for (unsigned i = 0; i != function.primal.getNumArguments(); ++i)
    arguments.push_back(makeArgument(function.primal, i, 1));
  std::vector<Array> cotangents = makeCotangents(function, /*random=*/true);
  return runAll(function, arguments, cotangents, split, runner);
}

std::vector<Array> GradientCheck::runPrimal(Function &function,
                                            std::vector<Array> &arguments) {
  std::vector<Array *> pointers;
  for (Array &argument : arguments)
    pointers.push_back(&argument);
  std::vector<Array> results;
  for (Type type : function.primal.getResultTypes())
    results.emplace_back(cast<RankedTensorType>(type));
  compiled->run(function.primal.getName(), pointers, results);
  return results;
}

double GradientCheck::evaluate(Function &function,
                               std::vector<Array> &arguments,
                               std::vector<Array> &cotangents) {
  std::vector<Array> results = runPrimal(function, arguments);
  long double sum = 0.0;
  for (unsigned i = 0; i != results.size(); ++i)
    for (int64_t j = 0; j != results[i].size(); ++j)
      if (double weight = cotangents[i].get(j))
        sum += static_cast<long double>(weight) * results[i].get(j);
  return sum;
}

/// About this many single elements of an argument are checked, and all of them
/// together in one random direction.
static constexpr int64_t maxElements = 40;

/// The derivative of the function in `direction` of `argument`, one of
/// `arguments`. If the difference is not `exact`, tries a smaller step: that
/// leaves a kink behind, but not a wrong gradient.
double GradientCheck::getDifference(Function &function,
                                    std::vector<Array> &arguments,
                                    std::vector<Array> &cotangents,
                                    Array &argument,
                                    const std::vector<double> &direction,
                                    double exact) {
  const Array original = argument;
  auto at = [&](double t) {
    for (int64_t i = 0; i != argument.size(); ++i)
      if (direction[i])
        argument.set(i, original.get(i) + t * direction[i]);
    return evaluate(function, arguments, cotangents);
  };
  auto differentiate = [&](double h) {
    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
  };
  double difference = differentiate(3e-4);
  if (std::abs(exact - difference) > 1e-7 * std::abs(difference))
    difference = differentiate(1e-5);
  argument = original;
  return difference;
}

std::string GradientCheck::compare(Function &function,
                                   std::vector<Array> &arguments,
                                   std::vector<Array> &cotangents,
                                   const Values &values) {
  std::ostringstream problems;
  std::mt19937_64 generator(11);
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  for (unsigned a = 0; a != arguments.size(); ++a) {
    OperandKind kind = function.description.operands[a];
    if (kind == OperandKind::Constant)
      continue;
    RoleKind role = kind == OperandKind::Parameter ? RoleKind::ParamGrad
                                                   : RoleKind::OperandGrad;
    const Array &gradient = values.at({role, a});
    // Directions: unit vectors, then one random vector.
    int64_t size = gradient.size();
    int64_t step = std::max<int64_t>(1, size / maxElements);
    double error = 0.0, norm = 0.0;
    for (int64_t first = 0; first < size + step; first += step) {
      std::vector<double> direction(size, 0.0);
      double exact = 0.0;
      for (int64_t i = 0; i != size; ++i) {
        direction[i] = first >= size ? any(generator) : i == first;
        if (direction[i])
          exact += direction[i] * gradient.get(i);
      }
      double difference = getDifference(function, arguments, cotangents,
                                        arguments[a], direction, exact);
      error += (exact - difference) * (exact - difference);
      norm += difference * difference;
    }
    if (!(std::sqrt(error) <= 1e-6 * std::sqrt(norm) + 1e-11))
      problems << "gradient of argument " << a << " is off by "
               << std::sqrt(error) << " at a norm of " << std::sqrt(norm)
               << "\n";
  }
  return problems.str();
}

/// Compares bit by bit, or nearly if sums are made in another order.
static bool isSame(const Array &expected, const Array &found,
                   bool isReordered) {
  if (!isReordered)
    return expected.bytes == found.bytes;
  for (int64_t i = 0; i < expected.size(); ++i)
    if (std::abs(expected.get(i) - found.get(i)) > 1e-12)
      return false;
  return true;
}

std::string GradientCheck::check(const std::string &name) {
  Function &function = functions.at(name);
  std::vector<Array> arguments;
  for (unsigned i = 0; i != function.primal.getNumArguments(); ++i)
    arguments.push_back(makeArgument(function.primal, i, 1));
  std::vector<Array> cotangents = makeCotangents(function, /*random=*/true);
  Values fused =
      runAll(function, arguments, cotangents, /*split=*/false, nullptr);
  Values split =
      runAll(function, arguments, cotangents, /*split=*/true, nullptr);
  std::vector<Array> results = runPrimal(function, arguments);
  std::ostringstream problems;
  for (unsigned i = 0; i != results.size(); ++i)
    if (!isSame(results[i], fused.at({RoleKind::Result, i}),
                function.primal->hasAttr("test.reordered")))
      problems << "result " << i << " of forward is not the primal's\n";
  for (const auto &[role, array] : fused)
    if (array.bytes != split.at(role).bytes)
      problems << "role " << stringifyRoleKind(role.first).str() << " "
               << role.second << " differs between split and fused\n";
  problems << compare(function, arguments, cotangents, fused);
  return problems.str();
}

std::vector<std::vector<double>>
GradientCheck::getGradients(const std::string &name,
                            const std::vector<std::vector<double>> &arguments) {
  Function &function = functions.at(name);
  std::vector<Array> arrays;
  for (unsigned i = 0; i != arguments.size(); ++i) {
    arrays.emplace_back(
        cast<RankedTensorType>(function.primal.getArgumentTypes()[i]));
    for (unsigned j = 0; j != arguments[i].size(); ++j)
      arrays[i].set(j, arguments[i][j]);
  }
  std::vector<Array> cotangents = makeCotangents(function, /*random=*/false);
  Values values =
      runAll(function, arrays, cotangents, /*split=*/false, nullptr);
  std::vector<std::vector<double>> gradients(arguments.size());
  for (unsigned i = 0; i != arguments.size(); ++i)
    for (RoleKind kind : {RoleKind::OperandGrad, RoleKind::ParamGrad}) {
      auto it = values.find({kind, i});
      if (it != values.end())
        for (int64_t j = 0; j != it->second.size(); ++j)
          gradients[i].push_back(it->second.get(j));
    }
  return gradients;
}
