// RUN: veeline-opt %s --pipe-differentiate | FileCheck %s

// A loop that stays one: what the minimum cut keeps of an iteration lies in a
// stack. The backward has one loop for the gradient that is carried, and one
// for that of the weight, which can wait for W.

pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.param <"x", init = zeros> : tensor<4x4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<4x4xf32>
  %0 = pipe.chunk 0 @recurrence(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = pipe.chunk 1 @branch(%0, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}

func.func private @recurrence(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = scf.for %i = %c0 to %c100 step %c1 iter_args(%h = %x) -> (tensor<4x4xf32>) {
    %p = linalg.matmul ins(%h, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
    %t = math.tanh %p : tensor<4x4xf32>
    scf.yield %t : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// CHECK-LABEL: func.func private @recurrence_forward(
// CHECK:         %[[LOOP:.+]]:3 = scf.for
// CHECK-SAME:      -> (tensor<4x4xf32>, tensor<100x4x4xf32>, tensor<100x4x4xf32>)
// CHECK:           linalg.matmul
// CHECK:           math.tanh
// CHECK-COUNT-2:   tensor.insert_slice
// CHECK:         return %[[LOOP]]#0, %[[LOOP]]#{{[12]}}, %[[LOOP]]#{{[12]}}

// CHECK-LABEL: func.func private @recurrence_backward(
// CHECK-SAME:    tensor<100x4x4xf32> {pipe.role = #pipe.role<residual 0>}
// CHECK:         %[[CHAIN:.+]]:2 = scf.for
// CHECK-SAME:      -> (tensor<4x4xf32>, tensor<100x4x4xf32>)
// CHECK-NOT:       math.tanh
// CHECK:           linalg.matmul
// CHECK:           tensor.insert_slice
// CHECK:         %[[SUM:.+]] = scf.for
// CHECK:           tensor.extract_slice %[[CHAIN]]#1
// CHECK:           linalg.matmul
// CHECK:         return %[[CHAIN]]#0, %[[SUM]]

// Both branches keep a value of one type: they share a place.

func.func private @branch(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %first = tensor.extract %x[%c0, %c0] : tensor<4x4xf32>
  %positive = arith.cmpf ogt, %first, %zero : f32
  %y = scf.if %positive -> (tensor<4x4xf32>) {
    %p = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
    %s = math.sin %p : tensor<4x4xf32>
    scf.yield %s : tensor<4x4xf32>
  } else {
    %p = linalg.matmul ins(%w, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
    %s = math.cos %p : tensor<4x4xf32>
    scf.yield %s : tensor<4x4xf32>
  }
  %f = tensor.empty() : tensor<f32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%y : tensor<4x4xf32>) outs(%g : tensor<f32>) dimensions = [0, 1]
  return %loss : tensor<f32>
}

// CHECK-LABEL: func.func private @branch_forward(
// CHECK-SAME:    -> (tensor<f32> {pipe.role = #pipe.role<result 0>}, tensor<4x4xf32> {pipe.role = #pipe.role<residual 0>})
// CHECK:         scf.if %{{.+}} -> (tensor<4x4xf32>, tensor<4x4xf32>)

// CHECK-LABEL: func.func private @branch_backward(
// CHECK:         scf.if
// CHECK:           math.cos
// CHECK-COUNT-2:   linalg.matmul
// CHECK:         } else {
// CHECK:           math.sin
// CHECK-COUNT-2:   linalg.matmul
