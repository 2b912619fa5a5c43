// RUN: veeline-opt %s --pipe-separate-joint 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

// Updates become gradients: in ops on tensors, and in one structured op.

// REMARK: remark: updates of parameters are left to the runtime, which does what the graph did with --optimizer sgd and the learning rate 5.000000e-01
// CHECK-LABEL: func.func @net(
// CHECK-SAME:    -> tensor<f32> attributes {pipe.joint = @net_joint}
// CHECK-LABEL: func.func private @net_joint(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32> {pipe.batch = "x"}
// CHECK-SAME:    -> (tensor<f32>, tensor<4xf32> {pipe.gradient_of = "w"}, tensor<4xf32> {pipe.gradient_of = "v"})
// CHECK:         return %{{.*}}, %[[X]], %[[X]]
func.func @net(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>},
               %v: tensor<4xf32> {pipe.param = #pipe.param<"v", init = ones>})
    -> (tensor<f32>, tensor<4xf32> {pipe.updated = "w"}, tensor<4xf32> {pipe.updated = "v"}) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %rate = arith.constant dense<0.5> : tensor<4xf32>
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %sum = arith.addf %w, %v : tensor<4xf32>
  %loss = linalg.dot ins(%x, %sum : tensor<4xf32>, tensor<4xf32>) outs(%z : tensor<f32>) -> tensor<f32>
  %step = arith.mulf %x, %rate : tensor<4xf32>
  %w1 = arith.subf %w, %step : tensor<4xf32>
  %o = tensor.empty() : tensor<4xf32>
  %v1 = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]
  } ins(%v, %x : tensor<4xf32>, tensor<4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%a: f32, %g: f32, %out: f32):
    %p = arith.mulf %half, %g : f32
    %d = arith.subf %a, %p : f32
    linalg.yield %d : f32
  } -> tensor<4xf32>
  return %loss, %w1, %v1 : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}
