// RUN: veeline-opt %s --pipe-import=loss=sum 2>&1 | FileCheck %s

// A zero bias is what exporters add to a convolution that has none. One that is
// not zero, and one that the file leaves out, is trained.

// CHECK: remark: 3 constants are taken for weights that the file leaves out, and are drawn: "weight0", "weight1", "weight2"{{$}}
// CHECK: remark: 2 biases of convolutions are zero in the file and stay so: "{{.*}}", "{{.*}}"; --params names what is to be trained
// CHECK: func.func @net(%arg0: tensor<1x4x4x3xf32> {pipe.batch
// CHECK-COUNT-4: pipe.param =
// CHECK-NOT: pipe.param =
func.func @net(%x: tensor<1x4x4x3xf32>) -> tensor<1x4x4x5xf32> {
  %w0 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<6x1x1x3xf32>}> : () -> tensor<6x1x1x3xf32>
  %w1 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<7x1x1x6xf32>}> : () -> tensor<7x1x1x6xf32>
  %w2 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<5x1x1x7xf32>}> : () -> tensor<5x1x1x7xf32>
  %z0 = "tosa.const"() <{values = dense<0.0> : tensor<6xf32>}> : () -> tensor<6xf32>
  %z1 = "tosa.const"() <{values = dense<0.0> : tensor<7xf32>}> : () -> tensor<7xf32>
  %b2 = "tosa.const"() <{values = dense<0.5> : tensor<5xf32>}> : () -> tensor<5xf32>
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %a = tosa.conv2d %x, %w0, %z0, %zp, %zp {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, tensor<6x1x1x3xf32>, tensor<6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x6xf32>
  %b = tosa.conv2d %a, %w1, %z1, %zp, %zp {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x6xf32>, tensor<7x1x1x6xf32>, tensor<7xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x7xf32>
  %c = tosa.conv2d %b, %w2, %b2, %zp, %zp {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x7xf32>, tensor<5x1x1x7xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x5xf32>
  return %c : tensor<1x4x4x5xf32>
}
