// RUN: veeline-opt %s "--pipe-import=loss=cross-entropy" 2>/dev/null | FileCheck %s
// RUN: veeline-opt %s "--pipe-import=loss=cross-entropy" 2>/dev/null | veeline-opt "--pipe-compile=stages=2 microbatches=2" | FileCheck %s --check-prefix=STEP
// RUN: not veeline-opt %s --pipe-import 2>&1 | FileCheck %s --check-prefix=LOSS

// A TOSA model with weights of equal values, becomes a model that trains.
// CHECK:     func.func @forward(
// CHECK-SAME:  %{{[^:]*}}: tensor<1x8xf32> {pipe.batch = "arg0"},
// CHECK-SAME:  %{{[^:]*}}: tensor<1x8x8xf32> {pipe.param = #pipe.param<"weight{{[0-9]}}", init = normal(0.000000e+00, {{0.35[0-9]*}})>},
// CHECK-SAME:  %{{[^:]*}}: tensor<1x8x8xf32> {pipe.param = #pipe.param<"weight{{[0-9]}}", init = normal(0.000000e+00, {{0.35[0-9]*}})>},
// CHECK-SAME:  %{{[^:]*}}: tensor<1xi32> {pipe.batch = "labels", pipe.range = array<i64: 0, 8>}) -> tensor<f32>
// CHECK-NOT:   tosa.
// STEP:      llvm.func @forward_rank0_step
// STEP:      llvm.func @forward_rank1_step
// LOSS:      error: result 0 of the model is 'tensor<1x8xf32>', no loss; attach one by --loss: cross-entropy, mse or sum
func.func @forward(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %w0 = "tosa.const"() <{values = dense<0.5> : tensor<1x8x8xf32>}> : () -> tensor<1x8x8xf32>
  %w1 = "tosa.const"() <{values = dense<0.5> : tensor<1x8x8xf32>}> : () -> tensor<1x8x8xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zeros = "tosa.const"() <{values = dense<0.0> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
  %s3 = tosa.const_shape {values = dense<[1, 1, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %s2 = tosa.const_shape {values = dense<[1, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.reshape %x, %s3 : (tensor<1x8xf32>, !tosa.shape<3>) -> tensor<1x1x8xf32>
  %1 = tosa.matmul %0, %w0, %zero, %zero : (tensor<1x1x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x8xf32>
  %2 = tosa.maximum %1, %zeros : (tensor<1x1x8xf32>, tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
  %3 = tosa.matmul %2, %w1, %zero, %zero : (tensor<1x1x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x8xf32>
  %4 = tosa.reshape %3, %s2 : (tensor<1x1x8xf32>, !tosa.shape<2>) -> tensor<1x8xf32>
  return %4 : tensor<1x8xf32>
}
