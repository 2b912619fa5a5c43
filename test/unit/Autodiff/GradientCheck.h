//===- GradientCheck.h - derivatives against differences --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_AUTODIFF_GRADIENTCHECK_H
#define VEELINE_TEST_UNIT_AUTODIFF_GRADIENTCHECK_H

#include "Jit.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "veeline/Autodiff/Autodiff.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"

#include <map>
#include <set>

namespace veeline::test {

/// The functions of one file of MLIR, each with its forward, backward,
/// backward_input and backward_weight, which are compiled together once.
///
/// All float arguments of a function are differentiated, except `pipe.batch`es.
/// Arguments with `pipe.param` or `test.parameter` are parameters. So is every
/// second one of the others, so that a backward can be split. A function with
/// the attribute `test.loss`, or with a `pipe.param`, has a loss. Others are
/// checked with a random gradient of each float result. Arguments take the
/// attributes `test.range = [lo, hi]` (floats) and `test.below = n` (integers).
/// With `test.reordered`, the results of a function may differ in their last
/// bits from those of forward.
class GradientCheck {
public:
  /// Reads, differentiates and compiles `path`. Returns null on failure.
  static std::unique_ptr<GradientCheck> load(const std::string &path);
  /// Reads and differentiates `path`, without compiling it. Returns null on
  /// failure.
  static std::unique_ptr<GradientCheck> read(const std::string &path);

  std::vector<std::string> getFunctions() const;

  /// Compares the gradients of `name` to fourth-order central differences.
  /// Compares bit by bit the gradients of the split backward to those of the
  /// fused one, and the results of forward to those of the function itself.
  /// Returns a description of what is wrong, or an empty string.
  std::string check(const std::string &name);

  /// The gradients of `name` at given arguments, one for each argument (empty
  /// if it has none). Gradients of results are 1.
  std::vector<std::vector<double>>
  getGradients(const std::string &name,
               const std::vector<std::vector<double>> &arguments);

  /// The functions that were made of one function. Null if there is none of a
  /// kind.
  struct Function {
    mlir::func::FuncOp primal, forward, backward, input, weight;
    autodiff::ChunkDescription description;
  };
  const Function &getFunction(const std::string &name) const {
    return functions.at(name);
  }

  /// Arguments or results by role, as (kind, index).
  using Values = std::map<std::pair<pipe::RoleKind, unsigned>, Array>;
  /// Runs a function of tensors by name.
  using Runner = llvm::function_ref<void(
      llvm::StringRef, llvm::ArrayRef<Array *>, llvm::MutableArrayRef<Array>)>;

  /// Runs forward and backward of `name` on random arguments, with the fused or
  /// the split backward. Returns all values that they take and return. If
  /// `runner` is null, upstream's lowerings run them.
  Values run(const std::string &name, bool split, Runner runner = nullptr);

  /// Runs `func` on the values of its roles, and adds its results to `values`.
  static void call(mlir::func::FuncOp func, Values &values, Runner runner);

  /// The names of all ops in the functions before differentiation.
  const std::set<std::string> &getOpNames() const { return opNames; }

private:
  mlir::LogicalResult differentiate(mlir::func::FuncOp primal);
  Array makeArgument(mlir::func::FuncOp primal, unsigned index, unsigned seed);
  Values runAll(Function &function, std::vector<Array> &arguments,
                std::vector<Array> &cotangents, bool split, Runner runner);
  std::vector<Array> runPrimal(Function &function,
                               std::vector<Array> &arguments);
  double evaluate(Function &function, std::vector<Array> &arguments,
                  std::vector<Array> &cotangents);
  double getDifference(Function &function, std::vector<Array> &arguments,
                       std::vector<Array> &cotangents, Array &argument,
                       const std::vector<double> &direction, double exact);
  std::string compare(Function &function, std::vector<Array> &arguments,
                      std::vector<Array> &cotangents, const Values &values);
  std::vector<Array> makeCotangents(Function &function, bool random);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<JitModule> compiled;
  std::map<std::string, Function> functions;
  std::set<std::string> opNames;
};

} // namespace veeline::test

#endif // VEELINE_TEST_UNIT_AUTODIFF_GRADIENTCHECK_H
