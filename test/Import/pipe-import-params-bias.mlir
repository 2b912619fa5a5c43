// A bias of one value everywhere, where the sum of a product begins, is a parameter, as any other bias is.
// RUN: veeline-opt %s --split-input-file --pipe-import=loss=mse 2>/dev/null | FileCheck %s
// CHECK: func.func @forward(
// CHECK-SAME: tensor<4x3xf32> {pipe.param = #pipe.param<"weight0"
// CHECK-SAME: tensor<3xf32> {pipe.param = #pipe.param<"weight1"
// CHECK-NOT: pipe.param

func.func @forward(%x: tensor<8x4xf32>) -> tensor<8x3xf32> {
  %w = arith.constant dense<0.5> : tensor<4x3xf32>
  %b = arith.constant dense<0.0> : tensor<3xf32>
  %e = tensor.empty() : tensor<8x3xf32>
  %start = linalg.broadcast ins(%b : tensor<3xf32>) outs(%e : tensor<8x3xf32>) dimensions = [0]
  %y = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x3xf32>) outs(%start : tensor<8x3xf32>) -> tensor<8x3xf32>
  return %y : tensor<8x3xf32>
}

// -----

// So is one that is added to the only row of a product; a number is none.
// CHECK: func.func @one_row(
// CHECK-SAME: tensor<1x4xf32> {pipe.batch = "arg0"}
// CHECK-SAME: tensor<4x3xf32> {pipe.param = #pipe.param<"weight0"
// CHECK-SAME: tensor<1x3xf32> {pipe.param = #pipe.param<"weight1", init = constant(2.500000e-01)>}
// CHECK-NOT: pipe.param

func.func @one_row(%x: tensor<1x4xf32>) -> tensor<1x3xf32> {
  %w = arith.constant dense<0.5> : tensor<4x3xf32>
  %b = arith.constant dense<0.25> : tensor<1x3xf32>
  %half = arith.constant dense<0.5> : tensor<1x3xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3xf32>) -> tensor<1x3xf32>
  %y = linalg.matmul ins(%x, %w : tensor<1x4xf32>, tensor<4x3xf32>) outs(%start : tensor<1x3xf32>) -> tensor<1x3xf32>
  %s = arith.addf %y, %b : tensor<1x3xf32>
  %t = math.tanh %s : tensor<1x3xf32>
  %r = arith.addf %t, %half : tensor<1x3xf32>
  return %r : tensor<1x3xf32>
}

// -----

// As TOSA has it: the product has a dimension more.
// CHECK: func.func @tosa(
// CHECK-SAME: tensor<1x4x3xf32> {pipe.param = #pipe.param<"weight0"
// CHECK-SAME: tensor<1x3xf32> {pipe.param = #pipe.param<"weight1", init = constant(2.500000e-01)>}

func.func @tosa(%x: tensor<1x1x4xf32>) -> tensor<1x3xf32> {
  %w = "tosa.const"() <{values = dense<0.5> : tensor<1x4x3xf32>}> : () -> tensor<1x4x3xf32>
  %b = "tosa.const"() <{values = dense<0.25> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %y = tosa.matmul %x, %w, %zp, %zp : (tensor<1x1x4xf32>, tensor<1x4x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3xf32>
  %s = tosa.const_shape {values = dense<[1, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %f = tosa.reshape %y, %s : (tensor<1x1x3xf32>, !tosa.shape<2>) -> tensor<1x3xf32>
  %r = tosa.add %f, %b : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
  return %r : tensor<1x3xf32>
}
