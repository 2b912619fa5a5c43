// What a loop computes for nobody is not computed: here a sum that each iteration hands to the next.

// RUN: veeline-opt %s --pipe-partition="stages=1" --pipe-differentiate | FileCheck %s

// CHECK-LABEL: func.func private @net_chunk0_forward(
// CHECK: scf.for {{.*}} iter_args(%{{[^,]*}} = %{{[^,]*}}, %{{[^,]*}} = %{{[^,]*}}) -> (tensor<4xf64>, tensor<9x4xf64>)
// CHECK-NOT: arith.addf
// CHECK: scf.yield
// CHECK: linalg.reduce
// CHECK: return
func.func @net(%x: tensor<4xf64> {pipe.batch = "x"}, %w: tensor<4xf64> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f64
  %r:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%h = %x, %sum = %x) -> (tensor<4xf64>, tensor<4xf64>) {
    %p = arith.mulf %h, %w : tensor<4xf64>
    %t = math.tanh %p : tensor<4xf64>
    %more = arith.addf %sum, %t : tensor<4xf64>
    scf.yield %t, %more : tensor<4xf64>, tensor<4xf64>
  } {pipe.unroll = false}
  %e = tensor.empty() : tensor<f64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<f64>) -> tensor<f64>
  %loss = linalg.reduce { arith.addf } ins(%r#0 : tensor<4xf64>) outs(%f : tensor<f64>) dimensions = [0]
  return %loss : tensor<f64>
}
