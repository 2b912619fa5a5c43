// RUN: veeline-opt %s --pipe-lower-kernels --split-input-file --verify-diagnostics

func.func @tensors(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{needs operands that are memrefs; run pipe-bufferize-chunks first}}
  %0 = linalg.abs ins(%x : tensor<8xf32>) outs(%y : tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @dynamic(%x: memref<?xf32>, %y: memref<?xf32>) {
  // expected-error @+1 {{needs static shapes, but the extent of dimension 0 is unknown}}
  linalg.abs ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}

// -----

func.func @strides(%x: memref<8xf32, strided<[?]>>, %y: memref<8xf32>) {
  // expected-error @+1 {{needs operands of static shape and strides, found 'memref<8xf32, strided<[?]>>'}}
  linalg.abs ins(%x : memref<8xf32, strided<[?]>>) outs(%y : memref<8xf32>)
  return
}

// -----

func.func @map(%x: memref<8xf32>, %y: memref<16xf32>) {
  // expected-error @+1 {{needs linear indexing maps, found affine_map<(d0) -> (d0 floordiv 2)>}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%x : memref<8xf32>) outs(%y : memref<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}
