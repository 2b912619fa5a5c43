// RUN: veeline-opt %s --pipe-results-to-arguments | FileCheck %s

// CHECK-LABEL: func.func private @forward(
// CHECK-SAME:    %[[RANK:[a-z0-9]+]]: !llvm.ptr,
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<4x8xf32> {pipe.role = #pipe.role<operand 0>},
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: memref<4x8xf32> {pipe.role = #pipe.role<result 0>})
// CHECK-SAME:  attributes {pipe.num_results = 1 : i64}
// CHECK: %[[XT:[a-z0-9]+]] = bufferization.to_tensor %[[X]] restrict : memref<4x8xf32> to tensor<4x8xf32>
// CHECK: %[[YT:[a-z0-9]+]] = bufferization.to_tensor %[[Y]] restrict writable : memref<4x8xf32> to tensor<4x8xf32>
// CHECK: %[[R:[a-z0-9]+]] = linalg.abs ins(%[[XT]] :
// CHECK: %[[STORED:[a-z0-9]+]] = bufferization.materialize_in_destination %[[R]] in %[[YT]]
// CHECK: bufferization.materialize_in_destination %[[STORED]] in writable %[[Y]]
// CHECK: return{{$}}
func.func private @forward(%x: tensor<4x8xf32> {pipe.role = #pipe.role<operand 0>})
    -> (tensor<4x8xf32> {pipe.role = #pipe.role<result 0>}) {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.abs ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// A gradient of a parameter is added to what is there.

// CHECK-LABEL: func.func private @backward(
// CHECK-SAME:    %{{[a-z0-9]+}}: !llvm.ptr, %[[G:[a-z0-9]+]]: memref<8xf32>
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: memref<8xf32> {pipe.role = #pipe.role<param_grad 1>})
// CHECK: %[[GT:[a-z0-9]+]] = bufferization.to_tensor %[[G]] restrict
// CHECK: %[[OLD:[a-z0-9]+]] = bufferization.to_tensor %[[ACC]] restrict writable
// CHECK: %[[SUM:[a-z0-9]+]] = linalg.generic {{.*}} ins(%[[GT]] : tensor<8xf32>) outs(%[[OLD]] : tensor<8xf32>)
// CHECK: ^bb0(%[[A:[a-z0-9]+]]: f32, %[[B:[a-z0-9]+]]: f32):
// CHECK:   arith.addf %[[B]], %[[A]]
// CHECK: bufferization.materialize_in_destination %[[SUM]] in writable %[[ACC]]
func.func private @backward(%g: tensor<8xf32> {pipe.role = #pipe.role<result_grad 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>}) {
  return %g : tensor<8xf32>
}

// What has no tensors in its signature is not a chunk function.

// CHECK-LABEL: func.func @other(%arg0: i32) -> i32
func.func @other(%x: i32) -> i32 {
  return %x : i32
}
