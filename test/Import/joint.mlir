// RUN: veeline-opt %s --pipe-import-joint="params=0,1 buffer=3" | FileCheck %s
// RUN: veeline-opt %s --pipe-import-joint="params=0-1 results=updates" | FileCheck %s --check-prefix=UPDATES
// RUN: not veeline-opt %s --pipe-import-joint 2>&1 | FileCheck %s --check-prefix=PARAMS
// RUN: not veeline-opt %s --pipe-import-joint="params=0-2" 2>&1 | FileCheck %s --check-prefix=RESULTS
// RUN: not veeline-opt %s --pipe-import-joint="params=0 results=loss" 2>&1 | FileCheck %s --check-prefix=KIND

// As jax.export writes jax.value_and_grad: parameters first, their gradients
// behind the loss.

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    tensor<2xf32> {pipe.param = #pipe.param<"arg0", init = normal(0.000000e+00, 2.000000e-02)>}
// CHECK-SAME:    tensor<f32> {pipe.param = #pipe.param<"arg1", init = normal(0.000000e+00, 2.000000e-02)>}
// CHECK-SAME:    tensor<2xf32> {pipe.batch = "arg2"}
// CHECK-SAME:    tensor<2xf32> {pipe.buffer = "arg3"}
// CHECK-SAME:    -> (tensor<f32>, tensor<2xf32> {pipe.gradient_of = "arg0"}, tensor<f32> {pipe.gradient_of = "arg1"})
// UPDATES:    -> (tensor<f32>, tensor<2xf32> {pipe.updated = "arg0"}, tensor<f32> {pipe.updated = "arg1"})
// PARAMS:  error: which arguments are parameters? say it with params=
// RESULTS: error: a joint function returns its loss, then one of the gradients for each of 3 parameters; found 3 results
// KIND:    error: results= is 'gradients' or 'updates', found 'loss'
func.func @main(%w: tensor<2xf32>, %b: tensor<f32>, %x: tensor<2xf32>, %s: tensor<2xf32>)
    -> (tensor<f32>, tensor<2xf32>, tensor<f32>) {
  %y = arith.mulf %x, %s : tensor<2xf32>
  %loss = linalg.dot ins(%w, %y : tensor<2xf32>, tensor<2xf32>) outs(%b : tensor<f32>) -> tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  return %loss, %y, %one : tensor<f32>, tensor<2xf32>, tensor<f32>
}
