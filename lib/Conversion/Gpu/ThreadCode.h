//===- ThreadCode.h - code of one thread of a kernel ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_GPU_THREADCODE_H
#define VEELINE_LIB_CONVERSION_GPU_THREADCODE_H

#include "Kernels/KernelBody.h"
#include "Kernels/RowRules.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace veeline {

/// A gpu.func under construction. It starts as a copy of the kernel function,
/// and code is appended to it.
class ThreadCode {
public:
  ThreadCode(mlir::gpu::GPUFuncOp function, KernelBody body);

  mlir::gpu::GPUFuncOp function;
  KernelBody body;
  mlir::OpBuilder builder;
  mlir::Location loc;

  void setSizes(int64_t blocks, int64_t threads) {
    setSizes({blocks, 1, 1}, threads);
  }
  void setSizes(std::array<int64_t, 3> blocks, int64_t threads);

  /// Emits `body` once for each of `count` items, each in its own thread. A
  /// block has at most `maxThreads` threads.
  void forEach(int64_t count, int64_t maxThreads,
               llvm::function_ref<void(mlir::Value item)> body);

  mlir::Value thread(); // The number of the thread in its block.
  mlir::Value block(mlir::gpu::Dimension dimension = mlir::gpu::Dimension::x);

  // Arithmetic on non-negative indices.
  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b);
  /// `b` must not exceed `a`.
  mlir::Value sub(mlir::Value a, int64_t b);
  mlir::Value mul(mlir::Value a, int64_t b);
  mlir::Value div(mlir::Value a, int64_t b);
  mlir::Value rem(mlir::Value a, int64_t b);
  mlir::Value isLess(mlir::Value a, int64_t b);
  /// The index in each of `sizes` at the linear index `linear`.
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value linear,
                                             llvm::ArrayRef<int64_t> sizes);

  /// Emits `body` under `condition`. A null condition is always true.
  void when(mlir::Value condition, llvm::function_ref<void()> body);
  /// Emits a loop from `begin` to `end`, exclusive.
  void loop(mlir::Value begin, int64_t end, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
  /// Emits a loop that LLVM does not unroll, so that it takes no more registers
  /// than `body` needs. `body` gets the values that it returned in the
  /// iteration before, and `init` in the first one.
  llvm::SmallVector<mlir::Value> rolledLoop(
      int64_t begin, int64_t end, int64_t step, mlir::ValueRange init,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                        mlir::ValueRange)>
          body);

  /// Collapses a buffer to one dimension.
  mlir::Value flat(mlir::Value base);
  /// Adds a buffer that the threads of a block share.
  mlir::Value addShared(mlir::Type elementType, int64_t count);

  /// Moves the ops from the loop over rows to the insertion point, for the
  /// iteration `rowIds`.
  void inlineOps(mlir::ValueRange rowIds);

  /// An iteration of a nest.
  struct Point {
    /// The index of each loop before `firstLoop`.
    llvm::SmallVector<mlir::Value> ids;
    unsigned firstLoop;
    /// The index of all other loops together.
    mlir::Value linear;
  };
  /// The position of the element of the base that an access reads or writes.
  mlir::Value getPosition(const LoopNest &nest, const NestAccess &access,
                          const Point &point);

  /// True if, for every operand, `lanes` consecutive iterations from a multiple
  /// of `lanes` access elements at equal distances.
  static bool canUseLanes(const LoopNest &nest, unsigned firstLoop,
                          int64_t lanes);

  mlir::Value load(const LoopNest &nest, const NestAccess &access,
                   const Point &point, int64_t lanes);
  void store(mlir::Value value, const LoopNest &nest, const NestAccess &access,
             const Point &point, int64_t lanes);

  /// Emits the op's body for `lanes` iterations from `point` on. Returns the
  /// value that it yields for each output or, for one of `reductions`, the
  /// value that it combines with the output. `getInput` returns the value of an
  /// operand, or null to load it.
  llvm::SmallVector<mlir::Value>
  emitBody(const LoopNest &nest, const Point &point, int64_t lanes,
           llvm::function_ref<mlir::Value(unsigned)> getInput,
           llvm::ArrayRef<NestReduction> reductions = {});

private:
  llvm::DenseMap<mlir::Value, mlir::Value> flattened;
};

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_THREADCODE_H
