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

/// A gpu.func under construction, which starts as a copy of the kernel
/// function. Code goes to its end.
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

  /// Emits `body` for a thread each of `count` items, in blocks of at most
  /// `maxThreads`.
  void forEach(int64_t count, int64_t maxThreads,
               llvm::function_ref<void(mlir::Value item)> body);

  mlir::Value thread(); // within its block
  mlir::Value block(mlir::gpu::Dimension dimension = mlir::gpu::Dimension::x);

  // Arithmetic on indices that are never negative.
  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b);
  /// `b` is not more than `a`.
  mlir::Value sub(mlir::Value a, int64_t b);
  mlir::Value mul(mlir::Value a, int64_t b);
  mlir::Value div(mlir::Value a, int64_t b);
  mlir::Value rem(mlir::Value a, int64_t b);
  mlir::Value isLess(mlir::Value a, int64_t b);
  /// The index of each of `sizes` where the loop over all is at `linear`.
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value linear,
                                             llvm::ArrayRef<int64_t> sizes);

  /// Emits `body` where `condition` holds (everywhere where it is null).
  void when(mlir::Value condition, llvm::function_ref<void()> body);
  /// Emits a loop from `begin` below `end`.
  void loop(mlir::Value begin, int64_t end, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
  /// Emits a loop that LLVM does not unroll, so that it takes no more registers
  /// than `body` needs. That gets what it returned the last time, `init` at
  /// first.
  llvm::SmallVector<mlir::Value> rolledLoop(
      int64_t begin, int64_t end, int64_t step, mlir::ValueRange init,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                        mlir::ValueRange)>
          body);

  /// The buffer in one dimension.
  mlir::Value flat(mlir::Value base);
  /// A buffer that the threads of a block share.
  mlir::Value addShared(mlir::Type elementType, int64_t count);

  /// Moves the ops to the insertion point, out of the loop over rows, as its
  /// iteration `rowIds`.
  void inlineOps(mlir::ValueRange rowIds);

  /// An iteration of a nest.
  struct Point {
    /// One for each loop before `firstLoop`.
    llvm::SmallVector<mlir::Value> ids;
    unsigned firstLoop;
    /// The iteration of all other loops, as if they were one.
    mlir::Value linear;
  };
  /// The element of the base that an access touches.
  mlir::Value getPosition(const LoopNest &nest, const NestAccess &access,
                          const Point &point);

  /// True if `lanes` iterations from a multiple of `lanes` on touch elements at
  /// equal distances in every operand.
  static bool canUseLanes(const LoopNest &nest, unsigned firstLoop,
                          int64_t lanes);

  mlir::Value load(const LoopNest &nest, const NestAccess &access,
                   const Point &point, int64_t lanes);
  void store(mlir::Value value, const LoopNest &nest, const NestAccess &access,
             const Point &point, int64_t lanes);

  /// Emits the op's body for `lanes` iterations from `point` on and returns
  /// what it yields for every output; for one of `reductions`, what it combines
  /// with the output. `getInput` gives the value of an operand, or null to load
  /// it.
  llvm::SmallVector<mlir::Value>
  emitBody(const LoopNest &nest, const Point &point, int64_t lanes,
           llvm::function_ref<mlir::Value(unsigned)> getInput,
           llvm::ArrayRef<NestReduction> reductions = {});

private:
  llvm::DenseMap<mlir::Value, mlir::Value> flattened;
};

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_THREADCODE_H
