// RUN: veeline-opt %s --pipe-lower-gemms --split-input-file --verify-diagnostics

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @dynamic(%rank: !llvm.ptr, %a: memref<4x?xf32>, %b: memref<?x4xf32>, %c: memref<4x4xf32>) attributes {pipe.num_results = 1 : i64} {
  // expected-error @+1 {{needs static shapes, but the extent of dimension 2 is unknown}}
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<4x?xf32>, memref<?x4xf32>) outs(%c : memref<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @strides(%rank: !llvm.ptr, %a: memref<4x8xf32, strided<[?, 1]>>, %b: memref<8x4xf32>, %c: memref<4x4xf32>) attributes {pipe.num_results = 1 : i64} {
  // expected-error @+1 {{needs operands of static shape and strides, found 'memref<4x8xf32, strided<[?, 1]>>'}}
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<4x8xf32, strided<[?, 1]>>, memref<8x4xf32>) outs(%c : memref<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  }
  return
}
