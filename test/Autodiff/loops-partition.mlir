// RUN: veeline-opt %s --pipe-partition="stages=2" | FileCheck %s
// RUN: veeline-opt %s --pipe-print-pieces -o /dev/null | FileCheck %s --check-prefix=PIECES

// A small loop is unrolled before it is cut, a long one is part of one piece
// and costs as much as all of its iterations. Marks say that a loop is unrolled.

// PIECES:      piece   ops
// PIECES-NEXT: 0 2 0.000 384
// PIECES-NEXT: 1 2 0.000
// PIECES-NEXT: 2 1 0.013
// PIECES-NEXT: 3 1
// PIECES-NEXT: all

// CHECK-LABEL: func.func private @model_chunk0(
// CHECK-NOT:     scf.for
// CHECK:         linalg.matmul
// CHECK:         linalg.matmul
// CHECK-LABEL: func.func private @model_chunk1(
// CHECK:         scf.for
// CHECK:           linalg.matmul
func.func @model(%x: tensor<4x4xf32> {pipe.batch = "x"}, %w: tensor<4x4xf32> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%h = %x) -> (tensor<4x4xf32>) {
    %p = linalg.matmul ins(%h, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
    %t = math.tanh %p : tensor<4x4xf32>
    %b = pipe.boundary %t : tensor<4x4xf32>
    scf.yield %b : tensor<4x4xf32>
  }
  %s = scf.for %i = %c0 to %c100 step %c1 iter_args(%h = %r) -> (tensor<4x4xf32>) {
    %p = linalg.matmul ins(%h, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %p : tensor<4x4xf32>
  }
  %m = pipe.boundary %s : tensor<4x4xf32>
  %f = tensor.empty() : tensor<f32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%m : tensor<4x4xf32>) outs(%g : tensor<f32>) dimensions = [0, 1]
  return %loss : tensor<f32>
}
