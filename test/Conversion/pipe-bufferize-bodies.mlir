// RUN: veeline-opt %s --pipe-bufferize-bodies --canonicalize --split-input-file | FileCheck %s
// RUN: veeline-opt %s --pipe-bufferize-bodies --split-input-file | FileCheck %s --check-prefix=COPIES

// The result is computed where it belongs, also through a reshape.

// CHECK-LABEL: func.func @direct
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return
func.func @direct(%x: memref<4x8xf32>, %y: memref<32xf32>) {
  %0 = bufferization.to_tensor %x restrict : memref<4x8xf32> to tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %1 = linalg.abs ins(%0 : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = tensor.collapse_shape %1 [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  bufferization.materialize_in_destination %2 in restrict writable %y : (tensor<32xf32>, memref<32xf32>) -> ()
  return
}

// -----

// A result that is returned twice is copied once; one that is an argument, too.

// CHECK-LABEL: func.func @twice
// CHECK: linalg.abs ins(%arg0 : memref<8xf32>) outs(%[[FIRST:.*]] : memref<8xf32>)
// CHECK: memref.copy %[[FIRST]], %{{.*}}
// CHECK: memref.copy %arg0, %arg3
func.func @twice(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>, %w: memref<8xf32>) {
  %0 = bufferization.to_tensor %x restrict : memref<8xf32> to tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %1 = linalg.abs ins(%0 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  bufferization.materialize_in_destination %1 in restrict writable %y : (tensor<8xf32>, memref<8xf32>) -> ()
  bufferization.materialize_in_destination %1 in restrict writable %z : (tensor<8xf32>, memref<8xf32>) -> ()
  bufferization.materialize_in_destination %0 in restrict writable %w : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

// A scatter runs in place.

// CHECK-LABEL: func.func @scatter
// CHECK: linalg.fill {{.*}} outs(%arg2 : memref<16xf32>)
// CHECK: scf.for
// CHECK-NOT: memref.copy
// CHECK:   memref.load %arg2
// CHECK:   memref.store %{{.*}}, %arg2
func.func @scatter(%index: memref<4xindex>, %x: memref<4xf32>, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %i = bufferization.to_tensor %index restrict : memref<4xindex> to tensor<4xindex>
  %0 = bufferization.to_tensor %x restrict : memref<4xf32> to tensor<4xf32>
  %e = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %r = scf.for %k = %c0 to %c4 step %c1 iter_args(%t = %f) -> tensor<16xf32> {
    %at = tensor.extract %i[%k] : tensor<4xindex>
    %new = tensor.extract %0[%k] : tensor<4xf32>
    %old = tensor.extract %t[%at] : tensor<16xf32>
    %sum = arith.addf %old, %new : f32
    %next = tensor.insert %sum into %t[%at] : tensor<16xf32>
    scf.yield %next : tensor<16xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}

// -----

// What is put back where it was taken from is not copied (checked before
// canonicalization, which would remove it too).

// COPIES-LABEL: func.func @put_back
// COPIES-NOT: memref.copy
// COPIES: return
func.func @put_back(%x: memref<1x3xf32>, %y: memref<1x3xf32>) {
  %0 = bufferization.to_tensor %x restrict : memref<1x3xf32> to tensor<1x3xf32>
  %e = tensor.empty() : tensor<1x3xf32>
  %1 = linalg.abs ins(%0 : tensor<1x3xf32>) outs(%e : tensor<1x3xf32>) -> tensor<1x3xf32>
  %2 = tensor.extract_slice %1[0, 1] [1, 1] [1, 1] : tensor<1x3xf32> to tensor<1x1xf32>
  %3 = tensor.insert_slice %2 into %1[0, 1] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<1x3xf32>
  bufferization.materialize_in_destination %3 in restrict writable %y : (tensor<1x3xf32>, memref<1x3xf32>) -> ()
  return
}
