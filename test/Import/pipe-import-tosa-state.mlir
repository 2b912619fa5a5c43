// Loops, branches and variables of TOSA.
// RUN: veeline-opt %s --split-input-file --pipe-import=loss=cross-entropy 2>/dev/null | FileCheck %s

// Through upstream's structured control flow.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    tensor<1x6x8xf32> {pipe.batch = "arg0"}
// CHECK-SAME:    pipe.param = #pipe.param<"weight0"
// CHECK:         scf.
// CHECK-NOT:     tosa.
func.func @loop(%x: tensor<1x6x8xf32>) -> tensor<1x6x8xf32> {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %w = "tosa.const"() {values = dense<0.1> : tensor<1x8x8xf32>} : () -> tensor<1x8x8xf32>
  %begin = "tosa.const"() {values = dense<0> : tensor<i32>} : () -> tensor<i32>
  %r:2 = tosa.while_loop (%i = %begin, %s = %x) : (tensor<i32>, tensor<1x6x8xf32>) -> (tensor<i32>, tensor<1x6x8xf32>) {
    %n = "tosa.const"() {values = dense<3> : tensor<i32>} : () -> tensor<i32>
    %c = tosa.greater %n, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %c : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<1x6x8xf32>):
    %one = "tosa.const"() {values = dense<1> : tensor<i32>} : () -> tensor<i32>
    %next = tosa.add %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %m = tosa.matmul %s, %w, %zp, %zp : (tensor<1x6x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x8xf32>
    %t = tosa.tanh %m : (tensor<1x6x8xf32>) -> tensor<1x6x8xf32>
    tosa.yield %next, %t : tensor<i32>, tensor<1x6x8xf32>
  }
  return %r#1 : tensor<1x6x8xf32>
}

// -----

// A parameter with its own name; what is written is forgotten, as of globals.
tosa.variable @kernel = dense<0.1> : tensor<1x8x8xf32>

// CHECK-NOT:   tosa.variable
// CHECK-LABEL: func.func @variables(
// CHECK-SAME:    pipe.param = #pipe.param<"kernel"
func.func @variables(%x: tensor<1x6x8xf32>) -> tensor<1x6x8xf32> {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %w = tosa.variable_read @kernel : tensor<1x8x8xf32>
  %y = tosa.matmul %x, %w, %zp, %zp : (tensor<1x6x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x8xf32>
  tosa.variable_write @kernel, %w : tensor<1x8x8xf32>
  return %y : tensor<1x6x8xf32>
}
