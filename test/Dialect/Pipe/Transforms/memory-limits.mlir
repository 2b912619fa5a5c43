// RUN: veeline-opt %s --pipe-partition=stages=2 --pipe-differentiate --pipe-split-backward -o %t.mlir
// RUN: sed 's/placement(linear)/& attributes {pipe.memory_limits = array<i64: 100000, 64>}/' %t.mlir > %t.arena.mlir
// RUN: not veeline-opt %t.arena.mlir --pipe-schedule="microbatches=2 sequential" --pipe-insert-communication \
// RUN:   --pipe-bufferize-chunks --pipe-plan-memory 2>&1 | FileCheck %s --check-prefix=ARENA
// RUN: sed 's/placement(linear)/& attributes {pipe.memory_limits = array<i64: 100000, 100000>}/' %t.mlir > %t.large.mlir
// RUN: veeline-opt %t.large.mlir --pipe-schedule="microbatches=2 sequential" --pipe-insert-communication \
// RUN:   --pipe-bufferize-chunks --pipe-plan-memory | FileCheck %s --check-prefix=LARGE
// RUN: sed 's/placement(linear)/& attributes {pipe.memory_limits = array<i64: 64>}/' %t.mlir > %t.one.mlir
// RUN: not veeline-opt %t.one.mlir --pipe-schedule --pipe-insert-communication --pipe-bufferize-chunks \
// RUN:   --pipe-plan-memory 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: sed 's/placement(linear)/& attributes {pipe.schedule_limits = array<i64: 96, 64>}/' %t.mlir > %t.order.mlir
// RUN: veeline-opt %t.order.mlir --pipe-schedule="microbatches=1 sequential" | FileCheck %s --check-prefix=ORDER
// RUN: not veeline-opt %t.order.mlir --pipe-schedule="microbatches=2" 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: sed 's/placement(linear)/& attributes {pipe.schedule_limits = "many"}/' %t.mlir > %t.kind.mlir
// RUN: not veeline-opt %t.kind.mlir --pipe-schedule 2>&1 | FileCheck %s --check-prefix=KIND

// Limits of memory that a pipeline carries: those of its arenas, and those of
// its schedule. They are not those of the copy on one rank.

// ARENA: error: 'pipe.program' op has an arena of {{[0-9]+}} bytes, but the memory limit of stage 1 is 64 bytes
// LARGE: pipe.memory_limits = array<i64: 100000, 100000>
// LARGE: pipe.pipeline @net_sequential
// LARGE-NOT: memory_limits
// ONE: error: 'pipe.pipeline' op attribute 'pipe.memory_limits' has to be an array of one number of bytes for each of the 2 stages, found array<i64: 64>
// ORDER: pipe.schedule_limits
// ORDER: pipe.pipeline @net_sequential
// ORDER-NOT: schedule_limits
// ORDER: pipe.program @net_rank1
// FEW: error: 'pipe.pipeline' op {{.*}}stage 0
// KIND: error: 'pipe.pipeline' op attribute 'pipe.schedule_limits' has to be an array of one number of bytes for each of the 2 stages, found "many"

func.func @net(%x: tensor<2x4xf32> {pipe.batch = "x"},
    %w0: tensor<4x8xf32> {pipe.param = #pipe.param<"w0", init = zeros>},
    %w1: tensor<8x1xf32> {pipe.param = #pipe.param<"w1", init = zeros>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<2x8xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<2x8xf32>) -> tensor<2x8xf32>
  %p0 = linalg.matmul ins(%x, %w0 : tensor<2x4xf32>, tensor<4x8xf32>) outs(%z0 : tensor<2x8xf32>) -> tensor<2x8xf32>
  %t0 = math.tanh %p0 : tensor<2x8xf32>
  %h = pipe.boundary %t0 : tensor<2x8xf32>
  %e1 = tensor.empty() : tensor<2x1xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x1xf32>) -> tensor<2x1xf32>
  %y = linalg.matmul ins(%h, %w1 : tensor<2x8xf32>, tensor<8x1xf32>) outs(%z1 : tensor<2x1xf32>) -> tensor<2x1xf32>
  %e2 = tensor.empty() : tensor<f32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%y : tensor<2x1xf32>) outs(%z2 : tensor<f32>) dimensions = [0, 1]
  return %loss : tensor<f32>
}
