// RUN: veeline-opt %s --pipe-import=loss=sum 2>&1 | FileCheck %s

// TOSA's lowering adds the bias of a depthwise convolution to its result.
// CHECK: remark: argument 3 ("weight2", 'tensor<3xf32>') is the bias of a convolution, is zero in the file and stays so
// CHECK: func.func @net(%arg0: tensor<1x4x4x3xf32> {pipe.batch
// CHECK-COUNT-3: pipe.param =
// CHECK-NOT: pipe.param =
func.func @net(%x: tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32> {
  %w0 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<3x3x3x1xf32>}> : () -> tensor<3x3x3x1xf32>
  %w1 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x1x3x1xf32>}> : () -> tensor<1x1x3x1xf32>
  %z0 = "tosa.const"() <{values = dense<0.0> : tensor<3xf32>}> : () -> tensor<3xf32>
  %b1 = "tosa.const"() <{values = dense<0.5> : tensor<3xf32>}> : () -> tensor<3xf32>
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %a = tosa.depthwise_conv2d %x, %w0, %z0, %zp, %zp {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, tensor<3x3x3x1xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x3xf32>
  %b = tosa.depthwise_conv2d %a, %w1, %b1, %zp, %zp {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, tensor<1x1x3x1xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x3xf32>
  return %b : tensor<1x4x4x3xf32>
}
