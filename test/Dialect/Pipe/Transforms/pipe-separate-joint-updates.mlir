// RUN: veeline-opt %s --pipe-separate-joint --split-input-file 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

// Updates become gradients: in ops on tensors, and in one structured op.

// REMARK: remark: updates of parameters are left to the runtime; train with --optimizer sgd --lr 0.5 to update as the graph did
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

// -----

// One rate, once rounded to f32.
// REMARK: remark: updates of parameters are left to the runtime; train with --optimizer sgd --lr 0.1 to update as the graph did
// CHECK-LABEL: func.func private @rounded_joint(
func.func @rounded(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>},
                   %v: tensor<f64> {pipe.param = #pipe.param<"v", init = ones>})
    -> (tensor<f64>, tensor<f32> {pipe.updated = "w"}, tensor<f64> {pipe.updated = "v"}) {
  %0 = arith.mulf %x, %w : tensor<f32>
  %1 = arith.extf %0 : tensor<f32> to tensor<f64>
  %loss = arith.mulf %1, %v : tensor<f64>
  %narrow = arith.constant dense<0.1> : tensor<f32>
  %dw = arith.mulf %x, %narrow : tensor<f32>
  %new = arith.subf %w, %dw : tensor<f32>
  %wide = arith.constant dense<0.1> : tensor<f64>
  %dv = arith.mulf %1, %wide : tensor<f64>
  %other = arith.subf %v, %dv : tensor<f64>
  return %loss, %new, %other : tensor<f64>, tensor<f32>, tensor<f64>
}
