//===- Jit.h - running functions through upstream's lowerings ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests check derivatives by what they compute, with a code generator that is
// not ours.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_AUTODIFF_JIT_H
#define VEELINE_TEST_UNIT_AUTODIFF_JIT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

#include <memory>
#include <string>
#include <vector>

namespace mlir {
class ExecutionEngine;
} // namespace mlir

namespace veeline::test {

/// A tensor. Its elements are raw bytes in row-major order.
struct Array {
  mlir::RankedTensorType type;
  std::vector<char> bytes;

  explicit Array(mlir::RankedTensorType type);
  int64_t size() const { return type.getNumElements(); }
  /// Element `i`, converted from any type.
  double get(int64_t i) const;
  void set(int64_t i, double value);
};

/// Registers our own and all upstream dialects, and the interfaces that
/// lowering them needs.
void registerTestDialects(mlir::DialectRegistry &registry);

/// The functions of a module, compiled for this process.
class JitModule {
public:
  /// Compiles all functions of `module`, which is consumed. On failure, prints
  /// diagnostics and returns null.
  static std::unique_ptr<JitModule> compile(mlir::ModuleOp module);
  ~JitModule();

  /// Runs a function of tensors.
  void run(llvm::StringRef name, llvm::ArrayRef<Array *> arguments,
           llvm::MutableArrayRef<Array> results);

private:
  JitModule();
  std::unique_ptr<mlir::ExecutionEngine> engine;
};

} // namespace veeline::test

#endif // VEELINE_TEST_UNIT_AUTODIFF_JIT_H
